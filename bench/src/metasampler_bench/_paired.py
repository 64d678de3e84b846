"""Compare on the same rows: paired differences, their errors, and tests corrected for number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import t as student

from metasampler_bench._protocol import N_FOLDS, n_folds_of
from metasampler_bench._rows import Row, axis_order, axis_value, finished, name_of, select
from metasampler_bench._spec import AXES, Spec
from metasampler_bench._statistics import holm
from metasampler_bench._tables import Entry, ResultTable, column_name, keys_on, row_header, row_name

__all__ = ["Difference", "by_split", "compare", "p_of_difference", "paired"]

Place = tuple[int, int]

#: Differences of equal scores may be this far from zero.
_ROUNDING = 1e-12

NOTE = (
    "Differences on the same run and fold, ± their standard error. Bold differences are "
    "significant: p is below .05 in a t test, with Holm's correction for this table. Training rows "
    "of folds overlap, so the error is corrected as by Nadeau and Bengio. On the authors' fixed "
    "split only seeds differ, and the error is the plain one."
)


class Difference:
    """A mean difference over the same splits.

    Parameters
    ----------
    own, other : dict of (run, fold) to float
        Scores.
    fixed : bool, default=False
        Whether all runs have the same split.
    """

    def __init__(self, own: dict[Place, float], other: dict[Place, float], fixed: bool = False):
        common = sorted(own.keys() & other.keys())
        values = np.array([own[place] - other[place] for place in common])
        self.n = len(values)
        self.mean = float(values.mean()) if self.n else np.nan
        #: The difference as a part of the other's mean, over the splits that both have.
        self.relative = self.mean / float(np.mean([other[p] for p in common])) if self.n else np.nan
        self.error, self.p = np.nan, 1.0
        if self.n > 1:
            # Test over training rows: a quarter of 80 against 60.
            overlap = 0.0 if fixed else 1 / (N_FOLDS - 1)
            self.error = float(values.std(ddof=1) * np.sqrt(1 / self.n + overlap))
            self.p = p_of_difference(self.mean, self.error, self.n - 1)


def p_of_difference(mean: float, error: float, df: float) -> float:
    """Return p of a t test; without an error a difference is exact.

    Examples
    --------
    >>> from metasampler_bench._paired import p_of_difference
    >>> p_of_difference(0.1, 0.0, 3), p_of_difference(0.0, 0.0, 3)
    (0.0, 1.0)
    """
    if is_exact(error):
        return float(abs(mean) < _ROUNDING)
    return float(2 * student.sf(abs(mean) / error, df))


def is_exact(error: float) -> bool:
    """Say whether all differences are the same but for rounding."""
    return bool(error < _ROUNDING)


def by_split(rows: Iterable[Row], name: str = "score") -> dict[Place, float]:
    """Return the mean of a number for each run and fold."""
    found: dict[Place, list[float]] = {}
    for row in finished(rows):
        if name in row:
            found.setdefault((row["cell"]["run"], row["cell"]["fold"]), []).append(row[name])
    return {place: float(np.mean(values)) for place, values in found.items()}


def compare(rows: list[Row], own: dict[str, Any], other: dict[str, Any]) -> Difference:
    """Return the difference between two places of a table; axes that are not named are as usual."""
    fixed = n_folds_of(str(own.get("dataset", ""))) == 1
    return Difference(by_split(at(rows, own)), by_split(at(rows, other)), fixed)


def at(rows: list[Row], where: dict[str, Any]) -> list[Row]:
    """Return the rows of one place: what is not named has its usual value, k any that there is."""
    usual = {axis: _hashable(value) for axis, value in AXES.items() if axis != "k"}
    return select(rows, {**usual, **{axis: _hashable(v) for axis, v in where.items()}})


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def paired(spec: Spec, rows: list[Row], report: dict[str, Any]) -> list[ResultTable]:
    """Make a table of differences to one row of a table, for each value of the axes split by."""
    split = report.get("split", [])
    axes = [split] if isinstance(split, str) else list(split)
    chosen = select(rows, report.get("where"))
    keys = {tuple(axis_value(row["cell"], axis) for axis in axes) for row in chosen}
    order = [axis_order(spec, axis, (key[n] for key in keys)) for n, axis in enumerate(axes)]
    tables = []
    for key in sorted(keys, key=lambda key: [o.index(v) for o, v in zip(order, key, strict=True)]):
        fixed = dict(zip(axes, key, strict=True))
        title = ", ".join(filter(None, (name_of(axis, value) for axis, value in fixed.items())))
        made = _paired(spec, select(chosen, fixed), report, fixed, title)
        tables += [made] if made.rows else []
    return tables


def _paired(
    spec: Spec, rows: list[Row], report: dict[str, Any], fixed: dict[str, Any], title: str
) -> ResultTable:
    row_axes, column_axes = list(report["rows"]), list(report["columns"])
    reference = tuple(_hashable(report["reference"].get(axis, AXES.get(axis))) for axis in row_axes)
    keys = [key for key in keys_on(spec, rows, row_axes) if key != reference]
    columns = keys_on(spec, rows, column_axes)
    if column_axes == ["k"]:
        columns = [column for column in columns if column != (None,)] or [(None,)]

    def groups(key: tuple[Any, ...], column: tuple[Any, ...]) -> dict[Place, float]:
        where = dict(zip([*row_axes, *column_axes], key + column, strict=True))
        return by_split(select(rows, where))

    def is_fixed(column: tuple[Any, ...]) -> bool:
        place = {**fixed, **dict(zip(column_axes, column, strict=True))}
        return n_folds_of(str(place.get("dataset", ""))) == 1

    found = {
        (key, column): Difference(groups(key, column), groups(reference, column), is_fixed(column))
        for key in keys
        for column in columns
    }
    tested = [place for place, difference in found.items() if difference.n > 1]
    corrected = dict(zip(tested, holm([found[place].p for place in tested]), strict=True))
    lines = []
    for key in keys:
        line = [Entry(row_name(row_axes, key))]
        for column in columns:
            line.append(_entry(found[key, column], corrected.get((key, column))))
        if any(found[key, column].n for column in columns):
            lines.append(line)
    header = [row_header(row_axes), *(column_name(column_axes, c, "score", {}) for c in columns)]
    against = report.get("against") or row_name(row_axes, reference)
    name = f"{spec.title}: differences to {against}" + (f", {title}" if title else "")
    counts = {difference.n for difference in found.values() if difference.n}
    low, high = min(counts, default=0), max(counts, default=0)
    n = f"{low}" if low == high else f"{low} to {high}"
    return ResultTable(name, header, lines, f"{NOTE} {n} pairs each.")


def _entry(difference: Difference, p: float | None) -> Entry:
    if not difference.n:
        return Entry("-")
    text = f"{difference.mean:+.3f}"
    if p is None or not np.isfinite(difference.error):
        return Entry(text)
    p_text = "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1"
    return Entry(f"{text} ± {difference.error:.3f} (p {p_text})", bold=p < 0.05)
