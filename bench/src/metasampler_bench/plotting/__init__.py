"""Pictures that compare methods, tasks and data sets."""

from metasampler_bench.plotting._critical_difference import CriticalDifferenceDisplay
from metasampler_bench.plotting._decision_boundary import DecisionBoundaryComparisonDisplay
from metasampler_bench.plotting._method_style import method_style
from metasampler_bench.plotting._score_curve import ScoreCurveDisplay
from metasampler_bench.plotting._transfer import TransferHeatmapDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "DecisionBoundaryComparisonDisplay",
    "ScoreCurveDisplay",
    "TransferHeatmapDisplay",
    "method_style",
]
