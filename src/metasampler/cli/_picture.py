"""The picture of ``metasampler compare``. Importing this module needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from metasampler.cli._evaluation import Result
from metasampler.cli._table_input import Task
from metasampler.plotting import PrecisionRecallComparisonDisplay

# Colours of Okabe and Ito, which colour-blind readers can tell apart.
_STYLES = {
    "mesa": ("#D55E00", "-"),
    "mesa-fit": ("#E69F00", "-"),
    "under-bagging": ("#0072B2", "-"),
    "balanced-forest": ("#56B4E9", "-"),
    "rusboost": ("#009E73", "-"),
    "spe": ("#CC79A7", "-"),
    "tree": ("#777777", ":"),
    "random-forest": ("#000000", "--"),
    "lightgbm": ("#009E73", "--"),
}


def line_style(name: str) -> dict[str, Any]:
    """Return what a method's line always looks like; other methods take what is free."""
    style: dict[str, Any] = {"linewidth": 3.2, "zorder": 4} if name == "mesa" else {}
    if name in _STYLES:
        color, dashes = _STYLES[name]
        style |= {"color": color, "linestyle": dashes, "marker": ""}
    return style


def save_curves(task: Task, results: list[Result], path: Path) -> None:
    """Draw precision over recall of the class to find, from all folds' predictions together."""
    finished = [result for result in results if not result.failure]
    against = "the rest" if len(task.labels) > 2 else task.labels[1 - task.positive]
    # Figure without pyplot: no window system is asked for, and no state is left behind.
    figure = Figure(figsize=(9, 5), layout="constrained")
    PrecisionRecallComparisonDisplay.from_predictions(
        {result.title: result.probability for result in finished},
        task.y == task.positive,
        styles={result.title: line_style(result.method) for result in finished},
        title=f"{task.name}: {task.labels[task.positive]} against {against}, all folds together",
        ax=figure.add_subplot(),
    )
    figure.savefig(path, dpi=150)
