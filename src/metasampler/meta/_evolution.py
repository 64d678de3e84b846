"""A learner without gradients: the policy's parameters evolve (CMA-ES)."""

import copy
from typing import Any

import numpy as np
from scipy.stats import rankdata

from metasampler.meta._episode import Assignment, Episode
from metasampler.meta._learners import Learner
from metasampler.meta._policy import GaussianPolicy

__all__ = ["EvolutionLearner"]

#: Up to so many parameters their covariances are learned too. Beyond, the matrix takes longer to
#: decompose than a generation takes to play, and more generations than anybody plays to learn.
_MOST_FOR_FULL_COVARIANCE = 100


def _import_cmaes():
    try:
        import cmaes
    except ImportError as error:
        raise ImportError(
            "learner='cma-es' needs the package cmaes; install it with "
            "pip install 'metasampler[evolution]'."
        ) from error
    return cmaes


class EvolutionLearner(Learner):
    """CMA-ES on the parameters that decide a policy's mean action.

    A round is a generation: every candidate grows an ensemble on every task of the round, with
    the same random numbers as the other candidates, and acts by its mean. Candidates are ranked
    within each task by the final validation score; the mean rank over the tasks is their
    fitness, so that all tasks weigh alike, whatever the range of their scores.

    Parameters
    ----------
    policy : GaussianPolicy
        Where the evolution starts. It is changed in place; its spread, which says how it
        explores, stays as it is.
    round_size : int
        Tasks of a round.
    n_generations : int
        Rounds.
    population_size : int or None
        Candidates of a generation; None means 4 + 3 log(number of parameters).
    step_size : float
        Standard deviation of the first candidates' parameters.
    seed : int
    """

    def __init__(
        self,
        policy: GaussianPolicy,
        *,
        round_size: int,
        n_generations: int,
        population_size: int | None,
        step_size: float,
        seed: int,
    ):
        cmaes = _import_cmaes()
        self._policy = policy
        self.n_updates_planned = self.n_rounds = n_generations
        self.round_size = round_size
        self.n_episodes = n_generations * round_size
        self._searched = np.flatnonzero(policy.decides_mean)
        full = len(self._searched) <= _MOST_FOR_FULL_COVARIANCE
        self._optimizer = (cmaes.CMA if full else cmaes.SepCMA)(
            mean=policy.parameters[self._searched].astype(float),
            sigma=float(step_size),
            population_size=population_size,
            seed=seed,
        )
        self.n_episodes_a_task = self._optimizer.population_size
        self._candidates: list[np.ndarray] = []
        self._told: list[list[float]] = []

    @property
    def policy(self) -> GaussianPolicy:
        """The centre of the search."""
        return self._policy

    @property
    def n_updates(self) -> int:
        """Generations so far."""
        return len(self._told)

    def plan(self, number: int, tasks: list[int]) -> list[Assignment]:
        """All candidates on all tasks of the round, one task after the other."""
        self._candidates = [self._optimizer.ask() for _ in range(self.n_episodes_a_task)]
        policies = [self._with(candidate) for candidate in self._candidates]
        first = number * self.round_size
        return [
            Assignment(task, first + position, policy, explores=False)
            for position, task in enumerate(tasks)
            for policy in policies
        ]

    def _with(self, parameters: np.ndarray) -> GaussianPolicy:
        policy = copy.deepcopy(self._policy)
        policy.parameters[self._searched] = parameters
        return policy

    def learn(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """Move the search towards the candidates that came out first."""
        scores = np.array([episode.scores["valid"] for episode in episodes])
        ranks = rankdata(scores.reshape(-1, self.n_episodes_a_task), axis=1)
        # The package looks for the smallest value.
        self._tell((-ranks.mean(axis=0)).tolist())

    def _tell(self, values: list[float]) -> None:
        self._optimizer.tell(list(zip(self._candidates, values, strict=True)))
        self._told.append(values)
        self._policy.parameters[self._searched] = self._optimizer.mean

    def get_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The fitness of all candidates so far: with the seed, that is the whole search."""
        return {}, {"told": np.array(self._told).reshape(-1, self.n_episodes_a_task)}

    def set_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Search again what was searched, without playing: the package can store no state."""
        for values in arrays["told"].tolist():
            self._candidates = [self._optimizer.ask() for _ in range(self.n_episodes_a_task)]
            self._tell(values)
