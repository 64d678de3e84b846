"""What the data was: facts on columns, no value of anybody's."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler.tables import inspect_columns, is_frame


def column_names(X: Any) -> list[str]:
    """Return the names of the columns; those of an array are numbers."""
    if is_frame(X):
        return [str(name) for name in X.columns]
    return [f"column {number}" for number in range(X.shape[1])]


def column_facts(X: Any, y: Any, most: int) -> list[dict]:
    """Return name, kind, distinct values, missing share and finding of the first columns.

    Labels, if there are any, show which columns give them away. No value of a column is in it.
    """
    names = column_names(X)[:most]
    if is_frame(X):
        first = X[list(X.columns)[:most]]
        return [
            {
                "name": str(each.name),
                "kind": each.kind,
                "distinct": each.distinct,
                "missing": each.missing,
                "finding": each.finding,
            }
            for each in inspect_columns(first, y).columns
        ]
    return [
        {"name": name, "finding": "", **_facts(_column(X, place))}
        for place, name in enumerate(names)
    ]


def _column(X: Any, place: int) -> np.ndarray:
    if hasattr(X, "tocsc"):
        return np.asarray(X.tocsc()[:, [place]].todense()).ravel()
    return np.asarray(X)[:, place]


def _facts(column: np.ndarray) -> dict:
    gaps = column != column
    return {
        "kind": "number" if column.dtype.kind in "biuf" else "other",
        "distinct": len(np.unique(column[~gaps])),
        "missing": float(gaps.mean()),
    }
