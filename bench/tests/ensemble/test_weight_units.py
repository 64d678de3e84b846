"""Only the ratios of the weights count, to the last bit, and extreme ratios are refused."""

from functools import partial

import pytest
from weight_laws import WeightLaws

from metasampler_bench.ensemble import AdaCostClassifier, RUSBoostClassifier


class TestWeights(WeightLaws):
    @pytest.fixture(params=[RUSBoostClassifier, AdaCostClassifier], ids=["RUSBoost", "AdaCost"])
    def make(self, request):
        return partial(request.param, n_estimators=4, random_state=0)
