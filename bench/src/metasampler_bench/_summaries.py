"""Make tables over many data sets: means, regrets, ranks, and growth with the rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from metasampler_bench._methods import METHODS, title_of
from metasampler_bench._rows import (
    Row,
    axis_order,
    axis_value,
    finished,
    group_values,
    name_of,
    per_set_means,
    select,
)
from metasampler_bench._spec import Spec
from metasampler_bench._statistics import standard_error, with_error
from metasampler_bench._tables import Entry, ResultTable

__all__ = ["SUMMARIES", "methods_of", "ranked_methods"]


def methods_of(spec: Spec, rows: Iterable[Row]) -> list[str]:
    """Return the methods that finished something, in the order of the spec."""
    return axis_order(spec, "method", (row["cell"]["method"] for row in finished(rows)))


def _count_cells(methods: Iterable[str], rows: list[Row], axes: tuple[str, ...]) -> dict[str, int]:
    """Count what each method finished: cells that differ on some axes."""
    return {
        method: len(
            {
                tuple(row["cell"].get(axis) for axis in axes)
                for row in finished(select(rows, {"method": method}))
            }
        )
        for method in methods
    }


def ranked_methods(spec: Spec, rows: list[Row], report: dict[str, Any]) -> list[str]:
    """Return the methods that are ranked together: those that finished as much as any.

    Ranks need the same data sets. With ``all_runs`` in the report they are also means of the same
    runs and folds: methods that have not all of them are left out. With ``common_sets`` no method
    is left out: ranks are over the sets that all of them finished.
    """
    if report.get("common_sets"):
        return methods_of(spec, rows)
    counts = _count_cells(methods_of(spec, rows), rows, _compared_axes(report))
    return [method for method, count in counts.items() if count == max(counts.values())]


def _compared_axes(report: dict[str, Any]) -> tuple[str, ...]:
    """Return what methods must have finished alike to be ranked together."""
    return ("dataset", "run", "fold") if report.get("all_runs") else ("dataset",)


def _with_error(values: np.ndarray) -> str:
    """Write a mean and its standard error; one value has none."""
    return with_error(values.mean(), standard_error(values) if len(values) > 1 else None)


def _sizes(rows: Iterable[Row]) -> list[int]:
    return sorted({row["cell"]["k"] for row in rows if "k" in row["cell"]})


def mean_over_sets(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show the mean score over the sets by k, and the paired difference to a reference."""
    methods, reference = methods_of(spec, rows), report["reference"]
    header, lines = ["method"], {method: [Entry(title_of(method))] for method in methods}
    n_sets = []
    for k in _sizes(rows):
        datasets, means = per_set_means(select(rows, {"k": k}), methods)
        n_sets.append(len(datasets))
        if not datasets:
            continue
        averages = means.mean(axis=0)
        header += [f"k = {k}", "difference"]
        if len(datasets) != max(n_sets):
            header[-2] += f" ({len(datasets)} sets)"
        for number, method in enumerate(methods):
            best = round(averages[number], 4) == round(averages.max(), 4)
            lines[method].append(Entry(f"{averages[number]:.4f}", bold=best))
            text = "-"
            if method != reference and reference in methods:
                paired = means[:, number] - means[:, methods.index(reference)]
                text = _with_error(paired)
            lines[method].append(Entry(text))
    return ResultTable(
        f"{spec.title}: mean over the data sets",
        header,
        list(lines.values()),
        f"Means over {max(n_sets, default=0)} data sets. The score of a set is the mean over runs "
        f"and folds. The difference is to {title_of(reference)}, paired over the sets, ± its "
        "standard error.",
    )


def regret(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show what each method loses against the best of a family, set by set, with hindsight."""
    k = report["k"] if report["k"] in _sizes(rows) else max(_sizes(rows), default=report["k"])
    methods = methods_of(spec, rows)
    datasets, means = per_set_means(select(rows, {"k": k}), methods)
    family = [n for n, method in enumerate(methods) if method.startswith(report["family"])]
    # Rows of the first minutes may have no set that all methods finished, or none of the family.
    complete = bool(datasets and family)
    best = means[:, family].max(axis=1) if complete else None
    lines = []
    for number, method in enumerate(methods if complete else ()):
        loss = best - means[:, number]
        worst = int(loss.argmax())
        lines.append(
            [
                Entry(title_of(method)),
                Entry(_with_error(loss)),
                Entry(f"{loss[worst]:+.4f}"),
                Entry(datasets[worst]),
                Entry(f"{int((loss > 0.01).sum())}"),
            ]
        )
    return ResultTable(
        f"{spec.title}: regret against each set's own best constant, k = {k}",
        ["method", "mean regret", "worst", "on", "sets with more than 0.01"],
        lines,
        f"{len(datasets)} data sets. The best constant of a set is chosen with hindsight, by its "
        "test scores.",
    )


def leaderboard(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show mean rank, mean score and cost of every method."""
    methods = methods_of(spec, rows)
    reference = report.get("reference", "lightgbm")
    axes = _compared_axes(report)
    n_all = len({tuple(row["cell"].get(axis) for axis in axes) for row in rows})
    n_finished = _count_cells(methods, rows, axes)
    ranked = ranked_methods(spec, rows, report)
    datasets, means = per_set_means(rows, ranked)
    if datasets:
        ranks = rankdata(-means, axis=1).mean(axis=0)
        wins = (means == means.max(axis=1, keepdims=True)).sum(axis=0)
    else:
        # Rows of the first minutes: each method may have finished another set.
        ranked = []
    order = sorted(range(len(ranked)), key=lambda number: ranks[number])
    lines = []
    for number in order:
        method = ranked[number]
        lines.append(
            [
                Entry(title_of(method)),
                Entry(f"{ranks[number]:.2f}", bold=number == order[0]),
                Entry(f"{means[:, number].mean():.4f}"),
                Entry(f"{wins[number]}"),
                Entry(_cost(rows, method, reference)),
                Entry(f"{n_finished[method]} of {n_all}"),
            ]
        )
    for method in methods:
        if method not in ranked:
            # Unequal numbers have no place in one column.
            blank = [Entry("-")] * 3
            sets = Entry(f"{n_finished[method]} of {n_all}")
            cost = Entry(_cost(rows, method, reference))
            lines.append([Entry(title_of(method)), *blank, cost, sets])
    n_cells = len({(r["cell"]["run"], r["cell"]["fold"]) for r in rows})
    if report.get("all_runs"):
        over = f"all {n_cells} runs and folds; methods without a rank have fewer"
    else:
        over = f"the runs and folds that all methods have (at most {n_cells})"
    return ResultTable(
        spec.title,
        [
            *("method", "mean rank", "mean score", "wins", f"CPU, {title_of(reference)} = 1"),
            "fits finished" if report.get("all_runs") else "sets finished",
        ],
        lines,
        f"Ranks of {len(ranked)} methods on {len(datasets)} data sets; 1 is best. The score of a "
        f"set is the mean over {over}. CPU is the ratio of fit times, meta-training included: the "
        "geometric mean over the sets.",
    )


def _cost(rows: list[Row], method: str, reference: str) -> str:
    """Write the ratio of fit times to another method's, as a geometric mean over the sets."""
    datasets, means = per_set_means(select(rows), [method, reference], "total_cpu")
    if not datasets:
        return "-"
    ratio = float(np.exp(np.log(means[:, 0] / means[:, 1]).mean()))
    return f"{ratio:.2f}"


def growth(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show rows used and cost of resampling by family, and how the cost grows with the data."""
    lines = []
    top = max((axis_value(row["cell"], "fraction") for row in finished(rows)), default=1.0)
    for method in methods_of(spec, rows):
        own = select(rows, {"method": method})
        seconds = group_values(own, ["fraction"], "resampling_cpu")
        used = group_values(own, ["fraction"], "rows")
        largest = max(seconds)
        lines.append(
            [
                Entry(title_of(method)),
                Entry(METHODS[method].family if method in METHODS else "-"),
                Entry(f"{used[largest].mean():,.0f}"),
                Entry(f"{seconds[largest].mean():.3g}"),
                Entry(_slope(seconds)),
                Entry(_mean_at(own, largest, "cpu")),
                Entry(_mean_at(own, largest, "meta_cpu")),
                Entry(name_of("fraction", largest[0]) + ("" if largest[0] == top else "*")),
            ]
        )
    parts = sorted({axis_value(row["cell"], "fraction") for row in rows})
    names = ", ".join(name_of("fraction", part) for part in parts)
    return ResultTable(
        spec.title,
        [
            *("method", "family", "rows used", "resampling, CPU s", "growth", "fit, CPU s"),
            *("meta-training, CPU s", "part"),
        ],
        lines,
        f"Rows and seconds are those of the largest part of the training rows (of {names}). * is a "
        "smaller part, because the method did not finish the largest. Growth is the exponent of "
        "the cost over the number of rows. It is - if the cost is too small to tell.",
    )


def _mean_at(rows: list[Row], part: tuple[Any, ...], name: str) -> str:
    """Write the mean of a number at a fraction of the rows, or a dash."""
    values = group_values(rows, ["fraction"], name).get(part)
    return "-" if values is None else f"{values.mean():.3g}"


def _slope(seconds: dict[tuple[Any, ...], np.ndarray]) -> str:
    x = np.array([key[0] for key in seconds])
    y = np.array([values.mean() for values in seconds.values()])
    # A hundredth of a second is what a clock and a busy machine make of nothing.
    if len(x) < 2 or y.min() < 0.01:
        return "-"
    return f"{np.polyfit(np.log(x), np.log(y), 1)[0]:.2f}"


#: By the kind of report.
SUMMARIES = {
    "mean-over-sets": mean_over_sets,
    "regret": regret,
    "leaderboard": leaderboard,
    "growth": growth,
}
