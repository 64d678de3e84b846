"""The trees of fitted members as plain arrays, for code that explains or exports them."""

from dataclasses import dataclass

import numpy as np

from metasampler.growth._base_estimators import has_leaves, is_plain_booster, setting_for_own_fit
from metasampler.growth._lightgbm_adapter import BoostedMember
from metasampler.growth._tree_adapter import leaf_values

__all__ = ["MemberTree", "trees_of", "why_not_trees"]

# LightGBM's decision types: bits for a category and for missing values going left, then two bits
# for what counts as missing.
_IS_CATEGORY, _DEFAULT_LEFT = 1, 2
# Of these two bits 0 says that a missing value is a zero, 2 that it is missing.
_ZERO_IS_MISSING = 1
_ZERO = 1e-35


@dataclass(frozen=True)
class MemberTree:
    """A tree as arrays with one entry per node; node 0 is the root, and children come later.

    Attributes
    ----------
    left, right : ndarray of int
        The children of each node; -1 for leaves.
    feature : ndarray of int
        The column that a node splits.
    threshold : ndarray of float
        Numbers up to it go left.
    missing_left : ndarray of bool
        Whether missing values go left.
    levels : dict of ndarray of int
        For the nodes that split categories, the codes that go left. All others go right.
    cover : ndarray of float
        The weight of the training rows of each node.
    value : ndarray of shape (n_nodes, n_values)
        What each leaf says.
    output : int or None
        The class that a tree of a booster for many classes is for.
    of_float32 : bool
        Whether rows are compared as float32.
    zero_is_missing : ndarray of bool
        Whether a zero counts as a missing value at a node.
    nan_is_zero : ndarray of bool
        Whether a missing value counts as zero at a node.
    """

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    levels: dict[int, np.ndarray]
    cover: np.ndarray
    value: np.ndarray
    output: int | None
    of_float32: bool
    zero_is_missing: np.ndarray
    nan_is_zero: np.ndarray

    def goes_left(self, node: int, column: np.ndarray) -> np.ndarray:
        """Return which values of a node's column go left; float32 values if the tree has them."""
        missing = np.isnan(column)
        if node in self.levels:
            codes = np.where(missing | (column < 0) | (column > 2**31), -1, column).astype(np.int64)
            return np.isin(codes, self.levels[node])
        left = column <= self.threshold[node]
        if self.nan_is_zero[node]:
            return np.where(missing, self.threshold[node] >= 0, left)
        if self.zero_is_missing[node]:
            missing = missing | (np.abs(column) <= _ZERO)
        return np.where(missing, self.missing_left[node], left) if missing.any() else left

    def which_go_left(self, X: np.ndarray) -> np.ndarray:
        """Return which values of the columns X go left at each node: (n_nodes, n_samples)."""
        inner = np.flatnonzero(self.left >= 0)
        table = X[self.feature[inner]]
        left = np.zeros((len(self.left), X.shape[1]), dtype=bool)
        left[inner] = np.where(
            np.isnan(table),
            self.missing_left[inner, np.newaxis],
            table <= self.threshold[inner, np.newaxis],
        )
        others = np.flatnonzero(self.nan_is_zero | self.zero_is_missing).tolist()
        for node in {*others, *self.levels}:
            left[node] = self.goes_left(node, X[self.feature[node]])
        return left


def why_not_trees(members: list) -> str | None:
    """Return why `trees_of` cannot read some members, in a sentence; None if it can."""
    others = [each for each in members if not _has_trees(each)]
    if not others:
        return None
    settings = list(filter(None, map(setting_for_own_fit, others)))
    if settings:
        return (
            f"The members are LightGBM's with {settings[0]}, and then their trees cannot be read. "
            "Fit without this setting."
        )
    # LightGBM's members are among them only where another base estimator takes tables as they are.
    foreign = [each for each in others if not is_plain_booster(each)]
    names = ", ".join(dict.fromkeys(type(each).__name__ for each in foreign))
    return (
        f"The members are of type {names}. Only the trees of LightGBM's members and of "
        "scikit-learn's trees and forests can be read."
    )


def _has_trees(member) -> bool:
    return isinstance(member, BoostedMember) or has_leaves(member)


def trees_of(member, n_classes: int, smoothing: float = 0.0) -> list[MemberTree]:
    """Return the trees that a member adds up.

    The sum of a `BoostedMember` is that of log-odds, or of each class's logarithm. That of a tree
    or a forest is the probability of class 1, or of each class; ``smoothing`` is that of leaves.
    """
    if isinstance(member, BoostedMember):
        return _trees_of_booster(member)
    if not has_leaves(member):
        raise TypeError(f"A {type(member).__name__} is not a sum of trees.")
    trees = getattr(member, "estimators_", [member])
    return [_tree_of_sklearn(tree, n_classes, smoothing, len(trees)) for tree in trees]


def _tree_of_sklearn(member, n_classes: int, smoothing: float, n_trees: int) -> MemberTree:
    tree = member.tree_
    n_nodes = tree.node_count
    values = leaf_values(member, np.arange(n_nodes), smoothing).reshape(n_nodes, -1) / n_trees
    missing_left = getattr(tree, "missing_go_to_left", np.zeros(n_nodes))
    never = np.zeros(n_nodes, dtype=bool)
    return MemberTree(
        left=tree.children_left,
        right=tree.children_right,
        feature=tree.feature,
        threshold=tree.threshold,
        missing_left=np.asarray(missing_left, dtype=bool),
        levels={},
        cover=tree.weighted_n_node_samples,
        value=values,
        output=None,
        of_float32=True,
        zero_is_missing=never,
        nan_is_zero=never,
    )


def _trees_of_booster(member: BoostedMember) -> list[MemberTree]:
    # The text is the one place in which all numbers of a tree stand.
    text = member.booster_.model_to_string(num_iteration=member.n_rounds_)
    blocks = text.partition("\nend of trees")[0].split("\nTree=")[1:]
    return [_tree_of_text(block, member.n_classes, k) for k, block in enumerate(blocks)]


def _tree_of_text(block: str, n_classes: int, number: int) -> MemberTree:
    said = dict(line.split("=", 1) for line in block.split("\n") if "=" in line)

    def numbers(name: str, kind=float) -> np.ndarray:
        return np.array([kind(word) for word in said.get(name, "").split()])

    n_leaves = int(said["num_leaves"])
    n_inner = n_leaves - 1
    n_nodes = n_inner + n_leaves

    def of_inner(values, rest, kind) -> np.ndarray:
        whole = np.full(n_nodes, rest, dtype=kind)
        whole[:n_inner] = values
        return whole

    if said.get("is_linear", "0") != "0":
        raise ValueError(
            "The members are LightGBM's with linear_tree=True, and then their trees cannot be read."
        )
    value = np.zeros((n_nodes, 1))
    value[n_inner:, 0] = numbers("leaf_value")
    output = number % n_classes if n_classes > 2 else None
    cover = np.ones(n_nodes)
    if not n_inner:
        nothing = np.full(1, -1)
        never = np.zeros(1, dtype=bool)
        return MemberTree(
            nothing, nothing, nothing, np.zeros(1), never, {}, cover, value, output, False,
            never, never,
        )  # fmt: skip
    cover[:n_inner], cover[n_inner:] = numbers("internal_count"), numbers("leaf_count")
    # Leaves are -1, -2, ... in the text.
    children = [
        of_inner(np.where(of < 0, n_inner - of - 1, of), -1, np.int64)
        for of in (numbers("left_child", int), numbers("right_child", int))
    ]
    decisions, thresholds = numbers("decision_type", int), numbers("threshold")
    is_category, counts_as = (decisions & _IS_CATEGORY) > 0, (decisions >> 2) & 3
    levels = {}
    if is_category.any():
        borders, words = numbers("cat_boundaries", int), numbers("cat_threshold", int)
        for node in np.flatnonzero(is_category).tolist():
            place = int(thresholds[node])
            its = words[borders[place] : borders[place + 1]].astype(np.uint32)
            levels[node] = np.flatnonzero(np.unpackbits(its.view(np.uint8), bitorder="little"))
    return MemberTree(
        left=children[0],
        right=children[1],
        feature=of_inner(numbers("split_feature", int), -1, np.int64),
        threshold=of_inner(thresholds, 0.0, float),
        missing_left=of_inner((decisions & _DEFAULT_LEFT) > 0, False, bool),
        levels=levels,
        cover=cover,
        value=value,
        output=output,
        of_float32=False,
        zero_is_missing=of_inner(counts_as == _ZERO_IS_MISSING, False, bool),
        nan_is_zero=of_inner(counts_as == 0, False, bool),
    )
