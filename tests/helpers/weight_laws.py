"""Laws of `sample_weight` that hold for every ensemble, of the library and of the benchmarks."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

FACTORS = [0.1, 10, 3, 1 / 3, 0.7, 7e5, 1e-9, 1e9, np.pi, 1e300]


def weights_of(y, kind="any"):
    rng = np.random.default_rng(1)
    if kind == "whole":
        return rng.integers(0, 5, len(y)).astype(float)
    return rng.exponential(size=len(y)) + 1e-3


class WeightLaws:
    """Tests for a subclass that has ``make``, which returns an ensemble by its name."""

    @pytest.fixture
    def task(self):
        return make_classification(700, 6, weights=[0.8], flip_y=0.1, random_state=0)

    @pytest.mark.parametrize("kind", ["whole", "any"])
    def test_the_unit_of_weights_changes_no_bit(self, task, make, kind):
        X, y = task
        weights = weights_of(y, kind)
        expected = make().fit(X, y, sample_weight=weights).predict_proba(X)
        for factor in FACTORS:
            clf = make().fit(X, y, sample_weight=weights * factor)
            np.testing.assert_array_equal(clf.predict_proba(X), expected, err_msg=str(factor))

    @pytest.mark.parametrize("value", [1e308, 5e-324])
    def test_equal_weights_of_any_size_are_no_weights(self, task, make, value):
        X, y = task
        clf = make().fit(X, y, sample_weight=np.full(len(y), value))
        expected = make().fit(X, y, sample_weight=np.ones(len(y)))
        np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))

    @pytest.mark.parametrize("rows", ["one", "a class", "half"])
    @pytest.mark.parametrize("spread", [1e12, 1e-12])
    def test_wide_weights_give_finite_answers(self, task, make, rows, spread):
        X, y = task
        numbers = np.arange(len(y))
        heavy = {"one": numbers == 5, "a class": y == 1, "half": numbers % 2 == 0}[rows]
        clf = make().fit(X, y, sample_weight=np.where(heavy, spread, 1.0))
        assert np.isfinite(clf.predict_proba(X)).all()
        assert np.isfinite(getattr(clf, "scores_", [0.0])).all()

    @pytest.mark.parametrize(("least", "most"), [(1, 1e18), (1e-300, 1e300), (5e-324, 1.0)])
    def test_wider_weights_are_refused(self, task, make, least, most):
        X, y = task
        weights = np.where(np.arange(len(y)) % 2, least, most)
        with pytest.raises(ValueError, match=r"sample_weight lies between .* at most 1e\+12 times"):
            make().fit(X, y, sample_weight=weights)
