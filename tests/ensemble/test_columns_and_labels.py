"""Columns are read by name, and labels keep their type."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.datasets import ParquetRows
from metasampler.ensemble import UnderBaggingClassifier

NAMES = list("abcdefgh")

OWN = {
    "trees": DecisionTreeClassifier(max_depth=4),
    "forests": RandomForestClassifier(3),
    "boosters": LGBMClassifier(n_estimators=3, verbose=-1),
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
    "by column": make_pipeline(
        make_column_transformer((StandardScaler(), ["c", "f"]), ("passthrough", ["a"])),
        LogisticRegression(),
    ),
    "list": [DecisionTreeClassifier(max_depth=4), GaussianNB()],
    "teams": None,
}


def make(name, **options):
    if OWN[name] is None:
        return MesaClassifier(recipe="fast", random_state=0, **options)
    return MesaClassifier(OWN[name], 3, meta_sampler=0.8, random_state=0, **options)


def turned(frame, library):
    """The same rows with columns in another order, one of them new."""
    changed = frame[NAMES[::-1]].assign(z="not seen by fit")[["d", "z", *set(NAMES) - {"d"}]]
    return changed if library == "pandas" else pl.from_pandas(changed)


@pytest.fixture(scope="module")
def frame(for_teams):
    X, y = for_teams
    return pd.DataFrame(X, columns=NAMES), y


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", OWN)
def test_columns_are_read_by_name(name, library, frame):
    X, y = frame
    if library == "polars" and name == "by column":
        pytest.importorskip("pyarrow")
    given = X if library == "pandas" else pl.from_pandas(X)
    clf = make(name).fit(given, y)
    expected = clf.predict_proba(given)
    np.testing.assert_array_equal(clf.predict_proba(turned(X, library)), expected)
    np.testing.assert_array_equal(clf.predict(turned(X, library)), clf.predict(given))
    *_, last = clf.staged_predict_proba(turned(X, library))
    np.testing.assert_array_equal(last, expected)
    with pytest.raises(ValueError, match=r"(?s)missing.*\bd\b|lacks.*'d'|\['d'\]"):
        clf.predict(X.drop(columns="d") if library == "pandas" else given.drop("d"))


@pytest.mark.parametrize("name", OWN)
def test_columns_of_validation_rows_are_read_by_name(name, frame):
    X, y = frame
    X, X_val, y, y_val = X[:500], X[500:], y[:500], y[500:]
    same = make(name).fit(X, y, X_val=X_val, y_val=y_val)
    other = make(name).fit(X, y, X_val=turned(X_val, "pandas"), y_val=y_val)
    np.testing.assert_array_equal(same.predict_proba(X), other.predict_proba(X))
    assert same.threshold_ == other.threshold_
    with pytest.raises(ValueError, match=r"X_val lacks columns that X has: \['d'\]"):
        make(name).fit(X, y, X_val=X_val.drop(columns="d"), y_val=y_val)


@pytest.mark.parametrize("name", ["trees", "by column", "teams"])
def test_columns_of_files_are_read_by_name(name, frame, tmp_path):
    X, y = frame
    X.assign(label=y).to_parquet(tmp_path / "rows.parquet")
    clf = make(name).fit(ParquetRows(tmp_path / "rows.parquet", "label"))
    np.testing.assert_array_equal(clf.predict_proba(turned(X, "pandas")), clf.predict_proba(X))


LABELS = {
    "Int64": np.int64,
    "Int8": np.int8,
    "UInt16": np.uint16,
    "boolean": np.bool_,
    "int64[pyarrow]": np.int64,
    "bool[pyarrow]": np.bool_,
    "int16": np.int16,
    "bool": np.bool_,
    "Float64": np.float64,
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("own_rows", [False, True])
def test_labels_keep_their_type(kind, own_rows, imbalanced, tmp_path):
    X, y = imbalanced
    labels = pd.Series(y).astype(kind)
    options = {"X_val": X[400:], "y_val": labels[400:]} if own_rows else {}
    clf = UnderBaggingClassifier(n_estimators=2, random_state=0).fit(X, labels, **options)
    assert clf.classes_.dtype == clf.predict(X).dtype == LABELS[kind]
    assert clf.minority_class_ == 1
    pd.DataFrame(X).set_axis([*"abcdefgh"][: X.shape[1]], axis=1).assign(
        label=labels.to_numpy(LABELS[kind])
    ).to_parquet(tmp_path / "rows.parquet")
    other = UnderBaggingClassifier(n_estimators=2, random_state=0)
    other.fit(ParquetRows(tmp_path / "rows.parquet", "label"))
    assert other.classes_.dtype == clf.classes_.dtype


@pytest.mark.parametrize("kind", ["Int64", "boolean"])
def test_missing_labels_of_a_nullable_type_are_refused(kind, imbalanced):
    X, y = imbalanced
    labels = pd.Series(y).astype(kind)
    labels[3] = pd.NA
    with pytest.raises(ValueError, match="y contains NaN"):
        UnderBaggingClassifier().fit(X, labels)
