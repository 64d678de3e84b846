"""Exact Shapley values of trees, for many rows at once.

A leaf's answer to a row is v times a product over the columns on the leaf's path: 1 or 0 for a
column that is known, as the row meets all its conditions or not, and the share of the training
rows that meet them for one that is not known. Such a product has Shapley values in closed form,

    v (o_i - z_i) * integral over t in (0, 1) of the product over j != i of z_j + t (o_j - z_j),

with o the zeros and ones and z the shares. The product is a polynomial in t, so Gauss-Legendre
nodes give it without error. It depends on a row only by o: rows that meet the same conditions are
computed once. With few rows, all leaves of a tree are computed together instead. These are the
values of TreeSHAP with the counts of the training rows ("tree path dependent" in shap,
``pred_contrib`` in LightGBM).
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from metasampler.growth import MemberTree

__all__ = ["add_tree_values", "expected_value"]

# Columns per word of bits, and rows that are not worth comparing.
_BITS, _FEW_ROWS = 60, 32

# Factors that are computed at once, and leaves whose numbers for a column are added at once.
_MOST_FACTORS, _MOST_LEAVES = 1 << 20, 16


def expected_value(tree: MemberTree) -> np.ndarray:
    """Return the mean of a tree's leaves, by the training rows that they have."""
    means = tree.value.copy()
    inner = np.flatnonzero(tree.left >= 0)
    for node in inner[::-1].tolist():
        left, right = int(tree.left[node]), int(tree.right[node])
        shares = _shares(tree, node)
        means[node] = shares[0] * means[left] + shares[1] * means[right]
    return means[0]


def add_tree_values(tree: MemberTree, values: np.ndarray, X: np.ndarray, into: np.ndarray) -> None:
    """Add the Shapley values of a tree, in place.

    Parameters
    ----------
    tree : MemberTree
        The tree.
    values : ndarray of shape (n_nodes, n_values)
        What each leaf says.
    X : ndarray of shape (n_features, n_samples)
        The rows in the form that the tree takes, column by column.
    into : ndarray of shape (n_values, n_features, n_samples)
        The sums.
    """
    if X.shape[1] <= _FEW_ROWS:
        _add_for_few_rows(tree, values, X, into)
        return
    if values.shape[1] > 1:
        sums = _SumsOfMany(values, into)
        for leaves, columns, codes, tables in _leaves_of_rows(tree, X):
            for leaf, table in zip(leaves, tables, strict=True):
                for place, column in enumerate(columns):
                    sums.add(leaf, column, table[place].take(codes, mode="clip"))
        sums.finish()
        return
    of_rows = np.empty(X.shape[1])
    for leaves, columns, codes, tables in _leaves_of_rows(tree, X):
        joint = sum(
            float(values[leaf, 0]) * table for leaf, table in zip(leaves, tables, strict=True)
        )
        for place, column in enumerate(columns):
            into[0, column] += joint[place].take(codes, out=of_rows, mode="clip")


class _SumsOfMany:
    """Sums of leaves that say several values: by products of matrices, some leaves at once."""

    def __init__(self, values: np.ndarray, into: np.ndarray):
        self._values, self._into = values, into
        self._waiting: dict[int, list[tuple[int, np.ndarray]]] = defaultdict(list)

    def add(self, leaf: int, column: int, numbers: np.ndarray) -> None:
        """Add a number for each row, times what a leaf says."""
        waiting = self._waiting[column]
        waiting.append((leaf, numbers))
        if len(waiting) == _MOST_LEAVES:
            self._add_up(column)

    def finish(self) -> None:
        """Add what is still waiting."""
        for column in list(self._waiting):
            self._add_up(column)

    def _add_up(self, column: int) -> None:
        leaves, numbers = zip(*self._waiting.pop(column), strict=True)
        self._into[:, column] += self._values[list(leaves)].T @ np.stack(numbers)


def _leaves_of_rows(tree: MemberTree, X: np.ndarray) -> Iterator[tuple]:
    """Yield the leaves of a tree, one or two at a time.

    They come with the columns on their path, the pattern of each row, and for each leaf a table
    with the Shapley values of its columns in each pattern.
    """
    # What is known on the way down: columns, shares, and bits that say which of the columns'
    # conditions each row meets.
    waiting: list[tuple] = [(0, (), np.ones(0), [])]
    while waiting:
        node, columns, shares, words = waiting.pop()
        left, right = int(tree.left[node]), int(tree.right[node])
        if left < 0:
            if columns:
                is_met, codes = _patterns(words, len(columns))
                yield (node,), columns, codes, (_values_of_leaf(is_met, shares),)
            continue
        column = int(tree.feature[node])
        goes_left = tree.goes_left(node, X[column])
        is_new = column not in columns
        place = len(columns) if is_new else columns.index(column)
        if is_new:
            columns, shares = (*columns, column), np.append(shares, 1.0)
        to_left, to_right = _shares(tree, node)
        of_left, of_right = shares.copy(), shares
        of_left[place] *= to_left
        of_right[place] *= to_right
        down_left = _with_bits(words, place, goes_left, is_new)
        if is_new and tree.left[left] < 0 and tree.left[right] < 0:
            # Two leaves, of which a row meets the last condition of one: they share the patterns.
            is_met, codes = _patterns(down_left, len(columns))
            of_first = _values_of_leaf(is_met, of_left)
            is_met[place] = ~is_met[place]
            yield (left, right), columns, codes, (of_first, _values_of_leaf(is_met, of_right))
            continue
        waiting.append((left, columns, of_left, down_left))
        waiting.append((right, columns, of_right, _with_bits(words, place, ~goes_left, is_new)))


def _add_for_few_rows(tree: MemberTree, values: np.ndarray, X: np.ndarray, into) -> None:
    """Add the Shapley values of a tree, all leaves with as many columns at once."""
    n_rows = X.shape[1]
    by_length: dict[int, list[tuple]] = defaultdict(list)
    for leaf in _leaves_of_few_rows(tree, X):
        by_length[len(leaf[1])].append(leaf)
    for n_columns, leaves in by_length.items():
        n_nodes = len(_gauss_legendre(n_columns)[0])
        at_once = max(1, _MOST_FACTORS // (n_columns * n_nodes * n_rows))
        for start in range(0, len(leaves), at_once):
            some = zip(*leaves[start : start + at_once], strict=True)
            nodes, columns, shares, met = (np.array(each) for each in some)
            is_met = (met[..., np.newaxis] >> np.arange(n_rows)) & 1 > 0
            table = _values_of_leaf(is_met, shares).reshape(-1, n_rows)
            said = np.repeat(values[nodes], n_columns, axis=0)
            columns = columns.ravel()
            for column in np.unique(columns).tolist():
                its = columns == column
                into[:, column] += said[its].T @ table[its]


def _leaves_of_few_rows(tree: MemberTree, X: np.ndarray) -> Iterator[tuple]:
    """Yield each leaf with the columns of its path, their shares, and bits of rows that meet them.

    In plain numbers of Python, which are quicker here than arrays of a few rows.
    """
    bits = 1 << np.arange(X.shape[1])
    go_left = (tree.which_go_left(X) @ bits).tolist()
    lefts, rights, features = tree.left.tolist(), tree.right.tolist(), tree.feature.tolist()
    everyone = int(bits.sum())
    waiting: list[tuple] = [(0, (), (), ())]
    while waiting:
        node, columns, shares, met = waiting.pop()
        if lefts[node] < 0:
            if columns:
                yield node, columns, shares, met
            continue
        column = features[node]
        place = columns.index(column) if column in columns else len(columns)
        if place == len(columns):
            columns, shares, met = (*columns, column), (*shares, 1.0), (*met, everyone)
        before, after = slice(place), slice(place + 1, None)
        ways = (lefts[node], go_left[node]), (rights[node], everyone - go_left[node])
        for (child, goes), share in zip(ways, _shares(tree, node), strict=True):
            its_shares = (*shares[before], shares[place] * share, *shares[after])
            its_rows = (*met[before], met[place] & goes, *met[after])
            waiting.append((child, columns, its_shares, its_rows))


def _with_bits(words: list[np.ndarray], place: int, goes: np.ndarray, is_new: bool) -> list:
    """Return the bits of rows after one more condition on a column."""
    word, bit = divmod(place, _BITS)
    if not is_new:
        changed = words[word] & ~np.left_shift(~goes, bit, dtype=np.intp)
    else:
        bits = np.left_shift(goes, bit, dtype=np.intp)
        changed = bits if word == len(words) else words[word] | bits
    return [*words[:word], changed, *words[word + 1 :]]


def _shares(tree: MemberTree, node: int) -> tuple[float, float]:
    """Return the share of a node's training rows that go left, and right."""
    left, right = tree.cover[tree.left[node]], tree.cover[tree.right[node]]
    # A child may be left with rows of weight zero.
    total = left + right
    return (float(left / total), float(right / total)) if total > 0 else (0.5, 0.5)


def _patterns(words: list[np.ndarray], n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the patterns of bits that occur, a row for each column, and which one each row has."""
    n_rows = len(words[0])
    if len(words) == 1 and n_rows > _FEW_ROWS and 1 << n_columns <= 16 * n_rows:
        seen = np.zeros(1 << n_columns, dtype=bool)
        seen[words[0]] = True
        found, codes = np.flatnonzero(seen), (np.cumsum(seen) - 1).take(words[0])
        return (found >> np.arange(n_columns)[:, np.newaxis]) & 1 > 0, codes
    # Few rows need not be compared: each has a pattern of its own.
    first = codes = np.arange(n_rows)
    if n_rows > _FEW_ROWS:
        codes = np.zeros(n_rows, dtype=np.intp)
        for word in words:
            found, at = np.unique(word, return_inverse=True)
            codes = np.unique(codes * len(found) + at, return_inverse=True)[1]
        first = np.unique(codes, return_index=True)[1]
    places = range(n_columns)
    bits = [(words[place // _BITS][first] >> place % _BITS) & 1 for place in places]
    return np.array(bits) > 0, codes


def _values_of_leaf(is_met: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the Shapley values of leaves that say 1.

    ``is_met`` has the shape (..., n_columns, n_patterns), as the result, and ``shares`` the shape
    (..., n_columns).
    """
    nodes, weights = _gauss_legendre(shares.shape[-1])
    # The factors of a column, by node, where a row does not meet its conditions and where it does.
    shares = shares[..., np.newaxis]
    unmet = np.maximum(shares * (1 - nodes), 1e-200)
    met = shares + (1 - shares) * nodes
    factors = np.where(is_met[..., np.newaxis, :], met[..., np.newaxis], unmet[..., np.newaxis])
    products = np.multiply.reduce(factors, axis=-3)
    # Each integral without the column's own factor.
    if_unmet, if_met = (weights / unmet) @ products, (weights / met) @ products
    return np.where(is_met, (1 - shares) * if_met, -shares * if_unmet)


@lru_cache
def _gauss_legendre(n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on (0, 1) that are exact for a product of n_columns - 1 factors."""
    nodes, weights = np.polynomial.legendre.leggauss((n_columns + 1) // 2)
    return (nodes + 1) / 2, weights / 2
