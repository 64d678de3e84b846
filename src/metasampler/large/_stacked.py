"""Tables outside of memory: some rows of a file, and several tables below each other."""

from itertools import pairwise

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth import join_frames
from metasampler.tables import is_frame

__all__ = ["StackedRows", "TableOutside", "TakenRows", "join_blocks", "rows_only"]


class TableOutside:
    """A table whose rows are read when they are used, by ``table[rows]``."""

    # Adapters ask for this name.
    is_in_file = True

    #: Rows and columns.
    shape: tuple[int, int]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows):
        """Return rows, given by a slice or by their positions in ascending order."""
        raise NotImplementedError

    def for_lightgbm(self, rows: np.ndarray):
        """Return rows as LightGBM takes them: numbers batch by batch, codes at once."""
        import lightgbm

        if self[:1].dtype.kind != "f":
            return self[rows]
        lightgbm.Sequence.register(TakenRows)
        return TakenRows(self, rows)


class TakenRows(TableOutside):
    """Some rows of a table outside of memory. They are not kept.

    Parameters
    ----------
    table : TableOutside
        The table.
    rows : ndarray of int
        Positions of the rows.
    """

    #: Rows that LightGBM reads at once.
    batch_size = 1 << 15

    def __init__(self, table, rows: np.ndarray):
        self.table = table
        self.rows = rows
        self.shape = (len(rows), table.shape[1])

    def __getitem__(self, rows):
        return self.table[self.rows[rows_only(rows)]]


class StackedRows(TableOutside):
    """Tables below each other, without a copy of them all in one.

    Parameters
    ----------
    tables : list of ndarray, data frame or TakenRows
        The tables, with the same columns.
    """

    def __init__(self, tables: list):
        self.tables = tables
        self._starts = np.cumsum([0, *(table.shape[0] for table in tables)])
        self.shape = (int(self._starts[-1]), tables[0].shape[1])

    def __getitem__(self, rows):
        rows = rows_only(rows)
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        cuts = pairwise(np.searchsorted(rows, self._starts))
        found = [
            take_rows(table, rows[slice(*here)] - start)
            for table, start, here in zip(self.tables, self._starts[:-1], cuts, strict=True)
            if here[0] < here[1]
        ]
        return join_blocks(found or [take_rows(self.tables[0], slice(0))])


def rows_only(key):
    """Return which rows are wanted: for arrays scikit-learn also says that all columns are."""
    return key[0] if isinstance(key, tuple) else key


def join_blocks(tables: list):
    """Return arrays, or data frames, of one type as one."""
    return join_frames(tables) if is_frame(tables[0]) else np.concatenate(tables)
