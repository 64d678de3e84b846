"""Ranks of many scores in little memory.

Scores lie in a file, in the order of the rows. They are put into buckets by size, as a sample
of them tells, and each bucket is sorted alone. Scores that equal the edge of a bucket have a bucket
of their own, which needs no sorting: however many rows share a score, no bucket to be sorted is
much larger than the others.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_ENTRY = np.dtype([("score", "<f8"), ("row", "<i8")])


def rank_scores(scores: Path, ranks: Path, *, at_once: int = 1_000_000) -> None:
    """Write the rank of each score, as integers: 1 is the highest, and of equal ones the first.

    Scores are 64-bit floats, one after the other, of which ``at_once`` may be in memory.
    """
    n_rows = scores.stat().st_size // 8
    if n_rows <= at_once:
        values = np.fromfile(scores, "<f8")
        _ranks_of(values, np.arange(n_rows), 0)[1].astype("<i8").tofile(ranks)
        return
    edges = _edges(scores, n_rows, at_once)
    buckets = [ranks.with_name(f"bucket-{number}") for number in range(2 * len(edges) + 1)]
    _fill(scores, edges, buckets, at_once)
    written = np.memmap(ranks, "<i8", "w+", shape=(n_rows,))
    start = 0
    # From the highest scores down.
    for number in range(len(buckets) - 1, -1, -1):
        path = buckets[number]
        n_entries = path.stat().st_size // _ENTRY.itemsize
        if number % 2:
            # All scores are the edge, and the rows are in order.
            for position in range(0, n_entries, at_once):
                entries = np.fromfile(path, _ENTRY, at_once, offset=position * _ENTRY.itemsize)
                first = start + position + 1
                written[entries["row"]] = np.arange(first, first + len(entries))
        elif n_entries:
            entries = np.fromfile(path, _ENTRY)
            rows, places = _ranks_of(entries["score"], entries["row"], start)
            written[rows] = places
        start += n_entries
        path.unlink()
    written.flush()


def _ranks_of(
    scores: NDArray[np.float64], rows: NDArray[np.int64], start: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows, and the ranks of their scores after ``start`` higher ones."""
    order = np.argsort(-scores, kind="stable")
    places = np.empty(len(scores), dtype=np.int64)
    places[order] = np.arange(start + 1, start + 1 + len(scores))
    return rows, places


def _edges(scores: Path, n_rows: int, at_once: int) -> NDArray[np.float64]:
    """Return scores that part the rows into buckets of about a third of what memory may hold."""
    every = max(1, n_rows // 100_000)
    sample = np.array(np.memmap(scores, "<f8", "r")[::every])
    n_buckets = int(np.ceil(3 * n_rows / at_once))
    return np.unique(np.quantile(sample, np.arange(1, n_buckets) / n_buckets, method="nearest"))


def _fill(scores: Path, edges: NDArray[np.float64], buckets: list[Path], at_once: int) -> None:
    """Write each score with its row into the file of its bucket."""
    n_rows = scores.stat().st_size // 8
    step = max(1, at_once // 4)
    with ExitStack() as stack:
        files = [stack.enter_context(open(path, "wb")) for path in buckets]
        for position in range(0, n_rows, step):
            values = np.fromfile(scores, "<f8", step, offset=8 * position)
            # Even numbers lie between edges, odd ones on them.
            sides = [np.searchsorted(edges, values, side=side) for side in ("left", "right")]
            number = sides[0] + sides[1]
            entries = np.empty(len(values), _ENTRY)
            entries["score"], entries["row"] = values, np.arange(position, position + len(values))
            for each in np.unique(number):
                files[each].write(entries[number == each].tobytes())
