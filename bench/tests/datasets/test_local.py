import numpy as np
import pytest

from metasampler_bench.datasets import load_mesa_mammography, resolve_data_home


def test_the_folder_is_named_or_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("METASAMPLER_DATA_HOME", raising=False)
    with pytest.raises(FileNotFoundError, match="METASAMPLER_DATA_HOME"):
        resolve_data_home()
    assert resolve_data_home(tmp_path) == tmp_path
    monkeypatch.setenv("METASAMPLER_DATA_HOME", str(tmp_path))
    assert resolve_data_home() == tmp_path
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        resolve_data_home(tmp_path / "nowhere")


def test_missing_parts_say_where_they_come_from(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"mesa_Mammo_train.*authors' repository"):
        load_mesa_mammography(tmp_path)


def test_the_authors_split(data_home):
    parts = load_mesa_mammography(data_home)
    sizes = {part: (len(y), int(np.sum(y == 1))) for part, (_, y) in parts.items()}
    assert sizes == {"train": (6709, 156), "valid": (2237, 52), "test": (2237, 52)}
