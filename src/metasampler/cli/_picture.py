"""The picture of ``metasampler compare``. Importing this module needs matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import PrecisionRecallDisplay, average_precision_score

from metasampler.benchmark import METHODS
from metasampler.cli._evaluation import Result
from metasampler.cli._table_input import Task

# Colours of Okabe and Ito, which colour-blind readers can tell apart.
_COLORS = ("#D55E00", "#E69F00", "#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#777777", "#000000")
_DASHES = ("-", "--", ":", "-.")
_STYLES = {
    "mesa": ("#D55E00", "-"),
    "mesa-fit": ("#E69F00", "-"),
    "under-bagging": ("#0072B2", "-"),
    "balanced-forest": ("#56B4E9", "-"),
    "rusboost": ("#009E73", "-"),
    "spe": ("#CC79A7", "-"),
    "tree": ("#777777", ":"),
    "random-forest": ("#000000", "--"),
    "gradient-boosting": ("#009E73", "--"),
}


def line_style(name: str) -> tuple[str, str]:
    """Colour and dashes of a method: the same in every picture, whatever else is in it."""
    if name in _STYLES:
        return _STYLES[name]
    place = list(METHODS).index(name)
    return _COLORS[place % len(_COLORS)], _DASHES[1 + place // len(_COLORS) % 3]


def save_curves(task: Task, results: list[Result], path: Path) -> None:
    """Draw precision over recall of the class to find, from all folds' predictions together."""
    found = task.y == task.positive
    scored = [
        (float(average_precision_score(found, result.probability)), result)
        for result in results
        if not result.failure
    ]
    scored.sort(key=lambda pair: -pair[0])

    # Figure without pyplot: no window system is asked for, and no state is left behind.
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.add_subplot()
    for precision, result in scored:
        color, dashes = line_style(result.method)
        ours = result.method == "mesa"
        display = PrecisionRecallDisplay.from_predictions(found, result.probability, ax=axes)
        display.line_.set(
            color=color,
            linestyle=dashes,
            linewidth=3.2 if ours else 1.6,
            zorder=4 if ours else 3,
            label=f"{result.title} (AP {precision:.3f})",
        )
    chance = float(np.mean(found))
    axes.axhline(chance, color="#999999", linewidth=1, linestyle=(0, (1, 3)), zorder=1)
    axes.lines[-1].set_label(f"chance (AP {chance:.3f})")
    against = "the rest" if len(task.labels) > 2 else task.labels[1 - task.positive]
    axes.set(
        xlabel="recall",
        ylabel="precision",
        xlim=(0, 1.01),
        ylim=(0, 1.02),
        aspect="auto",
    )
    title = f"{task.name}: {task.labels[task.positive]} against {against}"
    axes.set_title(title, loc="left", fontsize=11, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#EEEEEE", zorder=0)
    inner_legend = axes.get_legend()  # PrecisionRecallDisplay draws one over the curves
    if inner_legend is not None:
        inner_legend.remove()
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside right center",
        frameon=False,
        title="all folds pooled",
        alignment="left",
    )
    figure.savefig(path, dpi=150)
