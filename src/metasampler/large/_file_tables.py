"""Tables in files: what is taken of them is read, the rest is not."""

import os
import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from metasampler.growth import join_frames
from metasampler.large._stacked import TableOutside, rows_only
from metasampler.tables import is_frame, lowest_values

__all__ = [
    "FileTable",
    "FrameTable",
    "has_missing",
    "lowest_in",
    "remake_table",
    "remove_file",
    "slices",
    "whole_file",
    "write_table",
]


class TableInFile(TableOutside):
    """A table in a file; what is taken of it is read, the rest is not.

    Parameters
    ----------
    path : path
        The file.
    shape : tuple of int
        Rows and columns.
    """

    def __init__(self, path, shape: tuple[int, int]):
        self.path = os.fspath(path)
        self.shape = shape
        self._is_owned = False

    def remove_when_unused(self) -> None:
        """Remove the file when this object goes. Only for tables that have no copies elsewhere."""
        if not self._is_owned:
            self._is_owned = True
            weakref.finalize(self, remove_file, self.path)


class FileTable(TableInFile):
    """A table of numbers in a file, row by row.

    The file is mapped for the time of a reading only: what was read does not stay in memory.
    """

    def __init__(self, path, shape: tuple[int, int], dtype):
        super().__init__(path, shape)
        self.dtype = np.dtype(dtype)

    def __getitem__(self, rows) -> np.ndarray:
        if not self.shape[0]:
            return np.empty(self.shape, self.dtype)[rows]
        return np.array(np.memmap(self.path, self.dtype, "r", shape=self.shape)[rows])

    @classmethod
    def write(cls, path, blocks: Iterable[np.ndarray]) -> "FileTable":
        """Write arrays below each other and return them as a table in a file.

        Arrays of single and of double precision become one of double precision.
        """
        n_rows, n_columns, dtype = 0, 0, None
        with whole_file(path) as file:
            unfinished = file.name
            for block in blocks:
                if dtype is not None and block.dtype != dtype:
                    dtype = cls(unfinished, (n_rows, n_columns), dtype)._widened(file, block.dtype)
                dtype = block.dtype if dtype is None else dtype
                np.ascontiguousarray(block, dtype).tofile(file)
                n_rows, n_columns = n_rows + block.shape[0], block.shape[1]
        return cls(path, (n_rows, n_columns), dtype)

    def _widened(self, file, other: np.dtype) -> np.dtype:
        """Write what is there once more, in a type that holds another one too; return the type."""
        wide = np.promote_types(self.dtype, other)
        if wide != self.dtype:
            file.flush()
            table = self[:].astype(wide)
            file.seek(0)
            table.tofile(file)
            file.truncate()
        return wide


class FrameTable(TableInFile):
    """A data frame in a file, in blocks of rows that are read one at a time.

    Parameters
    ----------
    path : path
        The file.
    shape : tuple of int
        Rows and columns.
    starts : list of int
        The first row of each block, and the number of all rows.
    offsets : list of int
        Where each block begins in the file.
    """

    def __init__(self, path, shape: tuple[int, int], starts: list[int], offsets: list[int]):
        super().__init__(path, shape)
        self.starts = starts
        self.offsets = offsets

    def __getitem__(self, rows):
        """Return rows, given by a slice or by their positions in ascending order."""
        rows = rows_only(rows)
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        cuts = np.searchsorted(rows, self.starts)
        found = []
        with open(self.path, "rb") as file:
            for start, offset, here in zip(self.starts, self.offsets, pairwise(cuts), strict=False):
                if here[0] < here[1] or len(self.offsets) == 1:
                    file.seek(offset)
                    # Written by this fit, in a folder of its own.
                    found.append(pickle.load(file).take(rows[slice(*here)] - start))
        return join_frames(found or [self[:1][:0]])

    @classmethod
    def write(cls, path, blocks: Iterable) -> "FrameTable":
        """Write frames below each other and return them as a table in a file."""
        starts, offsets, n_columns = [0], [], 0
        with whole_file(path) as file:
            for block in blocks:
                offsets.append(file.tell())
                pickle.dump(block.reset_index(drop=True), file, pickle.HIGHEST_PROTOCOL)
                starts.append(starts[-1] + len(block))
                n_columns = block.shape[1]
        return cls(path, (starts[-1], n_columns), starts, offsets)


def remove_file(path: str) -> None:
    # The folder may have gone first.
    Path(path).unlink(missing_ok=True)


@contextmanager
def whole_file(path) -> Iterator[Any]:
    """Open a file that is there when it is whole.

    A task that is computed again must not disturb other tasks that read it.
    """
    unfinished = f"{os.fspath(path)}-{uuid4().hex[:8]}"
    try:
        with open(unfinished, "w+b") as file:
            yield file
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


def write_table(path, blocks: Iterable) -> TableInFile:
    """Write tables below each other, arrays of numbers or frames, and return them as one."""
    blocks = iter(blocks)
    first = next(blocks)
    kind = FrameTable if is_frame(first) else FileTable
    return kind.write(path, chain([first], blocks))


def slices(n_rows: int) -> list[slice]:
    """Return the chunks in which rows of a file are read."""
    return [slice(start, start + (1 << 16)) for start in range(0, max(n_rows, 1), 1 << 16)]


def has_missing(table) -> bool:
    """Return whether numbers are missing in a table."""
    return any(bool(np.isnan(np.min(table[rows], initial=0))) for rows in slices(table.shape[0]))


def lowest_in(table) -> np.ndarray:
    """Return the lowest number of each column, see `lowest_values`."""
    return np.min([lowest_values(table[rows]) for rows in slices(table.shape[0])], axis=0)


def remake_table(table, table_maker: Callable, path=None):
    """Return what becomes of a table; with a path it is written there, if anything changes."""
    if path is None:
        return table_maker(table)
    if table.dtype == np.float32 and not has_missing(table):
        return table
    return write_table(path, (table_maker(table[rows]) for rows in slices(len(table))))
