"""A rare-digit problem from what scikit-learn ships, so that no download is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.utils import check_random_state


def make_imbalanced_digits(
    target: int = 8,
    *,
    imbalance_ratio: float = 30.0,
    random_state: int | np.random.RandomState | None = 0,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make a rare-digit problem from scikit-learn's digits.

    One digit becomes the positive class, and all others become the negative one. Then positive rows
    are dropped at random until the wanted ratio is reached.

    Parameters
    ----------
    target : int, default=8
        The digit to find, 0 to 9.

    imbalance_ratio : float, default=30.0
        Negative rows per positive row. The digits hold about 9 negatives per positive, which is
        therefore the smallest ratio possible.

    random_state : int, RandomState instance or None, default=0
        Decides which positive rows are kept. The default always gives the same data.

    Returns
    -------
    X : ndarray of shape (n_rows, 64)
        Brightness of the 8 x 8 pixels, 0 to 16.

    y : ndarray of shape (n_rows,)
        1 for the target digit, 0 for all others.

    Examples
    --------
    >>> from metasampler.datasets import make_imbalanced_digits
    >>> X, y = make_imbalanced_digits()
    >>> X.shape, int(y.sum())
    ((1677, 64), 54)
    """
    if target not in range(10):
        raise ValueError(f"target must be a digit from 0 to 9, got {target!r}.")
    digits: Any = load_digits()
    y = (digits.target == target).astype(np.int64)
    positives = np.flatnonzero(y == 1)
    n_negatives = len(y) - len(positives)
    n_kept = round(n_negatives / imbalance_ratio) if imbalance_ratio > 0 else 0
    if not 1 <= n_kept <= len(positives):
        raise ValueError(
            f"imbalance_ratio must lie between {n_negatives / len(positives):.2f} and "
            f"{n_negatives} for digit {target}, got {imbalance_ratio!r}."
        )
    kept = check_random_state(random_state).choice(positives, size=n_kept, replace=False)
    # Sorted, so that the order of the rows says nothing about the class.
    rows = np.sort(np.concatenate([np.flatnonzero(y == 0), kept]))
    return digits.data[rows], y[rows]
