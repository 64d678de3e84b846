"""The place of parts in memory, and how tables there become one."""

from collections.abc import Callable

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
