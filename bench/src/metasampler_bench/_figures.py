"""Draw figures of results, through displays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from metasampler_bench._methods import title_of
from metasampler_bench._paired import Difference, by_split
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
from metasampler_bench._statistics import standard_error
from metasampler_bench._summaries import methods_of, ranked_methods
from metasampler_bench._tables import keys_on

__all__ = ["FIGURES", "PICTURES"]

#: Looks of the parts of a task's rows, and of the tasks themselves.
_PARTS = ("train", "valid", "test")
#: Average precision that a panel shows at least: on a tighter axis chance looks like a trend.
_LEAST_SPAN = 0.1


def curve(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw a number against another: a panel for each data set, a line for each method."""
    from metasampler_bench.plotting import ScoreCurveDisplay, method_style

    panel_axes, line_axis = report["panel"], report["line"]
    panel_axes = [panel_axes] if isinstance(panel_axes, str) else panel_axes
    x_name, y_name = report["x"], report.get("y", "score")
    curves: dict[str, dict[str, Any]] = {}
    styles: dict[str, dict[str, Any]] = {}
    for key in keys_on(spec, rows, panel_axes):
        panel = dict(zip(panel_axes, key, strict=True))
        part = finished(select(rows, panel))
        heading = ", ".join(name_of(a, v) for a, v in panel.items())
        lines = curves.setdefault(f"{heading} ({_n_fits(part)})", {})
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
            # A band where there are several fits, else none: not one of width zero.
            errors = [standard_error(y[key]) if len(y[key]) > 1 else np.nan for key in keys]
            lines[name_of(line_axis, line)] = (x, [y[key].mean() for key in keys], errors)
            if line_axis == "method" and method_style(line):
                styles[name_of(line_axis, line)] = method_style(line)
    yield (
        "curve" if y_name == "score" else y_name.replace("_", "-"),
        ScoreCurveDisplay(
            curves=curves,
            xlabel=report["xlabel"],
            ylabel=report.get("ylabel", "average precision"),
            logx=report.get("logx", False),
            title=_with_bands(spec, curves),
            styles=styles,
            least_span=_LEAST_SPAN if y_name == "score" else 0.0,
        ).plot(),
    )


def _n_fits(rows: list[Row]) -> str:
    """Return how many runs and folds are behind a panel, in words."""
    n = len({(row["cell"].get("run"), row["cell"].get("fold")) for row in rows})
    return f"{n} fit{'s' if n > 1 else ''}"


def _with_bands(spec: Spec, curves: dict[str, dict[str, Any]]) -> str:
    """Return the title, and what the bands are if there are any."""
    spreads = [spread for lines in curves.values() for *_, spread in lines.values()]
    known = any(s is not None and np.isfinite(s).any() for s in spreads)
    return spec.title + (", bands of ± one standard error" if known else "")


def heatmap(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw scores by what a sampler was meta-trained and used on, and the loss against its own."""
    from metasampler_bench.plotting import TransferHeatmapDisplay

    row_axis, column_axis = report["rows"], report["columns"]
    groups: dict[tuple[Any, Any], list[Row]] = {}
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
        groups.setdefault((key, cell[column_axis]), []).append(row)
    columns = axis_order(spec, column_axis, (column for _, column in groups))
    keys = axis_order(spec, row_axis, (key for key, _ in groups))
    scores = {place: by_split(found) for place, found in groups.items()}
    values = np.full((len(keys), len(columns)), np.nan)
    losses = values.copy()
    for n, key in enumerate(keys):
        for m, column in enumerate(columns):
            own = scores.get((key, column), {})
            # Samplers that take long have fewer folds: the loss is that on the folds of both.
            whole = scores.get((column if row_axis == "meta_task" else 1.0, column), {})
            values[n, m] = np.mean(list(own.values())) if own else np.nan
            losses[n, m] = Difference(own, whole).relative
    labels = [str(key) if row_axis == "meta_task" else f"{key:.0%}" for key in keys]
    for loss in (False, True):
        yield (
            f"{row_axis.replace('_', '-')}-{'loss' if loss else 'score'}",
            TransferHeatmapDisplay(
                values=losses if loss else values,
                row_labels=labels,
                column_labels=list(columns),
                loss=loss,
                row_title="meta-trained on" if row_axis == "meta_task" else "part of its rows",
                title=f"{'Relative difference' if loss else 'Average precision'}, k = 10",
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


def _sliding(curves: list[list[float]], window: int) -> tuple[list[int], Any, Any]:
    """Return episodes, and mean and standard error over folds of means over the last episodes.

    The first means are over as many episodes as there are.
    """
    sums = np.cumsum(np.pad(np.array(curves, dtype=float), ((0, 0), (1, 0))), axis=1)
    ends = np.arange(1, sums.shape[1])
    starts = np.maximum(0, ends - window)
    means = (sums[:, ends] - sums[:, starts]) / (ends - starts)
    errors = means.std(axis=0, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else None
    return ends.tolist(), means.mean(axis=0), errors


def history(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw scores over the episodes of meta-training, as means over the folds."""
    from metasampler_bench.plotting import ScoreCurveDisplay

    done = finished(rows)
    curves: dict[str, dict[str, Any]] = {}
    for name in axis_order(spec, "dataset", (row["cell"]["dataset"] for row in done)):
        own = select(done, {"dataset": name})
        curves[f"{name} ({_n_fits(own)})"] = {
            part: _sliding([row["curves"][part] for row in own], report["window"])
            for part in _PARTS
        }
    yield "history", _episodes(ScoreCurveDisplay, spec, curves, report)


def _episodes(
    display: Any, spec: Spec, curves: dict[str, Any], report: dict[str, Any], styles: Any = None
) -> Any:
    return display(
        curves=curves,
        xlabel=f"episode (means of the last {report['window']})",
        ylabel="average precision",
        title=_with_bands(spec, curves),
        styles=styles,
        least_span=_LEAST_SPAN,
    ).plot()


def joint(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw test scores on all tasks during joint meta-trainings, beside the best baselines."""
    from metasampler_bench.plotting import ScoreCurveDisplay, method_style

    done = finished(rows)
    trainings = [row for row in done if "tasks" in row["cell"]]
    if not trainings:
        return
    trained = trainings[0]["cell"]["tasks"].split("+")
    learned = "MESA, meta-trained so far"
    styles = {learned: method_style("mesa-fit")}
    curves: dict[str, dict[str, Any]] = {}
    for name in trainings[0]["curves"]:
        kind = "trained on" if name in trained else "unseen"
        episodes, means, errors = _sliding(
            [row["curves"][name] for row in trainings], report["window"]
        )
        lines: dict[str, Any] = {learned: (episodes, means, errors)}
        scores = group_values(select(done, {"dataset": name}), ["method"], "score")
        for (method,) in sorted(scores, key=lambda key: -scores[key].mean())[:2]:
            own = scores[method,]
            error = standard_error(own) if len(own) > 1 else np.nan
            ends = [1, episodes[-1]]
            lines[title_of(method)] = (ends, [own.mean()] * 2, [error] * 2)
            styles[title_of(method)] = method_style(method)
        curves[f"{name} ({kind}, {_n_fits(trainings)})"] = lines
    yield "joint", _episodes(ScoreCurveDisplay, spec, curves, report, styles)


def states(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw meta-states: the shares of rows by their error, at the first and at the last step."""
    from metasampler_bench.plotting import ScoreCurveDisplay

    done = [row for row in finished(rows) if row.get("states")]
    curves: dict[str, dict[str, Any]] = {}
    for name in axis_order(spec, "dataset", (row["cell"]["dataset"] for row in done)):
        seen = np.array([row["states"] for row in select(done, {"dataset": name})])
        n_bins = seen.shape[2] // 2
        centres = (np.arange(n_bins) + 0.5) / n_bins
        lines = curves.setdefault(name, {})
        for step, when in ((0, "first"), (-1, "last")):
            for half, part in ((slice(n_bins), "training"), (slice(n_bins, None), "validation")):
                shares = seen[:, step, half]
                errors = (
                    shares.std(axis=0, ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else None
                )
                lines[f"{when} step, {part} rows"] = (centres, shares.mean(axis=0), errors)
    if curves:
        yield (
            "states",
            ScoreCurveDisplay(
                curves=curves,
                xlabel="error of a row, middle of the bin",
                ylabel="share of the rows",
                title=_with_bands(spec, curves),
            ).plot(),
        )


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
    methods = ranked_methods(spec, chosen, report)
    datasets, means = per_set_means(chosen, methods)
    # The tests need three methods and two sets.
    if len(methods) < 3 or len(datasets) < 2:
        return
    names = [title_of(method) for method in methods]
    title = spec.title + report.get("suffix", "")
    yield (
        f"critical-difference{report.get('name', '')}",
        CriticalDifferenceDisplay(
            scores=means, names=names, title=f"{title}: {len(datasets)} sets"
        ).plot(),
    )


def policy(spec: Spec, rows: list[Row], report: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Draw the power that the sampler chooses, and what clean tables alone teach."""
    from metasampler.plotting import PolicyDisplay
    from metasampler.policy import LearnedPolicy, StateEncoder, load_policy
    from metasampler_bench._draw_judge import cases_of
    from metasampler_bench._draw_policies import fit_sampler

    samplers = {"the shipped sampler": load_policy("boosters")}
    clean = cases_of(rows, {})
    if len(clean):
        alone = LearnedPolicy(fit_sampler(clean), StateEncoder("signal"))
        samplers["learned from clean tables alone"] = alone
    yield "policy", PolicyDisplay.from_samplers(samplers)


#: What a picture shows, by the kind of report, for readers who do not see it.
PICTURES = {
    "policy": "Power of the draw over the signal",
    "curve": "Curves of the methods",
    "heatmap": "Table of colours, what samplers learned from against what they are used on",
    "trace": "mu over the members of an ensemble",
    "history": "Scores over the episodes",
    "joint": "Test scores over the episodes",
    "states": "Shares of the rows by their error",
    "boundary": "Points and decision boundaries",
    "critical-difference": "Mean ranks with the critical difference",
}
#: By the kind of report; each gives names of files and displays.
FIGURES = {
    "policy": policy,
    "curve": curve,
    "heatmap": heatmap,
    "trace": trace,
    "history": history,
    "joint": joint,
    "states": states,
    "boundary": boundary,
    "critical-difference": critical_difference,
}
