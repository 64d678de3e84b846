"""Test a claim on stored rows: effect, interval, and whether a difference or none is shown.

A claim compares one method with its rivals in several cells. The differences of a cell are paired
by run and fold. The effect against a rival is the mean over the data sets; each data set counts
the same, whatever its number of cells. The data sets are those that there are, not a sample:
between them errors are independent, and within one they are those of `Difference`. A data set with
a single fit has no error; it is left out and counted.

What decides a claim is always one rival: its effect, its interval and its p are reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata, wilcoxon
from scipy.stats import t as student

from metasampler_bench._paired import Difference, Place, is_exact, p_of_difference
from metasampler_bench._protocol import n_folds_of
from metasampler_bench._statistics import holm

__all__ = ["LEVEL", "MARGIN", "Effect", "Evidence", "Pair", "Tested", "weigh", "weigh_sets"]

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
    #: Data sets with a single fit, which the mean leaves out.
    n_left_out: int = 0
    #: p of Wilcoxon's test, where data sets are a sample: their differences have heavy tails.
    p_of_ranks: float | None = None
    #: Which way the ranks point: 1 for ahead, -1 for behind.
    sign_of_ranks: int = 0

    @property
    def is_known(self) -> bool:
        """Whether there is an error to test with; it may be zero."""
        return bool(np.isfinite(self.error))

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval."""
        if not self.is_known:
            return float("nan"), float("nan")
        half = float(student.ppf(1 - LEVEL / 2, self.df)) * self.error
        return self.mean - half, self.mean + half

    @property
    def p(self) -> float:
        """Whether there is a difference: p of a t test.

        Over many data sets Wilcoxon's test has to agree, and the larger p counts. Where the ranks
        point one way and the mean the other, no difference is shown.
        """
        if not self.is_known:
            return 1.0
        p = p_of_difference(self.mean, self.error, self.df)
        if self.p_of_ranks is None:
            return p
        return max(p, self.p_of_ranks) if self.sign_of_ranks * self.mean > 0 else 1.0

    @property
    def p_not_ahead(self) -> float:
        """One-sided p: small if ahead is shown, large if behind is."""
        return self.p / 2 if self.mean > 0 else 1 - self.p / 2

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
        room = margin - abs(self.mean)
        if is_exact(self.error):
            return float(room <= 0)
        return float(student.sf(room / self.error, self.df))


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
    found = [each for each in differences if each.n]
    known = [each for each in found if each.n > 1]
    if not known:
        mean = float(np.mean([each.mean for each in found])) if found else float("nan")
        return Effect(mean, float("nan"), 1, len(found))
    mean = float(np.mean([each.mean for each in known]))
    squares = np.array([each.error**2 for each in known])
    degrees = np.array([each.n - 1 for each in known])
    error = float(np.sqrt(squares.sum()) / len(known))
    exact = is_exact(error)
    df = degrees.sum() if exact else squares.sum() ** 2 / np.sum(squares**2 / degrees)
    return Effect(mean, error, float(df), len(known), len(found) - len(known))


def _over_rows(differences: Sequence[float]) -> Effect:
    """Return the mean of differences that are a sample themselves, as over many data sets."""
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        mean = float(values.mean()) if len(values) else float("nan")
        return Effect(mean, float("nan"), 1, len(values))
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    p = float(wilcoxon(values).pvalue) if values.any() else 1.0
    ranks = rankdata(np.abs(values)) * np.sign(values)
    return Effect(
        float(values.mean()),
        error,
        len(values) - 1,
        len(values),
        p_of_ranks=p,
        sign_of_ranks=int(np.sign(ranks.sum())),
    )


class Tested(NamedTuple):
    """The rival that decides a question, and its p."""

    rival: str
    p: float


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

    def ahead(self) -> Tested:
        """Test against the rival that is hardest to be ahead of: what is ahead of it is of all.

        If the mean difference to this rival is negative, p is that of being behind it. This rival
        is the worst of several by choice, so p is then corrected for their number.
        """
        rival = self._largest(lambda effect: (effect.p_not_ahead, -effect.mean))
        effect = self.effects[rival]
        n_chosen_from = len(self.effects) if effect.mean < 0 else 1
        return Tested(rival, min(1.0, n_chosen_from * effect.p))

    def within(self, margin: float) -> Tested:
        """Test against the rival that is hardest to be within a margin of."""
        rival = self._largest(lambda effect: (effect.p_within(margin), abs(effect.mean)))
        return Tested(rival, self.effects[rival].p_within(margin))

    def different(self) -> Tested:
        """Test against the rival that the difference to is clearest, corrected for their number."""
        rival = self._largest(lambda effect: (-effect.p, abs(effect.mean)))
        return Tested(rival, min(1.0, len(self.effects) * self.effects[rival].p))

    def _largest(self, key: Callable[[Effect], tuple[float, float]]) -> str:
        return max(self.effects, key=lambda rival: key(self.effects[rival]))


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
