"""The shapes of scikit-learn's trees: its C code trusts them, and a wrong one ends the process."""

import json
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

import numpy as np

_MOST_CLASSES = 10**5


def check_tree_shapes(schema: Any, file: ZipFile) -> None:
    """Refuse trees whose arrays have other shapes than their numbers say, before one is made."""
    for node in _trees(schema):
        try:
            good = _is_sound(node, file)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"a tree in it is damaged: {error}") from error
        if not good:
            raise ValueError("a tree in it has arrays of other shapes than it says.")


def _trees(schema: Any) -> Iterator[dict]:
    """Yield what skops would make a tree of; without recursion, which a deep one would exhaust."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if node.get("__loader__") == "TreeNode" or (
                node.get("__class__") == "Tree" and "__reduce__" in node
            ):
                yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _is_sound(node: dict, file: ZipFile) -> bool:
    n_features, classes, n_outputs = node["__reduce__"]["args"]["content"]
    state = node["content"]["content"]
    n_classes = _array(classes, file)
    nodes, values = _array(state["nodes"], file), _array(state["values"], file)
    n_nodes = _count(state["node_count"])
    return (
        min(_count(n_features), n_nodes) >= 1
        and n_classes.dtype == np.intp
        and n_classes.shape == (_count(n_outputs),)
        and 1 <= n_classes.min() <= n_classes.max() <= _MOST_CLASSES
        and nodes.shape == (n_nodes,)
        and values.dtype == np.float64
        and values.shape == (n_nodes, len(n_classes), n_classes.max())
    )


def _count(node: dict) -> int:
    """Return a number, written as skops writes it and in no other way."""
    value = json.loads(node["content"]) if node["__loader__"] == "JsonNode" else None
    if type(value) is not int:
        raise ValueError("a number is missing")
    return value


def _array(node: dict, file: ZipFile) -> np.ndarray:
    if node["__loader__"] != "NdArrayNode" or node["type"] != "numpy":
        raise ValueError("an array is missing")
    with file.open(node["file"]) as content:
        return np.lib.format.read_array(content, allow_pickle=False)
