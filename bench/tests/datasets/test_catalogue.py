import numpy as np
import pytest

from metasampler_bench.datasets import DatasetInfo, list_datasets, load


def test_without_a_folder_all_that_needs_none_is_listed(monkeypatch):
    monkeypatch.delenv("METASAMPLER_DATA_HOME", raising=False)
    rows = list_datasets()
    names = [row.name for row in rows]
    assert names == sorted(set(names))
    assert {row.source for row in rows} == {"imbalanced-learn", "scikit-learn", "synthetic"}
    assert len(rows) == 27 + 4 + 3
    assert all(row.rows and row.columns and row.classes and row.imbalance_ratio for row in rows)


@pytest.mark.parametrize(
    "name",
    ["arch-high", "arch-low", "arch-mid", "breast-cancer", "digits", "digits-8", "wine"],
)
def test_what_is_listed_is_what_is_loaded(monkeypatch, name):
    monkeypatch.delenv("METASAMPLER_DATA_HOME", raising=False)
    info = {row.name: row for row in list_datasets()}[name]
    dataset = load(name)
    counts = np.unique(dataset.target, return_counts=True)[1]
    assert dataset.source == info.source
    assert dataset.data.shape == (info.rows, info.columns)
    assert len(counts) == info.classes
    assert counts.max() / counts.min() == pytest.approx(info.imbalance_ratio)


def test_files_are_listed_by_name_and_not_opened(tmp_path):
    (tmp_path / "extra").mkdir()
    for name in ("magic.gamma", "b", "wine"):
        (tmp_path / "extra" / f"{name}.npz").write_bytes(b"no archive")
    rows = {row.name: row for row in list_datasets(tmp_path)}
    assert rows["magic.gamma"] == DatasetInfo("magic.gamma", "extra")
    assert rows["b"].rows is None
    assert rows["wine"].source == "scikit-learn"
    assert "mammography-authors" not in rows


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list_datasets(tmp_path / "nowhere")


def test_real_folder(data_home):
    rows = list_datasets(data_home)
    assert "mammography-authors" in [row.name for row in rows]
    extra = [row.name for row in rows if row.source == "extra"]
    assert len(extra) == len(list((data_home / "extra").glob("*.npz")))
