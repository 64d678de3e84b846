"""Cut points: the thresholds of a report, and what happens at each of them.

A report holds at most a thousand cut points however many rows there are. They are scores of the
rows, so that the counts at each are exact: as if scikit-learn had compared every row with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

#: Cut points of a report, at most.
MOST_CUTS = 1000


@dataclass(frozen=True)
class Cuts:
    """What calling all rows with at least a certain score leads to.

    Attributes
    ----------
    threshold : ndarray of shape (n_cuts,)
        In ascending order. The last one is above all scores: no row is called.
    alarms : ndarray of shape (n_cuts,)
        Weight of the rows that are called; without weights their number.
    hits : ndarray of shape (n_cuts,), or None
        Of these the weight that is of the class to find; None if labels are not known.
    n_rows, n_positive : float
        Weight of all rows, and of those of the class to find.
    start : int
        The cut point that the model uses.
    cells : ndarray of shape (n_rows,)
        For each row, the number of cut points that call it.
    """

    threshold: np.ndarray
    alarms: np.ndarray
    hits: Any
    n_rows: float
    n_positive: float
    start: int
    cells: np.ndarray

    @cached_property
    def false_alarms(self) -> np.ndarray:
        """Weight of the called rows that are of another class."""
        # Sums of weights in another order may differ in the last digit.
        return np.maximum(self.alarms - self.hits, 0)

    @cached_property
    def precision(self) -> np.ndarray:
        """Share of the alarms that are right; NaN where there is no alarm."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.hits / self.alarms

    @cached_property
    def recall(self) -> np.ndarray:
        """The share of the class to find that is called."""
        return self.hits / self.n_positive

    @cached_property
    def share(self) -> np.ndarray:
        """The share of all rows that is called."""
        return self.alarms / self.n_rows

    @cached_property
    def f1(self) -> np.ndarray:
        """Harmonic mean of precision and recall; 0 where nothing is found."""
        return 2 * self.hits / (self.alarms + self.n_positive)


def make_cuts(scores, threshold: float, positive=None, weights=None, most=MOST_CUTS) -> Cuts:
    """Choose at most `most` cut points, and count what happens at each.

    The threshold that the model uses is always among them.
    """
    chosen = np.unique(
        np.concatenate([_choose(scores, positive, most - 2), [threshold, _above(scores.max())]])
    )
    cells = np.searchsorted(chosen, scores, side="right")
    n_cells = len(chosen) + 1

    def at_least(mask=None):
        """Return the weight of the rows from each cut point on."""
        of, given = (cells, weights) if mask is None else (cells[mask], _part(weights, mask))
        sums = np.bincount(of, given, n_cells)
        if given is None:
            return np.cumsum(sums[::-1])[::-1][1:], int(sums.sum())
        # Summed from below, the total and the first cut point agree to the last digit.
        return np.cumsum(sums[::-1])[::-1][1:], float(np.cumsum(sums[::-1])[-1])

    alarms, n_rows = at_least()
    hits, n_positive = (None, 0) if positive is None else at_least(positive)
    start = int(np.searchsorted(chosen, threshold))
    return Cuts(chosen, alarms, hits, n_rows, n_positive, start, cells)


def _part(values, mask):
    return None if values is None else values[mask]


def _above(score: float) -> float:
    """Return the next number above a score."""
    return float(np.nextafter(score, np.inf))


def _choose(scores, positive, most: int) -> np.ndarray:
    """Return scores that lie close where something changes.

    Half of them call equal steps more of the class to find. The others call numbers of rows that
    grow by equal factors: the first rows matter most. Where these fall together, what is left of
    them is spread over all scores.
    """
    distinct = np.unique(scores)
    if len(distinct) <= most:
        return distinct
    half = most // 2
    descending = np.sort(scores)[::-1]
    places = np.unique(np.geomspace(1, len(scores), most - half).astype(np.intp) - 1)
    known = positive is not None and positive.any()
    found = np.sort(scores[positive])[::-1] if known else descending
    steps = np.unique(np.linspace(0, len(found) - 1, half).astype(np.intp))
    chosen = np.unique(np.concatenate([descending[places], found[steps]]))
    others = np.setdiff1d(distinct, chosen, assume_unique=True)
    spread = np.linspace(0, len(others) - 1, most - len(chosen)).astype(np.intp)
    return np.union1d(chosen, others[np.unique(spread)])
