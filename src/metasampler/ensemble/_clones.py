"""Clones of an ensemble: each is fitted without some of the rows, and judges these in its place."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from metasampler._sklearn_compat import take_rows
from metasampler.drift import some_rows
from metasampler.ensemble._checks import check_labelled
from metasampler.ensemble._held_out import HeldOut, count_units
from metasampler.ensemble._one_class import against_the_rest
from metasampler.ensemble._recipes import ENOUGH_ROWS
from metasampler.ensemble._sources import resolve_source
from metasampler.growth import (
    check_groups,
    check_labels,
    count_groups,
    drop_weightless_rows,
    folds_of_groups,
    folds_of_rows,
    group_keys,
    refuse_missing,
)

__all__ = [
    "N_FOLDS_OF_GROUPS",
    "asked_of",
    "decide_by_clones",
    "decide_by_rows",
    "judge_new_groups",
    "rows_of_fit",
]

# Groups are judged by this many ensembles, each of which has not seen some of the groups.
N_FOLDS_OF_GROUPS = 3

# With fewer groups of a class, a clone could not hold any out.
_FEWEST_GROUPS = 2


class RowsOfFit(NamedTuple):
    """Rows in memory. Those in files and on a cluster have the same methods."""

    X: Any
    y: np.ndarray
    sample_weight: Any = None
    groups: Any = None
    time: Any = None

    def of(self, name: str, rows: np.ndarray):
        """Return weights or groups of some rows; None stays None."""
        values = getattr(self, name)
        return None if values is None else take_rows(np.asarray(values), rows)

    def fit(self, classifier, rows: np.ndarray):
        """Fit a classifier to some rows; its own held-out rows decide."""
        options = {name: self.of(name, rows) for name in ("sample_weight", "groups")}
        classifier._fit_once(take_rows(self.X, rows), self.y[rows], **options)
        return classifier

    def score(self, classifier, rows: np.ndarray) -> np.ndarray:
        """Return the joint answer of the members of a classifier, before calibration."""
        return classifier._mean_proba(take_rows(self.X, rows))


class _RowsOfSource(RowsOfFit):
    """Rows that are read one partition at a time."""

    def fit(self, classifier, rows):
        classifier._fit_once(self.X.only(rows))
        return classifier

    def score(self, classifier, rows):
        return np.concatenate(self.X.only(rows).ask_rows(_mean_proba, classifier))


def _mean_proba(frame, classifier) -> np.ndarray:
    return classifier._mean_proba(frame)


def rows_of_fit(ensemble, X, y, sample_weight, groups, time=None) -> tuple[RowsOfFit, np.ndarray]:
    """Return the rows of a fit, and the numbers of those that have a weight."""
    kind: type[RowsOfFit] = RowsOfFit
    source = resolve_source(X, y, sample_weight)
    if source is not None:
        if time is not None or groups is not None:
            raise ValueError(
                "time and groups cannot be passed for rows outside of memory; name their columns, "
                "as in ParquetRows(path, label, group=..., time=...)."
            )
        marks = source.marks()
        kind, X, y, time = _RowsOfSource, source, marks["y"], marks.get("time")
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
    return kind(X, y, sample_weight, groups, time), kept


def asked_of(ensemble, y: np.ndarray) -> np.ndarray:
    """Return the labels that the ensemble learns: of one class or not, if it is to find one."""
    if ensemble.positive is None:
        return y
    return against_the_rest(y, y, ensemble.positive, owner=ensemble)


def judge_new_groups(ensemble, X, y, sample_weight, groups) -> None:
    """Calibrate and decide by clones, each of which has not seen the groups that it judges.

    Where groups are few, only a part of the teams can judge the rows that members have left out,
    and the whole ensemble ranks new rows much better. Nothing changes if the groups of a class are
    too few for clones.
    """
    table, kept = rows_of_fit(ensemble, X, y, sample_weight, groups)
    codes = np.unique(asked_of(ensemble, table.y[kept]), return_inverse=True)[1]
    keys = group_keys(table.groups)[kept]
    random_state = ensemble.random_state
    seed = int(random_state) if isinstance(random_state, (int, np.integer)) else 0
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    counted = count_groups(keys, codes, 2)
    folds = folds_of_rows(counted, folds_of_groups(counted, N_FOLDS_OF_GROUPS, key), keys)
    pairs = []
    for fold in range(int(folds.max()) + 1):
        train = np.flatnonzero(folds != fold)
        n_groups, n_rows = count_units(codes[train], 2, keys[train]), np.bincount(codes[train])
        if n_groups.min() < _FEWEST_GROUPS or n_rows.min() < ENOUGH_ROWS:
            return
        pairs.append((kept[train], kept[folds == fold]))
    decide_by_clones(ensemble, table, pairs, kept, anew=True)


def decide_by_clones(
    ensemble,
    table: RowsOfFit,
    pairs: list[tuple[np.ndarray, np.ndarray]],
    kept: np.ndarray,
    *,
    anew: bool = False,
) -> None:
    """Calibrate and decide a fitted ensemble by clones, given the rows to train on and to judge.

    ``kept`` are the rows of the ensemble's own fit. ``anew`` forgets the calibration that it has.
    """
    # What the clones decide is not used.
    judging = clone(ensemble).set_params(threshold=None)
    clones = [table.fit(clone(judging), train) for train, _ in pairs]
    level = ensemble._level(table.score, kept)
    parts = [
        each._at_level(level, table.score, judged, train)
        for each, (train, judged) in zip(clones, pairs, strict=True)
    ]
    decide_by_rows(ensemble, table, pairs, np.concatenate(parts), by_clones=True, anew=anew)


def decide_by_rows(
    ensemble, table: RowsOfFit, pairs: list, proba: np.ndarray, *, by_clones: bool, anew: bool
) -> None:
    """Calibrate and decide by the rows that judge, given what is answered of them."""
    judged = np.concatenate([rows for _, rows in pairs])
    asked = asked_of(ensemble, table.y)[judged]
    codes, weights = check_labelled(ensemble, asked, asked, table.of("sample_weight", judged))
    keys = None if table.groups is None else group_keys(table.of("groups", judged))
    scored = np.sort(judged[some_rows(len(judged))])
    ensemble._decide_again(
        HeldOut(np.arange(len(judged)), proba, codes, weights, keys),
        table.score(ensemble, scored) if by_clones else proba,
        by_clones=by_clones,
        anew=anew,
    )
