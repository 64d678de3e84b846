"""How good a choice of draws could be at all, on splits that no choice has seen.

The best of a dozen draws in a handful of splits is partly the luckiest. So the table's own best
with hindsight, by which scores are divided, is more than any choice made beforehand can reach, be
it with perfect knowledge of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from metasampler_bench._draw_cases import Cases, Floats

__all__ = ["known_from_splits", "perfect_knowledge"]


def known_from_splits(cases: Cases, draws: Sequence[str], n_known: int) -> dict[str, float]:
    """Return what the best draw of some splits of a table scores on its other splits.

    Parameters
    ----------
    cases : Cases
    draws : sequence of str
        What is chosen from.
    n_known : int
        Splits to choose by; the mean over all such sets of splits is returned.

    Returns
    -------
    scores : dict of float
        By table, as parts of its own best; tables without a further split are left out.
    """
    scores = {}
    for name, table in _by_table(cases, draws).items():
        places = range(len(table))
        if len(table) <= n_known:
            continue
        found = []
        for known in combinations(places, n_known):
            best = int(table[list(known)].mean(axis=0).argmax())
            found.append(table[[place for place in places if place not in known], best].mean())
        scores[name] = float(np.mean(found))
    return scores


def perfect_knowledge(cases: Cases, draws: Sequence[str]) -> tuple[float, float]:
    """Return between which limits perfect knowledge of each table's best draw would score.

    A choice by all splits but one knows less, and scores less: this is the lower limit. The
    best with hindsight is too good, by the luck of what is chosen. Unless a draw is far ahead, and
    then both are small, this luck is at least what is lost by choosing with so few splits: the
    upper limit is halfway between. In simulated tables with known truth it lies between the two.

    Parameters
    ----------
    cases : Cases
        Tables with one split only are left out.
    draws : sequence of str
        What is chosen from.

    Returns
    -------
    lower, upper : float
        As parts of the tables' own best with hindsight, in the mean over them.
    """
    lower, hindsight = [], []
    for name, table in _by_table(cases, draws).items():
        if len(table) > 1:
            own = cases.where(cases.tables == name)
            lower.append(known_from_splits(own, draws, len(table) - 1)[name])
            hindsight.append(table.mean(axis=0).max())
    low = float(np.mean(lower))
    return low, (low + float(np.mean(hindsight))) / 2


def _by_table(cases: Cases, draws: Sequence[str]) -> dict[str, Floats]:
    """Return the scores of draws, a row a split, by table."""
    scores = np.stack([cases.test[draw] for draw in draws], axis=1)
    return {name: scores[cases.tables == name] for name in sorted(set(cases.tables.tolist()))}
