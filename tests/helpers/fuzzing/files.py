"""Fuzz files: a damaged sampler, model or data set is read in full or refused, and runs nothing."""

import io
import json
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from fuzzing.outcomes import FINE, Finding, judge_error
from metasampler import MesaClassifier, MetaSampler, load_facts, load_model, save_model
from metasampler.policy import find_sampler
from metasampler_bench.datasets import load

FOLDER = Path(tempfile.mkdtemp(prefix="metasampler-fuzz-"))

#: Values that a reader of JSON may meet where it expects another.
ODD_VALUES = [
    *(None, True, False, 0, -1, 1, 2**63, 10**400, 1.5, -0.5, 1e308, float("inf"), float("nan")),
    *("", "abc", "os.system", [], [[]], [1], [-1], {}, {"a": 1}, "NaN", "a" * 5000),
]


@cache
def original(kind: str) -> bytes:
    """Return a file as it was written."""
    if kind == "sampler":
        return find_sampler("universal").read_bytes()
    path = FOLDER / f"original {kind}"
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    if kind == "data set":
        np.savez(path, data=X, label=y)
        return path.with_name(f"{path.name}.npz").read_bytes()
    members = {"model": 3, "model with LightGBM": None}[kind]
    clf = MesaClassifier(recipe="fast", n_estimators=members, random_state=0)
    if members is None:
        X, y = make_classification(600, 4, weights=[0.6], random_state=0)
    save_model(clf.fit(X, y), path)
    return path.read_bytes()


changes = st.one_of(
    st.tuples(st.just("cut"), st.floats(0, 1)),
    st.tuples(
        st.just("bytes"),
        st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=6),
    ),
    st.tuples(st.just("insert"), st.floats(0, 1), st.binary(min_size=1, max_size=20)),
    st.tuples(st.just("json"), st.floats(0, 1), st.sampled_from(ODD_VALUES)),
    st.tuples(st.just("json key"), st.floats(0, 1)),
    st.tuples(st.just("member"), st.floats(0, 1), st.sampled_from(["drop", "double", "empty"])),
    st.tuples(
        st.just("member bytes"),
        st.floats(0, 1),
        st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=6),
    ),
    st.tuples(
        st.just("array"),
        st.floats(0, 1),
        st.sampled_from(["<f4", "<f8", "<i8", "|b1", "<c16", "<U3", "|O", ">f8", "|S2"]),
        st.sampled_from([(), (0,), (1,), (3, 2), (10**6, 10**6), (-1,)]),
    ),
)


def damage(content: bytes, change: tuple) -> bytes:
    """Return a file with one change."""
    kind, *how = change
    if kind == "cut":
        return content[: int(how[0] * len(content))]
    if kind == "bytes":
        return _flip(content, how[0])
    if kind == "insert":
        at = int(how[0] * len(content))
        return content[:at] + how[1] + content[at:]
    members = _unzipped(content)
    names = list(members)
    if kind.startswith("json"):
        names = [name for name in names if name.endswith(".json") or name in _TEXTS]
        if not names:
            return _flip(content, [(how[0], 0)])  # there is no JSON in it
    name = names[int(how[0] * (len(names) - 1))]
    if kind == "member" and how[1] == "drop":
        del members[name]
    elif kind == "member" and how[1] == "double":
        return _zipped(members, twice=name)
    elif kind == "member":
        members[name] = b""
    elif kind == "member bytes":
        members[name] = _flip(members[name], how[1])
    elif kind == "array":
        members[name] = _fake_array(*how[1:])
    else:
        members[name] = _changed_json(name, members[name], change)
    return _zipped(members)


_TEXTS = ("content.npy", "header.npy")


def _flip(content, changes):
    changed = bytearray(content)
    for place, value in changes:
        if changed:
            changed[int(place * (len(changed) - 1))] = value
    return bytes(changed)


def _unzipped(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def _zipped(members, twice=None):
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")  # of two members of one name
        for name, content in members.items():
            archive.writestr(name, content)
        if twice is not None:
            archive.writestr(twice, members[twice])
    return buffer.getvalue()


def _fake_array(dtype, shape):
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (64 - (len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\x00" * 48


def _changed_json(name, content, change):
    """Change one value, or one key, somewhere in a JSON text."""
    in_array = name in _TEXTS
    if in_array:
        array = np.load(io.BytesIO(content))
        text = str(array) if array.dtype.kind == "U" else array.tobytes().decode()
    else:
        text = content.decode()
    table = json.loads(text)
    places = []

    def walk(node):
        pairs = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in pairs:
            places.append((node, key))
            if isinstance(value, (dict, list)):
                walk(value)

    walk(table)
    if places:
        node, key = places[int(change[1] * (len(places) - 1))]
        if change[0] == "json":
            node[key] = change[2]
        elif isinstance(node, dict):
            node[f"{key}x"] = node.pop(key)
    text = json.dumps(table)
    if not in_array:
        return text.encode()
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(text.encode(), np.uint8) if name == "content.npy" else text)
    return buffer.getvalue()


def attempt_sampler(change):
    """Read a changed sampler, and act by it."""
    path = FOLDER / "sampler.npz"
    path.write_bytes(damage(original("sampler"), change))
    try:
        sampler = MetaSampler.load(path)
    except Exception as error:
        return judge_error(error, kinds=(ValueError,), words="sampler.npz")
    try:
        repr(sampler), sampler.get_params(), sampler.summary_, sampler.history_
        states = np.linspace(0, 1, sampler.policy_.state_size)[np.newaxis]
        mu = sampler.policy_.mean_action(states) if hasattr(sampler.policy_, "mean_action") else 0
    except Exception as error:
        raise Finding(f"loaded, but does not act: {error!r}") from error
    if not np.isfinite(mu).all():
        raise Finding(f"acts by {mu}")
    return FINE


def attempt_model(case):
    """Read a changed model, and predict by it."""
    kind, change = case
    path = FOLDER / "model.mesa"
    path.write_bytes(damage(original(kind), change))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            model, metadata = load_model(path), load_facts(path)
        except Exception as error:
            return judge_error(error, kinds=(ValueError,), words="model.mesa")
    if not isinstance(metadata, dict):
        raise Finding(f"metadata are {metadata!r}")
    # What was changed may be a number that counts: the answers may be others, or an error.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.predict_proba(np.zeros((3, getattr(model, "n_features_in_", 4))))
    except Exception:
        return "read, another model"
    return FINE


model_cases = st.tuples(st.sampled_from(["model", "model with LightGBM"]), changes)


def attempt_data_set(change):
    """Read a changed data set."""
    path = FOLDER / "rows.npz"
    path.write_bytes(damage(original("data set"), change))
    try:
        rows = load(path)
    except Exception as error:
        return judge_error(error, kinds=(ValueError, TypeError), words="rows.npz")
    if len(rows.data) != len(rows.target):
        raise Finding("rows and labels of different lengths")
    return FINE
