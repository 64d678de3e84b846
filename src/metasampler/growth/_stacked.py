"""Tables that are read when they are used: rows of files, and rows of several tables."""

import numpy as np

__all__ = ["StackedRows", "TakenRows"]


class TakenRows:
    """Some rows of a table in a file. They are read when they are used, and not kept.

    LightGBM reads it batch by batch.

    Parameters
    ----------
    table : FileTable or StackedRows
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
        self.dtype = table.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows) -> np.ndarray:
        return self.table[self.rows[rows]]


class StackedRows:
    """Tables of numbers below each other, without a copy of them all in one.

    Parameters
    ----------
    tables : list of ndarray or TakenRows
        The tables, of as many columns each.
    """

    is_in_file = True

    def __init__(self, tables: list):
        self.tables = tables
        self._starts = np.cumsum([0, *(len(table) for table in tables)])
        self.shape = (int(self._starts[-1]), tables[0].shape[1])
        self.dtype = np.result_type(*(table.dtype for table in tables))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows) -> np.ndarray:
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        found = np.empty((len(rows), self.shape[1]), self.dtype)
        which = np.searchsorted(self._starts, rows, side="right") - 1
        for number in np.unique(which).tolist():
            here = which == number
            found[here] = self.tables[number][rows[here] - self._starts[number]]
        return found
