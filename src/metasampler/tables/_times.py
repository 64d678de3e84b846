"""Points in time as numbers that can be compared."""

import numpy as np

from metasampler.tables._columns import column_kind, is_empty, numbers_of, texts_of
from metasampler.tables._dates import days_of_texts, find_date_format

__all__ = ["time_numbers"]


def time_numbers(values, name: str = "time") -> tuple[np.ndarray, bool]:
    """Return points in time as numbers, and whether they were dates, which become days.

    Parameters
    ----------
    values : array-like or column of a frame
        Numbers, dates, or texts that are dates.
    name : str, default="time"
        What errors call them.

    Returns
    -------
    numbers : ndarray of float
    are_days : bool
        Whether the numbers are days since 1970.
    """
    column = values
    if not (hasattr(values, "iat") or type(values).__module__.startswith("polars")):
        import pandas

        # An index of dates keeps its zone, as a list of texts keeps its missing values.
        column = pandas.Series(values if hasattr(values, "dtype") else np.asarray(values))
    if len(column) == 0 or is_empty(column):
        raise ValueError(f"{name} has no values.")
    kind = column_kind(column)
    if kind == "category":
        levels, codes = texts_of(column)
        written = find_date_format(levels)
        if written is None:
            raise ValueError(
                f"{name} must hold numbers or dates, as 2024-03-31; got {str(levels[0])[:40]!r}."
            )
        numbers = days_of_texts(levels, codes, written.name)
    elif kind in ("number", "date"):
        numbers = numbers_of(column, kind)
    else:
        raise ValueError(f"{name} must hold numbers or dates.")
    n_missing = int(np.count_nonzero(~np.isfinite(numbers)))
    if n_missing:
        raise ValueError(
            f"{name} has no value in {n_missing:,} of {len(numbers):,} rows: fill or remove them."
        )
    return numbers, kind != "number"
