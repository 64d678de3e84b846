"""Draws from rows in several partitions: what partitions answer is merged exactly.

Each partition keeps as many keys as are drawn in all. If each has its share of the rows that are
drawn, the last of them is among the keys near this rank. Otherwise counts of keys in bins tell the
bin of the last row, and the keys in that bin the row itself. Ties go by row number. So a draw does
not depend on how rows are cut.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["SmallKeys", "last_of_smallest"]

# Bins of keys have this width, from -64 to 64: a bin holds about a 64th of what is drawn.
_BINS_PER_UNIT, _FARTHEST = 64, 64

# How far from its expected rank the last key may be in a partition, in standard deviations.
_N_DEVIATIONS = 4


class SmallKeys(NamedTuple):
    """The smallest keys of one partition: the others cannot be drawn.

    Attributes
    ----------
    start : int
        The number of the partition's first row.
    rows : ndarray of int
        Positions of rows, in ascending order.
    keys : ndarray
        Their keys.
    n_all : int
        How many rows of the partition could be drawn.
    """

    start: int
    rows: np.ndarray
    keys: np.ndarray
    n_all: int


def last_of_smallest(backend, smallest: list, size: int, count: int | None) -> tuple[float, int]:
    """Return the last of the smallest keys, and the number of its row.

    ``smallest`` are the `SmallKeys` of each partition. ``count`` are the rows of all that
    could be drawn, if this is known.
    """
    if count is not None:
        last = _last_near_rank(backend.ask(_keys_near_rank, smallest, args=(size / count,)), size)
        if last is not None:
            return last
    which, n_below = _bin_of_last(backend.ask(_count_keys, smallest), size)
    return _at_rank(backend.ask(_keys_in_bin, smallest, args=(which,)), size - n_below)


def _last_near_rank(answers: Sequence[tuple], size: int) -> tuple[float, int] | None:
    """Return the last key and its row, if it is among the keys that all partitions have told."""
    n_below, below, above, *near = zip(*answers, strict=True)
    rank = size - sum(n_below)
    if not 0 < rank <= sum(map(len, near[0])):
        return None
    last = _at_rank(list(zip(*near, strict=True)), rank)
    # Then no partition has a smaller key that it counted as larger, nor the other way round.
    return last if max(below) < last[0] < min(above) else None


def _at_rank(near: Sequence[tuple], rank: int) -> tuple[float, int]:
    """Return the key at a rank, and the number of its row."""
    keys, rows = (np.concatenate(arrays) for arrays in zip(*near, strict=True))
    last = np.lexsort((rows, keys))[rank - 1]
    return float(keys[last]), int(rows[last])


def _merged(counts: Sequence[tuple[int, np.ndarray]]) -> tuple[int, np.ndarray]:
    """Return the counts of all partitions as one; each begins with the number of its first bin."""
    first = min(start for start, count in counts if len(count))
    merged = np.zeros(max(start + len(count) for start, count in counts) - first, dtype=np.int64)
    for start, count in counts:
        if len(count):
            merged[start - first : start - first + len(count)] += count
    return first, merged


def _bin_of_last(counts: Sequence[tuple[int, np.ndarray]], size: int) -> tuple[int, int]:
    """Return the bin that holds the last of the smallest keys, and how many are in bins below."""
    first, merged = _merged(counts)
    from_below = np.cumsum(merged)
    position = int(np.searchsorted(from_below, size))
    return first + position, int(from_below[position] - merged[position])


def _bins(keys: np.ndarray) -> np.ndarray:
    bounded = np.clip(keys, -_FARTHEST, np.nextafter(_FARTHEST, 0))
    return ((bounded + _FARTHEST) * _BINS_PER_UNIT).astype(np.int16)


def _keys_near_rank(smallest: SmallKeys, share: float) -> tuple:
    """Return the keys near the rank that the last one has if this partition has its share.

    Before them: how many are smaller, the largest of these, and the smallest of the larger ones.
    """
    start, rows, keys, n_all = smallest
    expected = share * n_all
    width = _N_DEVIATIONS * expected**0.5 + _N_DEVIATIONS**2
    first, stop = max(0, int(expected - width)), min(len(keys), int(expected + width) + 1)
    order = np.arange(len(keys))
    if first > 0 or stop < len(keys):
        order = np.argpartition(keys, sorted({first, stop - 1}))
    near = order[first:stop]
    below = keys[order[:first]].max(initial=-np.inf)
    above = keys[order[stop:]].min(initial=np.inf)
    return first, below, above, keys[near], rows[near] + start


def _count_keys(smallest: SmallKeys) -> tuple[int, np.ndarray]:
    """Return the number of keys in each bin, from the first bin that has any."""
    if not len(smallest.keys):
        return 0, np.zeros(0, dtype=np.int64)
    bins = _bins(smallest.keys)
    first = int(bins.min())
    return first, np.bincount(bins - first)


def _keys_in_bin(smallest: SmallKeys, which: int) -> tuple:
    """Return the keys in one bin and the numbers of their rows."""
    near = np.flatnonzero(_bins(smallest.keys) == which)
    return smallest.keys[near], smallest.rows[near] + smallest.start
