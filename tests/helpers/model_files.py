"""A model file taken apart, changed, and put together again, as a stranger would."""

import json
import zipfile
from pathlib import Path

import numpy as np

PARTS = ("facts.json", "model.json", "numbers.bin")


class ModelFile:
    """The parts of a file; arrays stand where they belong, as ``{"array": ndarray}``."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as file:
            facts, document, numbers = (file.read(name) for name in PARTS)
        self.facts, self.document = json.loads(facts), json.loads(document)
        place = 0
        for node, name in self.arrays():
            dtype, shape = node[name]
            place += -place % 8
            order = "F" if name == "columns" else "C"
            count = int(np.prod(shape))
            array = np.frombuffer(numbers, np.dtype(dtype), count, place).copy()
            place += array.nbytes
            node[name] = array.reshape(shape, order=order)

    def arrays(self):
        """Return the nodes that hold arrays, in the order of the file, and their forms."""
        found = []
        for node in self.nodes():
            name = next(iter(node), None) if len(node) == 1 else None
            if name in ("array", "columns"):
                found.append((node, name))
        return found

    def nodes(self, kind=None):
        """Return the dicts of the document in their order, or the states of objects of a kind."""
        found, waiting = [], [self.document]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                if kind is None:
                    found.append(node)
                elif node.get("type") == kind:
                    found.append(node["state"])
                waiting.extend(reversed(node.values()))
            elif isinstance(node, list):
                waiting.extend(reversed(node))
        return found

    def parts(self):
        """Return the bytes of the parts."""
        numbers, packed = bytearray(), []
        for node, name in self.arrays():
            array = node[name]
            if isinstance(array, np.ndarray):
                numbers += bytes(-len(numbers) % 8)
                numbers += array.tobytes("F" if name == "columns" else "C")
                packed.append((node, name, array))
                node[name] = [array.dtype.str, list(array.shape)]
        texts = [json.dumps(each).encode() for each in (self.facts, self.document)]
        for node, name, array in packed:
            node[name] = array
        return dict(zip(PARTS, (*texts, bytes(numbers)), strict=True))

    def write(self, path, **changed):
        """Write the file, with other bytes for some parts."""
        return write_zip(path, self.parts() | changed)


def write_zip(path, parts, compression=zipfile.ZIP_DEFLATED):
    """Write parts as a zip file."""
    with zipfile.ZipFile(path, "w", compression, compresslevel=1) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return Path(path)


def made(kind, **state):
    """Return an object as a document holds it."""
    return {"type": kind, "state": state}


def array(values, dtype=None):
    """Return an array as a document holds it."""
    return {"array": np.asarray(values, dtype)}


def tree_of(left, right, feature, n_features, n_classes=2):
    """Return the nodes of a tree, each of which splits at 0."""
    n_nodes = len(left)
    return made(
        "Tree",
        n_features=n_features,
        left=array(left, np.int32),
        right=array(right, np.int32),
        feature=array(feature, np.int32),
        threshold=array(np.zeros(n_nodes)),
        impurity=array(np.zeros(n_nodes)),
        n_node_samples=array(np.ones(n_nodes, np.int64)),
        weighted_n_node_samples=array(np.ones(n_nodes)),
        missing_go_to_left=array(np.zeros(n_nodes, np.uint8)),
        values=array(np.full((n_nodes, n_classes), 0.5)),
    )


def classifier_of(tree, **others):
    """Return the classifier of a tree of two classes."""
    n_features = tree["state"]["n_features"]
    state = {
        "n_features_in_": n_features,
        "classes_": array([0, 1]),
        "n_classes_": 2,
        "n_outputs_": 1,
        "max_features_": n_features,
        "tree_": tree,
    }
    return made("sklearn.tree.DecisionTreeClassifier", **(state | others))


def booster_of(n_leaves, n_features=5, **others):
    """Return a booster of trees with so many leaves each: chains, with all splits on column 0."""
    n_leaves = np.asarray(n_leaves, np.int32)
    n_trees, n_all, n_splits = len(n_leaves), n_leaves.sum(), (n_leaves - 1).sum()
    lefts = [np.r_[1 : count - 1, -1] for count in n_leaves if count > 1]
    rights = [np.r_[-2:-count:-1, -count] for count in n_leaves if count > 1]
    state = {
        "n_features": n_features,
        "n_trees_a_round": 1,
        "objective": "binary",
        "sigmoid": 1.0,
        "averages": False,
        "names": None,
        "best_iteration": -1,
        "pandas_categorical": None,
        "shrinkage": array(np.ones(n_trees)),
        "num_leaves": array(n_leaves),
        "num_cat": array(np.zeros(n_trees, np.int32)),
        "is_linear": array(np.zeros(n_trees, np.int32)),
        "split_feature": array(np.zeros(n_splits, np.int32)),
        "split_gain": array(np.zeros(n_splits, np.float32)),
        "threshold": array(np.zeros(n_splits)),
        "decision_type": array(np.zeros(n_splits, np.int8)),
        "left_child": array(np.concatenate([*lefts, []]), np.int32),
        "right_child": array(np.concatenate([*rights, []]), np.int32),
        "internal_value": array(np.zeros(n_splits, np.float32)),
        "internal_weight": array(np.zeros(n_splits, np.float32)),
        "internal_count": array(np.zeros(n_splits, np.int32)),
        "leaf_value": array(np.zeros(n_all)),
        "leaf_weight": array(np.zeros(n_all)),
        "leaf_count": array(np.zeros(n_all, np.int32)),
        "cat_boundaries": array([], np.int32),
        "cat_threshold": array([], np.uint32),
        "leaf_const": array([], np.float64),
        "num_features": array([], np.int32),
        "leaf_features": array([], np.int32),
        "leaf_coeff": array([], np.float64),
    }
    return made("Booster", **(state | others))
