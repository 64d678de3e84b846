"""One column of a data frame, whatever library the frame comes from.

By hand because the libraries that bridge pandas and polars are large, and two questions are enough:
what kind of column is it, and what are its values as numbers or as texts?
"""

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

__all__ = [
    "column_kind",
    "columns_of",
    "first_value",
    "is_empty",
    "is_frame",
    "is_missing",
    "is_plain_number",
    "numbers_of",
    "texts_of",
]

_MICROSECONDS_A_DAY = 86_400_000_000

# Values that are looked at together to find one that is not missing.
_A_FEW = 64


def is_frame(X) -> bool:
    """Return whether X is a data frame (pandas, polars): a table whose columns have types."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "shape")


def columns_of(X) -> dict:
    """Return the columns of a frame by name."""
    names = list(X.columns)
    unnamed = [place for place, name in enumerate(names) if not _is_name(name)]
    if unnamed:
        raise ValueError(
            f"Column {unnamed[0] + 1} of {len(names)} has no name ({names[unnamed[0]]!r}): give "
            "each column a name."
        )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"The columns {repeated[:10]} occur more than once; names must be unique.")
    return {name: X[name] for name in names}


def _is_name(name) -> bool:
    return isinstance(name, tuple) or not is_missing(name)


def _is_polars(column) -> bool:
    return type(column).__module__.startswith("polars")


def is_plain_number(column) -> bool:
    """Return whether NumPy reads a column as numbers without help."""
    if _is_polars(column):
        return column.dtype.is_numeric() and column.null_count() == 0
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf"


def column_kind(column) -> str:
    """Return what a column holds.

    It is one of ``"number"``, ``"date"``, ``"duration"`` (or a time of day), ``"category"`` and
    ``"other"``.
    """
    if _is_polars(column):
        return _kind_of_polars(column)
    kind = column.dtype
    if str(kind) == "category":
        return "category"
    code = getattr(kind, "kind", "O")
    if code in "biuf":
        return "number"
    if code in "mM":
        return "date" if code == "M" else "duration"
    if str(kind) in ("string", "str") or str(kind).startswith("interval["):
        return "category"
    if _is_period(column):
        return "date"
    return _kind_of_objects(column.tolist())


def _kind_of_polars(column) -> str:
    kind = column.dtype
    name = str(kind).split("(")[0]
    if kind.is_temporal():
        return "duration" if name in ("Duration", "Time") else "date"
    if kind.is_numeric() or name in ("Boolean", "Null"):
        return "number"
    if name in ("String", "Categorical", "Enum"):
        return "category"
    # What a type of another library means is not in its values.
    return _kind_of_objects(column.to_list()) if name in ("Object", "Binary") else "other"


def _is_period(column) -> bool:
    return str(column.dtype).startswith("period[")


def _kind_of_objects(values: list) -> str:
    """Return the kind of a column of Python objects, by what they are."""
    found = {type(value) for value in values if not is_missing(value)}
    if not found or all(issubclass(kind, (Number, Decimal, np.bool_)) for kind in found):
        return "other" if any(issubclass(kind, complex) for kind in found) else "number"
    moments = {date: "date", timedelta: "duration", time: "duration"}
    for moment, name in moments.items():
        if all(issubclass(kind, moment) for kind in found):
            return name
    if all(kind.__name__ == "Period" for kind in found):
        return "date"
    plain = (str, bytes, Number, Decimal, np.bool_, date, np.generic)
    others = {kind.__name__ for kind in found if not issubclass(kind, plain)}
    return "category" if others <= {"Interval"} else "other"


def is_empty(column) -> bool:
    """Return whether a column has missing values only: such a column has no kind."""
    if _is_polars(column):
        if column.dtype.is_float():
            return bool(column.is_nan().fill_null(True).all())
        if str(column.dtype) == "Object":
            return all(map(is_missing, column.to_list()))
        return column.null_count() == len(column)
    if len(column) and not is_missing(column.iat[0]):
        # Nearly always: the rest of the column need not be read.
        return False
    if column.dtype == object:
        # By hand: pandas cannot compare a decimal that signals.
        return all(map(is_missing, column.tolist()))
    return bool(column.isna().all())


def first_value(column):
    """Return the first value of a column that is not missing, or a text that shows it."""
    if _is_polars(column) and column.dtype.is_temporal():
        # As a text: polars has moments for which Python has none.
        return str(column.drop_nulls().head(1).to_numpy()[0])
    try:
        value = next(value for value in _one_by_one(column) if not is_missing(value))
        return value.to_list() if _is_polars(value) else value
    except (OverflowError, ValueError):
        # polars has moments, also inside of other values, for which Python has none.
        return str(column.dtype)


def _one_by_one(column) -> Iterator[Any]:
    """Yield the values of a column without making Python objects of all of them at once."""
    if _is_polars(column):
        yield from column
        return
    # pandas makes 10,000 moments where the first is asked for.
    for start in range(0, len(column), _A_FEW):
        yield from column.iloc[start : start + _A_FEW]


def is_missing(value) -> bool:
    """Return whether a value stands for none: None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and value != value


def numbers_of(column, kind: str) -> np.ndarray:
    """Return a column of numbers, dates or durations as floats; dates are days since 1970."""
    if kind in ("date", "duration"):
        return _days_of(column)
    if _is_polars(column):
        if str(column.dtype).startswith(("Object", "List")):
            return _floats(column.to_list())
        import polars

        return column.cast(polars.Float64, strict=False).to_numpy().astype(float)
    if getattr(column.dtype, "kind", "O") == "O" and column.dtype == object:
        return _floats(column.tolist())
    # Nullable types have a missing value of their own.
    return column.to_numpy(dtype=float, na_value=np.nan)


def _floats(values: list) -> np.ndarray:
    return np.array([np.nan if is_missing(value) else _float(value) for value in values])


def _float(value) -> float:
    try:
        return float(value)
    except OverflowError:  # Python's integers have no end
        return np.inf if value > 0 else -np.inf


def _days_of(column) -> np.ndarray:
    if _is_polars(column):
        return _days_of_polars(column)
    import pandas

    if _is_period(column):
        column = column.dt.to_timestamp()
    if getattr(column.dtype, "kind", "O") == "m":
        ticks = column.to_numpy().astype("timedelta64[us]")
    elif isinstance(first_value(column), (timedelta, time)):
        return np.array([np.nan if is_missing(value) else _part_of_day(value) for value in column])
    else:
        if column.dtype == object and type(first_value(column)).__name__ == "Period":
            column = column.map(lambda value: value.to_timestamp(), na_action="ignore")
        stamps = pandas.to_datetime(column, utc=True, errors="coerce")
        ticks = stamps.dt.tz_localize(None).to_numpy()
        # Microseconds end before the days of other types do.
        coarse = {"s": 86_400, "ms": 86_400_000}.get(np.datetime_data(ticks.dtype)[0])
        if coarse is not None:
            return np.where(np.isnat(ticks), np.nan, ticks.astype("int64") / coarse)
        ticks = ticks.astype("datetime64[us]")
    days = ticks.astype("int64") / _MICROSECONDS_A_DAY
    return np.where(np.isnat(ticks), np.nan, days)


def _days_of_polars(column) -> np.ndarray:
    import polars

    # Its numbers: polars has moments far beyond those that can be converted.
    name = str(column.dtype).split("(")[0]
    unit = {"Date": "D", "Time": "ns"}.get(name) or column.dtype.time_unit
    ticks = column.to_physical().cast(polars.Float64).to_numpy()
    if unit == "ns":
        # Whole microseconds, as in the other units.
        return np.floor(ticks / 1000) / _MICROSECONDS_A_DAY
    a_day = {"D": 1, "us": _MICROSECONDS_A_DAY, "ms": _MICROSECONDS_A_DAY / 1000}
    return ticks / a_day[unit]


def _part_of_day(value: time | timedelta) -> float:
    if isinstance(value, time):
        value = datetime.combine(date.min, value.replace(tzinfo=None)) - datetime.min
    return value / timedelta(days=1)


def texts_of(column) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of a column as texts, and for each row which one it has.

    Returns
    -------
    levels : ndarray of str
        In no particular order.
    codes : ndarray of int
        Positions in ``levels``; -1 where the value is missing.
    """
    if _is_polars(column):
        import polars

        # polars has words of its own for booleans and for whole numbers that are floats.
        if str(column.dtype).split("(")[0] in ("String", "Categorical", "Enum"):
            texts = column.cast(polars.String)
            levels = texts.unique().drop_nulls()
            numbers = polars.Series(np.arange(len(levels)), dtype=polars.Int64)
            if len(levels) == 0:
                return np.empty(0, dtype=object), np.full(len(column), -1)
            codes = texts.replace_strict(levels, numbers, default=None, return_dtype=polars.Int64)
            return levels.to_numpy().astype(object), codes.fill_null(-1).to_numpy()
        try:
            values = column.to_list()
        except (OverflowError, ValueError):  # polars has moments for which Python has none
            values = column.cast(polars.String).to_list()
    elif str(column.dtype) == "category":
        levels = np.array([_as_text(v) for v in column.cat.categories.tolist()], dtype=object)
        return _merged(levels, column.cat.codes.to_numpy().astype(np.intp))
    else:
        codes, found = column.factorize()
        if all(type(level) is str for level in found):
            return np.array(found.tolist(), dtype=object), codes
        values = column.tolist()
    # As texts from the start: True and 1 are the same key, but not the same level.
    position: dict = {}
    found_at = [
        -1 if is_missing(value) else position.setdefault(_as_text(value), len(position))
        for value in values
    ]
    return np.array(list(position), dtype=object), np.array(found_at, dtype=np.intp)


def _as_text(value) -> str:
    """Return a value as text; a whole number is the same as an integer and as a float."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value)) if abs(float(value)) < 2**53 else str(value)
    return str(value)


def _merged(levels: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join levels that differ as values, but not as texts: 1 and "1"."""
    distinct, position = np.unique(levels, return_inverse=True)
    if len(distinct) == len(levels):
        return levels, codes
    return distinct, np.where(codes < 0, -1, position[codes])
