"""Data to try things on, and tables from files. metasampler-bench has many named data sets."""

from typing import Any

from metasampler.datasets._bundled import make_imbalanced_digits
from metasampler.datasets._claims import make_claims
from metasampler.datasets._files import TableFile, iterate_table
from metasampler.datasets._read_table import near_matches, read_table, split_target

__all__ = [
    "ParquetRows",
    "TableFile",
    "iterate_table",
    "make_claims",
    "make_imbalanced_digits",
    "near_matches",
    "read_table",
    "split_target",
]


def __getattr__(name: str) -> Any:
    # Fits in memory do without the package for large data.
    if name == "ParquetRows":
        from metasampler.large import ParquetRows

        return ParquetRows
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
