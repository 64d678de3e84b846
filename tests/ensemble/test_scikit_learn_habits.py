"""What users of scikit-learn expect beyond its own checks."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)

ENSEMBLES = [
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    MesaClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
]


@pytest.fixture(scope="module")
def two_classes():
    X, y = make_classification(900, weights=[0.8], random_state=0)
    return X, np.where(y == 1, "yes", "no")


@pytest.fixture(scope="module")
def fitted(two_classes):
    """The smallest class comes last in one, and first in the other."""
    X, y = two_classes
    other = np.where(y == "yes", "bad", "good")
    return [MesaClassifier(recipe="fast", random_state=0).fit(X, labels) for labels in (y, other)]


@pytest.mark.parametrize("threshold", [None, "balanced", 0.3, 0.9999, "f1", ("recall", 0.9)])
def test_decision_function_is_above_zero_where_the_last_class_is_called(
    fitted, two_classes, threshold
):
    X, _ = two_classes
    for clf in map(clone_fitted, fitted):
        clf.set_threshold(threshold)
        scores, proba = clf.decision_function(X), clf.predict_proba(X)[:, 1]
        assert np.isfinite(scores).all()
        np.testing.assert_array_equal(scores > 0, clf.predict(X) == clf.classes_[1])
        assert (np.diff(scores[np.argsort(proba, kind="stable")]) >= 0).all()


def test_rows_at_the_threshold_are_called(fitted, two_classes):
    X, _ = two_classes
    for clf in map(clone_fitted, fitted):
        proba = clf.predict_proba(X)[:, clf._minority]
        clf.set_threshold(float(np.sort(proba)[-7]))
        calls = clf.decision_function(X) > 0
        assert (calls if clf._minority else ~calls).sum() >= 7
        np.testing.assert_array_equal(calls, clf.predict(X) == clf.classes_[1])


def clone_fitted(clf):
    import copy

    return copy.copy(clf)


@pytest.mark.parametrize(
    "threshold", [None, "balanced", ("cost", [[0, 1, 5], [2, 0, 1], [9, 3, 0]])]
)
def test_the_largest_score_of_many_classes_wins(threshold):
    X, y = make_classification(
        600, n_informative=5, n_classes=3, weights=[0.7, 0.2], random_state=0
    )
    clf = MesaClassifier(recipe="fast", threshold=threshold, random_state=0).fit(X, y)
    scores = clf.decision_function(X)
    assert scores.shape == (600, 3)
    np.testing.assert_array_equal(clf.classes_[np.argmax(scores, axis=1)], clf.predict(X))


def test_calibration_by_scikit_learn_reads_it(two_classes):
    X, y = two_classes
    clf = CalibratedClassifierCV(MesaClassifier(recipe="fast", random_state=0), cv=2).fit(X, y)
    assert clf.predict_proba(X).shape == (900, 2)


@pytest.mark.parametrize("calibration", [None, "prior"])
def test_scores_of_means_are_as_good_to_calibrate_as_their_probabilities(two_classes, calibration):
    # Pure leaves: many means are 0 or 1, and their log-odds would be far from all others.
    X, y = two_classes
    clf = UnderBaggingClassifier(DecisionTreeClassifier(), calibration=calibration, random_state=0)
    proba = clf.fit(X, y).predict_proba(X)[:, 1]
    level = 0.5 if clf.threshold is None else clf.threshold_
    np.testing.assert_allclose(clf.decision_function(X), proba - level, atol=1e-5)
    np.testing.assert_array_equal(clf.decision_function(X) > 0, clf.predict(X) == clf.classes_[1])


def test_scores_of_means_order_rows_as_their_probabilities(two_classes):
    # Probabilities of 1e-30 and 1e-20 are as far from a threshold, to a float.
    X, y = two_classes
    wide = np.hstack([X] * 4)
    clf = UnderBaggingClassifier(GaussianNB(), 3, calibration=None, random_state=0).fit(wide, y)
    proba, scores = clf.predict_proba(wide)[:, 1], clf.decision_function(wide)
    order = np.argsort(proba, kind="stable")
    assert (np.diff(scores[order]) >= 0).all()
    assert len(np.unique(scores[proba < 0.5])) >= 0.99 * len(np.unique(proba[proba < 0.5]))


@pytest.mark.parametrize("kind", ENSEMBLES)
@pytest.mark.parametrize("name", ["class_weight", "scale_pos_weight", "is_unbalance"])
def test_weights_of_classes_are_refused_with_what_to_use(kind, name):
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter '{name}'.*'cost'"):
        kind(**{name: "balanced"})
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter '{name}'.*'cost'"):
        kind().set_params(**{name: "balanced"})
    # The parameters are seen as before.
    assert "random_state" in inspect.signature(kind).parameters
    assert clone(kind(random_state=3)).get_params()["random_state"] == 3
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        kind(nonsense=1)
