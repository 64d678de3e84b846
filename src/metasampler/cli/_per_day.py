"""A fixed number of alarms a day: which rows they are, and what they find."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metasampler.tables import NO_DAY

# Resamples of days for the intervals.
_N_RESAMPLES = 500


class Alarms(NamedTuple):
    """What a fixed number of alarms a day found on some days."""

    n_days: int
    precision: float
    recall: float
    precision_interval: tuple[float, float]
    recall_interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.precision_interval
        least, most = self.recall_interval
        return (
            f"On {self.n_days:,} days that were held out {self.precision:.0%} of these "
            f"({low:.0%} to {high:.0%}) were right, and they held {self.recall:.0%} "
            f"({least:.0%} to {most:.0%}) of what was to be found."
        )


def top_of_each(scores: NDArray, days: NDArray, n: int) -> NDArray[np.bool_]:
    """Return which rows are among the n highest of their day; of equal ones the first."""
    called = np.zeros(len(scores), dtype=bool)
    order = np.lexsort((-scores, days))
    starts = np.flatnonzero(np.append(True, np.diff(days[order]) != 0))
    sizes = np.diff(np.append(starts, len(order)))
    places = np.arange(len(order)) - np.repeat(starts, sizes)
    called[order[places < n]] = True
    return called


def alarms_per_day(scores: NDArray, positive: NDArray, days: NDArray, n: int) -> Alarms:
    """Return what n alarms a day found, with 95% intervals by a bootstrap over days."""
    called = top_of_each(scores, days, n)
    places = np.unique(days, return_inverse=True)[1]
    hits = np.bincount(places, called & positive)
    alarms, found = np.bincount(places, called), np.bincount(places, positive)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(hits), (_N_RESAMPLES, len(hits)))
    of_alarms = hits[drawn].sum(axis=1) / alarms[drawn].sum(axis=1)
    of_found = hits[drawn].sum(axis=1) / np.maximum(found[drawn].sum(axis=1), 1)

    def ends(values: NDArray) -> tuple[float, float]:
        low, high = np.quantile(values, [0.025, 0.975])
        return float(low), float(high)

    return Alarms(
        len(hits),
        float(hits.sum() / alarms.sum()),
        float(hits.sum() / found.sum()),
        ends(of_alarms),
        ends(of_found),
    )


class DailyRows:
    """The rows to call on each day, in the memory of these rows alone.

    Parameters
    ----------
    n : int or None
        Rows to call on each day; None calls by a threshold.
    """

    def __init__(self, n: int | None):
        self.n = n
        self._top: dict[int, tuple[NDArray, NDArray]] = {}
        self.rows_of: dict[int, int] = {}
        self.alarms_of: dict[int, int] = {}

    def add(self, scores: NDArray, called: NDArray, days: NDArray, start: int) -> None:
        """Look at rows whose numbers begin with ``start``."""
        for day in np.unique(days[days != NO_DAY]).tolist():
            rows = np.flatnonzero(days == day)
            self.rows_of[day] = self.rows_of.get(day, 0) + len(rows)
            if self.n is None:
                self.alarms_of[day] = self.alarms_of.get(day, 0) + int(called[rows].sum())
                continue
            before = self._top.get(day, (np.empty(0), np.empty(0, np.int64)))
            both = np.append(before[0], scores[rows]), np.append(before[1], rows + start)
            best = np.argsort(-both[0], kind="stable")[: self.n]
            self._top[day] = both[0][best], both[1][best]
            self.alarms_of[day] = len(best)

    @property
    def called(self) -> NDArray[np.int64]:
        """The numbers of the rows to call, in ascending order."""
        rows = [rows for _, rows in self._top.values()]
        return np.sort(np.concatenate([np.empty(0, np.int64), *rows]))

    def __str__(self) -> str:
        if not self.alarms_of:
            return "No row has a time, so there is no day."
        alarms = np.array(list(self.alarms_of.values()))
        text = (
            f"Alarms per day, over {len(alarms):,} days: {np.median(alarms):,.0f} in the middle, "
            f"{alarms.min():,} at least, {alarms.max():,} at most."
        )
        if self.n is not None:
            n_short = int(np.count_nonzero(alarms < self.n))
            if n_short:
                text += f" {n_short:,} of the days have fewer than {self.n:,} rows."
        return text
