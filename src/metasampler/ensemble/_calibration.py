"""From a balanced world to the real one: calibration of an ensemble's probabilities.

Members are trained on balanced subsets, so the mean of their probabilities answers a question
about a world in which all classes are equally frequent. Each calibration here maps these means
to probabilities of the real world and keeps their order.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

__all__ = [
    "CALIBRATIONS",
    "Calibration",
    "NoCalibration",
    "PriorCalibration",
    "Sigmoid",
    "SigmoidCalibration",
    "fit_sigmoid",
    "make_calibration",
]

CALIBRATIONS = ("auto", "prior", "sigmoid")

# On imbalanced-learn's 27 data sets a sigmoid has the lowest Brier score even where it is fitted
# on five positives; on other sets no other form did better with so few
# (`metasampler study calibration` and `few-rows`).
_FEWEST_ROWS_FOR_SIGMOID = 5

# Rows of each class that are added to those a sigmoid is fitted on. Platt's one for each keeps few
# rows from saturating it, and keeps a blend that is right from saying so.
_ADDED_ROWS, _ADDED_ROWS_TO_BLENDS = 1.0, 0.2

# OpenBLAS shares products of more than 10,000 numbers.
_BLOCK = 1 << 13

# The smallest probability that has a logarithm.
_LEAST = np.finfo(float).tiny


class Calibration(Protocol):
    """Maps a matrix of mean probabilities to one of real probabilities."""

    name: str
    prior: np.ndarray

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        """Calibrate a matrix of probabilities."""


class NoCalibration:
    """Leave the mean of the members' probabilities as it is.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
        Frequencies of the classes in the members' subsets.
    """

    name = "none"

    def __init__(self, prior: np.ndarray):
        self.prior = prior

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        """Calibrate a matrix of probabilities."""
        return proba


class PriorCalibration:
    """Correct for the known ratios of the classes in the draws.

    A class that is drawn q/p times as often as it occurs gets its odds divided by q/p. This is
    exact if rows of a class are drawn uniformly and the mean is calibrated in the balanced world.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
        Frequencies of the classes in the data.
    drawn : ndarray of shape (n_classes,)
        Frequencies of the classes in the members' subsets.
    """

    name = "prior"

    def __init__(self, prior: np.ndarray, drawn: np.ndarray):
        self.prior = prior
        self.drawn = drawn

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        """Calibrate a matrix of probabilities."""
        return _normalise(proba * (self.prior / self.drawn))


class Sigmoid(NamedTuple):
    """An increasing function from scores to probabilities."""

    slope: float
    intercept: float

    def __call__(self, scores):
        return expit(self.slope * scores + self.intercept)


class SigmoidCalibration:
    """Platt's sigmoid of the mean probability, fitted on held-out rows.

    By hand because scikit-learn has it only inside `CalibratedClassifierCV`, which refits; the
    targets are Platt's, which keeps few rows from saturating it.

    Parameters
    ----------
    prior : ndarray of shape (n_classes,)
    proba : ndarray of shape (n_rows, n_classes)
        Uncalibrated probabilities of held-out rows.
    codes : ndarray of shape (n_rows,)
        Their classes.
    weights : ndarray of shape (n_rows,), default=None
    of_log_odds : bool, default=False
        Whether the sigmoid is one of the log-odds: for answers that are not means of probabilities.
    """

    name = "sigmoid"

    def __init__(self, prior, proba, codes, weights=None, of_log_odds=False):
        self.prior = prior
        self.of_log_odds = of_log_odds
        proba = self._scores(proba)
        n_classes = proba.shape[1]
        # Of two classes one function is enough, and keeps the order exactly.
        columns = [1] if n_classes == 2 else range(n_classes)
        added = _ADDED_ROWS_TO_BLENDS if of_log_odds else _ADDED_ROWS
        self.functions = [fit_sigmoid(proba[:, k], codes == k, weights, added) for k in columns]

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        """Calibrate a matrix of probabilities."""
        proba = self._scores(proba)
        if proba.shape[1] == 2:
            positive = self.functions[0](proba[:, 1])
            return np.column_stack([1 - positive, positive])
        columns = [
            function(column) for function, column in zip(self.functions, proba.T, strict=True)
        ]
        return _normalise(np.column_stack(columns))

    def _scores(self, proba: np.ndarray) -> np.ndarray:
        if not self.of_log_odds:
            return proba
        # Of the other classes together: 1 - p would be 0 where a class is all but certain.
        others = proba @ (1 - np.eye(proba.shape[1]))
        return np.log(np.maximum(proba, _LEAST)) - np.log(np.maximum(others, _LEAST))


def fit_sigmoid(scores, is_class, weights=None, added: float = _ADDED_ROWS) -> Sigmoid:
    """Fit Platt's sigmoid to the scores of some rows, with ``added`` rows more of each class."""
    # Of mean 1: how sure the sigmoid may be depends on the number of rows, not on the unit of
    # their weights.
    weights = np.ones(len(scores)) if weights is None else weights / weights.mean()
    n_in, n_out = weights[is_class].sum(), weights[~is_class].sum()
    n_more = 2 * added
    targets = np.where(is_class, (n_in + added) / (n_in + n_more), added / (n_out + n_more))

    def loss(parameters):
        logits = parameters[0] * scores + parameters[1]
        residuals = weights * (expit(logits) - targets)
        value = _dot(weights, np.logaddexp(0, logits) - targets * logits)
        return value, np.array([_dot(residuals, scores), residuals.sum()])

    start = np.array([1.0, np.log((n_in + 1) / (n_out + 1))])
    # The bounds keep the order of the scores, whatever the held-out rows say: a steeper sigmoid
    # would round different scores to the same probability.
    bounds = [(1e-3, 60.0), (None, None)]
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return Sigmoid(*map(float, fitted.x))


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return the sum of products, in blocks that BLAS does not share among threads.

    A sum that threads share depends, in its last bits, on how many there are; and while they wait
    for each other they take more time than they save.
    """
    return sum(a[n : n + _BLOCK] @ b[n : n + _BLOCK] for n in range(0, len(a), _BLOCK))


def _normalise(proba: np.ndarray) -> np.ndarray:
    total = proba.sum(axis=1, keepdims=True)
    # A row that no class claims is as undecided as it can be.
    return np.where(total > 0, proba / np.where(total > 0, total, 1), 1 / proba.shape[1])


def make_calibration(
    method, *, prior, drawn, proba=None, codes=None, weights=None, of_log_odds=False
) -> Calibration:
    """Return a calibration by name.

    Parameters
    ----------
    method : {"auto", "prior", "sigmoid"} or None
        ``"auto"`` takes the sigmoid if each class has at least five held-out rows, and the prior
        otherwise.
    prior : ndarray of shape (n_classes,)
        Frequencies of the classes in the data.
    drawn : ndarray of shape (n_classes,)
        Frequencies of the classes in the members' subsets.
    proba, codes : ndarray, default=None
        Uncalibrated probabilities and classes of held-out rows, if there are any; the sigmoid
        needs them.
    weights : ndarray, default=None
        Weights of the held-out rows.
    of_log_odds : bool, default=False
        See `SigmoidCalibration`.

    Returns
    -------
    calibration : Calibration
    """
    if method == "auto":
        fewest = 0 if codes is None else np.bincount(codes, minlength=len(prior)).min()
        method = "sigmoid" if fewest >= _FEWEST_ROWS_FOR_SIGMOID else "prior"
    if method is None:
        return NoCalibration(drawn)
    if method == "prior":
        return PriorCalibration(prior, drawn)
    return SigmoidCalibration(prior, proba, codes, weights, of_log_odds)
