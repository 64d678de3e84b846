"""What has changed since the fit: what it promised beside what rows show, and what has moved."""

from __future__ import annotations

from typing import Any

from metasampler._pipelines import unwrap
from metasampler.drift import DriftReport
from metasampler.report._findings import Findings, interval, percent
from metasampler.report._html_tables import table
from metasampler.report._markup import Markup, element, name
from metasampler.report._model import innermost

# Columns that are listed.
_MOST_COLUMNS = 30


def drift_of(model: Any, X: Any) -> DriftReport | None:
    """Return how rows differ from those of the fit; None if the model does not know those."""
    before, final = unwrap(model)
    if not hasattr(final, "drift") or getattr(final, "_baseline", None) is None:
        return None
    for step in before:
        X = step.transform(X)
    made: DriftReport = final.drift(X)
    return made


def since_fit(found: Findings) -> Markup | None:
    """Return what the fit promised, and what has moved."""
    promised, drift = _promised(found), found.drift
    if promised is None and drift is None:
        return None
    return element(
        "section",
        element("h2", "Since the fit"),
        promised,
        _moved(drift),
        id="since_fit",
    )


def _promised(found: Findings) -> Markup | None:
    """Return precision and recall as the fit expected them, and as these rows show them."""
    final = innermost(found.model)
    if not found.by_rule or getattr(final, "expected_recall_", None) is None:
        return None
    if found.label != final.minority_class_:
        return None
    at, judged, rows = found.cuts.start, found.quality, []
    for key in ("precision", "recall"):
        value = getattr(final, f"expected_{key}_")
        range_of = getattr(final, f"expected_{key}_interval_")
        cells = [key.capitalize(), percent(value), interval(*(range_of or (None, None)))]
        if judged is not None:
            low, high = getattr(judged, key)
            cells += [percent(getattr(found.cuts, key)[at]), interval(low[at], high[at])]
        rows.append(cells)
    header = ["At the threshold", "Expected by the fit", "95% interval"]
    if judged is not None:
        header += ["These rows", "95% interval"]
    return table("What the fit expected", header, rows)


def _moved(drift: DriftReport | None) -> Markup | None:
    """Return which columns and scores have moved."""
    if drift is None:
        return None
    moved = drift.moved
    rows = [
        [name(each.name), each.finding, f"{each.psi:.2f}", each.why]
        for each in moved[:_MOST_COLUMNS]
    ]
    more = len(moved) - len(rows)
    return element(
        "div",
        element("p", " ".join(drift.lines)),
        table("What has moved", ["Column", "Finding", "PSI", "What has changed"], rows)
        if rows
        else None,
        element("p", f"{more:,} more columns have moved.") if more else None,
        element(
            "p",
            "PSI is the population stability index: from 0.1 on a column has moved, from 0.25 on "
            "a lot. Chance explains a finding in one of a hundred reports.",
        ),
    )
