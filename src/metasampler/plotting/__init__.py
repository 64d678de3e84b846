"""Pictures of fits, of their decisions and of comparisons.

They need matplotlib (``pip install metasampler[plot]``). What scikit-learn draws is not repeated
here: `CalibrationDisplay`, `PrecisionRecallDisplay` and its other displays work with every
classifier of this package.
"""

from metasampler.plotting._critical_difference import CriticalDifferenceDisplay
from metasampler.plotting._decision_boundary import DecisionBoundaryComparisonDisplay
from metasampler.plotting._error_histogram import ErrorHistogramDisplay
from metasampler.plotting._fit_summary import FitSummaryDisplay
from metasampler.plotting._meta_training import MetaTrainingDisplay
from metasampler.plotting._policy_trace import PolicyTraceDisplay
from metasampler.plotting._precision_recall import PrecisionRecallComparisonDisplay
from metasampler.plotting._score_curve import ScoreCurveDisplay
from metasampler.plotting._threshold import ThresholdDisplay
from metasampler.plotting._transfer import TransferHeatmapDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "DecisionBoundaryComparisonDisplay",
    "ErrorHistogramDisplay",
    "FitSummaryDisplay",
    "MetaTrainingDisplay",
    "PolicyTraceDisplay",
    "PrecisionRecallComparisonDisplay",
    "ScoreCurveDisplay",
    "ThresholdDisplay",
    "TransferHeatmapDisplay",
]
