"""Backends: where partitions are, and who computes with them.

A backend holds one *cell* for each partition and thing that is known of it. It has two verbs:
``make`` fills new cells, ``ask`` brings answers to the loop. What they call is a plain function of
the cells of one partition. It changes nothing that another call could see, so it may be called
again, in another process or on another machine.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from itertools import count
from pathlib import Path
from uuid import uuid4

import joblib

from metasampler.large._file_tables import remove_file, whole_file
from metasampler.large._journal import Journal

__all__ = ["Backend", "Files", "StoredCell", "load_cell", "store_cell"]


class Backend:
    """Partitions in this process: a cell is the thing itself."""

    #: Whether the numbers of all rows that members were trained on are collected.
    collects_rows = True

    #: Remembers members, for a fit that is begun again.
    journal: Journal | None = None

    def make(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return a cell for each partition: what the function makes of the cells given.

        A cell that is a list holds cells of several partitions: the function gets them together.
        """
        return [function(*each, *args) for each in zip(*cells, strict=True)]

    def ask(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return the answer of each partition."""
        return [function(*each, *args) for each in zip(*cells, strict=True)]

    def new_paths(self, n_paths: int) -> list:
        """Return paths of files for the tables of partitions; None keeps one in its cell."""
        return [None] * n_paths

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        """Leave nothing behind: a fit is over, or has failed."""


class Files(Backend):
    """Partitions in files: one of them is in memory at a time.

    Parameters
    ----------
    folder : path, default=None
        Where the files are written; None makes a temporary folder. What is written is removed when
        it is not needed any more.
    """

    def __init__(self, folder: str | os.PathLike | None = None):
        self.folder = Path(folder or tempfile.gettempdir()) / f"metasampler-{uuid4().hex}"
        # Before the folder is there: an interrupt at any moment leaves nothing behind.
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        self._n_files = 0
        self._numbers = count()

    def __exit__(self, *error) -> None:
        """Remove the files at once: an error that is kept would keep them too."""
        self._remove()

    def new_paths(self, n_paths: int) -> list:
        """Return paths of files that are not there yet."""
        self._n_files += n_paths
        return [self.folder / f"{self._n_files - n}" for n in range(n_paths)]

    def make(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return a cell for each partition; what is large is written to a file."""
        made = []
        for each in zip(*cells, strict=True):
            made.append(self._stored(function(*map(load_cell, each), *args)))
        return made

    def ask(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return the answer of each partition."""
        return [function(*map(load_cell, each), *args) for each in zip(*cells, strict=True)]

    def _stored(self, made):
        if made is None:
            return made
        # Partitions have their tables in files, and few bytes a row besides.
        if hasattr(made, "rows_of") and made.table is not None:
            made.table.remove_when_unused()
            return made
        cell = store_cell(self.folder / f"cell-{next(self._numbers)}", made)
        weakref.finalize(cell, remove_file, cell.path)
        return cell


class StoredCell:
    """Something in a file; any process that sees the file can load it."""

    def __init__(self, path: str):
        self.path = path


def store_cell(path: str | os.PathLike, made) -> StoredCell:
    """Write something to a file and return the cell that stands for it."""
    with whole_file(path) as file:
        joblib.dump(made, file)
    return StoredCell(os.fspath(path))


def load_cell(cell):
    """Return what a cell holds; its arrays are mapped, and what is written to them is not kept."""
    if isinstance(cell, list):
        return [load_cell(each) for each in cell]
    return joblib.load(cell.path, mmap_mode="c") if isinstance(cell, StoredCell) else cell
