"""Damaged files and files of strangers: a clear error, no code run, no memory filled."""

import io
import json
import os
import re
import shutil
import zipfile

import joblib
import numpy as np
import pytest
import skops.io
from lightgbm import LGBMClassifier
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, load_facts, load_model, save_model
from metasampler.persistence._content import check_booster_text


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(300, weights=[0.8], random_state=0)
    X[:, 3] = X[:, 3].round() + 10
    return X, y


@pytest.fixture(scope="module")
def stored(table, tmp_path_factory):
    """The file of a model with trees and boosters."""
    kinds = [DecisionTreeClassifier(), LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1)]
    clf = MesaClassifier(kinds, 2, meta_sampler=0.9, refit=False, random_state=0).fit(*table)
    path = tmp_path_factory.mktemp("models") / "model.skops"
    save_model(clf, path)
    return path, clf


@pytest.fixture
def model(stored, tmp_path):
    return shutil.copy(stored[0], tmp_path / "model.skops")


def parts(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def nodes(document):
    if isinstance(document, dict):
        yield document
        for value in document.values():
            yield from nodes(value)
    elif isinstance(document, list):
        for value in document:
            yield from nodes(value)


# ---------------------------------------------------------------------- damage


@pytest.mark.parametrize("read", [load_facts, load_model])
def test_what_is_no_model_is_said_to_be_none(read, tmp_path, stored):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read(tmp_path / "nothing.skops")
    (tmp_path / "text.skops").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"text\.skops is damaged, or no model file"):
        read(tmp_path / "text.skops")
    joblib.dump(stored[1], tmp_path / "model.joblib")
    with pytest.raises(ValueError, match=r"no model file"):
        read(tmp_path / "model.joblib")
    skops.io.dump(stored[1], tmp_path / "plain.skops")
    with pytest.raises(ValueError, match="save_model did not write it"):
        read(tmp_path / "plain.skops")


def test_plain_skops_reads_the_file_too(stored, table):
    again = skops.io.load(stored[0], trusted=skops.io.get_untrusted_types(file=stored[0]))
    np.testing.assert_array_equal(again.predict(table[0]), stored[1].predict(table[0]))


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_a_clear_error_or_does_no_harm(seed, stored, table, tmp_path):
    rng = np.random.default_rng(seed)
    content = bytearray(stored[0].read_bytes())
    if seed % 3 == 0:
        content = content[: rng.integers(1, len(content))]
    else:
        for place in rng.integers(0, len(content), 1 if seed % 3 == 1 else 20):
            content[place] = rng.integers(256)
    path = tmp_path / "damaged.skops"
    path.write_bytes(content)
    try:
        again = load_model(path)
    except ValueError as error:
        message = str(error)
    else:  # bytes that nothing depends on, as those of dates in the archive
        np.testing.assert_array_equal(
            again.predict_proba(table[0]), stored[1].predict_proba(table[0])
        )
        message = path.name
    assert message.startswith("damaged.skops")


# ---------------------------------------------------------------------- size


def test_a_bomb_is_not_unpacked(model, rewrite):
    rewrite(model, parts={"zeros.npy": bytes(100_000_000)})
    assert os.path.getsize(model) < 1_000_000
    with pytest.raises(ValueError, match=r"MB would become 10\d MB in \d+ parts; the limit is"):
        load_model(model)


def test_a_bomb_within_a_matrix_is_not_unpacked(model, rewrite):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("data.npy", bytes(100_000_000))
    rewrite(model, parts={"matrix.npz": buffer.getvalue()})
    with pytest.raises(ValueError, match="would become 100 MB in 1 parts"):
        load_model(model)


def test_an_array_that_says_it_is_larger_is_refused(model, rewrite):
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    np.lib.format.write_array_header_1_0(buffer, header)
    rewrite(model, parts={"large.npy": buffer.getvalue()})
    with pytest.raises(ValueError, match=r"large\.npy says it is larger than it is"):
        load_model(model)


def test_a_model_beyond_the_limit_is_refused(model):
    with pytest.raises(ValueError, match=r"max_bytes"):
        load_model(model, max_bytes=1000)


@pytest.mark.parametrize("name", ["run.pkl", "code.py", "../outside"])
def test_other_parts_are_refused(name, model, rewrite):
    rewrite(model, parts={name: b""})
    with pytest.raises(ValueError, match="which no model has"):
        load_model(model)


# ---------------------------------------------------------------------- code


@pytest.mark.parametrize(
    ("module", "name", "loader"),
    [
        ("os", "system", "FunctionNode"),
        ("posix", "system", "FunctionNode"),
        ("builtins", "eval", "FunctionNode"),
        ("subprocess", "Popen", "TypeNode"),
        # What a module of this package merely imports is not of this package.
        ("metasampler.ensemble._mesa", "os", "FunctionNode"),
        ("metasampler.persistence._save", "tempfile", "TypeNode"),
        ("metasampler.datasets", "read_table", "FunctionNode"),
    ],
)
def test_names_of_others_are_refused(module, name, loader, model, rewrite):
    def plant(schema):
        node = {"__class__": name, "__module__": module, "__loader__": loader}
        content = schema["content"]["content"]
        content["scoring"] = node

    rewrite(model, schema=plant)
    with pytest.raises(ValueError, match=re.escape(f"holds {module}.{name}, which this package")):
        load_model(model)


def test_a_constructor_of_others_is_not_called(model, rewrite, tmp_path):
    victim = tmp_path / "victim"

    def plant(schema):
        arguments = {
            "__class__": "tuple",
            "__module__": "builtins",
            "__loader__": "TupleNode",
            "content": [
                {
                    "__class__": "str",
                    "__module__": "builtins",
                    "__loader__": "JsonNode",
                    "content": json.dumps(f"touch {victim}"),
                    "is_json": True,
                }
            ],
        }
        schema["content"]["content"]["scoring"] = {
            "__class__": "system",
            "__module__": "os",
            "__loader__": "ConstructorFromReduceNode",
            "content": arguments,
        }

    rewrite(model, schema=plant)
    with pytest.raises(ValueError, match=r"os\.system"):
        load_model(model)
    assert not victim.exists()


# ---------------------------------------------------------------------- trees


@pytest.mark.parametrize("field", ["left_child", "right_child", "feature"])
@pytest.mark.parametrize("value", [0, 10**9, -7])
def test_a_tree_that_points_out_of_itself_is_refused(field, value, model, rewrite):
    if field == "feature" and value == 0:
        pytest.skip("the first column is there")
    for name, content in parts(model).items():
        if not name.endswith(".npy"):
            continue
        array = np.load(io.BytesIO(content))
        if field in (array.dtype.names or ()):
            array[field][0] = value
            buffer = io.BytesIO()
            np.save(buffer, array)
            rewrite(model, parts={name: buffer.getvalue()})
            break
    else:
        raise AssertionError("no tree in the file")
    with pytest.raises(ValueError, match="a tree in it points out of itself"):
        load_model(model)


@pytest.fixture(scope="module")
def text():
    rng = np.random.default_rng(0)
    X = rng.random((500, 20))
    X[:, 3] = rng.integers(0, 20, len(X))
    y = (X[:, 3] % 3 == 0) ^ (X[:, 0] > 0.8)
    clf = LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(X, y, categorical_feature=[3])
    text = clf.booster_.model_to_string()
    assert "cat_boundaries" in text.split("Tree=1")[0]
    return text


@pytest.mark.parametrize("linear", [False, True])
def test_texts_of_lightgbm_pass(linear, table):
    X, y = table
    for n_classes in (2, 3):
        labels = np.arange(len(y)) % 3 if n_classes == 3 else y
        clf = LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1, linear_tree=linear)
        check_booster_text(clf.fit(X, labels).booster_.model_to_string())
    # A tree of a single leaf.
    clf = LGBMClassifier(n_estimators=1, min_child_samples=1000, n_jobs=1, verbose=-1).fit(X, y)
    check_booster_text(clf.booster_.model_to_string())


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"left_child=\S+", "left_child=0"),
        (r"right_child=\S+", "right_child=999999"),
        (r"left_child=\S+", "left_child=-99999"),
        (r"split_feature=\S+", "split_feature=20"),
        (r"split_feature=\S+", "split_feature=-1"),
        (r"leaf_value=\S+ ", "leaf_value="),
        (r"threshold=\S+ ", "threshold="),
        (r"num_leaves=\d+", "num_leaves=100000000"),
        (r"cat_boundaries=0 \d+", "cat_boundaries=0 500"),
        (r"num_cat=\d+", "num_cat=0"),
        (r"tree_sizes=\d+", "tree_sizes=100000000"),
        (r"tree_sizes=\d+ ", "tree_sizes="),
        (r"max_feature_idx=\d+", "max_feature_idx=-5"),
        (r"num_class=\d+", "num_class=2000000000"),
        (r"num_tree_per_iteration=\d+", "num_tree_per_iteration=2"),
        (r"^tree\n", "forest\n"),
        (r"end of trees", "and so on"),
    ],
)
def test_a_text_of_lightgbm_that_points_out_of_itself_is_refused(pattern, replacement, text):
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    if "tree" not in pattern and "max" not in pattern and "class" not in pattern:
        # The sizes are right, so that nothing but the content is wrong.
        blocks = re.findall(r"Tree=\d+\n.*?\n\n\n", changed, re.S)
        sizes = " ".join(str(len(block)) for block in blocks)
        changed = re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", changed)
    with pytest.raises(ValueError, match="LightGBM model"):
        check_booster_text(changed)


@pytest.mark.parametrize(
    "name",
    [
        *("split_gain", "threshold", "leaf_value", "leaf_weight", "leaf_count", "internal_value"),
        *("internal_weight", "internal_count", "shrinkage", "decision_type", "num_leaves"),
    ],
)
@pytest.mark.parametrize("letter", ["K", "_", "\x00", "%"])
def test_a_text_of_lightgbm_holds_numbers_alone(name, letter, text):
    # LightGBM aborts the process where one of these is none.
    changed = re.sub(rf"(\n{name}=[-.]?)\d", rf"\1{letter}", text, count=1)
    assert changed != text
    with pytest.raises(ValueError, match="LightGBM model in it"):
        check_booster_text(changed)


def test_a_booster_in_a_file_is_checked_before_it_is_read(model, rewrite):
    def plant(schema):
        for node in nodes(schema):
            if node.get("__class__") == "BoostedMember":
                entry = node["content"]["content"]["model"]
                changed = json.loads(entry["content"]).replace("left_child=", "left_child=0 ")
                entry["content"] = json.dumps(changed)

    rewrite(model, schema=plant)
    with pytest.raises(ValueError, match="LightGBM model in it"):
        load_model(model)


def test_a_booster_is_not_written_in_another_way(model, rewrite):
    def plant(schema):
        for node in nodes(schema):
            if node.get("__class__") == "BoostedMember":
                state = {"model": "tree", "n_classes": 2, "n_rounds_": 1}
                node["content"] = {
                    "__class__": "str",
                    "__module__": "builtins",
                    "__loader__": "JsonNode",
                    "content": json.dumps(state),
                    "is_json": True,
                }

    rewrite(model, schema=plant)
    with pytest.raises(ValueError, match="BoostedMember in it has no content"):
        load_model(model)


# ---------------------------------------------------------------------- the card


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "it has format 99, and this version"),
        ({"format": "x"}, "it has format 'x'"),
        ({"versions": None}, "is incomplete"),
    ],
)
def test_a_card_that_cannot_be_right_is_refused(change, message, model, rewrite):
    rewrite(model, metadata=lambda metadata: metadata.update(change))
    with pytest.raises(ValueError, match=message):
        load_model(model)


def test_sparse_tables_do_not_matter(table, tmp_path):
    X, y = table
    clf = MesaClassifier(DecisionTreeClassifier(), 2, meta_sampler=0.9, random_state=0)
    clf.fit(sparse.csr_matrix(X), y)
    save_model(clf, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
