"""Where the rows of a fit come from: arrays and frames, or a source that makes its rows itself."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from metasampler.ensemble._one_class import (
    against_the_rest,
    check_rarer,
    count_against_the_rest,
)
from metasampler.growth import GrowthData, make_growth_data

__all__ = ["TableSource", "opened_source", "resolve_source"]


class TableSource(NamedTuple):
    """Rows in memory. Sources of other rows have the same attributes and `make_rows`."""

    X: Any
    y: Any
    sample_weight: Any

    @property
    def example(self):
        """The table, or some of its rows: they show the number and the names of the columns."""
        return self.X

    @property
    def class_counts(self) -> np.ndarray:
        """Rows of each class that have a weight; empty if the labels are not valid.

        Labels and weights that are not valid are refused where rows are made ready.
        """
        labels = np.asarray(self.y)
        if self.y is not None and self.sample_weight is not None:
            counting = np.asarray(self.sample_weight) != 0
            labels = labels[counting] if counting.shape == labels.shape[:1] else labels
        try:
            return np.unique(labels, return_counts=True)[1]
        except TypeError:  # labels of several types
            return np.array([])

    def make_rows(self, **settings) -> GrowthData:
        """Return the rows as members take them; settings are those of `make_growth_data`."""
        return make_growth_data(self.X, self.y, sample_weight=self.sample_weight, **settings)


@contextmanager
def opened_source(X, y=None, sample_weight=None, positive=None, *, owner=None) -> Iterator[Any]:
    """Yield what makes the rows of a fit; what it has written goes, however the fit ends.

    With ``positive`` the labels are whether a row is of this class.
    """
    source = resolve_source(X, y, sample_weight)
    if source is None:
        if positive is not None:
            y = against_the_rest(y, X, positive, owner=owner)
        rows = TableSource(X, y, sample_weight)
        if positive is not None:
            check_rarer(rows.class_counts, positive)
        yield rows
    else:
        with source.opened() as opened:
            if positive is not None:
                opened.find_only(positive, count_against_the_rest)
            yield opened


def resolve_source(X, y=None, sample_weight=None):
    """Return the source of rows that X is or names; None if X is a table.

    A source is an object with a method `opened`. A path names Parquet files.
    """
    if isinstance(X, (str, os.PathLike)):
        # The only way up: rows outside of memory are for those who ask for them by a path.
        from metasampler.large import ParquetRows

        X = ParquetRows(X, y)
    elif not hasattr(type(X), "opened"):  # of a frame it may be the name of a column
        return None
    elif y is not None:
        raise ValueError(f"{X!r} holds the labels; y must not be passed as well.")
    if sample_weight is not None:
        raise ValueError(
            "sample_weight cannot be passed for rows in files; name their column: "
            "ParquetRows(path, label, weight=...)."
        )
    return X
