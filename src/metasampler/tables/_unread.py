"""Cells that could not be read: they count as missing, and are reported by column.

There is one rule for them. A *placeholder* says that there is no value: ``-``, ``?``, ``null`` or
``0000-00-00``. It is missing in any number of rows. A *word* without digits, such as ``unknown``,
may stand for a missing value in up to a tenth of the rows. Anything else is a *slip of the pen*, in
up to a hundredth.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metasampler._warnings import warn_user

__all__ = [
    "FEWEST_TO_JUDGE",
    "MOST_WITH_DIGITS",
    "Slips",
    "are_placeholders",
    "judge_together",
    "note_column",
    "note_read",
    "note_unread",
    "noted_cells",
    "quiet_cells",
    "separators_of",
    "unread_cells",
]

#: The share of the cells with a value that may be unreadable. With more, the column holds something
#: else than it did when the model was fitted.
MOST_UNREAD = 0.1

# With at most this share of other cells, a column is still said to be nearly numbers or dates.
_MOST_NEARLY = 0.2

#: With fewer values one bad cell is more than this share, and says nothing of the others.
FEWEST_TO_JUDGE = 20

#: In a fit, texts with digits may be names of another kind, such as codes of diseases.
MOST_WITH_DIGITS = 0.01

# What the readers of files take for a missing value.
_NOTHING = {"", "nan", "na", "n/a", "null", "none", "<na>", "nat", "#n/a"}
_SAYS_SOMETHING = re.compile(r"[^\W_0]")


def are_placeholders(levels) -> np.ndarray:
    """Return which texts stand for no value: words for it, or signs and zeros alone."""
    says = [_SAYS_SOMETHING.search(str(level)) is not None for level in levels]
    return _are_nothing(levels) | ~np.array(says, dtype=bool)


def _are_nothing(levels) -> np.ndarray:
    return np.array([str(level).strip().casefold() in _NOTHING for level in levels], dtype=bool)


@dataclass
class _Column:
    """What is known of the cells of one column."""

    kind: str
    example: str
    #: The position of the first cell that could not be read.
    row: int
    n_unread: int
    #: How many of them are placeholders, which say nothing of what the column holds.
    n_placeholders: int

    @property
    def says_nothing(self) -> bool:
        """Whether all of them are placeholders."""
        return self.n_unread == self.n_placeholders


class _Unread:
    """Cells that could not be read, in one table or in several that follow each other."""

    def __init__(self):
        # By reader and name: what a cleaner has read, an encoder reads again.
        self._columns: dict[Any, _Column] = {}
        self._known: dict[Any, int] = {}
        self._notes: dict[Any, str] = {}
        self._start = 0
        # Readers by their order: in another process they are other objects.
        self._readers: dict[int, int] = {}
        self.reader: int = 0
        #: How commas stand in columns of numbers, if all tables were looked at before.
        self.separators: dict[Any, Any] = {}

    def next_rows(self, n_rows: int) -> None:
        """Count rows that are done: the next table begins after them."""
        self._start += n_rows

    def add_known(self, name: Any, n_known: int) -> None:
        """Count cells of a column that have a value."""
        key = self._key(name)
        self._known[key] = self._known.get(key, 0) + n_known

    def add_unread(self, name: Any, kind: str, unread: np.ndarray, levels, codes) -> None:
        """Note the cells of a column that could not be read, given by a mask of the rows."""
        if not unread.any():
            return
        # An example tells more than a placeholder does.
        placeholders = unread & np.append(are_placeholders(levels), False)[codes]
        n_unread, n_placeholders = int(unread.sum()), int(placeholders.sum())
        first = int(np.argmax(unread & ~placeholders if n_unread > n_placeholders else unread))
        row, example = self._start + first, str(levels[codes[first]])
        self._add(self._key(name), _Column(kind, example, row, n_unread, n_placeholders))

    def _add(self, key: Any, column: _Column) -> None:
        before = self._columns.get(key)
        if before is not None:
            shown = column if before.says_nothing and not column.says_nothing else before
            column = replace(
                shown,
                n_unread=before.n_unread + column.n_unread,
                n_placeholders=before.n_placeholders + column.n_placeholders,
            )
        self._columns[key] = column

    def _key(self, name: Any) -> Any:
        return self._readers.setdefault(self.reader, len(self._readers)), name

    def add(self, later: "_Unread") -> None:
        """Add what is known of the rows that follow."""
        for key, column in later._columns.items():
            self._add(key, replace(column, row=self._start + column.row))
        for key, n_known in later._known.items():
            self._known[key] = self._known.get(key, 0) + n_known
        self._notes = later._notes | self._notes
        self.next_rows(later._start)

    def add_note(self, name: Any, text: str) -> None:
        """Note once what is odd in a column that could be read."""
        self._notes.setdefault(name, f"Column {name!r} {text}.")

    def settle(self) -> None:
        """Warn of cells that could not be read; raise a ValueError if there are too many."""
        for (reader, name), column in self._columns.items():
            n_known = self._known[reader, name]
            cells = "cell" if n_known == 1 else "cells"
            what = f"{cells} is not a" if column.n_unread == 1 else f"{cells} are not"
            plural = "" if column.n_unread == 1 else "s"
            text = (
                f"Column {name!r} was read as {column.kind}s by the fit: "
                f"{column.n_unread:,} of {n_known:,} {what} {column.kind}{plural}, for instance "
                f"{column.example[:60]!r} in row {column.row + 1:,}"
            )
            n_judged = n_known - column.n_placeholders
            n_wrong = column.n_unread - column.n_placeholders
            if n_judged >= FEWEST_TO_JUDGE and n_wrong > MOST_UNREAD * n_judged:
                raise ValueError(
                    f"{text}. More than {MOST_UNREAD:.0%} cannot be read: it now holds something "
                    "else. Convert the column first, or make these cells missing values."
                )
            counts = "It counts" if column.n_unread == 1 else "They count"
            warn_user(f"{text}. {counts} as missing.")
        for text in self._notes.values():
            warn_user(text)


_collecting: ContextVar[_Unread | None] = ContextVar("unread cells", default=None)


@contextmanager
def noted_cells(separators: dict[Any, Any]) -> Iterator[_Unread]:
    """Note what cannot be read, and leave it to the caller to judge it with other tables."""
    found = _Unread()
    found.separators = separators
    token = _collecting.set(found)
    try:
        yield found
    finally:
        _collecting.reset(token)


def judge_together(tables: list[_Unread]) -> None:
    """Warn of cells that could not be read in tables that follow each other, or raise an error."""
    found = _Unread()
    for table in tables:
        found.add(table)
    found.settle()


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
    outer, quiet = _collecting.get(), _Unread()
    quiet.separators = {} if outer is None else outer.separators
    token = _collecting.set(quiet)
    try:
        yield
    finally:
        _collecting.reset(token)


def note_unread(
    name: Any, kind: str, values: np.ndarray, levels, codes, *, were_texts: bool = False
) -> None:
    """Note which texts of a column could not be read as numbers or dates: they are NaN.

    A column that held texts in the fit may have held placeholders, which are then nothing new.
    """
    found = _collecting.get()
    assert found is not None, "columns are read within unread_cells"
    unread = np.isnan(values) & (codes >= 0)
    if unread.any():
        silent = are_placeholders(levels) if were_texts else _are_nothing(levels)
        # The last entry is for missing values, whose code is -1.
        unread &= ~np.append(silent, False)[codes]
    found.add_known(name, int(np.count_nonzero(unread) + np.count_nonzero(~np.isnan(values))))
    found.add_unread(name, kind, unread, levels, codes)


def note_column(name: Any, text: str) -> None:
    """Note what is odd in a column that could be read, as the rest of a sentence."""
    found = _collecting.get()
    if found is not None:
        found.add_note(name, text)


def separators_of(name: Any) -> Any:
    """Return how commas stand in a column by all tables that are read together, if known."""
    found = _collecting.get()
    return None if found is None else found.separators.get(name)


def note_read(name: Any, values: np.ndarray) -> None:
    """Count the values of a column that needed no reading."""
    found = _collecting.get()
    if found is not None:
        found.add_known(name, int(np.count_nonzero(values == values)))


class Slips:
    """Whether a column may hold some texts that are not what all others are.

    Parameters
    ----------
    levels : ndarray of str
        The distinct texts.
    codes : ndarray of int
        For each row a position in ``levels``; -1 where the value is missing.
    """

    def __init__(self, levels: np.ndarray, codes: np.ndarray):
        self._levels = levels
        self._counts = np.bincount(codes[codes >= 0], minlength=len(levels))

    def are_rare(self, unread: np.ndarray) -> bool:
        """Return whether these of the distinct texts may count as missing values."""
        counts, levels = self._counts[unread], self._levels[unread]
        told = ~are_placeholders(levels)
        with_digits = np.array([any(map(str.isdigit, str(level))) for level in levels], dtype=bool)
        n_known = self._counts.sum() - counts[~told].sum()
        return bool(
            counts[told].sum() <= MOST_UNREAD * n_known
            and counts[told & with_digits].sum() <= MOST_WITH_DIGITS * n_known
        )

    def unread_if_few(self, unread: np.ndarray) -> np.ndarray | None:
        """Return which distinct texts a reader should be told of: too many to be slips, but few."""
        told = unread & ~are_placeholders(self._levels)
        n_told = self._counts[told].sum()
        return told if 0 < n_told <= _MOST_NEARLY * self._counts.sum() else None

    def nearly_all_differ(self, read: np.ndarray) -> bool:
        """Return whether the rows of these of the distinct texts have another one each, nearly."""
        return bool(2 * np.count_nonzero(read) > self._counts[read].sum())
