"""Cut rows into those that train, validate and test: the paper's protocol."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from metasampler_bench.datasets import flip_labels, load, load_mesa_noise

__all__ = ["N_FOLDS", "Parts", "fit_seed", "n_folds_of", "split_rows", "take_frames", "take_parts"]

#: Folds over the rows that are not held out for validation: 60 : 20 : 20 in all.
N_FOLDS = 4
_VALIDATION_PART = 0.2
#: Part of the rows of a table that are for testing.
_TEST_PART = 0.25


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
    flips: str = "both",
    valid_noise: float = 0.0,
    fraction: float = 1.0,
    valid_fraction: float = 1.0,
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
    flips : {"both", "minority", "majority", "authors"}, default="both"
        Which labels: of both classes alike; of one class only, as many as the minority's would
        be; or those that the authors of the paper have flipped, for their split.
    valid_noise : float, default=0.0
        The same part of the validation labels, for those who have no clean ones.
    fraction, valid_fraction : float, default=1.0
        Part of each class of the training rows, or of the validation rows, to keep.
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
    state = fit_seed(run, fold, seed)
    train, valid = _keep(train, y, fraction, state), _keep(valid, y, valid_fraction, state)
    y_train, y_valid = y[train], y[valid]
    if noise and flips == "authors":
        if data.part is None or fraction < 1:
            raise ValueError(f"The authors have flipped no labels of these rows of {name!r}.")
        y_train = load_mesa_noise(noise, data_home)
    elif noise:
        y_train = flip_labels(y_train, noise, classes=flips, random_state=state)
    if valid_noise:
        y_valid = flip_labels(y_valid, valid_noise, random_state=state)
    return Parts(X[train], y_train, X[valid], y_valid, X[test], y[test])


def _keep(rows: NDArray[np.intp], y: NDArray[Any], fraction: float, state: int) -> NDArray[np.intp]:
    """Return a part of each class of some rows, in their order."""
    if fraction == 1:
        return rows
    kept, _ = train_test_split(rows, train_size=fraction, stratify=y[rows], random_state=state)
    return np.sort(kept)


def take_frames(
    name: str, run: int, *, seed: int = 0, data_home: str | None = None
) -> tuple[Any, NDArray[np.int64], Any, NDArray[np.int64]]:
    """Return a table for one run, cut once and class-wise 75 : 25.

    Parameters
    ----------
    name : str
        See :func:`metasampler_bench.datasets.load`. An array becomes a frame.
    run, seed : int
        Their sum is the seed of the split.
    data_home : str, default=None
        Folder of the data.

    Returns
    -------
    X_train, y_train, X_test, y_test : DataFrame and ndarray
        With columns of their own types, and a new index.
    """
    import pandas as pd

    data = _load(name, data_home)
    X, y = data.data, data.target
    if not hasattr(X, "iloc"):
        X = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    train, test = train_test_split(
        np.arange(len(y)), test_size=_TEST_PART, stratify=y, random_state=seed + run
    )
    train, test = np.sort(train), np.sort(test)
    first, second = (X.iloc[rows].reset_index(drop=True) for rows in (train, test))
    return first, y[train], second, y[test]
