"""Combine the answers of teams into one probability of each of many classes.

Teams are pooled in the logarithms of their probabilities. The weights of the teams lie half-way
between those that are best on held-out rows and equal ones: learned weights have the lower
log-loss, equal ones the better ranking. Then all log-odds get one slope, and each class an
intercept (`SoftmaxCalibration`). That is Platt's sigmoid for many classes; it has as many
parameters as there are classes, not their square.
"""

from collections.abc import Sequence
from functools import partial, reduce

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from metasampler.ensemble._held_out import HeldOut
from metasampler.growth import GrowthData

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

#: With fewer held-out rows than this teams have equal weights, and nothing is calibrated by them.
ENOUGH_ROWS = 20


def smoothed_logs(proba: np.ndarray, world: np.ndarray, floor: float = _FLOOR) -> np.ndarray:
    """Return the logarithms of probabilities, once a small share of the world's is mixed in."""
    return np.log((1 - floor) * proba + floor * world)


class Pool:
    """Join the answers of teams for many classes.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
        The share of each class in the training rows: in their world the joint answer is.
    shares : list of ndarray of shape (n_classes,)
        The share of each class in what each team was trained on.
    answers : list of ndarray, default=()
        The probabilities of held-out rows by each team. Without them teams have equal weights.
    codes, row_weights : ndarray, default=None
        The classes and weights of these rows.
    """

    #: The share of each answer that is replaced by the class frequencies.
    floor = _FLOOR

    def __init__(self, prior, shares, answers=(), codes=None, row_weights=None):
        self.prior = prior
        self.shares = shares
        #: What the log-odds of each team are multiplied by.
        self.weights = np.full(len(shares), 1 / len(shares))
        #: The score of each team on held-out rows, and last that of all together.
        self.scores: list[float] = []
        if codes is None or len(codes) < ENOUGH_ROWS or len(shares) == 1:
            return
        rows, scales = thin_out(codes, len(prior), _MOST_NUMBERS)
        if row_weights is not None:
            scales = scales * row_weights[rows]
        logs = [
            smoothed_logs(answer[rows], share) - np.log(share)
            for answer, share in zip(answers, shares, strict=True)
        ]
        learned, _ = fit_log_linear(logs, codes[rows], scales, offset=np.log(prior))
        self.weights = (learned + learned.mean()) / 2

    @classmethod
    def of(
        cls, data: GrowthData, judged: Sequence[tuple], shares: Sequence[np.ndarray], prior
    ) -> tuple["Pool", HeldOut | None]:
        """Return the pool of grown teams and the rows that all of them left out, if there are any.

        ``judged`` are the rows of each team, as `Growth.judged` returns them, and the keys of their
        groups if there are any.
        """
        if not data.has_validation:
            return cls(prior, shares), None
        teams = [HeldOut(*of_team) for of_team in judged]
        common = reduce(partial(np.intersect1d, assume_unique=True), [team.rows for team in teams])
        shared = [team.at(common) for team in teams]
        answers, first = [team.proba for team in shared], shared[0]
        pool = cls(prior, shares, answers, first.codes, first.weights)
        held_out = first._replace(proba=pool(answers))
        counts = np.bincount(first.codes, minlength=data.n_classes)
        # Only macro average precision leaves out classes that have no held-out row.
        if counts.min() or (data.scoring == "average_precision" and np.count_nonzero(counts) > 1):
            score = data.score_function(first.codes, first.weights)
            pool.scores = [score(answer) for answer in (*answers, held_out.proba)]
        return pool, held_out

    def __call__(self, answers: Sequence[np.ndarray | None]) -> np.ndarray:
        """Return the joint probability of each class; teams without an answer do not count."""
        return softmax(self.logits(answers), axis=1)

    def logits(self, answers: Sequence[np.ndarray | None]) -> np.ndarray:
        """Return what the joint probabilities are the softmax of."""
        known = np.array([answer is not None for answer in answers])
        # The others stand in for a team that has no members yet.
        scale = self.weights.sum() / self.weights[known].sum()
        total = np.log(self.prior)
        for weight, share, answer in zip(self.weights, self.shares, answers, strict=True):
            if answer is not None:
                odds = smoothed_logs(answer, share, self.floor) - np.log(share)
                total = total + weight * scale * odds
        return total


class SoftmaxCalibration:
    """One slope for the log-odds of all classes and an intercept for each, by held-out rows.

    Parameters
    ----------
    prior, drawn : ndarray of shape (n_classes,)
        The share of each class in the training rows, and in the world of the probabilities.
    proba, codes, weights : ndarray
        Uncalibrated probabilities of held-out rows, their classes and weights.
    floor : float
        A share of each probability that is replaced by ``drawn``: means of few trees may be 0.
    """

    name = "softmax"

    def __init__(self, prior, drawn, proba, codes, weights=None, floor=_FLOOR):
        self.prior = prior
        self.drawn = drawn
        self.floor = floor
        rows, scales = thin_out(codes, len(prior), _MOST_NUMBERS)
        if weights is not None:
            scales = scales * weights[rows]
        logs = [self._odds(proba[rows])]
        slopes, self.intercepts = fit_log_linear(logs, codes[rows], scales, offset=np.log(prior))
        self.slope = float(slopes[0])

    def _odds(self, proba: np.ndarray) -> np.ndarray:
        return smoothed_logs(proba, self.drawn, self.floor) - np.log(self.drawn)

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        return softmax(self.logits(proba), axis=1)

    def logits(self, proba: np.ndarray) -> np.ndarray:
        """Return what the calibrated probabilities are the softmax of."""
        intercepts = np.log(self.prior) + self.intercepts
        return self.slope * self._odds(proba) + intercepts


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
    logs: Sequence[np.ndarray], codes: np.ndarray, weights: np.ndarray, offset: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight of each table of logarithms, and what is added to the offset of each class.

    They minimise the log-loss of the rows. The problem is convex. Sums are taken by NumPy alone:
    BLAS would round otherwise with another number of threads.
    """
    n_tables, n_classes = len(logs), logs[0].shape[1]
    weights = weights / weights.mean()
    rows = np.arange(len(codes))

    def loss(parameters):
        slopes, intercepts = parameters[:n_tables], parameters[n_tables:]
        scores = offset + intercepts + slopes[0] * logs[0]
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
