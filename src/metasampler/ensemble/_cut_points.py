"""What held-out rows showed at every threshold, kept without the rows.

A fitted classifier keeps these numbers, so its threshold can be chosen again later, by another
goal, and each choice comes with what to expect of new rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

# Cut points that are kept, half of them by hits and half by called rows. Neighbours then differ by
# a thousandth of the recall.
_MOST_CUTS = 2000


@dataclass(eq=False)
class CutPoints:
    """Hits and false alarms among held-out rows, at each threshold that makes a difference.

    All arrays have one number per cut point, in the order of falling thresholds.
    """

    #: The lowest score that is called.
    thresholds: np.ndarray
    #: The next lower score of a held-out row; the threshold itself at the last cut.
    below: np.ndarray
    #: Weights of the called rows of the class to find, and of all others.
    hits: np.ndarray
    alarms: np.ndarray
    #: How many rows of equal weight tell as much as the rows between a cut and the one before it.
    hit_rows: np.ndarray
    alarm_rows: np.ndarray
    #: How many times larger the variance on new rows may be than the number of rows says.
    doubt: float = 1.0

    @classmethod
    def of(cls, scores, positive, weights=None, groups=None, doubt=1.0) -> "CutPoints":
        """Return the cut points of some rows; rows of one group are alike, and tell less."""
        weights = np.ones(len(scores)) if weights is None else weights
        alike = [1.0, 1.0]
        if groups is not None:
            of_class = [np.flatnonzero(chosen) for chosen in (positive, ~positive)]
            effects = [_design_effect(scores[r], weights[r], groups[r]) for r in of_class]
            alike = [effect for effect, _ in effects]
            # The class to find has fewer groups.
            doubt *= effects[0][1]
        order = np.argsort(-scores, kind="stable")
        scores, positive, weights = scores[order], positive[order], weights[order]
        last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
        hits, alarms = (np.cumsum(weights * chosen)[last] for chosen in (positive, ~positive))
        last, hits, alarms = _thinned(last, hits, alarms)
        hit_rows, alarm_rows = (
            _effective_rows(weights * chosen, last) / effect
            for chosen, effect in zip((positive, ~positive), alike, strict=True)
        )
        below = scores[np.minimum(last + 1, len(scores) - 1)]
        return cls(scores[last], below, hits, alarms, hit_rows, alarm_rows, doubt)

    @property
    def n_positive(self) -> float:
        """The weight of all rows of the class to find."""
        return float(self.hits[-1])

    @property
    def are_alike(self) -> bool:
        """Whether all rows of a class count the same."""
        pairs = (self.hits, self.hit_rows), (self.alarms, self.alarm_rows)
        return all(
            np.allclose(np.diff(weights, prepend=0) * rows.sum(), rows * weights[-1], rtol=1e-9)
            for weights, rows in pairs
        )

    def only(self, last: int) -> "CutPoints":
        """Return one of these cut points, and the last one, which calls all rows."""
        kept = np.unique([last, len(self.thresholds) - 1])
        hit_rows, alarm_rows = (
            np.diff(np.cumsum(each)[kept], prepend=0) for each in (self.hit_rows, self.alarm_rows)
        )
        return CutPoints(
            self.thresholds[kept],
            self.below[kept],
            self.hits[kept],
            self.alarms[kept],
            hit_rows,
            alarm_rows,
            self.doubt,
        )

    def share_called(self, threshold: float) -> float:
        """Return the share of the rows that a threshold calls."""
        last, called = self.last_called(threshold), self.hits + self.alarms
        return float(called[last] / called[-1]) if last >= 0 else 0.0

    def last_called(self, threshold: float) -> int:
        """Return the last cut point that a threshold calls; -1 if it calls no row."""
        return int(np.count_nonzero(self.thresholds >= threshold)) - 1


def _thinned(last: np.ndarray, hits: np.ndarray, alarms: np.ndarray) -> tuple:
    """Return a subset of many cut points: even in hits, and in the logarithm of called rows."""
    if len(last) <= _MOST_CUTS:
        return last, hits, alarms
    half = _MOST_CUTS // 2
    called = np.log(hits + alarms)
    by_hits = np.searchsorted(hits, np.linspace(0, hits[-1], half))
    by_called = np.searchsorted(called, np.linspace(called[0], called[-1], half))
    kept = np.unique(np.minimum(np.concatenate([by_hits, by_called]), len(last) - 1))
    return last[kept], hits[kept], alarms[kept]


def _design_effect(
    scores: np.ndarray, weights: np.ndarray, groups: np.ndarray
) -> tuple[float, float]:
    """Return what groups do to the variance of the share above a threshold, in the mean of some."""
    thresholds = np.quantile(scores, np.linspace(0.1, 0.9, 9)) if len(scores) else []
    return effect_of_groups([scores >= threshold for threshold in thresholds], weights, groups)


def effect_of_groups(
    marks: Sequence[np.ndarray], weights: np.ndarray, groups: np.ndarray
) -> tuple[float, float]:
    """Return how many times larger groups make the variance of a share, and may make it.

    ``marks`` say of which rows it is the share; of several the mean effect is returned. It is the
    ratio of two variances: of sums over groups, and of rows as if they were independent. Few groups
    say little of the variance between groups. The second number says by how much it may be larger
    still, as in Student's t. But rows of a group can be no more alike than copies of one row.
    """
    places = np.unique(groups, return_inverse=True)[1]
    n_groups = places.max(initial=-1) + 1
    if n_groups < 1:
        return 1.0, 1.0
    of_groups = np.bincount(places, weights)
    if_copies = max(1.0, float(np.sum(of_groups**2) / np.sum(weights**2)))
    if n_groups == 1:
        return if_copies, 1.0
    effects = []
    for marked in marks:
        residuals = weights * (marked - np.average(marked, weights=weights))
        of_rows = np.sum(residuals**2)
        if of_rows > 0:
            effects.append(np.sum(np.bincount(places, residuals) ** 2) / of_rows)
    if not effects:
        return if_copies, 1.0
    effect = float(np.mean(effects)) * n_groups / (n_groups - 1)
    effect = min(max(effect, 1.0), if_copies)
    tails = t.ppf(0.975, n_groups - 1) / norm.ppf(0.975)
    return effect, min(float(tails) ** 2, if_copies / effect)


def _effective_rows(weights: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return the number of rows of equal weight that vary as much as those of each cut."""
    starts = np.append(0, last[:-1] + 1)
    total, squares = np.add.reduceat(weights, starts), np.add.reduceat(weights**2, starts)
    return np.divide(total**2, squares, out=np.zeros(len(starts)), where=squares > 0)
