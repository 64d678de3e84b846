"""Rows on a Dask cluster: data frames and arrays in partitions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

import numpy as np

from metasampler.large._cluster import Cluster
from metasampler.large._parquet import (
    ArrayBlock,
    names_of_numbers,
    open_block,
    without_spare_memory,
)
from metasampler.large._source import OpenedSource

__all__ = ["DaskRows", "is_dask"]

# What a worker's memory may be filled with; Dask itself needs the rest.
_USABLE = 0.6

# Partitions per thread of the cluster. Every call costs a task for each partition, some
# milliseconds of the scheduler's and the worker's time, and a draw takes the same time for all of
# one size.
_PARTITIONS_PER_THREAD = 1

# The most bytes of a table that become one partition, by where the tables are kept. What is read
# from a file, and then written, is in the memory of a worker several times.
_BYTES_IN_FILES, _BYTES_IN_MEMORY = 1 << 25, 1 << 28

# What the table of one partition may take of a worker's memory.
_SHARE_OF_PARTITION = 0.1


def is_dask(X) -> bool:
    """Return whether X is a collection of Dask."""
    return hasattr(X, "__dask_graph__")


class DaskRows:
    """Rows of a Dask data frame or of Dask arrays, with what a fit has to know of them.

    Parameters
    ----------
    X : dask data frame or dask array
        The rows.
    y : dask array or None
        Their labels, for arrays.
    backend : Cluster
        Where the partitions will be.
    label, weight, group, time : str or None
        Columns of a data frame.
    weights, groups, times : dask array or None
        Weights, groups and times, for arrays.
    """

    def __init__(
        self,
        X,
        y,
        backend: Cluster,
        label=None,
        weight=None,
        weights=None,
        group=None,
        groups=None,
        time=None,
        times=None,
    ):
        self.X = X
        self.y = y
        self.backend = backend
        self.label = label
        self.weight = weight if weights is None else "sample_weight"
        self.weights = weights
        self.group = group if groups is None else "groups"
        self.groups = groups
        self.time = time if times is None else "time"
        self.times = times

    def __repr__(self):
        return f"A {type(self.X).__name__} in {self._n_blocks()} partitions"

    def _n_blocks(self) -> int:
        return self.X.npartitions

    @contextmanager
    def opened(self) -> Iterator[OpenedSource]:
        """Read the labels, and yield what makes the rows of a fit; its files go in the end."""
        try:
            with self.backend:
                yield OpenedSource(self, self.backend)
        finally:
            self.backend.close()

    def make_blocks(self, *, labels_only: bool = False) -> list:
        """Return one block per partition; it is read where it is used."""
        from dask.delayed import delayed

        if hasattr(self.X, "columns"):
            names = [name for name in (self.label, self.weight) if name is not None]
            # Dask makes one task of it with the reading: nothing else would ask that worker again.
            blocks = self.X.map_partitions(without_spare_memory, meta=self.X._meta).to_delayed()
            if not labels_only:
                return list(blocks)
            labels = self.X[names].to_delayed()
            # With few columns Dask may read several files as one block; then labels are taken from
            # the rows as they are.
            same = len(labels) == len(blocks)
            return list(labels) if same else [block[names] for block in blocks]
        given = {"X": self.X, "y": self.y, "weights": self.weights, "groups": self.groups}
        given = {name: array for name, array in given.items() if array is not None}
        arrays = list(given.values())
        if self.X.ndim != 2:
            raise ValueError(f"X has {self.X.ndim} dimensions; a table has 2.")
        if len(self.X.chunks[1]) > 1:
            arrays[0] = self.X.rechunk({1: -1})
        chunks = [array.chunks[0] for array in arrays]
        if any(size != size for sizes in chunks for size in sizes):
            raise ValueError(
                "The lengths of some chunks are unknown: rows and labels cannot be matched. "
                "Call compute_chunk_sizes() of the arrays first."
            )
        if any(sum(sizes) != sum(chunks[0]) for sizes in chunks):
            raise ValueError(
                f"X has {sum(chunks[0])} rows, but y, weights or groups have "
                f"{[sum(sizes) for sizes in chunks[1:]]}."
            )
        # Cut where X is cut.
        parts = [array.rechunk({0: chunks[0]}).to_delayed().ravel() for array in arrays]
        if labels_only:
            parts[0] = [None] * len(chunks[0])
        return [
            delayed(ArrayBlock)(**dict(zip(given, each, strict=True)))
            for each in zip(*parts, strict=True)
        ]

    def plain_names(self) -> list | None:
        """Return the columns of the table if all are known to be plain numbers, else None."""
        own = self.label, self.weight, self.group, self.time
        named = [each for each in own if each in self.X.columns]
        return names_of_numbers([self.X._meta.drop(columns=named)])

    def group_blocks(self, sizes: list[int], bytes_per_row: int) -> list[list[int]]:
        """Return the numbers of neighbouring partitions of Dask that become one of ours.

        Every call is a task per partition: many small ones would cost more than the work.
        """
        n_wanted = _PARTITIONS_PER_THREAD * max(1, self.backend.n_threads())
        limit: float = _BYTES_IN_FILES if self.backend.folder is not None else _BYTES_IN_MEMORY
        limit = min(
            [limit, *(_SHARE_OF_PARTITION * memory for memory in self.backend.memory_limits())]
        )
        n_rows = min(sum(sizes) / n_wanted, limit / bytes_per_row)
        groups: list[list[int]] = []
        in_group = np.inf
        for number, size in enumerate(sizes):
            # The rows that a group lacks, against those that it would have too many.
            if in_group + size / 2 > n_rows:
                groups.append([])
                in_group = 0
            groups[-1].append(number)
            in_group += size
        return groups

    def marks(self) -> dict[str, np.ndarray]:
        """Return the labels, weights, groups and times of all rows, as far as there are any."""
        own = {"y": self.label, "sample_weight": self.weight}
        own |= {"groups": self.group, "time": self.time}
        own = {name: column for name, column in own.items() if column is not None}
        if hasattr(self.X, "columns"):
            frame = self.backend.client.compute(self.X[list(own.values())]).result()
            return {name: np.asarray(frame[column]) for name, column in own.items()}
        arrays = {"y": self.y, "sample_weight": self.weights}
        arrays |= {"groups": self.groups, "time": self.times}
        asked = {name: array for name, array in arrays.items() if array is not None}
        made = self.backend.client.gather(self.backend.client.compute(list(asked.values())))
        return dict(zip(asked, made, strict=True))

    def only(self, rows: np.ndarray) -> "_SomeDaskRows":
        """Return the source of some of the rows, given by their numbers, without their times."""
        return _SomeDaskRows(self, rows)

    @cached_property
    def sizes(self) -> list[int]:
        """The rows of each partition of Dask."""
        if not hasattr(self.X, "columns"):
            return list(self.X.chunks[0])
        client = self.backend.client
        return client.gather(client.compute([_size_of(block) for block in self.X.to_delayed()]))

    def check_fits(self, n_bytes: float, table_bytes: float = 0.0) -> None:
        """Refuse rows that do not fit in the memory of the workers."""
        limits = self.backend.memory_limits()
        if not limits:
            return
        if n_bytes > _USABLE * max(limits):
            raise MemoryError(
                f"The rows of one member take about {n_bytes / 2**20:.0f} MB, and the largest "
                f"worker has {max(limits) / 2**20:.0f} MB. Set a smaller max_rows, or take larger "
                "workers."
            )
        if self.backend.folder is None and table_bytes > _USABLE * sum(limits):
            raise MemoryError(
                f"The rows take {table_bytes / 2**20:.0f} MB, and all workers together have "
                f"{sum(limits) / 2**20:.0f} MB. Name a folder that the workers share, so that rows "
                "are kept in files, or take more workers."
            )


class _SomeDaskRows(DaskRows):
    """Some of the rows of a source, in their order, for a fit of its own."""

    def __init__(self, source: DaskRows, rows: np.ndarray):
        vars(self).update(vars(source))
        self.source = source
        self.rows = rows
        self.backend = source.backend.another()
        self.time = None

    def make_blocks(self, *, labels_only: bool = False) -> list:
        """Return a block for each partition that holds any of the rows."""
        from dask.delayed import delayed

        blocks, start = [], 0
        given = self.source.make_blocks(labels_only=labels_only)
        for block, size in zip(given, self.source.sizes, strict=True):
            first, last = np.searchsorted(self.rows, [start, start + size])
            if last > first:
                chosen = self.rows[first:last] - start
                blocks.append(delayed(_some_of_block)(block, chosen, self.source.time))
            start += size
        return blocks

    def ask_rows(self, question: Callable, *args) -> list:
        """Return what ``question(table, *args)`` gives for the table of each block."""
        from dask.delayed import delayed

        shared = [delayed(arg, pure=True) for arg in args]
        named = [self.label, self.weight, self.group]
        asked = [delayed(_answer)(question, block, named, *shared) for block in self.make_blocks()]
        return self.backend.client.gather(self.backend.client.compute(asked))


def _size_of(block):
    """Return the number of rows of a block, once it is computed."""
    from dask.delayed import delayed

    return delayed(len)(block)


def _some_of_block(block, rows: np.ndarray, time: str | None):
    """Return some rows of a block, without the column of times."""
    if isinstance(block, ArrayBlock):
        return ArrayBlock(*(None if each is None else each[rows] for each in block))
    return block.iloc[rows].drop(columns=[] if time not in block.columns else [time])


def _answer(question: Callable, block, named: list, *args):
    return question(open_block(block, *named).X, *args)
