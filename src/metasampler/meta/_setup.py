"""From the settings of a meta-sampler to a training that can run."""

import copy
from numbers import Integral
from typing import Any

import joblib
import numpy as np

from metasampler.growth._data import GrowthData
from metasampler.growth._kinds import resolve_kinds
from metasampler.growth._random import RandomStreams, Stream
from metasampler.meta._checkpoint import Checkpoint, fingerprint
from metasampler.meta._constants import ConstantsLearner
from metasampler.meta._evolution import EvolutionLearner
from metasampler.meta._files import plain_entries
from metasampler.meta._learners import Learner, RewardScale, SACLearner
from metasampler.meta._policy import GaussianPolicy
from metasampler.meta._sac import SAC
from metasampler.meta._state import StateEncoder
from metasampler.meta._training import MetaTraining

__all__ = ["make_checkpoint", "make_training", "name_of"]


# A policy with hidden layers may stay at a constant from one random start, and not from another.
_OTHER_STARTS = 4


def make_training(
    sampler: Any, data: list[GrowthData], names: list[str], streams: RandomStreams
) -> MetaTraining:
    """The training that a sampler's settings describe."""
    if sampler.learner == "constants" and sampler.score_on == "test":
        without = [n for n, task in zip(names, data, strict=True) if "test" not in task.rows]
        if without:
            raise ValueError(
                f"score_on='test' needs X_test and y_test of every task; {without[0]} has none."
            )
    encoder = StateEncoder(sampler.state, sampler.n_bins)
    start = _starting_policy(sampler, encoder)
    if sampler.train_ratio < 1:
        data = [task.thinned(sampler.train_ratio, streams) for task in data]
    round_size = min(sampler.tasks_per_round or len(data), len(data))
    return MetaTraining(
        data,
        names,
        resolve_kinds(sampler.estimator),
        encoder,
        _make_learner(sampler, encoder, streams, start, len(data), round_size),
        n_members=sampler.n_estimators,
        sigma=sampler.sigma,
        mu_min=sampler.mu_min,
        round_size=round_size,
        streams=streams,
        score_on=sampler.score_on if sampler.learner == "constants" else "valid",
    )


def _starting_policy(sampler: Any, encoder: StateEncoder) -> GaussianPolicy | None:
    """A copy of the learned policy for a warm start, otherwise None."""
    if not sampler._starts_warm():
        return None
    known = sampler.encoder_
    # Not compared as a whole: the bins of a summary may differ, it has none.
    if (encoder.kind, encoder.size) != (known.kind, known.size):
        raise ValueError(
            f"A warm start needs the states that the policy reads, {known}; this sampler is set "
            f"to {encoder}."
        )
    hidden = _layer_sizes(sampler, "hidden_layer_sizes")
    if hidden != sampler.policy_.hidden:
        raise ValueError(
            f"A warm start needs the hidden_layer_sizes of the policy, {sampler.policy_.hidden}; "
            f"this sampler is set to {hidden}."
        )
    # Copied, because clones share their policy.
    return copy.deepcopy(sampler.policy_)


def _as_action(mu: float | None, mu_min: float) -> float:
    """The inverse of `spread_action`."""
    return 0.0 if mu is None else (mu - mu_min) / (1 - mu_min)


def _new_policy(encoder: StateEncoder, hidden: tuple[int, ...], rng) -> GaussianPolicy:
    return GaussianPolicy(encoder.size, hidden, rng=rng)


def _make_learner(
    sampler: Any,
    encoder: StateEncoder,
    streams: RandomStreams,
    start: GaussianPolicy | None,
    n_tasks: int,
    round_size: int,
) -> Learner:
    hidden = _layer_sizes(sampler, "hidden_layer_sizes")
    critic_hidden = _layer_sizes(sampler, "critic_hidden_layer_sizes")
    rng = streams.generator(Stream.LEARNER)
    if sampler.learner == "constants":
        n_more = 0 if start is not None else _OTHER_STARTS
        return ConstantsLearner(
            _new_policy(encoder, hidden, rng) if start is None else start,
            [_new_policy(encoder, hidden, rng).parameters for _ in range(n_more)],
            n_tasks=n_tasks,
            round_size=round_size,
            n_sweeps=sampler.n_sweeps,
            n_constants=sampler.n_constants,
            lowest=_as_action(sampler.constant_min, sampler.mu_min),
            penalty=sampler.penalty,
            warm=start is not None,
        )
    if sampler.learner == "cma-es":
        return EvolutionLearner(
            _new_policy(encoder, hidden, rng) if start is None else start,
            round_size=round_size,
            n_generations=sampler.n_generations,
            population_size=sampler.population_size,
            step_size=sampler.step_size,
            seed=streams.integer(Stream.LEARNER, 1),
        )
    agent = SAC(
        encoder.size,
        hidden=hidden,
        critic_hidden=critic_hidden,
        gamma=sampler.gamma,
        tau=sampler.tau,
        alpha=sampler.alpha,
        learning_rate=sampler.learning_rate,
        lr_decay=sampler.lr_decay,
        lr_decay_steps=sampler.lr_decay_steps,
        batch_size=sampler.batch_size,
        memory_size=sampler.memory_size,
        rng=rng,
        dtype=np.float32 if start is None else start.dtype,
        policy=start,
        policy_delay=sampler.policy_delay,
    )
    return SACLearner(
        agent,
        RewardScale(n_tasks, sampler.reward_scale, sampler.scale_tasks),
        round_size=round_size,
        n_actions=sampler.n_estimators - 1,
        n_random_steps=sampler.n_random_steps,
        n_updates=sampler.n_updates,
    )


def make_checkpoint(sampler: Any, training: MetaTraining, path, every: int) -> Checkpoint | None:
    """Where to store a training, with all that its result depends on; None without a path."""
    if path is None:
        return None
    if not isinstance(every, Integral) or every < 1:
        raise ValueError(f"checkpoint_every must be an int of at least 1, got {every!r}.")
    if not isinstance(sampler.random_state, Integral):
        raise ValueError(
            "A checkpoint needs an int as random_state, or what is resumed could not be the same "
            f"training; got {sampler.random_state!r}."
        )
    settings = sampler.get_params(deep=False)
    del settings["n_jobs"], settings["verbose"]
    settings["estimator"] = repr(resolve_kinds(sampler.estimator))
    settings["scoring"] = name_of(sampler.scoring)
    origin = {
        **plain_entries(settings),
        "tasks": [
            [name, fingerprint(task)]
            for name, task in zip(training.names, training.data, strict=True)
        ],
        # At this point that of a warm start, or what the seed gives.
        "first policy": joblib.hash(training.learner.policy.parameters),
    }
    return Checkpoint.at(path, int(every), origin)


def name_of(scoring) -> str:
    """What a scoring is called; unlike its repr this says nothing of where in memory it is."""
    if isinstance(scoring, str):
        return scoring
    return getattr(scoring, "__qualname__", None) or repr(scoring)


def _layer_sizes(sampler: Any, name: str) -> tuple[int, ...]:
    sizes = tuple(getattr(sampler, name))
    if not all(isinstance(size, Integral) and int(size) > 0 for size in sizes):
        raise ValueError(f"{name} must hold positive integers, got {sizes!r}.")
    return tuple(int(size) for size in sizes)
