"""Synthetic rows between neighbours of one class (SMOTE), drawn many times from one graph.

By hand because imbalanced-learn's SMOTE computes the neighbours anew in every fit, and cannot
draw by weights; an ensemble draws once a member, always between the same real rows.
"""

import warnings

import numpy as np
from scipy.sparse import issparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from metasampler.ensemble.base import BaseEnsemble
from metasampler.growth import MemoryRows, is_plain_tree

__all__ = ["NumericRowsMixin", "Smote", "dense_table", "others_nearby"]


class Smote:
    """The neighbours of the rows of some classes, and synthetic rows between them.

    Rows are drawn of the classes with the numbers in ``wanted``; the user calls their number of
    neighbours by ``name``.
    """

    def __init__(
        self, data: MemoryRows, wanted, k_neighbors: int, *, name="k_neighbors", n_jobs=None
    ):
        self.X = data.tables[0]
        self.class_rows = data.class_rows
        self.neighbors: dict[int, np.ndarray] = {}
        for k in wanted:
            rows = data.class_rows[k]
            n_neighbors = min(k_neighbors, len(rows) - 1)
            few = f"Class {data.classes.tolist()[k]!r} has n_samples = {len(rows)}"
            if n_neighbors == 0:
                raise ValueError(
                    f"{few}, but SMOTE needs at least 2 rows of a class. Pass more rows of it, or "
                    "leave it out."
                )
            if n_neighbors < k_neighbors:
                warnings.warn(
                    f"{few}, too few for {name}={k_neighbors}: each row has {n_neighbors} "
                    "neighbours.",
                    UserWarning,
                    stacklevel=5,
                )
            graph = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(self.X[rows])
            # Without an argument no row is its own neighbour.
            self.neighbors[k] = graph.kneighbors(return_distance=False)

    def draw(self, k: int, size: int, rng: np.random.Generator, weights=None) -> np.ndarray:
        """Draw rows between rows of class k and their neighbours; heavy rows start more of them."""
        rows, neighbors = self.class_rows[k], self.neighbors[k]
        share = None if weights is None else weights / weights.sum()
        base = rng.choice(len(rows), size, p=share)
        other = neighbors[base, rng.integers(neighbors.shape[1], size=size)]
        # In the type of X: the trees' float32 need not be converted again.
        gap = rng.random(size, dtype=np.float32).astype(self.X.dtype)[:, np.newaxis]
        start = self.X[rows[base]]
        return start + gap * (self.X[rows[other]] - start)


def others_nearby(X, rows: np.ndarray, codes: np.ndarray, k_neighbors: int, *, n_jobs=None):
    """Count, for some rows, how many of their nearest rows are of another class."""
    n_neighbors = min(k_neighbors, len(X) - 1)
    graph = NearestNeighbors(n_neighbors=n_neighbors + 1, n_jobs=n_jobs).fit(X)
    found = graph.kneighbors(X[rows], return_distance=False)
    # A row need not be its own first neighbour: it may have doubles.
    keep = found != rows[:, np.newaxis]
    keep[keep.all(axis=1), -1] = False
    nearest = found[keep].reshape(len(rows), n_neighbors)
    return (codes[nearest] != codes[rows][:, np.newaxis]).sum(axis=1)


def dense_table(X, estimator, *, owner=None) -> np.ndarray:
    """Return X as one dense array of numbers, in the type the members take."""
    try:
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=np.float32 if is_plain_tree(estimator) else np.float64,
            order="C",
            input_name="X",
            estimator=owner,
        )
    except ValueError as error:
        wrong = _columns_without_numbers(X)
        if not wrong:
            raise
        raise ValueError(
            f"{type(owner).__name__} draws rows between rows, so that every column must hold "
            f"numbers; {wrong[:10]} do not. Encode them first."
        ) from error
    return X.toarray() if issparse(X) else X


def _columns_without_numbers(X) -> list:
    """Return the names of columns that cannot be read as numbers."""

    def has_numbers(column):
        try:
            np.asarray(column, dtype=float)
        except (TypeError, ValueError):
            return False
        return True

    return [name for name in getattr(X, "columns", []) if not has_numbers(X[name])]


class NumericRowsMixin(BaseEnsemble):
    """For ensembles with synthetic rows: tables become dense arrays of numbers, once."""

    def _fit_table(self, X, estimator):
        return dense_table(X, estimator, owner=self)

    def _check_predict_table(self, X):
        check_is_fitted(self)
        table = dense_table(X, self.estimator_, owner=self)
        self._check_features(X, reset=False)
        return table

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = False
        return tags
