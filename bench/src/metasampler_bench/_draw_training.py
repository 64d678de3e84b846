"""Train policies for draws on ensembles themselves, by several trainers at equal episodes.

Rows of `policies-tables` are enough to learn from constants. Soft actor-critic has to act: here it
does, on tables of one half of the families, so that it can be judged by the stored scores of the
other half.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from metasampler import MetaSampler
from metasampler.ensemble.teams import RECIPES, Boosters
from metasampler.growth import Growth, RandomStreams, Stream
from metasampler.meta import FitToConstants, SoftActorCritic, Task
from metasampler.policy import GaussianPolicy, LearnedPolicy, StateEncoder, signal_state
from metasampler_bench._draw_measure import at_most
from metasampler_bench._protocol import fit_seed, take_frames
from metasampler_bench._samplers import SamplerCache, pass_on_interrupt
from metasampler_bench._spec import Job
from metasampler_bench.datasets import REAL_FAMILIES, REAL_NAMES

__all__ = ["HALVES", "SIGNALS", "TRAINERS", "half_of", "measure_training", "trainer_of"]

#: What is known of a trained policy: its power at these signals.
SIGNALS = tuple(float(signal) for signal in np.geomspace(5, 320, 25).round(1))

#: Families by their place in the alphabet, every other one.
HALVES = ("even", "odd")

# Rows of a task: members are fitted some thousand times.
_MOST_ROWS = 4000
_VALIDATION_PART = 0.25
_N_MEMBERS = RECIPES["default"].n_boosters

# Episodes on each task, and in a quick look.
_N_EPISODES, _N_QUICK = 20, 5

# Episodes that each linear policy of random search plays on a task.
_N_TRIES = 2

# Powers that constants are played at.
_N_CONSTANTS = 5


def half_of(family: str) -> str:
    """Return the half that a family belongs to."""
    families = sorted(set(REAL_FAMILIES.values()))
    return HALVES[families.index(family) % 2]


def trainer_of(cell: dict[str, Any]) -> str:
    """Return which trainer a cell is of; empty if it is not one of a training."""
    # Specs and stored rows have an older word for it.
    word, _, name = cell.get("setting", "").partition("=")
    return name if word == "learner" else ""


def measure_training(job: Job, cache: SamplerCache) -> list[dict[str, Any]]:
    """Train one policy on one table of every family of a half, and say what it does."""
    cell = job.cell
    tasks = _tasks(cell["families"], cell["run"], cache)
    n_episodes = _N_QUICK if cell.get("quick") else _N_EPISODES
    start = time.process_time()
    learn = TRAINERS[trainer_of(cell)]
    policy = learn(tasks, n_episodes, seed=fit_seed(cell["run"], cell["fold"], cache.seed))
    cpu = time.process_time() - start
    powers = [round(policy.choose(signal_state(signal)), 4) for signal in SIGNALS]
    return [
        {
            "powers": powers,
            "tasks": [task.name for task in tasks],
            "n_episodes": n_episodes * len(tasks),
            "cpu": round(cpu, 2),
        }
    ]


def _tasks(half: str, run: int, cache: SamplerCache) -> list[Task]:
    first: dict[str, str] = {}
    for name in REAL_NAMES:
        first.setdefault(REAL_FAMILIES[name], name)
    tasks = []
    for family, name in sorted(first.items()):
        if half_of(family) == half:
            X, y, _, _ = take_frames(name, run, seed=cache.seed, data_home=cache.data_home)
            seed = fit_seed(run, 0, cache.seed)
            tasks.append(Task(*at_most(X, y, seed, most=_MOST_ROWS), name=name))
    return tasks


def _by_meta_training(
    trainer: Callable[[int, int], SoftActorCritic | FitToConstants],
    hidden: tuple[int, ...],
    tasks: list[Task],
    n_episodes: int,
    *,
    seed: int,
) -> Any:
    sampler = MetaSampler(
        Boosters(),
        _N_MEMBERS,
        state="signal",
        hidden_layer_sizes=hidden,
        trainer=trainer(len(tasks), n_episodes),
        validation_fraction=_VALIDATION_PART,
        random_state=seed,
    )
    sampler.fit_tasks(tasks)
    pass_on_interrupt(sampler)
    return sampler.as_policy()


def _soft_actor_critic(n_tasks: int, n_episodes: int) -> SoftActorCritic:
    n_steps = n_episodes * n_tasks * (_N_MEMBERS - 1)
    # A quarter at random, as in the training on stored curves; tasks count alike.
    n_random = n_steps // 4
    return SoftActorCritic(n_random_steps=n_random, n_updates=n_steps - n_random, scale_tasks=True)


def _constants(n_tasks: int, n_episodes: int) -> FitToConstants:
    return FitToConstants(n_episodes // _N_CONSTANTS, _N_CONSTANTS, relative=True)


def _random_search(tasks: list[Task], n_episodes: int, *, seed: int) -> Any:
    """Return the best of random linear policies, by scores relative to those of all of them."""
    streams, rng = RandomStreams(seed), np.random.default_rng(seed)
    encoder = StateEncoder("signal")
    n_candidates = max(1, n_episodes // _N_TRIES)
    candidates = [_linear_policy(w, encoder) for w in rng.normal(size=(n_candidates, 2))]
    worth = np.zeros(n_candidates)
    for number, task in enumerate(tasks):
        data, adapters = Boosters().prepare_task(
            task.X, task.y, validation_fraction=_VALIDATION_PART, sampling_ratio=1.0,
            scoring="average_precision", streams=streams.child(Stream.SPLIT, number),
        )  # fmt: skip
        scores = np.zeros(n_candidates)
        for episode in range(_N_TRIES):
            # Candidates share random numbers: they are compared, not their luck.
            stream = streams.child(Stream.EPISODE, number * _N_TRIES + episode)
            for place, policy in enumerate(candidates):
                growth = Growth(data, adapters, stream)
                for _ in growth.grow(policy, _N_MEMBERS):
                    pass
                scores[place] += growth.score("valid")
        worth += scores / scores.mean()
    return candidates[int(np.argmax(worth))]


def _linear_policy(weights: Any, encoder: StateEncoder) -> Any:
    # States of tables have a spread of about a quarter: both weights may go from end to end.
    intercept, slope = 2.0 * weights[0], 8.0 * weights[1]
    layers = [np.array([[slope, 0.0]])], [np.array([intercept, 0.0])]
    return LearnedPolicy(GaussianPolicy.from_layers(*layers), encoder)


#: What learns, by name: from tasks, episodes and a seed to a policy. Soft actor-critic has the
#: network of the paper; what is learned from constants is linear, as the shipped sampler.
TRAINERS: dict[str, Callable[..., Any]] = {
    "soft actor-critic": partial(_by_meta_training, _soft_actor_critic, (50,)),
    "random search": _random_search,
    "constants": partial(_by_meta_training, _constants, ()),
}
