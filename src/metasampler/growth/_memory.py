"""The place of parts in memory, and tables there: one of two, and what tells them apart."""

from collections.abc import Callable
from hashlib import blake2b
from zlib import crc32

import joblib
import numpy as np
from scipy import sparse

from metasampler.growth._journal import Journal
from metasampler.growth._stacked import join_frames
from metasampler.tables import is_frame


class Memory:
    """The place of parts in memory."""

    #: Whether questions may change sums where they are, instead of making new ones.
    in_place = True

    #: Whether the loop may ask for the numbers of all rows that members were trained on.
    knows_rows = True

    #: Whether a piece for a member holds copies of its rows.
    copies_rows = False

    #: Remembers members for whoever begins the fit again.
    journal: Journal | None = None

    def make(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return a cell for each part: what the function makes of the cells given.

        A cell that is a list holds cells of several parts: the function gets them together.
        """
        return [function(*each, *args) for each in zip(*cells, strict=True)]

    #: Return the answer of each part: in memory a cell is the thing itself.
    ask = make

    def new_paths(self, n_paths: int) -> list:
        """Return paths of files for the tables of parts; None keeps one where the part is."""
        return [None] * n_paths

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        """Leave nothing behind: a fit is over, or has failed."""


def fingerprint(table) -> str:
    """Return a short text that tables with other values do not have."""
    if sparse.issparse(table):
        table = table.tocsr()
        return " ".join(map(fingerprint, (table.data, table.indices, table.indptr)))
    if isinstance(table, np.ndarray) and not table.dtype.hasobject:
        # A checksum: it is to find mistakes, and every fit reads its whole table for it.
        head = crc32(f"{table.shape} {table.dtype}".encode())
        return f"{crc32(np.ascontiguousarray(table).data, head):08x}"
    if hasattr(table, "columns"):
        # By column: how a frame keeps its columns together is no part of it.
        parts = [joblib.hash((str(name), np.asarray(table[name]))) for name in table.columns]
        return blake2b(" ".join(parts).encode(), digest_size=8).hexdigest()
    return joblib.hash(table)


def join_tables(X, below):
    """Return two tables of one kind as one, the rows of the first above those of the second."""
    if sparse.issparse(X) and sparse.issparse(below):
        return sparse.vstack([X, below], format="csr")
    if isinstance(X, np.ndarray) and isinstance(below, np.ndarray):
        return np.concatenate([X, below])
    if is_frame(X) and type(X) is type(below):
        if hasattr(X, "vstack"):  # polars
            import polars

            return polars.concat([X, below], how="vertical_relaxed")
        if hasattr(X, "iloc"):
            return join_frames([X, below])
    raise ValueError(
        f"X and X_val are put into one table; X is a {type(X).__name__} and X_val a "
        f"{type(below).__name__}. Pass both as the same kind of table."
    )
