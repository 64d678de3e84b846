"""Say what the rows of the benchmark of many classes say: ranks by five scores, and costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from metasampler_bench._methods import title_of
from metasampler_bench._rows import Row, per_set_means
from metasampler_bench._spec import Spec
from metasampler_bench._statistics import geometric_mean
from metasampler_bench._summaries import ranked_methods
from metasampler_bench._tables import Entry, ResultTable

__all__ = ["CLASS_SUMMARIES", "class_board"]

#: What is shown: name of the number, head of the column, and whether more is better.
_SCORES = (
    ("score", "macro AP", True),
    ("tail", "AP of the rarest third", True),
    ("balanced_accuracy", "balanced accuracy", True),
    ("macro_f1", "macro F1", True),
    ("log_loss", "log-loss", False),
)


def class_board(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show mean ranks and means of the scores, and CPU times as ratios to a reference."""
    reference = report["reference"]
    methods = ranked_methods(spec, rows, report)
    columns, order, n_sets = [], np.arange(len(methods)), 0
    for name, _, more in _SCORES:
        datasets, means = per_set_means(rows, methods, name)
        n_sets = len(datasets)
        if not n_sets:
            continue
        ranks = rankdata(-means if more else means, axis=1).mean(axis=0)
        if name == "score":
            order = np.argsort(ranks, kind="stable")
        best = ranks.min()
        columns.append(
            [
                Entry(f"{rank:.2f} ({mean:.3f})", bold=rank == best)
                for rank, mean in zip(ranks, means.mean(axis=0), strict=True)
            ]
        )
    lines = []
    for number in order.tolist() if n_sets else []:
        method = methods[number]
        _, cpu = per_set_means(rows, [method, reference], "cpu")
        ratio = cpu[:, 0] / cpu[:, 1]
        cost = Entry(f"{geometric_mean(ratio):.2f} ({ratio.max():.1f})")
        lines.append([Entry(title_of(method)), *(column[number] for column in columns), cost])
    return ResultTable(
        spec.title,
        ["method", *(head for _, head, _ in _SCORES), f"CPU, {title_of(reference)} = 1"],
        lines,
        f"Mean rank over {n_sets} sets of the means over the runs that all methods have; the mean "
        "itself in brackets. CPU is the geometric mean of the ratios of fit times; the largest in "
        "brackets. MESA decides by 'balanced', and for macro F1 by 'macro_f1'; all others return "
        "the most probable class.",
    )


CLASS_SUMMARIES = {"class-board": class_board}
