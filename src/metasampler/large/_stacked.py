"""Tables that are read when they are used: rows of files, and rows of several tables."""

from itertools import pairwise

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.tables import is_frame

__all__ = ["StackedRows", "TakenRows", "join_frames", "join_parts", "rows_only"]


class TakenRows:
    """Some rows of a table in a file. They are read when they are used, and not kept.

    LightGBM reads it batch by batch.

    Parameters
    ----------
    table : TableInFile or StackedRows
        The table.
    rows : ndarray of int
        Positions of the rows.
    """

    is_in_file = True

    #: Rows that LightGBM reads at once.
    batch_size = 1 << 15

    def __init__(self, table, rows: np.ndarray):
        self.table = table
        self.rows = rows
        self.shape = (len(rows), table.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows):
        """Return rows, given by a slice or by their positions in ascending order."""
        return self.table[self.rows[rows_only(rows)]]


class StackedRows:
    """Tables below each other, without a copy of them all in one.

    Parameters
    ----------
    tables : list of ndarray, data frame or TakenRows
        The tables, of as many columns each.
    """

    is_in_file = True

    def __init__(self, tables: list):
        self.tables = tables
        self._starts = np.cumsum([0, *(table.shape[0] for table in tables)])
        self.shape = (int(self._starts[-1]), tables[0].shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows):
        """Return rows, given by a slice or by their positions in ascending order."""
        rows = rows_only(rows)
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        cuts = pairwise(np.searchsorted(rows, self._starts))
        found = [
            take_rows(table, rows[slice(*here)] - start)
            for table, start, here in zip(self.tables, self._starts[:-1], cuts, strict=True)
            if here[0] < here[1]
        ]
        return join_parts(found or [take_rows(self.tables[0], slice(0))])


def rows_only(key):
    """Return which rows are wanted: scikit-learn says of arrays that all columns are."""
    return key[0] if isinstance(key, tuple) else key


def join_parts(tables: list):
    """Return arrays, or data frames, of one kind as one."""
    return join_frames(tables) if is_frame(tables[0]) else np.concatenate(tables)


def join_frames(frames: list):
    """Return pandas frames as one; a column of categories has the same in all of them."""
    if len(frames) == 1:
        return frames[0]
    import pandas

    joined = pandas.concat(frames, ignore_index=True)
    for name, kind in frames[0].dtypes.items():
        if kind == "category" and joined[name].dtype != "category":
            raise ValueError(
                f"The rows are put into one table, but the categories of column {name!r} differ "
                "between parts of them; give all the same."
            )
    return joined
