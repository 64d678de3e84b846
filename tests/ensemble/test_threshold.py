"""Decisions: what a threshold promises, it keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, matthews_corrcoef, precision_score, recall_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.ensemble._cut_points import CutPoints
from metasampler.ensemble._threshold import choose_threshold

GOALS = ["f1", "mcc", ("recall", 0.8), ("precision", 0.5), ("cost", 10, 1)]


@st.composite
def held_out(draw):
    n = draw(st.integers(4, 80))
    scores = draw(arrays(float, n, elements=st.sampled_from(np.linspace(0.05, 0.95, 10))))
    positive = draw(arrays(bool, n))
    positive[0], positive[1] = True, False
    return scores, positive


def decide(goal, scores, positive, weights=None):
    return choose_threshold(goal, CutPoints.of(scores, positive, weights), prior=0.1)


def shown(chosen, scores, positive):
    """Return precision and recall of the rows that chose."""
    called = scores >= chosen.value
    return precision_score(positive, called), recall_score(positive, called)


@pytest.mark.parametrize("goal", ["f1", "mcc", ("cost", 5, 2)])
@given(rows=held_out())
def test_no_other_threshold_is_better(goal, rows):
    scores, positive = rows

    def value(threshold):
        called = scores >= threshold
        if goal == "f1":
            return f1_score(positive, called, zero_division=0)
        if goal == "mcc":
            return matthews_corrcoef(positive, called)
        return -(5 * np.sum(positive & ~called) + 2 * np.sum(~positive & called))

    chosen = value(decide(goal, scores, positive).value)
    assert chosen >= max(value(t) for t in [*np.unique(scores), 1.0]) - 1e-12


# With few rows the goal may be out of reach, which it then says.
@pytest.mark.filterwarnings("ignore:.*held-out rows:UserWarning")
@given(rows=held_out(), goal=st.floats(0.05, 1))
def test_recall_and_precision_are_reached_if_they_can_be(rows, goal):
    scores, positive = rows
    chosen = decide(("recall", goal), scores, positive)
    recall = shown(chosen, scores, positive)[1]
    assert recall >= goal - 1e-9 or chosen.value <= scores[positive].min()
    chosen = decide(("precision", goal), scores, positive)
    precision = shown(chosen, scores, positive)[0]
    reachable = [precision_score(positive, scores >= t) for t in np.unique(scores)]
    if max(reachable) >= goal:
        assert precision >= goal - 1e-12
        lower = [t for t in np.unique(scores) if t < chosen.value]
        assert all(precision_score(positive, scores >= t) < goal for t in lower)
    else:
        assert precision == pytest.approx(max(reachable))


def test_recall_holds_on_new_rows():
    # The promise is about rows nobody has seen: on average over many draws of held-out rows.
    rng = np.random.default_rng(0)
    reached = []
    # Behind each positive there are more negatives, so every lower threshold costs precision.
    n_behind = np.arange(1, 31)
    positive = np.repeat([True, False], [30, n_behind.sum()])
    for _ in range(2000):
        found = -np.sort(-rng.normal(size=30))
        scores = np.append(found, np.repeat(found - 1e-9, n_behind))
        chosen = decide(("recall", 0.9), scores, positive)
        reached.append(np.mean(rng.normal(size=200) >= chosen.value))
    assert np.mean(reached) == pytest.approx(0.9, abs=0.01)
    assert np.mean(reached) >= 0.9 - 2 * np.std(reached) / np.sqrt(2000)


def test_recall_takes_what_costs_no_precision():
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.2, 0.1])
    positive = np.array([True, True, True, True, False, False])
    chosen = decide(("recall", 0.5), scores, positive)
    # All positives, and half of the gap: the next positive may score a little lower.
    assert chosen.value == pytest.approx(0.4)
    assert shown(chosen, scores, positive) == (1.0, 1.0)


@pytest.mark.parametrize("upper", np.nextafter([0.3, 0.5, 0.7, 0.9], 1))
def test_recall_does_not_call_a_neighbour_among_the_floats(upper):
    scores = np.array([0.95, upper, np.nextafter(upper, 0), 0.01])
    positive = np.array([True, True, False, False])
    assert shown(decide(("recall", 0.6), scores, positive), scores, positive) == (1.0, 1.0)


@pytest.mark.parametrize("recall", [0.5, 0.8])
def test_recall_holds_where_a_table_is_nearly_solved(recall):
    X, y = make_classification(
        12_000, 12, n_informative=6, weights=[0.95], class_sep=2, flip_y=0, random_state=0
    )
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=3000, stratify=y, random_state=0
    )
    clf = MesaClassifier(threshold=("recall", recall), random_state=0).fit(X_train, y_train)
    called = clf.predict(X_test)
    assert recall_score(y_test, called) >= recall
    assert precision_score(y_test, called) >= 0.95


def test_too_few_rows_for_a_recall():
    with pytest.warns(UserWarning, match="too few to expect a recall of 0.9"):
        chosen = decide(("recall", 0.9), np.array([0.2, 0.8, 0.1]), np.array([True, True, False]))
    assert chosen.value == pytest.approx(0.15)


def test_a_precision_that_is_out_of_reach():
    with pytest.warns(UserWarning, match="No threshold reaches a precision of 0.9"):
        chosen = decide(
            ("precision", 0.9), np.array([0.2, 0.8, 0.8]), np.array([True, True, False])
        )
    assert chosen.value == 0.2


def test_calling_nobody_can_be_cheapest():
    scores, positive = np.array([0.9, 0.8, 0.7]), np.array([False, False, True])
    assert decide(("cost", 1, 10), scores, positive).recall == 0


@pytest.mark.filterwarnings("ignore:.*held-out rows:UserWarning")
@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_weights_count_as_rows(goal):
    scores = np.array([0.1, 0.4, 0.6, 0.9])
    positive = np.array([True, False, True, False])
    weights = np.array([1, 3, 2, 1])
    once = decide(goal, scores, positive, weights)
    repeated = decide(goal, np.repeat(scores, weights), np.repeat(positive, weights))
    assert once.value == repeated.value


# ---------------------------------------------------------------------------- in a classifier


@pytest.fixture(scope="module")
def split(imbalanced):
    X, y = imbalanced
    return train_test_split(X, y, stratify=y, random_state=0)


@pytest.mark.parametrize("goal", [None, "balanced", 0.3, *GOALS], ids=str)
def test_predict_follows_the_threshold(split, goal):
    X, X_test, y, _ = split
    clf = tree_mesa(threshold=goal, random_state=0).fit(X, y)
    called = clf.predict_proba(X_test)[:, 1] >= clf.threshold_
    np.testing.assert_array_equal(clf.predict(X_test), called.astype(int))
    assert 0 <= clf.expected_recall_ <= 1


def test_balanced_is_more_probable_than_frequent(split):
    X, _, y, _ = split
    clf = tree_mesa(n_estimators=10, random_state=0).fit(X, y)
    assert clf.threshold_ == pytest.approx(np.mean(y), abs=0.01)
    raw = tree_mesa(calibration=None, random_state=0).fit(X, y)
    assert raw.threshold_ == 0.5


@pytest.mark.parametrize("flip", [False, True])
def test_the_threshold_is_about_the_minority(split, flip):
    X, X_test, y, _ = split
    labels = np.array(["b-often", "a-rare"] if flip else ["a-often", "b-rare"])
    clf = tree_mesa(threshold=("recall", 0.9), random_state=0).fit(X, labels[y])
    column = list(clf.classes_).index(labels[1])
    called = clf.predict_proba(X_test)[:, column] >= clf.threshold_
    np.testing.assert_array_equal(clf.predict(X_test) == labels[1], called)


def test_many_classes(three_classes):
    X, y = three_classes
    usual = tree_mesa(threshold=None, random_state=0).fit(X, y)
    proba = usual.predict_proba(X)
    np.testing.assert_array_equal(usual.predict(X), usual.classes_[proba.argmax(axis=1)])
    balanced = tree_mesa(n_estimators=10, random_state=0).fit(X, y)
    assert np.sum(balanced.predict(X) == "one") >= np.sum(usual.predict(X) == "one")
    with pytest.raises(ValueError, match="'f1': for 3 classes it must be None, 'balanced', 'macro"):
        tree_mesa(threshold="f1").fit(X, y)


@pytest.mark.parametrize(
    "threshold",
    [
        "f2",
        0,
        1.0,
        True,
        (),
        ("recall",),
        ("recall", 1.5),
        ("cost", 1),
        ("cost", -1, 1),
        ("cost", np.inf, 1),
        (1, 2),
    ],
    ids=str,
)
def test_bad_thresholds(split, threshold):
    X, _, y, _ = split
    with pytest.raises(ValueError, match="threshold must be None, 'balanced'"):
        tree_mesa(threshold=threshold).fit(X, y)


def test_recall_follows_the_weights():
    scores, positive, weights = np.linspace(0, 1, 200), np.arange(200) >= 100, np.ones(200)
    weights[100:110] = 100.0
    chosen = decide(("recall", 0.9), scores, positive, weights)
    called = scores >= chosen.value
    assert recall_score(positive, called, sample_weight=weights) >= 0.9


@pytest.mark.parametrize("share", [0.5, 0.02])
def test_validation_rows_with_another_share_of_the_rare_class(split, share):
    # They calibrate to the world of the training rows, whatever their own is.
    X, X_test, y, y_test = split
    rare, often = np.flatnonzero(y_test == 1), np.flatnonzero(y_test == 0)
    n_rare = min(len(rare), max(5, int(share * len(often))))
    rows = np.concatenate([rare[:n_rare], often[: int(n_rare / share) - n_rare]])
    clf = tree_mesa(n_estimators=10, random_state=0).fit(
        X, y, X_val=X_test[rows], y_val=y_test[rows]
    )
    assert clf.threshold_ == pytest.approx(np.mean(y), abs=0.01)
    assert np.mean(clf.predict(X)) < 0.4


def test_tuning_needs_held_out_rows(split):
    X, _, y, _ = split
    with pytest.raises(ValueError, match="threshold='f1' is tuned on validation rows"):
        UnderBaggingClassifier(threshold="f1").fit(X, y)
    clf = UnderBaggingClassifier(random_state=0).fit(X, y)
    assert clf.expected_recall_ is None


def test_inside_scikit_learns_tools(split):
    X, X_test, y, y_test = split
    clf = tree_mesa(n_estimators=4, random_state=0)
    tuned = TunedThresholdClassifierCV(clf, scoring="f1", cv=3).fit(X, y)
    assert f1_score(y_test, tuned.predict(X_test)) > 0
    fixed = FixedThresholdClassifier(clf, threshold=0.01).fit(X, y)
    assert recall_score(y_test, fixed.predict(X_test)) > 0.9
    search = GridSearchCV(
        make_pipeline(StandardScaler(), clf),
        {"mesaclassifier__threshold": ["balanced", ("recall", 0.7)]},
        scoring="recall",
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.5


# ---------------------------------------------------------------------- what a team can look at


@given(rows=held_out(), share=st.floats(0.01, 0.99))
def test_a_share_of_rows_is_reached_and_not_passed(rows, share):
    scores, positive = rows
    chosen = decide(("top", share), scores, positive).value
    called = np.mean(scores >= chosen)
    # Rows of one score are called together; the highest are called in any case.
    assert called <= share + 1e-9 or chosen == scores.max()
    lower = scores[scores < chosen]
    assert not len(lower) or np.mean(scores >= lower.max()) > share


def test_a_share_learned_from_held_out_rows_holds_on_new_ones(for_teams):
    X, y = for_teams
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    clf = UnderBaggingClassifier(
        n_estimators=40, threshold=("top", 0.1), validation_fraction=0.5, random_state=0
    ).fit(X_train, y_train)
    assert 0.04 < np.mean(clf.predict(X_test) == clf.minority_class_) < 0.2


@pytest.mark.parametrize("n", [1, 7, np.int64(40), 10_000, None])
@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
def test_the_most_probable_rows_are_named_in_order(data, n, request):
    X, y = request.getfixturevalue(data)
    clf = tree_mesa(DecisionTreeClassifier(max_depth=2), 3, meta_sampler=0.8, random_state=0)
    clf.fit(X, y)
    rows = clf.top_rows(X, n)
    assert len(rows) == min(n or len(X), len(X))
    scores = clf.predict_proba(X)[:, clf.classes_ == clf.minority_class_].ravel()
    # A few leaves: many rows have the same score.
    assert len(np.unique(scores)) < len(X) / 4
    assert rows.tolist() == sorted(range(len(X)), key=lambda i: (-scores[i], i))[: len(rows)]


@pytest.mark.parametrize("n", [0, -3, 0.5, True, "many", np.nan])
def test_a_number_of_rows_that_means_nothing_is_refused(n, imbalanced):
    clf = tree_mesa(n_estimators=2, meta_sampler=0.8, random_state=0).fit(*imbalanced)
    with pytest.raises(ValueError, match=r"n=.* must be a number of rows"):
        clf.top_rows(imbalanced[0], n)


@pytest.mark.parametrize("share", [0, -3, 0.0, 1.0, 1.5, True, "many", None, np.nan, 200])
def test_a_share_that_means_nothing_is_refused(share, imbalanced):
    hint = r"For a number of rows call top_rows\(X, n\)" if share == 200 else ""
    with pytest.raises(ValueError, match=rf"or \('top', share\) with a share.*{hint}"):
        tree_mesa(threshold=("top", share)).fit(*imbalanced)


GOALS = [None, "balanced", 0.2, "f1", ("recall", 0.8), ("precision", 0.5), ("top", 0.05)]


@pytest.mark.parametrize("threshold", GOALS)
def test_a_row_is_decided_alone(threshold, imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=3, threshold=threshold, random_state=0).fit(X, y)
    together, rng = clf.predict(X), np.random.default_rng(0)
    for rows in (rng.choice(len(X), 50, replace=False), *np.arange(30)[:, np.newaxis]):
        np.testing.assert_array_equal(clf.predict(X[rows]), together[rows])


@pytest.mark.parametrize("last", [40, 300, -1])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_fixed_threshold_promises_the_same_by_one_cut_point(last, grouped):
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    positive = rng.random(4000) < 0.3 * scores
    groups = rng.integers(0, 300, 4000) if grouped else None
    cuts = CutPoints.of(scores, positive, None, groups)
    assert cuts.are_alike
    last %= len(cuts.thresholds)
    one = cuts.only(last)
    for name in ("hits", "alarms"):
        all_rows = np.cumsum(getattr(cuts, f"{name[:-1]}_rows"))
        np.testing.assert_allclose(np.cumsum(getattr(one, f"{name[:-1]}_rows"))[0], all_rows[last])
        assert getattr(one, name)[0] == getattr(cuts, name)[last]
    found = choose_threshold(float(cuts.thresholds[last]), cuts, prior=0.1)
    unlike = CutPoints.of(scores, positive, 1 + 1e-6 * rng.random(4000), groups)
    assert not unlike.are_alike
    by_all = choose_threshold(float(unlike.thresholds[last]), unlike, prior=0.1)
    for name in ("precision", "recall", "precision_interval", "recall_interval"):
        np.testing.assert_allclose(getattr(found, name), getattr(by_all, name), rtol=0.15)
