"""From what teams say of many classes to one probability of each class.

Teams are pooled in the logarithms of their probabilities. The weights of the teams lie half-way
between those that are best on held-out rows and equal ones: learned weights have the lower
log-loss, equal ones the better ranking. Then all log-odds get one slope, and each class an
intercept (`SoftmaxCalibration`). That is Platt's sigmoid for many classes; it has as many
parameters as there are classes, not their square.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

# The share of each answer that is replaced by the class frequencies: the few trees that judge a
# held-out row often give a class the probability 0, which has no logarithm.
_FLOOR = 0.02

# Numbers in the tables that parameters are fitted to; of more held-out rows the large classes are
# thinned out. So a fit with hundreds of classes stays quick.
_MOST_NUMBERS = 1 << 20

# The least weight of a team: it is never ignored or turned round.
_LEAST_WEIGHT = 0.01

# Rows that an intercept of one must gain: of classes with few rows it stays small.
_SHRINKAGE = 1.0

# With fewer held-out rows than this the teams have equal weights.
_ENOUGH_ROWS = 20


def smoothed_logs(proba: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return the logarithms of probabilities, once a small share of the prior is mixed in."""
    return np.log((1 - _FLOOR) * proba + _FLOOR * prior)


@dataclass
class Pool:
    """Joins the answers of teams for many classes.

    Attributes
    ----------
    prior : ndarray of shape (n_classes,)
        The share of each class in the training rows.
    weights : ndarray of shape (n_teams,)
        What the logarithms of each team are multiplied by.
    """

    prior: np.ndarray
    weights: np.ndarray

    @classmethod
    def fit(
        cls,
        answers: Sequence[np.ndarray],
        codes: np.ndarray | None,
        prior: np.ndarray,
        row_weights: np.ndarray | None = None,
    ) -> "Pool":
        """Return the pool of teams, given their probabilities of held-out rows.

        ``codes`` are the classes of these rows; without any the teams have equal weights.
        """
        equal = np.full(len(answers), 1 / len(answers))
        if codes is None or len(codes) < _ENOUGH_ROWS or len(answers) == 1:
            return cls(prior, equal)
        rows, scales = thin_out(codes, len(prior), _MOST_NUMBERS)
        if row_weights is not None:
            scales = scales * row_weights[rows]
        logs = [smoothed_logs(answer[rows], prior) for answer in answers]
        learned, _ = fit_log_linear(logs, codes[rows], scales)
        return cls(prior, (learned + learned.sum() * equal) / 2)

    def __call__(self, answers: Sequence[np.ndarray | None]) -> np.ndarray:
        """Return the joint probability of each class; teams without an answer do not count."""
        given = [
            (weight, answer)
            for weight, answer in zip(self.weights, answers, strict=True)
            if answer is not None
        ]
        # The others speak for a team that is not there yet.
        scale = self.weights.sum() / sum(weight for weight, _ in given)
        total = np.zeros_like(given[0][1])
        for weight, answer in given:
            total += weight * scale * smoothed_logs(answer, self.prior)
        return softmax(total, axis=1)


class SoftmaxCalibration:
    """One slope for the log-odds of all classes and an intercept for each, by held-out rows.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
        The share of each class in the training rows.
    proba, codes, weights : ndarray
        Uncalibrated probabilities of held-out rows, their classes and weights.
    """

    name = "softmax"

    def __init__(self, prior, proba, codes, weights=None):
        self.prior = prior
        rows, scales = thin_out(codes, len(prior), _MOST_NUMBERS)
        if weights is not None:
            scales = scales * weights[rows]
        slopes, self.intercepts = fit_log_linear([self._logs(proba[rows])], codes[rows], scales)
        self.slope = float(slopes[0])

    @staticmethod
    def _logs(proba: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(proba, 1e-12))

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        return softmax(self.slope * self._logs(proba) + self.intercepts, axis=1)


def thin_out(codes: np.ndarray, n_classes: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of rows whose tables have about ``most`` numbers, and what each stands for.

    Of large classes every second, third, ... row is taken.
    """
    n_rows = max(most // n_classes, n_classes)
    if len(codes) <= n_rows:
        return np.arange(len(codes)), np.ones(len(codes))
    counts = np.bincount(codes, minlength=n_classes)
    rows, scales = [], []
    for k, size in enumerate(largest_within(counts, n_rows)):
        of_class = np.flatnonzero(codes == k)
        if size:
            rows.append(of_class[np.arange(size) * len(of_class) // size])
            scales.append(np.full(size, len(of_class) / size))
    positions = np.concatenate(rows)
    order = np.argsort(positions)
    return positions[order], np.concatenate(scales)[order]


def largest_within(counts: np.ndarray, total: int) -> np.ndarray:
    """Return sizes of classes that add up to ``total`` or less: the large ones are cut alike."""
    low, high = 1, int(counts.max())
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(counts, middle).sum() <= total:
            low = middle
        else:
            high = middle - 1
    return np.minimum(counts, low)


def fit_log_linear(
    logs: Sequence[np.ndarray], codes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight of each table of logarithms, and an intercept for each class.

    They minimise the log-loss of the rows. The problem is convex. Sums are taken by NumPy alone:
    BLAS would round otherwise with another number of threads.
    """
    n_tables, n_classes = len(logs), logs[0].shape[1]
    weights = weights / weights.mean()
    rows = np.arange(len(codes))

    def loss(parameters):
        slopes, intercepts = parameters[:n_tables], parameters[n_tables:]
        scores = intercepts + slopes[0] * logs[0]
        for slope, table in zip(slopes[1:], logs[1:], strict=True):
            scores += slope * table
        scores = log_softmax(scores, axis=1)
        value = -(weights * scores[rows, codes]).sum() + _SHRINKAGE / 2 * (intercepts**2).sum()
        residuals = np.exp(scores, out=scores)
        residuals[rows, codes] -= 1
        residuals *= weights[:, np.newaxis]
        of_slopes = [(residuals * table).sum() for table in logs]
        of_intercepts = residuals.sum(axis=0) + _SHRINKAGE * intercepts
        return value, np.concatenate([of_slopes, of_intercepts])

    start = np.concatenate([np.full(n_tables, 1 / n_tables), np.zeros(n_classes)])
    bounds = [(_LEAST_WEIGHT, 10.0)] * n_tables + [(None, None)] * n_classes
    options = {"maxiter": 50, "ftol": 1e-6}
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return fitted.x[:n_tables], fitted.x[n_tables:]
