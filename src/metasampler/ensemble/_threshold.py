"""From probabilities to decisions: the threshold, and what to expect at it."""

import warnings
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np


class Threshold(NamedTuple):
    """A threshold on the probability of the minority class, and what held-out rows say of it."""

    value: float
    precision: float | None
    recall: float | None


def choose_threshold(
    threshold, *, prior: float, n_rows: int = 0, scores=None, positive=None, weights=None
):
    """Return the threshold on the probability of the minority class.

    ``prior`` is the frequency of that class in the world that the probabilities speak of. A number
    of rows to call means so many of a table of ``n_rows``. ``scores``, ``positive`` and ``weights``
    are of held-out rows, if there are any; a threshold that is tuned needs them.
    """
    curve = None if scores is None else _Curve(scores, positive, weights)
    if threshold is None:
        value = 0.5
    elif isinstance(threshold, Real):
        value = float(threshold)
    elif threshold == "balanced":
        value = float(prior)
    else:
        assert curve is not None
        value = _tune(threshold, curve, n_rows)
    return Threshold(value, *((None, None) if curve is None else curve.precision_and_recall(value)))


class _Curve:
    """Hits and false alarms at every threshold that makes a difference."""

    def __init__(self, scores, positive, weights):
        weights = np.ones(len(scores)) if weights is None else weights
        order = np.argsort(-scores, kind="stable")
        scores, positive, weights = scores[order], positive[order], weights[order]
        self.last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
        self.thresholds = scores[self.last]
        self.hits = np.cumsum(weights * positive)[self.last]
        self.alarms = np.cumsum(weights * ~positive)[self.last]
        self.n_positive = self.hits[-1]
        self.n_negative = self.alarms[-1]
        self.precision = self.hits / (self.hits + self.alarms)
        self.positive_scores = scores[positive]
        self.positive_weights = weights[positive]

    def precision_and_recall(self, threshold):
        """Return what held-out rows say of a threshold; without alarms there is no precision."""
        reached = np.flatnonzero(self.thresholds >= threshold)
        if not len(reached):
            return None, 0.0
        last = reached[-1]
        return float(self.precision[last]), float(self.hits[last] / self.n_positive)


def called_rows(threshold, value: float, scores: np.ndarray) -> np.ndarray:
    """Return which rows are called minority, by a threshold and what was chosen for it."""
    n_called = rows_to_call(threshold)
    if n_called is None:
        return scores >= value
    # Exactly so many, also where scores are equal: a team's day has no more hours.
    called = np.zeros(len(scores), dtype=bool)
    called[np.argsort(-scores, kind="stable")[:n_called]] = True
    return called


def rows_to_call(threshold) -> int | None:
    """Return how many rows a threshold asks for; None if it does not say so."""
    if isinstance(threshold, (tuple, list)) and threshold[0] == "top":
        return int(threshold[1]) if isinstance(threshold[1], Integral) else None
    return None


def _tune(threshold, curve: _Curve, n_rows: int) -> float:
    name, *values = (threshold,) if isinstance(threshold, str) else threshold
    hits, alarms = curve.hits, curve.alarms
    misses, rejections = curve.n_positive - hits, curve.n_negative - alarms
    if name == "f1":
        goal = 2 * hits / (2 * hits + alarms + misses)
    elif name == "mcc":
        sizes = (hits + alarms) * curve.n_positive * curve.n_negative * (misses + rejections)
        covariance = hits * rejections - alarms * misses
        goal = np.where(sizes > 0, covariance / np.sqrt(np.where(sizes > 0, sizes, 1)), 0)
    elif name == "cost":
        # Only their ratio counts; by a power of two, so that nothing overflows and no bit changes.
        miss_cost, alarm_cost = np.ldexp(np.array(values, float), -np.frexp(float(max(values)))[1])
        goal = -(miss_cost * misses + alarm_cost * alarms)
        if goal.max() < -miss_cost * curve.n_positive:
            return float(np.nextafter(curve.thresholds[0], 2))  # calling nobody is cheapest
    elif name == "recall":
        return _threshold_for_recall(values[0], curve)
    elif name == "top":
        n_called = rows_to_call(threshold)
        share = values[0] if n_called is None else min(1.0, n_called / n_rows)
        called = (hits + alarms) / (curve.n_positive + curve.n_negative)
        # At least the first: where the highest scores are equal there may be more rows of them.
        few_enough = max(1, int(np.searchsorted(called, share + 1e-9, side="right")))
        return float(curve.thresholds[few_enough - 1])
    else:
        enough = np.flatnonzero(curve.precision >= values[0])
        if not len(enough):
            warnings.warn(
                f"No threshold reaches a precision of {values[0]} on the held-out rows; the one "
                f"with the highest, {curve.precision.max():.3f}, is taken.",
                UserWarning,
                stacklevel=2,
            )
            return float(curve.thresholds[int(np.argmax(curve.precision))])
        return float(curve.thresholds[enough[-1]])  # the lowest one has the highest recall
    return float(curve.thresholds[int(np.argmax(goal))])


def _threshold_for_recall(recall: float, curve: _Curve) -> float:
    """Return the threshold with the highest precision that keeps the recall on new rows.

    A new positive falls below the j-th smallest of m held-out positives with probability
    j / (m + 1): the share that held-out rows themselves have below it is too optimistic. Of equal
    precisions the lowest threshold counts. It lies in the middle of the gap below the last row that
    is called: where a table is nearly solved, new positives may fall into this gap.
    """
    order = np.argsort(curve.positive_scores, kind="stable")
    ascending = curve.positive_scores[order]
    weights = curve.positive_weights[order] / curve.positive_weights.mean()
    # Rows count by their weight; with equal weights this is the j above.
    allowed = (1 - recall) * (len(ascending) + 1) + 1e-9
    j = int(np.searchsorted(np.cumsum(weights), allowed, side="right"))
    if j == 0:
        warnings.warn(
            f"{len(ascending)} held-out rows of the minority class are too few to expect a recall "
            f"of {recall} on new rows; the threshold is below all of them.",
            UserWarning,
            stacklevel=2,
        )
        j = 1
    reaching = np.flatnonzero(curve.thresholds <= ascending[j - 1])
    precision = curve.precision[reaching]
    last = reaching[np.flatnonzero(precision == precision.max())[-1]]
    lowest, *below = curve.thresholds[last : last + 2]
    middle = (lowest + below[0]) / 2 if below else lowest
    # Between neighbours among the floats there is nothing, and the mean may be the lower one.
    return float(middle if not below or middle > below[0] else lowest)
