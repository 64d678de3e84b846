"""The growth loop: errors -> weights -> balanced sample -> new member -> errors ...

A fit, a meta-training episode and every under-sampling ensemble are this one loop. `policy`, `meta`
and `ensemble` stand on it; it stands on nothing of theirs.
"""

from metasampler.growth._adapters import Adapter, Adapters, make_adapters, weight_argument
from metasampler.growth._base_estimators import (
    copy_input_tags,
    estimators_of,
    is_plain_tree,
    resolve_estimator,
    resolve_estimators,
    resolve_leaf_smoothing,
    unfitted_form,
)
from metasampler.growth._check import (
    N_JOBS,
    SAMPLING_RATIO,
    check_labels,
    check_validation_rows,
    drop_weightless_rows,
    encode_labels,
    make_growth_data,
    unchanged_on_error,
    warn_of_unweighted_members,
)
from metasampler.growth._data import (
    MAX_EVALUATION_ROWS,
    ROLES,
    EvaluationRows,
    GrowthData,
    SampleFacts,
    evaluation_scales,
    fingerprint,
    join_arrays,
)
from metasampler.growth._draw import (
    Candidates,
    Rule,
    draw_rows,
    draw_sample,
    race_keys,
    race_keys_of,
)
from metasampler.growth._groups import (
    GroupCounts,
    check_groups,
    count_groups,
    folds_of_groups,
    folds_of_rows,
    group_keys,
    refuse_lone_groups,
    refuse_missing,
)
from metasampler.growth._hold_out import (
    MAX_DEALT,
    assign_folds,
    can_hold_out,
    find_minority,
    fold_by_key,
    folds_by_rank,
    hold_out_size,
    is_alone,
)
from metasampler.growth._join import join_frames, join_tables
from metasampler.growth._lightgbm_adapter import BoostedMember
from metasampler.growth._loop import Growth, GrowthStep, Policy, replay
from metasampler.growth._member_trees import MemberTree, has_trees, trees_of
from metasampler.growth._memory import MemoryRows, Sums, errors_of_class
from metasampler.growth._recoding import Recoding
from metasampler.growth._rules import (
    DEFAULT_SIGMA,
    GaussianDraw,
    PowerDraw,
    hardest_rows,
    make_draw,
    spread_action,
)
from metasampler.growth._scores import running_mean
from metasampler.growth._streams import RandomStreams, Stream
from metasampler.growth._weights import (
    MANY_ROWS,
    check_spread,
    check_weights,
    exact_sum,
    member_weights,
    ratios_to,
    weigh_classes,
)

__all__ = [
    "DEFAULT_SIGMA",
    "MANY_ROWS",
    "MAX_DEALT",
    "MAX_EVALUATION_ROWS",
    "N_JOBS",
    "ROLES",
    "SAMPLING_RATIO",
    "Adapter",
    "Adapters",
    "BoostedMember",
    "Candidates",
    "EvaluationRows",
    "GaussianDraw",
    "GroupCounts",
    "Growth",
    "GrowthData",
    "GrowthStep",
    "MemberTree",
    "MemoryRows",
    "Policy",
    "PowerDraw",
    "RandomStreams",
    "Recoding",
    "Rule",
    "SampleFacts",
    "Stream",
    "Sums",
    "assign_folds",
    "can_hold_out",
    "check_groups",
    "check_labels",
    "check_spread",
    "check_validation_rows",
    "check_weights",
    "copy_input_tags",
    "count_groups",
    "draw_rows",
    "draw_sample",
    "drop_weightless_rows",
    "encode_labels",
    "errors_of_class",
    "estimators_of",
    "evaluation_scales",
    "exact_sum",
    "find_minority",
    "fingerprint",
    "fold_by_key",
    "folds_by_rank",
    "folds_of_groups",
    "folds_of_rows",
    "group_keys",
    "hardest_rows",
    "has_trees",
    "hold_out_size",
    "is_alone",
    "is_plain_tree",
    "join_arrays",
    "join_frames",
    "join_tables",
    "make_adapters",
    "make_draw",
    "make_growth_data",
    "member_weights",
    "race_keys",
    "race_keys_of",
    "ratios_to",
    "refuse_lone_groups",
    "refuse_missing",
    "replay",
    "resolve_estimator",
    "resolve_estimators",
    "resolve_leaf_smoothing",
    "running_mean",
    "spread_action",
    "trees_of",
    "unchanged_on_error",
    "unfitted_form",
    "warn_of_unweighted_members",
    "weigh_classes",
    "weight_argument",
]
