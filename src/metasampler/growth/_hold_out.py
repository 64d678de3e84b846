"""Which rows are held out: a fraction of each class, or folds that members leave out in turn."""

from collections.abc import Sequence

import numpy as np

from metasampler._warnings import warn_user
from metasampler.growth._draw import draw_rows, race_keys_of

__all__ = [
    "MAX_RANKED",
    "assign_folds",
    "can_hold_out",
    "find_minority",
    "fold_by_key",
    "folds_by_rank",
    "hold_out",
    "hold_out_size",
    "is_alone",
    "n_filled_folds",
]

#: Up to this many rows of a class are assigned to folds by rank, so that folds are equally large.
#: In a larger class they nearly are without that.
MAX_RANKED = 300_000


def find_minority(classes: np.ndarray, counts: np.ndarray) -> int:
    """Return the position of the smallest class, if there are at least two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}; a classifier needs rows of at least "
            "2 classes."
        )
    # Among equally small classes the last is the minority, as 1 is among 0 and 1.
    return len(classes) - 1 - int(np.argmin(counts[::-1]))


def can_hold_out(
    classes: np.ndarray, counts: np.ndarray, must_hold_out: bool, *, rotate: bool = False
) -> bool:
    """Return whether validation rows can be held out: not if a class has a single row.

    Then there is an error, or without ``must_hold_out`` a warning. With ``rotate`` and many classes
    the lone rows stay with all members, and only the others are held out.
    """
    if counts.min() >= 2 or (rotate and len(counts) > 2 and counts.max() >= 2):
        return True
    rare = repr(classes.tolist()[int(np.argmin(counts))])
    lone = f"Class {rare} has n_samples = 1 row; at least 2 are needed to hold out validation rows"
    if must_hold_out:
        raise ValueError(f"{lone}. Pass X_val and y_val, or more rows of this class.")
    warn_user(f"{lone}: there are none.")
    return False


def hold_out(
    class_rows: Sequence[np.ndarray], n_rows: int, fraction: float, key: np.ndarray
) -> np.ndarray:
    """Return a mask of the rows to hold out, a fraction of each class.

    By hand because scikit-learn's stratified split may leave a rare class without any validation
    row, and because rows are chosen by number, as in every other draw.
    """
    held_out = np.zeros(n_rows, dtype=bool)
    for rows in class_rows:
        size = hold_out_size(len(rows), fraction)
        held_out[rows[draw_rows(race_keys_of(key, 0, rows), size)]] = True
    return held_out


def hold_out_size(n_rows: int, fraction: float) -> int:
    """Return how many rows of a class are held out: at least one, and not all."""
    return min(max(1, round(fraction * n_rows)), n_rows - 1)


def assign_folds(
    class_rows: Sequence[np.ndarray], n_rows: int, n_folds: int, key: np.ndarray, number: int = 0
) -> np.ndarray:
    """Return the fold of every row.

    Rows that no class holds, and the lone row of one of many classes, get a number that no fold
    has: every member may see them.
    """
    folds = np.full(n_rows, n_folds, dtype=np.min_scalar_type(n_folds))
    for rows in class_rows:
        if is_alone(len(rows), len(class_rows)):
            continue
        keys = race_keys_of(key, number, rows)
        by_rank = len(rows) <= MAX_RANKED
        folds[rows] = folds_by_rank(keys, n_folds) if by_rank else fold_by_key(keys, n_folds)
    return folds


def n_filled_folds(counts: np.ndarray, n_folds: int) -> int:
    """Return how many folds have rows, given the rows of each class: the first ones do."""
    largest = int(counts.max())
    return 0 if is_alone(largest, len(counts)) else min(n_folds, largest)


def is_alone(n_rows: int, n_classes: int) -> bool:
    """Return whether the rows of a class are never left out: the only row of one of many."""
    return n_rows == 1 and n_classes > 2


def folds_by_rank(keys: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the folds of the rows of a class, assigned round-robin in the order of their keys."""
    folds = np.empty(len(keys), dtype=np.intp)
    folds[np.argsort(keys)] = np.arange(len(keys)) % n_folds
    return folds


def fold_by_key(keys: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold of each row by its own key alone."""
    # A key is the logarithm of an exponential variate: this is uniform in [0, 1).
    uniform = -np.expm1(-np.exp(keys))
    return np.minimum((uniform * n_folds).astype(np.intp), n_folds - 1)
