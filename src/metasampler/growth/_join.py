"""Tables below each other, as one."""

import numpy as np
from scipy import sparse

from metasampler.tables import is_frame

__all__ = ["join_frames", "join_tables"]


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


def join_frames(frames: list):
    """Return pandas frames as one; a column of categories has the same in all of them."""
    if len(frames) == 1:
        return frames[0]
    import pandas

    joined = pandas.concat(frames, ignore_index=True)
    for name, kind in frames[0].dtypes.items():
        if kind == "category" and joined[name].dtype != "category":
            raise ValueError(
                f"The rows are put into one table, but the categories of column {name!r} differ "
                "between parts of them; give all the same."
            )
    return joined
