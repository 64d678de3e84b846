"""From probabilities to decisions: the threshold, and what to expect of it on new rows."""

from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.stats import beta

from metasampler._warnings import warn_user
from metasampler.ensemble._cut_points import CutPoints

# Resamples of the bootstrap, and the probability with which an interval holds.
_N_RESAMPLES = 200
_CONFIDENCE = 0.95

Interval = tuple[float, float]


class Threshold(NamedTuple):
    """A threshold on the probability of the minority class, and what to expect of it."""

    value: float
    precision: float | None = None
    recall: float | None = None
    precision_interval: Interval | None = None
    recall_interval: Interval | None = None


def choose_threshold(goal, cuts: CutPoints | None, *, prior: float) -> Threshold:
    """Return the threshold on the probability of the minority class for a goal.

    ``cuts`` are those of held-out rows, if there are any; a goal that is tuned needs them.
    ``prior`` is the frequency of the class in the world that the probabilities describe.
    """
    if goal is None:
        value = 0.5
    elif isinstance(goal, Real):
        value = float(goal)
    elif goal == "balanced":
        value = float(prior)
    else:
        assert cuts is not None
        name, *numbers = (goal,) if isinstance(goal, str) else goal
        rule = _Rule(name, numbers, cuts)
        last = int(rule.choose(cuts.hits, cuts.alarms))
        rule.warn(last)
        value = rule.threshold_at(last)
        return Threshold(value, *_promise(cuts, last, rule))
    if cuts is None:
        return Threshold(value)
    return Threshold(value, *_promise(cuts, cuts.last_called(value), None))


class _Rule:
    """A goal that a threshold is tuned by: which cut point is the last one that is called.

    The methods take hits and false alarms at all cut points in their last axis: those of the
    held-out rows, or of many resamples of them at once.
    """

    def __init__(self, name: str, numbers: list, cuts: CutPoints):
        self.name, self.numbers, self.cuts = name, numbers, cuts

    def choose(self, hits: np.ndarray, alarms: np.ndarray) -> np.ndarray:
        """Return the last cut point that is called; -1 calls no row."""
        if self.name in ("f1", "mcc", "cost"):
            return getattr(self, f"_by_{self.name}")(hits, alarms)
        if self.name == "recall":
            return self._by_recall(hits, alarms)
        if self.name == "top":
            return self._by_share(hits, alarms)
        precision = _precision(hits, alarms)
        good = precision >= self.numbers[0]
        # The lowest threshold has the highest recall.
        return np.where(good.any(axis=-1), _last(good), np.argmax(precision, axis=-1))

    def threshold_at(self, last: int) -> float:
        """Return the threshold that calls the rows up to a cut point."""
        cuts = self.cuts
        if last < 0:
            return float(np.nextafter(cuts.thresholds[0], 2))
        lowest, below = float(cuts.thresholds[last]), float(cuts.below[last])
        if self.name != "recall":
            return lowest
        # Where a table is nearly solved, new positives may fall into the gap below the last row
        # that is called. Between neighbours among the floats there is nothing, and the mean may be
        # the lower one.
        middle = (lowest + below) / 2
        return middle if middle > below else lowest

    def warn(self, last: int) -> None:
        """Warn if no cut point reaches the goal."""
        cuts, goal = self.cuts, self.numbers[0] if self.numbers else None
        if self.name == "precision":
            reached = _precision(cuts.hits, cuts.alarms)[last]
            if reached < goal:
                warn_user(
                    f"No threshold reaches a precision of {goal} on the held-out rows; the one "
                    f"with the highest, {reached:.3f}, is taken."
                )
        if self.name == "recall" and not self._keep_recall(cuts.hits).any():
            warn_user(
                f"{cuts.hit_rows.sum():.0f} held-out rows of the minority class are too few to "
                f"expect a recall of {goal} on new rows; the threshold is below all of them."
            )

    def _by_f1(self, hits, alarms):
        positive = hits[..., -1:]
        return np.argmax(2 * hits / np.maximum(hits + alarms + positive, _TINY), axis=-1)

    def _by_mcc(self, hits, alarms):
        positive, negative = hits[..., -1:], alarms[..., -1:]
        misses, rejections = positive - hits, negative - alarms
        sizes = (hits + alarms) * positive * negative * (misses + rejections)
        covariance = hits * rejections - alarms * misses
        goal = np.where(sizes > 0, covariance / np.sqrt(np.where(sizes > 0, sizes, 1)), 0)
        return np.argmax(goal, axis=-1)

    def _by_cost(self, hits, alarms):
        # Only their ratio counts; by a power of two, so that nothing overflows and no bit changes.
        largest = float(max(self.numbers))
        miss, alarm = np.ldexp(np.array(self.numbers, float), -np.frexp(largest)[1])
        positive = hits[..., -1:]
        goal = -(miss * (positive - hits) + alarm * alarms)
        # Calling no row may be cheapest.
        return np.where(goal.max(axis=-1) < -miss * positive[..., 0], -1, np.argmax(goal, axis=-1))

    def _by_share(self, hits, alarms):
        called = (hits + alarms) / np.maximum(hits[..., -1:] + alarms[..., -1:], _TINY)
        # At least the first: where the highest scores are equal there may be more rows of them.
        return np.maximum(np.sum(called <= self.numbers[0] + 1e-9, axis=-1) - 1, 0)

    def _by_recall(self, hits, alarms):
        """Return the cut point with the highest precision that keeps the recall on new rows."""
        enough = self._keep_recall(hits)
        all_found = hits >= hits[..., -1:] * (1 - 1e-12)
        enough = np.where(enough.any(axis=-1, keepdims=True), enough, all_found)
        precision = np.where(enough, _precision(hits, alarms), -1.0)
        # Among equal precisions the lowest threshold counts.
        return _last(precision == precision.max(axis=-1, keepdims=True))

    def _keep_recall(self, hits):
        """Return which cut points can be expected to keep the recall.

        A new positive falls below the j-th smallest of m held-out positives with probability
        j / (m + 1): the share that held-out rows themselves have below it is too optimistic. Rows
        count by their weight.
        """
        cuts = self.cuts
        unit = cuts.n_positive / cuts.hit_rows.sum()
        # The lowest row that is called is the j-th.
        found = cuts.hit_rows > 0
        weight = np.diff(cuts.hits, prepend=0)[found] / cuts.hit_rows[found]
        lowest = np.append(0, weight)[np.cumsum(found)]
        positive = hits[..., -1:]
        allowed = (1 - self.numbers[0]) * (positive / unit + 1) + 1e-9
        return ((positive - hits) + lowest) / unit <= allowed


# Keeps resamples without any row of a class from dividing by zero.
_TINY = np.finfo(float).tiny


def _precision(hits: np.ndarray, alarms: np.ndarray) -> np.ndarray:
    return hits / np.maximum(hits + alarms, _TINY)


def _last(mask: np.ndarray) -> np.ndarray:
    """Return the last position in the last axis where a mask is true."""
    return mask.shape[-1] - 1 - np.argmax(mask[..., ::-1], axis=-1)


# ---------------------------------------------------------------------- what to expect


def _promise(cuts: CutPoints, last: int, rule: _Rule | None) -> tuple:
    """Return precision and recall to expect of new rows, and their intervals.

    A threshold that was chosen by some rows looks better on them than on others. The bootstrap
    chooses it again by each resample. What it then loses on the held-out rows is taken off, and how
    much this varies gives the interval.
    """
    if last < 0:
        return None, 0.0, None, None
    if rule is None and cuts.are_alike:
        # The same cut point is called in every resample: no other one has to be drawn.
        cuts, last = cuts.only(last), 0
    shown = _precision(cuts.hits, cuts.alarms)[last], cuts.hits[last] / cuts.n_positive
    rng = np.random.default_rng(0)
    shape = (_N_RESAMPLES, len(cuts.thresholds))
    hits, alarms = (
        np.cumsum(_resampled(rng, np.diff(weights, prepend=0), rows, shape), axis=1)
        for weights, rows in ((cuts.hits, cuts.hit_rows), (cuts.alarms, cuts.alarm_rows))
    )
    # A resample without a row of the class is skipped: its recall is undefined.
    able = hits[:, -1] > 0
    hits, alarms = hits[able], alarms[able]
    chosen = np.full(len(hits), last) if rule is None else rule.choose(hits, alarms)
    able = chosen >= 0
    each, chosen = np.flatnonzero(able), chosen[able]
    found, false = hits[each, chosen], alarms[each, chosen]
    said = _precision(found, false), found / hits[each, -1]
    true = _precision(cuts.hits[chosen], cuts.alarms[chosen]), cuts.hits[chosen] / cuts.n_positive
    called_rows = cuts.hit_rows[: last + 1].sum() + cuts.alarm_rows[: last + 1].sum()
    sizes = called_rows, cuts.hit_rows.sum()
    expected, intervals = [], []
    for value, in_resample, in_rows, size in zip(shown, said, true, sizes, strict=True):
        errors = in_resample - in_rows
        centre = float(np.clip(value - (0.0 if rule is None else errors.mean()), 0, 1))
        expected.append(centre)
        spread = float(errors.std()) * cuts.doubt**0.5
        # What the choice gains is known by chance too: it may be nothing.
        around = [
            interval_of_share(each, spread, float(size) / cuts.doubt)
            for each in (centre, float(value))
        ]
        low, high = min(low for low, _ in around), max(high for _, high in around)
        # Rows that are all right do not rule out that all new ones are.
        intervals.append((low if value > 0 else 0.0, high if value < 1 else 1.0))
    return (*expected, *intervals)


def _resampled(rng, weights: np.ndarray, rows: np.ndarray, shape: tuple) -> np.ndarray:
    """Return the weights between cut points in resamples of the rows."""
    return rng.poisson(rows, shape) * np.divide(
        weights, rows, out=np.zeros(len(rows)), where=rows > 0
    )


def interval_of_share(share: float, spread: float, most_rows: float) -> Interval:
    """Return the interval of a share: Jeffreys' for as many rows as would vary as much."""
    n_rows = most_rows
    if spread > 0:
        # A share of 0 or 1 varies too: it counts as half a row away from there.
        inner = (share * most_rows + 0.5) / (most_rows + 1)
        n_rows = min(most_rows, inner * (1 - inner) / spread**2)
    ends = beta.ppf(
        [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2],
        share * n_rows + 0.5,
        (1 - share) * n_rows + 0.5,
    )
    return float(ends[0]), float(ends[1])
