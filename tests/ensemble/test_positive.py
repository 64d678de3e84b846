"""`positive`: one class against the rest of many, as if ``y == positive`` had been passed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score

from metasampler import MesaClassifier
from metasampler.datasets import ParquetRows
from metasampler.persistence import load_model, save_model
from metasampler.plotting import ThresholdDisplay
from metasampler.report import make_report


def make_rows(seed=0, labels=("card", "fraud", "loan", "none")):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(4), (120, 60, 150, 270))
    X = rng.normal(size=(600, 4)) + 1.5 * np.eye(4)[codes]
    order = rng.permutation(600)
    return X[order], np.array(labels)[codes[order]]


def mesa(**options):
    return MesaClassifier(**{"recipe": "fast", "random_state": 0, **options})


def one_class(positive="fraud", **options):
    return mesa(positive=positive, **options)


@pytest.fixture(scope="module")
def fitted():
    return one_class().fit(*make_rows())


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (("card", "fraud", "loan", "none"), "fraud"),
        ((1, 2, 3, 4), 2),
        ((10.0, 20.0, 30.0, 40.0), 20),
        ((1, 2, 1, 1), np.int64(2)),
    ],
)
def test_it_is_the_fit_of_this_class_against_the_rest(labels, positive):
    X, y = make_rows(labels=labels)
    clf, plain = one_class(positive).fit(X, y), mesa().fit(X, y == positive)
    assert clf.classes_.tolist() == [False, True]
    assert clf.minority_class_
    assert_array_equal(clf.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(clf.predict(X), plain.predict(X))
    assert_array_equal(clf.top_rows(X, 20), plain.top_rows(X, 20))
    assert clf.score(X, y) == plain.score(X, y == positive)
    assert clf.expected_recall_ == plain.expected_recall_


def test_estimators_of_ones_own_and_validation_rows():
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_rows()
    X_val, y_val = make_rows(1)
    options = {"n_estimators": 3, "meta_sampler": 0.9, "random_state": 0}
    clf = MesaClassifier(DecisionTreeClassifier(max_depth=3), positive="loan", **options)
    plain = clone(clf).set_params(positive=None)
    clf.fit(X, y, X_val=X_val, y_val=y_val)
    plain.fit(X, y == "loan", X_val=X_val, y_val=y_val == "loan")
    assert_array_equal(clf.predict_proba(X), plain.predict_proba(X))


def test_weights_groups_and_time():
    X, y = make_rows()
    weights = np.where(y == "card", 0.0, 1.0)  # a class that has no weight is not there
    groups, time = np.arange(600) // 3, np.arange(600)
    for options in ({"sample_weight": weights}, {"groups": groups}, {"time": time}):
        clf, plain = one_class().fit(X, y, **options), mesa().fit(X, y == "fraud", **options)
        assert_array_equal(clf.predict_proba(X), plain.predict_proba(X))


def test_it_can_be_judged_by_labels_as_they_are(fitted):
    X, y = make_rows(1)
    assert fitted.score(X, y) == accuracy_score(y == "fraud", fitted.predict(X))
    # Rows without the class can be scored too.
    others = y != "fraud"
    assert fitted.score(X[others], y[others]) > 0.5
    scores = cross_val_score(one_class(), X, y, cv=2)
    assert scores.min() > 0.5
    again = clone(fitted).fit(*make_rows()).recalibrate(X, y)
    plain = mesa().fit(make_rows()[0], make_rows()[1] == "fraud").recalibrate(X, y == "fraud")
    assert_array_equal(again.predict_proba(X), plain.predict_proba(X))


def test_thresholds_are_those_of_two_classes():
    X, y = make_rows()
    clf = one_class(threshold=("recall", 0.8)).fit(X, y)
    assert clf.expected_recall_ >= 0.8
    clf.set_threshold(("top", 0.05))
    assert 0 < clf.predict(X).mean() < 0.15
    with pytest.raises(ValueError, match="threshold must be"):
        clf.set_threshold("macro_f1")


def test_texts_name_the_class(fitted):
    text = str(fitted.summary())
    assert "class 'fraud' against the rest" in text
    assert "predict returns True, class 'fraud', if its probability is" in text


def test_report_and_display_take_the_labels_as_they_are(fitted):
    X, y = make_rows(1)
    report = make_report(fitted, X, y, n_repeats=0, n_resamples=20)
    assert report.headline.endswith("of 100 rows with fraud = True are found.")
    plain = make_report(fitted.set_params(), X, y, target="kind", n_repeats=0, n_resamples=20)
    assert plain.headline.endswith("of 100 rows with kind = True are found.")
    display = ThresholdDisplay.from_estimator(fitted, X, y)
    assert display.recall[0] == 1
    assert display.precision[0] >= np.mean(y == "fraud")


def test_a_stored_model_knows_its_class(fitted, tmp_path):
    X, y = make_rows(1)
    save_model(fitted, tmp_path / "model.mesa")
    loaded = load_model(tmp_path / "model.mesa")
    assert loaded.positive == "fraud"
    assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert loaded.score(X, y) == fitted.score(X, y)


@pytest.mark.parametrize("labels", [("card", "fraud", "loan", "none"), (1, 2, 3, 4)])
def test_rows_in_files(labels, tmp_path):
    X, y = make_rows(labels=labels)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=y)
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, row_group_size=100)
    positive = labels[1]
    in_memory = one_class(positive).fit(frame[list("abcd")], y)
    clf = one_class(positive).fit(ParquetRows(path, "kind"))
    assert clf.classes_.tolist() == [False, True]
    rows = frame[list("abcd")]
    assert_array_equal(clf.predict_proba(rows), in_memory.predict_proba(rows))
    with pytest.raises(ValueError, match="no row of class positive='thief'"):
        one_class("thief").fit(ParquetRows(path, "kind"))
    with pytest.raises(ValueError, match="must have fewer rows than all others"):
        one_class("big").fit(ParquetRows(_of_two(tmp_path, X), "kind"))


def _of_two(folder, X):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=["big"] * 400 + ["small"] * 200)
    frame.to_parquet(folder / "two.parquet")
    return folder / "two.parquet"


@pytest.mark.parametrize(
    ("positive", "labels", "message"),
    [
        ("Fraud", ("card", "fraud", "loan", "none"), "no row of class positive='Fraud'. Its class"),
        ("2", (1, 2, 3, 4), "no row of class positive='2'. Its classes are 1, 2, 3, 4."),
        (2, ("1", "2", "3", "4"), "no row of class positive=2. Its classes are '1'"),
        ("a", ("b", "b", "a", "a"), "positive='a' has 420 of 600 rows: the class to find must"),
        ("a", ("a", "a", "a", "a"), "y has only one class"),
    ],
)
def test_a_class_that_cannot_be_found_is_refused(positive, labels, message):
    with pytest.raises(ValueError, match=message):
        one_class(positive).fit(*make_rows(labels=labels))


def test_validation_rows_need_the_class_and_a_failed_fit_changes_nothing(fitted):
    X, y = make_rows()
    others = y != "fraud"
    clf = clone(fitted).fit(X, y)
    before = clf.predict_proba(X)
    with pytest.raises(ValueError, match="y_val has no row of class positive='fraud'"):
        clf.fit(X, y, X_val=X[others], y_val=y[others])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        clf.fit(X, np.where(others, np.nan, 1.0))
    assert_array_equal(clf.predict_proba(X), before)


def test_a_warm_start_keeps_its_class():
    X, y = make_rows()
    clf = one_class(n_estimators=4, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="positive was 'fraud' and is now 'loan'"):
        clf.set_params(positive="loan", n_estimators=6).fit(X, y)
