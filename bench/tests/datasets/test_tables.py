import builtins

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from metasampler_bench.datasets import load


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "amount": [1.5, 2.0, np.nan, 4.0, 8.0],
            "country": ["de", "fr", "de", "it", None],
            "fraud": ["yes", "no", "no", "no", "yes"],
        }
    )


@pytest.mark.parametrize("kind", [str, lambda path: path])
@pytest.mark.parametrize(
    "ending", [".csv", ".CSV", ".csv.gz", ".tsv", ".tsv.gz", ".gz", ".parquet", ".pq"]
)
def test_files(tmp_path, frame, ending, kind):
    path = tmp_path / f"payments{ending}"
    if ending in (".parquet", ".pq"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in ending else ",")
    dataset = load(kind(path), target="fraud")
    pd.testing.assert_frame_equal(dataset.data, frame[["amount", "country"]])
    assert dataset.target.tolist() == [1, 0, 0, 0, 1]
    assert dataset.target.dtype == np.int64
    assert dataset.target_names == ["no", "yes"]
    assert (dataset.name, dataset.source, dataset.part) == (path.name, "file", None)


def test_pandas_frame_is_left_as_it_is(frame):
    before = frame.copy()
    X, y = load(frame, target="fraud", return_X_y=True)
    pd.testing.assert_frame_equal(frame, before)
    assert list(X.columns) == ["amount", "country"]
    assert y.tolist() == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["no", "yes"])])
def test_polars_frame_stays_polars(dtype):
    fraud = pl.Series("fraud", ["yes", "no", "no", "no"], dtype=dtype)
    dataset = load(
        pl.DataFrame({"country": ["de", None, "fr", "it"], "fraud": fraud}), target="fraud"
    )
    assert isinstance(dataset.data, pl.DataFrame)
    assert dataset.data.columns == ["country"]
    assert dataset.target.tolist() == [1, 0, 0, 0]
    assert dataset.target_names == ["no", "yes"]
    assert dataset.source == "table"


@pytest.mark.parametrize("labels", [["x", None, "y"], [0, None, 1], [0.0, float("nan"), 1.0]])
def test_missing_labels_of_polars(labels):
    with pytest.raises(ValueError, match="no label in 1 of 3 rows"):
        load(pl.DataFrame({"a": [1, 2, 3], "b": labels}), target="b")


@pytest.mark.parametrize(
    ("labels", "positive", "target", "names"),
    [
        ([0, 1, 1], None, [1, 0, 0], [1, 0]),
        ([0, 1, 1], 1, [0, 1, 1], [0, 1]),
        ([0, 1, 1], "1", [0, 1, 1], [0, 1]),
        ([0.0, 1.0, 0.0], 1, [0, 1, 0], [0, 1]),
        ([0, 1, 0, 1], None, [0, 1, 0, 1], [0, 1]),
        ([True, False, False], None, [1, 0, 0], [False, True]),
        (["a", "c", "b", "b"], None, [0, 2, 1, 1], ["a", "b", "c"]),
        (["a", "c", "b", "b"], "c", [0, 1, 0, 0], ["rest", "c"]),
        ([10, 30, 20, 20], None, [10, 30, 20, 20], [10, 20, 30]),
        (pd.Series([1, 2, 2], dtype="Int64"), None, [1, 0, 0], [2, 1]),
        (pd.Series([True, False, False], dtype="boolean"), None, [1, 0, 0], [False, True]),
        (pd.Categorical(["n", "y", "n"], ["y", "n", "unused"]), None, [0, 1, 0], ["n", "y"]),
    ],
)
def test_labels(labels, positive, target, names):
    frame = pd.DataFrame({"x": np.arange(float(len(labels))), "y": labels})
    dataset = load(frame, target="y", positive=positive)
    assert dataset.target.tolist() == target
    assert dataset.target_names == names


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "a"], "only one class, 'a'"),
        ([0.5, 1.5], "looks like a quantity"),
        ([1.0, np.inf], "looks like a quantity"),
        (["a", None], "no label in 1 of 2 rows"),
        (pd.Series([1, None], dtype="Int64"), "no label in 1 of 2 rows"),
        (pd.Series(["a", 1], dtype=object), "several types"),
    ],
)
def test_labels_that_are_no_classes(labels, message):
    with pytest.raises(ValueError, match=message):
        load(pd.DataFrame({"x": [1, 2], "y": labels}), target="y")


def test_columns_and_classes_that_are_not_there(frame, tmp_path):
    with pytest.raises(ValueError, match=r"Give target.*Columns: amount, country, fraud"):
        load(frame)
    with pytest.raises(ValueError, match=r"no column 'Frauds'\. Did you mean 'fraud'.*amount"):
        load(frame, target="Frauds")
    with pytest.raises(
        ValueError, match=r"'Yes' is not a class of the target.*Did you mean 'yes'.*'no', 'yes'"
    ):
        load(frame, target="fraud", positive="Yes")
    with pytest.raises(ValueError, match="several columns 'fraud'"):
        load(pd.concat([frame, frame], axis=1), target="fraud")
    with pytest.raises(ValueError, match="no column besides"):
        load(frame[["fraud"]], target="fraud")
    with pytest.raises(ValueError, match="at least one row"):
        load(frame[:0], target="fraud")
    wide = pd.DataFrame(np.zeros((2, 30)))
    with pytest.raises(ValueError, match=r"11, \.\.\. \(30 in all\)"):
        load(wide, target="y")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*absent\.csv"):
        load("absent.csv", target="y")
    with pytest.raises(ValueError, match=r"'book\.xlsx' must end in \.csv"):
        load(tmp_path / "book.xlsx", target="y")


def test_without_pandas_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    original = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError("No module named 'pandas'")
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"metasampler\[data\]"):
        load(tmp_path / "a.csv", target="y")


def test_openml(frame):
    """The parts that ``fetch_openml(as_frame=True)`` returns."""
    openml = Bunch(
        data=frame[["amount", "country"]],
        target=frame["fraud"].astype("category"),
        frame=frame,
        details={"name": "payments", "id": "1"},
    )
    dataset = load(openml)
    pd.testing.assert_frame_equal(dataset.data, frame[["amount", "country"]])
    assert dataset.target.tolist() == [1, 0, 0, 0, 1]
    assert (dataset.name, dataset.source) == ("payments", "bunch")


def test_another_target_of_openml(frame):
    whole = frame.fillna({"country": "es"})
    openml = Bunch(data=whole, target=None, frame=whole, details={"name": "payments"})
    dataset = load(openml, target="country", positive="de")
    assert list(dataset.data) == ["amount", "fraud"]
    assert dataset.target.tolist() == [1, 0, 1, 0, 0]
    with pytest.raises(ValueError, match=r"Give target.*'payments'"):
        load(openml)
    several = Bunch(data=whole[["amount"]], target=whole[["country", "fraud"]], frame=whole)
    with pytest.raises(ValueError, match="several targets: country, fraud"):
        load(several)
    assert list(load(several, target="fraud").data) == ["amount", "country"]


def test_a_bunch_of_arrays():
    dataset = load(load_iris(), positive=2)
    assert dataset.data.shape == (150, 4)
    assert dataset.target.sum() == 50
    with pytest.raises(ValueError, match="as_frame=True"):
        load(load_iris(), target="species")
