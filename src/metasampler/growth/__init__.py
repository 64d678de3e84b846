"""The growth loop: errors -> weights -> balanced subset -> new member -> errors ...

A fit, a meta-training episode and every under-sampling ensemble are this one loop. `meta` and
`ensemble` stand on it; it stands on nothing of theirs.
"""

from metasampler.growth._data import GrowthData
from metasampler.growth._loop import Growth, GrowthStep, grow_by_policy
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._sampling import draw_rows, gaussian_log_weights, race_keys

__all__ = [
    "Growth",
    "GrowthData",
    "GrowthStep",
    "RandomStreams",
    "Stream",
    "draw_rows",
    "gaussian_log_weights",
    "grow_by_policy",
    "race_keys",
]
