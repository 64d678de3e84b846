"""Many rows through LightGBM's members at once: the same scores to the last bit, in less time.

LightGBM goes down each tree row by row, and waits for memory at each node. Here a tree's leaves are
the bits of a word, from left to right. A node that sends a row to the right rules out the leaves to
its left. So a column's value rules out some leaves of each tree, by a table that is made once, and
the exit leaf is the lowest bit that all columns leave. This is QuickScorer (Lucchese et al., SIGIR
2015) with a table in place of its loop over nodes. Leaves are added up in LightGBM's order.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from itertools import pairwise

import numpy as np

from metasampler._running import side_by_side
from metasampler.growth._lightgbm_adapter import BoostedMember
from metasampler.growth._member_trees import MemberTree, trees_of

__all__ = ["scores_of_boosters"]

# A table pays where LightGBM's own way is slow: for many rows, in all, and not for a few at once.
_ENOUGH_IN_ALL, _ENOUGH_AT_ONCE = 1 << 14, 64

# What a table may ask for: leaves per tree, columns that trees look at, and bytes.
_MOST_LEAVES, _MOST_COLUMNS, _MOST_BYTES = 32, 100, 1 << 25

# Rows whose words fit into a processor's cache, and rows that one thread is worth.
_BLOCK, _ROWS_OF_THREAD = 512, 1 << 14

# Scores of all members that may be there at once: for more rows LightGBM adds up member by member.
_MOST_SCORES = 1 << 25

# What LightGBM reads as 0.
_ZERO = float(np.float32(1e-35))

# Rows by which a new table is compared with LightGBM.
_COMPARED = 256

_ALL = np.uint32(0xFFFFFFFF)


def scores_of_boosters(members: list, X, n_jobs=None) -> list[np.ndarray] | None:
    """Return what LightGBM's members say of rows before it becomes probabilities, by tables.

    Parameters
    ----------
    members : list of BoostedMember
        The members. All of one team, so that they are asked together.
    X : ndarray of shape (n_samples, n_features)
        The encoded rows.
    n_jobs : int, default=None
        How many threads may share the work.

    Returns
    -------
    scores : list of ndarray, or None
        One array per member. None if LightGBM is the better way, or if these are other members.
    """
    if type(X) is not np.ndarray or X.dtype.kind != "f" or X.shape[0] < _ENOUGH_AT_ONCE:
        return None
    if not members or not all(type(member) is BoostedMember for member in members):
        return None
    width = 1 if members[0].n_classes == 2 else members[0].n_classes
    if X.shape[0] * len(members) * width > _MOST_SCORES:
        return None
    known = members[0].tables
    if known is None or not known.are_of(members):
        known = members[0].tables = BoosterTables(members)
    return known(X, n_jobs)


class BoosterTables:
    """The tables of some members, made when enough rows have been asked for.

    Members without a `Recoding` share the places of values among the thresholds.
    """

    def __init__(self, members: list[BoostedMember]) -> None:
        self._members = list(members)
        # Kept, so that no other booster can take the place of one in memory.
        self._boosters = [(each.booster_, each.n_rounds_) for each in members]
        self._n_rows = 0
        self._groups: list[_Group] | None = None
        self._is_refused = False

    def are_of(self, members: list) -> bool:
        """Return whether these are the tables of some members."""
        if len(members) != len(self._members):
            return False
        return all(
            member is known and member.booster_ is booster and member.n_rounds_ == n_rounds
            for member, known, (booster, n_rounds) in zip(
                members, self._members, self._boosters, strict=True
            )
        )

    def __call__(self, X: np.ndarray, n_jobs) -> list[np.ndarray] | None:
        if self._is_refused:
            return None
        if self._groups is None:
            self._n_rows += X.shape[0]
            if self._n_rows < _ENOUGH_IN_ALL:
                return None
            groups = _groups_of(self._members)
            # A table that differs from LightGBM, if only by a bit, is not used.
            if groups is None or not self._is_same(groups, X[:_COMPARED]):
                self._is_refused = True
                return None
            self._groups = groups
        return self._scores(self._groups, X, n_jobs)

    def _is_same(self, groups: list[_Group], X: np.ndarray) -> bool:
        found = self._scores(groups, X, None)
        return all(
            np.array_equal(own, member.raw_scores(X))
            for own, member in zip(found, self._members, strict=True)
        )

    def _scores(self, groups: list[_Group], X: np.ndarray, n_jobs) -> list[np.ndarray]:
        n_rows, n_classes = X.shape[0], self._members[0].n_classes
        shape = (n_rows,) if n_classes == 2 else (n_rows, n_classes)
        scores = [np.empty(shape) for _ in self._members]
        # Blocks of like size: numpy adds up a single row in another order.
        borders = np.linspace(0, n_rows, max(1, -(-n_rows // _BLOCK)) + 1).astype(np.intp).tolist()
        blocks = [slice(*pair) for pair in pairwise(borders)]

        def score(some: list[slice]) -> None:
            for rows in some:
                for group in groups:
                    group.score(X[rows], [scores[number][rows] for number in group.numbers])

        n_at_once = max(1, _ROWS_OF_THREAD // _BLOCK)
        shares = [blocks[k : k + n_at_once] for k in range(0, len(blocks), n_at_once)]
        side_by_side([partial(score, some) for some in shares], n_jobs)
        return scores


def _groups_of(members: list[BoostedMember]) -> list[_Group] | None:
    """Return the tables of some members, or None if they would ask for too much."""
    together: dict[int, list[int]] = {}
    for number, member in enumerate(members):
        # Each recoding makes other numbers of the same rows.
        key = -1 if member.recoding is None else number
        together.setdefault(key, []).append(number)
    groups, left = [], _MOST_BYTES
    for numbers in together.values():
        group = _Group.of([members[number] for number in numbers], numbers, left)
        if group is None:
            return None
        left -= group.n_bytes
        groups.append(group)
    return groups


class _Group:
    """Members that read the same numbers."""

    def __init__(self, members: list[BoostedMember], numbers: list[int], trees: list, edges: dict):
        self.numbers = numbers
        self._recoding = members[0].recoding
        self._n_classes = members[0].n_classes
        ends = np.cumsum([len(its) for its in trees]).tolist()
        self._trees_of_member = list(zip([0, *ends], ends, strict=False))
        joined = [tree for its in trees for tree in its]
        self._leaves = np.zeros((len(joined), _MOST_LEAVES))
        # A float32 holds a power of two exactly; its exponent is 127 more than the bit's number.
        self._first_leaves = (np.arange(len(joined)) * _MOST_LEAVES - 127)[:, np.newaxis]
        self._columns = {column: _Column(its, len(joined)) for column, its in edges.items()}
        for number, tree in enumerate(joined):
            self._add(number, tree)

    @classmethod
    def of(cls, members, numbers, most_bytes: int) -> _Group | None:
        """Return the group of some members, or None if it would be too large."""
        trees = [trees_of(member, member.n_classes) for member in members]
        joined = [tree for its in trees for tree in its]
        if not joined or any((tree.left < 0).sum() > _MOST_LEAVES for tree in joined):
            return None
        if any(tree.zero_is_missing[tree.left >= 0].any() for tree in joined):
            return None
        edges = _edges_of(joined)
        n_values = sum(len(its) + 2 for its in edges.values())
        if len(edges) > _MOST_COLUMNS or 4 * n_values * len(joined) > most_bytes:
            return None
        return cls(members, numbers, trees, edges)

    @property
    def n_bytes(self) -> int:
        return sum(column.rest.nbytes for column in self._columns.values())

    def _add(self, number: int, tree: MemberTree) -> None:
        """Write down what the nodes of a tree rule out."""
        lefts, rights, features = tree.left.tolist(), tree.right.tolist(), tree.feature.tolist()
        n_leaves, first = [1] * len(lefts), [0] * len(lefts)
        inner = [node for node, left in enumerate(lefts) if left >= 0]
        for node in reversed(inner):
            n_leaves[node] = n_leaves[lefts[node]] + n_leaves[rights[node]]
        for node in inner:
            left, right = lefts[node], rights[node]
            first[left] = first[node]
            first[right] = first[node] + n_leaves[left]
            out = ((1 << n_leaves[left]) - 1) << first[left]
            self._columns[features[node]].rule_out(number, tree, node, np.uint32(out))
        for node, left in enumerate(lefts):
            if left < 0:
                self._leaves[number, first[node]] = tree.value[node, 0]

    def score(self, X: np.ndarray, into: list[np.ndarray]) -> None:
        """Write the scores of some rows, an array per member."""
        if self._recoding is not None:
            X = self._recoding(X)
        rest = np.full((X.shape[0], len(self._leaves)), _ALL)
        for number, column in self._columns.items():
            rest &= column.rest.take(column.places(X[:, number]), axis=0, mode="clip")
        lowest = rest & -rest
        places = (lowest.astype(np.float32).view(np.int32) >> 23).T + self._first_leaves
        values = self._leaves.take(places, mode="clip")
        for (start, end), scores in zip(self._trees_of_member, into, strict=True):
            if self._n_classes == 2:
                values[start:end].sum(axis=0, out=scores)
                continue
            for k in range(self._n_classes):
                scores[:, k] = values[start + k : end : self._n_classes].sum(axis=0)


class _Column:
    """What the values of one column leave of each tree's leaves.

    ``rest`` has a row for each place of a value: among the thresholds, or the code of a category.
    The last row is that of a missing value.
    """

    def __init__(self, edges: np.ndarray | range, n_trees: int):
        self._edges = edges
        self._has_edge_at_zero = bool((np.abs(np.asarray(edges)) <= _ZERO).any())
        self.rest = np.full((len(edges) + 2, n_trees), _ALL)
        # A value for each row. -1 stands for all that is not a code.
        rest = -1.0 if isinstance(edges, range) else np.inf
        self._values = np.array([*edges, rest, np.nan])

    def rule_out(self, number: int, tree: MemberTree, node: int, leaves) -> None:
        """Take some leaves of a tree from the values that go to the right at a node."""
        self.rest[~tree.goes_left(node, self._values), number] &= ~leaves

    def places(self, values: np.ndarray) -> np.ndarray:
        """Return the row of each value in the table."""
        missing, n_known = np.isnan(values), len(self._edges)
        if isinstance(self._edges, range):
            # As C does it: what follows the point is cut off.
            places = np.clip(np.where(missing, -1.0, values), -1.0, n_known).astype(np.intp)
            places[places < 0] = n_known
        else:
            values = np.ascontiguousarray(values)
            if self._has_edge_at_zero:
                values = np.where(np.abs(values) <= _ZERO, 0.0, values)
            places = self._edges.searchsorted(values)
        if missing.any():
            places[missing] = n_known + 1
        return places


def _edges_of(trees: list[MemberTree]) -> dict[int, np.ndarray | range]:
    """Return the thresholds of each column that trees look at, or the codes that they know."""
    thresholds: dict[int, list[np.ndarray]] = defaultdict(list)
    n_codes: dict[int, int] = defaultdict(int)
    for tree in trees:
        features = np.where(tree.left >= 0, tree.feature, -1)
        for node, levels in tree.levels.items():
            column = int(features[node])
            n_codes[column] = max(n_codes[column], int(levels.max(initial=0)) + 1)
        for column in set(features.tolist()) - {-1}:
            thresholds[column].append(tree.threshold[features == column])
    edges: dict[int, np.ndarray | range] = {
        column: np.unique(np.concatenate(its)) for column, its in sorted(thresholds.items())
    }
    return edges | {column: range(size) for column, size in n_codes.items()}
