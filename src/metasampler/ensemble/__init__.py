"""Ensembles on the growth loop."""

from metasampler.ensemble._ada_cost import AdaCostClassifier
from metasampler.ensemble._balance_cascade import BalanceCascadeClassifier
from metasampler.ensemble._easy_ensemble import EasyEnsembleClassifier
from metasampler.ensemble._mesa import MesaClassifier
from metasampler.ensemble._ramo_boost import RAMOBoostClassifier
from metasampler.ensemble._rus_boost import RUSBoostClassifier
from metasampler.ensemble._self_paced import SelfPacedEnsembleClassifier
from metasampler.ensemble._smote_bagging import SMOTEBaggingClassifier
from metasampler.ensemble._smote_boost import SMOTEBoostClassifier
from metasampler.ensemble._teams import RECIPES
from metasampler.ensemble._under_bagging import UnderBaggingClassifier

__all__ = [
    "RECIPES",
    "AdaCostClassifier",
    "BalanceCascadeClassifier",
    "EasyEnsembleClassifier",
    "MesaClassifier",
    "RAMOBoostClassifier",
    "RUSBoostClassifier",
    "SMOTEBaggingClassifier",
    "SMOTEBoostClassifier",
    "SelfPacedEnsembleClassifier",
    "UnderBaggingClassifier",
]
