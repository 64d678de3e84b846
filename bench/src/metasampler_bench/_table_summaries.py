"""Make the tables of the tables benchmark: wins, costs, probabilities, groups of tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from metasampler_bench._methods import title_of
from metasampler_bench._rows import Row, finished, per_set_means
from metasampler_bench._spec import Spec
from metasampler_bench._statistics import geometric_mean, holm
from metasampler_bench._summaries import methods_of, ranked_methods
from metasampler_bench._tables import Entry, ResultTable

__all__ = ["TABLE_SUMMARIES"]

_NAMES = {"n_rows": "rows", "categories": "share of categories"}


def _pair(
    rows: list[Row], method: str, reference: str, name: str = "score"
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the tables that both finished, and the means of a number of each."""
    datasets, means = per_set_means(rows, [method, reference], name)
    return datasets, means[:, 0], means[:, 1]


def _others(spec: Spec, rows: list[Row], reference: str) -> list[str]:
    methods = methods_of(spec, rows)
    return [method for method in methods if method != reference and reference in methods]


def _p_value(difference: np.ndarray) -> float:
    """Return Wilcoxon's p for paired differences; 1 where there are none."""
    if len(difference) < 2 or not difference.any():
        return 1.0
    return float(wilcoxon(difference).pvalue)


def against(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show on how many tables each method is ahead of a reference, and whether that is chance."""
    reference = report["reference"]
    methods = _others(spec, rows, reference)
    pairs = {method: _pair(rows, method, reference) for method in methods}
    methods = [method for method in methods if pairs[method][0]]
    p_values = [_p_value(pairs[method][1] - pairs[method][2]) for method in methods]
    lines = []
    corrected = holm(p_values)
    for method, p, p_holm in zip(methods, p_values, corrected, strict=True):
        datasets, own, other = pairs[method]
        difference = own - other
        worst, best = int(difference.argmin()), int(difference.argmax())
        lines.append(
            [
                title_of(method),
                f"{int((difference > 0).sum())}",
                f"{int((difference < 0).sum())}",
                f"{difference.mean():+.4f}",
                f"{p:.2g}",
                f"{p_holm:.2g}",
                f"{difference[best]:+.3f} {datasets[best]}",
                f"{difference[worst]:+.3f} {datasets[worst]}",
                f"{len(datasets)}",
            ]
        )
    lines.sort(key=lambda line: -float(line[3]))
    header = ["method", "wins", "losses", "mean difference", "p", "p, Holm", "best", "worst"]
    return ResultTable.from_texts(
        f"{spec.title}: against {title_of(reference)}",
        [*header, "tables"],
        lines,
        "Average precision, mean over the runs that both have. p is that of Wilcoxon's test on the "
        "differences over the tables. Holm's correction is for all lines of this table.",
    )


def costs(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show CPU and wall time of fits and predictions as ratios to a reference."""
    reference = report["reference"]
    lines = []
    for method in _others(spec, rows, reference):
        datasets, own, other = _pair(rows, method, reference, "cpu")
        if not datasets:
            continue
        ratio = own / other
        largest = _largest(rows, datasets, 5)
        worst = int(ratio.argmax())
        _, wall, other_wall = _pair(rows, method, reference, "wall")
        _, predict, other_predict = _pair(rows, method, reference, "predict_cpu")
        lines.append(
            [
                title_of(method),
                f"{geometric_mean(ratio):.2f}",
                f"{ratio[worst]:.1f}",
                datasets[worst],
                f"{geometric_mean(ratio[largest]):.2f}",
                f"{geometric_mean(wall / other_wall):.2f}",
                f"{geometric_mean(predict / other_predict):.2f}",
                f"{own.sum():,.0f}",
                f"{len(datasets)}",
            ]
        )
    lines.sort(key=lambda line: float(line[1]))
    return ResultTable.from_texts(
        f"{spec.title}: cost, {title_of(reference)} = 1",
        [
            *("method", "fit, CPU", "most", "on", "five largest", "fit, wall", "prediction, CPU"),
            *("fits, CPU s", "tables"),
        ],
        lines,
        "Geometric means over the tables, and the largest ratio of a fit. Other work ran on the "
        "same cores, so trust CPU times more than wall times.",
    )


def _largest(rows: list[Row], datasets: Sequence[str], n: int) -> list[int]:
    """Return the positions of the tables with most values."""
    size = {
        row["cell"]["dataset"]: row["n_rows"] * row["n_features"]
        for row in finished(rows)
        if "n_rows" in row
    }
    return sorted(range(len(datasets)), key=lambda number: -size[datasets[number]])[:n]


def probabilities(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show Brier score, log-loss and ROC AUC beside those of a reference."""
    reference = report["reference"]
    lines = []
    for method in _others(spec, rows, reference):
        datasets, own, other = _pair(rows, method, reference, "brier")
        if not datasets:
            continue
        _, loss, other_loss = _pair(rows, method, reference, "log_loss")
        _, area, other_area = _pair(rows, method, reference, "roc_auc")
        lines.append(
            [
                title_of(method),
                f"{geometric_mean(own / other):.4f}",
                f"{int((own < other).sum())}",
                f"{_p_value(own - other):.2g}",
                f"{(own / other).max():.3f}",
                f"{geometric_mean(loss / other_loss):.4f}",
                f"{int((loss < other_loss).sum())}",
                f"{_p_value(loss - other_loss):.2g}",
                f"{(area - other_area).mean():+.4f}",
                f"{len(datasets)}",
            ]
        )
    lines.sort(key=lambda line: float(line[5]))
    return ResultTable.from_texts(
        f"{spec.title}: probabilities, {title_of(reference)} = 1",
        [
            *("method", "Brier score", "better on", "p", "worst", "log-loss", "better on", "p"),
            *("ROC AUC, difference", "tables"),
        ],
        lines,
        "Geometric means of the ratios over the tables. Below 1 is better. p is that of Wilcoxon's "
        "test, without correction.",
    )


def groups(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show gains and wins against LightGBM, and CPU ratios, on tables of one kind each."""
    by, reference = report["by"], "lightgbm"
    value = {r["cell"]["dataset"]: r[by] for r in finished(rows) if by in r}
    edges = [-np.inf, *report["edges"], np.inf]
    methods = ranked_methods(spec, rows, report)
    datasets, means = per_set_means(rows, methods)
    _, cpu = per_set_means(rows, methods, "cpu")
    header, lines = ["method"], {method: [Entry(title_of(method))] for method in methods}
    for low, high in pairwise(edges):
        chosen = [n for n, name in enumerate(datasets) if low <= value[name] < high]
        if not chosen:
            continue
        header += [f"{_span(low, high, by)} ({len(chosen)})", "ahead", "CPU"]
        average = means[chosen].mean(axis=0)
        for number, method in enumerate(methods):
            if method == reference or reference not in methods:
                lines[method] += [Entry("-")] * 3
                continue
            other = methods.index(reference)
            best = average[number] == average.max()
            gain = Entry(f"{average[number] - average[other]:+.4f}", bold=bool(best))
            ahead = int((means[chosen, number] > means[chosen, other]).sum())
            ratio = geometric_mean(cpu[chosen, number] / cpu[chosen, other])
            lines[method] += [gain, Entry(f"{ahead}"), Entry(f"{ratio:.2f}")]
    return ResultTable(
        f"{spec.title}: by {_NAMES.get(by, by)}",
        header,
        list(lines.values()),
        "A group of tables has three columns; the number of tables is in brackets. The first "
        f"column is the mean score minus that of {title_of(reference)}. *Ahead* counts the tables "
        f"on which the method is ahead of {title_of(reference)}. CPU is the ratio of fit times, as "
        "a geometric mean.",
    )


def _span(low: float, high: float, by: str) -> str:
    def write(number: float) -> str:
        return f"{number:.0%}" if by == "categories" else f"{number:,.0f}"

    if low == -np.inf:
        return f"below {write(high)}"
    return f"{write(low)} or more" if high == np.inf else f"{write(low)} to {write(high)}"


#: By the kind of report.
TABLE_SUMMARIES = {
    "against": against,
    "costs": costs,
    "probabilities": probabilities,
    "groups": groups,
}
