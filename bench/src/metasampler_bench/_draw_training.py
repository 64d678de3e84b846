"""Train policies for draws on ensembles themselves, by several learners at equal episodes.

Rows of `policies-tables` are enough to learn from constants. Soft actor-critic has to act: here it
does, on tables of one half of the families, so that it can be judged by the stored scores of the
other half. What it learns from all families, several times, becomes one policy that comes along.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from metasampler import MetaSampler
from metasampler.ensemble.teams import RECIPES, Boosters
from metasampler.growth import Growth, RandomStreams, Stream
from metasampler.meta import FitToConstants, SoftActorCritic, Task
from metasampler.policy import GaussianPolicy, LearnedPolicy, StateEncoder, signal_state
from metasampler_bench._draw_measure import at_most
from metasampler_bench._protocol import fit_seed, take_frames
from metasampler_bench._samplers import SamplerCache
from metasampler_bench._spec import Job
from metasampler_bench.datasets import REAL_FAMILIES, REAL_NAMES, flip_labels

__all__ = [
    "ALL",
    "HALVES",
    "LEARNERS",
    "SIGNALS",
    "as_one",
    "half_of",
    "measure_training",
    "soft_actor_critic",
]

#: What is known of a trained policy: its power at these signals.
SIGNALS = tuple(float(signal) for signal in np.geomspace(5, 320, 25).round(1))

#: Families by their place in the alphabet, every other one.
HALVES = ("even", "odd")

#: In the place of a half: what is trained on all families cannot be judged by their scores.
ALL = "all"

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


def measure_training(job: Job, cache: SamplerCache) -> list[dict[str, Any]]:
    """Train one policy on one table of every family of a half, and say what it does.

    With ``noise`` in the cell every table is there twice, the second time with flipped labels, and
    each has half of the episodes.
    """
    cell = job.cell
    tasks = _tasks(cell["families"], cell["run"], cell.get("noise", 0.0), cache)
    n_episodes = _N_QUICK if cell.get("quick") else _N_EPISODES
    n_episodes //= 2 if cell.get("noise") else 1
    start = time.process_time()
    learn = LEARNERS[cell["setting"].removeprefix("learner=")]
    policy = learn(tasks, n_episodes, seed=fit_seed(cell["run"], cell["fold"], cache.seed))
    cpu = time.process_time() - start
    powers = [round(policy.choose(signal_state(signal)), 4) for signal in SIGNALS]
    row: dict[str, Any] = {
        "powers": powers,
        "tasks": [task.name for task in tasks],
        "n_episodes": n_episodes * len(tasks),
        "cpu": round(cpu, 2),
    }
    if cell["families"] == ALL:
        row["layers"] = [[part.tolist() for part in layer] for layer in policy.actor.layers]
    return [row]


def _tasks(half: str, run: int, noise: float, cache: SamplerCache) -> list[Task]:
    first: dict[str, str] = {}
    for name in REAL_NAMES:
        first.setdefault(REAL_FAMILIES[name], name)
    tasks = []
    for family, name in sorted(first.items()):
        if half in (ALL, half_of(family)):
            X, y, _, _ = take_frames(name, run, seed=cache.seed, data_home=cache.data_home)
            seed = fit_seed(run, 0, cache.seed)
            X, y = at_most(X, y, seed, most=_MOST_ROWS)
            tasks.append(Task(X, y, name=name))
            if noise:
                # Validation labels too: scouts stop by them, and would see more than in a fit.
                flipped = flip_labels(y, noise, random_state=seed)
                tasks.append(Task(X, flipped, name=f"{name}@@{noise:g}"))
    return tasks


def as_one(policies: Sequence[GaussianPolicy]) -> GaussianPolicy:
    """Return one policy whose Gaussian has the mean parameters of those of several.

    Their networks stand side by side in one: each unit sees only its own network's, and the
    outputs are averaged before they are squashed.
    """
    *hidden, last = zip(*(policy.layers for policy in policies), strict=True)
    weights, biases = [], []
    for number, layer in enumerate(hidden):
        own = [weight for weight, _ in layer]
        # All read the same state.
        weights.append(block_diag(*own) if number else np.hstack(own))
        biases.append(np.concatenate([bias for _, bias in layer]))
    outputs = [weight for weight, _ in last]
    weights.append(np.vstack(outputs) / len(policies) if hidden else np.mean(outputs, axis=0))
    biases.append(np.mean([bias for _, bias in last], axis=0))
    return GaussianPolicy.from_layers(weights, biases)


def _by_meta_training(
    learner: Callable[[int, int], SoftActorCritic | FitToConstants],
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
        learner=learner(len(tasks), n_episodes),
        validation_fraction=_VALIDATION_PART,
        random_state=seed,
    )
    sampler.fit_tasks(tasks)
    if sampler.summary_["interrupted"]:
        # A sampler keeps what it has learned by then; a row must not.
        raise KeyboardInterrupt
    return sampler.as_policy()


def soft_actor_critic(n_tasks: int, n_episodes: int) -> SoftActorCritic:
    """Return the learner for so many tasks, and episodes on each."""
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
        data, learner = Boosters().prepare_task(
            task.X, task.y, validation_fraction=_VALIDATION_PART, sampling_ratio=1.0,
            scoring="average_precision", streams=streams.child(Stream.SPLIT, number),
        )  # fmt: skip
        scores = np.zeros(n_candidates)
        for episode in range(_N_TRIES):
            # Candidates share random numbers: they are compared, not their luck.
            stream = streams.child(Stream.EPISODE, number * _N_TRIES + episode)
            for place, policy in enumerate(candidates):
                growth = Growth(data, learner, stream)
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
#: network of the paper; what is learned from constants is linear, as the sampler that comes along.
LEARNERS: dict[str, Callable[..., Any]] = {
    "soft actor-critic": partial(_by_meta_training, soft_actor_critic, (50,)),
    "random search": _random_search,
    "constants": partial(_by_meta_training, _constants, ()),
}
