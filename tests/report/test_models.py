"""Models of all sorts: what their `predict` does is what the report says."""

import numpy as np
import polars
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.report import make_report
from metasampler.report._importance import importances

QUICK = {"n_repeats": 0, "n_resamples": 20}


def alarms(report):
    return report.numbers["alarms"][report.numbers["start"]]


@pytest.fixture(scope="module")
def mesa(rows):
    X, y = rows
    clf = MesaClassifier(recipe="fast", threshold=("cost", 30, 2), random_state=0)
    return clf.fit(X[:1000], y[:1000])


def test_an_ensemble_of_ours(mesa, rows):
    X, y = rows[0][1000:], rows[1][1000:]
    report = make_report(mesa, X, y, target="fraud", n_repeats=1, n_resamples=20)
    assert alarms(report) == (mesa.predict(X) == "yes").sum()
    assert "rows with fraud = yes are found" in report.headline
    for words in ("How the ensemble grew", "Member by member", "What matters", "threshold"):
        assert words in report.html
    # The boxes begin with the costs that the threshold was tuned by.
    assert 'id="miss-cost" min="0" step="any" inputmode="decimal" value="30"' in report.html
    assert 'id="alarm-cost" min="0" step="any" inputmode="decimal" value="2"' in report.html


def test_training_rows_are_warned_of(mesa, rows):
    X, y = rows
    words = "If these are the training rows"
    assert words in make_report(mesa, X[:1000], y[:1000], **QUICK).html
    assert words not in make_report(mesa, X[1000:], y[1000:], **QUICK).html
    assert words not in make_report(mesa, X[:1000], **QUICK).html


def test_the_class_to_find_may_be_the_other_one(mesa, rows):
    X, y = rows[0][1000:], rows[1][1000:]
    report = make_report(mesa, X, y, pos_label="no", **QUICK)
    assert alarms(report) == (mesa.predict(X) == "no").sum()
    assert 'id="miss-cost" min="0" step="any" inputmode="decimal" value="2"' in report.html


@pytest.mark.parametrize(
    "build",
    [
        lambda: LogisticRegression(),
        lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        lambda: make_pipeline(
            StandardScaler(), UnderBaggingClassifier(n_estimators=5, random_state=0)
        ),
        lambda: GridSearchCV(
            make_pipeline(StandardScaler(), UnderBaggingClassifier(random_state=0)),
            {"underbaggingclassifier__n_estimators": [2, 4]},
            cv=2,
        ),
        lambda: FixedThresholdClassifier(LogisticRegression(), threshold=0.2),
        lambda: FixedThresholdClassifier(LogisticRegression(), threshold=0.7, pos_label=0),
        lambda: TunedThresholdClassifierCV(LogisticRegression(), scoring="f1", cv=3),
    ],
)
def test_the_slider_begins_where_predict_decides(numbers, build):
    _, X, y = numbers
    clf = build().fit(X[:600], y[:600])
    report = make_report(clf, X[600:], y[600:], pos_label=1, **QUICK)
    assert alarms(report) == (clf.predict(X[600:]) == 1).sum()
    assert "does not decide by a threshold" not in report.html


def test_an_ensemble_of_ours_with_many_classes(numbers):
    _, X, y = numbers
    labels = np.where(X[:, 2] > 1, 2, y)
    clf = UnderBaggingClassifier(n_estimators=5, random_state=0).fit(X[:800], labels[:800])
    report = make_report(clf, X[800:], labels[800:], **QUICK)
    assert alarms(report) == pytest.approx((clf.predict(X[800:]) == 1).sum(), abs=3)
    assert "Each class" in report.html
    assert "How the ensemble grew" in report.html


class Contrarian(ClassifierMixin, BaseEstimator):
    """Calls rows by something else than its probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.inner_ = LogisticRegression().fit(X, y)
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)

    def predict(self, X):
        return (X[:, 2] > 1).astype(int)


def test_a_model_that_decides_otherwise_is_said_to(numbers):
    _, X, y = numbers
    clf = Contrarian().fit(X, y)
    report = make_report(clf, X, y, pos_label=1, **QUICK)
    assert "does not decide by a threshold" in report.html
    assert alarms(report) == (clf.predict(X) == 1).sum()


@pytest.mark.parametrize("form", ["array", "list", "pandas", "polars", "sparse"])
def test_tables_of_all_forms(numbers, form):
    clf, X, y = numbers
    names = ["a", "b", "c"]
    table = {
        "array": lambda: X,
        "list": lambda: X.tolist(),
        "pandas": lambda: polars.DataFrame(X, schema=names).to_pandas(),
        "polars": lambda: polars.DataFrame(X, schema=names),
        "sparse": lambda: csr_matrix(X),
    }[form]()
    clf = LogisticRegression().fit(table, y)
    report = make_report(clf, table, y.tolist(), n_repeats=1, n_resamples=20)
    assert alarms(report) == (clf.predict(table) == 1).sum()
    assert (
        "<bdi>b</bdi>" if form in ("pandas", "polars") else "<bdi>column 1</bdi>"
    ) in report.html


def test_frames_of_polars_and_pandas_say_the_same(rows):
    X, y = rows
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X[:1000], y[:1000])
    held_out = X[1000:].reset_index(drop=True)
    by_pandas = make_report(clf, held_out, y[1000:], n_resamples=20, n_repeats=1)
    by_polars = make_report(
        clf, polars.from_pandas(held_out), y[1000:], n_resamples=20, n_repeats=1
    )
    assert by_pandas.numbers == by_polars.numbers

    def without_date(html):
        return html.split("To repeat it")[0]

    assert without_date(by_pandas.html) == without_date(by_polars.html)


def test_importances_are_those_of_scikit_learn(numbers):
    clf, X, y = numbers
    made = importances(
        clf, X, y == 1, None, 1, 30, np.random.default_rng(0), lambda note, steps=1: None
    )
    wanted = permutation_importance(
        clf, X, y, scoring="average_precision", n_repeats=30, random_state=0
    )
    spread = np.maximum(wanted.importances_std, 1e-4)
    assert np.all(np.abs(made["mean"] - wanted.importances_mean) < 1.5 * spread)
    assert np.argsort(made["mean"]).tolist() == np.argsort(wanted.importances_mean).tolist()


def test_importances_of_many_rows_are_those_of_a_weighted_sample(numbers):
    clf, _, _ = numbers
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.03
    X = rng.normal(size=(60_000, 3)) + 1.2 * y[:, None] * [1, 0.5, 0]
    quiet = {"rng": rng, "advance": lambda note, steps=1: None}
    made = importances(clf, X, y, None, 1, 2, **quiet)
    assert made["rows"] <= 10_000
    from sklearn.metrics import average_precision_score

    whole = average_precision_score(y, clf.predict_proba(X)[:, 1])
    assert made["base"] == pytest.approx(whole, rel=0.1)


def test_rivals_stand_beside_the_model(numbers):
    clf, X, y = numbers
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:500], y[:500])
    report = make_report(
        clf,
        X,
        y,
        rivals={"a tree": tree},
        comparison={"LightGBM": {"F1": 0.25, "precision": [0.5, 0.7, None]}},
        **QUICK,
    )
    for words in ("How it compares", "a tree", "chance", "LightGBM", "0.250", "60.0% ± 10.0%"):
        assert words in report.html


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pos_label": "x"}, "pos_label must be a class"),
        ({"y": "short"}, "inconsistent numbers of samples"),
        ({"y": "strange"}, "labels that the classifier does not know, such as '7'"),
        ({"y": "one"}, "y has no rows of the class to find, 1"),
        ({"sample_weight": "negative"}, "sample_weight must not be negative"),
        ({"rows_a_day": -1}, "rows_a_day must be a number that is not negative; got -1"),
        ({"miss_cost": np.nan}, "miss_cost must be"),
        ({"top_rows": 1001}, "top_rows must be at most 1000; got 1001"),
        ({"n_repeats": 1.5}, "n_repeats must be a whole number, 0 or more; got 1.5"),
        ({"rivals": "other"}, "'other' does not know the class 1"),
        ({"X": "none"}, "X has no rows"),
    ],
)
def test_what_makes_no_sense_is_refused(numbers, changes, message):
    clf, X, y = numbers
    given = {
        "short": y[:-1],
        "strange": np.where(y == 1, 7, 0),
        "one": np.zeros_like(y),
        "negative": -np.ones(len(y)),
        "other": {"other": LogisticRegression().fit(X, np.where(y == 1, "p", "n"))},
        "none": X[:0],
    }
    values = [
        given.get(value, value) if isinstance(value, str) else value for value in changes.values()
    ]
    arguments = {"X": X, "y": y, **QUICK, **dict(zip(changes, values, strict=True))}
    with pytest.raises(ValueError, match=message):
        make_report(clf, **arguments)


def test_what_is_no_fitted_classifier_is_refused(numbers):
    _, X, y = numbers
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        make_report(LogisticRegression(), X, y)
    with pytest.raises(TypeError, match="must be a fitted classifier; got a StandardScaler"):
        make_report(StandardScaler().fit(X), X, y)
