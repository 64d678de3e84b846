"""A tree with an array of a wrong shape would end the process; it is refused before it is made."""

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, load_model, save_model


def trees_of(schema):
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if node.get("__loader__") == "TreeNode":
                yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


@pytest.mark.parametrize("which", ["classes", "nodes", "values"])
@pytest.mark.parametrize("shape", [(0,), (1,), (3, 2)])
def test_arrays_of_other_shapes(imbalanced, tmp_path, which, shape):
    path = tmp_path / "model.skops"
    clf = MesaClassifier(DecisionTreeClassifier(max_depth=3), 2, meta_sampler=0.9, random_state=0)
    save_model(clf.fit(*imbalanced), path)
    assert load_model(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    tree = next(trees_of(json.loads(members["schema.json"])))
    arrays = {"classes": tree["__reduce__"]["args"]["content"][1], **tree["content"]["content"]}
    if (which, shape) == ("classes", (1,)):
        wrong = np.full(shape, 10**9)  # a good shape: classes that nobody has room for
    else:
        wrong = np.zeros(shape, dtype=np.intp)
    buffer = io.BytesIO()
    np.save(buffer, wrong)
    members[arrays[which]["file"]] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=r"model.skops cannot be read as a model: a tree in it"):
        load_model(path)
