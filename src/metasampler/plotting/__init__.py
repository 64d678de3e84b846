"""Pictures of a fit and of its decisions; they need matplotlib (``pip install metasampler[plot]``).

What scikit-learn draws is not repeated here: `CalibrationDisplay`, `PrecisionRecallDisplay`
and its other displays work with every classifier of this package.
"""

from metasampler.plotting._fit_summary import FitSummaryDisplay
from metasampler.plotting._threshold import ThresholdDisplay

__all__ = ["FitSummaryDisplay", "ThresholdDisplay"]
