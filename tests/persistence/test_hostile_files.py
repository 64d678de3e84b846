"""Damaged files and files of strangers: a clear error, no code run, no memory filled."""

import io
import json
import os
import struct
import subprocess
import sys
import tracemalloc
import warnings
import zipfile

import joblib
import numpy as np
import pytest
from model_files import PARTS, ModelFile, write_zip

from metasampler import load_facts, load_model


def test_what_was_taken_apart_is_put_together_again(stored, rows, tmp_path):
    again = load_model(ModelFile(stored[0]).write(tmp_path / "again.mesa"))
    X, _ = rows
    np.testing.assert_array_equal(again.predict_proba(X), stored[1].predict_proba(X))


def test_what_is_no_model_is_said_to_be_none(tmp_path, stored):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load_model(tmp_path / "nothing.mesa")
    (tmp_path / "text.mesa").write_text("a,b\n1,2\n" * 9)
    with pytest.raises(ValueError, match=r"text\.mesa .* not a model file"):
        load_model(tmp_path / "text.mesa")
    joblib.dump(stored[1], tmp_path / "model.joblib")
    with pytest.raises(ValueError, match=r"not a model file"):
        load_model(tmp_path / "model.joblib")
    (tmp_path / "empty.mesa").write_bytes(b"")
    with pytest.raises(ValueError, match="ends too early"):
        load_facts(tmp_path / "empty.mesa")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
def test_what_is_not_a_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.mesa")
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "pipe.mesa")


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_a_clear_error_or_does_no_harm(seed, stored, rows, tmp_path):
    rng = np.random.default_rng(seed)
    content = bytearray(stored[0].read_bytes())
    if seed % 3 == 0:
        content = content[: rng.integers(1, len(content))]
    else:
        for place in rng.integers(0, len(content), 1 if seed % 3 == 1 else 20):
            content[place] = rng.integers(256)
    path = tmp_path / "damaged.mesa"
    path.write_bytes(content)
    try:
        again = load_model(path)
    except ValueError as error:
        message = str(error)
    else:  # bytes that nothing depends on, as those of dates in the archive
        X, _ = rows
        np.testing.assert_array_equal(again.predict_proba(X), stored[1].predict_proba(X))
        message = path.name
    assert message.startswith("damaged.mesa")


def test_no_other_file_is_opened(stored, tmp_path):
    code = (
        "import sys, metasampler.persistence._loaders\n"
        "opened = []\n"
        "sys.addaudithook(lambda name, args: opened.append(args[0]) if name == 'open' else None)\n"
        "from metasampler import load_model\n"
        "load_model(sys.argv[1])\n"
        "opened = [each for each in opened if not str(each).endswith(('.py', '.pyc'))]\n"
        "assert opened == [sys.argv[1]], opened\n"
    )
    command = [sys.executable, "-c", code, str(stored[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------------- the zip file


def test_parts_have_their_order(changed, tmp_path):
    parts = changed.parts()
    path = write_zip(tmp_path / "m.mesa", {name: parts[name] for name in reversed(PARTS)})
    with pytest.raises(ValueError, match=r"it has no 'facts\.json' in its place"):
        load_model(path)


@pytest.mark.parametrize("name", PARTS)
def test_no_part_may_be_missing(name, changed, tmp_path):
    parts = changed.parts()
    del parts[name]
    with pytest.raises(ValueError, match=r"in its place|ends too early"):
        load_model(write_zip(tmp_path / "m.mesa", parts))


def test_what_other_readers_would_take_for_the_file_is_not_read(changed, rows, tmp_path):
    # A second directory, with other parts of the same names: zip tools read the last one.
    path = changed.write(tmp_path / "m.mesa")
    proba = load_model(path).predict_proba(rows[0])
    with zipfile.ZipFile(path, "a") as file, warnings.catch_warnings(action="ignore"):
        for name in PARTS:
            file.writestr(name, b"{}")
    np.testing.assert_array_equal(load_model(path).predict_proba(rows[0]), proba)


def test_nothing_may_stand_before_the_file(changed, tmp_path):
    path = changed.write(tmp_path / "m.mesa")
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    with pytest.raises(ValueError, match="not a model file"):
        load_model(path)


@pytest.mark.parametrize(
    ("place", "form", "value"),
    [
        (6, "<H", 1),  # encrypted
        (6, "<H", 8),  # sizes follow
        (8, "<H", 0),  # stored
        (8, "<H", 14),  # another method
        (14, "<I", 0),  # checksum
        (18, "<I", 0),  # no packed bytes
        (18, "<I", 2**32 - 1),
        (22, "<I", 0),  # no bytes
        (22, "<I", 10),
        (22, "<I", 2**24),
        (22, "<I", 2**32 - 1),  # zip64
        (26, "<H", 0),
        (26, "<H", 65535),
        (28, "<H", 20),  # extra fields
    ],
)
def test_a_lying_header_is_refused(place, form, value, changed, tmp_path):
    path = changed.write(tmp_path / "m.mesa")
    content = bytearray(path.read_bytes())
    struct.pack_into(form, content, place, value)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.mesa cannot be read as a model"):
        load_model(path)


def peak_of(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_long_names_of_types_are_not_kept(changed, refused):
    from metasampler.persistence import _loaders

    name = changed.document["type"] = "sklearn." + "x" * 1_000_000
    refused(changed)
    caches = [each for each in vars(_loaders).values() if hasattr(each, "cache_info")]
    known = [cache.cache_info().currsize for cache in caches]
    assert _loaders.kind_named(f"{name}y") is None
    assert [cache.cache_info().currsize for cache in caches] == known


@pytest.mark.parametrize("name", PARTS)
def test_a_bomb_is_not_unpacked(name, changed, tmp_path):
    parts = changed.parts() | {name: bytes(300_000_000)}
    path = write_zip(tmp_path / "m.mesa", parts)
    # How small it is depends on the version of zlib.
    assert os.path.getsize(path) < 3_000_000

    def load():
        with pytest.raises(ValueError, match=r"would become 300\.0 MB; the limit is"):
            load_model(path)

    assert peak_of(load) < 30_000_000


def test_a_short_file_does_not_say_that_it_is_long(changed, tmp_path):
    # The bytes that arrays may unpack to follow from those that they say they have.
    changed.document["state"]["actions_"] = {"array": np.zeros(15_000_000)}
    path = changed.write(tmp_path / "m.mesa")
    content = path.read_bytes()
    place = content.index(b"numbers.bin") - 30
    packed, size = struct.unpack_from("<II", content, place + 18)
    lying = bytearray(content[: place + 30 + len("numbers.bin") + packed])
    struct.pack_into("<I", lying, place + 18, size // 20 + 1)
    path.write_bytes(lying)

    def load():
        with pytest.raises(ValueError, match="it ends too early"):
            load_model(path)

    assert peak_of(load) < 30_000_000


def test_a_model_beyond_the_limit_is_refused(stored):
    with pytest.raises(ValueError, match="max_bytes"):
        load_model(stored[0], max_bytes=1000)


# ---------------------------------------------------------------------- the texts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[" * 5000, "recursion|nested"),
        (b'{"a":' * 5000, "recursion|nested"),
        (b"[" + b"{}," * 5_000_000 + b"{}]", "values; allowed are"),
        (b"1" * 60_000, "a number of 60,000 digits"),
        (b"1." + b"1" * 60_000, "it holds the number"),
        (b"1e999", "it holds the number 1e999"),
        (b'{"type": 1, "type": 2}', "says one thing twice"),
        (b"NaN", "which is not JSON"),
        (b"-Infinity", "which is not JSON"),
        (b'"\\ud800"', "holds no model"),
        (b"\xff\xfe", "decode"),
        (b"null", "holds no model"),
        (b"{}", "holds no model"),
        (b'{"type": "MesaClassifier"}', "no known form"),
        (b'{"type": "MesaClassifier", "state": []}', "has no state"),
        (b'{"type": ["x"], "state": {}}', "which no model has"),
        (b'{"type": "MesaClassifier", "state": {"__class__": 1}}', "not known"),
    ],
)
def test_a_text_is_not_taken_as_it_is(text, reason, changed, refused):
    def check():
        message = refused(changed, **{"model.json": text})
        assert any(part in message for part in reason.split("|")), message

    assert peak_of(check) < 200_000_000


def test_nesting_of_any_form_ends(changed, refused):
    for opening, closing in (("[", "]"), ('{"tuple":[', "]}"), ('{"dict":[["a",', "]]}")):
        deep = json.loads(opening * 80 + "1" + closing * 80)
        changed.document["state"]["scoring"] = deep
        assert "nested too deeply" in refused(changed)


@pytest.mark.parametrize(
    "value",
    [
        {"array": ["|O", [1]]},
        {"array": ["<f8", [10**9]]},
        {"array": ["<f8", [2**31, 2**31, 2**31, 2**31]]},
        {"array": ["<f8", [-1]]},
        {"array": ["<f8", [1.5]]},
        {"array": ["<f8", [0, 2**40]]},
        {"array": ["<f8", [1] * 40]},
        {"array": ["<U0", [2]]},
        {"array": ["<U99999999", [1]]},
        {"array": ["<c16", [1]]},
        {"array": ["<M8[ns]", [1]]},
        {"array": ["f8,O", [1]]},
        {"array": ["<f8", "1"]},
        {"array": [None, [1]]},
        {"array": 3},
        {"objects": [[3], [1]]},
        {"objects": [[2**40], []]},
        {"scalar": ["<f8", "x"]},
        {"scalar": ["<i8", 2**70]},
        {"scalar": ["|b1", 7]},
        {"float": "1"},
        {"float": []},
        {"dict": [[[], 1]]},
        {"dict": [["a", 1], ["a", 2]]},
        {"dict": [["a"]]},
        {"dict": 3},
        {"tuple": 3},
        {"tuple": [], "dict": []},
        {"ref": 0},
        {},
        "\ud800",
    ],
    ids=str,
)
def test_values_of_other_forms_are_refused(value, changed, refused):
    changed.document["state"]["scoring"] = value
    text = json.dumps(changed.document, default=lambda array: 0)
    # The arrays of the rest are not there; this one comes first.
    assert "MesaClassifier.scoring" not in text
    refused(changed, **{"model.json": text.encode()})


def test_texts_in_arrays_are_unicode(stored_pipeline, tmp_path, refused):
    file = ModelFile(stored_pipeline[0])
    classes = file.document["state"]["classes_"]["array"]
    for wrong in (0xD800, 0x110000, 2**32 - 1):
        classes.view(np.uint32)[0] = wrong
        assert "not Unicode" in refused(file)


def test_booleans_in_arrays_are_booleans(tmp_path, refused, stored_pipeline):
    file = ModelFile(stored_pipeline[0])
    file.document["state"]["scores_"] = {"array": np.full(3, 7, np.uint8).view(bool)}
    assert "neither true nor false" in refused(file)


def test_numbers_that_belong_to_nothing_are_refused(changed, refused):
    numbers = changed.parts()["numbers.bin"]
    assert "belong to nothing" in refused(changed, **{"numbers.bin": numbers + bytes(8)})


# ---------------------------------------------------------------------- types


@pytest.mark.parametrize(
    "name",
    [
        *("os.system", "builtins.eval", "subprocess.Popen", "lightgbm.basic.Booster"),
        *("metasampler.ensemble._mesa.os", "metasampler.datasets.read_table"),
        *("sklearn.svm.SVC", "sklearn.tree._tree.Tree", "sklearn.utils.os.system"),
        *("sklearn.pipeline.make_pipeline", "object", "", "numpy.save"),
    ],
)
def test_names_of_others_are_refused(name, changed, refused):
    changed.document["state"]["scoring"] = {"type": name, "state": {}}
    assert "which no model has" in refused(changed)


@pytest.mark.parametrize("name", ["os.system", "numpy.load", "numpy.save", "sklearn.metrics.x", ""])
def test_functions_of_others_are_refused(name, changed, refused):
    changed.document["state"]["scoring"] = {"type": "function", "state": {"name": name}}
    assert "function" in refused(changed)


def test_a_booster_of_lightgbm_takes_no_arguments(changed, refused, tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("tree\n")
    state = {"args": [str(victim)], "model_file": str(victim)}
    changed.nodes("BoostedMember")[0]["booster_"] = {"type": "Booster", "state": state}
    refused(changed)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("device_type", "gpu"),
        ("importance_type", "split predict_disable_shape_check=1"),
        ("input_model", "/dev/zero"),
        ("machines", "10.0.0.1:1"),
        ("n_jobs", 10**6),
        ("num_leaves", {"float": "nan"}),
        ("objective", "regression"),
        ("predict_disable_shape_check", True),
    ],
)
def test_settings_of_lightgbm_are_those_of_trees(name, value, changed, refused):
    changed.nodes("LGBMClassifier")[0][name] = value
    assert name in refused(changed)


# ---------------------------------------------------------------------- what belongs together


def edit(file, kind, name, change, number=0):
    """Change one entry of an object, which may be an array."""
    state = file.nodes(kind)[number]
    node = state[name]
    form = next(iter(node)) if isinstance(node, dict) and len(node) == 1 else None
    if form in ("array", "columns"):
        node[form] = change(node[form])
    else:
        state[name] = change(node)


def at(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


def to(value):
    return lambda _: value


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("n_features", to(10**9)),
        ("n_features", to(21)),
        ("n_features", to(0)),
        ("n_features", to(True)),
        *(("left", at(0, value)) for value in (0, 10**6, -7, 2)),
        *(("right", at(0, value)) for value in (0, 10**6, -7, 1, -1)),
        *(("feature", at(0, value)) for value in (20, -1, -2, 2**31 - 1)),
        ("threshold", at(0, np.nan)),
        ("values", lambda a: a[:-1]),
        ("values", lambda a: np.ones((len(a), 3))),
        ("values", lambda a: np.ones((len(a), 0))),
        ("values", lambda a: a.astype(np.float32)),
        ("values", at(0, np.nan)),
        ("left", lambda a: a[:0]),
        ("left", lambda a: a[:-1]),
        ("left", lambda a: a.astype(float)),
        ("left", lambda a: a.reshape(1, -1)),
        ("missing_go_to_left", at(0, 2)),
        ("weighted_n_node_samples", at(0, np.nan)),
        ("weighted_n_node_samples", at(0, -1)),
        ("n_node_samples", at(0, -1)),
    ],
)
def test_a_tree_is_checked(name, change, changed, refused):
    edit(changed, "Tree", name, change)
    refused(changed)


def test_a_tree_and_its_member_cannot_agree_on_columns_that_there_are_not(changed, refused):
    # Both say the same, and the table has fewer.
    edit(changed, "Tree", "n_features", to(2_000_000))
    edit(changed, "Tree", "feature", at(0, 1_999_999))
    states = changed.nodes("sklearn.tree.DecisionTreeClassifier")
    (member,) = (state for state in states if "tree_" in state)
    member["n_features_in_"] = 2_000_000
    assert "2000000 columns" in refused(changed)


def test_two_parents_of_a_node_are_one_too_many(changed, refused):
    # Each level twice the one before: a path that no tree of this size has.
    n = 60
    state = changed.nodes("Tree")[0]
    left = np.append(np.arange(1, n), -1).astype(np.int32)
    for name in ("left", "right"):
        state[name]["array"] = left
    for name in ("feature", "threshold", "impurity", "n_node_samples", "missing_go_to_left"):
        state[name]["array"] = np.zeros(n, state[name]["array"].dtype)
    state["weighted_n_node_samples"]["array"] = np.ones(n)
    state["values"]["array"] = np.ones((n, 2))
    assert "points out of itself" in refused(changed)


def test_a_tree_has_a_bounded_depth(changed, refused):
    n = 2001
    state = changed.nodes("Tree")[0]
    left, right = np.full((2, 2 * n + 1), -1, dtype=np.int32)
    left[0 : 2 * n : 2], right[0 : 2 * n : 2] = range(1, 2 * n, 2), range(2, 2 * n + 1, 2)
    for name, array in (("left", left), ("right", right)):
        state[name]["array"] = array
    for name in ("feature", "threshold", "impurity", "n_node_samples", "missing_go_to_left"):
        state[name]["array"] = np.zeros(2 * n + 1, state[name]["array"].dtype)
    state["weighted_n_node_samples"]["array"] = np.ones(2 * n + 1)
    state["values"]["array"] = np.ones((2 * n + 1, 2))
    assert "more than 1000 levels" in refused(changed)


BOOSTER = [
    ("n_features", to(10**9)),
    ("n_features", to(21)),
    ("n_features", to(3)),
    ("n_trees_a_round", to(20)),
    ("n_trees_a_round", to(100_000_000)),
    ("n_trees_a_round", to(0)),
    ("objective", to("multiclass")),
    ("objective", to("lambdarank")),
    ("objective", to("binary\nnum_class=7")),
    ("sigmoid", to(0)),
    ("sigmoid", to(-1)),
    ("sigmoid", to({"float": "inf"})),
    ("averages", to("yes")),
    ("best_iteration", to(10**6)),
    ("best_iteration", to(-2)),
    ("names", to(["a"])),
    ("names", to(["x y"] * 20)),
    ("names", to([f"a{k}\n" for k in range(20)])),
    ("names", to([f"a{k}" for k in range(19)] + ["\r"])),
    ("names", to(["a"] * 20)),
    ("pandas_categorical", to("x")),
    ("pandas_categorical", to([1])),
    ("shrinkage", at(0, np.nan)),
    ("shrinkage", at(0, 1e300)),
    ("shrinkage", lambda a: a[:-1]),
    ("num_leaves", at(0, 10**6)),
    ("num_leaves", at(0, 0)),
    ("num_leaves", at(0, -1)),
    ("num_leaves", lambda a: a[:0]),
    ("num_leaves", lambda a: a.astype(float)),
    ("num_cat", at(0, 1)),
    ("num_cat", at(0, -1)),
    ("is_linear", at(0, 1)),
    ("is_linear", at(0, 2)),
    *(("split_feature", at(0, value)) for value in (-1, 20, 2**31 - 1)),
    *(("left_child", at(0, value)) for value in (0, 1000, -1000, -(2**31))),
    *(("right_child", at(0, value)) for value in (0, 1000, -1000, -1)),
    *(("decision_type", at(0, value)) for value in (1, -1, 16, 127)),
    ("threshold", at(0, np.nan)),
    ("split_gain", at(0, np.nan)),
    *(("leaf_value", at(0, value)) for value in (np.nan, np.inf)),
    ("leaf_value", lambda a: a[:-1]),
    ("leaf_value", lambda a: a.astype(np.float32)),
    ("leaf_count", lambda a: a.astype(np.int64) + 2**40),
    ("internal_value", lambda a: np.append(a, a)),
    ("cat_boundaries", to(np.array([0, 500], np.int32))),
    ("cat_threshold", to(np.array([7], np.uint32))),
    ("leaf_features", to(np.array([7], np.int32))),
    ("num_features", to(np.array([-1], np.int32))),
]


@pytest.mark.parametrize(("name", "change"), BOOSTER)
def test_a_booster_is_checked(name, change, changed, refused):
    edit(changed, "Booster", name, change)
    refused(changed)


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("BoostedMember", "n_classes", to(3)),
        ("BoostedMember", "n_classes", to(1)),
        ("BoostedMember", "n_rounds_", to(4)),
        ("BoostedMember", "n_rounds_", to(0)),
        ("FittedTeam", "n_members", to(1)),
        ("FittedTeam", "n_members", to(3)),
        ("FittedTeam", "n_members", to(-2)),
        ("FittedTeam", "n_votes", to(0)),
        ("FittedTeam", "n_votes", to(10**9)),
        ("FittedTeam", "leaf_smoothing", to(-1)),
        ("FittedTeam", "leaf_smoothing", to({"float": "nan"})),
        ("FittedTeam", "estimator", to([])),
        ("FittedTeam", "estimator", lambda kinds: kinds[::-1]),
        ("FittedTeam", "estimator", to("fast")),
        ("SigmoidCalibration", "prior", at(0, 0)),
        ("SigmoidCalibration", "prior", at(0, np.nan)),
        ("SigmoidCalibration", "prior", at(0, -1)),
        ("SigmoidCalibration", "prior", lambda a: np.full(3, 1 / 3)),
        ("SigmoidCalibration", "functions", to([])),
        ("SigmoidCalibration", "functions", to([1])),
        ("SigmoidCalibration", "functions", lambda of: of * 2),
        ("Sigmoid", "slope", to({"float": "nan"})),
        ("Sigmoid", "slope", to("1")),
        ("Sigmoid", "intercept", to({"float": "-inf"})),
        ("TableForm", "wants", to("texts")),
        ("TableForm", "categorical_features", to([3])),
        ("TableForm", "_fill", to({"array": np.zeros(7)})),
        ("GrowthStep", "n_rows", to(-1)),
        ("GrowthStep", "class_errors", to({"array": np.zeros(5)})),
        ("GrowthStep", "totals", to({"tuple": [1, 2]})),
        ("GrowthStep", "rule", to("x")),
        ("MesaClassifier", "threshold_", to({"float": "nan"})),
        ("MesaClassifier", "threshold_", to(3)),
        ("MesaClassifier", "threshold_", to(None)),
        ("MesaClassifier", "expected_recall_", to(2)),
        ("MesaClassifier", "_rule", to({"tuple": ["top", -1]})),
        ("MesaClassifier", "_rule", to({"tuple": []})),
        ("MesaClassifier", "_rule", to({"tuple": [["top"], 1]})),
        ("MesaClassifier", "_rule", to(7)),
        ("MesaClassifier", "classes_", lambda a: a[:1]),
        ("MesaClassifier", "classes_", lambda a: np.zeros_like(a)),
        ("MesaClassifier", "classes_", lambda a: np.arange(3)),
        ("MesaClassifier", "classes_", lambda a: np.arange(100_000)),
        ("MesaClassifier", "classes_", lambda a: np.array([np.nan, 1])),
        ("MesaClassifier", "classes_", to({"objects": [[2], [[], 1]]})),
        ("MesaClassifier", "minority_class_", to(7)),
        ("MesaClassifier", "minority_class_", to(["x"])),
        ("MesaClassifier", "class_counts_", lambda a: -a),
        ("MesaClassifier", "class_counts_", lambda a: a[:1]),
        ("MesaClassifier", "n_features_in_", to(19)),
        ("MesaClassifier", "n_features_in_", to(10**9)),
        ("MesaClassifier", "n_features_in_", to("20")),
        ("MesaClassifier", "estimators_", to([])),
        ("MesaClassifier", "estimators_", lambda members: members[:1]),
        ("MesaClassifier", "estimators_", lambda members: members[::-1]),
        ("MesaClassifier", "estimators_", lambda members: [1, 2]),
        ("MesaClassifier", "estimators_samples_", to([])),
        ("MesaClassifier", "_members_of", to([])),
        ("MesaClassifier", "_members_of", lambda teams: teams * 2),
        ("MesaClassifier", "_steps", lambda steps: steps[:1]),
        ("MesaClassifier", "_blend", to({"type": "Blend", "state": {}})),
        ("MesaClassifier", "calibration_", to(None)),
        ("MesaClassifier", "_form", to(None)),
        ("TableForm", "names", to(["a"])),
        ("TableForm", "names", to("a")),
        ("TableForm", "names", to([["a"]] * 20)),
        ("MesaClassifier", "n_jobs", to(10**6)),
        ("MesaClassifier", "n_estimators", to("many")),
        ("MesaClassifier", "feature_names_in_", to({"objects": [[1], ["a"]]})),
        ("MesaClassifier", "held_out_scores_", to({"dict": [["x", "y"]]})),
        ("MesaClassifier", "actions_", to("x")),
        ("MesaClassifier", "something", to(1)),
    ],
)
def test_an_ensemble_is_checked(kind, name, change, changed, refused):
    if name == "something":
        changed.document["state"][name] = 1
    elif name == "feature_names_in_":
        changed.document["state"][name] = change(None)
    else:
        edit(changed, kind, name, change)
    refused(changed)


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("sklearn.linear_model.LogisticRegression", "coef_", lambda a: a[:, :-1]),
        ("sklearn.linear_model.LogisticRegression", "coef_", lambda a: np.ones((1000, 20))),
        ("sklearn.linear_model.LogisticRegression", "coef_", lambda a: a.astype("<U5")),
        ("sklearn.linear_model.LogisticRegression", "intercept_", lambda a: np.ones(7)),
        ("sklearn.linear_model.LogisticRegression", "n_jobs", to(10**9)),
        ("sklearn.linear_model.LogisticRegression", "predict_proba", to(1)),
        ("sklearn.preprocessing.StandardScaler", "mean_", lambda a: a[:-1]),
        ("sklearn.preprocessing.StandardScaler", "n_features_in_", to(10**9)),
        ("sklearn.pipeline.Pipeline", "steps", to([])),
        ("sklearn.pipeline.Pipeline", "steps", to([["a", 1]])),
        ("sklearn.pipeline.Pipeline", "memory", to("/tmp")),
    ],
)
def test_estimators_of_scikit_learn_are_checked(kind, name, change, stored_pipeline, refused):
    file = ModelFile(stored_pipeline[0])
    states = [
        number
        for number, state in enumerate(file.nodes(kind))
        if "classes_" in state or "mean_" in state or "steps" in state
    ]
    assert states
    if name == "predict_proba":
        file.nodes(kind)[states[-1]][name] = 1
    else:
        edit(file, kind, name, change, states[-1])
    refused(file)


# ---------------------------------------------------------------------- what is said of a model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "it has format 99, and this version"),
        ({"format": "x"}, "it has format 'x'"),
        ({"format": True}, "it has format True"),
        ({"versions": None}, "a wrong 'versions'"),
        ({"versions": {"numpy": 1}}, "a wrong 'versions'"),
        ({"versions": ["numpy"]}, "a wrong 'versions'"),
        ({"created": 3}, "a wrong 'created'"),
        ({"model": ["x"]}, "a wrong 'model'"),
        ({"settings": "x"}, "a wrong 'settings'"),
        ({"settings": {"a": []}}, "a wrong 'settings'"),
        ({"classes": 2}, "a wrong 'classes'"),
        ({"classes": {}}, "a wrong 'classes'"),
        ({"columns": "abc"}, "a wrong 'columns'"),
        ({"column_kinds": []}, "a wrong 'column_kinds'"),
        ({"column_kinds": {"a": 1}}, "a wrong 'column_kinds'"),
        ({"class_counts": [1]}, "a wrong 'class_counts'"),
        ({"class_counts": {"a": "x"}}, "a wrong 'class_counts'"),
        ({"summary": []}, "a wrong 'summary'"),
    ],
)
def test_facts_of_other_types_are_refused(change, message, changed, tmp_path):
    changed.facts.update(change)
    path = changed.write(tmp_path / "model.mesa")
    for load in (load_facts, load_model):
        with pytest.raises(ValueError, match=f"model.mesa cannot be read as a model: .*{message}"):
            load(path)


def test_facts_are_a_table(changed, tmp_path):
    for text in (b"[]", b"3", b'"x"', b"null"):
        path = changed.write(tmp_path / "model.mesa", **{"facts.json": text})
        with pytest.raises(ValueError, match="not a table"):
            load_facts(path)


def test_the_file_is_a_zip_file_that_any_tool_opens(stored):
    with zipfile.ZipFile(io.BytesIO(stored[0].read_bytes())) as file:
        assert file.namelist() == list(PARTS)
        assert file.testzip() is None
        assert json.loads(file.read("facts.json"))["model"] == "MesaClassifier"
