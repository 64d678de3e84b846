"""Draw figures of results, through displays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from metasampler_bench._methods import title_of
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
from metasampler_bench._summaries import count_sets, methods_of, most_finished

__all__ = ["FIGURES"]

# More bands than this cover each other.
_MOST_BANDS = 4


def curve(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw a number against another: a panel for each data set, a line for each method."""
    from metasampler_bench.plotting import ScoreCurveDisplay

    panel_axis, line_axis = report["panel"], report["line"]
    x_name, y_name = report["x"], report.get("y", "score")
    curves: dict[str, dict[str, Any]] = {}
    for panel in axis_order(spec, panel_axis, (axis_value(r["cell"], panel_axis) for r in rows)):
        part = finished(select(rows, {panel_axis: panel}))
        lines = curves.setdefault(name_of(panel_axis, panel), {})
        found = axis_order(spec, line_axis, (axis_value(r["cell"], line_axis) for r in part))
        shown = [line for line in found if line in report.get("lines", found)]
        for line in shown:
            own = select(part, {line_axis: line})
            # Rows used are no axis: the points are the sizes, at the mean of their rows.
            axis = "k" if x_name == "rows" else x_name
            y = group_values(own, [axis], y_name)
            at = group_values(own, ["k"], "rows") if x_name == "rows" else None
            keys = sorted(y)
            x = [float(key[0]) if at is None else float(at[key].mean()) for key in keys]
            spread = (
                [y[key].std(ddof=1) if len(y[key]) > 1 else 0.0 for key in keys]
                if len(shown) <= _MOST_BANDS
                else None
            )
            lines[name_of(line_axis, line)] = (x, [y[key].mean() for key in keys], spread)
    yield (
        "curve" if y_name == "score" else y_name.replace("_", "-"),
        ScoreCurveDisplay(
            curves=curves,
            xlabel=report["xlabel"],
            ylabel=report.get("ylabel", "AUCPRC"),
            logx=report.get("logx", False),
            title=spec.title,
        ).plot(),
    )


def heatmap(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw scores by what a sampler was meta-trained and used on, and the loss against its own."""
    from metasampler_bench.plotting import TransferHeatmapDisplay

    row_axis, column_axis = report["rows"], report["columns"]
    groups: dict[tuple[Any, Any], list[float]] = {}
    for row in finished(rows):
        cell = row["cell"]
        # A sampler of the task itself is the diagonal of the cross-task map.
        key = axis_value(cell, row_axis)
        if row_axis == "meta_task":
            if axis_value(cell, "meta_fraction") != 1:
                continue
            key = cell.get("meta_task", cell["dataset"])
        elif cell.get("meta_task", cell["dataset"]) != cell["dataset"]:
            continue
        groups.setdefault((key, cell[column_axis]), []).append(row["score"])
    columns = axis_order(spec, column_axis, (column for _, column in groups))
    keys = axis_order(spec, row_axis, (key for key, _ in groups))
    values = np.array([[np.mean(groups.get((r, c), [np.nan])) for c in columns] for r in keys])
    if row_axis == "meta_task":
        reference = np.array([np.mean(groups.get((c, c), [np.nan])) for c in columns])
    else:
        reference = np.array([np.mean(groups.get((1.0, c), [np.nan])) for c in columns])
    labels = [str(key) if row_axis == "meta_task" else f"{key:.0%}" for key in keys]
    for loss in (False, True):
        yield (
            f"{row_axis.replace('_', '-')}-{'loss' if loss else 'score'}",
            TransferHeatmapDisplay(
                values=values / reference - 1 if loss else values,
                row_labels=labels,
                column_labels=list(columns),
                loss=loss,
                row_title="meta-trained on" if row_axis == "meta_task" else "part of its rows",
                title=f"{'Relative difference' if loss else 'AUCPRC'}, k = 10",
            ).plot(),
        )


def trace(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw mu over the members, with a line for each value of an axis."""
    from metasampler.plotting import PolicyTraceDisplay

    axis = report["line"]
    done = [row for row in finished(rows) if row.get("actions")]
    values = axis_order(spec, axis, (axis_value(row["cell"], axis) for row in done))
    traces = {
        name_of(axis, value): np.array([r["actions"] for r in select(done, {axis: value})])
        for value in values
    }
    yield "trace", PolicyTraceDisplay(traces=traces, title=spec.title).plot()


def history(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw scores over the episodes of meta-training."""
    from metasampler.plotting import MetaTrainingDisplay

    done = finished(rows)
    names = axis_order(spec, "dataset", (row["cell"]["dataset"] for row in done))
    curves = {name: select(done, {"dataset": name})[0]["curves"] for name in names}
    yield (
        "history",
        MetaTrainingDisplay(curves=curves, window=report["window"], title=spec.title).plot(),
    )


def joint(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw test scores on all tasks during a joint meta-training, beside the best baselines."""
    from metasampler.plotting import MetaTrainingDisplay

    done = finished(rows)
    for row in (row for row in done if "tasks" in row["cell"]):
        trained = row["cell"]["tasks"].split("+")
        titles = {
            name: f"{name} ({'meta-trained on' if name in trained else 'unseen'})"
            for name in row["curves"]
        }
        references = {}
        for name, title in titles.items():
            scores = group_values(select(done, {"dataset": name}), ["method"], "score")
            best = sorted(scores, key=lambda key: -scores[key].mean())[:2]
            references[title] = {title_of(m): float(scores[m,].mean()) for (m,) in best}
        yield (
            "joint",
            MetaTrainingDisplay(
                curves={titles[name]: {"test": values} for name, values in row["curves"].items()},
                window=report["window"],
                references=references,
                title=spec.title,
            ).plot(),
        )
        return


def boundary(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw decision boundaries: a line of panels for each data set."""
    from metasampler_bench.plotting import DecisionBoundaryComparisonDisplay

    panels = []
    for row in finished(rows):
        if "surface" not in row:
            continue
        points = np.array(row["points"])
        x_low, x_high, y_low, y_high = row["extent"]
        size = int(np.sqrt(len(row["surface"])))
        xx, yy = np.meshgrid(np.linspace(x_low, x_high, size), np.linspace(y_low, y_high, size))
        panels.append(
            {
                "row": row["cell"]["dataset"],
                "column": name_of("method", row["cell"]["method"]),
                "X": points[:, :2],
                "y": points[:, 2].astype(int),
                "xx": xx,
                "yy": yy,
                "proba": np.array(row["surface"]).reshape(size, size),
                "score": row["score"],
            }
        )
    datasets = axis_order(spec, "dataset", (panel["row"] for panel in panels))
    names = [name_of("method", method) for method in methods_of(spec, rows)]
    panels.sort(key=lambda panel: (datasets.index(panel["row"]), names.index(panel["column"])))
    if panels:
        yield "boundary", DecisionBoundaryComparisonDisplay(panels=panels).plot()


def critical_difference(
    spec: Spec, rows: list[Row], report: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Draw mean ranks over the data sets, of the methods that finished as many as the best."""
    from metasampler_bench.plotting import CriticalDifferenceDisplay

    chosen = select(rows, {"k": report["k"]}) if "k" in report else rows
    methods = most_finished(count_sets(methods_of(spec, chosen), chosen))
    datasets, means = per_set_means(chosen, methods)
    # The tests need three methods and two sets.
    if len(methods) < 3 or len(datasets) < 2:
        return
    names = [title_of(method) for method in methods]
    yield (
        "critical-difference",
        CriticalDifferenceDisplay(
            scores=means, names=names, title=f"{spec.title}: {len(datasets)} sets"
        ).plot(),
    )


#: By the kind of report; each gives names of files and displays.
def policy(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw the power that is learned from all tables, over the signal."""
    from metasampler.plotting import PolicyDisplay
    from metasampler.policy import LearnedPolicy, StateEncoder
    from metasampler_bench._draw_policies import Cases, fit_sampler

    cases = Cases.of(row for row in finished(rows) if not row["cell"].get("noise"))
    if not len(cases):
        return
    learned = LearnedPolicy(fit_sampler(cases), StateEncoder("signal"), action="power")
    yield "policy", PolicyDisplay.from_sampler(learned, name="learned from all tables")


FIGURES = {
    "policy": policy,
    "curve": curve,
    "heatmap": heatmap,
    "trace": trace,
    "history": history,
    "joint": joint,
    "boundary": boundary,
    "critical-difference": critical_difference,
}
