"""Meta-training: the meta-sampler, its trainers, and the growth loop as an environment."""

from importlib.util import find_spec

from metasampler.meta._constants import FitToConstants
from metasampler.meta._sampler import MetaSampler
from metasampler.meta._trainers import Assignment, Episode, Problem, SoftActorCritic
from metasampler.meta._training import Task, TrainingProgress

__all__ = [
    "Assignment",
    "Episode",
    "FitToConstants",
    "MetaSampler",
    "Problem",
    "SoftActorCritic",
    "Task",
    "TrainingProgress",
]

if find_spec("gymnasium") is not None:
    __all__.insert(1, "EnsembleTrainingEnv")


def __getattr__(name):
    # gymnasium is an extra: only those who ask for the environment import it.
    if name == "EnsembleTrainingEnv":
        from metasampler.meta._environment import EnsembleTrainingEnv

        return EnsembleTrainingEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
