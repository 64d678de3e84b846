"""Clones judge rows at the level of the ensemble whose place they take."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from metasampler import MesaClassifier
from metasampler.ensemble._levels import Level


def answers(odds):
    return np.column_stack([expit(-odds), expit(odds)])


def test_answers_are_brought_to_another_level():
    odds = np.random.default_rng(0).normal(size=500)
    ours, theirs = answers(2 * odds - 1), answers(0.5 * odds + 3)
    level = Level.of(ours)
    assert level == pytest.approx((2 * odds.mean() - 1, 2 * odds.std()))
    np.testing.assert_allclose(level.take(theirs, Level.of(theirs)), ours)
    # An ensemble that says the same of all rows has no spread.
    same = answers(np.zeros(500))
    np.testing.assert_array_equal(level.take(same, Level.of(same)), same)


def test_a_clone_of_another_level_decides_nothing_else():
    X, y = make_classification(1500, weights=[0.9], random_state=0)
    clf = MesaClassifier(recipe="fast", threshold=("recall", 0.8), random_state=0).fit(X, y)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    pairs = [(clone(clf).fit(X[train], y[train]), test) for train, test in splits]
    before = clf.recalibrate(X, y, fitted=pairs).threshold_, clf.expected_recall_
    for classifier, _ in pairs[:2]:
        classifier._blend.scales = [3 * scale for scale in classifier._blend.scales]
    after = clf.recalibrate(X, y, fitted=pairs).threshold_, clf.expected_recall_
    assert after == pytest.approx(before, abs=1e-6)


def test_clones_may_name_the_rows_they_were_fitted_to():
    X, y = make_classification(1500, weights=[0.9], random_state=0)
    clf = MesaClassifier(recipe="fast", threshold=("recall", 0.8), random_state=0).fit(X, y)
    older, middle, newer = np.split(np.arange(1500), [500, 1000])
    pairs = [
        (clone(clf).fit(X[older], y[older]), middle, older),
        (clone(clf).fit(X[:1000], y[:1000]), newer, np.arange(1000)),
    ]
    clf.recalibrate(X, y, fitted=pairs)
    assert clf._cuts.n_positive == y[500:].sum()
    with pytest.raises(ValueError, match="y has 0 rows of class 1; recalibrate needs at least 5"):
        clf.recalibrate(X, y, fitted=[(pairs[0][0], np.flatnonzero(y == 0)[:50], older)])
    with pytest.raises(ValueError, match="fitted must have a classifier for every row"):
        clf.recalibrate(X, y, fitted=[pair[:2] for pair in pairs])
    assert logit(clf.threshold_) < 5
