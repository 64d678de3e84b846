"""Under-sampling ensembles that run the same growth loop with other draws."""

from metasampler.ensemble._balance_cascade import BalanceCascadeClassifier
from metasampler.ensemble._easy_ensemble import EasyEnsembleClassifier
from metasampler.ensemble._mesa import MesaClassifier
from metasampler.ensemble._self_paced import SelfPacedEnsembleClassifier
from metasampler.ensemble._under_bagging import UnderBaggingClassifier

__all__ = [
    "BalanceCascadeClassifier",
    "EasyEnsembleClassifier",
    "MesaClassifier",
    "SelfPacedEnsembleClassifier",
    "UnderBaggingClassifier",
]
