import shutil
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.lib import format as npy
from sklearn.datasets import load_breast_cancer, load_digits

from metasampler.datasets import make_imbalanced_digits
from metasampler_bench.datasets import load, load_mesa_mammography, make_arch


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data home with an ``extra`` folder of a binary and a three-class set."""
    monkeypatch.delenv("METASAMPLER_DATA_HOME", raising=False)
    extra = tmp_path / "extra"
    extra.mkdir()
    rows = np.arange(10.0).reshape(5, 2)
    np.savez(extra / "two.npz", data=rows, label=[1, 1, -1, 1, -1])
    np.savez(extra / "v1.three.npz", data=rows, label=[3, 5, 5, 9, 3])
    return tmp_path


def test_digits():
    X, y = load("digits-8", return_X_y=True)
    np.testing.assert_array_equal(X, make_imbalanced_digits()[0])
    np.testing.assert_array_equal(y, make_imbalanced_digits()[1])
    assert load("digits").target_names == list(range(10))
    np.testing.assert_array_equal(load("digits", positive=3).target, load_digits().target == 3)
    assert load("digits", positive=3).target_names == ["rest", 3]


def test_malignant_is_the_class_to_find():
    dataset = load("breast-cancer")
    np.testing.assert_array_equal(dataset.target, load_breast_cancer().target == 0)
    assert dataset.target_names == ["benign", "malignant"]
    np.testing.assert_array_equal(
        load("breast-cancer", positive="benign").target, load_breast_cancer().target
    )


@pytest.mark.parametrize("overlap", ["low", "mid", "high"])
def test_synthetic_sets_are_always_the_same(overlap):
    X, y = make_arch(overlap, random_state=0)
    dataset = load(f"arch-{overlap}")
    np.testing.assert_array_equal(dataset.data, X)
    np.testing.assert_array_equal(dataset.target, y)


def test_extra_label_one_is_positive_even_if_larger(folder):
    dataset = load("two", data_home=folder)
    assert dataset.target.tolist() == [1, 1, 0, 1, 0]
    assert dataset.target.dtype == np.int64
    assert (dataset.name, dataset.source, dataset.part) == ("two", "extra", None)
    assert load("two", data_home=folder, positive=-1).target.tolist() == [0, 0, 1, 0, 1]


def test_extra_integer_classes_stay(folder):
    assert load("v1.three", data_home=folder).target.tolist() == [3, 5, 5, 9, 3]
    dataset = load("v1.three", data_home=folder, positive=9)
    assert dataset.target.tolist() == [0, 0, 0, 1, 0]
    assert dataset.target_names == ["rest", 9]


def test_extra_name_cannot_leave_the_folder(folder):
    np.savez(folder / "secret.npz", data=np.zeros((2, 1)), label=[0, 1])
    with pytest.raises(ValueError, match="no data set"):
        load("../secret", data_home=folder)


@pytest.mark.parametrize("kind", [str, Path])
def test_npz_file(folder, kind):
    dataset = load(kind(folder / "extra" / "two.npz"))
    assert dataset.target.tolist() == [1, 1, 0, 1, 0]
    assert (dataset.name, dataset.source) == ("two.npz", "file")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"X": np.zeros((2, 1)), "y": [0, 1]},
            r"arrays `data` and `label`: it has no data, only X, y",
        ),
        ({"data": np.zeros((3, 1)), "label": [0, 1]}, r"shapes are \(3, 1\) and \(2,\)"),
        ({"data": np.zeros(2), "label": [0, 1]}, r"shapes are \(2,\) and \(2,\)"),
        (
            {"data": np.zeros((2, 1)), "label": np.array(["a", None])},
            "pickle, which is never read",
        ),
    ],
)
def test_wrong_npz_files_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "wrong.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "wrong.npz")


def write_bomb(path):
    """Write a file of about a megabyte that unpacks to more than is allowed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("data.npy", "w", force_zip64=True) as member:
            npy.write_array_header_1_0(
                member, {"descr": "<f8", "fortran_order": False, "shape": (17 << 21, 1)}
            )
            for _ in range(17):
                member.write(bytes(1 << 24))
        archive.writestr("label.npy", b"")


@pytest.fixture(scope="session")
def bomb(tmp_path_factory):
    path = tmp_path_factory.mktemp("bomb") / "bomb.npz"
    write_bomb(path)
    return path


@pytest.mark.parametrize("place", ["file", "extra", "zenodo"])
def test_a_zip_bomb_is_refused_before_it_is_unpacked(folder, bomb, place):
    assert bomb.stat().st_size < 2 << 20
    name = {"file": bomb, "extra": "bomb", "zenodo": "oil"}[place]
    (folder / "zenodo").mkdir()
    shutil.copy(bomb, folder / "extra" / "bomb.npz")
    shutil.copy(bomb, folder / "zenodo" / "x18data.npz")
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"would unpack to 2 arrays of 272 MB; allowed are"):
        load(name, data_home=folder)
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


def test_only_expected_arrays_of_a_file_are_read(folder):
    path = folder / "more.npz"
    np.savez(path, data=np.zeros((2, 1)), label=[0, 1], other=np.array([None]))
    assert load(path).data.shape == (2, 1)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("mamography", "'mammography'"),
        ("Wine", "'wine'"),
        ("arch_low", "'arch-low'"),
        ("mammography-author", "'mammography-authors'"),
    ],
)
def test_unknown_name_suggests_others(monkeypatch, name, near):
    monkeypatch.delenv("METASAMPLER_DATA_HOME", raising=False)
    with pytest.raises(ValueError, match=rf"Did you mean .*{near}.*list_datasets\(\)") as info:
        load(name)
    assert "METASAMPLER_DATA_HOME" in str(info.value)


def test_unknown_name_suggests_extra_sets(folder):
    with pytest.raises(ValueError, match=r"Did you mean 'v1.three'") as info:
        load("v1-three", data_home=folder)
    assert "METASAMPLER_DATA_HOME" not in str(info.value)


def test_named_sets_have_no_target_column(folder):
    with pytest.raises(ValueError, match="'wine' is not a table"):
        load("wine", target="class")
    with pytest.raises(ValueError, match=r"two\.npz has none"):
        load(folder / "extra" / "two.npz", target="class")


@pytest.mark.parametrize("name", [3, None, np.zeros((2, 2))])
def test_other_types_are_refused(name):
    with pytest.raises(TypeError, match="name must be a string"):
        load(name)


def test_the_authors_split_needs_a_folder(folder):
    with pytest.raises(FileNotFoundError, match="METASAMPLER_DATA_HOME"):
        load("mammography-authors")
    with pytest.raises(FileNotFoundError, match="authors' repository"):
        load("mammography-authors", data_home=folder)


def test_the_authors_split(data_home):
    dataset = load("mammography-authors", data_home=data_home)
    assert dataset.source == "authors"
    for part, (X, labels) in load_mesa_mammography(data_home).items():
        rows = dataset.part == part
        np.testing.assert_array_equal(dataset.data[rows], X)
        np.testing.assert_array_equal(dataset.target[rows], labels == 1)
    assert dataset.part.tolist() == ["train"] * 6709 + ["valid"] * 2237 + ["test"] * 2237


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("keel_yeast4", [0, 1]),
        ("adbench_22_magic.gamma", [0, 1]),
        ("keelstd_german", [0, 1]),
        ("keelmulti_zoo", list(range(7))),
    ],
)
def test_real_extra_sets(data_home, name, classes):
    dataset = load(name, data_home=data_home)
    assert np.unique(dataset.target).tolist() == classes
    assert len(dataset.data) == len(dataset.target)
