"""Load tasks by the names on the command line, with all complaints at once."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import typer

#: Files of ``metasampler_bench.datasets.load`` whose class is a column.
TABLE_SUFFIXES = (".csv.gz", ".tsv.gz", ".csv", ".tsv", ".parquet", ".pq")


def load_tasks(
    names: list[str],
    unseen: list[str],
    *,
    data_home: str | Path | None = None,
    target: str | None = None,
    estimator: Any = None,
    scoring: Any = "average_precision",
    n_splits: int = 0,
) -> tuple[dict[str, tuple[Any, ...]], dict[str, tuple[Any, ...]]]:
    """Load and check the tasks to train on and the tasks to validate on.

    Parameters
    ----------
    names, unseen : list of str
        Names or files, as ``metasampler_bench.datasets.load`` takes them. "NAME:3" finds class 3 of
        many among all others; "NAME%0.1" keeps a tenth of the minority. A name to train on may
        end in "@0.25": then this part of the minority labels of its training rows is flipped,
        and of its validation rows too if it ends in "@@0.25".
    data_home, target
        For ``metasampler_bench.datasets.load``.
    estimator, scoring
        Of the meta-sampler, to check that every task can be played with them.
    n_splits : int, default=0
        How often the rows of a task are cut into 60% to train, 20% to validate and 20% to test
        on; each cut is a task. 0 leaves them whole, apart from those with flipped labels.

    Returns
    -------
    tasks, unseen_tasks : dict of str to (X, y), with X_val, y_val, X_test, y_test if they are cut
    """
    problems = [
        f"{name}: only tasks to train on can have flipped labels" for name in unseen if "@" in name
    ]
    titles = [_title(name) for name in (*names, *unseen)]
    for title in sorted({title for title in titles if titles.count(title) > 1}):
        problems.append(
            f"{title}: named more than once; a task to validate on must not be trained on"
        )
    trained = [_title(name) for name in names]
    for title in map(_title, unseen):
        if title not in trained and _source(title) in map(_source, trained):
            problems.append(f"{title}: a task to train on has the same rows")
    loaded = {}
    for name in dict.fromkeys((*names, *unseen)):
        try:
            rows = _load(name, data_home, target)
            loaded[name] = _cut(name, rows, n_splits if name in names else 0)
            for X, y, *rest in loaded[name].values():
                _check(X, y, *rest[:2], estimator=estimator, scoring=scoring)
        # KeyError: an unknown name, where a loader looks it up.
        except (ValueError, TypeError, OSError, ImportError, KeyError) as error:
            problems.append(f"{_title(name)}: {error}")
    if problems:
        lines = "\n".join(f"- {problem}" for problem in problems)
        count = len(problems)
        opening = "a task cannot be used:" if count == 1 else f"{count} tasks cannot be used:"
        raise typer.BadParameter(f"{opening}\n{lines}", param_hint="TASK")
    return (
        {title: task for name in names for title, task in loaded[name].items()},
        {title: task for name in unseen for title, task in loaded[name].items()},
    )


def _cut(name: str, rows: tuple[Any, Any], n_splits: int) -> dict[str, tuple[Any, ...]]:
    """Return the task, or tasks, that training gets; rows that are scored keep their labels."""
    from sklearn.model_selection import train_test_split

    from metasampler_bench.datasets import flip_labels

    title, (_, mark, ratio) = _title(name), name.partition("@")
    if not n_splits and not mark:
        return {title: rows}
    if mark:
        try:
            part = float(ratio.removeprefix("@"))
        except ValueError as error:
            raise ValueError(
                f"{ratio!r} is not a fraction of the labels; write NAME%0.1@0.25, in this order"
            ) from error
    tasks = {}
    for seed in range(max(n_splits, 1)):
        X, y, *test = rows
        if n_splits:
            X, X_test, y, y_test = train_test_split(
                X, y, test_size=0.2, stratify=y, random_state=seed
            )
            test = [X_test, y_test]
        X, X_val, y, y_val = train_test_split(
            X, y, test_size=0.25 if n_splits else 0.2, stratify=y, random_state=seed
        )
        # A policy that is rewarded for true labels learns what wrong ones look like.
        if mark:
            y = flip_labels(y, part, random_state=seed)
        if ratio.startswith("@"):
            y_val = flip_labels(y_val, part, random_state=seed)
        cut = f"{title} ({seed + 1})" if n_splits > 1 else title
        tasks[cut] = (X, y, X_val, y_val, *test)
    return tasks


def _title(name: str) -> str:
    """Return what a task is called: files by their name, without folder and ending."""
    for suffix in (*TABLE_SUFFIXES, ".npz"):
        if name.lower().endswith(suffix):
            return Path(name).name[: -len(suffix)]
    return name


def _source(title: str) -> str:
    """Return the data set that a task is made of."""
    return re.split("[@%:]", title)[0]


def _load(name: str, data_home: str | Path | None, target: str | None) -> tuple[Any, ...]:
    from metasampler_bench import datasets

    # Labels are flipped when the rows are cut.
    name, _, _ = name.partition("@")
    name, thinned, part = name.partition("%")
    if thinned:
        X, y = _load(name, data_home, target)
        return _with_fewer_positives(X, y, float(part))
    options: dict[str, Any] = {"data_home": data_home, "return_X_y": True}
    plain, one_class, positive = name.rpartition(":")
    if one_class and not Path(name).exists():
        name, options["positive"] = plain, positive
    if name.lower().endswith(TABLE_SUFFIXES):
        options["target"] = target
    return datasets.load(name, **options)


def _with_fewer_positives(X: Any, y: Any, part: float) -> tuple[Any, Any]:
    """Leave only a part of the minority, for tasks as imbalanced as those to come."""
    import numpy as np

    labels, counts = np.unique(y, return_counts=True)
    minority = np.flatnonzero(y == labels[counts.argmin()])
    n_kept = max(1, round(part * len(minority)))
    kept = np.random.default_rng(0).choice(minority, n_kept, replace=False)
    rows = np.sort(np.concatenate([np.flatnonzero(~np.isin(np.arange(len(y)), minority)), kept]))
    return (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), np.asarray(y)[rows]


def _check(X, y, X_val=None, y_val=None, *, estimator: Any, scoring: Any) -> None:
    """Fail now if the task would fail in training."""
    from lightgbm import LGBMClassifier

    from metasampler.growth import RandomStreams, make_growth_data, resolve_estimators

    with warnings.catch_warnings():
        # The same warning comes again with the training.
        warnings.simplefilter("ignore")
        make_growth_data(
            X,
            y,
            X_val,
            y_val,
            # Boosters make their tasks themselves, of the rows that LightGBM takes.
            estimator=LGBMClassifier()
            if hasattr(estimator, "prepare_task")
            else resolve_estimators(estimator),
            validation_fraction=0.2,
            sampling_ratio=1.0,
            scoring=scoring,
            streams=RandomStreams(0),
        )
