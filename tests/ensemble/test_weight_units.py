"""Only the ratios of the weights count, to the last bit, and extreme ratios are refused."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from tree_mesa import tree_mesa
from weight_laws import WeightLaws, weights_of

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier


class TestWeights(WeightLaws):
    @pytest.fixture(params=[tree_mesa, UnderBaggingClassifier], ids=["trees", "under-bagging"])
    def make(self, request):
        return partial(request.param, n_estimators=4, random_state=0)


def test_the_unit_of_weights_changes_no_bit_of_teams():
    X, y = make_classification(1200, 5, weights=[0.78], flip_y=0.1, random_state=0)
    weights = weights_of(y)
    expected = MesaClassifier(recipe="fast", random_state=0)
    expected = expected.fit(X, y, sample_weight=weights)
    assert expected.signal_ is not None  # otherwise this tests trees
    for factor in (10, 1 / 3):
        clf = MesaClassifier(recipe="fast", random_state=0)
        clf.fit(X, y, sample_weight=weights * factor)
        np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))
