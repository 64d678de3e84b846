"""Meta-training: the meta-sampler, its learners, and the growth loop as an environment."""

from importlib.util import find_spec

from metasampler.growth import draw_rows, gaussian_log_weights, race_keys
from metasampler.meta._constants import FitToConstants
from metasampler.meta._learners import Assignment, Episode, Problem, SoftActorCritic
from metasampler.meta._sampler import MetaSampler
from metasampler.meta._task import Task
from metasampler.meta._training import TrainingProgress
from metasampler.policy import (
    ConstantPolicy,
    GaussianPolicy,
    StateEncoder,
    UniformPolicy,
    error_histogram,
    pretrained_names,
)

__all__ = [
    "Assignment",
    "ConstantPolicy",
    "Episode",
    "FitToConstants",
    "GaussianPolicy",
    "MetaSampler",
    "Problem",
    "SoftActorCritic",
    "StateEncoder",
    "Task",
    "TrainingProgress",
    "UniformPolicy",
    "draw_rows",
    "error_histogram",
    "gaussian_log_weights",
    "pretrained_names",
    "race_keys",
]

if find_spec("gymnasium") is not None:
    __all__.insert(2, "EnsembleTrainingEnv")


def __getattr__(name):
    # gymnasium is an extra: only those who ask for the environment import it.
    if name == "EnsembleTrainingEnv":
        from metasampler.meta._environment import EnsembleTrainingEnv

        return EnsembleTrainingEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
