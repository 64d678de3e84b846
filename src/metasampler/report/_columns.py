"""What the data was: facts on columns, no value of anybody's."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler.tables import is_frame

__all__ = ["column_facts", "column_names"]


def column_names(X: Any) -> list[str]:
    """Return the names of the columns; those of an array are numbers."""
    if is_frame(X):
        return [str(name) for name in X.columns]
    return [f"column {number}" for number in range(X.shape[1])]


def column_facts(X: Any, most: int) -> list[dict]:
    """Return kind, distinct values and missing part of the first columns.

    Parameters
    ----------
    X : table
        An array, a sparse matrix or a data frame.
    most : int
        How many columns are looked at.

    Returns
    -------
    facts : list of dict
        With ``name``, ``kind``, ``distinct`` and ``missing``.
    """
    names = column_names(X)[:most]
    return [
        {"name": name, **_facts(_column(X, place), X.shape[0])} for place, name in enumerate(names)
    ]


def _column(X: Any, place: int) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, place]
    if is_frame(X):
        return X[:, place]
    if hasattr(X, "tocsc"):
        return np.asarray(X.tocsc()[:, [place]].todense()).ravel()
    return np.asarray(X)[:, place]


def _facts(column: Any, n_rows: int) -> dict:
    if isinstance(column, np.ndarray):
        missing = int(np.sum(column != column))
        return {
            "kind": "numbers" if column.dtype.kind in "biuf" else "mixed",
            "distinct": len(np.unique(column[column == column])),
            "missing": missing / n_rows,
        }
    if hasattr(column, "null_count"):  # polars
        gaps = column.is_null() | (column.is_nan() if column.dtype.is_float() else False)
        kept = column.filter(~gaps)
        return {
            "kind": _kind(str(column.dtype)),
            "distinct": kept.n_unique(),
            "missing": 1 - len(kept) / n_rows,
        }
    gaps = column.isna()
    return {
        "kind": _kind(str(column.dtype)),
        "distinct": int(column.nunique()),
        "missing": float(gaps.mean()),
    }


def _kind(dtype: str) -> str:
    """Return a plain word for a type of pandas or polars."""
    lowered = dtype.casefold()
    for word, marks in (
        ("yes or no", ("bool",)),
        ("dates", ("date", "time", "duration")),
        ("numbers", ("int", "float", "double", "decimal")),
        ("texts", ("category", "categorical", "enum", "str", "object")),
    ):
        if any(mark in lowered for mark in marks):
            return word
    return "other"
