"""A learner that reads off how constants do: supervised, where the others have to explore.

Within a task the score depends on mu smoothly, and the differences are small against the noise of
one ensemble. So constants from the whole range are played on every task, with the same random
numbers; a cubic through the scores of a task says what any mu is worth there; and the policy is
fitted to choose, from the states those ensembles went through, the mu that is worth most in the
mean over all tasks. What is asked of each episode is one number, where soft actor-critic has to
learn from every step of it, and no episode is played by a policy that has not learned yet.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from metasampler.meta._episode import Assignment, Episode
from metasampler.meta._learners import Learner
from metasampler.meta._mlp import MLP
from metasampler.meta._policy import GaussianPolicy

__all__ = ["ConstantsLearner"]

#: Degree of the polynomial that says what a mu is worth. A parabola cannot follow scores that rise
#: steeply with mu and then stay level, as they do where the classes are far from balanced: its top
#: lies too low. With seven noisy constants a task, more would mostly follow the noise.
_DEGREE = 3

# Entries of a state lie in [-1, 1].
_LEAST_SPREAD = 1e-6

# What mu is worth differs by thousandths between states: the usual tolerances would stop at once.
_PRECISELY = {"ftol": 1e-13, "gtol": 1e-9, "maxiter": 2000}

# Where the best constant is looked for; at the ends themselves no slope is left.
_CONSTANTS = np.linspace(0.02, 0.98, 49)


class _SameAction(NamedTuple):
    """A policy whose action, unlike a mu, may be below 0."""

    action: float

    def predict(self, state) -> float:
        """Return the action."""
        return self.action


class ConstantsLearner(Learner):
    """Fits a policy to the scores of constants.

    Parameters
    ----------
    policy : GaussianPolicy
        Where a fit starts; it is changed in place.
    other_starts : sequence of ndarray
        Parameters from which it starts as well: the best of all is kept.
    n_tasks : int
        Tasks of the training.
    round_size : int
        Tasks of a round.
    n_sweeps : int
        How often every task is played.
    n_constants : int
        Actions that are played, in equal steps.
    lowest : float
        The first of them; the last is 1. Below 0, where no policy can go, it still tells of the
        curve that the scores lie on.
    penalty : float
        Weight of the sum of squares of the parameters' distance from where they are held.
    warm : bool
        Whether parameters are held where the policy has them, instead of at zero.
    """

    def __init__(
        self,
        policy: GaussianPolicy,
        other_starts: Sequence[np.ndarray] = (),
        *,
        n_tasks: int,
        round_size: int,
        n_sweeps: int,
        n_constants: int,
        lowest: float,
        penalty: float,
        warm: bool,
    ):
        self._policy = policy
        self._n_tasks = n_tasks
        self.round_size = round_size
        self.n_episodes = n_sweeps * n_tasks
        self.n_rounds = self.n_updates_planned = -(-self.n_episodes // round_size)
        self.n_episodes_a_task = n_constants
        self._actions = np.linspace(lowest, 1, n_constants)
        self._degree = min(_DEGREE, n_constants - 1)
        self._penalty = penalty
        self._starts = [start.astype(float) for start in (policy.parameters, *other_starts)]
        self._warm = warm
        self._tasks: list[int] = []
        self._scores: list[np.ndarray] = []
        self._states: list[np.ndarray] = []
        self._n_updates = 0

    @property
    def policy(self) -> GaussianPolicy:
        """What fits the scores so far best."""
        return self._policy

    @property
    def n_updates(self) -> int:
        """Fits so far."""
        return self._n_updates

    def plan(self, number: int, tasks: list[int]) -> list[Assignment]:
        """All constants on all tasks of the round, one task after the other."""
        first = number * self.round_size
        policies = [_SameAction(float(action)) for action in self._actions]
        return [
            Assignment(task, episode, policy, explores=False)
            for task, episode in zip(tasks, range(first, self.n_episodes), strict=False)
            for policy in policies
        ]

    def learn(self, assignments: list[Assignment], episodes: list[Episode]) -> None:
        """Add the round to what is known, and fit the policy to all of it."""
        for first in range(0, len(episodes), self.n_episodes_a_task):
            played = episodes[first : first + self.n_episodes_a_task]
            self._tasks.append(assignments[first].task)
            self._scores.append(np.array([episode.mean_score for episode in played]))
            self._states.append(np.concatenate([episode.states for episode in played]))
        self._fit()
        self._n_updates += 1

    def _fit(self) -> None:
        """Choose the parameters whose mu are worth most, in the mean over the tasks."""
        # What an action is worth, compared with the mean of all: a polynomial of the action.
        table = np.stack(self._scores, axis=1)
        coefficients = np.polynomial.polynomial.polyfit(
            self._actions, table - table.mean(axis=0), self._degree
        )
        states = np.concatenate(self._states)
        owners = np.repeat(np.arange(len(self._states)), [len(part) for part in self._states])
        # Every task counts the same, however often it was drawn and however many states it has.
        often = np.bincount(self._tasks, minlength=self._n_tasks)[self._tasks]
        weights = 1 / often / np.count_nonzero(np.bincount(self._tasks))
        weights = (weights / [len(part) for part in self._states])[owners]
        self._policy.parameters[...] = self._maximise(states, coefficients[:, owners], weights)

    def _maximise(self, states, coefficients, weights) -> np.ndarray:
        # Entries of a state have different ranges: the penalty is meant for entries of one range.
        centre, scale = states.mean(axis=0), states.std(axis=0)
        # What is the same in all states, but for rounding, says nothing.
        scale[scale < _LEAST_SPREAD] = 1.0
        network = MLP(self._policy.network.sizes, dtype=np.float64)
        inputs = (states - centre) / scale
        free = self._policy.decides_mean
        starts = [_standardised(start, network.sizes, centre, scale) for start in self._starts]
        held = starts[0] if self._warm else np.zeros_like(starts[0])
        # Where mu is in the mean is what there is most evidence for: it is not held, unless there
        # was a policy before that had more.
        is_weight = np.concatenate([_is_weight(layer) for layer in network.layers])
        strength = self._penalty * (free & (is_weight | self._warm))
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
            away = network.parameters - held
            value = -np.sum(weights * worth) + np.sum(strength * away * away)
            return value, (network.gradient + 2 * strength * away)[free]

        if not self._warm:
            # From the best constant on: there every state has a slope to follow.
            bias = np.arctanh(2 * _best_action(coefficients, weights) - 1)
            starts = [_with_last_bias(start, bias) for start in starts]
            if len(network.sizes) == 2:
                starts.append(_with_last_bias(np.zeros_like(held), bias))
        fits = []
        for start in starts:
            network.parameters[...] = start
            found = minimize(loss, start[free], jac=True, method="L-BFGS-B", options=_PRECISELY)
            network.parameters[free] = found.x
            fits.append((found.fun, network.parameters.copy()))
        _, best = min(fits, key=lambda fit: fit[0])
        return _original(best, network.sizes, centre, scale)

    def get_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The scores and states so far: the policy follows from them and from where it started."""
        arrays = {"tasks": np.array(self._tasks, dtype=int)}
        if self._tasks:
            arrays["scores"] = np.stack(self._scores)
            arrays["states"] = np.stack(self._states)
        return {"n_updates": self._n_updates}, arrays

    def set_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` gave."""
        self._n_updates = int(facts["n_updates"])
        self._tasks = arrays["tasks"].tolist()
        if self._tasks:
            self._scores = list(arrays["scores"])
            self._states = list(arrays["states"])
            self._fit()


def _best_action(coefficients: np.ndarray, weights: np.ndarray) -> float:
    """The action that is worth most if it is the same in all states."""
    worth = np.polynomial.polynomial.polyval(_CONSTANTS, coefficients @ weights)
    return float(_CONSTANTS[np.argmax(worth)])


def _with_last_bias(parameters: np.ndarray, bias: float) -> np.ndarray:
    """Parameters with another bias of the mean, the last but one of all."""
    parameters = parameters.copy()
    parameters[-2] = bias
    return parameters


def _is_weight(layer: np.ndarray) -> np.ndarray:
    """For each parameter of a layer whether it is a weight; the last row are the biases."""
    return np.arange(layer.size) < layer.size - layer.shape[1]


def _first_layer(parameters: np.ndarray, sizes) -> np.ndarray:
    return parameters[: (sizes[0] + 1) * sizes[1]].reshape(sizes[0] + 1, sizes[1])


def _standardised(parameters: np.ndarray, sizes, centre, scale) -> np.ndarray:
    """Parameters that do with standardised states what the given ones do with the states."""
    parameters = parameters.copy()
    layer = _first_layer(parameters, sizes)
    layer[-1] += centre @ layer[:-1]
    layer[:-1] *= scale[:, np.newaxis]
    return parameters


def _original(parameters: np.ndarray, sizes, centre, scale) -> np.ndarray:
    """Undo `_standardised`."""
    parameters = parameters.copy()
    layer = _first_layer(parameters, sizes)
    layer[:-1] /= scale[:, np.newaxis]
    layer[-1] -= centre @ layer[:-1]
    return parameters
