"""What fitted ensembles are made of, for code that stores them."""

from metasampler.ensemble._calibration import (
    Blend,
    NoCalibration,
    PriorCalibration,
    Sigmoid,
    SigmoidCalibration,
)
from metasampler.ensemble._checks import check_threshold
from metasampler.ensemble._class_decision import ClassEvidence
from metasampler.ensemble._cut_points import CutPoints
from metasampler.ensemble._one_class import is_positive
from metasampler.ensemble._pool import Pool, SoftmaxCalibration
from metasampler.ensemble._self_paced import _SelfPacedDraw as SelfPacedDraw
from metasampler.ensemble._training_boosters import Boosters
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble
from metasampler.ensemble.base import FittedTeam

__all__ = [
    "BaseUnderSamplingEnsemble",
    "Blend",
    "Boosters",
    "ClassEvidence",
    "CutPoints",
    "FittedTeam",
    "NoCalibration",
    "Pool",
    "PriorCalibration",
    "SelfPacedDraw",
    "Sigmoid",
    "SigmoidCalibration",
    "SoftmaxCalibration",
    "check_threshold",
    "is_positive",
]
