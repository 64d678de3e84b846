"""Build meta-samplers: the one place that knows how a learner gets its options."""

from __future__ import annotations

from typing import Any

from metasampler import MetaSampler

__all__ = ["LEARNERS", "make_sampler"]

#: The options of each learner, by the name that the command line has for it.
LEARNERS: dict[str, tuple[str, ...]] = {
    "sac": (
        "critic_hidden_layer_sizes",
        "gamma",
        "tau",
        "alpha",
        "learning_rate",
        "lr_decay",
        "lr_decay_steps",
        "batch_size",
        "memory_size",
        "n_random_steps",
        "n_updates",
        "reward_scale",
        "scale_tasks",
        "tasks_per_round",
    ),
    "constants": (
        "n_sweeps",
        "n_constants",
        "constant_min",
        "score_on",
        "penalty",
        "tasks_per_round",
    ),
}


def make_sampler(
    learner: str = "sac", options: dict[str, Any] | None = None, **settings: Any
) -> MetaSampler:
    """Return an unfitted meta-sampler.

    Parameters
    ----------
    learner : {"sac", "constants"}, default="sac"
        What learns: soft actor-critic, or a fit to how constants do.
    options : dict, default=None
        Options of the learner.
    **settings
        Other parameters of :class:`~metasampler.MetaSampler`.

    Returns
    -------
    sampler : MetaSampler

    Examples
    --------
    >>> from metasampler_bench._learners import make_sampler
    >>> make_sampler("sac", {"n_updates": 50}, n_estimators=5).n_estimators
    5
    """
    unknown = sorted(set(options or {}) - set(LEARNERS[learner]))
    if unknown:
        raise ValueError(
            f"{learner} has no option {', '.join(unknown)}; its options are "
            f"{', '.join(LEARNERS[learner])}."
        )
    return MetaSampler(learner=learner, **settings, **(options or {}))
