"""How the rows of a task are cross-validated: by classes, by groups, or forward in time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from metasampler.cli._table_input import Task

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]

# The newest rows that judge, where groups are split too.
_NEWEST = 0.3


def make_splits(task: Task, folds: int, seed: int) -> Splits:
    """Return pairs of training and test rows.

    Forward in time, each fold trains on all rows before those that it tests, and the oldest rows
    are never tested. With groups as well, each fold tests the newest rows of some groups, and
    trains on the older rows of all others.
    """
    if task.groups is None:
        if task.time is None:
            splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
            return list(splitter.split(task.y, task.y))
        return _usable(task, _forward(task.time, folds), folds)
    n_groups = min(len(np.unique(task.groups[task.y == k])) for k in range(len(task.labels)))
    if n_groups < folds:
        raise typer.BadParameter(
            f"a class has rows in {n_groups} groups only, fewer than the {folds} folds: set "
            f"--folds {n_groups if n_groups > 1 else 0}.",
            param_hint="--group",
        )
    grouped = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    splits = list(grouped.split(task.y, task.y, task.groups))
    if task.time is None:
        return splits
    newer = task.time >= np.quantile(task.time, 1 - _NEWEST, method="higher")
    crossed = [(train[~newer[train]], test[newer[test]]) for train, test in splits]
    return _usable(task, crossed, folds)


def how_split(task: Task, folds: int) -> str:
    """Return in words how the rows are split."""
    how = f"{folds} folds"
    if task.groups is not None:
        how += ", no group in two of them"
    if task.time is not None:
        how += ", older rows before newer ones"
    return how


def _forward(time: NDArray[np.float64], folds: int) -> Splits:
    """Return folds that test ever newer rows; equal times stay together."""
    shares = np.arange(1, folds + 1) / (folds + 1)
    borders = np.unique(np.append(np.quantile(time, shares, method="higher"), np.inf))
    return [
        (np.flatnonzero(time < start), np.flatnonzero((time >= start) & (time < stop)))
        for start, stop in pairwise(borders)
    ]


def _usable(task: Task, splits: Splits, folds: int) -> Splits:
    """Return the folds whose training and test rows hold every class."""
    n_classes = len(task.labels)
    kept = [
        pair
        for pair in splits
        if all(len(part) and np.bincount(task.y[part], minlength=n_classes).min() for part in pair)
    ]
    if not kept:
        raise typer.BadParameter(
            f"no fold of {folds} has every class both before and after its border: set --folds "
            "lower, or 0.",
            param_hint="--time",
        )
    return kept
