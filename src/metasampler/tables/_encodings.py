"""What an encoder knows of one column, by the kind of column: plain values and arrays."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np

from metasampler.tables._columns import (
    column_kind,
    first_value,
    is_empty,
    numbers_of,
    texts_of,
)
from metasampler.tables._dates import (
    PARTS,
    days_of_clocks,
    days_of_counts,
    days_of_texts,
    find_date_format,
    find_packed_format,
    is_count_format,
    parts_of,
)
from metasampler.tables._numbers import Separators, numbers_of_texts
from metasampler.tables._text import TextModel
from metasampler.tables._unread import (
    FEWEST_TO_JUDGE,
    Slips,
    note_column,
    note_read,
    note_unread,
    separators_of,
)

__all__ = [
    "CategoryColumn",
    "Column",
    "DateColumn",
    "DateDifference",
    "DurationColumn",
    "EmptyColumn",
    "IgnoredColumn",
    "NumberColumn",
    "TextColumn",
    "read_numbers",
]


@dataclass(frozen=True)
class Column:
    """One column of a table, and the numbers that stand for it.

    Attributes
    ----------
    name : object
        The column's name in the table.
    """

    kind: ClassVar[str]
    name: Any

    @property
    def feature_names(self) -> list[str]:
        """The names of the numbers."""
        return [str(self.name)]

    def encode(self, column) -> list[np.ndarray | float]:
        """Return the numbers of a column of a later table, one array for each name."""
        raise NotImplementedError


@dataclass(frozen=True)
class NumberColumn(Column):
    """Numbers and booleans."""

    kind = "number"

    def encode(self, column):
        """Return the numbers."""
        return [read_numbers(column, self.name, self.kind)]


@dataclass(frozen=True)
class DurationColumn(NumberColumn):
    """Durations and times of day, in days."""

    kind = "duration"


@dataclass(frozen=True)
class EmptyColumn(Column):
    """A column that had no value: later values say nothing."""

    kind = "empty"

    def encode(self, column):
        """Return missing values."""
        return [np.nan]


@dataclass(frozen=True)
class IgnoredColumn(Column):
    """A column of free text that is not used."""

    kind = "text"

    @property
    def feature_names(self):
        """There are none."""
        return []

    def encode(self, column):
        """Return nothing."""
        return []


@dataclass(frozen=True)
class CategoryColumn(Column):
    """A text or a category, with the levels that have a code of their own: 1, 2, ..."""

    kind = "category"
    levels: list[str] = field(default_factory=list)

    def encode(self, column):
        """Return the codes; rare and unknown levels have 0."""
        levels, codes = _texts(column, self.name)
        code_of = {level: code for code, level in enumerate(self.levels, start=1)}
        of_level = np.array([code_of.get(level, 0) for level in levels], dtype=float)
        # The last entry is for missing values, whose code is -1.
        return [np.append(of_level, np.nan)[codes]]


@dataclass(frozen=True)
class DateColumn(Column):
    """Moments, with the `PARTS` of them that vary."""

    kind = "date"
    parts: list[str] = field(default_factory=lambda: list(PARTS))

    @property
    def feature_names(self):
        """One name for each part, such as "signup (hour)"."""
        return [f"{self.name} ({part})" for part in self.parts]

    def encode(self, column):
        """Return the parts."""
        return self.parts_of(read_numbers(column, self.name, self.kind))

    def parts_of(self, days: np.ndarray) -> list[np.ndarray]:
        """Return the parts of days since 1970."""
        of_all = parts_of(days)
        return [of_all[part] for part in self.parts]


@dataclass(frozen=True)
class TextColumn(Column):
    """Free text, with its words and what they say."""

    kind = "text"
    model: TextModel

    @property
    def feature_names(self):
        """One name for each topic and each score."""
        return [f"{self.name} ({name})" for name in self.model.names]

    def encode(self, column):
        """Return topics and scores; a missing text has missing ones."""
        levels, codes = _texts(column, self.name)
        of_level = self.model.numbers_of(levels)
        return list(np.vstack([of_level, np.full(of_level.shape[1], np.nan)])[codes].T)


@dataclass(frozen=True)
class DateDifference:
    """Days from one column of dates to another."""

    first: Any
    second: Any

    @property
    def feature_name(self) -> str:
        """The name of the number."""
        return f"{self.second} - {self.first} (days)"


def _texts(column, name):
    """Return levels and codes of a column, if it holds texts or what can be one."""
    if column_kind(column) == "other":
        _refuse(column, name, "text or a category", "other", "Turn it into texts first.")
    return texts_of(column)


def read_numbers(column, name, kind: str, written: str | None = None) -> np.ndarray:
    """Return a column as numbers, also if it holds them as texts; what cannot be read is NaN.

    ``written`` is how `TableCleaner` has found numbers, dates or times of day written in texts, if
    they were texts.
    """
    if is_empty(column):
        return np.full(len(column), np.nan)
    found = column_kind(column)
    is_counted = kind == "date" and found == "number" and is_count_format(written)
    if found == kind or is_counted:
        values = numbers_of(column, found)
        note_read(name, values)
        return days_of_counts(values, written) if is_counted else values
    if found != "category":
        hint = _HINTS.get((kind, found), "")
        # Read as seconds, 20260331 would be a day of 1970.
        if (kind, found) == ("date", "number") and find_packed_format(
            numbers_of(column, found), is_named=True
        ):
            hint = hint.replace('column, unit="s"', 'column, format="%Y%m%d"')
        _refuse(column, name, f"a {kind}", found, hint)
    levels, codes = texts_of(column)
    is_formatted = written is not None
    if kind == "duration":
        values = days_of_clocks(levels, codes)
    elif kind == "date":
        if written is None:
            written = _written_date(column, name, levels, codes)
        values = days_of_texts(levels, codes, written)
    elif written is not None:
        values = numbers_of_texts(levels, codes, written)
    else:
        commas = separators_of(name) or Separators().add(levels, codes)
        values = numbers_of_texts(levels, codes, commas.format, truths=True)
        if not commas.is_clear:
            note_column(
                name,
                "held plain numbers in every row that fit saw, and now has commas before three "
                "digits. They are taken as standing between thousands. If they are decimal commas, "
                "write points",
            )
    # "1e400" is too large for a float.
    values = np.where(np.isinf(values), np.nan, values)
    note_unread(name, kind, values, levels, codes, were_texts=is_formatted)
    return values


def _written_date(column, name, levels, codes) -> str:
    """Return how texts are written in a column that held dates."""
    # Day and month are told apart by all values of a column, as `TableCleaner` does in its fit.
    written = find_date_format(levels, slips=Slips(levels, codes), only_clear=True)
    if written is None:
        is_few = np.count_nonzero(codes >= 0) < FEWEST_TO_JUDGE
        if is_few and find_date_format(levels) is None:
            return "year-month-day"  # so few cells may all be slips
        hint = (
            "Convert texts to dates first, for instance by pandas.to_datetime; a model of "
            "`metasampler fit`, or with a TableCleaner, reads them itself."
        )
        _refuse(column, name, "a date", "category", hint)
    return written.name


_HINTS = {
    ("date", "number"): "Convert numbers to dates first, for instance by "
    'pandas.to_datetime(column, unit="s").',
    ("number", "date"): "Convert dates to the numbers that they stand for first.",
}


def _refuse(column, name, held: str, found: str, hint: str = "") -> NoReturn:
    now = "something else" if found == "other" else f"a {found}"
    own = ("List", "Array", "Struct", "Object", "Binary")
    is_foreign = type(column).__module__.startswith("polars") and not str(column.dtype).startswith(
        own
    )
    if found == "other" and is_foreign:
        hint = (
            "polars has no type for periods and intervals of pandas: convert them in pandas, "
            "periods by dt.to_timestamp(), intervals by astype(str)."
        )
    raise ValueError(
        f"Column {name!r} held {held} in every row that fit saw, and now holds {now}, for instance "
        f"{first_value(column)!r}.{' ' if hint else ''}{hint}"
    )
