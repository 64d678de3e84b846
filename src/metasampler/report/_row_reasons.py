"""Why alarms are raised: what each column adds to the log-odds of the rows with an alarm."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.explain import check_explainable, explain_rows
from metasampler.report._findings import Findings, percent
from metasampler.report._html_tables import table
from metasampler.report._markup import Markup, element, name

__all__ = ["reasons_of_alarms", "row_reasons"]

# Rows with an alarm that are explained, and columns that are shown, at most.
_MOST_ROWS, _MOST_SHOWN = 500, 10


def reasons_of_alarms(model, X, scores: np.ndarray, threshold: float, label) -> dict | None:
    """Return what each column adds to the log-odds of rows with an alarm, on average.

    The result has ``names``, ``mean``, ``first`` (the share of rows in which a column adds most)
    and the number of ``rows``; it is None if there are no alarms or the model cannot be explained.
    Of many alarms it looks at some, evenly from the highest score to the lowest.
    """
    try:
        check_explainable(model)
    except ValueError:
        return None
    alarms = np.flatnonzero(scores >= threshold)
    if not len(alarms):
        return None
    alarms = alarms[np.argsort(-scores[alarms], kind="stable")]
    some = np.unique(np.linspace(0, len(alarms) - 1, _MOST_ROWS).astype(int))
    rows = np.sort(alarms[some])
    found = explain_rows(model, take_rows(X, rows), class_label=label)
    first = np.bincount(found.contributions.argmax(axis=1), minlength=len(found.columns))
    return {
        "names": [str(each) for each in found.columns],
        "mean": found.contributions.mean(axis=0),
        "first": first / len(rows),
        "rows": len(rows),
        "alarms": len(alarms),
    }


def row_reasons(found: Findings) -> Markup | None:
    """Return why alarms are raised."""
    made: dict[str, Any] | None = found.reasons
    if made is None:
        return None
    order = np.argsort(-made["mean"], kind="stable")
    raises = [k for k in order.tolist() if made["mean"][k] > 0][:_MOST_SHOWN]
    if not raises:
        return None
    looked_at = (
        f"all {made['rows']:,} rows with an alarm"
        if made["rows"] == made["alarms"]
        else f"{made['rows']:,} of {made['alarms']:,} rows with an alarm"
    )
    return element(
        "section",
        element("h2", "Why alarms are raised"),
        element(
            "p",
            f"What each column adds to the log-odds of {looked_at}, on average, and in how many of "
            "them it adds most. An addition of 0.7 doubles the odds. This says what the model did, "
            "not what caused the class.",
        ),
        table(
            "Columns that raise the log-odds of alarms",
            ["Column", "Adds", "First reason"],
            [
                [name(made["names"][k]), f"{made['mean'][k]:+.2f}", percent(made["first"][k], 0)]
                for k in raises
            ],
        ),
        id="reasons",
    )
