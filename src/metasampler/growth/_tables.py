"""Tables of all kinds: arrays, sparse matrices and data frames."""

import numpy as np
from scipy import sparse

__all__ = ["is_frame", "join_tables"]


def is_frame(X) -> bool:
    """Whether X is a data frame (pandas, polars): a table whose columns have types."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "shape")


def join_tables(X, below):
    """Two tables of one kind as one, the rows of the first above those of the second."""
    if sparse.issparse(X) and sparse.issparse(below):
        return sparse.vstack([X, below], format="csr")
    if isinstance(X, np.ndarray) and isinstance(below, np.ndarray):
        return np.concatenate([X, below])
    if is_frame(X) and type(X) is type(below):
        if hasattr(X, "vstack"):  # polars
            import polars

            return polars.concat([X, below], how="vertical_relaxed")
        if hasattr(X, "iloc"):
            import pandas

            joined = pandas.concat([X, below], ignore_index=True)
            for name, kind in X.dtypes.items():
                if kind == "category" and joined[name].dtype != "category":
                    raise ValueError(
                        f"refit=True puts X and X_val into one table, but the categories of column "
                        f"{name!r} differ between them; give both the same."
                    )
            return joined
    raise ValueError(
        f"refit=True puts X and X_val into one table; X is a {type(X).__name__} and X_val a "
        f"{type(below).__name__}. Pass both as the same kind of table."
    )
