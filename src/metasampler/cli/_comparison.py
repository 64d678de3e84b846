"""What ``metasampler compare`` prints and draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from metasampler.cli._evaluation import USUAL_SIZE, Result
from metasampler.cli._table_input import Task

_RULE_FOR_MANY = (
    "Scores are macro averages, each class against the rest; for F1 each row gets the class that "
    "is most probable compared with its frequency. "
)


def describe(task: Task) -> str:
    """Describe the data set in one line."""
    n_rows, n_columns = len(task.y), task.X.shape[1]
    counts, smallest = task.counts, task.smallest
    left_out = {} if task.cleaner is None else task.cleaner.left_out_
    # What the user dropped is no news.
    used = " in use" if any(why != "As asked." for why in left_out.values()) else ""
    parts = [f"{n_rows:,} rows", f"{n_columns:,} columns{used}"]
    if len(task.labels) > 2:
        parts.append(f"{len(task.labels)} classes")
    parts.append(f"minority {escape(repr(task.labels[smallest]))}: {counts[smallest]:,} rows")
    parts.append(f"ratio {counts.max() / counts[smallest]:.1f}:1")
    if len(task.labels) == 2 and task.positive != smallest:
        parts.append(f"class to find {escape(repr(task.labels[task.positive]))}")
    return f"[bold]{escape(task.name)}[/]: " + ", ".join(parts)


def describe_left_out(left_out: dict[str, str]) -> str:
    """Name the columns that are not used, with the reasons."""
    parts = [f"{escape(str(name))} ({escape(why.rstrip('.'))})" for name, why in left_out.items()]
    return f"Left out: {'; '.join(parts)}."


def table(
    task: Task,
    results: list[Result],
    *,
    folds: int,
    n_estimators: int | None,
    top: float | None = None,
) -> Table:
    """Return the results as one table: best average precision first and in bold, failures last."""
    many = len(task.labels) > 2
    share = "as many rows as the class has" if top is None else f"{top:.3g} of the rows"
    rule = f"For precision and recall every method calls {share}, the most probable ones. "
    caption = (
        f"Means over {folds} folds (± standard deviation); ensembles of "
        f"{n_estimators or USUAL_SIZE} members"
        + ("" if n_estimators else " (MESA's presets have sizes of their own)")
        + ", forests and gradient boosting of up to 100. "
        + (_RULE_FOR_MANY if many else rule)
        + "Times are of one fit; rows used are summed over the final members: rows for validation "
        "or meta-training are not counted."
    )
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1), caption=caption, caption_justify="left")
    drawn.add_column("method", max_width=40, overflow="fold")
    scores = ("average precision", "ROC AUC", *(("F1",) if many else ("precision", "recall")))
    formats = {
        **dict.fromkeys(scores, ".3f"),
        **dict.fromkeys(("fit, s", "CPU, s"), ".2f"),
        "rows used": ",.0f",
    }
    for name in formats:
        drawn.add_column(name, justify="right", no_wrap=True)

    finished = [result for result in results if not result.failure]
    finished.sort(key=lambda result: -np.mean(result.column(scores[0])))
    for rank, result in enumerate(finished):
        cells = [f"{np.mean(result.column(name)):{form}}" for name, form in formats.items()]
        cells[0] += f" ± {np.std(result.column(scores[0])):.3f}"
        drawn.add_row(result.title, *cells, style="bold" if rank == 0 else None)
    for result in results:
        if result.failure:
            reason = result.failure[:200]
            drawn.add_row(Text.assemble(result.title, "\n", (f"failed: {reason}", "red")))
    return drawn


def save_curves(task: Task, results: list[Result], path: Path) -> None:
    """Draw precision over recall of the class to find, from all folds' predictions together."""
    from matplotlib.figure import Figure

    from metasampler.plotting import PrecisionRecallComparisonDisplay

    against = "the rest" if len(task.labels) > 2 else task.labels[1 - task.positive]
    # Figure without pyplot: no window system is asked for, and no state is left behind.
    figure = Figure(figsize=(9, 5), layout="constrained")
    PrecisionRecallComparisonDisplay.from_predictions(
        {result.title: result.probability for result in results if not result.failure},
        task.y == task.positive,
        title=f"{task.name}: {task.labels[task.positive]} against {against}, all folds together",
        ax=figure.add_subplot(),
    )
    figure.savefig(path, dpi=150)
