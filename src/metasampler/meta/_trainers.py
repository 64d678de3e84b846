"""The trainers: what they have in common, and the paper's one, soft actor-critic."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from metasampler.meta._sac import SAC
from metasampler.policy import TRAINER_SETTINGS, GaussianPolicy

#: Arrays of the episodes whose rewards have no scale yet.
_WAITING = ("waiting_tasks", "waiting_states", "waiting_actions", "waiting_rewards")


class Assignment(NamedTuple):
    """Say which episode is to be played, and who acts in it."""

    task: int
    #: Names the episode's random stream; what is compared on a task shares it.
    number: int
    #: A `GaussianPolicy`; where it does not explore, anything that can `choose`.
    actor: Any
    #: How many of the first actions are uniformly random.
    n_random: int = 0
    #: Whether actions are drawn from the actor, or are its mean.
    explores: bool = True


class Episode(NamedTuple):
    """Hold what an episode of `n` actions gives."""

    states: np.ndarray  # (n, state_size), the state each action was chosen in
    actions: np.ndarray  # (n,)
    rewards: np.ndarray  # (n,), changes of the validation score
    scores: dict[str, float]  # of the whole ensemble, by role
    #: Mean of the scores after each action.
    mean_score: float = np.nan


class Problem(NamedTuple):
    """Describe to a trainer what it has to learn."""

    state_size: int
    #: Widths of the policy's hidden layers.
    hidden: Sequence[int]
    n_tasks: int
    #: Actions of an episode.
    n_actions: int
    rng: np.random.Generator

    def new_policy(self) -> GaussianPolicy:
        """Return a random policy."""
        return GaussianPolicy(self.state_size, self.hidden, rng=self.rng)


class Trainer(BaseEstimator):
    """Say which episodes a round has, and make a better policy of them.

    A training begins a clone. In every round it asks it to `plan` episodes and then to `learn`.
    What `get_state` returns between two rounds is all that learning depends on.
    """

    tasks_per_round: int | None
    #: The rows by whose scores whole episodes are compared.
    score_on: str = "valid"
    #: The policy as it is now, and how often it will be changed.
    policy: GaussianPolicy
    n_updates_planned: int

    def _plan_rounds(self, n_episodes: int, n_tasks: int) -> None:
        """Set how many rounds the episodes make."""
        self.round_size = min(self.tasks_per_round or n_tasks, n_tasks)
        self.n_episodes = n_episodes
        self.n_rounds = -(-n_episodes // self.round_size)

    def _numbers(self, round_number: int) -> range:
        """Return the numbers of the episodes of a round; the last one may have fewer."""
        first = round_number * self.round_size
        return range(first, min(first + self.round_size, self.n_episodes))


@dataclass(eq=False, repr=False)
class SoftActorCritic(Trainer):
    """Learn by soft actor-critic, as in the paper (Algorithm 3).

    In a round one episode is played on each task, by draws from the policy. Then there are as many
    updates as the policy has acted. The reward of an action is the change of the validation score.

    Parameters
    ----------
    gamma : float, default=0.99
        Discount factor.
    alpha : float, default=0.1
        Temperature, the weight of the policy's entropy.
    learning_rate : float, default=1e-3
        Learning rate of Adam at the start.
    lr_decay : float, default=0.99
        Factor by which the learning rate falls every ten updates.
    memory_size : int, default=1000
        Transitions in the replay memory.
    n_random_steps : int, default=500
        Actions at the start that are uniformly random and only fill the memory.
    n_updates : int, default=1000
        Actions of the policy, and updates.
    reward_scale : float, default=100.0
        Factor on the rewards. `alpha` is meant at this scale.
    scale_tasks : bool, default=False
        In meta-training on several tasks: whether to bring the rewards of all tasks to the same
        root mean square, as measured during the random actions. A task that had no random
        actions keeps the mean scale.
    tasks_per_round : int, default=None
        In meta-training on several tasks: how many tasks each round has; None means all. With
        many tasks a smaller number lets learning start early. Every task has its turn before one
        comes again.

    See Also
    --------
    FitToConstants : Learns more from few episodes.

    References
    ----------
    .. [1] T. Haarnoja et al., "Soft Actor-Critic: Off-Policy Maximum Entropy Deep Reinforcement
       Learning with a Stochastic Actor", ICML 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler.meta import MetaSampler, SoftActorCritic
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> trainer = SoftActorCritic(n_random_steps=18, n_updates=18, alpha=0.2)
    >>> MetaSampler(trainer=trainer, random_state=0).fit(X, y).n_updates_
    18
    """

    _parameter_constraints = TRAINER_SETTINGS["SoftActorCritic"]

    _: KW_ONLY
    gamma: float = 0.99
    alpha: float = 0.1
    learning_rate: float = 1e-3
    lr_decay: float = 0.99
    memory_size: int = 1000
    n_random_steps: int = 500
    n_updates: int = 1000
    reward_scale: float = 100.0
    scale_tasks: bool = False
    tasks_per_round: int | None = None

    def begin(self, problem: Problem) -> None:
        """Make the networks, an empty memory and the plan of the rounds."""
        self._n_actions = problem.n_actions
        self._plan_rounds(
            ceil((self.n_random_steps + self.n_updates) / problem.n_actions), problem.n_tasks
        )
        self.policy = problem.new_policy()
        self.agent = SAC(self, self.policy, problem.rng)
        self.n_updates_planned = self.n_updates
        # Episodes wait until the random actions are done: only then the scale of rewards is known.
        # Task, states, actions and rewards of each.
        self._waiting: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []
        self._factors = np.full(problem.n_tasks, float(self.reward_scale))

    @property
    def n_updates_done(self) -> int:
        """Return how often the policy was changed."""
        return self.agent.n_updates_

    def plan(self, number: int, tasks: list[int]) -> list[Assignment]:
        """Return one episode on each task, by the policy as it is at the start of the round."""
        assignments = []
        for task, episode in zip(tasks, self._numbers(number), strict=False):
            left = max(self.n_random_steps - episode * self._n_actions, 0)
            assignments.append(Assignment(task, episode, self.policy, min(left, self._n_actions)))
        return assignments

    def learn(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """Do one update per action of the policy; none while actions are random."""
        for assignment, (states, actions, rewards, *_) in zip(assignments, episodes, strict=True):
            self._waiting.append((assignment.task, states, actions, rewards))
        n_acted = (assignments[-1].number + 1) * self._n_actions - self.n_random_steps
        due = range(self.n_updates_done, min(n_acted, self.n_updates))
        if n_acted < 0:
            return
        memory = self.agent.memory
        if self.scale_tasks and len(memory) == 0:
            self._measure()
        for task, states, actions, rewards in self._waiting:
            # The ensemble is finished at the last step: a true end, nothing follows.
            following = np.concatenate((states[1:], states[-1:]))
            ends = np.arange(1, len(actions) + 1) == len(actions)
            rewards = rewards * self._factors[task]
            for transition in zip(states, actions, rewards, following, ends, strict=True):
                memory.add(*transition)
        self._waiting.clear()
        for _ in due:
            self.agent.update()

    def _measure(self) -> None:
        """Give every task the same root mean square of rewards, and keep their mean level."""
        levels = np.zeros(len(self._factors))
        for task in {waiting[0] for waiting in self._waiting}:
            rewards = [waiting[3] for waiting in self._waiting if waiting[0] == task]
            levels[task] = np.sqrt(np.mean(np.square(rewards)))
        positive = levels[levels > 0]
        if len(positive):
            # A task whose score never moved has nothing to teach on any scale.
            levels[levels == 0] = positive.mean()
            self._factors *= positive.mean() / levels

    def get_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the state of the agent and of the episodes that wait."""
        facts, arrays = self.agent.get_state()
        columns = zip(_WAITING, zip(*self._waiting, strict=True), strict=False)
        waiting = {name: np.array(column) for name, column in columns}
        return facts, {**arrays, "reward_factors": self._factors, **waiting}

    def set_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` gave."""
        self.agent.set_state(facts, arrays)
        self._factors = arrays["reward_factors"]
        columns = (arrays[name] for name in _WAITING if name in arrays)
        self._waiting = list(zip(*columns, strict=True))
