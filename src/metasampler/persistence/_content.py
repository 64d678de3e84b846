"""Numbers that point somewhere: trees go where they say, without a look.

scikit-learn and LightGBM trust the trees they read. A child that is its own parent would never
end, and one beyond the last node reads memory that is not its own. Of both kinds of trees a child
comes after its parent, which is all that has to be checked.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from metasampler.persistence._trusted import BOOSTERS

#: What stands behind every name in a tree of LightGBM.
_NUMBER = rb"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)"
_NUMBERS = re.compile(rb"(?:" + _NUMBER + rb"(?: +" + _NUMBER + rb")*)? *", re.I)


def check_boosters(schema: Any) -> None:
    """Check the text of every LightGBM model in what skops is going to read."""
    for node in _nodes(schema):
        kind = f"{node.get('__module__')}.{node.get('__class__')}"
        if kind not in BOOSTERS:
            continue
        content = node.get("content")
        entries = content.get("content") if isinstance(content, dict) else None
        if not isinstance(entries, dict):
            raise ValueError(f"{kind} in it has no content.")
        texts = [entries[name] for name in BOOSTERS[kind] if name in entries]
        for text in texts:
            # Any other way of writing a text would be read by skops, but not here.
            if text.get("__loader__") != "JsonNode" or text.get("is_json") is not True:
                raise ValueError(f"{kind} in it has no plain text.")
            value = json.loads(text["content"])
            # LightGBM's own class may be without a model.
            if value is not None or kind.startswith("metasampler"):
                check_booster_text(value)


def _nodes(schema: Any) -> Iterator[dict]:
    """Yield all dicts of a JSON document; without recursion, which a deep one would exhaust."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def check_booster_text(text: Any) -> None:
    """Refuse a text of LightGBM whose trees point out of themselves.

    Parameters
    ----------
    text : str
        What LightGBM's ``model_to_string`` gives.
    """
    if not isinstance(text, str):
        raise ValueError("a LightGBM model in it is not a text.")
    content = text.encode()
    header, separator, _ = content.partition(b"\n\nTree=")
    settings = _settings(header)
    sizes = _integers(settings, "tree_sizes")
    start = len(header) + 2
    n_features = _integer(settings, "max_feature_idx") + 1
    n_trees_a_round = _integer(settings, "num_tree_per_iteration")
    if (
        not header.startswith(b"tree\n")
        or not 1 <= n_features <= 10**7
        or not 1 <= n_trees_a_round <= 10**5
        or not 1 <= _integer(settings, "num_class") <= 10**5
        or len(sizes) % n_trees_a_round
        or (len(sizes) > 0) != bool(separator)
    ):
        raise ValueError("a LightGBM model in it has a damaged beginning.")
    # LightGBM finds its trees by these sizes.
    for number, size in enumerate(sizes.tolist()):
        block = content[start : start + size] if size > 0 else b""
        if len(block) != size or not block.startswith(b"Tree=%d\n" % number):
            raise ValueError("a LightGBM model in it has trees of other sizes than it says.")
        _check_block(_settings(block), n_features, number)
        start += size
    if sizes.size and not content[start:].lstrip(b"\n").startswith(b"end of trees"):
        raise ValueError("a LightGBM model in it has no end.")


def _settings(block: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b"=") for line in block.split(b"\n"))
    return {name: value for name, equals, value in pairs if equals}


def _integers(settings: dict[bytes, bytes], name: str) -> np.ndarray:
    values = settings.get(name.encode(), b"").split()
    return np.array([int(value) for value in values], dtype=np.int64)


def _integer(settings: dict[bytes, bytes], name: str) -> int:
    values = _integers(settings, name)
    return int(values[0]) if len(values) == 1 else -1


def _check_block(tree: dict[bytes, bytes], n_features: int, number: int) -> None:
    """Check one tree: n leaves have n - 1 splits, and each entry says where it belongs."""
    if not all(_NUMBERS.fullmatch(value) for value in tree.values()):
        # LightGBM ends the process where it expects a number and finds something else.
        raise ValueError(f"tree {number} of a LightGBM model in it holds more than numbers.")
    n_leaves, n_categorical = _integer(tree, "num_leaves"), _integer(tree, "num_cat")
    n_splits = n_leaves - 1
    good = n_leaves >= 1 and n_categorical >= 0 and _length(tree, "leaf_value") == n_leaves
    features = _integers(tree, "split_feature")
    kinds = _integers(tree, "decision_type")
    if good and n_splits:
        # One leaf has no split; LightGBM then writes none, and reads none.
        children = [_integers(tree, name) for name in ("left_child", "right_child")]
        lengths = {len(features), len(kinds), _length(tree, "threshold"), *map(len, children)}
        good = lengths == {n_splits} and _inside(features, 0, n_features)
        parents = np.arange(n_splits)
        for child in children if good else []:
            # A leaf is written as the complement of its number.
            is_leaf = child < 0
            good = good and bool(
                np.all(~child[is_leaf] < n_leaves)
                and np.all(child[~is_leaf] < n_splits)
                and np.all(child[~is_leaf] > parents[~is_leaf])
            )
    if good and n_categorical:
        edges, words = _integers(tree, "cat_boundaries"), _length(tree, "cat_threshold")
        by_category = (kinds & 1).astype(bool)
        places = _floats(tree, "threshold")[by_category]
        good = (
            len(edges) == n_categorical + 1
            and edges[0] == 0
            and edges[-1] == words
            and bool(np.all(np.diff(edges) >= 0))
            and _inside(places, 0, n_categorical)
        )
    elif good:
        good = not np.any(kinds & 1)
    if good and _integer(tree, "is_linear") == 1:
        counts = _integers(tree, "num_features")
        used = _integers(tree, "leaf_features")
        good = (
            len(counts) == n_leaves
            and bool(np.all(counts >= 0))
            and counts.sum() == len(used) == _length(tree, "leaf_coeff")
            and _length(tree, "leaf_const") == n_leaves
            and _inside(used, 0, n_features)
        )
    if not good:
        raise ValueError(f"tree {number} of a LightGBM model in it is damaged.")


def _length(tree: dict[bytes, bytes], name: str) -> int:
    return len(tree.get(name.encode(), b"").split())


def _floats(tree: dict[bytes, bytes], name: str) -> np.ndarray:
    return np.array([float(value) for value in tree.get(name.encode(), b"").split()])


def _inside(values: np.ndarray, low: int, high: int) -> bool:
    return bool(np.all((values >= low) & (values < high)))


def check_trees(model: Any) -> None:
    """Refuse a model with a tree of scikit-learn that points out of itself."""
    for tree in _trees(model):
        nodes = tree.__getstate__()["nodes"]
        if not len(nodes):
            continue
        numbers = np.arange(len(nodes))
        left, right = nodes["left_child"], nodes["right_child"]
        inner = left != -1
        good = (
            np.all((left[inner] > numbers[inner]) & (left[inner] < len(nodes)))
            and np.all((right[inner] > numbers[inner]) & (right[inner] < len(nodes)))
            and _inside(nodes["feature"][inner], 0, tree.n_features)
        )
        if not good:
            raise ValueError("a tree in it points out of itself.")


def _trees(model: Any) -> Iterator[Any]:
    """Yield the trees of scikit-learn in a model, and check that each reads columns there are."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None))):
            continue
        seen.add(id(value))
        if type(value).__name__ == "Tree" and type(value).__module__ == "sklearn.tree._tree":
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting.extend(value)
        elif isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                waiting.extend(value.ravel().tolist())
        else:
            inside = getattr(value, "__dict__", None)
            if isinstance(inside, dict):
                _check_columns(value)
                waiting.extend(inside.values())


def _check_columns(value: Any) -> None:
    """Refuse a member whose tree reads more columns than the member says it takes."""
    inside = vars(value)
    tree, said = inside.get("tree_"), inside.get("n_features_in_")
    if tree is not None and said is not None and getattr(tree, "n_features", said) > said:
        raise ValueError("a tree in it reads columns that there are not.")
