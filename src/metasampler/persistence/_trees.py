"""scikit-learn's trees: C code follows their numbers without a look, so all are checked here."""

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from metasampler.persistence._values import State

__all__ = ["MOST_CLASSES", "MOST_COLUMNS", "build_tree", "check_paths", "export_tree"]

#: Classes and columns that a model may have: those of hashed texts are a million.
MOST_CLASSES, MOST_COLUMNS = 10_000, 2**21

# Some code goes down a tree by recursion.
_DEEPEST_TREE = 1000

# What the nodes of a tree have beside their children.
_NUMBERS = {
    "feature": "<i4",
    "threshold": "<f8",
    "impurity": "<f8",
    "n_node_samples": "<i8",
    "weighted_n_node_samples": "<f8",
    "missing_go_to_left": "|u1",
}


@lru_cache
def _example() -> Any:
    """Return some tree: its class and the form of its nodes have no public name."""
    return DecisionTreeClassifier().fit([[0.0]], [0]).tree_


def tree_type() -> type:
    """Return the class of a tree's nodes."""
    return type(_example())


def export_tree(tree: Any) -> dict[str, Any]:
    """Return the nodes of a tree as plain arrays."""
    state = tree.__getstate__()
    nodes = state["nodes"]
    if set(nodes.dtype.names) != {"left_child", "right_child", *_NUMBERS} or tree.n_outputs != 1:
        raise TypeError("trees of this scikit-learn release, or of several outputs, are not known.")
    # Smaller numbers take less room: the largest tree has far fewer than 2**31 nodes.
    numbers = {name: nodes[name].astype(kind) for name, kind in _NUMBERS.items()}
    return {
        "n_features": tree.n_features,
        "left": nodes["left_child"].astype(np.int32),
        "right": nodes["right_child"].astype(np.int32),
        **numbers,
        "values": state["values"][:, 0, :],
    }


def build_tree(state: State) -> Any:
    """Return a tree of checked nodes."""
    n_features = state.whole("n_features", 1, MOST_COLUMNS)
    state.reader.count("columns of trees", n_features)
    left, right = state.array("left", "i", "nodes"), state.array("right", "i", "nodes")
    inner = left >= 0
    numbers = {
        "feature": state.array("feature", "i", "nodes", low=-2, high=n_features - 1),
        "threshold": state.array("threshold", "f", "nodes"),
        "impurity": state.array("impurity", "f", "nodes"),
        "n_node_samples": state.array("n_node_samples", "i", "nodes", low=0),
        "weighted_n_node_samples": state.array("weighted_n_node_samples", "f", "nodes", low=0),
        "missing_go_to_left": state.array("missing_go_to_left", "u", "nodes", high=1, low=0),
    }
    if not len(left):
        raise state.refuse("left", left)
    values = state.array("values", "f", "nodes", "classes", low=-1e300, high=1e300)
    n_classes = values.shape[1]
    if not 1 <= n_classes <= MOST_CLASSES or values.dtype != np.float64:
        raise state.refuse("values", values)
    if (
        # C code takes -1 alone for the end of a path, and looks for it on the left.
        np.any((right >= 0) != inner)
        or np.any(left[~inner] != -1)
        or np.any(right[~inner] != -1)
        or np.any(numbers["feature"][inner] < 0)
        # A split of missing values from all others is at infinity.
        or np.any(np.isnan(numbers["threshold"][inner]))
    ):
        raise state.refuse("left", left)
    depth = check_paths(left, right, np.array([len(left)]), state.where)
    example = _example()
    nodes = np.zeros(len(left), dtype=example.__getstate__()["nodes"].dtype)
    nodes["left_child"], nodes["right_child"] = left, right
    for name, each in numbers.items():
        nodes[name] = each
    tree = type(example)(n_features, np.array([n_classes], dtype=np.intp), 1)
    tree.__setstate__(
        {
            "max_depth": depth,
            "node_count": len(nodes),
            "nodes": nodes,
            "values": np.ascontiguousarray(values[:, np.newaxis, :]),
        }
    )
    return tree


def check_paths(left: np.ndarray, right: np.ndarray, sizes: np.ndarray, where: str) -> int:
    """Refuse nodes that are not trees whose children come after their parents.

    The nodes of several trees follow each other; ``sizes`` says how many each has. Children are
    numbered within their tree, and negative numbers are leaves. Returns the levels of the deepest.
    """
    starts = np.cumsum(sizes) - sizes
    first, last = np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)
    numbers = np.arange(len(left))
    below = []
    for children in (left, right):
        is_leaf = children < 0
        children = np.where(is_leaf, -1, children + first)
        if not np.all(is_leaf | ((children > numbers) & (children < last))):
            raise ValueError(f"{where} is a tree that points out of itself.")
        below.append(children)
    # Each has one parent, but for the first of a tree.
    children = np.concatenate(below)
    others = np.delete(numbers, starts[sizes > 0])
    if not np.array_equal(np.sort(children[children >= 0]), others):
        raise ValueError(f"{where} is a tree that points out of itself.")
    depth, level = 0, starts[sizes > 0]
    while True:
        level = np.concatenate([each[level] for each in below])
        level = level[level >= 0]
        if not len(level):
            return depth
        depth += 1
        if depth > _DEEPEST_TREE:
            raise ValueError(f"{where} is a tree of more than {_DEEPEST_TREE} levels.")
