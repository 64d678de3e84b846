"""The growth loop: errors -> weights -> balanced subset -> new member -> errors ...

A fit, a meta-training episode and every under-sampling ensemble are this one loop. `meta` and
`ensemble` stand on it; it stands on nothing of theirs.
"""

from metasampler.growth._data import GrowthData
from metasampler.growth._kinds import resolve_estimator, resolve_kinds
from metasampler.growth._loop import Growth, GrowthStep, grow_by_policy
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._sampling import draw_rows, gaussian_log_weights, race_keys
from metasampler.growth._validation import check_table, copy_input_tags, make_growth_data

__all__ = [
    "Growth",
    "GrowthData",
    "GrowthStep",
    "RandomStreams",
    "Stream",
    "check_table",
    "copy_input_tags",
    "draw_rows",
    "gaussian_log_weights",
    "grow_by_policy",
    "make_growth_data",
    "race_keys",
    "resolve_estimator",
    "resolve_kinds",
]
