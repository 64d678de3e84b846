"""The growth loop: errors -> weights -> balanced subset -> new member -> errors ...

A fit, a meta-training episode and every under-sampling ensemble are this one loop. `policy`, `meta`
and `ensemble` stand on it; it stands on nothing of theirs.
"""

from metasampler.growth._check import (
    N_JOBS,
    SAMPLING_RATIO,
    check_labels,
    looked_at,
    make_growth_data,
    unchanged_on_error,
)
from metasampler.growth._data import GrowthData, fingerprint, join_arrays
from metasampler.growth._draw import (
    DEFAULT_SIGMA,
    RandomStreams,
    Stream,
    draw_rows,
    join_choices,
)
from metasampler.growth._journal import Journal
from metasampler.growth._kinds import (
    copy_input_tags,
    is_plain_tree,
    kinds_of,
    resolve_estimator,
    resolve_kinds,
    resolve_leaf_smoothing,
)
from metasampler.growth._looked import LookedAt
from metasampler.growth._loop import Growth, Policy, replay
from metasampler.growth._members import MemberLearner, Members, make_learners, weight_argument
from metasampler.growth._memory import Memory, join_tables
from metasampler.growth._parted import make_parted_data
from metasampler.growth._places import load_cell, store_cell
from metasampler.growth._rules import (
    GaussianDraw,
    PowerDraw,
    hardest_rows,
    make_draw,
    spread_action,
)
from metasampler.growth._scoring import running_mean
from metasampler.growth._sources import (
    ArrayBlock,
    ParquetRows,
    names_of_numbers,
    resolve_source,
    without_spare_memory,
)
from metasampler.growth._weights import group_sums

__all__ = [
    "DEFAULT_SIGMA",
    "N_JOBS",
    "SAMPLING_RATIO",
    "ArrayBlock",
    "GaussianDraw",
    "Growth",
    "GrowthData",
    "Journal",
    "LookedAt",
    "MemberLearner",
    "Members",
    "Memory",
    "ParquetRows",
    "Policy",
    "PowerDraw",
    "RandomStreams",
    "Stream",
    "check_labels",
    "copy_input_tags",
    "draw_rows",
    "fingerprint",
    "group_sums",
    "hardest_rows",
    "is_plain_tree",
    "join_arrays",
    "join_choices",
    "join_tables",
    "kinds_of",
    "load_cell",
    "looked_at",
    "make_draw",
    "make_growth_data",
    "make_learners",
    "make_parted_data",
    "names_of_numbers",
    "replay",
    "resolve_estimator",
    "resolve_kinds",
    "resolve_leaf_smoothing",
    "resolve_source",
    "running_mean",
    "spread_action",
    "store_cell",
    "unchanged_on_error",
    "weight_argument",
    "without_spare_memory",
]
