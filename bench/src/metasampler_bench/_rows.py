"""Read rows of results: axes, their order and names, and groups of values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from metasampler_bench._methods import title_of
from metasampler_bench._spec import AXES, Spec
from metasampler_bench._store import row_key
from metasampler_bench._views import VIEWS

__all__ = [
    "axis_order",
    "axis_value",
    "finished",
    "group_values",
    "last_rows",
    "name_of",
    "paper_value",
    "per_set_means",
    "select",
]

#: Whose labels are flipped, as tables say it.
FLIPS = {
    "both": "as many of each class",
    "minority": "of the minority only",
    "majority": "of the majority only",
    "authors": "the authors' flips",
}

Row = dict[str, Any]
Key = tuple[Any, ...]
# The method whose times tell how fast a machine is, and the times of a row.
_CLOCK, _TIMES = "lightgbm", ("cpu", "wall", "predict_cpu", "predict_wall")
# The first and last actions of a fit, by which a policy is described.
_N_ENDS = 5


def axis_value(cell: dict[str, Any], axis: str) -> Any:
    """Return the value of a cell on an axis, in a form that can be a key."""
    value = cell.get(axis, AXES.get(axis))
    return tuple(value) if isinstance(value, list) else value


def row_value(row: Row, name: str) -> float | None:
    """Return a number of a row, or one that follows from what it holds."""
    if name.startswith("mu_"):
        actions = row.get("actions")
        if not actions:
            return None
        if name == "mu_range":
            return float(np.ptp(actions))
        parts = {"mu_early": actions[:_N_ENDS], "mu_late": actions[-_N_ENDS:], "mu_mean": actions}
        return float(np.mean(parts[name]))
    if name == "total_cpu":
        # What was meta-trained for a fit is part of its cost.
        return None if "cpu" not in row else float(row["cpu"]) + float(row.get("meta_cpu", 0.0))
    value = row.get(name)
    return None if value is None else float(value)


def finished(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of cells that did not fail."""
    return [row for row in rows if "error" not in row]


def last_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the last row of each cell: one that was computed again has an older row before it.

    Another sitting may be on another machine. If LightGBM was measured again, too, times of older
    rows are multiplied by how its own time has changed. So a ratio to LightGBM is always that of
    one sitting.
    """
    rows = list(rows)
    last = {(row.get("seed"), row_key(row)): row for row in rows}
    clocks: dict[tuple, list[Row]] = {}
    for row in finished(rows):
        if row["cell"].get("method") == _CLOCK:
            clocks.setdefault(_place_of(row), []).append(row)
    return [_in_last_sitting(row, clocks.get(_place_of(row), [])) for row in last.values()]


def _place_of(row: Row) -> tuple:
    """Return what a row has in common with those of other methods on the same split."""
    return tuple(row["cell"].get(axis) for axis in ("dataset", "split", "run", "fold"))


def _in_last_sitting(row: Row, clocks: list[Row]) -> Row:
    """Return a row with the times that it would have in the sitting of the last clock."""
    known = [clock for clock in clocks if clock.get("date", "") <= row.get("date", "")]
    if not known or known[-1] is clocks[-1]:
        return row
    then, now = known[-1], clocks[-1]
    scaled = {
        name: row[name] * now[name] / then[name]
        for name in _TIMES
        if row.get(name) and then.get(name) and now.get(name)
    }
    return {**row, **scaled}


def select(rows: Iterable[Row], where: dict[str, Any] | None = None) -> list[Row]:
    """Return rows whose cells have these values; a method without k counts for every k."""
    wanted = {} if where is None else where

    def fits(cell: dict[str, Any]) -> bool:
        return all(
            axis_value(cell, axis) == value or (axis == "k" and "k" not in cell)
            for axis, value in wanted.items()
        )

    return [row for row in rows if fits(row["cell"])]


def group_values(rows: Iterable[Row], axes: Sequence[str], name: str) -> dict[Key, np.ndarray]:
    """Return all values of a number by the cells' position on some axes."""
    groups: dict[Key, list[float]] = {}
    for row in finished(rows):
        value = row_value(row, name)
        if value is not None:
            key = tuple(axis_value(row["cell"], axis) for axis in axes)
            groups.setdefault(key, []).append(value)
    return {key: np.array(values) for key, values in groups.items()}


def axis_order(spec: Spec, axis: str, found: Iterable[Any]) -> list[Any]:
    """Return the values of an axis in the order of the spec; sizes and noise go by number."""
    if axis in ("k", "noise", "valid_noise", "valid_fraction"):
        return sorted(set(found), key=lambda value: (value is None, value))
    listed = [
        tuple(value) if isinstance(value, list) else value
        for block in spec.blocks
        for value in block.get(axis, [AXES.get(axis)])
    ]
    order = {value: position for position, value in reversed(list(enumerate(listed)))}

    def place(value: Any) -> tuple[int, bool, Any]:
        number = isinstance(value, (int, float))
        return order.get(value, len(order)), not number, value if number else str(value)

    return sorted(set(found), key=place)


def name_of(axis: str, value: Any) -> str:
    """Return what tables and figures call a value of an axis."""
    if axis == "method":
        return title_of(str(value))
    if axis == "rows":
        return "" if value == AXES["rows"] else "train + valid"
    if axis == "meta_task":
        return "" if value is None else f"from {value}"
    if axis == "meta_fraction":
        return "" if value == 1 else f"{value:.0%} of its rows"
    if axis in ("noise", "fraction", "valid_noise", "valid_fraction"):
        return f"{value:.0%}"
    if axis == "view":
        return "" if value is None else VIEWS[value]
    if axis == "setting":
        return "" if value is None else str(value).replace("=", " = ")
    if axis == "flips":
        return FLIPS[value]
    if axis == "meta_base":
        return "" if value is None else f"meta-trained with {value}"
    if axis == "meta_seed":
        return f"meta-training {value}"
    if axis == "hidden":
        return "{" + ", ".join(map(str, value)) + "}"
    if axis == "k":
        return "" if value is None else f"k = {value}"
    return str(value)


def paper_value(spec: Spec, cell: dict[str, Any], name: str) -> float | None:
    """Return what the paper says about a cell, if it does."""
    for entry in spec.values:
        # A list is an axis; a number is a value, also where an axis ("rows") has its name.
        axes = (axis for axis in entry if axis in AXES and axis != name)
        along = next((axis for axis in axes if isinstance(entry[axis], list)), None)
        if name in entry and _is_about(entry["where"], cell, along):
            if along is None:
                return float(entry[name])
            value = cell.get(along, AXES[along])
            if value in entry[along]:
                return float(entry[name][entry[along].index(value)])
    return None


def _is_about(where: dict[str, Any], cell: dict[str, Any], along: str | None) -> bool:
    """Say whether a value of the paper is about a cell; other axes have their default."""
    # What is said of a method without its size or base classifier is said of all of them.
    open_axes = {along, "k", "base"} - set(where)
    return all(
        axis_value(cell, axis) == axis_value(where, axis) for axis in AXES if axis not in open_axes
    )


def per_set_means(
    rows: Iterable[Row], methods: Sequence[str], name: str = "score"
) -> tuple[list[str], np.ndarray]:
    """Return the mean of a number for each data set and method, over the cells that all have.

    Returns
    -------
    datasets : list of str
        The sets that every method finished.
    means : ndarray of shape (n_sets, n_methods)
    """
    cells: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    for row in finished(rows):
        value = row_value(row, name)
        if value is not None:
            cell = row["cell"]
            place = cells.setdefault((cell["dataset"], cell["method"]), {})
            place[cell["run"], cell["fold"]] = value
    datasets = sorted({dataset for dataset, _ in cells})
    kept, means = [], []
    for dataset in datasets:
        columns = [cells.get((dataset, method), {}) for method in methods]
        # Only the runs and folds that all have: the comparison stays paired.
        common = set.intersection(*(set(column) for column in columns))
        if common:
            kept.append(dataset)
            means.append([np.mean([column[place] for place in common]) for column in columns])
    return kept, np.array(means).reshape(len(kept), len(methods))
