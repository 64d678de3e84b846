"""Many classes: what predict returns for a goal, and what to expect of each class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import f1_score, precision_score, recall_score

from metasampler.ensemble._class_decision import (
    ClassEvidence,
    check_class_goal,
    choose_class_decision,
)

CLASSES = np.array(["head", "middle", "tail", "tip"])


@pytest.fixture(scope="module")
def evidence():
    """Calibrated probabilities of rows of four classes, from frequent to rare."""
    return made_up(0)


def made_up(seed, n_rows=4000):
    rng = np.random.default_rng(seed)
    prior = np.array([0.7, 0.2, 0.07, 0.03])
    odds = np.log(prior) + rng.normal(0, 1.2, (n_rows, 4))
    proba = softmax(odds, axis=1)
    codes = (proba.cumsum(axis=1) > rng.random((n_rows, 1))).argmax(axis=1)
    return ClassEvidence(proba.astype(np.float32), codes, np.ones(n_rows))


def chosen(goal, evidence):
    prior = np.bincount(evidence.codes, minlength=4) / len(evidence.codes)
    return choose_class_decision(goal, evidence, CLASSES, prior)


def test_none_and_balanced(evidence):
    prior = np.bincount(evidence.codes) / len(evidence.codes)
    assert_array_equal(chosen(None, evidence)(evidence.proba), evidence.proba.argmax(axis=1))
    expected = (evidence.proba / prior).argmax(axis=1)
    assert_array_equal(chosen("balanced", evidence)(evidence.proba), expected)


def test_balanced_has_the_best_mean_recall_and_macro_f1_the_best_f1(evidence):
    goals = [None, "balanced", "macro_f1"]
    called = [chosen(goal, evidence)(evidence.proba) for goal in goals]
    recall = [recall_score(evidence.codes, each, average="macro") for each in called]
    f1 = [f1_score(evidence.codes, each, average="macro") for each in called]
    assert np.argmax(recall) == 1
    assert np.argmax(f1) == 2


def test_what_to_expect_is_what_held_out_rows_show(evidence):
    decision = chosen("macro_f1", evidence)
    called = decision(evidence.proba)
    assert_allclose(decision.recall, recall_score(evidence.codes, called, average=None))
    assert_allclose(decision.precision, precision_score(evidence.codes, called, average=None))


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_a_matrix_of_costs_gives_the_lowest_expected_cost(seed):
    rng = np.random.default_rng(seed)
    evidence, costs = made_up(1, 200), rng.random((4, 4))
    called = chosen(("cost", costs), evidence)(evidence.proba)
    by_hand = [
        min(range(4), key=lambda k, row=row: sum(row[j] * costs[j, k] for j in range(4)))
        for row in evidence.proba.astype(float)
    ]
    assert_array_equal(called, by_hand)


def test_prices_are_costs_of_missing_a_class(evidence):
    prices = {"tail": 5.0, "tip": 20.0}
    matrix = np.outer([1, 1, 5, 20], np.ones(4)) * (1 - np.eye(4))
    by_price = chosen(("cost", prices), evidence)(evidence.proba)
    assert_array_equal(by_price, chosen(("cost", matrix), evidence)(evidence.proba))


@pytest.mark.parametrize("recall", [0.3, 0.6, 0.9])
def test_the_recall_of_a_class_holds_on_new_rows(recall):
    found = []
    for seed in range(20):
        decision = chosen(("recall", {"tip": recall}), made_up(seed))
        new = made_up(seed + 100)
        called = decision(new.proba)
        found.append(np.mean(called[new.codes == 3] == 3))
    assert recall - 0.02 < np.mean(found) < recall + 0.06


def test_recalls_of_two_classes_hold_together(evidence):
    decision = chosen(("recall", {"tail": 0.7, "tip": 0.7}), evidence)
    assert (decision.recall[2:] > 0.65).all()


def test_too_few_rows_for_a_recall_are_said(evidence):
    rows = np.flatnonzero((evidence.codes != 3) | (np.cumsum(evidence.codes == 3) <= 3))
    few = ClassEvidence(
        *(each[rows] for each in (evidence.proba, evidence.codes, evidence.weights))
    )
    with pytest.warns(UserWarning, match="3 held-out rows of class 'tip' are too few"):
        decision = chosen(("recall", {"tip": 0.9}), few)
    assert decision.recall[3] == 1


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("f1", r"threshold='f1': for 4 classes it must be None, 'balanced', 'macro_f1'"),
        (0.3, r"threshold=0\.3: for 4 classes it must be"),
        (("recall", 0.9), r"for 4 classes it must be"),
        (("recall", {"head": 1.2}), r"the recall of class 'head' must be a number in \(0, 1\]"),
        (("recall", {"nose": 0.9}), r"'nose' is not one of \['head', 'middle', 'tail', 'tip'\]"),
        (("recall", {}), "must name at least one class"),
        (("cost", {"head": 0}), "the cost of class 'head' must be a positive number"),
        (("cost", {"head": True}), "the cost of class 'head' must be a positive number"),
        (("cost", np.ones((3, 3))), r"must have 4 rows and columns.*\(3, 3\)"),
        (("cost", np.full((4, 4), np.nan)), "the costs must be finite"),
        (("cost", [["a"]]), "the costs must be numbers"),
        (("cost", np.zeros((4, 4))), "every class costs the same in each row"),
        (("precision", 0.8), "name it by positive="),
        (("precision", {"head": 0.9}), "for 4 classes it must be"),
    ],
)
def test_goals_that_mean_nothing(goal, message):
    with pytest.raises(ValueError, match=message):
        check_class_goal(goal, CLASSES)


def test_intervals_of_classes_hold_for_new_rows():
    # Two classes are of few patients: their intervals are wide, that of the large one is not.
    rng = np.random.default_rng(0)
    inside, widths = [], []
    for _ in range(60):
        codes = np.repeat(rng.choice(3, 400, p=[0.8, 0.12, 0.08]), 5)
        groups = np.repeat(np.arange(400), 5)
        right = np.repeat(rng.random(400) < 0.7, 5)
        proba = np.eye(3)[np.where(right, codes, (codes + 1) % 3)]
        evidence = ClassEvidence.of(proba, codes, groups=groups)
        found = choose_class_decision(None, evidence, np.arange(3), np.full(3, 1 / 3))
        low, high = found.recall_interval.T
        inside.append((low <= 0.7) & (high >= 0.7))
        widths.append(high - low)
        assert (found.precision_interval[:, 0] <= found.precision).all()
    assert np.mean(inside, axis=0).min() >= 0.85
    assert np.mean(widths, axis=0)[2] > 2 * np.mean(widths, axis=0)[0]


def test_a_class_without_rows_has_no_interval():
    evidence = ClassEvidence.of(np.eye(3)[[0, 0, 1, 1]], np.array([0, 0, 1, 1]))
    found = choose_class_decision(None, evidence, np.arange(3), np.full(3, 1 / 3))
    assert np.isnan(found.recall_interval[2]).all()
    assert found.recall_interval[0, 1] == 1.0
