"""Test a claim on stored rows: effect, interval, and whether a difference or none is shown.

A claim compares one method with its rivals in several cells. The differences of a cell are paired
by run and fold. The effect against a rival is the mean over the data sets; each data set counts
the same, whatever its number of cells. The data sets are those that there are, not a sample:
between them errors are independent, and within one they are those of `Difference`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student
from scipy.stats import wilcoxon

from metasampler_bench._paired import Difference, Place
from metasampler_bench._protocol import n_folds_of
from metasampler_bench._statistics import holm

__all__ = ["LEVEL", "MARGIN", "Effect", "Evidence", "Pair", "weigh", "weigh_sets"]

#: Level of all tests; intervals have the confidence 1 - LEVEL.
LEVEL = 0.05
#: Differences in average precision within this margin count as none.
MARGIN = 0.01


class Pair(NamedTuple):
    """Paired scores of one cell: what a claim is about, and one of its rivals."""

    rival: str
    dataset: str
    own: dict[Place, float]
    other: dict[Place, float]

    @property
    def difference(self) -> Difference:
        """The mean difference, with its error."""
        return Difference(self.own, self.other, fixed=n_folds_of(self.dataset) == 1)


@dataclass(frozen=True)
class Effect:
    """A mean difference with its standard error and degrees of freedom."""

    mean: float
    error: float
    df: float
    n_sets: int
    #: p of Wilcoxon's test, where data sets are a sample: their differences have heavy tails.
    p_of_ranks: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is an error to test with."""
        return bool(np.isfinite(self.error) and self.error > 0)

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval."""
        if not self.is_known:
            return float("nan"), float("nan")
        half = float(student.ppf(1 - LEVEL / 2, self.df)) * self.error
        return self.mean - half, self.mean + half

    @property
    def p(self) -> float:
        """Whether there is a difference: p of a t test, or of Wilcoxon's over many data sets."""
        if self.p_of_ranks is not None:
            return self.p_of_ranks
        if not self.is_known:
            return 1.0
        return float(2 * student.sf(abs(self.mean) / self.error, self.df))

    def p_within(self, margin: float = MARGIN) -> float:
        """Return p that the difference is smaller than a margin, of two one-sided t tests.

        Examples
        --------
        >>> from metasampler_bench._evidence import Effect
        >>> round(Effect(0.001, 0.003, 20, 1).p_within(0.01), 4)
        0.0035
        """
        if not self.is_known:
            return 1.0
        distance = (margin - abs(self.mean)) / self.error
        return float(student.sf(distance, self.df))


def _over_splits(pairs: Sequence[Pair]) -> Difference:
    """Return the difference on one data set: the mean over its cells, split by split."""
    common = set.intersection(*(pair.own.keys() & pair.other.keys() for pair in pairs))
    own, other = (
        {place: float(np.mean([side(pair)[place] for pair in pairs])) for place in common}
        for side in (lambda pair: pair.own, lambda pair: pair.other)
    )
    return pairs[0]._replace(own=own, other=other).difference


def _over_sets(differences: Iterable[Difference]) -> Effect:
    """Return the mean over data sets, whose errors are independent (Welch and Satterthwaite)."""
    known = [each for each in differences if each.n]
    if not known:
        return Effect(float("nan"), float("nan"), 1, 0)
    mean = float(np.mean([each.mean for each in known]))
    squares = np.array([each.error**2 for each in known])
    degrees = np.array([each.n - 1 for each in known])
    if not np.isfinite(squares).all() or squares.sum() == 0:
        return Effect(mean, float("nan"), 1, len(known))
    df = squares.sum() ** 2 / np.sum(squares**2 / degrees)
    return Effect(mean, float(np.sqrt(squares.sum()) / len(known)), float(df), len(known))


def _over_rows(differences: Sequence[float]) -> Effect:
    """Return the mean of differences that are a sample themselves, as over many data sets."""
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        mean = float(values.mean()) if len(values) else float("nan")
        return Effect(mean, float("nan"), 1, len(values))
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    p = float(wilcoxon(values).pvalue) if values.any() else 1.0
    return Effect(float(values.mean()), error, len(values) - 1, len(values), p)


@dataclass(frozen=True)
class Evidence:
    """What rows say about a claim.

    Attributes
    ----------
    effects : dict of str to Effect
        The effect against each rival.
    n_ahead, n_behind, n_cells : int
        Cells with a significant difference, by Holm's correction over the cells, and all.
    n_behind_by_sign : int
        Cells that are behind as tables show them, significant or not.
    is_of_cells : bool
        Whether cells were tested one by one; data sets with one difference each are not.
    """

    effects: dict[str, Effect]
    n_ahead: int
    n_behind: int
    n_cells: int
    n_behind_by_sign: int
    is_of_cells: bool = True

    @property
    def nearest(self) -> str:
        """The rival with the smallest effect: what is ahead of all is ahead of it."""
        return min(self.effects, key=lambda rival: self.effects[rival].mean)

    @property
    def furthest(self) -> str:
        """The rival with the largest difference: what differs from none does not from it."""
        return max(self.effects, key=lambda rival: abs(self.effects[rival].mean))

    def p_ahead(self) -> float:
        """Return p of being different from all rivals: the largest (an intersection of unions)."""
        return max((effect.p for effect in self.effects.values()), default=1.0)

    def p_within(self, margin: float) -> float:
        """Return p of being within a margin of all rivals: the largest."""
        return max((effect.p_within(margin) for effect in self.effects.values()), default=1.0)


def weigh(pairs: Iterable[Pair]) -> Evidence | None:
    """Return what pairs say, or None if there are none.

    Parameters
    ----------
    pairs : iterable of Pair
        One for each cell and rival.

    Returns
    -------
    evidence : Evidence or None
    """
    known = [pair for pair in pairs if pair.difference.n]
    if not known:
        return None
    by_rival: dict[str, dict[str, list[Pair]]] = {}
    for pair in known:
        by_rival.setdefault(pair.rival, {}).setdefault(pair.dataset, []).append(pair)
    effects = {
        rival: _over_sets(_over_splits(cells) for cells in sets.values())
        for rival, sets in by_rival.items()
    }
    return _counted(effects, [pair.difference for pair in known])


def weigh_sets(rivals: dict[str, Sequence[float]]) -> Evidence | None:
    """Return what one difference for each of many data sets says, by rival."""
    effects = {name: _over_rows(values) for name, values in rivals.items() if len(values)}
    if not effects:
        return None
    gaps = np.concatenate([np.asarray(rivals[name]) for name in effects])
    return Evidence(effects, 0, 0, len(gaps), int((gaps < 0).sum()), is_of_cells=False)


def _counted(effects: dict[str, Effect], cells: Sequence[Any]) -> Evidence:
    tested = holm([cell.p for cell in cells])
    means = np.array([cell.mean for cell in cells])
    significant = np.array(tested) < LEVEL
    return Evidence(
        effects,
        int((significant & (means > 0)).sum()),
        int((significant & (means < 0)).sum()),
        len(cells),
        int((np.round(means, 3) < 0).sum()),
    )
