"""Build meta-samplers: the one place that knows how a trainer gets its options."""

from __future__ import annotations

from typing import Any

from metasampler import MetaSampler
from metasampler.meta import FitToConstants, SoftActorCritic

__all__ = ["TRAINERS", "make_sampler"]

#: The trainers by the names that the command line has for them.
TRAINERS: dict[str, Any] = {"sac": SoftActorCritic, "constants": FitToConstants}


def make_sampler(
    trainer: str = "sac", options: dict[str, Any] | None = None, **settings: Any
) -> MetaSampler:
    """Return an unfitted meta-sampler.

    Parameters
    ----------
    trainer : {"sac", "constants"}, default="sac"
        What learns: soft actor-critic, or a fit to how constants do.
    options : dict, default=None
        Options of the trainer.
    **settings
        Other parameters of :class:`~metasampler.MetaSampler`.

    Returns
    -------
    sampler : MetaSampler

    Examples
    --------
    >>> from metasampler_bench._named_trainers import make_sampler
    >>> make_sampler("sac", {"n_updates": 50}, n_estimators=5).n_estimators
    5
    """
    return MetaSampler(trainer=TRAINERS[trainer](**(options or {})), **settings)
