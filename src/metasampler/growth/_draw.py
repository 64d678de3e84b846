"""The sample of a member (Algorithm 1), on arrays: a key for every row, and the smallest keys."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Candidates",
    "Rule",
    "apply_rule",
    "draw_rows",
    "draw_sample",
    "race_keys",
    "race_keys_of",
    "sample_sizes",
    "size_of_larger",
]

# With more keys than this the smallest are looked for below a bound, which some of the keys give.
_MANY, _SOME = 1 << 16, 1 << 12

# Philox yields four 64-bit words per value of its counter.
_WORDS_PER_COUNT = 4

# Rows whose keys are computed at once: they stay in the processor's cache.
_CHUNK = 1 << 15


# ---------------------------------------------------------------------- the sample of a member


class Candidates(NamedTuple):
    """The rows of one larger class from which a rule draws."""

    #: The position of the class in the classes.
    k: int
    #: Numbers of the rows, in ascending order.
    rows: np.ndarray
    #: Their random keys: the rows with the smallest ones are a draw by the weights of the rows.
    keys: np.ndarray
    #: Their errors, 1 - p(true class), by the members so far; None before the first member.
    errors: Any


#: Draws from one larger class: ``rule(candidates, size)`` returns positions of candidates.
Rule = Callable[[Candidates, int], np.ndarray]


def draw_sample(
    class_rows: Sequence[np.ndarray],
    sizes: np.ndarray,
    minority: int,
    keys: np.ndarray,
    rule: Rule | None = None,
    class_errors: Callable[[int, np.ndarray], np.ndarray] | None = None,
) -> np.ndarray:
    """Return the rows of a member: ``sizes`` of each class (Algorithm 1), in ascending order.

    Parameters
    ----------
    class_rows : sequence of ndarray
        The rows of each class that the member may see.
    sizes : ndarray of int
        How many of them it gets, see `sample_sizes`.
    minority : int
        The smallest class, which no rule applies to.
    keys : ndarray
        The random key of every row.
    rule : callable, default=None
        Draws from each larger class; None draws uniformly.
    class_errors : callable, default=None
        ``class_errors(k, rows)`` returns the errors of rows of a class.
    """
    sample = []
    for k, (rows, size) in enumerate(zip(class_rows, sizes.tolist(), strict=True)):
        if size == len(rows):
            sample.append(rows)
        elif rule is None or k == minority:
            sample.append(rows[draw_rows(keys[rows], size)])
        else:
            errors = None if class_errors is None else class_errors(k, rows)
            sample.append(rows[apply_rule(rule, Candidates(k, rows, keys[rows], errors), size)])
    joined = np.concatenate(sample)
    # The rows of each class ascend: a stable sort finds such runs, and only merges them.
    joined.sort(kind="stable")
    return joined


def apply_rule(rule: Rule, candidates: Candidates, size: int) -> np.ndarray:
    """Return the positions that a rule draws, which may be a user's own."""
    drawn = np.asarray(rule(candidates, size))
    if drawn.shape != (size,):
        name = getattr(rule, "__name__", type(rule).__name__)
        raise ValueError(
            f"The rule {name} must return the positions of {size:,} of the "
            f"{len(candidates.rows):,} rows; it returned an array of shape {drawn.shape}. A key "
            "that is NaN is never drawn: check that its weights are numbers for all errors."
        )
    return drawn


def sample_sizes(
    counts: np.ndarray,
    minority: int,
    sampling_ratio: float,
    max_rows: int | None = None,
    growth: float = 0.0,
) -> np.ndarray:
    """Return how many rows of each class a member gets, given how many it may see.

    A class that is n times as large as the smallest gives ``n**growth`` times as many rows.
    """
    most: Any = size_of_larger(counts, minority, sampling_ratio)
    if growth and np.isfinite(sampling_ratio):
        least = max(int(counts[minority]), 1)
        times = sampling_ratio * (np.maximum(counts, least) / least) ** growth
        most = np.maximum(np.rint(times * least), 1).astype(counts.dtype)
    sizes = np.minimum(counts, most)
    sizes[minority] = counts[minority]
    return sizes if max_rows is None else np.minimum(sizes, max_rows)


def size_of_larger(counts: np.ndarray, minority: int, sampling_ratio: float) -> int:
    """Return how many rows of each larger class a member gets, if the class has that many."""
    if np.isinf(sampling_ratio):
        return int(counts.max())
    return max(1, round(sampling_ratio * int(counts[minority])))


# ---------------------------------------------------------------------- keys


def race_keys(key: np.ndarray, draw: int, start: int, stop: int) -> np.ndarray:
    """Return logarithms of the exponential variates of the rows ``start`` to ``stop``.

    Each row's variate is addressed by ``(key, draw, row)`` in a counter-based generator, so
    it does not matter in which chunks, or on which machine, they are computed.
    """
    keys = np.empty(stop - start)
    for first in range(start, stop, _CHUNK):
        last = min(first + _CHUNK, stop)
        keys[first - start : last - start] = _race_keys_of_chunk(key, draw, first, last)
    return keys


def _race_keys_of_chunk(key: np.ndarray, draw: int, start: int, stop: int) -> np.ndarray:
    offset = start % _WORDS_PER_COUNT
    generator = np.random.Generator(
        np.random.Philox(key=key, counter=[start // _WORDS_PER_COUNT, draw, 0, 0])
    )
    # `random` takes exactly one word per number; `standard_exponential` would not.
    keys = generator.random(stop - start + offset)[offset:]
    # Zero has no logarithm; 2**-54 stands for it, below every other value the generator gives.
    np.maximum(keys, 2.0**-54, out=keys)
    np.log(keys, out=keys)
    np.negative(keys, out=keys)
    return np.log(keys, out=keys)


def race_keys_of(key: np.ndarray, draw: int, rows: np.ndarray) -> np.ndarray:
    """Return the numbers of `race_keys` for some rows, given in ascending order.

    They are computed in chunks, so that the rows in between take no memory.
    """
    keys = np.empty(len(rows))
    if not len(rows):
        return keys
    n_rows = int(rows[-1]) + 1
    for start in range(int(rows[0]) // _CHUNK * _CHUNK, n_rows, _CHUNK):
        stop = min(start + _CHUNK, n_rows)
        first, last = np.searchsorted(rows, (start, stop))
        if first < last:
            chunk = _race_keys_of_chunk(key, draw, start, stop)
            keys[first:last] = chunk[rows[first:last] - start]
    return keys


def draw_rows(keys: np.ndarray, size: int) -> np.ndarray:
    """Return the positions of the ``size`` smallest keys, in ascending order.

    With keys ``race_keys(...) - log_weights`` this is a weighted draw without replacement: every
    row runs for an exponential time whose rate is its weight, and the first to arrive are drawn. It
    takes linear time and no normalised weights. Among equal keys the first ones count.
    """
    if size >= len(keys):
        return np.arange(len(keys))
    if size < 1:
        return np.empty(0, dtype=np.intp)
    if len(keys) > _MANY and size < len(keys) // 4:
        # Most keys are far from being drawn: a bound on the last one leaves few to look at.
        some = np.sort(keys[:: len(keys) // _SOME])
        rank = int(1.3 * size * len(some) / len(keys)) + 50
        near = np.flatnonzero(keys <= some[min(rank, len(some) - 1)])
        if size < len(near):
            return near[_smallest(keys[near], size)]
    return _smallest(keys, size)


def _smallest(keys: np.ndarray, size: int) -> np.ndarray:
    last = np.partition(keys, size - 1)[size - 1]
    positions = np.flatnonzero(keys <= last)
    n_spare = len(positions) - size
    if n_spare:
        # Any of the equal keys could be taken: the first ones count.
        tied = np.flatnonzero(keys[positions] == last)
        positions = np.delete(positions, tied[-n_spare:])
    return positions
