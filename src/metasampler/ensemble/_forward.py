"""Rows in the order of time: older rows train, newer rows judge."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from metasampler._sklearn_compat import take_rows
from metasampler.drift import some_rows
from metasampler.ensemble._checks import check_labelled
from metasampler.ensemble._held_out import HeldOut, count_units
from metasampler.ensemble._one_class import against_the_rest
from metasampler.ensemble._sources import resolve_source
from metasampler.growth import (
    check_groups,
    check_labels,
    count_groups,
    drop_weightless_rows,
    folds_of_groups,
    folds_of_rows,
    group_keys,
    refuse_lone_groups,
    refuse_missing,
    unchanged_on_error,
)
from metasampler.tables import time_numbers

__all__ = ["fit_forward", "forward_splits", "goes_by_time"]

# The newest rows that judge: a fifth, or more where a class would have too few rows among them.
_SHARES = (0.2, 0.3, 0.4, 0.5)

# With fewer rows of a class they judge little, and with fewer still nothing.
_ENOUGH_ROWS, _FEWEST_ROWS = 30, 5

# Groups are judged by this many ensembles, each of which has not seen some of the groups.
_N_FOLDS = 3


class _TableInTime(NamedTuple):
    """Rows in memory. Those in files have the same methods."""

    X: Any
    y: np.ndarray
    sample_weight: Any = None
    groups: Any = None

    def of(self, name: str, rows: np.ndarray):
        """Return weights or groups of some rows; None stays None."""
        values = getattr(self, name)
        return None if values is None else take_rows(np.asarray(values), rows)

    def fit(self, classifier, rows: np.ndarray):
        """Fit a classifier to some rows."""
        options = {name: self.of(name, rows) for name in ("sample_weight", "groups")}
        return classifier.fit(take_rows(self.X, rows), self.y[rows], **options)

    def score(self, classifier, rows: np.ndarray) -> np.ndarray:
        """Return the joint answer of the members of a classifier, before calibration."""
        return classifier._mean_proba(take_rows(self.X, rows))


class _FilesInTime(_TableInTime):
    """Rows that are read one partition at a time."""

    def fit(self, classifier, rows):
        return classifier.fit(self.X.only(rows))

    def score(self, classifier, rows):
        parts = [classifier._mean_proba(frame) for frame in self.X.only(rows).frames()]
        return np.concatenate(parts)


def goes_by_time(X, time) -> bool:
    """Return whether a fit goes by the time of its rows."""
    return time is not None or (hasattr(type(X), "opened") and getattr(X, "time", None) is not None)


def fit_forward(ensemble, X, y, sample_weight, groups, time):
    """Fit an ensemble to all rows; the newest decide, as ensembles of older rows score them."""
    if ensemble.warm_start:
        raise ValueError("time does not go with warm_start=True: set one of them only.")
    kind: type[_TableInTime] = _TableInTime
    source = resolve_source(X, y, sample_weight)
    if source is not None:
        if time is not None or groups is not None:
            raise ValueError(
                "time and groups cannot be passed for rows outside of memory; name their columns, "
                "as in ParquetRows(path, label, group=..., time=...)."
            )
        marks = source.marks()
        kind, X, y, time = _FilesInTime, source, marks["y"], marks["time"]
        sample_weight, groups = marks.get("sample_weight"), marks.get("groups")
        if groups is not None:
            refuse_missing(groups, f"column {source.group!r}")
    y = check_labels(y, X if source is None else y, owner=ensemble)
    if groups is not None:
        check_groups(groups, len(y))
    kept = np.arange(len(y))
    if sample_weight is not None:
        if np.ndim(sample_weight) and len(sample_weight) != len(y):
            raise ValueError(
                f"sample_weight has {len(sample_weight)} values, and X has {len(y)} rows."
            )
        # Rows without weight neither train nor judge.
        *_, weighted = drop_weightless_rows(y, y, sample_weight)
        kept = kept if weighted is None else weighted
        sample_weight = np.broadcast_to(np.asarray(sample_weight), len(y))
    seed = ensemble.random_state if isinstance(ensemble.random_state, Integral) else 0
    asked = y
    if ensemble.positive is not None:
        asked = against_the_rest(y, y, ensemble.positive, owner=ensemble)
    pairs = forward_splits(time, asked, groups, int(seed), kept)

    table = kind(X, y, sample_weight, groups)
    newer = np.concatenate([judged for _, judged in pairs])
    with unchanged_on_error(ensemble):
        if ensemble.refit is False:
            older = np.unique(np.concatenate([train for train, _ in pairs]))
            if groups is not None:
                is_new = ~np.isin(group_keys(groups)[newer], group_keys(groups)[older])
                newer = newer[is_new]
                if _fewest(asked[newer], asked) < _FEWEST_ROWS:
                    # Few groups begin late: older rows of some groups are left out.
                    older, newer = pairs[0]
            table.fit(ensemble, older)
            proba = table.score(ensemble, newer)
        else:
            # What the clones decide is not used.
            judging = clone(ensemble).set_params(threshold=None)
            clones = [table.fit(clone(judging), train) for train, _ in pairs]
            table.fit(ensemble, kept)
            level = ensemble._level(table.score, kept)
            parts = [
                each._at_level(level, table.score, judged, train)
                for each, (train, judged) in zip(clones, pairs, strict=True)
            ]
            proba = np.concatenate(parts)
        codes, weights = check_labelled(
            ensemble, asked[newer], asked[newer], table.of("sample_weight", newer)
        )
        keys = None if groups is None else group_keys(table.of("groups", newer))
        scored = newer[some_rows(len(newer))]
        ensemble._decide_again(
            HeldOut(np.arange(len(newer)), proba, codes, weights, keys),
            proba if ensemble.refit is False else table.score(ensemble, np.sort(scored)),
            by_clones=ensemble.refit is not False,
        )
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
    folds = folds_of_rows(counted, folds_of_groups(counted, _N_FOLDS, key), keys)
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
