"""New labelled rows mend probabilities and decisions, without new members."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_validate
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier


def make_rows(share, n_rows, seed):
    """Return rows of a world in which the classes have other shares."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < share).astype(int)
    X = rng.normal(size=(n_rows, 5))
    X[:, :2] += 1.2 * y[:, np.newaxis]
    return X, y


@pytest.fixture(scope="module")
def fitted():
    return MesaClassifier(recipe="fast", random_state=0).fit(*make_rows(0.1, 4000, 0))


@pytest.mark.parametrize("n_rows", [600, 6000], ids=["few", "many"])
@pytest.mark.parametrize("goal", ["balanced", ("precision", 0.4), ("recall", 0.7)], ids=str)
def test_a_shifted_share_is_mended(fitted, goal, n_rows):
    clf = clone(fitted).set_params(threshold=goal).fit(*make_rows(0.1, 4000, 0))
    X_test, y_test = make_rows(0.03, 40_000, 2)
    before = clf.predict_proba(X_test)
    assert before[:, 1].mean() > 1.8 * y_test.mean()
    wrong = abs(y_test[clf.predict(X_test) == 1].mean() - clf.expected_precision_)
    clf.recalibrate(*make_rows(0.03, n_rows, 1))
    after = clf.predict_proba(X_test)
    assert after[:, 1].mean() == pytest.approx(y_test.mean(), rel=0.5 if n_rows < 1000 else 0.12)
    assert log_loss(y_test, after) < log_loss(y_test, before)
    # Only probabilities and the decision change, not the order.
    scores = [average_precision_score(y_test, proba[:, 1]) for proba in (before, after)]
    assert scores[0] == pytest.approx(scores[1])
    called = clf.predict(X_test) == 1
    kept = y_test[called].mean()
    low, high = clf.expected_precision_interval_
    assert low <= kept <= high
    assert abs(kept - clf.expected_precision_) < wrong
    assert clf.threshold == goal


def test_few_rows_change_the_level_alone(fitted):
    clf = clone(fitted).fit(*make_rows(0.1, 4000, 0))
    before = clf.calibration_.functions[0]
    clf.recalibrate(*make_rows(0.03, 600, 1))
    after = clf.calibration_.functions[0]
    assert after.slope == before.slope
    assert after.intercept < before.intercept
    clf.recalibrate(*make_rows(0.03, 6000, 1))
    assert clf.calibration_.functions[0].slope != before.slope


def test_rows_of_the_same_world_change_little(fitted):
    clf = clone(fitted).fit(*make_rows(0.1, 4000, 0))
    X_test, _ = make_rows(0.1, 5000, 2)
    before = clf.predict_proba(X_test)[:, 1]
    after = clf.recalibrate(*make_rows(0.1, 8000, 1)).predict_proba(X_test)[:, 1]
    assert np.abs(before - after).mean() < 0.02


def test_weights_count_as_rows(fitted):
    X, y = make_rows(0.05, 2000, 1)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    once = clone(fitted).fit(*make_rows(0.1, 4000, 0)).recalibrate(X, y, weights)
    repeated = clone(once).fit(*make_rows(0.1, 4000, 0))
    repeated.recalibrate(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(once.predict_proba(X), repeated.predict_proba(X), atol=0.01)


def test_other_calibrations(imbalanced, three_classes):
    X, y = imbalanced
    plain = tree_mesa(calibration=None, random_state=0).fit(X, y)
    before = plain.predict_proba(X)
    np.testing.assert_array_equal(plain.recalibrate(X, y).predict_proba(X), before)
    prior = UnderBaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    often = np.flatnonzero(y == 0)
    rows = np.concatenate([np.flatnonzero(y == 1), often[: len(often) // 2]])
    assert prior.recalibrate(X[rows], y[rows]).calibration_.prior[1] == y[rows].mean()
    X, y = three_classes
    many = tree_mesa(n_estimators=6, random_state=0).fit(X, y)
    assert many.recalibrate(X, y).predict_proba(X).shape == (len(y), 3)


def test_clones_of_a_cross_validation_judge_the_rows_of_the_fit():
    X, y = make_classification(
        22_000, 15, n_informative=6, weights=[0.95], flip_y=0.02, random_state=1
    )
    X, X_test, y, y_test = X[:2000], X[2000:], y[:2000], y[2000:]
    clf = MesaClassifier(threshold=("precision", 0.5), random_state=0).fit(X, y)
    wrong = abs(y_test[clf.predict(X_test) == 1].mean() - clf.expected_precision_)
    splits = StratifiedKFold(5, shuffle=True, random_state=0)
    made = cross_validate(clf, X, y, cv=splits, return_estimator=True, return_indices=True)
    pairs = list(zip(made["estimator"], made["indices"]["test"], strict=True))
    clf.recalibrate(X, y, fitted=pairs)
    right = abs(y_test[clf.predict(X_test) == 1].mean() - clf.expected_precision_)
    # In a fit few members score a row, so that it promises too little here.
    assert right < 0.1 < wrong
    with pytest.raises(ValueError, match="fitted must have a classifier for every row"):
        clf.recalibrate(X, y, fitted=pairs[1:])


def test_what_cannot_be_learned_from_is_refused(fitted):
    X, y = make_rows(0.1, 200, 1)
    with pytest.raises(ValueError, match=r"y has labels that fit did not see, \[7\]"):
        fitted.recalibrate(X, np.where(y, 7, 0))
    with pytest.raises(ValueError, match="y has 0 rows of class 1; recalibrate needs at least 5"):
        fitted.recalibrate(X, np.zeros(200, dtype=int))
    with pytest.raises(ValueError, match="sample_weight is zero for all rows of a class"):
        fitted.recalibrate(X, y, 1.0 - y)
