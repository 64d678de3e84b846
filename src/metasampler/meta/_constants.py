"""The trainer that reads off how constants do: supervised, where the other has to explore.

Within a task the score depends on mu smoothly, and the differences are small against the noise of
one ensemble. So all constants are played with the same random numbers, and a cubic through their
scores on a task says what any mu is worth there.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from metasampler.meta._sac import MLP
from metasampler.meta._trainers import Assignment, Episode, Problem, Trainer
from metasampler.policy import TRAINER_SETTINGS, ConstantPolicy

#: Degree of the polynomial that says what a mu is worth. A parabola cannot follow scores that rise
#: steeply with mu and then stay level, as they do where the classes are far from balanced: its top
#: lies too low. With seven noisy constants a task, more would mostly follow the noise.
_DEGREE = 3

# A policy with hidden layers may stay at a constant from one random start, and not from another.
_N_STARTS = 5

# Entries of a state lie in [-1, 1].
_LEAST_SPREAD = 1e-6

# What mu is worth differs by thousandths between states: the usual tolerances would stop at once.
_PRECISELY = {"ftol": 1e-13, "gtol": 1e-9, "maxiter": 2000}

#: Arrays of what was played.
_PLAYED = ("tasks", "scores", "states")

# Where the best constant is looked for; at the ends themselves no slope is left.
_CONSTANTS = np.linspace(0.02, 0.98, 49)


@dataclass(eq=False, repr=False)
class FitToConstants(Trainer):
    """Fit the policy to the scores of constants; soft actor-critic has to explore instead.

    The policy itself never acts. Constants are played on every task. Then the policy is fitted: by
    the state, it has to choose what did best in the mean over the tasks. This trainer learns most
    from few episodes. It cannot find more than a mu for each state.

    Parameters
    ----------
    n_sweeps : int, default=5
        How often every task is played.
    n_constants : int, default=7
        How many constants, from `mu_min` of the sampler to 1 in equal steps.
    score_on : {"valid", "test"}, default="valid"
        The rows on which constants are compared. States describe the validation rows. With
        ``"test"`` the policy learns from the `X_test` of the tasks; then these rows no longer test
        it.
    penalty : float, default=1e-3
        How strongly the policy's weights are drawn to zero. All entries of a state are scaled to
        the same spread first.
    relative : bool, default=False
        Whether scores count as shares of the best one of their task. Otherwise tasks with large
        scores decide.
    tasks_per_round : int, default=None
        How many tasks each round has; None means all. The policy is fitted after every round.

    See Also
    --------
    SoftActorCritic : The trainer of the paper.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler.meta import FitToConstants, MetaSampler
    >>> X, y = make_classification(600, weights=[0.9], random_state=0)
    >>> trainer = FitToConstants(n_sweeps=2, n_constants=5)
    >>> MetaSampler(trainer=trainer, hidden_layer_sizes=(), random_state=0).fit(X, y).n_updates_
    2
    """

    _parameter_constraints = TRAINER_SETTINGS["FitToConstants"]

    n_sweeps: int = 5
    n_constants: int = 7
    _: KW_ONLY
    score_on: str = "valid"
    penalty: float = 1e-3
    relative: bool = False
    tasks_per_round: int | None = None

    def begin(self, problem: Problem) -> None:
        """Make the policies that a fit starts from, and the plan of the rounds."""
        self._plan_rounds(self.n_sweeps * problem.n_tasks, problem.n_tasks)
        starts = [problem.new_policy() for _ in range(_N_STARTS)]
        self.policy = starts[0]
        self._starts = [start.parameters.astype(float) for start in starts]
        self._actions = np.linspace(0, 1, self.n_constants)
        # Per turn of a task: its number, the scores of the constants, and the states.
        self._played: list[tuple[int, np.ndarray, np.ndarray]] = []
        self.n_updates_done = 0
        self.n_updates_planned = self.n_rounds

    def plan(self, number: int, tasks: list[int]) -> list[Assignment]:
        """Return all constants on all tasks of the round, one task after the other."""
        constants = [ConstantPolicy(float(action)) for action in self._actions]
        return [
            Assignment(task, episode, constant, explores=False)
            for task, episode in zip(tasks, self._numbers(number), strict=False)
            for constant in constants
        ]

    def learn(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """Add the round to what is known, and fit the policy to all of it."""
        for first in range(0, len(episodes), self.n_constants):
            played = episodes[first : first + self.n_constants]
            scores = np.array([episode.mean_score for episode in played])
            states = np.concatenate([episode.states for episode in played])
            self._played.append((assignments[first].task, scores, states))
        self._fit()
        self.n_updates_done += 1

    def _fit(self) -> None:
        """Choose the parameters whose mu are worth most, in the mean over the tasks."""
        tasks, scores, parts = zip(*self._played, strict=True)
        # What an action is worth, compared with the mean of all: a polynomial of the action.
        table = np.stack(scores, axis=1)
        if self.relative:
            table = table / np.maximum(table.max(axis=0), _LEAST_SPREAD)
        coefficients = np.polynomial.polynomial.polyfit(
            self._actions, table - table.mean(axis=0), min(_DEGREE, self.n_constants - 1)
        )
        sizes = [len(part) for part in parts]
        owners = np.repeat(np.arange(len(parts)), sizes)
        # Every task counts the same, however often it was drawn and however many states it has.
        often = np.bincount(tasks)
        weights = (1 / often[list(tasks)] / np.count_nonzero(often) / sizes)[owners]
        states = np.concatenate(parts)
        self.policy.parameters[...] = self._maximise(states, coefficients[:, owners], weights)

    def _maximise(self, states, coefficients, weights) -> np.ndarray:
        # Entries of a state have different ranges: the penalty is meant for entries of one range.
        centre, scale = states.mean(axis=0), states.std(axis=0)
        # What is the same in all states, but for rounding, says nothing.
        scale[scale < _LEAST_SPREAD] = 1.0
        network = MLP(self.policy.network.sizes, dtype=np.float64)
        # Where mu is in the mean is what there is most evidence for: it is not held.
        for layer in network.layers:
            layer[:-1] = 1
        is_weight = network.parameters == 1
        # Parameters that do with standardised states what the starts do with the states.
        inputs = (states - centre) / scale
        first = network.layers[0]
        starts = []
        for start in self._starts:
            network.parameters[...] = start
            first[-1] += centre @ first[:-1]
            first[:-1] *= scale[:, np.newaxis]
            starts.append(network.parameters.copy())
        # The last layer has the columns mean and log-std; the second has no part in the mean.
        free = np.ones(len(is_weight), dtype=bool)
        free[-2 * (network.sizes[-2] + 1) :][1::2] = False
        strength = self.penalty * (free & is_weight)
        slopes = coefficients[1:] * np.arange(1, len(coefficients))[:, np.newaxis]

        def loss(parameters):
            network.parameters[free] = parameters
            squashed = np.tanh(network.forward(inputs)[:, 0])
            actions = 0.5 * squashed + 0.5
            powers = actions ** np.arange(len(coefficients))[:, np.newaxis]
            worth = np.sum(coefficients * powers, axis=0)
            slope = np.sum(slopes * powers[:-1], axis=0)
            by_heads = np.zeros((len(inputs), 2))
            by_heads[:, 0] = -weights * slope * 0.5 * (1 - squashed * squashed)
            network.backward(by_heads)
            held = network.parameters
            value = -np.sum(weights * worth) + np.sum(strength * held * held)
            return value, (network.gradient + 2 * strength * held)[free]

        worth = np.polynomial.polynomial.polyval(_CONSTANTS, coefficients @ weights)
        if len(network.sizes) == 2:
            starts.append(np.zeros(len(free)))
        fits = []
        for start in starts:
            # From the best constant on: there every state has a slope to follow. The bias of the
            # mean is the last parameter but one.
            start[-2] = np.arctanh(2 * _CONSTANTS[np.argmax(worth)] - 1)
            network.parameters[...] = start
            found = minimize(loss, start[free], jac=True, method="L-BFGS-B", options=_PRECISELY)
            network.parameters[free] = found.x
            fits.append((found.fun, network.parameters.copy()))
        _, network.parameters[...] = min(fits, key=lambda fit: fit[0])
        first[:-1] /= scale[:, np.newaxis]
        first[-1] -= centre @ first[:-1]
        return network.parameters

    def get_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the scores and states so far: with its start they make the policy."""
        columns = zip(_PLAYED, zip(*self._played, strict=True), strict=False)
        arrays = {name: np.array(column) for name, column in columns}
        return {"n_updates": self.n_updates_done}, arrays

    def set_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` gave."""
        self.n_updates_done = int(facts["n_updates"])
        if self.n_updates_done:
            self._played = list(zip(*(arrays[name] for name in _PLAYED), strict=True))
            self._fit()
