"""Points in time as numbers that can be compared."""

from typing import NamedTuple

import numpy as np

from metasampler.tables._columns import column_kind, is_empty, numbers_of, texts_of
from metasampler.tables._dates import days_of_texts, find_date_format

__all__ = ["Times", "time_numbers"]


class Times(NamedTuple):
    """Points in time as numbers.

    Attributes
    ----------
    numbers : ndarray of float
        Days since 1970, or numbers as they were.
    kind : str
        ``"number"``, ``"date"``, or how texts are written, as ``"year-month-day"``.
    """

    numbers: np.ndarray
    kind: str

    @property
    def days(self) -> np.ndarray:
        """The day of each row; numbers are taken as days."""
        return np.floor(self.numbers).astype(np.int64)


def time_numbers(values, name: str = "time", kind: str | None = None) -> Times:
    """Return points in time as numbers.

    Parameters
    ----------
    values : array-like or column of a frame
        Numbers, dates, or texts that are dates.
    name : str, default="time"
        What errors call them.
    kind : str, default=None
        How texts are written, if earlier rows have shown it.

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
        raise ValueError(f"{name} has no values.")
    found = column_kind(column)
    if found == "category":
        levels, codes = texts_of(column)
        if kind in (None, "number", "date"):
            date = find_date_format(levels)
            if date is None:
                raise ValueError(
                    f"{name} must hold numbers or dates, as 2024-03-31; got "
                    f"{str(levels[0])[:40]!r}."
                )
            kind = date.name
        numbers, found = days_of_texts(levels, codes, kind), kind
    elif found in ("number", "date"):
        numbers = numbers_of(column, found)
    else:
        raise ValueError(f"{name} must hold numbers or dates.")
    n_missing = int(np.count_nonzero(~np.isfinite(numbers)))
    if n_missing:
        raise ValueError(
            f"{name} has no value in {n_missing:,} of {len(numbers):,} rows: fill or remove them."
        )
    return Times(numbers, found)
