"""Rows that depend on each other: copies, rows of one entity, classes that change with time.

A model is judged by rows that it has not seen. If they are much like rows that it has seen, because
both are of one patient, it looks better than it is on new patients. `inspect_columns` and a fit
name what is found here, and the option that helps.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import chi2

__all__ = ["Dependence", "find_dependence"]

# With fewer rows of the class chance decides.
_FEWEST_ROWS = 40

# Rows that are looked at, and columns by which it is found whether rows are alike.
_MOST_ROWS, _MOST_COLUMNS = 20_000, 60

# Rows that show whether a column has few or only distinct values.
_FIRST_ROWS = 500

# Levels that a column of entities has at least, and the share of the rows of one that is too large
# for an entity.
_FEWEST_LEVELS, _LARGEST_LEVEL = 20, 0.05

# A column is named if a level's other rows explain this share of the variance of the class, and
# neighbouring numbers explain less than half of it. If rows of a level also have other columns in
# common, to this degree, a smaller share is enough. Otherwise there must be many levels, and of
# whole numbers that do not count something neighbours explain less than this part of it.
_EXPLAINED, _EXPLAINED_OF_ALIKE, _ALIKE, _MANY_LEVELS = 0.3, 0.05, 0.6, 50
_BY_NEIGHBOURS = 0.2

# At most this many columns are named as entities.
_MOST_ENTITIES = 3

# Rows whose nearest rows are looked for, rows among which, and how many of the nearest.
_MOST_SEEKING, _MOST_NEAR, _MOST_RANKS = 100, 4000, 50

# Neighbours that may be of the same entity, and the rank from which they are not.
_NEAREST, _STRANGERS = 2, 30

# The nearest rows share the class by this much more often than strangers do. What is above the
# usual falls with this power of the distance, and slower where rows are independent. Distances
# between near ranks grow by this factor more than among strangers.
_MORE_OFTEN, _STEEP, _IN_BUNCHES = 0.2, 1.4, 1.08

# Rows are copies if they are nearer than this share of the distance that is expected, and tell
# something if there are this many.
_COPIES, _SHARE_OF_COPIES = 0.4, 0.1

# The share of a class among the newest fifth and the others differs by this factor, and not by
# chance.
_CHANGED, _BY_CHANCE = 1.5, 1e-6


class Dependence(NamedTuple):
    """A sign that rows are not independent: of a column, or of whole rows if it is None."""

    kind: str
    column: int | None
    why: str


def find_dependence(
    columns: Sequence[np.ndarray], codes: np.ndarray, categories=(), dates=()
) -> list[Dependence]:
    """Return what speaks against rows that are independent of each other.

    ``columns`` hold numbers, NaN where a value is missing, and ``codes`` the classes.
    ``categories`` and ``dates`` are the positions of columns that hold codes, and days.
    """
    counts = np.bincount(codes)
    fitting = np.flatnonzero((counts >= _FEWEST_ROWS) & (counts <= 0.5 * len(codes)))
    if not len(fitting):
        return []
    # The smaller one of two classes; the one that tells most of several.
    positive = codes == fitting[np.argmax(counts[fitting])]
    space = _Space(columns[:_MOST_COLUMNS], positive, set(categories))
    alike = space.alike()
    found, entities = [], []
    for j, column in enumerate(columns):
        if j in set(dates):
            if why := _changes_with(column, positive):
                found.append(Dependence("time", j, why))
        elif alike and j not in space.categories and np.any(column % 1 > 0):
            continue  # in copies every measured number is that of an entity
        elif entity := _entity(column, positive, space, j):
            entities.append((entity[0], Dependence("entity", j, entity[1])))
    entities.sort(key=lambda each: -each[0])
    found += [entity for _, entity in entities[:_MOST_ENTITIES]]
    if alike:
        found.append(Dependence("alike", None, alike))
    return found


# ---------------------------------------------------------------------- entities


def _entity(values, positive, space: "_Space", j: int) -> tuple[float, str] | None:
    """Return how much a column explains, and why it looks like the entity that a row is of."""
    share, looked_at = min(1, _MOST_ROWS / len(values)), values
    if share < 1:
        rows = _whole_levels(values)
        values, positive = values[rows], positive[rows]
    # Rows of an entity may follow each other, or be anywhere.
    spread, half = values[:: max(1, 2 * len(values) // _FIRST_ROWS)], _FIRST_ROWS // 2
    some = np.concatenate([spread, values[:half]])
    if not _FEWEST_LEVELS <= len(np.unique(some)) < 0.98 * len(some):
        return None
    levels, sizes, hits = _levels_of(values, positive)
    usual = sizes <= max(_LARGEST_LEVEL * len(values), 2)
    if usual.sum() < _FEWEST_LEVELS or sizes[usual].mean() < 1.5:
        return None
    rate = float(positive.mean())
    judged = usual & ~np.isnan(levels) & (sizes > 1)
    n_judged, n_hits = sizes[judged].sum(), hits[judged].sum()
    if n_hits < _FEWEST_ROWS or n_hits == n_judged:
        return None
    variance = n_hits * (n_judged - n_hits) / n_judged

    def said(others, n_others):
        # Two rows more, of the usual rate, keep levels with few rows from a hasty answer.
        return (others + 2 * rate) / (n_others + 2)

    def explained(of_hits, of_misses) -> float:
        # Rows of a level are told the same, but for their own class: no row is looked at.
        errors = hits * (1 - of_hits) ** 2 + (sizes - hits) * of_misses**2
        return 1 - float(errors[judged].sum()) / variance

    by_level = explained(said(hits - 1, sizes - 1), said(hits, sizes - 1))
    if by_level < _EXPLAINED_OF_ALIKE:
        return None
    is_name = j in space.categories
    if not is_name:
        # A number that says something says nearly the same of the numbers beside it.
        ends = np.arange(len(levels))
        first, last = np.maximum(ends - 3, 0), np.minimum(ends + 4, len(levels))
        sums = (np.append(0, np.cumsum(each)) for each in (hits, sizes))
        of_hits, of_sizes = (each[last] - each[first] for each in sums)
        of_neighbours = said(of_hits - hits, of_sizes - sizes)
        beside = explained(of_neighbours, of_neighbours)
        if beside > by_level / 2:
            return None
        # Numbers that nothing else goes with are names if they count something, or if whole
        # numbers say nothing of those beside them.
        known = levels[~np.isnan(levels)]
        are_whole = not np.any(known % 1)
        counts_up = usual.sum() > share * (known[-1] - known[0]) / 2
        is_name = counts_up or (are_whole and beside < _BY_NEIGHBOURS * by_level)
    if space.alike_in(j, looked_at) < _ALIKE and (
        by_level < _EXPLAINED or usual.sum() < _MANY_LEVELS or not is_name
    ):
        return None
    return by_level, (
        f"{len(levels):,} values, about {len(values) / len(levels):.0f} rows each, whose rows "
        f"share the class: other rows of its value explain {by_level:.0%} of a row's class. If "
        "rows to predict will have new values, fit with groups= (--group) of this column."
    )


def _levels_of(values, positive) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct values, how many rows have each, and how many of these are positive."""
    levels, sizes = np.unique(values, return_counts=True)
    found, counts = np.unique(values[positive], return_counts=True)
    hits = np.zeros(len(levels), dtype=np.intp)
    hits[np.searchsorted(levels, found)] = counts
    return levels, sizes, hits


def _whole_levels(values: np.ndarray) -> np.ndarray:
    """Return some of many rows, by their values: of each level all rows or none."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    mixed = (bits ^ (bits >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    most = np.uint64(int(_MOST_ROWS / len(values) * 2**32))
    rows = np.flatnonzero((mixed >> np.uint64(32)) < most)
    return rows[: 2 * _MOST_ROWS]


# ---------------------------------------------------------------------- time


def _changes_with(values: np.ndarray, positive: np.ndarray) -> str:
    """Return how the class changes with a date; empty if it does not change much."""
    known = ~np.isnan(values)
    values, positive = values[known], positive[known]
    if len(values) < 10 * _FEWEST_ROWS:
        return ""
    newest = values >= np.quantile(values, 0.8, method="higher")
    sizes = [np.count_nonzero(~newest), np.count_nonzero(newest)]
    if min(sizes) < _FEWEST_ROWS:
        return ""
    rate = float(positive.mean())
    older, newer = float(positive[~newest].mean()), float(positive[newest].mean())
    score = (newer - older) ** 2 / max(rate * (1 - rate) * sum(1 / size for size in sizes), 1e-12)
    if chi2.sf(score, 1) > _BY_CHANCE or max(older, newer) < _CHANGED * min(older, newer):
        return ""
    return (
        f"The classes change with it: one has {older:.1%} of the older rows, and {newer:.1%} of "
        "the newest fifth. If rows to predict will be later, fit with time= (--time) of this "
        "column."
    )


# ---------------------------------------------------------------------- rows that are alike


class _Space:
    """Rows as points: numbers by their ranks, and two random numbers for each level."""

    def __init__(self, columns, positive: np.ndarray, categories: set[int]):
        rng = np.random.default_rng(0)
        # Shuffled: rows that are neighbours in the table may be alike for other reasons.
        rows = rng.permutation(len(positive))[:_MOST_NEAR]
        self._rows, self.positive = rows, positive[rows]
        self.categories = categories
        self._columns: list[int] = []
        points = []
        for j, column in enumerate(columns):
            values = column[rows]
            order = np.argsort(values, kind="stable")
            # NaN is last, and no NaN equals another.
            ordered = values[order]
            differs = np.diff(ordered) != 0
            differs &= ~np.isnan(ordered[:-1])
            starts = np.append(0, np.flatnonzero(differs) + 1)
            if len(starts) < 2:
                continue
            sizes = np.diff(starts, append=len(values))
            if j in categories:
                made = rng.normal(size=(len(starts), 2))
            else:
                ranks = (starts + sizes / 2) / len(values)
                made = np.sqrt(12) * (ranks[:, np.newaxis] - 0.5)
            of_rows = np.empty((len(values), made.shape[1]))
            of_rows[order] = np.repeat(made, sizes, axis=0)
            self._columns += [j] * made.shape[1]
            points.append(of_rows)
        self.points = np.concatenate([*points, np.empty((len(self.positive), 0))], axis=1)

    def alike_in(self, j: int, column: np.ndarray) -> float:
        """Return how much rows with one value of a column have the other columns in common."""
        values = column[self._rows]
        order = np.argsort(values, kind="stable")
        pairs = np.flatnonzero(np.diff(values[order]) == 0)
        others = [k for k, column in enumerate(self._columns) if column != j]
        if len(pairs) < _FEWEST_ROWS or not others:
            return 0.0
        points = self.points
        apart = np.mean((points[order[pairs]] - points[order[pairs + 1]]) ** 2, axis=0)
        return float(np.mean(np.maximum(0, 1 - apart / (2 * self._variances))[others]))

    @cached_property
    def _variances(self) -> np.ndarray:
        return self.points.var(axis=0)

    def alike(self) -> str:
        """Return why rows seem to be copies or of one entity; empty if they do not.

        Among independent rows, neighbours share the class ever less the farther away they are, and
        distances grow evenly. Rows of an entity share it, and lie in a bunch.
        """
        positive = np.flatnonzero(self.positive)
        n_ranks = min(_MOST_RANKS, len(self.points) // 10, len(positive) // 2)
        if n_ranks < _STRANGERS // 2 or len(positive) < _FEWEST_ROWS or not self.points.shape[1]:
            return ""
        strangers = slice(n_ranks * _STRANGERS // _MOST_RANKS, n_ranks)
        nearest, apart = self._nearest(positive, n_ranks)
        same = self.positive[nearest]
        near, far = float(same[:, :_NEAREST].mean()), float(same[:, strangers].mean())
        if near - far < _MORE_OFTEN:
            return ""
        if not self._are_copies(same, apart, strangers):
            rate = float(self.positive.mean())
            # What is left among strangers may be nothing, or less.
            fall = np.log((near - rate) / max(far - rate, 0.02 * (1 - rate)))
            way = apart[:, strangers].mean() - apart[:, :_NEAREST].mean()
            if fall < _STEEP * way or not self._lie_in_bunches(n_ranks, strangers):
                return ""
        return (
            f"Rows repeat: {near:.0%} of the rows nearest to those of a class are of it too, but "
            f"{far:.0%} of the rows a little farther away. If several rows are of one customer, "
            "patient or machine, fit with groups= (--group); if rows are copies, keep one of each."
        )

    def _are_copies(self, same: np.ndarray, apart: np.ndarray, strangers: slice) -> bool:
        """Return whether rows have a row of their class that is much nearer than expected."""
        # Among strangers the logarithm of the distance grows by 1 / (rank * dimension).
        ranks = np.arange(1, apart.shape[1])
        growth = np.mean((np.diff(apart, axis=1) * ranks)[:, strangers.start - 1 :])
        expected = growth * np.sum(1 / ranks)
        copies = same[:, 0] & (apart[:, -1] - apart[:, 0] > expected - np.log(_COPIES))
        return bool(copies.mean() >= _SHARE_OF_COPIES)

    def _lie_in_bunches(self, n_ranks: int, strangers: slice) -> bool:
        """Return whether rows of the other classes, too, have more near rows than expected."""
        others = np.flatnonzero(~self.positive)
        ranks = np.arange(1, n_ranks)
        growth = np.diff(self._nearest(others, n_ranks)[1], axis=1) * ranks
        near = growth[:, _NEAREST : strangers.start * 2 // 5].mean()
        return bool(near >= _IN_BUNCHES * growth[:, strangers.start - 1 :].mean())

    def _nearest(self, seeking: np.ndarray, n_ranks: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows nearest to some of these rows, and the logarithms of the distances."""
        seeking = seeking[:: -(-len(seeking) // _MOST_SEEKING)]
        # Not by a product of matrices, which would start threads of BLAS.
        distances = cdist(self.points[seeking], self.points, "sqeuclidean")
        distances[np.arange(len(seeking)), seeking] = np.inf
        nearest = np.argpartition(distances, n_ranks - 1, axis=1)[:, :n_ranks]
        apart = np.take_along_axis(distances, nearest, axis=1)
        order = np.argsort(apart, axis=1, kind="stable")
        apart = np.take_along_axis(apart, order, axis=1)
        return np.take_along_axis(nearest, order, axis=1), np.log(np.maximum(apart, 1e-5)) / 2
