"""The meta-sampler and its parts: states, draws, policies, meta-training."""

from importlib.util import find_spec

from metasampler.growth._sampling import draw_rows, gaussian_log_weights, race_keys
from metasampler.meta._fixed import ConstantPolicy, UniformPolicy
from metasampler.meta._policy import GaussianPolicy
from metasampler.meta._pretrained import pretrained_names
from metasampler.meta._sampler import MetaSampler
from metasampler.meta._state import StateEncoder, error_histogram
from metasampler.meta._task import Task
from metasampler.meta._training import TrainingProgress

__all__ = [
    "ConstantPolicy",
    "GaussianPolicy",
    "MetaSampler",
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
    __all__.insert(1, "EnsembleTrainingEnv")


def __getattr__(name):
    # gymnasium is an extra: only those who ask for the environment import it.
    if name == "EnsembleTrainingEnv":
        from metasampler.meta._environment import EnsembleTrainingEnv

        return EnsembleTrainingEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
