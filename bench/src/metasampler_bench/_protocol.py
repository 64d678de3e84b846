"""Cut rows into those that train, validate and test: the paper's protocol."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from metasampler_bench.datasets import flip_labels, load

__all__ = ["N_FOLDS", "Parts", "fit_seed", "n_folds_of", "split_rows", "take_parts"]

#: Folds over the rows that are not held out for validation: 60 : 20 : 20 in all.
N_FOLDS = 4
_VALIDATION_PART = 0.2


class Parts(NamedTuple):
    """Rows of one cell; the test rows are scored and nothing else."""

    X_train: Any
    y_train: NDArray[np.int64]
    X_valid: Any
    y_valid: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]


# Cells are worked off set by set, and the largest set has 90 MB.
@lru_cache(maxsize=2)
def _load(name: str, data_home: str | None) -> Any:
    return load(name, data_home=data_home)


def n_folds_of(name: str) -> int:
    """Return the test folds of a data set in one run: one where the split is fixed."""
    return 1 if name.endswith("-authors") else N_FOLDS


def split_rows(
    y: NDArray[Any], run: int, fold: int, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return training, validation and test rows, class-wise 60 : 20 : 20.

    The validation rows are drawn once a run; the rest is cut into four folds, of which one is
    for testing.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Labels.
    run : int
        Number of the run; runs are independent.
    fold : int
        Number of the test fold, 0 to 3.
    seed : int, default=0
        Seed of the whole benchmark.

    Returns
    -------
    train, valid, test : ndarray of int
        Row numbers, in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler_bench import split_rows
    >>> y = np.repeat([0, 1], [80, 20])
    >>> [int(y[rows].sum()) for rows in split_rows(y, run=0, fold=0)]
    [12, 4, 4]
    """
    if fold not in range(N_FOLDS):
        raise ValueError(f"fold must be 0 to {N_FOLDS - 1}, got {fold!r}.")
    rows = np.arange(len(y))
    state = seed + run
    rest, valid = train_test_split(rows, test_size=_VALIDATION_PART, stratify=y, random_state=state)
    rest = np.sort(rest)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=state)
    train, test = list(folds.split(rest, y[rest]))[fold]
    return rest[train], np.sort(valid), rest[test]


def fit_seed(run: int, fold: int, seed: int = 0) -> int:
    """Return the seed of all fits of a run and fold: all methods get the same random numbers."""
    return 1000 * (seed + run) + fold


def take_parts(
    name: str,
    run: int,
    fold: int,
    *,
    seed: int = 0,
    noise: float = 0.0,
    fraction: float = 1.0,
    data_home: str | None = None,
) -> Parts:
    """Return the rows of a data set for one run and fold.

    Parameters
    ----------
    name : str
        See :func:`metasampler_bench.datasets.load`.
    run, fold, seed : int
        See `split_rows`. A set with a fixed split has one fold and the same rows in every run.
    noise : float, default=0.0
        Part of the minority labels of the training rows that are flipped, with as many of the
        majority; validation and test rows keep theirs.
    fraction : float, default=1.0
        Part of each class of the training rows to keep.
    data_home : str, default=None
        Folder of the data.

    Returns
    -------
    parts : Parts
    """
    data = _load(name, data_home)
    X, y = data.data, data.target
    if len(np.unique(y)) != 2:
        raise ValueError(
            f"Data set {name!r} has {len(np.unique(y))} classes; the benchmark is for two."
        )
    if data.part is None:
        train, valid, test = split_rows(y, run, fold, seed)
    else:
        train, valid, test = (
            np.flatnonzero(data.part == part) for part in ("train", "valid", "test")
        )
    if fraction < 1:
        state = fit_seed(run, fold, seed)
        train, _ = train_test_split(
            train, train_size=fraction, stratify=y[train], random_state=state
        )
        train = np.sort(train)
    y_train = y[train]
    if noise:
        y_train = flip_labels(y_train, noise, random_state=fit_seed(run, fold, seed))
    return Parts(X[train], y_train, X[valid], y[valid], X[test], y[test])
