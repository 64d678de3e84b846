"""Tables of other kinds, as the tables that this package takes."""

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
        return X.to_pandas()
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"{name} is a Dask {kind}: use metasampler.distributed.DaskMesaClassifier, or pass "
            f"{name}.compute()."
        )
    is_list = isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (list, tuple))
    if is_list or (isinstance(X, np.ndarray) and X.dtype == object):
        return _without_pandas_na(X)
    return X


def _without_pandas_na(X):
    """Return rows of Python objects with NaN for pandas.NA, which NumPy cannot convert."""
    rows = X.tolist() if isinstance(X, np.ndarray) else X
    if not any(type(value).__name__ == "NAType" for row in rows for value in _cells(row)):
        return X
    cells = [[np.nan if is_missing(value) else value for value in _cells(row)] for row in rows]
    return np.array(cells, dtype=object)


def _cells(row):
    return row if isinstance(row, (list, tuple)) else [row]
