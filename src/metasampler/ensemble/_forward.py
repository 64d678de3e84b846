"""Rows in the order of time: older rows train, newer rows judge."""

import os
from collections.abc import Iterator
from numbers import Integral

import numpy as np
from sklearn.base import clone

from metasampler._sklearn_compat import take_rows
from metasampler.ensemble._one_class import against_the_rest
from metasampler.growth import (
    check_labels,
    count_groups,
    folds_of_groups,
    folds_of_rows,
    group_keys,
    unchanged_on_error,
)
from metasampler.tables import time_numbers

__all__ = ["fit_forward", "forward_splits"]

# The newest rows that judge: a fifth, or more where a class would have too few rows among them.
_SHARES = (0.2, 0.3, 0.4, 0.5)

# With fewer rows of a class they judge little, and with fewer still nothing.
_ENOUGH_ROWS, _FEWEST_ROWS = 30, 5

# Groups are judged by this many ensembles, each of which has not seen some of the groups.
_N_FOLDS = 3


def fit_forward(ensemble, X, y, sample_weight, groups, time):
    """Fit an ensemble to all rows; the newest decide, as ensembles of older rows score them."""
    if isinstance(X, (str, os.PathLike)) or hasattr(X, "opened"):
        raise ValueError("time is for rows in memory; read the rows into a data frame.")
    if ensemble.warm_start:
        raise ValueError("time does not go with warm_start=True: set one of them only.")
    y = check_labels(y, X, owner=ensemble)
    seed = ensemble.random_state if isinstance(ensemble.random_state, Integral) else 0
    asked = y
    if ensemble.positive is not None:
        asked = against_the_rest(y, X, ensemble.positive, owner=ensemble)
    pairs = forward_splits(time, asked, groups, int(seed))

    def some(values, rows):
        return None if values is None else take_rows(np.asarray(values), rows)

    def fit(classifier, rows):
        options = {"sample_weight": some(sample_weight, rows), "groups": some(groups, rows)}
        return classifier.fit(take_rows(X, rows), y[rows], **options)

    newer = np.concatenate([judged for _, judged in pairs])
    with unchanged_on_error(ensemble):
        fitted = None
        if ensemble.refit is False:
            older = np.unique(np.concatenate([train for train, _ in pairs]))
            if groups is not None:
                newer = newer[~np.isin(np.asarray(groups)[newer], np.asarray(groups)[older])]
            fit(ensemble, older)
        else:
            # What the clones decide is not used.
            clones = [fit(clone(ensemble).set_params(threshold=None), train) for train, _ in pairs]
            ends = np.cumsum([len(judged) for _, judged in pairs])
            fitted = zip(clones, np.split(np.arange(len(newer)), ends[:-1]), strict=True)
            fit(ensemble, np.arange(len(y)))
        ensemble.recalibrate(
            take_rows(X, newer),
            y[newer],
            some(sample_weight, newer),
            groups=some(groups, newer),
            fitted=fitted,
        )
        # Dates are what the fit goes by.
        ensemble.findings_ = [each for each in ensemble.findings_ if "time=" not in each]
    return ensemble


def forward_splits(
    time, y: np.ndarray, groups=None, seed: int = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return pairs of rows: older ones to train on, and newer ones to judge by.

    Rows of equal time are on one side. With groups there are several pairs. In each, newer rows of
    some groups judge what older rows of the other groups have taught; together the pairs judge all
    newer rows.
    """
    numbers = time_numbers(time).numbers
    if len(numbers) != len(y):
        raise ValueError(f"time has {len(numbers)} values, and y has {len(y)}.")
    newer = _newest(numbers, y)
    if groups is None:
        return [(np.flatnonzero(~newer), np.flatnonzero(newer))]
    keys = group_keys(groups)
    codes = np.unique(y, return_inverse=True)[1]
    counted = count_groups(keys, codes, int(codes.max()) + 1)
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    folds = folds_of_rows(counted, folds_of_groups(counted, _N_FOLDS, key), keys)
    pairs = [
        (np.flatnonzero(~newer & (folds != fold)), np.flatnonzero(newer & (folds == fold)))
        for fold in range(int(folds.max()) + 1)
    ]
    return [(train, judged) for train, judged in pairs if len(judged)]


def _newest(time: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return which rows are the newest, so that they hold enough rows of each class."""
    best = None
    for newer in _candidates(time):
        rows = [_fewest(y[newer], y), _fewest(y[~newer], y)]
        if rows[0] >= _ENOUGH_ROWS and rows[1] >= _FEWEST_ROWS:
            return newer
        if min(rows) >= _FEWEST_ROWS:
            best = newer
    if best is None:
        raise ValueError(
            "time cannot split the rows: older and newer rows must each hold at least "
            f"{_FEWEST_ROWS} rows of every class."
        )
    return best


def _candidates(time: np.ndarray) -> Iterator[np.ndarray]:
    for share in _SHARES:
        border = np.quantile(time, 1 - share, method="higher")
        # Equal times stay together; the first of all cannot be the border.
        newer = time >= border
        if newer.all():
            newer = time > border
        if newer.any():
            yield newer


def _fewest(some: np.ndarray, y: np.ndarray) -> int:
    """Return the number of rows of the class that has the fewest among some rows."""
    return int(min(np.count_nonzero(some == label) for label in np.unique(y)))
