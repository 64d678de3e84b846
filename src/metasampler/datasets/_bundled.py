"""A rare-digit problem from what scikit-learn ships, so that no download is needed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits


def make_imbalanced_digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make a rare-digit problem from scikit-learn's digits: find the eights among the others.

    Most eights are dropped at random, always the same ones: there are 30 other digits for each
    that is left. :func:`imblearn.datasets.make_imbalance` makes other problems of this kind.

    Returns
    -------
    X : ndarray of shape (1677, 64)
        Brightness of the 8 x 8 pixels, 0 to 16.

    y : ndarray of shape (1677,)
        1 for an eight, 0 for all others.

    Examples
    --------
    >>> from metasampler.datasets import make_imbalanced_digits
    >>> X, y = make_imbalanced_digits()
    >>> X.shape, int(y.sum())
    ((1677, 64), 54)
    """
    digits: Any = load_digits()
    y = (digits.target == 8).astype(np.int64)
    kept = np.random.RandomState(0).choice(np.flatnonzero(y == 1), size=54, replace=False)
    # Sorted, so that the order of the rows says nothing about the class.
    rows = np.sort(np.concatenate([np.flatnonzero(y == 0), kept]))
    return digits.data[rows], y[rows]
