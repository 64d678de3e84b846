"""Which rows of `policies-tables` a report is about, and how policies are judged by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from metasampler_bench._draw_cases import Cases, Floats, mean_by_table
from metasampler_bench._draw_measure import CHOICES
from metasampler_bench._rows import Row, finished
from metasampler_bench.datasets import REAL_FAMILIES

__all__ = [
    "CONSTANTS",
    "MUS",
    "NOISE",
    "SPLITS_OF_CHOICE",
    "THINNED",
    "cases_of",
    "judged",
    "known_of",
    "mean_of",
    "p_over_families",
    "splits_of",
    "tested_cases",
]

MUS = tuple(CHOICES["mu"])
CONSTANTS = (*MUS, *CHOICES["power"])

# Varieties of the tables that policies learn from beside the tables themselves.
NOISE = 0.2
THINNED = 0.25

#: The form of the sampler was chosen on these splits; later ones have decided nothing.
SPLITS_OF_CHOICE = range(5)


def cases_of(rows: list[Row], report: dict[str, Any], *, group: str = "power") -> Cases:
    """Return the cases that a report is about: of tables or of sets, with labels as they are.

    ``noise`` and ``thinned`` of the report name varieties of the 46 tables; with ``sets`` it is
    about the other data sets. ``splits`` keeps only some of the splits.
    """
    noise, thinned = report.get("noise", 0.0), report.get("thinned")
    splits = report.get("splits")
    return Cases.of(
        (
            row
            for row in finished(rows)
            if "dataset" in row["cell"]
            and (splits is None or row["cell"]["run"] in splits)
            and row["cell"].get("noise", 0.0) == noise
            and row["cell"].get("thinned") == thinned
            and (row["cell"]["dataset"] in REAL_FAMILIES) != report.get("sets", False)
        ),
        group=group,
    )


def known_of(rows: list[Row], splits: range | None = None) -> Cases:
    """Return what policies learn from: the 46 tables, also with flipped labels and thinned."""
    return Cases.together(
        {
            "": cases_of(rows, {"splits": splits}),
            " (flipped labels)": cases_of(rows, {"noise": NOISE, "splits": splits}),
            " (thinned)": cases_of(rows, {"thinned": THINNED, "splits": splits}),
        }
    )


def tested_cases(rows: list[Row], report: dict[str, Any]) -> Cases:
    """Return the cases that a report is about; without any there is nothing to report."""
    cases = cases_of(rows, report)
    if not len(cases):
        raise ValueError("No table has rows of all draws yet; the same command goes on.")
    return cases


def mean_of(cases: Cases, scores: Floats) -> float:
    """Return the mean over the tables, each of which counts the same."""
    return float(cases.weights @ scores)


def splits_of(cases: Cases) -> str:
    """Say how many splits each table has."""
    counts = [int((cases.tables == name).sum()) for name in set(cases.tables.tolist())]
    low, high = min(counts, default=0), max(counts, default=0)
    if low == high:
        return f"{low} split{'s' * (low != 1)}"
    return f"{low} to {high} splits"


def p_over_families(cases: Cases, scores: Floats, reference: Floats) -> float:
    """Return Wilcoxon's p over families: their tables are alike, and not independent."""
    own, other = (mean_by_table(cases.tables, each) for each in (scores, reference))
    family_of = dict(zip(cases.tables.tolist(), cases.families.tolist(), strict=True))
    difference: dict[str, list[float]] = {}
    for name, family in family_of.items():
        difference.setdefault(family, []).append(own[name] - other[name])
    means = np.array([np.mean(each) for each in difference.values()])
    return float(wilcoxon(means).pvalue) if means.any() else 1.0


def judged(cases: Cases, scores: Floats, references: Any) -> list[str]:
    """Write mean, worst table, and what it is against each reference."""
    own = mean_by_table(cases.tables, scores)
    worst = min(own, key=lambda name: own[name])
    texts = [f"{np.mean(list(own.values())):.4f}", f"{own[worst]:.3f}", worst]
    for reference in references:
        other = mean_by_table(cases.tables, reference)
        difference = np.array([own[name] - other[name] for name in own])
        difference[np.abs(difference) < 1e-9] = 0.0
        p = wilcoxon(difference).pvalue if difference.any() else 1.0
        ahead, behind = int((difference > 0).sum()), int((difference < 0).sum())
        texts += [f"{difference.mean():+.4f}", f"{ahead} : {behind}", f"{p:.2g}"]
    return texts
