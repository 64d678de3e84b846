import os
from urllib.error import URLError

import imblearn.datasets._zenodo as imblearn_zenodo
import numpy as np
import pytest

from metasampler_bench.datasets import ZENODO_NAMES, list_datasets, load

# "oil" is number 18 in imbalanced-learn's layout.
OIL = "x18data.npz"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data home with a small file in the place of "oil", and no network."""
    monkeypatch.delenv("METASAMPLER_DATA_HOME", raising=False)
    monkeypatch.setattr(imblearn_zenodo, "urlopen", _no_network)
    (tmp_path / "zenodo").mkdir()
    rows = np.arange(12.0).reshape(6, 2)
    np.savez(tmp_path / "zenodo" / OIL, data=rows, label=[-1, -1, 1, -1, -1, -1])
    return tmp_path


def _no_network(address):
    raise URLError("no network here")


def test_names_are_those_of_imbalanced_learn():
    assert list(ZENODO_NAMES) == list(imblearn_zenodo.MAP_NAME_ID)


@pytest.mark.parametrize("how", ["option", "text", "environment"])
def test_the_folder_is_read_in_the_layout_of_imbalanced_learn(folder, monkeypatch, how):
    data_home = {"option": folder, "text": str(folder), "environment": None}[how]
    if how == "environment":
        monkeypatch.setenv("METASAMPLER_DATA_HOME", str(folder))
    dataset = load("oil", data_home=data_home, download=False)
    np.testing.assert_array_equal(dataset.data, np.arange(12.0).reshape(6, 2))
    assert dataset.target.tolist() == [0, 0, 1, 0, 0, 0]
    assert dataset.target.dtype == np.int64
    assert (dataset.name, dataset.source, dataset.part) == ("oil", "imbalanced-learn", None)
    assert dataset.target_names == [-1, 1]


def test_without_a_folder_imbalanced_learns_own_is_used(folder, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(folder))
    assert load("oil", download=False).target.sum() == 1


@pytest.mark.parametrize("download", [True, False])
def test_missing_sets_say_what_to_download_and_what_to_set(folder, download):
    reason = "no network here" if download else "download=False"
    with pytest.raises(
        FileNotFoundError, match=rf"(?s)x25data\.npz.*{reason}.*zenodo\.org"
    ) as info:
        load("mammography", data_home=folder, download=download)
    assert "METASAMPLER_DATA_HOME" in str(info.value)
    assert "data_home" in str(info.value)
    assert os.fspath(folder) in str(info.value)


def test_missing_sets_without_any_folder(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "empty"))
    with pytest.raises(FileNotFoundError, match="scikit-learn's data folder"):
        load("mammography", download=False)


def test_a_page_instead_of_the_archive_is_a_failed_download(folder, monkeypatch):
    class Page:
        def read(self):
            return b"<html>log in first</html>"

    monkeypatch.setattr(imblearn_zenodo, "urlopen", lambda address: Page())
    with pytest.raises(FileNotFoundError, match="the download failed"):
        load("mammography", data_home=folder)


def test_a_folder_that_is_not_there_is_an_error_not_a_download(folder):
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        load("oil", data_home=folder / "nowhere")


@pytest.mark.parametrize("name", ZENODO_NAMES)
def test_real_sets_are_as_listed(data_home, name):
    info = {info.name: info for info in list_datasets(data_home)}[name]
    X, y = load(name, data_home=data_home, return_X_y=True, download=False)
    assert X.shape == (info.rows, info.columns)
    assert np.unique(y).tolist() == [0, 1]
    assert np.sum(y == 0) / np.sum(y == 1) == pytest.approx(info.imbalance_ratio)
