"""LightGBM's models: what its text says becomes bounded arrays, and these a text written anew.

LightGBM trusts the text that it reads: numbers that point somewhere are followed without a look,
and a letter in place of a digit ends the process. A file therefore holds no text of LightGBM's. It
reads one that is written here, of known lines only, from numbers that were checked.
"""

import json
import re
from itertools import pairwise
from typing import Any, NamedTuple

import lightgbm
import numpy as np

from metasampler.persistence._trees import MOST_CLASSES, MOST_COLUMNS, check_paths
from metasampler.persistence._values import Kind, State, is_plain

__all__ = ["BOOSTERS", "BoosterText"]

# Lines of a tree, by what they have an entry for: kind of number, and whether all digits count.
# LightGBM writes six digits of numbers that say nothing about predictions.
_SPLITS = {
    "split_feature": ("<i4", True),
    "split_gain": ("<f4", False),
    "threshold": ("<f8", True),
    "decision_type": ("|i1", True),
    "left_child": ("<i4", True),
    "right_child": ("<i4", True),
    "internal_value": ("<f4", False),
    "internal_weight": ("<f4", False),
    "internal_count": ("<i4", True),
}
_LEAVES = {
    "leaf_value": ("<f8", True),
    "leaf_weight": ("<f8", True),
    "leaf_count": ("<i4", True),
}
_CATEGORIES = {"cat_boundaries": ("<i4", True), "cat_threshold": ("<u4", True)}
_LINEAR = {
    "leaf_const": ("<f8", True),
    "num_features": ("<i4", True),
    "leaf_features": ("<i4", True),
    "leaf_coeff": ("<f8", True),
}
# A split of missing values from all others is at infinity.
_INFINITE = {"threshold", "split_gain", "internal_value", "internal_weight"}
_LINES = _SPLITS | _LEAVES | _CATEGORIES | _LINEAR
# The order in which LightGBM writes them.
_ORDER = (
    *("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child"),
    *("leaf_value", "leaf_weight", "leaf_count"),
    *("internal_value", "internal_weight", "internal_count"),
)
_COUNTS = ("num_leaves", "num_cat", "is_linear")

_OBJECTIVES = ("binary", "multiclass", "multiclassova", "cross_entropy", "cross_entropy_lambda")

#: A decision has bits for a category, for missing values going left, and two for what is missing.
_MOST_DECISION = 15

# LightGBM puts names beside each other with spaces between them.
_NAME = re.compile(r"[^\s\x00-\x1f\x7f\"\[\]{},:]{1,1000}")


# ---------------------------------------------------------------------- from a text


class BoosterText(NamedTuple):
    """A model, as the text that LightGBM's `model_to_string` gives."""

    text: str
    best_iteration: int = -1
    pandas_categorical: Any = None


def _export(model: BoosterText) -> dict[str, Any]:
    """Return what a text says as numbers and arrays."""
    header, *blocks = model.text.partition("\nend of trees")[0].split("\nTree=")
    said = _pairs(header.split("\n"))
    objective, *options = said.pop("objective", "").split()
    trees = [_pairs(block.split("\n")[1:]) for block in blocks]
    n_features = int(said["max_feature_idx"]) + 1
    names: Any = said.pop("feature_names").split(" ")
    numbers = dict(option.split(":") for option in options if ":" in option)
    state: dict[str, Any] = {
        "n_features": n_features,
        "n_trees_a_round": int(said["num_tree_per_iteration"]),
        "objective": objective,
        "sigmoid": float(numbers.get("sigmoid", 1.0)),
        "averages": "average_output" in said,
        "names": None if names == _usual_names(n_features) else names,
        "best_iteration": model.best_iteration,
        "pandas_categorical": model.pandas_categorical,
        "shrinkage": np.array([float(tree.pop("shrinkage", 1)) for tree in trees]),
    }
    for name in _COUNTS:
        state[name] = np.array([int(tree.pop(name, 0)) for tree in trees], dtype=np.int32)
    for name, (kind, _) in _LINES.items():
        texts = [tree.pop(name, "") for tree in trees]
        if name in _LEAVES:
            # LightGBM leaves some lines of a tree of a single leaf empty.
            texts = [text or "0" for text in texts]
        state[name] = _parse(" ".join(texts).split(), kind)
    unknown = {name for tree in trees for name in tree}
    if unknown:
        raise TypeError(f"a LightGBM model has lines that are not known: {sorted(unknown)[:3]}.")
    return state


def _pairs(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition("=") for line in lines if line)
    return {name: value for name, _, value in pairs}


def _usual_names(n_features: int) -> list[str]:
    return [f"Column_{number}" for number in range(n_features)]


def _parse(words: list[str], kind: str) -> np.ndarray:
    """Return numbers in a type that keeps all of their digits."""
    numbers = np.array([float(word) for word in words])
    if kind == "<f4":
        small = numbers.astype(np.float32)
        return small if _written(small, exact=False) == " ".join(words) else numbers
    return numbers.astype(kind)


# ---------------------------------------------------------------------- to a text


def _build(state: State) -> lightgbm.Booster:
    best = state.whole("best_iteration", -1, 10**7)
    booster = lightgbm.Booster(model_str=booster_text(state))
    if best > booster.current_iteration():
        raise state.refuse("best_iteration", best)
    booster.best_iteration = best
    return booster


def booster_text(state: State) -> str:
    """Return the text of a model, written anew from checked numbers."""
    n_features = state.whole("n_features", 1, MOST_COLUMNS)
    state.reader.count("boosters", 1)
    state.reader.count("columns of boosters", n_features)
    objective = state.text("objective", *_OBJECTIVES)
    sigmoid = state.number("sigmoid", 1e-6, 1e6)
    n_a_round = state.whole("n_trees_a_round", 1, MOST_CLASSES)
    if (n_a_round > 1) != objective.startswith("multiclass"):
        raise state.refuse("n_trees_a_round", n_a_round)
    averages = state.flag("averages")
    names = _names(state, n_features)
    categories = state.where_true(
        "pandas_categorical",
        lambda value: (
            value is None
            or (type(value) is list and all(type(of) is list and is_plain(of) for of in value))
        ),
    )
    trees = _trees(state, n_features)
    if not trees or len(trees) % n_a_round:
        raise state.refuse("num_leaves", len(trees))
    options = f" sigmoid:{sigmoid!r}" if objective in ("binary", "multiclassova") else ""
    if n_a_round > 1:
        options = f" num_class:{n_a_round}{options}"
    sizes = " ".join(str(len(tree)) for tree in trees)
    return "\n".join(
        [
            "tree",
            "version=v4",
            f"num_class={n_a_round}",
            f"num_tree_per_iteration={n_a_round}",
            "label_index=0",
            f"max_feature_idx={n_features - 1}",
            f"objective={objective}{options}",
            *(["average_output"] if averages else []),
            f"feature_names={' '.join(names)}",
            f"feature_infos={' '.join(['none'] * n_features)}",
            f"tree_sizes={sizes}",
            "",
            "".join(trees) + "end of trees",
            "",
            "parameters:",
            f"[objective: {objective}]",
            f"[num_class: {n_a_round}]",
            "",
            "end of parameters",
            "",
            f"pandas_categorical:{json.dumps(categories)}",
            "",
        ]
    )


def _names(state: State, n_features: int) -> list[str]:
    names = state.any("names")
    if names is None:
        return _usual_names(n_features)
    if (
        type(names) is not list
        or len(names) != n_features
        or len(set(map(str, names))) != n_features
        or not all(type(name) is str and _NAME.fullmatch(name) for name in names)
    ):
        raise state.refuse("names", names)
    return names


def _trees(state: State, n_features: int) -> list[str]:
    """Return the texts of all trees."""
    # Small integers would overflow in sums.
    n_leaves, n_categories, linear = (
        state.array(name, "i", "trees", low=low, high=high).astype(np.int64)
        for name, low, high in (
            ("num_leaves", 1, 2**24),
            ("num_cat", 0, 2**24),
            ("is_linear", 0, 1),
        )
    )
    shrinkage = state.array("shrinkage", "f", "trees", low=-1e6, high=1e6)
    lines = {
        name: state.array(name, kind[1], "*", infinite=name in _INFINITE, low=-1e300, high=1e300)
        for name, (kind, _) in _LINES.items()
    }
    for name, (kind, exact) in _LINES.items():
        # A number that is larger than its type would be cut off.
        if exact and lines[name].dtype != np.dtype(kind):
            raise state.refuse(name, lines[name])
    # How many entries each tree has of each line.
    n_coefficients = _sums_of(lines["num_features"], n_leaves * linear, state)
    n_words = _last_of(lines["cat_boundaries"], np.where(n_categories, n_categories + 1, 0), state)
    sizes = {
        **dict.fromkeys(_SPLITS, n_leaves - 1),
        **dict.fromkeys(_LEAVES, n_leaves),
        "cat_boundaries": np.where(n_categories, n_categories + 1, 0),
        "cat_threshold": n_words,
        **dict.fromkeys(("leaf_const", "num_features"), n_leaves * linear),
        **dict.fromkeys(("leaf_features", "leaf_coeff"), n_coefficients),
    }
    cut = {}
    for name, values in lines.items():
        ends = np.cumsum(sizes[name], dtype=np.int64)
        if len(values) != (ends[-1] if len(ends) else 0):
            raise state.refuse(name, values)
        cut[name] = [values[start:end] for start, end in pairwise([0, *ends.tolist()])]
    _check_places(lines, n_leaves, n_categories, n_features, state)
    return [
        _tree_text(
            number,
            {name: each[number] for name, each in cut.items()},
            int(n_categories[number]),
            int(linear[number]),
            float(shrinkage[number]),
        )
        for number in range(len(n_leaves))
    ]


def _sums_of(counts: np.ndarray, sizes: np.ndarray, state: State) -> np.ndarray:
    """Return for each tree the sum of its counts."""
    ends = np.cumsum(sizes, dtype=np.int64)
    if len(counts) != (ends[-1] if len(ends) else 0) or np.any(counts < 0):
        raise state.refuse("num_features", counts)
    sums = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return sums[ends] - sums[ends - sizes]


def _last_of(edges: np.ndarray, sizes: np.ndarray, state: State) -> np.ndarray:
    """Return for each tree its last edge, or 0 if it has none."""
    ends = np.cumsum(sizes, dtype=np.int64)
    if len(edges) != (ends[-1] if len(ends) else 0) or np.any(edges < 0):
        raise state.refuse("cat_boundaries", edges)
    return np.where(sizes, np.append(edges, 0)[ends - 1], 0)


def _check_places(
    lines: dict[str, np.ndarray],
    n_leaves: np.ndarray,
    n_categories: np.ndarray,
    n_features: int,
    state: State,
) -> None:
    """Refuse trees whose numbers point out of them."""
    for name in ("split_feature", "leaf_features"):
        if np.any((lines[name] < 0) | (lines[name] >= n_features)):
            raise state.refuse(name, lines[name])
    left, right = lines["left_child"], lines["right_child"]
    check_paths(left, right, n_leaves - 1, state.where)
    # A leaf is written as the complement of its number; each has one place.
    children = np.concatenate([left, right])
    of_tree = np.tile(np.repeat(np.arange(len(n_leaves)), n_leaves - 1), 2)
    is_leaf = children < 0
    leaves, of_tree = ~children[is_leaf], of_tree[is_leaf]
    starts = np.cumsum(n_leaves) - n_leaves
    alone = starts[n_leaves == 1]
    places = np.sort(np.concatenate([leaves + starts[of_tree], alone]))
    if np.any(leaves >= n_leaves[of_tree]) or not np.array_equal(places, np.arange(n_leaves.sum())):
        raise state.refuse("left_child", left)
    decisions = lines["decision_type"]
    if np.any((decisions < 0) | (decisions > _MOST_DECISION)):
        raise state.refuse("decision_type", decisions)
    # A category's threshold is the number of its set.
    by_category = (decisions & 1).astype(bool)
    sets = lines["threshold"][by_category]
    known = np.repeat(n_categories, n_leaves - 1)[by_category]
    if np.any((sets < 0) | (sets >= known) | (sets != np.floor(sets))):
        raise state.refuse("threshold", sets)
    n_edges = np.where(n_categories, n_categories + 1, 0)
    firsts = np.zeros(len(lines["cat_boundaries"]), dtype=bool)
    firsts[(np.cumsum(n_edges) - n_edges)[n_edges > 0]] = True
    edges = lines["cat_boundaries"]
    steps = np.diff(edges, prepend=0)
    if np.any(edges[firsts] != 0) or np.any(steps[~firsts] < 0):
        raise state.refuse("cat_boundaries", edges)


def _tree_text(
    number: int, tree: dict[str, np.ndarray], n_categories: int, linear: int, shrinkage: float
) -> str:
    lines = [f"Tree={number}", f"num_leaves={len(tree['leaf_value'])}", f"num_cat={n_categories}"]
    names = [*_ORDER, *(_CATEGORIES if n_categories else ())]
    lines += [f"{name}={_written(tree[name], _LINES[name][1])}" for name in names]
    lines.append(f"is_linear={linear}")
    if linear:
        ends = np.cumsum(tree["num_features"])[:-1]
        for name in ("leaf_const", "num_features"):
            lines.append(f"{name}={_written(tree[name], _LINES[name][1])}")
        for name in ("leaf_features", "leaf_coeff"):
            words = [_written(part, _LINES[name][1]) for part in np.split(tree[name], ends)]
            # As LightGBM separates the leaves.
            lines.append(f"{name}={''.join(word + '  ' if word else ' ' for word in words)}")
    return "\n".join([*lines, f"shrinkage={shrinkage!r}", "", "", ""])


def _written(values: np.ndarray, exact: bool) -> str:
    if values.dtype.kind in "iu":
        form = "%d"
    else:
        # The shortest text that is read as the same number.
        form = "%r" if exact or values.dtype == np.float64 else "%.6g"
    # All at once, which is the fastest way.
    return " ".join([form] * len(values)) % tuple(values.tolist())


#: The kinds of this module.
BOOSTERS = [Kind("Booster", BoosterText, _export, _build)]
