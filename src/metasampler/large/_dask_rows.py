"""Rows on a Dask cluster: data frames and arrays in partitions."""

import numpy as np

from metasampler.distributed._place import Cluster
from metasampler.growth import ArrayBlock, names_of_numbers, without_spare_memory

__all__ = ["DaskRows", "is_dask"]

# What a worker's memory may be filled with; Dask itself needs the rest.
_USABLE = 0.6

# Parts a thread of the cluster. Every question costs a task for each part, some milliseconds of the
# scheduler's and the worker's time, and a draw takes the same time for all parts of one size.
_PARTS_A_THREAD = 1

# The most bytes of a table that become one part, by where the tables are kept. What is read from
# a file, and then written, is in the memory of a worker several times.
_BYTES_IN_FILES, _BYTES_IN_MEMORY = 1 << 25, 1 << 28

# What the table of one part may take of a worker's memory.
_SHARE_OF_PART = 0.1


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
    place : Cluster
        Where the parts will be.
    label, weight : str or None
        Columns of a data frame.
    """

    def __init__(self, X, y, place: Cluster, label=None, weight=None, weights=None):
        self.X = X
        self.y = y
        self.place = place
        self.label = label
        self.weight = weight if weights is None else "sample_weight"
        self.weights = weights

    def __repr__(self):
        return f"A {type(self.X).__name__} in {self._n_blocks()} partitions"

    def _n_blocks(self) -> int:
        return self.X.npartitions

    def make_place(self) -> Cluster:
        """Return where the parts are going to be."""
        return self.place

    def make_blocks(self, *, labels_only: bool = False) -> list:
        """Return one block a partition; it is read where it is used."""
        from dask.delayed import delayed

        if hasattr(self.X, "columns"):
            names = [name for name in (self.label, self.weight) if name is not None]
            # Dask makes one task of it with the reading: nothing else would ask that worker again.
            blocks = self.X.map_partitions(without_spare_memory, meta=self.X._meta).to_delayed()
            if not labels_only:
                return list(blocks)
            labels = self.X[names].to_delayed()
            # Of few columns Dask may read several files as one block; then labels are taken from
            # the rows as they are.
            same = len(labels) == len(blocks)
            return list(labels) if same else [block[names] for block in blocks]
        arrays = [self.X, self.y] if self.weights is None else [self.X, self.y, self.weights]
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
                f"X has {sum(chunks[0])} rows, but y or the weights have "
                f"{[sum(sizes) for sizes in chunks[1:]]}."
            )
        # Cut where X is cut.
        parts = [array.rechunk({0: chunks[0]}).to_delayed().ravel() for array in arrays]
        if labels_only:
            parts[0] = [None] * len(chunks[0])
        return [delayed(ArrayBlock)(*each) for each in zip(*parts, strict=True)]

    def plain_names(self) -> list | None:
        """Return the columns of the table if all are known to be plain numbers, else None."""
        named = [name for name in (self.label, self.weight) if name is not None]
        return names_of_numbers([self.X._meta.drop(columns=named)])

    def group_blocks(self, sizes: list[int], bytes_a_row: int) -> list[list[int]]:
        """Return the numbers of neighbouring partitions that become one part.

        Every question is a task a part: many small partitions would cost more than the work.
        """
        n_wanted = _PARTS_A_THREAD * max(1, self.place.n_threads())
        limit: float = _BYTES_IN_FILES if self.place.folder is not None else _BYTES_IN_MEMORY
        limit = min([limit, *(_SHARE_OF_PART * memory for memory in self.place.memory_limits())])
        n_rows = min(sum(sizes) / n_wanted, limit / bytes_a_row)
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

    def check_fits(self, n_bytes: float, table_bytes: float = 0.0) -> None:
        """Refuse rows that do not fit in the memory of the workers."""
        limits = self.place.memory_limits()
        if not limits:
            return
        if n_bytes > _USABLE * max(limits):
            raise MemoryError(
                f"The rows of one member take about {n_bytes / 2**20:.0f} MB, and the largest "
                f"worker has {max(limits) / 2**20:.0f} MB. Set a smaller max_rows, or take larger "
                "workers."
            )
        if self.place.folder is None and table_bytes > _USABLE * sum(limits):
            raise MemoryError(
                f"The rows take {table_bytes / 2**20:.0f} MB, and all workers together have "
                f"{sum(limits) / 2**20:.0f} MB. Name a folder that the workers share, so that rows "
                "are kept in files, or take more workers."
            )

    def close(self) -> None:
        """Remove the files of the parts."""
        self.place.close()
