"""Policies choose how the rows of the next member are drawn: learned, constant or random ones."""

from metasampler.policy._archive import (
    SAMPLER_SETTINGS,
    TRAINER_SETTINGS,
    check_writable,
    naming_the_input,
    read_archive,
    read_arrays,
    write_archive,
)
from metasampler.policy._network import LOG_STD_RANGE, GaussianPolicy, Layers
from metasampler.policy._policies import (
    ConstantPolicy,
    LearnedPolicy,
    StateEncoder,
    UniformPolicy,
    error_histogram,
    signal_state,
)
from metasampler.policy._rivals import Drawn, WithRivals
from metasampler.policy._sampler_files import (
    find_sampler,
    load_policy,
    pretrained_names,
    read_sampler,
    write_sampler,
)
from metasampler.policy._trained_members import warn_of_other_members

__all__ = [
    "LOG_STD_RANGE",
    "SAMPLER_SETTINGS",
    "TRAINER_SETTINGS",
    "ConstantPolicy",
    "Drawn",
    "GaussianPolicy",
    "Layers",
    "LearnedPolicy",
    "StateEncoder",
    "UniformPolicy",
    "WithRivals",
    "check_writable",
    "error_histogram",
    "find_sampler",
    "load_policy",
    "naming_the_input",
    "pretrained_names",
    "read_archive",
    "read_arrays",
    "read_sampler",
    "signal_state",
    "warn_of_other_members",
    "write_archive",
    "write_sampler",
]
