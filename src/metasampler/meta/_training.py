"""Meta-training (Algorithm 3): play episodes, remember them, update the policy."""

import platform
from datetime import UTC, datetime
from math import ceil
from typing import NamedTuple

import numpy as np
import sklearn
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from metasampler._progress import progress_bar
from metasampler.growth._data import GrowthData
from metasampler.growth._learner import PublicLearner, make_learner
from metasampler.growth._loop import Growth, grow_by_policy
from metasampler.growth._random import RandomStreams, Stream
from metasampler.meta._policy import GaussianPolicy
from metasampler.meta._sac import SAC
from metasampler.meta._state import StateEncoder

__all__ = ["WINDOW", "Episode", "MetaTraining", "RewardScale", "play_episode"]

#: Scores are averaged over so many episodes where they are shown, as in the paper's figures.
WINDOW = 50


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


def _play_in_worker(*args, **options) -> Episode:
    """`play_episode` under the limits of the main process, so that its result is the same."""
    with threadpool_limits(1, user_api="blas"):
        return play_episode(*args, **options)


class MetaTraining:
    """Algorithm 3 on one or more tasks, in rounds of one episode a task.

    Parameters
    ----------
    data : list of GrowthData
        The tasks.
    names : list of str
        What they are called in the history.
    estimator : classifier
        The base learner.
    encoder : StateEncoder
        What the policy observes.
    agent : SAC
        The learner, with the policy.
    n_members : int
        Members of the ensemble in an episode.
    sigma : float
        Width of the Gaussian.
    n_random_steps, n_updates : int
        Random actions, then actions of the policy with as many updates.
    rewards : RewardScale
        Brings rewards to scale on their way to the agent.
    streams : RandomStreams

    Attributes
    ----------
    history : list of dict
        One entry an episode; it grows while `run` runs.
    n_episodes : int
        How many there will be.
    """

    def __init__(
        self,
        data: list[GrowthData],
        names: list[str],
        estimator,
        encoder: StateEncoder,
        agent: SAC,
        *,
        n_members: int,
        sigma: float,
        n_random_steps: int,
        n_updates: int,
        rewards: "RewardScale",
        streams: RandomStreams,
    ):
        self.data = data
        self.names = names
        self.learners = [make_learner(estimator, task.tables, task.n_classes) for task in data]
        self.encoder = encoder
        self.agent = agent
        self.n_members = n_members
        self.sigma = sigma
        self.n_random_steps = n_random_steps
        self.n_steps = n_random_steps + n_updates
        self.rewards = rewards
        self.streams = streams
        self.history: list[dict] = []
        self.n_episodes = ceil(self.n_steps / self.n_actions)

    @property
    def n_actions(self) -> int:
        """Actions in an episode."""
        return self.n_members - 1

    def run(self, *, n_jobs=None, verbose: int = 0) -> None:
        """Play all rounds; an interrupt leaves what was learned by then in the agent."""
        n_tasks = len(self.data)
        # Processes pay only where a round has several episodes.
        in_processes = n_tasks > 1 and effective_n_jobs(n_jobs) > 1
        # One BLAS thread: the matrices are so small that a second one only costs. One pool: a
        # new one would send all tables again in every round.
        with (
            threadpool_limits(1, user_api="blas"),
            Parallel(n_jobs if in_processes else 1) as parallel,
            progress_bar("Meta-training", self.n_episodes, enabled=verbose > 0) as advance,
        ):
            for start in range(0, self.n_episodes, n_tasks):
                numbers = range(start, min(start + n_tasks, self.n_episodes))
                jobs = [self._job(number) for number in numbers]
                if in_processes:
                    episodes = parallel(
                        delayed(_play_in_worker)(*args, **options) for args, options in jobs
                    )
                else:
                    episodes = [play_episode(*args, **options) for args, options in jobs]
                for number, episode in zip(numbers, episodes, strict=True):
                    self._record(number, episode)
                self._learn(n_done=len(self.history) * self.n_actions)
                recent = [entry["valid_score"] for entry in self.history[-WINDOW:]]
                advance(f"validation score {np.mean(recent):.3f}", steps=len(numbers))

    def _job(self, number: int):
        """Arguments of `play_episode`; the policy is the same all through a round."""
        task = number % len(self.data)
        options = {
            "n_members": self.n_members,
            "sigma": self.sigma,
            "n_random": self.n_random_steps - number * self.n_actions,
            "streams": self.streams.child(Stream.EPISODE, number),
        }
        return (self.data[task], self.learners[task], self.encoder, self.agent.policy), options

    def _record(self, number: int, episode: Episode) -> None:
        task = number % len(self.data)
        self.rewards.add(task, episode)
        n_random = self.n_random_steps - number * self.n_actions
        self.history.append(
            {
                "episode": number,
                "task": self.names[task],
                "train_score": episode.scores["train"],
                "valid_score": episode.scores["valid"],
                "test_score": episode.scores.get("test"),
                "actions": episode.actions.tolist(),
                "n_random_actions": min(max(n_random, 0), self.n_actions),
            }
        )

    def _learn(self, n_done: int) -> None:
        """As many updates as the policy has acted; none while actions are random."""
        if n_done < self.n_random_steps:
            return
        self.rewards.flush(self.agent)
        due = min(n_done, self.n_steps) - self.n_random_steps
        while self.agent.n_updates_ < due:
            self.agent.update()

    def summary(self) -> dict:
        """How, when and with which versions it was trained."""
        import metasampler  # here, because the package imports this module

        scores = [entry["valid_score"] for entry in self.history]
        return {
            "tasks": [
                {
                    "name": name,
                    "train_rows": [len(rows) for rows in task.class_rows],
                    "n_features": int(task.tables[0].shape[1]),
                }
                for name, task in zip(self.names, self.data, strict=True)
            ],
            "estimator": repr(self.learners[0].estimator),
            "seed": self.streams.entropy,
            "n_episodes": len(self.history),
            "n_updates": self.agent.n_updates_,
            "first_valid_score": float(np.mean(scores[:WINDOW])) if scores else None,
            "last_valid_score": float(np.mean(scores[-WINDOW:])) if scores else None,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "scikit-learn": sklearn.__version__,
                "metasampler": metasampler.__version__,
            },
        }


class RewardScale:
    """Holds episodes back until the random actions are done, then brings rewards to scale."""

    def __init__(self, n_tasks, factor, by_task):
        self.factors = np.full(n_tasks, float(factor))
        self.by_task = by_task
        self.waiting = []
        self.known = not by_task

    def add(self, task, episode):
        """Take an episode in."""
        self.waiting.append((task, episode))

    def _measure(self):
        """Give every task the same root mean square of rewards, and keep their mean level."""
        levels = np.ones(len(self.factors))
        for task in range(len(levels)):
            rewards = [episode.rewards for number, episode in self.waiting if number == task]
            level = float(np.sqrt(np.mean(np.square(rewards)))) if rewards else 0.0
            levels[task] = level
        positive = levels[levels > 0]
        if len(positive):
            # A task whose score never moved has nothing to teach on any scale.
            levels[levels == 0] = positive.mean()
            self.factors *= positive.mean() / levels
        self.known = True

    def flush(self, agent):
        """Put the waiting episodes into the agent's memory."""
        if not self.known:
            self._measure()
        for task, episode in self.waiting:
            last = len(episode.actions) - 1
            for step, (state, action, reward) in enumerate(
                zip(episode.states, episode.actions, episode.rewards, strict=True)
            ):
                # The ensemble is finished at the last step: a true end, nothing follows.
                following = episode.states[min(step + 1, last)]
                reward = reward * self.factors[task]
                agent.remember(state, action, reward, following, step == last)
        self.waiting.clear()
