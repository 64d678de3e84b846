"""Target statistics: categories with many levels as the shares of classes among their rows."""

from dataclasses import dataclass

import numpy as np

__all__ = ["TargetStatistics", "count_classes"]

#: This many rows of the whole table are added to those of each level.
_SMOOTHING = 20.0


def count_classes(
    codes, y, folds, n_levels: int, n_classes: int, n_folds: int, weights=None
) -> np.ndarray:
    """Count the rows of each level, fold and class; counts of partitions add up.

    Parameters
    ----------
    codes : ndarray of float
        Codes of a category as `TableEncoder` gives them: 1 to `n_levels`, 0 for all other levels,
        NaN for a missing value.
    y : ndarray of int
        The class of each row, as a position.
    folds : ndarray of int
        The fold of each row.
    n_levels, n_classes, n_folds : int
        How many there are.
    weights : ndarray of float, default=None
        How many rows each row counts as.

    Returns
    -------
    counts : ndarray of shape (n_levels + 2, n_folds, n_classes)
        Missing values are the last level. Without weights the counts are integers.
    """
    places = (_rows_of(codes, n_levels) * n_folds + folds) * n_classes + y
    size = (n_levels + 2) * n_folds * n_classes
    return np.bincount(places, weights, minlength=size).reshape(n_levels + 2, n_folds, n_classes)


def _rows_of(codes, n_levels: int) -> np.ndarray:
    return np.where(np.isnan(codes), n_levels + 1, codes).astype(np.intp)


@dataclass(frozen=True)
class TargetStatistics:
    """The share of each class among the rows of a level, mixed with that among all rows.

    A row's own class must have no part in its statistic. So the statistic of a training row comes
    from the rows of other folds. That of a new row comes from all.

    Parameters
    ----------
    counts : ndarray of shape (n_levels + 2, n_folds, n_classes)
        What `count_classes` gives, added up over all partitions.
    smoothing : float, default=20
        How many rows like all others are added to those of a level.
    """

    counts: np.ndarray
    smoothing: float = _SMOOTHING

    def __call__(self, codes, folds=None) -> np.ndarray:
        """Return the statistics of rows.

        Parameters
        ----------
        codes : ndarray of float
            Codes of the category.
        folds : ndarray of int, default=None
            The folds of training rows; None for new rows.

        Returns
        -------
        shares : ndarray of shape (n_rows, n_classes)
        """
        of_all = self.counts.sum(axis=1, keepdims=True)
        # Integers, without weights: the same whatever the order in which partitions were added.
        others = of_all if folds is None else of_all - self.counts
        total = others.sum(axis=0, keepdims=True)
        prior = total / np.maximum(total.sum(axis=2, keepdims=True), 1)
        mixed = others + self.smoothing * prior
        shares = mixed / np.maximum(mixed.sum(axis=2, keepdims=True), np.finfo(float).tiny)
        places = np.zeros(len(codes), dtype=np.intp) if folds is None else folds
        return shares[_rows_of(codes, len(self.counts) - 2), places]
