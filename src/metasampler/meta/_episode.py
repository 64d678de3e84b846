"""One meta-training episode: an ensemble grown by the policy, and what was learned from it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from metasampler.growth._data import GrowthData
from metasampler.growth._learner import PublicLearner
from metasampler.growth._loop import Growth, grow_by_policy
from metasampler.growth._random import RandomStreams, Stream
from metasampler.meta._policy import GaussianPolicy
from metasampler.meta._state import StateEncoder

__all__ = ["Episode", "Task", "play_episode"]


@dataclass
class Task:
    """The data of one task to meta-train on.

    Parameters
    ----------
    X, y : table and array-like
        Training rows.
    X_val, y_val : table and array-like, default=None
        Validation rows, whose score is the reward. Without them a part of X is held out.
    X_test, y_test : table and array-like, default=None
        Rows that are only scored, for `MetaSampler.history_`.
    name : str, default=None
        What the task is called in `MetaSampler.history_`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from metasampler.meta import Task
    >>> task = Task(*load_breast_cancer(return_X_y=True), name="breast cancer")
    """

    X: Any
    y: Any
    X_val: Any = None
    y_val: Any = None
    X_test: Any = None
    y_test: Any = None
    name: str | None = None


class Episode(NamedTuple):
    """What an episode of `n` actions gives."""

    states: np.ndarray  # (n, state_size), the state each action was chosen in
    actions: np.ndarray  # (n,)
    rewards: np.ndarray  # (n,), changes of the validation score
    scores: dict[str, float]  # of the whole ensemble, by role


def play_episode(
    data: GrowthData,
    learner: PublicLearner,
    encoder: StateEncoder,
    policy: GaussianPolicy,
    *,
    n_members: int,
    sigma: float,
    n_random: int,
    streams: RandomStreams,
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

    Returns
    -------
    episode : Episode
    """
    rng = streams.generator(Stream.POLICY)

    def choose_mu(state, n_so_far):
        return float(rng.random()) if n_so_far <= n_random else policy.sample(state, rng)

    growth = Growth(data, learner, streams)
    first, *steps = grow_by_policy(growth, n_members, encoder, choose_mu, sigma)
    validation = np.array([first.score, *(step.score for step in steps)])
    return Episode(
        states=np.array([step.state for step in steps]).reshape(len(steps), encoder.size),
        actions=np.array([step.mu for step in steps], dtype=float),
        rewards=np.diff(validation),
        scores={
            role: float(validation[-1]) if role == "valid" else growth.score(role)
            for role in data.rows
        },
    )
