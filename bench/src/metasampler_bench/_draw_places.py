"""Compare the shipped policy with others on every kind of data that there are rows of."""

from __future__ import annotations

from typing import Any

from metasampler_bench._draw_cases import Cases, cross_validated
from metasampler_bench._draw_judge import (
    CONSTANTS,
    MUS,
    NOISE,
    SPLITS_OF_CHOICE,
    cases_of,
    judged,
    known_of,
    mean_of,
)
from metasampler_bench._draw_policies import learned, one_threshold
from metasampler_bench._rows import Row
from metasampler_bench._spec import Spec
from metasampler_bench._tables import ResultTable

__all__ = ["places"]

_LEVEL = 0.05


def places(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show relative scores in one column for each kind of data."""
    clean, known = cases_of(rows, {}), known_of(rows)
    later = range(SPLITS_OF_CHOICE.stop, 1000)
    # On later splits policies know the first ones alone.
    first = cases_of(rows, {"splits": SPLITS_OF_CHOICE}), known_of(rows, SPLITS_OF_CHOICE)
    data = {
        "clean labels": (cases_of(rows, {}), clean, known),
        "flipped labels": (cases_of(rows, {"noise": NOISE}), clean, known),
        "clean, later": (cases_of(rows, {"splits": later}), *first),
        "flipped, later": (cases_of(rows, {"noise": NOISE, "splits": later}), *first),
        "other sets": (cases_of(rows, {"sets": True}), clean, known),
    }
    header, columns = [], []
    for title, (cases, *learned_from) in data.items():
        if len(cases):
            header.append(f"{title} ({len(set(cases.tables.tolist()))})")
            columns.append(_column(cases, *learned_from))
    lines = [[name, *(column[name] for column in columns)] for name in columns[0]]
    return ResultTable.from_texts(
        f"{spec.title}: relative scores on all data",
        ["policy", *header],
        lines,
        "A relative score of 1 is that of the best constant for each table, known only with "
        "hindsight. After the score of another policy, two numbers count the tables on which the "
        f"shipped policy is ahead of it : behind it. A star means p < {_LEVEL} in Wilcoxon's test, "
        f"not corrected for their number. Flipped: {NOISE:.0%} of the training labels are wrong. "
        f"The form of the policy was chosen on the first {len(SPLITS_OF_CHOICE)} splits; the later "
        "ones decided nothing. The number of tables is in brackets.",
    )


def _column(cases: Cases, clean: Cases, known: Cases) -> dict[str, str]:
    """Return how the policy and its rivals score on some data."""
    own = cross_validated(cases, learned(), known)
    mu, best = (
        max(draws, key=lambda draw: mean_of(cases, cases.test[draw])) for draws in (MUS, CONSTANTS)
    )
    rivals = {
        "best mu, by hindsight": cases.test[mu],
        "best constant, by hindsight": cases.test[best],
        "a learned threshold": cross_validated(cases, one_threshold, known),
        "uniform draws": cases.test["uniform"],
        "learned from clean tables alone": cross_validated(cases, learned(), clean),
    }
    column = {"the shipped policy": f"{mean_of(cases, own):.4f}"}
    for name, scores in rivals.items():
        *_, sides, p = judged(cases, own, [scores])
        star = " *" if float(p) < _LEVEL else ""
        column[name] = f"{mean_of(cases, scores):.4f}, {sides}{star}"
    return column
