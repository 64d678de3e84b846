"""The place of parts in files, and tables in files."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from uuid import uuid4

import joblib
import numpy as np

from metasampler.growth._memory import Memory

__all__ = ["FileTable", "Files"]


class Files(Memory):
    """Parts in files: one of them is in memory at a time.

    Parameters
    ----------
    folder : path, default=None
        Where the files are written; None makes a temporary folder. What is written is removed when
        nobody needs it any more.
    """

    in_place = False
    copies_rows = True

    def __init__(self, folder: str | os.PathLike | None = None):
        self.folder = Path(tempfile.mkdtemp(prefix="metasampler-", dir=folder))
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._n_files = 0
        self._numbers = count()

    def __exit__(self, *error) -> None:
        """Remove the files at once: an error that somebody keeps would keep them too."""
        self._remove()

    def new_paths(self, n_paths: int) -> list[Path] | None:
        """Return paths of files that are not there yet."""
        self._n_files += n_paths
        return [self.folder / f"{self._n_files - n}" for n in range(n_paths)]

    def make(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return a cell for each part; what is large is written to a file."""
        made = []
        for each in zip(*cells, strict=True):
            made.append(self._stored(function(*map(_loaded, each), *args)))
        return made

    def ask(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return the answer of each part."""
        return [function(*map(_loaded, each), *args) for each in zip(*cells, strict=True)]

    def _stored(self, made):
        # Parts have their tables in files, and few bytes a row besides.
        if made is None:
            return made
        if hasattr(made, "rows_of"):
            made.table.remove_when_unused()
            return made
        cell = _Stored(self.folder / f"cell-{next(self._numbers)}")
        joblib.dump(made, cell.path)
        return cell


class _Stored:
    """Something in a file, which goes when this object does."""

    def __init__(self, path: Path):
        self.path = path
        self._remove = weakref.finalize(self, _remove_file, str(path))


def _remove_file(path: str) -> None:
    # The folder may have gone first.
    Path(path).unlink(missing_ok=True)


def _loaded(cell):
    """Return what a cell holds; its arrays are mapped, and what is written to them is not kept."""
    if isinstance(cell, list):
        return [_loaded(each) for each in cell]
    return joblib.load(cell.path, mmap_mode="c") if isinstance(cell, _Stored) else cell


class FileTable:
    """A table of numbers in a file, row by row; what is taken of it is read, the rest is not.

    The file is mapped for the time of a reading only: what was read does not stay in memory.
    """

    is_in_file = True

    def __init__(self, path, shape: tuple[int, int], dtype):
        self.path = os.fspath(path)
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._is_owned = False

    def __len__(self) -> int:
        return self.shape[0]

    def remove_when_unused(self) -> None:
        """Remove the file when this object goes. Only for tables that have no copies elsewhere."""
        if not self._is_owned:
            self._is_owned = True
            weakref.finalize(self, _remove_file, self.path)

    def __getitem__(self, rows) -> np.ndarray:
        if not self.shape[0]:
            return np.empty(self.shape, self.dtype)[rows]
        return np.array(np.memmap(self.path, self.dtype, "r", shape=self.shape)[rows])

    @classmethod
    def write(cls, path, blocks: Iterable[np.ndarray]) -> "FileTable":
        """Write arrays below each other and return them as a table in a file.

        Arrays of single and of double precision become one of double precision. The file is there
        when it is whole: a task that is computed again must not disturb those who read it.
        """
        n_rows, n_columns, dtype = 0, 0, None
        unfinished = f"{os.fspath(path)}-{uuid4().hex[:8]}"
        with open(unfinished, "wb") as file:
            for block in blocks:
                if dtype is not None and block.dtype != dtype:
                    dtype = cls(unfinished, (n_rows, n_columns), dtype)._widened(file, block.dtype)
                dtype = block.dtype if dtype is None else dtype
                np.ascontiguousarray(block, dtype).tofile(file)
                n_rows, n_columns = n_rows + block.shape[0], block.shape[1]
        os.replace(unfinished, path)
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
