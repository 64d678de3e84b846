"""Categories with many levels as numbers: how often the rows of a level are of the second class.

A booster splits hundreds of levels by what it has seen of them, and so learns noise by heart. As
one number (`TargetStatistics`) they are a column like any other.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metasampler.tables import TargetStatistics, count_classes

__all__ = ["RecodedRows", "Recoding", "learn_recoding"]

# A member learns from rows whose own class has no part in their numbers.
_N_FOLDS = 5

# Rows that are read at once.
_BATCH = 1 << 15


@dataclass(frozen=True)
class Recoding:
    """Put numbers in the place of the codes of some categories.

    Parameters
    ----------
    shares : dict of int -> ndarray of float32
        For each of these columns the number of each code: 0, 1, ..., and last of a missing value.
    """

    shares: dict[int, np.ndarray]

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return a copy of a table, with numbers instead of codes."""
        X = X.copy()
        for column, shares in self.shares.items():
            codes = X[:, column]
            codes = np.where(np.isnan(codes), len(shares) - 1, codes).astype(np.intp)
            X[:, column] = np.take(shares, codes, mode="clip")
        return X


def learn_recoding(
    n_levels: dict[int, int], X, rows: np.ndarray, y: np.ndarray, weights, seed: int
) -> tuple[Recoding, np.ndarray]:
    """Return the recoding that rows of a table teach, and the numbers of these rows themselves.

    Parameters
    ----------
    n_levels : dict of int -> int
        The columns to recode, and how many levels with a code of their own each has.
    X : ndarray or table in a file
        The table.
    rows : ndarray of int
        Positions of the rows.
    y, weights : ndarray of shape (n_rows,)
        Their classes, 0 or 1, and their weights or None.
    seed : int
        What the folds are drawn by: the numbers of a row come from other folds.

    Returns
    -------
    recoding : Recoding
    values : ndarray of float32 of shape (n_rows, n_columns)
    """
    columns = list(n_levels)
    folds = np.random.RandomState(seed).randint(_N_FOLDS, size=len(rows), dtype=np.uint8)
    folds = folds.astype(np.intp)
    if weights is not None:
        # As many rows as there are, so that a level needs as many of them to be believed.
        weights = weights / weights.mean()
    codes = _columns_of(X, rows, columns)
    values, shares = np.empty(codes.shape, np.float32), {}
    for place, (column, size) in enumerate(n_levels.items()):
        of_column = codes[:, place]
        counts = count_classes(of_column, y, folds, size, 2, _N_FOLDS, weights)
        statistics = TargetStatistics(counts)
        values[:, place] = statistics(of_column, folds)[:, 1]
        every_code = np.append(np.arange(size + 1.0), np.nan)
        shares[column] = statistics(every_code)[:, 1].astype(np.float32)
    return Recoding(shares), values


def _columns_of(X, rows: np.ndarray, columns: list[int]) -> np.ndarray:
    if not hasattr(X, "is_in_file"):
        return X[rows[:, np.newaxis], columns]
    batches = np.split(rows, np.arange(_BATCH, len(rows), _BATCH))
    return np.concatenate([X[batch][:, columns] for batch in batches])


class RecodedRows:
    """Rows of a table as LightGBM reads them, batch by batch, with numbers instead of codes.

    Parameters
    ----------
    X : ndarray or table in a file
        The table.
    rows : ndarray of int
        Positions of the rows, in ascending order.
    recode : callable
        ``recode(table, which)`` returns rows with numbers, given these rows and which they are.
    """

    batch_size = _BATCH

    def __init__(self, X, rows: np.ndarray, recode: Callable):
        self.X = X
        self.rows = rows
        self.recode = recode

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which):
        if isinstance(which, (int, np.integer)):
            return self[slice(which, which + 1)][0]
        return self.recode(self.X[self.rows[which]], which)
