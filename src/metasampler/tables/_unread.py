"""Cells that could not be read: they count as missing, and are reported by column."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "MOST_UNREAD",
    "may_be_unread",
    "note_read",
    "note_unread",
    "quiet_cells",
    "unread_cells",
]

#: The share of the cells with a value that may be unreadable. With more, the column holds something
#: else than it did when the model was fitted.
MOST_UNREAD = 0.1

# In a fit, texts with digits may be names of another kind, such as codes of diseases.
_MOST_WITH_DIGITS = 0.01


@dataclass
class _Column:
    """What is known of the cells of one column."""

    kind: str
    example: str
    #: The position of the first cell that could not be read.
    row: int
    n_unread: int = 0
    n_known: int = 0


class _Unread:
    """Cells that could not be read, in one table or in several that follow each other."""

    def __init__(self):
        # By who reads and by the name: what a cleaner has read, an encoder reads again.
        self._columns: dict[Any, _Column] = {}
        self._known: dict[Any, int] = {}
        self._start = 0
        self.reader: int = 0

    def next_rows(self, n_rows: int) -> None:
        """Count rows that are done: the next table begins after them."""
        self._start += n_rows

    def add_known(self, name: Any, n_known: int) -> None:
        """Count cells of a column that have a value."""
        key = self.reader, name
        self._known[key] = self._known.get(key, 0) + n_known

    def add_unread(self, name: Any, kind: str, unread: np.ndarray, levels, codes) -> None:
        """Note the cells of a column that could not be read, given by a mask of the rows."""
        if not unread.any():
            return
        first = int(np.argmax(unread))
        example, key = str(levels[codes[first]]), (self.reader, name)
        column = self._columns.setdefault(key, _Column(kind, example, self._start + first))
        column.n_unread += int(unread.sum())

    def settle(self) -> None:
        """Warn of cells that could not be read; raise a ValueError if there are too many."""
        for (reader, name), column in self._columns.items():
            n_known = self._known[reader, name]
            what = "cell is not a" if column.n_unread == 1 else "cells are not"
            plural = "" if column.n_unread == 1 else "s"
            text = (
                f"Column {name!r} held a {column.kind} in every row that fit saw: "
                f"{column.n_unread:,} of {n_known:,} {what} {column.kind}{plural}, for instance "
                f"{column.example[:60]!r} in row {column.row + 1:,}"
            )
            if column.n_unread > MOST_UNREAD * n_known:
                raise ValueError(
                    f"{text}. More than {MOST_UNREAD:.0%} cannot be read: it now holds something "
                    "else. Convert the column first, or make these cells missing values."
                )
            warnings.warn(f"{text}. They count as missing.", UserWarning, stacklevel=4)


_collecting: ContextVar[_Unread | None] = ContextVar("unread cells", default=None)


@contextmanager
def unread_cells(reader: Any = None) -> Iterator[_Unread]:
    """Judge all cells that are read within together; inside of another such block, it does.

    Tables that are read in chunks are so judged as a whole.
    """
    outer = _collecting.get()
    if outer is not None:
        before, outer.reader = outer.reader, id(reader)
        try:
            yield outer
        finally:
            outer.reader = before
        return
    found = _Unread()
    found.reader = id(reader)
    token = _collecting.set(found)
    try:
        yield found
    finally:
        _collecting.reset(token)
    found.settle()


@contextmanager
def quiet_cells() -> Iterator[None]:
    """Say nothing of cells that cannot be read: they have been read before."""
    token = _collecting.set(_Unread())
    try:
        yield
    finally:
        _collecting.reset(token)


def note_unread(name: Any, kind: str, values: np.ndarray, levels, codes) -> None:
    """Note which texts of a column could not be read as numbers or dates: they are NaN."""
    known = codes >= 0
    found = _collecting.get()
    assert found is not None, "columns are read within unread_cells"
    found.add_known(name, int(known.sum()))
    found.add_unread(name, kind, known & np.isnan(values), levels, codes)


def note_read(name: Any, values: np.ndarray) -> None:
    """Count the values of a column that needed no reading."""
    found = _collecting.get()
    if found is not None:
        found.add_known(name, int(np.count_nonzero(values == values)))


def may_be_unread(levels: np.ndarray, codes: np.ndarray):
    """Return what says whether a column may hold some texts that are not numbers or dates.

    Texts without a digit, such as "unknown", stand for a missing value in up to a tenth of the
    rows. Others are slips of the pen, in up to a hundredth.
    """
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))

    def may_miss(unread: np.ndarray) -> bool:
        with_digits = np.array([any(map(str.isdigit, str(level))) for level in levels[unread]])
        of_unread = counts[unread]
        return bool(
            of_unread.sum() <= MOST_UNREAD * counts.sum()
            and of_unread[with_digits].sum() <= _MOST_WITH_DIGITS * counts.sum()
        )

    return may_miss
