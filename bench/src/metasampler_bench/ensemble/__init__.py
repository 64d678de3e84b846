"""Ensembles beside the growth loop: boosting, and bagging on synthetic rows."""

from metasampler_bench.ensemble._ada_c2 import AdaC2Classifier
from metasampler_bench.ensemble._ada_cost import AdaCostClassifier
from metasampler_bench.ensemble._ramo_boost import RAMOBoostClassifier
from metasampler_bench.ensemble._rus_boost import RUSBoostClassifier
from metasampler_bench.ensemble._smote_bagging import SMOTEBaggingClassifier
from metasampler_bench.ensemble._smote_boost import SMOTEBoostClassifier

__all__ = [
    "AdaC2Classifier",
    "AdaCostClassifier",
    "RAMOBoostClassifier",
    "RUSBoostClassifier",
    "SMOTEBaggingClassifier",
    "SMOTEBoostClassifier",
]
