"""One episode of meta-training: an ensemble grows, and what it did is written down."""

from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from metasampler.growth._data import GrowthData
from metasampler.growth._learner import PublicLearner, RotatingLearner
from metasampler.growth._loop import Growth, grow_by_policy
from metasampler.growth._random import RandomStreams, Stream
from metasampler.meta._state import StateEncoder

__all__ = ["Assignment", "Episode", "play_episode", "play_in_worker", "spread_action"]


class Assignment(NamedTuple):
    """An episode that is to be played."""

    task: int
    #: Names the episode's random stream; candidates that are compared on a task share it.
    number: int
    #: A `GaussianPolicy`; where it does not explore, anything that can `predict`.
    policy: Any
    #: How many of the first actions are uniformly random.
    n_random: int = 0
    #: Whether the policy draws its actions, or acts by its mean.
    explores: bool = True


def spread_action(action, mu_min: float):
    """The mu of an action in [0, 1], where all mu lie in [mu_min, 1]."""
    return mu_min + (1 - mu_min) * action


class Episode(NamedTuple):
    """What an episode of `n` actions gives."""

    states: np.ndarray  # (n, state_size), the state each action was chosen in
    actions: np.ndarray  # (n,)
    rewards: np.ndarray  # (n,), changes of the validation score
    scores: dict[str, float]  # of the whole ensemble, by role
    #: Mean of the scores after each action.
    mean_score: float = np.nan


def play_episode(
    data: GrowthData,
    learner: PublicLearner | RotatingLearner,
    encoder: StateEncoder,
    policy: Any,
    *,
    n_members: int,
    sigma: float,
    n_random: int,
    streams: RandomStreams,
    explores: bool = True,
    mu_min: float = 0.0,
    score_on: str = "valid",
) -> Episode:
    """Grow one ensemble, by random actions at first and then by actions of the policy.

    Parameters
    ----------
    data, learner
        The task.
    encoder, policy
        What is observed, and what acts on it.
    n_members : int
        Members of the ensemble; there is one action less.
    sigma : float
        Width of the Gaussian.
    n_random : int
        How many of the first actions are uniformly random.
    streams : RandomStreams
        The episode's randomness.
    explores : bool, default=True
        Whether actions are drawn from the policy, or are its mean.
    mu_min : float, default=0.0
        The mu of action 0; that of action 1 is 1.
    score_on : {"valid", "test"}, default="valid"
        The rows of `Episode.mean_score`.

    Returns
    -------
    episode : Episode
    """
    rng = streams.generator(Stream.POLICY)
    actions = []

    def choose_mu(state, n_so_far):
        if n_so_far <= n_random:
            action = float(rng.random())
        else:
            action = policy.sample(state, rng) if explores else policy.predict(state)
        actions.append(action)
        return spread_action(action, mu_min)

    growth = Growth(data, learner, streams)
    steps, scores = [], []
    for step in grow_by_policy(growth, n_members, encoder, choose_mu, sigma):
        steps.append(step)
        scores.append(step.score if score_on == "valid" else growth.score(score_on))
    validation = np.array([step.score for step in steps])
    steps = steps[1:]
    return Episode(
        states=np.array([step.state for step in steps]).reshape(len(steps), encoder.size),
        actions=np.array(actions, dtype=float),
        rewards=np.diff(validation),
        scores={
            role: float(validation[-1]) if role == "valid" else growth.score(role)
            for role in data.rows
        },
        mean_score=float(np.mean(np.array(scores[1:], dtype=float))),
    )


def play_in_worker(*args, **options) -> Episode:
    """`play_episode` under the limits of the main process, so that its result is the same."""
    with threadpool_limits(1, user_api="blas"):
        return play_episode(*args, **options)
