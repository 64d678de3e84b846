"""Tables of other kinds, as the tables that this package takes."""

import sys

import numpy as np

from metasampler.tables._columns import is_missing

__all__ = ["as_table"]


def as_table(X, name: str = "X"):
    """Return a table in memory: lazy frames are collected, tables of Arrow become data frames.

    Everything else is returned as it is. Collections of Dask are refused, as they are for another
    estimator.
    """
    module, kind = type(X).__module__.partition(".")[0], type(X).__name__
    if module == "polars" and kind == "LazyFrame":
        return X.collect()
    if module == "pyarrow" and kind in ("Table", "RecordBatch"):
        return _from_arrow(X, name)
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"{name} is a Dask {kind}: use metasampler.distributed.DaskMesaClassifier, or pass "
            f"{name}.compute()."
        )
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (list, tuple, np.ndarray)):
        return _with_floats(X)
    if isinstance(X, np.ndarray) and X.dtype == object:
        return _with_floats(X)
    return X


def _from_arrow(X, name: str):
    """Return a table of Arrow as a data frame of pandas; a column that cannot be one is named."""
    try:
        return X.to_pandas()
    except (OverflowError, TypeError, ValueError):
        pass
    import pandas
    import pyarrow

    columns = {}
    for column_name, column in zip(X.schema.names, X.columns, strict=True):
        if pyarrow.types.is_dictionary(column.type):
            # pandas wants categories that differ, and none that is missing.
            column = column.cast(column.type.value_type)
        try:
            # As moments: Python's dates end with the year 9999.
            columns[column_name] = column.to_pandas(date_as_object=False)
        except (OverflowError, TypeError, ValueError) as error:
            raise ValueError(
                f"Column {column_name!r} of {name} cannot become one of pandas: {error}. Turn it "
                "into numbers, dates or texts."
            ) from error
    return pandas.DataFrame(columns)


def _with_floats(X):
    """Return rows of Python objects with floats for values that NumPy cannot convert to one."""
    rows = X.tolist() if isinstance(X, np.ndarray) else [_cells(row) for row in X]
    if not any(_is_no_float(value) for row in rows for value in _cells(row)):
        return X
    cells = [[_as_float(value) for value in _cells(row)] for row in rows]
    return np.array(cells, dtype=object)


def _is_no_float(value) -> bool:
    return type(value).__name__ in ("NAType", "NaTType") or (
        type(value) is int and abs(value) > sys.float_info.max
    )


def _as_float(value):
    if is_missing(value):
        return np.nan
    if _is_no_float(value):  # Python's integers have no end
        return np.inf if value > 0 else -np.inf
    return value


def _cells(row):
    if isinstance(row, np.ndarray):
        return row.tolist()
    return row if isinstance(row, (list, tuple)) else [row]
