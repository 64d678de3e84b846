"""Pictures of a fit, of its decisions and of a sampler.

They need matplotlib (``pip install metasampler[plot]``). What scikit-learn draws is not repeated
here: `CalibrationDisplay`, `PrecisionRecallDisplay` and its other displays work with every
classifier of this package.
"""

from metasampler.plotting._error_histogram import ErrorHistogramDisplay
from metasampler.plotting._fit_summary import FitSummaryDisplay
from metasampler.plotting._meta_training import MetaTrainingDisplay
from metasampler.plotting._policy import PolicyDisplay
from metasampler.plotting._policy_trace import PolicyTraceDisplay
from metasampler.plotting._threshold_display import ThresholdDisplay

__all__ = [
    "ErrorHistogramDisplay",
    "FitSummaryDisplay",
    "MetaTrainingDisplay",
    "PolicyDisplay",
    "PolicyTraceDisplay",
    "ThresholdDisplay",
]
