"""A few operators of ONNX, put together one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from metasampler.growth import MemberTree

__all__ = ["DOMAIN", "Graph"]

#: The operators of trees and of levels.
DOMAIN = "ai.onnx.ml"


class Graph:
    """The nodes of a model. Each method adds some, and returns the name of what they give.

    Parameters
    ----------
    taken : iterable of str
        The names of inputs, which no value gets.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._numpy = helper, numpy_helper
        self._prefix = ""
        while any(
            name.startswith((f"{self._prefix}value:", f"{self._prefix}constant:")) for name in taken
        ):
            self._prefix += "_"
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def __call__(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node."""
        name = f"{self._prefix}value:{len(self.nodes)}"
        made = self._helper.make_node(operator, list(inputs), [name], domain=domain, **attributes)
        self.nodes.append(made)
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant."""
        name = f"{self._prefix}constant:{len(self.constants)}"
        self.constants.append(self._numpy.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def cast(self, value: str, dtype: Any) -> str:
        """Add a change of type."""
        return self("Cast", value, to=self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def trees(self, value: str, trees: list[MemberTree], values: list, n_outputs: int) -> str:
        """Add the sum of some trees.

        ``values`` has for each tree what its nodes say, and for which of the outputs: an array of
        shape (n_nodes, n_values), and the position of the first value.
        """
        columns: dict[str, list] = {name: [] for name in (*_OF_NODES, "nodes_treeids")}
        targets: dict[str, list] = {name: [] for name in _OF_TARGETS}
        for number, (tree, (said, first)) in enumerate(zip(trees, values, strict=True)):
            rows = _nodes_of(tree)
            for name, column in zip(_OF_NODES, zip(*rows, strict=True), strict=True):
                columns[name].extend(column)
            columns["nodes_treeids"].extend([number] * len(rows))
            leaves = np.flatnonzero(tree.left < 0)
            for place in range(said.shape[1]):
                targets["target_treeids"].extend([number] * len(leaves))
                targets["target_nodeids"].extend(leaves.tolist())
                targets["target_ids"].extend([first + place] * len(leaves))
                targets["target_weights_as_tensor"].extend(said[leaves, place].tolist())
        attributes: dict[str, Any] = {**columns, **targets}
        for name in ("nodes_values_as_tensor", "target_weights_as_tensor"):
            numbers = np.array(attributes[name], dtype=np.float64)
            attributes[name] = self._numpy.from_array(numbers, name)
        total = self(
            "TreeEnsembleRegressor", value, domain=DOMAIN, n_targets=n_outputs, **attributes
        )
        return self.cast(total, np.float64)


_OF_NODES = (
    *("nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values_as_tensor"),
    *("nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true"),
)
_OF_TARGETS = ("target_treeids", "target_nodeids", "target_ids", "target_weights_as_tensor")


def _nodes_of(tree: MemberTree) -> list[tuple]:
    """Return the nodes of a tree, in the order of the first entries of `_OF_NODES`."""
    rows: list[tuple] = []
    n_nodes = len(tree.left)
    added = n_nodes
    for node in range(n_nodes):
        column, left, right = int(tree.feature[node]), int(tree.left[node]), int(tree.right[node])
        if left < 0:
            rows.append((node, 0, "LEAF", 0.0, 0, 0, 0))
        elif node in tree.levels:
            # One comparison per level that goes left; no level, and no missing value, equals -1.
            levels = tree.levels[node].tolist() or [-1]
            for place, level in enumerate(levels):
                own = node if place == 0 else added + place - 1
                following = right if place == len(levels) - 1 else added + place
                rows.append((own, column, "BRANCH_EQ", float(level), left, following, 0))
            added += len(levels) - 1
        else:
            threshold = float(tree.threshold[node])
            goes_left = tree.missing_left[node]
            if tree.nan_is_zero[node]:
                goes_left = threshold >= 0
            rows.append((node, column, "BRANCH_LEQ", threshold, left, right, int(goes_left)))
    return rows
