"""Tables of the user: files, DataFrames, and what ``fetch_openml`` returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metasampler.datasets._labels import near_matches

__all__ = ["TABLE_SUFFIXES", "is_bunch", "is_frame", "read_table", "split_bunch", "split_frame"]

CSV_SUFFIXES = (".csv", ".tsv", ".gz")
PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = CSV_SUFFIXES + PARQUET_SUFFIXES


def read_table(path: Path) -> Any:
    """The pandas DataFrame in a CSV or Parquet file."""
    try:
        import pandas as pd

        if path.name.lower().endswith(PARQUET_SUFFIXES):
            return pd.read_parquet(path)
        tabs = path.name.lower().removesuffix(".gz").endswith(".tsv")
        return pd.read_csv(path, sep="\t" if tabs else ",")
    except ImportError as error:
        raise ImportError(
            f'Reading {path.name} needs pandas and pyarrow: pip install "metasampler[data]"'
        ) from error


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame of pandas or polars; neither is imported for the answer."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] in ("pandas", "polars")
        for kind in type(data).__mro__
    )


def is_bunch(data: Any) -> bool:
    """Whether it is like what scikit-learn's loaders return."""
    return hasattr(data, "data") and (hasattr(data, "target") or hasattr(data, "frame"))


def split_frame(frame: Any, target: Any, what: str) -> tuple[Any, Any]:
    """The other columns as they are, and the target column."""
    columns = list(frame.columns)
    shown = ", ".join(map(str, columns[:12])) + (
        f", ... ({len(columns)} in all)" if len(columns) > 12 else ""
    )
    if target is None:
        raise ValueError(f"Give target, the column of {what} to predict. Columns: {shown}.")
    if columns.count(target) != 1:
        how_many = "several columns" if target in columns else "no column"
        raise ValueError(
            f"{what} has {how_many} {target!r}.{near_matches(target, columns)} Columns: {shown}."
        )
    if len(columns) == 1:
        raise ValueError(f"{what} has no column besides {target!r}.")
    if type(frame).__module__.startswith("polars"):
        return frame.drop(target), frame[target]
    return frame.drop(columns=target), frame[target]


def split_bunch(bunch: Any, target: Any) -> tuple[Any, Any, str]:
    """Columns, target and name in what ``fetch_openml`` and its like return."""
    details = getattr(bunch, "details", None) or {}
    name = str(details.get("name", "bunch"))
    X, y = bunch.data, getattr(bunch, "target", None)
    if target is None and y is not None:
        if getattr(y, "ndim", 1) == 1:
            return X, y, name
        raise ValueError(f"{name!r} has several targets: {', '.join(map(str, y))}. Give target.")
    frame = getattr(bunch, "frame", None)
    if frame is None:
        frame = X
    if not is_frame(frame):
        raise ValueError(
            f"{name!r} holds no table to take a target from: fetch it with as_frame=True."
        )
    X, y = split_frame(frame, target, repr(name))
    return X, y, name
