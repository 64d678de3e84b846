"""Draws from rows in several parts: what parts answer is merged exactly.

Of every part as many keys are kept as are drawn of all. Where each part has its share of the rows
that are drawn, the last of them is among the keys near this rank. Otherwise counts of keys in bins
tell the bin of the last row, and the keys in that bin the row itself. Ties go by row number. So a
draw does not depend on how rows are cut.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metasampler.growth._weights import MANY_ROWS, exact_group_sums, group_sums

if TYPE_CHECKING:
    from metasampler.growth._data import Part

__all__ = [
    "SmallKeys",
    "groups_of_all",
    "last_of_largest",
    "last_of_smallest",
    "least_of_all",
    "up_to",
]

# Bins of keys have this width, from -64 to 64: a bin holds about a 64th of what is drawn.
_BINS_A_UNIT, _FARTHEST = 64, 64

# How far from its expected rank the last key may be in a part: so many standard deviations.
_N_DEVIATIONS = 4

# How far the bits of an error are shifted to the right: 13 more of the 64 are known each time.
_SHIFTS = (51, 38, 25, 12, 0)


class SmallKeys(NamedTuple):
    """The smallest keys of one part: the others cannot be drawn.

    Attributes
    ----------
    start : int
        The number of the part's first row.
    rows : ndarray of int
        Positions of rows, in ascending order.
    keys : ndarray
        Their keys.
    n_all : int
        How many rows the part has of those that could be drawn.
    """

    start: int
    rows: np.ndarray
    keys: np.ndarray
    n_all: int


def least_of_all(place, parts: list, sums: list, request, function: Callable, args: tuple) -> float:
    """Return the smallest value of ``function(errors, *args)`` over the rows of a request."""
    return min(place.ask(_least_of, parts, sums, args=(request, function, args)))


def groups_of_all(
    place, parts: list, sums: list, request, function: Callable, n_groups: int, args: tuple
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows of a request each group has, and the sums of their numbers.

    ``function(errors, *args)`` returns the group and the number of each row.
    """
    question = (request, function, args)
    counts = np.sum(place.ask(_count_groups, parts, sums, args=(*question, n_groups)), axis=0)
    if counts.sum() <= MANY_ROWS:
        found = place.ask(_groups_of, parts, sums, args=question)
        groups, numbers = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return counts, group_sums(groups, numbers, n_groups)
    exact = place.ask(_exact_groups_of, parts, sums, args=(*question, n_groups))
    return counts, np.array([float(sum(of)) for of in zip(*exact, strict=True)])


def last_of_smallest(place, smallest: list, size: int, count: int | None) -> tuple[float, int]:
    """Return the last of the smallest keys, and the number of its row.

    ``smallest`` are the `SmallKeys` of each part. ``count`` are the rows of all parts that could be
    drawn, if somebody knows.
    """
    if count is not None:
        last = _last_near_rank(place.ask(_keys_near_rank, smallest, args=(size / count,)), size)
        if last is not None:
            return last
    which, n_below = _bin_of_last(place.ask(_count_keys, smallest), size)
    return _at_rank(place.ask(_keys_in_bin, smallest, args=(which,)), size - n_below)


def _last_near_rank(answers: Sequence[tuple], size: int) -> tuple[float, int] | None:
    """Return the last key and its row, if it is among the keys that all parts have told."""
    n_below, below, above, *near = zip(*answers, strict=True)
    rank = size - sum(n_below)
    if not 0 < rank <= sum(map(len, near[0])):
        return None
    last = _at_rank(list(zip(*near, strict=True)), rank)
    # Then no part has a smaller key that it counted as larger, nor the other way round.
    return last if max(below) < last[0] < min(above) else None


def _at_rank(near: Sequence[tuple], rank: int) -> tuple[float, int]:
    """Return the key at a rank, and the number of its row."""
    keys, rows = (np.concatenate(arrays) for arrays in zip(*near, strict=True))
    last = np.lexsort((rows, keys))[rank - 1]
    return float(keys[last]), int(rows[last])


def last_of_largest(place, parts: list, sums: list, request, size: int) -> tuple[float, int]:
    """Return the last of the largest errors of a request, and how many are larger.

    It is found exactly, some of its bits at a time, from counts of errors that begin with the same
    bits: unlike random keys, errors may all be equal, or all be in one bin.
    """
    known, n_larger = None, 0
    for step, shift in enumerate(_SHIFTS):
        before = 0 if known is None else _SHIFTS[step - 1]
        arguments = (request, known, before, shift)
        first, counts = _merged(place.ask(_count_bits, parts, sums, args=arguments))
        from_above = np.cumsum(counts[::-1])
        position = int(np.searchsorted(from_above, size - n_larger))
        n_larger += int(from_above[position] - counts[::-1][position])
        known = first + len(counts) - 1 - position
    assert known is not None
    return float(_from_bits(known)), n_larger


def _merged(counts: Sequence[tuple[int, np.ndarray]]) -> tuple[int, np.ndarray]:
    """Return the counts of all parts as one; each begins with the number of its first bin."""
    first = min(start for start, count in counts if len(count))
    merged = np.zeros(max(start + len(count) for start, count in counts) - first, dtype=np.int64)
    for start, count in counts:
        if len(count):
            merged[start - first : start - first + len(count)] += count
    return first, merged


def _bin_of_last(counts: Sequence[tuple[int, np.ndarray]], size: int) -> tuple[int, int]:
    """Return the bin that holds the last of the smallest keys, and how many are in bins below."""
    first, merged = _merged(counts)
    up_to = np.cumsum(merged)
    position = int(np.searchsorted(up_to, size))
    return first + position, int(up_to[position] - merged[position])


def _least_of(part: "Part", sums, request, function: Callable, args: tuple) -> float:
    """Return the smallest value of a function of the errors."""
    rows = part.rows_of(request.k, request.fold, request.role)
    errors = sums.class_errors(rows, request.k, request.n_members)
    return float(function(errors, *args).min(initial=np.inf))


def _groups_of(part: "Part", sums, request, function: Callable, args: tuple) -> tuple:
    """Return the group and the number of each row of a request."""
    rows = part.rows_of(request.k, request.fold, request.role)
    return function(sums.class_errors(rows, request.k, request.n_members), *args)


def _count_groups(part: "Part", sums, request, function: Callable, args: tuple, n_groups: int):
    groups, _ = _groups_of(part, sums, request, function, args)
    return np.bincount(groups, minlength=n_groups)


def _exact_groups_of(part: "Part", sums, request, function: Callable, args: tuple, n_groups: int):
    groups, numbers = _groups_of(part, sums, request, function, args)
    return exact_group_sums(groups, numbers, n_groups)


def _count_bits(part: "Part", sums, request, known, before: int, shift: int) -> tuple:
    """Return how many errors have the same first bits, of those that begin with the known ones."""
    rows = part.rows_of(request.k, request.fold, request.role)
    bits = _to_bits(sums.class_errors(rows, request.k, request.n_members))
    if known is not None:
        bits = bits[bits >> np.uint64(before) == known]
    if not len(bits):
        return 0, np.zeros(0, dtype=np.int64)
    bits >>= np.uint64(shift)
    first = int(bits.min())
    return first, np.bincount((bits - np.uint64(first)).astype(np.intp))


_SIGN = np.uint64(1 << 63)


def _to_bits(errors: np.ndarray) -> np.ndarray:
    """Return whole numbers in the order of the errors, which may be a little below 0."""
    errors = errors + 0.0  # -0 becomes 0
    bits = errors.view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _from_bits(number: int) -> np.float64:
    bits = np.uint64(number)
    return (bits ^ _SIGN if bits & _SIGN else ~bits).view(np.float64)


def _bins(keys: np.ndarray) -> np.ndarray:
    bounded = np.clip(keys, -_FARTHEST, np.nextafter(_FARTHEST, 0))
    return ((bounded + _FARTHEST) * _BINS_A_UNIT).astype(np.int16)


def _keys_near_rank(smallest: SmallKeys, share: float) -> tuple:
    """Return the keys near the rank that the last one has if this part has its share of the rows.

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


def up_to(part: "Part", smallest: SmallKeys, last: float, last_row: int) -> np.ndarray:
    """Return the positions of rows with keys up to the last one, of equal ones by their number."""
    start, rows, keys, _ = smallest
    chosen = keys < last
    chosen |= (keys == last) & (rows <= last_row - start)
    return rows[chosen]
