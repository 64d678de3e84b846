"""What to expect of a threshold holds on new rows, and a threshold can be chosen again."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tree_mesa import tree_mesa

from metasampler import MesaClassifier, load_model, save_model
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.ensemble._cut_points import CutPoints
from metasampler.ensemble._threshold import choose_threshold

GOALS = ["f1", "mcc", ("recall", 0.8), ("precision", 0.5), ("cost", 10, 1), ("top", 0.05)]
PROMISE = (
    *("threshold_", "expected_precision_", "expected_recall_"),
    *("expected_precision_interval_", "expected_recall_interval_"),
)


def promise_of(clf):
    return [getattr(clf, name) for name in PROMISE]


# ---------------------------------------------------------------------------- rows of known truth


@pytest.mark.parametrize("goal", ["balanced", *GOALS], ids=str)
def test_expectations_hold_where_the_truth_is_known(goal):
    # Scores of both classes are normal, so precision and recall of each threshold are known.
    rng, distance, n_positive, n_negative = np.random.default_rng(0), 2.0, 60, 1200
    errors, inside, apparent = [], [], []
    for _ in range(120):
        scores = np.append(rng.normal(distance, 1, n_positive), rng.normal(size=n_negative))
        cuts = CutPoints.of(scores, np.arange(len(scores)) < n_positive)
        chosen = choose_threshold(goal, cuts, prior=1.5)
        recall = norm.sf(chosen.value - distance)
        precision = recall / (recall + norm.sf(chosen.value) * n_negative / n_positive)
        last = cuts.last_called(chosen.value)
        found, false = cuts.hits[last], cuts.alarms[last]
        apparent.append([found / (found + false) - precision, found / n_positive - recall])
        errors.append([chosen.precision - precision, chosen.recall - recall])
        intervals = chosen.precision_interval, chosen.recall_interval
        truths = zip(intervals, (precision, recall), strict=True)
        inside.append([low <= truth <= high for (low, high), truth in truths])
    # Of 120 intervals 114 should hold; fewer than 106 would do so in one of 500 such tests.
    assert np.sum(inside, axis=0).min() >= 106
    bias, before = np.abs(np.mean(errors, axis=0)), np.abs(np.mean(apparent, axis=0))
    assert bias.max() < 0.025
    if goal in ("f1", "mcc"):  # where the rows that chose mislead most
        assert (bias < before / 2).all()


def test_an_interval_is_wider_with_fewer_rows():
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=8000), rng.random(8000) < 0.1
    widths = []
    for n_rows in (200, 1000, 8000):
        cuts = CutPoints.of(scores[:n_rows] + positive[:n_rows], positive[:n_rows])
        low, high = choose_threshold("balanced", cuts, prior=0.5).recall_interval
        widths.append(high - low)
    assert widths[0] > 1.5 * widths[1] > 3 * widths[2]


def test_an_interval_is_never_a_point():
    # All of ten positives are found: of new ones some may be missed.
    scores, positive = np.append(np.full(10, 0.9), np.full(90, 0.1)), np.arange(100) < 10
    chosen = choose_threshold(0.5, CutPoints.of(scores, positive), prior=0.1)
    assert (chosen.precision, chosen.recall) == (1.0, 1.0)
    for low, high in (chosen.precision_interval, chosen.recall_interval):
        assert 0.6 < low < 0.9
        assert high > 0.99


def test_weights_that_differ_tell_less():
    rng = np.random.default_rng(0)
    scores, positive = rng.random(400), rng.random(400) < 0.2
    spread = {}
    for name, weights in (("equal", np.full(400, 3.0)), ("unequal", rng.lognormal(0, 1.5, 400))):
        cuts = CutPoints.of(scores, positive, weights)
        low, high = choose_threshold(0.5, cuts, prior=0.2).recall_interval
        spread[name] = high - low
    plain = choose_threshold(0.5, CutPoints.of(scores, positive), prior=0.2).recall_interval
    assert spread["equal"] == pytest.approx(plain[1] - plain[0])
    assert spread["unequal"] > 1.3 * spread["equal"]


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_many_rows_need_no_more_cut_points(goal):
    rng = np.random.default_rng(0)
    positive = rng.random(60_000) < 0.05
    scores = rng.normal(size=60_000) + 2 * positive
    cuts = CutPoints.of(scores, positive)
    assert len(cuts.thresholds) <= 2000
    chosen = choose_threshold(goal, cuts, prior=0.05)
    called = scores >= chosen.value
    best = {
        "f1": lambda c: 2 * (c & positive).sum() / (c.sum() + positive.sum()),
        "cost": lambda c: -10 * (positive & ~c).sum() - (c & ~positive).sum(),
    }
    name = goal if isinstance(goal, str) else goal[0]
    if name in best:
        others = [best[name](scores >= t) for t in np.quantile(scores, np.linspace(0.8, 1, 400))]
        assert best[name](called) >= max(others) - 0.002 * abs(max(others))
    if name == "top":
        assert np.mean(called) == pytest.approx(0.05, rel=0.01)
    if name == "recall":
        assert np.mean(called[positive]) == pytest.approx(0.8, abs=0.003)


# ---------------------------------------------------------------------------- another threshold


@pytest.fixture(scope="module")
def fitted(imbalanced):
    X, y = imbalanced
    X, X_test, y, _ = train_test_split(X, y, stratify=y, random_state=0)
    return tree_mesa(n_estimators=10, random_state=0).fit(X, y), X, X_test, y


@pytest.mark.parametrize("goal", [None, "balanced", 0.3, *GOALS], ids=str)
def test_a_threshold_that_is_set_is_that_of_a_fit(fitted, goal):
    clf, X, X_test, y = fitted
    again = clone(clf).set_params(threshold=goal).fit(X, y)
    clf.set_threshold(goal)
    assert clf.threshold == goal
    assert promise_of(clf) == promise_of(again)
    assert str(clf.summary()) == str(again.summary())
    np.testing.assert_array_equal(clf.predict(X_test), again.predict(X_test))


def test_set_params_after_a_fit_works(fitted):
    clf, _, X_test, _ = fitted
    n_called = (clf.set_params(threshold=0.5).predict(X_test) == 1).sum()
    assert (clf.set_params(threshold=0.05).predict(X_test) == 1).sum() > n_called
    assert clf.threshold_ == 0.05


def test_a_stored_model_takes_another_threshold(fitted, tmp_path):
    clf, _, X_test, _ = fitted
    save_model(clf.set_threshold("balanced"), tmp_path / "model.mesa")
    loaded = load_model(tmp_path / "model.mesa")
    assert promise_of(loaded) == promise_of(clf)
    loaded.set_threshold(("recall", 0.9))
    assert promise_of(loaded) == promise_of(clf.set_threshold(("recall", 0.9)))
    np.testing.assert_array_equal(loaded.predict(X_test), clf.predict(X_test))


def test_the_last_step_of_a_pipeline_takes_another_threshold(imbalanced):
    X, y = imbalanced
    model = make_pipeline(StandardScaler(), tree_mesa(n_estimators=4, random_state=0)).fit(X, y)
    model[-1].set_threshold(0.9)
    n_called = (model.predict(X) == 1).sum()
    model.set_params(mesaclassifier__threshold=0.01)
    assert (model.predict(X) == 1).sum() > n_called


def test_what_no_held_out_rows_can_decide_is_said(imbalanced):
    X, y = imbalanced
    clf = UnderBaggingClassifier(n_estimators=4, random_state=0).fit(X, y)
    before = clf.predict(X)
    with pytest.raises(ValueError, match="threshold='f1' is tuned on validation rows"):
        clf.set_threshold("f1")
    assert clf.threshold == "balanced"
    with pytest.warns(UserWarning, match="still decides by threshold='balanced'.*call fit again"):
        clf.set_params(threshold="f1")
    np.testing.assert_array_equal(clf.predict(X), before)
    assert clf.set_threshold(0.4).threshold_ == 0.4


def test_a_threshold_that_means_nothing_changes_nothing(fitted):
    clf = fitted[0].set_threshold("balanced")
    before = promise_of(clf)
    with pytest.raises(ValueError, match="threshold must be None, 'balanced'"):
        clf.set_threshold(("recall", 2))
    assert promise_of(clf) == before
    with pytest.raises(AttributeError, match="not fitted"):
        MesaClassifier().set_threshold("f1")


def test_many_classes_take_the_two_rules_they_have(three_classes):
    X, y = three_classes
    clf = tree_mesa(n_estimators=6, threshold=None, random_state=0).fit(X, y)
    n_rare = (clf.predict(X) == "one").sum()
    assert (clf.set_threshold("balanced").predict(X) == "one").sum() >= n_rare
    with pytest.raises(
        ValueError, match="'f1': for 3 classes it must be None, 'balanced', 'macro_f1'"
    ):
        clf.set_threshold("f1")


def test_as_many_rows_of_each_day_as_a_team_can_check(fitted):
    clf, _, X_test, _ = fitted
    days = np.arange(len(X_test)) % 7
    scores = clf.predict_proba(X_test)[:, 1]
    rows = clf.top_rows(X_test, 5, per=days)
    assert (np.bincount(days[rows]) == 5).all()
    assert (np.diff(scores[rows]) <= 0).all()
    for day in range(7):
        others = np.setdiff1d(np.flatnonzero(days == day), rows)
        assert scores[others].max() <= scores[rows[days[rows] == day]].min()
    np.testing.assert_array_equal(clf.top_rows(X_test, 5), clf.top_rows(X_test, 5, per=days * 0))
    with pytest.raises(ValueError, match="per has 3 values"):
        clf.top_rows(X_test, 5, per=[1, 2, 3])


@pytest.mark.parametrize(
    "goal", [{"recall": 0.9}, b"f1", object(), np.array([1, 2]), [np.array([1])]]
)
def test_what_is_no_threshold_is_named(fitted, goal):
    clf = fitted[0].set_threshold("balanced")
    with pytest.raises(ValueError, match="threshold must be None, 'balanced'"):
        clf.set_threshold(goal)
    with pytest.warns(UserWarning, match="still decides by threshold='balanced'"):
        clf.set_params(threshold=goal)
    clf.set_params(threshold="balanced")
