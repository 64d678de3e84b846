"""Ask whether precision and recall on tomorrow's rows are what the fit said to expect."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from metasampler import MesaClassifier
from metasampler_bench._progress import tracked
from metasampler_bench._tables import ResultTable
from metasampler_bench.datasets import REAL_NAMES, load
from metasampler_bench.studies._decisions import few_positives, values_of
from metasampler_bench.studies._study import Options, Row, Study

__all__ = ["PROMISES"]

_GOALS = ("balanced", ("recall", 0.8), ("precision", 0.5), ("cost", 10, 1), "f1", ("top", 0.02))

# Rows of made tables that train, and new rows that tell what is kept.
_N_TRAIN, _N_NEW = 3000, 10_000

# Rows of a panel that train.
_MOST_ROWS = 6000

# How far apart the rows of one patient lie, compared with the patients.
_NOISES = (0.05, 0.3, 0.6, 1.0)

# Runs of a panel, and of a table whose rows are split at random, at most: these take longest.
_MOST_PANELS, _MOST_HALVES = 10, 1


class _Task(NamedTuple):
    """Rows to fit, with the option that they need, and new rows."""

    X: Any
    y: Any
    X_new: Any
    y_new: Any
    option: dict[str, Any]


def _independent(seed: int) -> _Task:
    """Make rows that are independent of each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(_N_TRAIN + _N_NEW, 6))
    y = X[:, :3].sum(axis=1) + 1.5 * rng.normal(size=len(X)) > 3.6
    return _cut(X, y.astype(int), {})


def _groups(seed: int, noise: float, *, by_time: bool = False) -> _Task:
    """Make rows of patients: those of one patient are alike; new rows are of new patients."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange((_N_TRAIN + _N_NEW) // 10), 10)
    base = rng.normal(size=(patient[-1] + 1, 6))
    risk = base[:, :2].sum(axis=1) + 2 * rng.normal(size=len(base))
    X = base[patient] + noise * rng.normal(size=(len(patient), 6))
    y = (risk > np.quantile(risk, 0.9))[patient].astype(int)
    option: dict[str, Any] = {"groups": patient[:_N_TRAIN]}
    if by_time:
        option["time"] = rng.uniform(size=_N_TRAIN)
    return _cut(X, y, option)


def _drift(seed: int) -> _Task:
    """Make rows over time: what decides the class changes, and the class becomes rarer."""
    rng = np.random.default_rng(seed)
    old, new = np.sort(rng.uniform(0, 1, _N_TRAIN)), rng.uniform(1, 1.1, _N_NEW)
    time = np.append(old, new)
    X = rng.normal(size=(len(time), 6))
    score = (1 - time) * X[:, 0] + time * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=len(time))
    return _cut(X, (score > 1.6 + time).astype(int), {"time": old})


def _cut(X, y, option: dict[str, Any]) -> _Task:
    return _Task(X[:_N_TRAIN], y[:_N_TRAIN], X[_N_TRAIN:], y[_N_TRAIN:], option)


def _weather(seed: int, home) -> _Task:
    """Take the weather of some places to train on, and that of others as new rows."""
    data = load("weather_aus_heavy_rain", data_home=home)
    place = data.data["Location"].astype(str).to_numpy()
    rng = np.random.default_rng(seed)
    names = rng.permutation(np.unique(place))
    is_new = np.isin(place, names[: len(names) // 4])
    X, y = data.data.drop(columns="Location"), (data.target == 1).astype(int)
    old = rng.permutation(np.flatnonzero(~is_new))[:_MOST_ROWS]
    new = rng.permutation(np.flatnonzero(is_new))[:_N_NEW]
    return _Task(X.iloc[old], y[old], X.iloc[new], y[new], {"groups": place[old]})


def _half(name: str, seed: int, home) -> _Task:
    """Take random rows to train on, and others as new rows."""
    data = load(name, data_home=home)
    rows = np.random.default_rng(seed).permutation(len(data.target))
    n_old = min(_MOST_ROWS, len(rows) // 2)
    old, new = rows[:n_old], rows[n_old : n_old + _N_NEW]
    X, y = data.data, (data.target == 1).astype(int)
    return _Task(X.iloc[old], y[old], X.iloc[new], y[new], {})


def _by_year(name: str, column: str, seed: int, home) -> _Task:
    """Take older years to train on, and the last ones as new rows."""
    data = load(name, data_home=home)
    time = data.data[column].astype(str).astype(float).to_numpy()
    X, y = data.data.drop(columns=column), (data.target == 1).astype(int)
    is_new = time > np.quantile(time, 0.75)
    rng = np.random.default_rng(seed)
    old = rng.permutation(np.flatnonzero(~is_new))[:_MOST_ROWS]
    new = np.flatnonzero(is_new)
    return _Task(X.iloc[old], y[old], X.iloc[new], y[new], {"time": time[old]})


def _patients(noise: float, *, by_time: bool = False):
    """Return what makes a task of patients."""
    return lambda seed, home: _groups(seed, noise, by_time=by_time)


_MADE = {
    "made, independent": lambda seed, home: _independent(seed),
    **{f"made, groups, noise {noise}": _patients(noise) for noise in _NOISES},
    "made, groups and time": _patients(0.3, by_time=True),
    "made, drift": lambda seed, home: _drift(seed),
}

_PANELS = {
    "weather, new places": _weather,
    "tornadoes, later years": lambda seed, home: _by_year("tornado_injury", "yr", seed, home),
    "bird strikes, later years": lambda seed, home: _by_year(
        "bird_strikes_effect", "year", seed, home
    ),
}

_TASKS = {**_MADE, **_PANELS}


#: What the tables are called whose rows are split at random; they need no option.
_HALVES = f"{len(REAL_NAMES)} tables, random rows"


def _measure(options: Options) -> Iterator[Row]:
    """Fit with and without the option that the rows need, and count on new rows."""
    names = options.datasets or (*_TASKS, *REAL_NAMES)
    most = dict.fromkeys(_PANELS, _MOST_PANELS) | dict.fromkeys(REAL_NAMES, _MOST_HALVES)
    pairs = [
        (name, number)
        for name in names
        if name not in options.finished
        for number in range(min(options.runs, most.get(name, options.runs)))
    ]
    for name, number in tracked(iter(pairs), "promises"):
        seed = options.seed + number
        is_half = name in REAL_NAMES
        make = partial(_half, name) if is_half else _TASKS[name]
        task = make(seed, options.data_home)
        clf = MesaClassifier(random_state=seed)
        with few_positives():
            fits = {"without": clone(clf).fit(task.X, task.y)}
            if task.option:
                fits["with"] = clone(clf).fit(task.X, task.y, **task.option)
            if name in _MADE and "time" not in task.option:
                fits["folds"] = _by_folds(fits.get("with", fits["without"]), task)
        positive = np.asarray(task.y_new) == 1
        for option, fitted in fits.items():
            scores = fitted.predict_proba(task.X_new)[:, 1]
            for goal in _GOALS:
                with few_positives():
                    fitted.set_threshold(goal)
                called = scores >= fitted.threshold_
                kept = {
                    "precision": float(positive[called].mean()) if called.any() else np.nan,
                    "recall": float(called[positive].mean()),
                }
                row: Row = {"set": name, "table": _HALVES if is_half else name}
                row |= {"run": number, "option": option, "goal": str(goal)}
                for key, value in kept.items():
                    low, high = getattr(fitted, f"expected_{key}_interval_") or (0.0, 1.0)
                    row[f"expected {key}"] = getattr(fitted, f"expected_{key}_")
                    row[f"kept {key}"] = value
                    row[f"{key} inside"] = bool(low <= value <= high)
                yield row


def _by_folds(clf, task: _Task):
    """Return a fit that decides by clones, which are fitted without a fold each."""
    groups = task.option.get("groups")
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    splits = splitter(5, shuffle=True, random_state=0).split(task.X, task.y, groups)
    # No clones of clones: what these decide is not used.
    judging = clone(clf).set_params(refit=False)
    pairs = []
    for train, test in splits:
        option = {} if groups is None else {"groups": groups[train]}
        pairs.append((clone(judging).fit(task.X[train], task.y[train], **option), test))
    return deepcopy(clf).recalibrate(task.X, task.y, groups=groups, fitted=pairs)


def _tables(rows: list[Row]) -> list[ResultTable]:
    """Make a table of what was expected and what was kept."""
    header = ["table", "option", "expected precision", "kept", "inside"]
    header += ["expected recall", "kept", "inside"]
    lines = []
    for name in values_of(rows, "table"):
        for option in ("without", "with", "folds"):
            chosen = [row for row in rows if row["table"] == name and row["option"] == option]
            if chosen:
                lines.append([name, option, *_kept(chosen)])
    goals = ", ".join(values_of(rows, "goal"))
    note = (
        f"Means over {len({row['run'] for row in rows})} runs of made tables (at most "
        f"{_MOST_PANELS} of real ones that are split by places or years, and {_MOST_HALVES} of "
        f"those that are split at random) and over the goals {goals}. Inside: share of the 95% "
        "intervals that hold what new rows show."
    )
    tables = [ResultTable.from_texts("Expected and kept", header, lines, note)]
    halves = [row for row in rows if row["table"] == _HALVES]
    if halves:
        by_goal = [
            [goal, *_kept([row for row in halves if row["goal"] == goal])]
            for goal in values_of(halves, "goal")
        ]
        header = ["goal", *header[2:]]
        tables.append(ResultTable.from_texts(f"{_HALVES}, by goal", header, by_goal, ""))
    return tables


def _kept(rows: list[Row]) -> list[str]:
    """Return what was expected, what was kept and how often the interval held it."""
    line = []
    for key in ("precision", "recall"):
        # Without alarms there is no precision, neither expected nor kept.
        known = [
            row
            for row in rows
            if row[f"expected {key}"] is not None and row[f"kept {key}"] == row[f"kept {key}"]
        ]
        line += [
            f"{np.mean([row[f'expected {key}'] for row in known]):.3f}",
            f"{np.mean([row[f'kept {key}'] for row in known]):.3f}",
            f"{np.mean([row[f'{key} inside'] for row in known]):.0%}",
        ]
    return line


PROMISES = Study(
    name="promises",
    title="What a fit expects, and what new rows keep",
    about=(
        "Each table is fitted without and with the option that its rows need: `groups` where new "
        "rows are of new patients or places, `time` where they are later. The noise of patients "
        "says how far apart the rows of one patient lie, compared with patients. Folds: "
        "`recalibrate` with five clones, each of which is fitted without a fold. New rows are "
        f"{_N_NEW:,} of the same making, or the places and years of a real table that were left "
        f"out. Of all {len(REAL_NAMES)} tables random rows train, and others are new: no option is "
        "needed."
    ),
    measure=_measure,
    tables=_tables,
    runs=20,
    resumes=True,
)
