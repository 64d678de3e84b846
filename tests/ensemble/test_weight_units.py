"""Only the ratios of the weights count, to the last bit, and extreme ratios are refused."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.ensemble import AdaCostClassifier, RUSBoostClassifier, UnderBaggingClassifier

FACTORS = [0.1, 10, 3, 1 / 3, 0.7, 7e5, 1e-9, 1e9, np.pi, 1e300]

ENSEMBLES = {
    "trees": lambda: tree_mesa(n_estimators=4, random_state=0),
    "under-bagging": lambda: UnderBaggingClassifier(n_estimators=4, random_state=0),
    "RUSBoost": lambda: RUSBoostClassifier(n_estimators=4, random_state=0),
    "AdaCost": lambda: AdaCostClassifier(n_estimators=4, random_state=0),
}


@pytest.fixture(scope="module")
def task():
    return make_classification(700, 6, weights=[0.8], flip_y=0.1, random_state=0)


def weights_of(y, kind):
    rng = np.random.default_rng(1)
    if kind == "whole":
        return rng.integers(0, 5, len(y)).astype(float)
    return rng.exponential(size=len(y)) + 1e-3


@pytest.mark.parametrize("kind", ["whole", "any"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_the_unit_of_weights_changes_no_bit(task, name, kind):
    X, y = task
    weights = weights_of(y, kind)
    expected = ENSEMBLES[name]().fit(X, y, sample_weight=weights).predict_proba(X)
    for factor in FACTORS:
        clf = ENSEMBLES[name]().fit(X, y, sample_weight=weights * factor)
        np.testing.assert_array_equal(clf.predict_proba(X), expected, err_msg=str(factor))


def test_the_unit_of_weights_changes_no_bit_of_teams():
    X, y = make_classification(1200, 5, weights=[0.78], flip_y=0.1, random_state=0)
    weights = weights_of(y, "any")
    expected = MesaClassifier.from_preset("fast", random_state=0)
    expected = expected.fit(X, y, sample_weight=weights)
    assert expected.signal_ is not None  # otherwise this tests trees
    for factor in (10, 1 / 3):
        clf = MesaClassifier.from_preset("fast", random_state=0)
        clf.fit(X, y, sample_weight=weights * factor)
        np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("name", ENSEMBLES)
@pytest.mark.parametrize("value", [1e308, 5e-324])
def test_equal_weights_of_any_size_are_no_weights(task, name, value):
    X, y = task
    clf = ENSEMBLES[name]().fit(X, y, sample_weight=np.full(len(y), value))
    expected = ENSEMBLES[name]().fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("name", ENSEMBLES)
@pytest.mark.parametrize("rows", ["one", "a class", "half"])
@pytest.mark.parametrize("spread", [1e12, 1e-12])
def test_wide_weights_give_finite_answers(task, name, rows, spread):
    X, y = task
    chosen = {"one": np.arange(len(y)) == 5, "a class": y == 1, "half": np.arange(len(y)) % 2 == 0}
    clf = ENSEMBLES[name]().fit(X, y, sample_weight=np.where(chosen[rows], spread, 1.0))
    assert np.isfinite(clf.predict_proba(X)).all()
    assert np.isfinite(getattr(clf, "scores_", [0.0])).all()


@pytest.mark.parametrize("name", ENSEMBLES)
@pytest.mark.parametrize(("least", "most"), [(1, 1e18), (1e-300, 1e300), (5e-324, 1.0)])
def test_wider_weights_are_refused(task, name, least, most):
    X, y = task
    weights = np.where(np.arange(len(y)) % 2, least, most)
    with pytest.raises(ValueError, match=r"sample_weight lies between .* at most 1e\+12 times"):
        ENSEMBLES[name]().fit(X, y, sample_weight=weights)
