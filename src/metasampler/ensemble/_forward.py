"""Rows in the order of time: older rows train, newer rows judge."""

from collections.abc import Iterator
from numbers import Integral

import numpy as np

from metasampler.ensemble._clones import (
    N_FOLDS_OF_GROUPS,
    asked_of,
    decide_by_clones,
    decide_by_rows,
    rows_of_fit,
)
from metasampler.ensemble._held_out import count_units
from metasampler.growth import (
    count_groups,
    folds_of_groups,
    folds_of_rows,
    group_keys,
    refuse_lone_groups,
    unchanged_on_error,
)
from metasampler.tables import time_numbers

__all__ = ["fit_forward", "forward_splits", "goes_by_time"]

# The newest rows that judge: a fifth, or more where a class would have too few rows among them.
_SHARES = (0.2, 0.3, 0.4, 0.5)

# With fewer rows of a class they judge little, and with fewer still nothing.
_ENOUGH_ROWS, _FEWEST_ROWS = 30, 5


def goes_by_time(X, time) -> bool:
    """Return whether a fit goes by the time of its rows."""
    return time is not None or (hasattr(type(X), "opened") and getattr(X, "time", None) is not None)


def fit_forward(ensemble, X, y, sample_weight, groups, time):
    """Fit an ensemble to all rows; the newest decide, as ensembles of older rows score them."""
    if ensemble.warm_start:
        raise ValueError("time does not go with warm_start=True: set one of them only.")
    table, kept = rows_of_fit(ensemble, X, y, sample_weight, groups, time)
    asked, groups = asked_of(ensemble, table.y), table.groups
    seed = ensemble.random_state if isinstance(ensemble.random_state, Integral) else 0
    pairs = forward_splits(table.time, asked, groups, int(seed), kept)

    with unchanged_on_error(ensemble):
        if ensemble.refit is False:
            newer = np.concatenate([judged for _, judged in pairs])
            older = np.unique(np.concatenate([train for train, _ in pairs]))
            if groups is not None:
                is_new = ~np.isin(group_keys(groups)[newer], group_keys(groups)[older])
                newer = newer[is_new]
                if _fewest(asked[newer], asked) < _FEWEST_ROWS:
                    # Few groups begin late: older rows of some groups are left out.
                    older, newer = pairs[0]
            table.fit(ensemble, older)
            proba = table.score(ensemble, newer)
            decide_by_rows(ensemble, table, [(older, newer)], proba, by_clones=False, anew=False)
        else:
            table.fit(ensemble, kept)
            decide_by_clones(ensemble, table, pairs, kept)
        # Dates are what the fit goes by.
        ensemble.findings_ = [each for each in ensemble.findings_ if "time=" not in each]
    return ensemble


def forward_splits(
    time, y: np.ndarray, groups=None, seed: int = 0, rows: np.ndarray | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return pairs of rows: older ones to train on, and newer ones to judge by.

    Rows of equal time are on one side. With groups there are several pairs. In each, newer rows of
    some groups judge what older rows of the other groups have taught; together the pairs judge all
    newer rows. With ``rows`` only these are on either side.
    """
    numbers = time_numbers(time).numbers
    if len(numbers) != len(y):
        raise ValueError(f"time has {len(numbers)} values, and y has {len(y)}.")
    keys = None if groups is None else group_keys(groups)
    if rows is not None and len(rows) < len(y):
        numbers, y, keys = numbers[rows], y[rows], None if keys is None else keys[rows]
    pairs = _splits(numbers, y, keys, seed)
    return pairs if rows is None else [(rows[train], rows[judged]) for train, judged in pairs]


def _splits(numbers: np.ndarray, y: np.ndarray, keys: np.ndarray | None, seed: int) -> list:
    """Return the pairs, given times as numbers and groups as keys."""
    newer = _newest(numbers, y, keys)
    if keys is None:
        return [(np.flatnonzero(~newer), np.flatnonzero(newer))]
    codes = np.unique(y, return_inverse=True)[1]
    counted = count_groups(keys, codes, int(codes.max()) + 1)
    refuse_lone_groups(counted, np.unique(y))
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    folds = folds_of_rows(counted, folds_of_groups(counted, N_FOLDS_OF_GROUPS, key), keys)
    pairs = [
        (np.flatnonzero(~newer & (folds != fold)), np.flatnonzero(newer & (folds == fold)))
        for fold in range(int(folds.max()) + 1)
    ]
    pairs = [(train, judged) for train, judged in pairs if len(judged)]
    for train, _ in pairs:
        if not _fewest(y[train], y):
            raise ValueError(
                "groups and time leave no older row of some class to train on: the class has too "
                "few groups before the newest rows. Pass one of groups and time only."
            )
    return pairs


def _newest(time: np.ndarray, y: np.ndarray, keys: np.ndarray | None) -> np.ndarray:
    """Return which rows are the newest, so that they hold enough rows of each class, or groups."""
    best = None
    codes = np.unique(y, return_inverse=True)[1]
    n_classes = int(codes.max()) + 1
    for newer in _candidates(time):
        rows = [_fewest(y[newer], y), _fewest(y[~newer], y)]
        of_rows = None if keys is None else keys[newer]
        units = count_units(codes[newer], n_classes, of_rows).min()
        if units >= _ENOUGH_ROWS and rows[1] >= _FEWEST_ROWS:
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
