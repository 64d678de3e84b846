"""Rows in Parquet files: blocks that are read where they are used."""

import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metasampler.growth import group_keys, refuse_missing
from metasampler.large._backends import Files

if TYPE_CHECKING:
    from metasampler.large._source import OpenedSource

__all__ = [
    "ArrayBlock",
    "Opened",
    "ParquetRows",
    "names_of_numbers",
    "open_block",
    "without_spare_memory",
]

_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}

# What a partition may take of the memory there is: a member's rows need the rest.
_SHARE_OF_PARTITION = 0.25

# Bytes that a row takes besides its table: keys, errors, positions, sums.
_BYTES_PER_ROW = 64


class Opened(NamedTuple):
    """The rows of one block."""

    X: Any
    y: np.ndarray | None
    weights: np.ndarray | None
    #: A key for the group of each row.
    groups: np.ndarray | None = None


class ArrayBlock(NamedTuple):
    """A block whose table, labels, weights and groups are arrays."""

    X: Any
    y: Any
    weights: Any = None
    groups: Any = None


class _ParquetBlock(NamedTuple):
    """Some row groups of a Parquet file; they are read when the block is opened."""

    path: str
    groups: tuple[int, ...]
    #: The columns to read; None reads all.
    columns: tuple[str, ...] | None = None
    n_rows: int = 0

    def read(self):
        with _opened_parquet(self.path) as file:
            columns = None if self.columns is None else list(self.columns)
            return file.read_row_groups(list(self.groups), columns).to_pandas()


@contextmanager
def _opened_parquet(path: str) -> Iterator[Any]:
    """Open a Parquet file; errors of reading it name the file."""
    import pyarrow.parquet as parquet
    from pyarrow import ArrowException

    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (ArrowException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path} cannot be read as a Parquet file: {reason}") from error


def open_block(block, label=None, weight=None, group=None, positive=None) -> Opened:
    """Return the rows of a block; a frame is split into table, labels, weights and groups.

    With ``positive`` the labels are whether a row is of this class.
    """
    opened = _split_block(block, label, weight, group)
    if positive is None or opened.y is None:
        return opened
    return opened._replace(y=np.asarray(opened.y == positive, dtype=bool))


def _split_block(block, label, weight, group) -> Opened:
    if isinstance(block, ArrayBlock):
        weights = None if block.weights is None else np.asarray(block.weights, dtype=float)
        groups = None if block.groups is None else group_keys(np.asarray(block.groups))
        return Opened(block.X, np.asarray(block.y), weights, groups)
    frame = without_spare_memory(block.read()) if hasattr(block, "read") else block
    named = [name for name in (label, weight, group) if name is not None]
    missing = [name for name in named if name not in frame.columns]
    if missing:
        where = f" in {block.path}" if isinstance(block, _ParquetBlock) else ""
        raise ValueError(
            f"There is no column {missing[0]!r}{where}; there are {list(frame.columns)[:20]}."
        )
    y = None if label is None else np.asarray(frame[label])
    weights = None
    if weight is not None:
        try:
            weights = np.asarray(frame[weight], dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The weights in column {weight!r} must be numbers: {error}"
            ) from error
    groups = None
    if group is not None:
        values = np.asarray(frame[group])
        refuse_missing(values, f"column {group!r}")
        groups = group_keys(values)
    return Opened(frame.drop(columns=named), y, weights, groups)


def without_spare_memory(frame):
    """Return a frame that was just read, and give back what Arrow keeps for a next reading."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    return frame


class ParquetRows:
    """Rows in Parquet files, for a fit that does not hold them in memory.

    The fit writes the rows once more, row by row, to a temporary folder, and reads them from there
    partition by partition. It gives the same members as a fit on the same rows in memory.

    Parameters
    ----------
    path : path
        A Parquet file, or a folder of them; the files count in the order of their names.
    label : str, default=None
        The column of labels; a fit needs it.
    weight : str, default=None
        The column of weights of the rows.
    group : str, default=None
        The column of the customer, patient or machine of each row: rows of one group are held out
        together. Members do not learn from it.
    time : str, default=None
        The column that says when each row came, see `time` in
        :meth:`MesaClassifier.fit <metasampler.MesaClassifier.fit>`. Members do not learn from it.
    memory : int or str, default="2 GB"
        About how much memory a fit may take, in bytes or as a text. It decides into how many
        partitions rows are cut. The rows of a member must fit in: see `max_rows` of
        :class:`~metasampler.MesaClassifier`.
    folder : path, default=None
        Where the temporary folder is made; None takes the system's.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.datasets import ParquetRows
    >>> import pandas as pd
    >>> X, y = make_classification(4000, weights=[0.9], random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(20)]).assign(label=y)
    ...     frame.to_parquet(f"{folder}/rows.parquet", row_group_size=1000)
    ...     clf = MesaClassifier(random_state=0).fit(ParquetRows(f"{folder}/rows.parquet", "label"))
    >>> clf.predict_proba(frame.drop(columns="label")).shape
    (4000, 2)
    """

    def __init__(
        self, path, label=None, *, weight=None, group=None, time=None, memory="2 GB", folder=None
    ):
        self.path = os.fspath(path)
        self.label = label
        self.weight = weight
        self.group = group
        self.time = time
        self.memory = memory
        self.folder = folder

    def __repr__(self):
        return f"ParquetRows({self.path!r}, {self.label!r})"

    def _files(self) -> list[str]:
        path = Path(self.path)
        if path.is_dir():
            files = sorted(map(str, path.rglob("*.parquet")))
            if not files:
                raise ValueError(f"The folder {self.path} holds no file that ends in .parquet.")
            return files
        if not path.exists():
            raise FileNotFoundError(f"There is no file or folder {self.path}.")
        return [self.path]

    @contextmanager
    def opened(self) -> Iterator["OpenedSource"]:
        """Read the labels, and yield what makes the rows of a fit; its files go in the end."""
        # Imported here: it opens the blocks of this module.
        from metasampler.large._source import OpenedSource

        with Files(self.folder) as backend:
            yield OpenedSource(self, backend)

    def make_blocks(self, *, labels_only: bool = False) -> list[_ParquetBlock]:
        """Return the blocks, each of about as many rows as the memory is for."""
        blocks = []
        names = [name for name in (self.label, self.weight) if name is not None]
        columns = tuple(names) if labels_only and names else None
        for path in self._files():
            with _opened_parquet(path) as file:
                facts = file.metadata
                there = file.schema_arrow.names
                wanted = [*names, *([] if self.group is None else [self.group])]
                absent = [name for name in wanted if name not in there]
                if labels_only and absent:
                    raise ValueError(
                        f"There is no column {absent[0]!r} in {path}; there are {there[:20]}."
                    )
                bytes_per_row = max(_BYTES_PER_ROW, 24 * facts.num_columns)
                most = max(
                    1, int(_SHARE_OF_PARTITION * memory_in_bytes(self.memory) / bytes_per_row)
                )
                groups: list[int] = []
                n_rows = 0
                for number in range(facts.num_row_groups):
                    size = facts.row_group(number).num_rows
                    if groups and n_rows + size > most:
                        blocks.append(_ParquetBlock(path, tuple(groups), columns, n_rows))
                        groups, n_rows = [], 0
                    groups.append(number)
                    n_rows += size
                if groups:
                    blocks.append(_ParquetBlock(path, tuple(groups), columns, n_rows))
        if not blocks:
            raise ValueError(f"There are no rows in {self.path}.")
        return blocks

    def plain_names(self) -> list | None:
        """Return the columns of the table if all are known to be plain numbers, else None."""
        empty = []
        for path in self._files():
            with _opened_parquet(path) as file:
                empty.append(file.schema_arrow.empty_table().to_pandas())
        return names_of_numbers([frame.drop(columns=self._own_columns(frame)) for frame in empty])

    def _own_columns(self, frame) -> list[str]:
        """Return the columns of a frame that are not features."""
        own = (self.label, self.weight, self.group, self.time)
        return [name for name in own if name is not None and name in frame.columns]

    def group_blocks(self, sizes: list[int], bytes_per_row: int) -> list[list[int]]:
        """Return the numbers of the blocks that become one partition: here each is one already."""
        return [[number] for number in range(len(sizes))]

    def frames(self) -> Iterator:
        """Yield the tables of all blocks, without labels and weights where these are columns."""
        for block in self.make_blocks():
            frame = block.read()
            if len(frame):
                yield frame.drop(columns=self._own_columns(frame))

    def marks(self) -> dict[str, np.ndarray]:
        """Return the labels, weights, groups and times of all rows, as far as they are columns."""
        own = {"y": self.label, "sample_weight": self.weight}
        own |= {"groups": self.group, "time": self.time}
        own = {name: column for name, column in own.items() if column is not None}
        if self.label is None:
            raise ValueError("label must name the column of labels, got None.")
        parts = []
        for block in self.make_blocks():
            frame = block.read()
            absent = [column for column in own.values() if column not in frame.columns]
            if absent:
                raise ValueError(
                    f"There is no column {absent[0]!r} in {self.path}; there are "
                    f"{list(frame.columns)[:20]}."
                )
            parts.append([frame[column] for column in own.values()])
        joined = (
            np.concatenate([np.asarray(part) for part in each]) for each in zip(*parts, strict=True)
        )
        return dict(zip(own, joined, strict=True))

    def only(self, rows: np.ndarray) -> "_SomeRows":
        """Return the source of some of the rows, given by their numbers, without their times."""
        return _SomeRows(self, rows)

    def check_fits(self, n_bytes: float, table_bytes: float = 0.0) -> None:
        """Refuse a member whose rows do not fit in the memory."""
        limit = memory_in_bytes(self.memory)
        if n_bytes > limit:
            wanted = f"{math.ceil(n_bytes / (1 << 20)):,} MB"
            raise ValueError(
                f"memory={self.memory!r} is too little for the rows of one member, which take "
                f"about {wanted}. Allow more memory, or fewer rows per "
                "member by max_rows."
            )


class _SomeRows(ParquetRows):
    """Some of the rows of a source, in their order."""

    def __init__(self, source: ParquetRows, rows: np.ndarray):
        vars(self).update(vars(source))
        self.source = source
        self.rows = rows
        self.time = None

    def make_blocks(self, *, labels_only: bool = False) -> list:
        """Return the blocks that hold any of the rows."""
        blocks, start = [], 0
        for block in self.source.make_blocks():
            first, last = np.searchsorted(self.rows, [start, start + block.n_rows])
            if last > first:
                rows = self.rows[first:last] - start
                blocks.append(_SomeOfBlock(block, rows, self.source.time, len(rows)))
            start += block.n_rows
        return blocks

    def plain_names(self) -> list | None:
        """Return the columns of the table if all are known to be plain numbers, else None."""
        return self.source.plain_names()

    def ask_rows(self, question: Callable, *args) -> list:
        """Return what ``question(frame, *args)`` gives for the table of each block."""
        return [question(frame, *args) for frame in self.frames()]


class _SomeOfBlock(NamedTuple):
    """Some rows of a block, without the column of times."""

    block: Any
    rows: np.ndarray
    time: str | None
    n_rows: int

    def read(self):
        frame = self.block.read().iloc[self.rows]
        return frame.drop(columns=[] if self.time is None else [self.time])


def names_of_numbers(frames: list) -> list | None:
    """Return the columns of frames if their types say that all hold plain numbers, else None.

    Frames without rows will do. Booleans may be missing, which makes them something else.
    """
    kinds = [kind for frame in frames for kind in frame.dtypes]
    plain = all(isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in kinds)
    return list(frames[0].columns) if plain else None


def memory_in_bytes(memory: int | str) -> int:
    """Return an amount of memory in bytes, given as a number or as a text such as "2 GB"."""
    if isinstance(memory, str):
        text = memory.strip().upper().replace("IB", "B")
        unit = next((unit for unit in _UNITS if text.endswith(unit)), None)
        try:
            if unit is not None and float(text[: -len(unit)]) > 0:
                return int(float(text[: -len(unit)]) * _UNITS[unit])
        except ValueError:
            pass
    elif not isinstance(memory, bool) and isinstance(memory, (int, np.integer)) and memory > 0:
        return int(memory)
    raise ValueError(f"memory={memory!r} must be a number of bytes, or a text such as '2 GB'.")
