"""Monotonic constraints: a law of the whole prediction, whatever the members and the rows are."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler import MesaClassifier, load_model, save_model
from metasampler.datasets import ParquetRows

SIGNS = [1, -1, 0, 0]
TREES = [DecisionTreeClassifier(), ExtraTreeClassifier(min_samples_leaf=3)]


def make_rows(seed, n_rows=600, n_rare=90):
    """Rows whose labels follow no constraint: a free fit would break them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    odds = np.sin(2 * X[:, 0]) + np.cos(3 * X[:, 1]) + X[:, 2] + 0.4 * rng.logistic(size=n_rows)
    return X, (odds >= np.sort(odds)[-n_rare]).astype(int)


def falls(clf, X, column, sign):
    """Return by how much probabilities fall, at most, where they must not."""
    grid = np.linspace(-4, 4, 60)
    rows = np.repeat(X, len(grid), axis=0)
    rows[:, column] = np.tile(grid, len(X))
    proba = clf.predict_proba(rows)[:, 1].reshape(len(X), len(grid))
    return float(np.max(-sign * np.diff(proba, axis=1)))


@pytest.mark.parametrize(
    "options",
    [
        {"recipe": "default", "n_estimators": 9},
        {"recipe": "fast"},
        {"estimator": TREES, "n_estimators": 6, "meta_sampler": 0.7},
        {"estimator": LGBMClassifier(n_estimators=20, verbose=-1), "n_estimators": 3},
        {"recipe": "fast", "calibration": None, "threshold": "balanced"},
        {"estimator": TREES, "n_estimators": 6, "calibration": "prior", "refit": True},
    ],
    ids=["default", "fast", "trees", "LightGBM", "no calibration", "refit"],
)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**20), n_rare=st.sampled_from([30, 90, 250]))
def test_probabilities_keep_the_law(options, seed, n_rare):
    X, y = make_rows(seed, n_rare=n_rare)
    clf = MesaClassifier(monotonic_cst=SIGNS, random_state=0, **options).fit(X, y)
    for column, sign in enumerate(SIGNS):
        if sign:
            assert falls(clf, X[:20], column, sign) <= 1e-12


def test_free_fits_do_not_keep_it():
    X, y = make_rows(0)
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    assert falls(clf, X[:20], 0, 1) > 0.05
    zeros = clone(clf).set_params(monotonic_cst=[0, 0, 0, 0]).fit(X, y)
    np.testing.assert_array_equal(zeros.predict_proba(X), clf.predict_proba(X))


@pytest.fixture
def frame():
    X, y = make_rows(1)
    frame = pd.DataFrame(X, columns=["up", "down", "free", "other"])
    frame["kind"] = np.where(X[:, 3] > 0, "a", "b")
    frame.loc[::7, "up"] = np.nan
    return frame, y


def test_columns_of_a_frame_by_name_beside_categories_and_gaps(frame, tmp_path):
    X, y = frame
    clf = MesaClassifier(n_estimators=8, monotonic_cst={"down": -1, "up": 1}, random_state=0)
    clf.fit(X, y)
    rows = X.iloc[np.repeat(np.arange(20), 30)].reset_index(drop=True)
    for name, sign in (("up", 1), ("down", -1)):
        moved = rows.assign(**{name: np.tile(np.linspace(-4, 4, 30), 20)})
        proba = clf.predict_proba(moved)[:, 1].reshape(20, 30)
        assert np.max(-sign * np.diff(proba, axis=1)) <= 1e-12
    # By position it is the same.
    listed = clone(clf).set_params(monotonic_cst=np.array([1, -1, 0, 0, 0])).fit(X, y)
    np.testing.assert_array_equal(listed.predict_proba(X), clf.predict_proba(X))
    # So it is from files, and after it was stored.
    X.assign(label=y).to_parquet(tmp_path / "rows.parquet")
    rows_in_file = ParquetRows(tmp_path / "rows.parquet", "label")
    of_file = clone(clf).fit(rows_in_file)
    np.testing.assert_array_equal(of_file.predict_proba(X), clf.predict_proba(X))
    for each in (clf, listed):
        save_model(each, tmp_path / "model.mesa")
        again = load_model(tmp_path / "model.mesa")
        np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
        refitted = clone(again).fit(X, y)
        np.testing.assert_array_equal(refitted.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize(
    ("signs", "options", "message"),
    [
        ({"kind": 1}, {}, "column 'kind' holds no numbers"),
        ({"upp": 1}, {}, r"columns \['upp'\], which X does not have"),
        ([1, 0], {}, "a sign for each of the 5 columns"),
        ({"up": 2}, {}, "must be 1 .*-1 or 0.*{'up': 2}"),
        ({"up": 1}, {"leaf_smoothing": 1.0}, "leaf_smoothing=1.0 and monotonic_cst"),
        ({"up": 1}, {"estimator": GaussianNB(), "n_estimators": 2}, "works with the teams"),
        (
            {"up": 1},
            {"estimator": HistGradientBoostingClassifier(), "n_estimators": 2},
            "Set the constraint of HistGradientBoosting",
        ),
        (
            [1, 0, 0, 0, 0],
            {"estimator": DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0, 0])},
            "exclude each other: set one",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(frame, signs, options, message):
    X, y = frame
    if isinstance(options.get("estimator"), GaussianNB | HistGradientBoostingClassifier):
        X = X[["up", "down"]].fillna(0.0)
    with pytest.raises(ValueError, match=message):
        MesaClassifier(monotonic_cst=signs, **options).fit(X, y)


def test_arrays_have_no_names_and_many_classes_no_direction():
    X, y = make_classification(300, n_informative=5, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match=r"is for two classes.*3 classes"):
        MesaClassifier(monotonic_cst=[1] + 19 * [0]).fit(X, y)
    with pytest.raises(ValueError, match="names of columns, but X has none"):
        MesaClassifier(monotonic_cst={"a": 1}).fit(X, y == 0)
    with pytest.raises(ValueError, match="'monotonic_cst' parameter"):
        MesaClassifier(monotonic_cst=1).fit(X, y == 0)


def test_a_warm_start_keeps_them():
    X, y = make_rows(2)
    clf = MesaClassifier(TREES, 3, warm_start=True, monotonic_cst=SIGNS, random_state=0).fit(X, y)
    clf.set_params(n_estimators=5).fit(X, y)
    assert falls(clf, X[:20], 0, 1) <= 1e-12
    with pytest.raises(ValueError, match="monotonic_cst"):
        clf.set_params(n_estimators=6, monotonic_cst=[1, 1, 0, 0]).fit(X, y)
