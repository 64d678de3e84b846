"""What differs between the learners of meta-training, and the paper's one, soft actor-critic."""

from abc import ABC, abstractmethod
from math import ceil
from typing import Any

import numpy as np

from metasampler.meta._episode import Assignment, Episode
from metasampler.meta._policy import GaussianPolicy
from metasampler.meta._sac import SAC

__all__ = ["Learner", "RewardScale", "SACLearner"]


class Learner(ABC):
    """Says which episodes a round has, and makes a better policy of them.

    Attributes
    ----------
    policy : GaussianPolicy
        The policy as it is now.
    n_updates : int
        How often it was changed; `n_updates_planned` is how often it will be.
    n_rounds : int
        Rounds of the whole training.
    n_episodes : int
        Episodes of the whole training, by their numbers.
    n_episodes_a_task : int
        How often an episode is played, by as many candidates.
    """

    n_episodes_a_task: int = 1
    n_updates_planned: int
    n_rounds: int
    n_episodes: int

    @property
    @abstractmethod
    def policy(self) -> GaussianPolicy:
        """The policy as it is now."""

    @property
    @abstractmethod
    def n_updates(self) -> int:
        """Updates so far."""

    @abstractmethod
    def plan(self, number: int, tasks: list[int]) -> list[Assignment]:
        """Episodes of the round with this number, which has these tasks."""

    @abstractmethod
    def learn(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """Learn from the episodes of a round."""

    @abstractmethod
    def get_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All that learning depends on between two rounds: plain facts, and arrays."""

    @abstractmethod
    def set_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` gave."""


class SACLearner(Learner):
    """Soft actor-critic (Algorithm 3): one episode a task, then as many updates as actions.

    Parameters
    ----------
    agent : SAC
        The networks and their updates.
    rewards : RewardScale
        Brings rewards to scale on their way to the agent.
    round_size : int
        Episodes of a round.
    n_actions : int
        Actions of an episode.
    n_random_steps, n_updates : int
        Random actions, then actions of the policy with as many updates.
    """

    def __init__(
        self,
        agent: SAC,
        rewards: "RewardScale",
        *,
        round_size: int,
        n_actions: int,
        n_random_steps: int,
        n_updates: int,
    ):
        self.agent = agent
        self.rewards = rewards
        self.round_size = round_size
        self.n_actions = n_actions
        self.n_random_steps = n_random_steps
        self.n_updates_planned = n_updates
        self.n_episodes = ceil((n_random_steps + n_updates) / n_actions)
        self.n_rounds = ceil(self.n_episodes / round_size)

    @property
    def policy(self) -> GaussianPolicy:
        """The actor."""
        return self.agent.policy

    @property
    def n_updates(self) -> int:
        """Updates so far."""
        return self.agent.n_updates_

    def plan(self, number: int, tasks: list[int]) -> list[Assignment]:
        """One episode on each task, by the policy as it is at the start of the round."""
        first = number * self.round_size
        numbers = range(first, min(first + self.round_size, self.n_episodes))
        return [
            Assignment(task, episode, self.policy, self._n_random(episode))
            for task, episode in zip(tasks, numbers, strict=False)
        ]

    def _n_random(self, episode: int) -> int:
        return min(max(self.n_random_steps - episode * self.n_actions, 0), self.n_actions)

    def learn(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """As many updates as the policy has acted; none while actions are random."""
        for assignment, episode in zip(assignments, episodes, strict=True):
            self.rewards.add(assignment.task, episode)
        n_done = (assignments[-1].number + 1) * self.n_actions
        if n_done < self.n_random_steps:
            return
        self.rewards.flush(self.agent)
        due = min(n_done - self.n_random_steps, self.n_updates_planned)
        while self.agent.n_updates_ < due:
            self.agent.update()

    def get_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """State of the agent and of the rewards that wait for their scale."""
        facts, arrays = self.agent.get_state()
        reward_facts, reward_arrays = self.rewards.get_state()
        return {**facts, **reward_facts}, {**arrays, **reward_arrays}

    def set_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` gave."""
        self.agent.set_state(facts, arrays)
        self.rewards.set_state(facts, arrays)


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

    def get_state(self):
        """The scales, and the episodes that wait for them."""
        facts = {"rewards_known": self.known}
        arrays = {"reward_factors": self.factors}
        if self.waiting:
            tasks, episodes = zip(*self.waiting, strict=True)
            arrays["waiting_tasks"] = np.array(tasks)
            for field in ("states", "actions", "rewards"):
                arrays[f"waiting_{field}"] = np.stack([getattr(e, field) for e in episodes])
        return facts, arrays

    def set_state(self, facts, arrays):
        """Go on from what `get_state` gave."""
        self.known = bool(facts["rewards_known"])
        self.factors = arrays["reward_factors"]
        self.waiting = []
        if "waiting_tasks" in arrays:
            fields = ("tasks", "states", "actions", "rewards")
            columns = (arrays[f"waiting_{name}"] for name in fields)
            for task, states, actions, rewards in zip(*columns, strict=True):
                # Their scores are in the history already.
                self.waiting.append((int(task), Episode(states, actions, rewards, {})))
