"""Points in time as numbers that can be compared."""

from typing import NamedTuple

import numpy as np

from metasampler.tables._columns import column_kind, is_empty, numbers_of, texts_of
from metasampler.tables._dates import (
    days_of_counts,
    days_of_texts,
    find_count_format,
    find_date_format,
    find_packed_format,
    is_count_format,
)
from metasampler.tables._numbers import numbers_of_texts
from metasampler.tables._unread import Slips

__all__ = ["NO_DAY", "Times", "time_numbers"]

#: The day of a row without a time.
NO_DAY = np.iinfo(np.int64).min


class Times(NamedTuple):
    """Points in time as numbers.

    Attributes
    ----------
    numbers : ndarray of float
        Days since 1970, or numbers as they were; NaN where there is none.
    kind : str
        ``"number"``, ``"date"``, or how dates are written, as ``"year-month-day"``.
    """

    numbers: np.ndarray
    kind: str

    @property
    def days(self) -> np.ndarray:
        """The day of each row, `NO_DAY` where there is none; numbers are taken as days."""
        known = np.isfinite(self.numbers)
        days = np.floor(np.where(known, self.numbers, 0)).astype(np.int64)
        return np.where(known, days, NO_DAY)


def time_numbers(
    values,
    name: str = "time",
    kind: str | None = None,
    *,
    dates: str = "auto",
    gaps: bool = False,
) -> Times:
    """Return points in time as numbers.

    Parameters
    ----------
    values : array-like or column of a frame
        Numbers, dates, or texts that are dates. Numbers that can be seconds since 1970, or
        fractions of these, become days.
    name : str, default="time"
        What errors call them.
    kind : str, default=None
        How dates are written, if earlier rows have shown it.
    dates : {"auto", "day-first", "month-first"}, default="auto"
        How to read dates such as 03/04/2026 if both orders fit.
    gaps : bool, default=False
        Whether values may be missing or unreadable. The caller then says so.

    Returns
    -------
    times : Times
    """
    if np.ndim(values) != 1:
        raise ValueError(
            f"{name} must have one number or date for each row, got shape {np.shape(values)}."
        )
    column = values
    if not (hasattr(values, "iat") or type(values).__module__.startswith("polars")):
        import pandas

        # An index of dates keeps its zone, as a list of texts keeps its missing values.
        column = pandas.Series(values if hasattr(values, "dtype") else np.asarray(values))
    if len(column) == 0 or is_empty(column):
        if gaps:
            return Times(np.full(len(column), np.nan), kind or "date")
        raise ValueError(f"{name} has no values.")
    found = column_kind(column)
    levels, codes = np.empty(0, dtype=object), np.full(len(column), -1)
    if found == "category":
        levels, codes = texts_of(column)
        if kind in (None, "date"):
            kind = _kind_of_texts(levels, codes, dates)
            if kind is None:
                raise ValueError(
                    f"{name} must hold numbers or dates, as 2024-03-31; got "
                    f"{_first_unread(levels)!r}."
                )
        read = numbers_of_texts(levels, codes, None) if kind == "number" else None
        numbers, found = days_of_texts(levels, codes, kind) if read is None else read, kind
    elif found in ("number", "date"):
        numbers = numbers_of(column, found)
        counted = kind if is_count_format(kind) else None
        if kind is None:
            counted = find_count_format(numbers) or find_packed_format(numbers, is_named=True)
        if found == "number" and counted:
            numbers, found = days_of_counts(numbers, counted), counted
    else:
        raise ValueError(f"{name} must hold numbers or dates.")
    missing = ~np.isfinite(numbers)
    if missing.any() and not gaps:
        said, unread = "", np.flatnonzero(missing & (codes >= 0))
        if len(unread):
            example = str(levels[codes[unread[0]]])[:40]
            said = f" that can be read, for instance {example!r} in row {unread[0] + 1:,},"
        raise ValueError(
            f"{name} has no value{said} in {int(missing.sum()):,} of {len(numbers):,} rows: fill "
            "or remove them."
        )
    return Times(numbers, found)


def _kind_of_texts(levels: np.ndarray, codes: np.ndarray, dates: str) -> str | None:
    """Return how texts are written as dates, ``"number"`` for most numbers, or None."""
    slips = Slips(levels, codes)
    written = find_date_format(levels, dates, slips=slips)
    if written is not None:
        return written.name
    numbers = numbers_of_texts(levels, np.arange(len(levels)), None)
    if not slips.are_rare(np.isnan(numbers)):
        return None
    return find_count_format(numbers) or find_packed_format(numbers, is_named=True) or "number"


def _first_unread(levels: np.ndarray) -> str:
    """Return a text that is not a date, to be shown."""
    places = np.arange(len(levels))
    days = [days_of_texts(levels, places, name) for name in ("day/month/year", "month/day/year")]
    unread = np.flatnonzero(np.isnan(days).all(axis=0))
    return str(levels[unread[0] if len(unread) else 0])[:40]
