"""Fuzz model files by their grammar: parts, texts, types, arrays, and what belongs together.

A case is a stored model and a number, from which a few changes are drawn. What is read then
predicts, and says of itself what it can. Beside errors that are not clear, these are findings: more
than five seconds, more than 300 MB, and any file, process or connection that is opened.
"""

import ctypes
import faulthandler
import gc
import json
import pickle
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import deque
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from model_files import PARTS, ModelFile, write_zip
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import metasampler
from fuzzing.outcomes import FINE, Finding, judge_error
from metasampler import MesaClassifier, MetaSampler, load_facts, load_model, save_model
from metasampler.drift import DriftMonitor
from metasampler.ensemble import SelfPacedEnsembleClassifier
from metasampler.explain import explain_rows
from metasampler.export import to_onnx
from metasampler.meta import FitToConstants
from metasampler.policy import Drawn, WithRivals, load_policy
from metasampler.report import make_report
from metasampler.tables import TableCleaner

FOLDER = Path(tempfile.mkdtemp(prefix="metasampler-fuzz-"))
PATH = FOLDER / "model.mesa"

MOST_SECONDS, MOST_BYTES = 5.0, 300 << 20

#: A call into C that never comes back ends the process after so many seconds.
HANGS_AFTER = 30


def _rows(n_classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)).round(2)
    cuts = [1.2, 1.9] if n_classes <= 3 else np.linspace(-0.6, 1.6, n_classes - 1)
    y = np.digitize(X[:, 0] + rng.normal(size=400), cuts[: n_classes - 1])
    return X, y


def _frame():
    X, y = _rows()
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    rng = np.random.default_rng(1)
    words = np.array(
        ["rain", "snow", "sun", "wind", "road", "tree", "car", "house", "loss", "crash"]
    )
    frame["text"] = [f"{' '.join(rng.choice(words, 6))} n{i}" for i in range(len(X))]
    frame["level"] = rng.choice(["x", "y", "z"], len(X))
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, len(X)), "h")
    return frame, np.where(y == 1, "bad", "good")


def _levels():
    """Return rows with a category of so many levels that boosters read it as numbers."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 110, 1800)
    frame = pd.DataFrame({"shop": [f"shop {code}" for code in codes]})
    frame["amount"] = rng.normal(size=len(codes))
    chances = np.where(codes < 12, 0.6, 0.05)
    return frame, (rng.random(len(codes)) < chances).astype(int)


def _with_rivals():
    sampler = WithRivals(load_policy("universal"), (0.5, 0.9))
    return _own(DecisionTreeClassifier(max_depth=2), meta_sampler=sampler)


def _with_a_sampler():
    trainer = FitToConstants(n_sweeps=1, n_constants=3)
    sampler = MetaSampler(n_estimators=3, trainer=trainer, random_state=0)
    return _own(DecisionTreeClassifier(max_depth=2), meta_sampler=Drawn(sampler))


def _own(*kinds, **settings):
    settings = {"meta_sampler": 0.9, "refit": False, "random_state": 0} | settings
    return MesaClassifier(list(kinds), 2, **settings)


_SMALL = {"n_estimators": 2, "num_leaves": 4, "n_jobs": 1, "verbose": -1}


def _by_categories():
    X, y = _rows()
    X[:, 1] = np.abs(X[:, 1] * 5).round()
    settings = {**_SMALL, "min_child_samples": 2, "cat_smooth": 1}
    return LGBMClassifier(**settings).fit(X, y, categorical_feature=[1]), X


def _search():
    pipe = make_pipeline(StandardScaler(), OneHotEncoder(handle_unknown="ignore"))
    model = _own(LogisticRegression())
    grid = GridSearchCV(make_pipeline(*pipe.named_steps.values(), model), {}, cv=2)
    X, y = _rows()
    X = X.round()
    return grid.fit(X, y), X


def _fitted(model, data):
    return model.fit(*data), data[0]


MODELS = {
    "trees and boosters": lambda: _fitted(
        _own(DecisionTreeClassifier(max_depth=3), LGBMClassifier(**_SMALL)), _rows()
    ),
    "three classes": lambda: _fitted(MesaClassifier(recipe="fast", random_state=0), _rows(3)),
    "a frame": lambda: _fitted(MesaClassifier(random_state=0, n_estimators=6), _frame()),
    "a cleaned frame": lambda: _fitted(
        make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0)), _frame()
    ),
    "categories": _by_categories,
    "many levels": lambda: _fitted(MesaClassifier(random_state=0, n_estimators=6), _levels()),
    "monotonic": lambda: _fitted(
        MesaClassifier(random_state=0, n_estimators=4, monotonic_cst=[1, -1, 0, 0, 0]), _rows()
    ),
    "twelve classes": lambda: _fitted(MesaClassifier(random_state=0, n_estimators=4), _rows(12)),
    "rivals": lambda: _fitted(_with_rivals(), _rows()),
    "a trained sampler": lambda: _fitted(_with_a_sampler(), _rows()),
    "linear leaves": lambda: _fitted(LGBMClassifier(**_SMALL, linear_tree=True), _rows(3)),
    "forests": lambda: _fitted(
        _own(RandomForestClassifier(2, max_depth=2), AdaBoostClassifier(n_estimators=2)), _rows()
    ),
    "a search": _search,
    "neighbours": lambda: _fitted(_own(KNeighborsClassifier(), MLPClassifier((3,))), _rows(3)),
    "self-paced": lambda: _fitted(SelfPacedEnsembleClassifier(n_estimators=3), _rows()),
}

_stored: dict = {}


def _original(name):
    """Return the bytes of a stored model, and rows for it."""
    if name not in _stored:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, X = MODELS[name]()
        save_model(model, PATH)
        load_facts(PATH)
        # What is imported or built only once counts for no file. Some models lack some uses.
        failed = [_use(load_model(PATH), X[:50], with_report=report) for report in (False, True)]
        _stored[name] = PATH.read_bytes(), X[:50], failed
        # It takes half a second to look at all that is imported, and this is free later.
        gc.collect()
        gc.freeze()
    return _stored[name]


# ---------------------------------------------------------------------- changes

_NUMBERS = [0, 1, -1, 2, 3, 7, 255, 256, 10**6, 2**31 - 1, -(2**31), 2**31, 2**53, 2**63, -(2**63)]
_NUMBERS += [10**30, 10**89, 0.5, -0.5, 1e-320, 1e300, 1.7e308, 1e-9]
_VALUES = [
    *_NUMBERS,
    *(None, True, False, "", "x", "\ud800", "a" * 5000, "/dev/zero", "../x", "\x00", "\n", "ß" * 9),
    *([], [0], [[]], {}, {"a": 1}, {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}),
    *({"tuple": []}, {"dict": []}, {"dict": [["a", 1]]}, {"objects": [[0], []]}),
    {"type": "function", "state": {"name": "numpy.exp"}},
    {"type": "function", "state": {"name": "os.system"}},
    {"scalar": ["<f8", 1.5]},
]
_TYPES = ["MesaClassifier", "Tree", "Booster", "LGBMClassifier", "RandomState", "function", "dtype"]
_TYPES += ["sklearn.tree.DecisionTreeClassifier", "sklearn.pipeline.Pipeline", "os.system", "x", ""]
_ODD = [0, 1, -1, 2, 5, 6, 127, -128, 255, 2**15, 2**31 - 1, -(2**31), 2**62, 0.5, -0.0, 1e300]
_ODD += [np.nan, np.inf, -np.inf, 5e-324]

# A change adds no more to a file, so that the fuzzer stays small itself.
_MOST_ADDED = 10_000_000
_DTYPES = ["<f8", "<f4", "<i8", "<i4", "|i1", "|u1", "<u4", "|b1", "<U1", "<U3", "<i2"]


def _containers(document):
    """Return all dicts and lists of a document."""
    found, waiting = [], [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (dict, list)):
            found.append(node)
            waiting.extend(node.values() if isinstance(node, dict) else node)
    return found


def _is_array(node):
    return isinstance(node, dict) and len(node) == 1 and next(iter(node)) in ("array", "columns")


def _entry(file, rng):
    """Return a place in the document: a container that is not empty, and a key."""
    document = file.document if rng.random() < 0.95 else file.facts
    places = [node for node in _containers(document) if node and not _is_array(node)]
    if not places:
        raise _NothingThere
    node = places[rng.integers(len(places))]
    keys = list(node) if isinstance(node, dict) else range(len(node))
    return node, keys[rng.integers(len(keys))]


def _pick(rng, values):
    return values[rng.integers(len(values))]


class _NothingThere(Exception):
    """An earlier change has left nothing to change in this way."""


def _to_a_value(file, rng):
    node, key = _entry(file, rng)
    node[key] = _pick(rng, _VALUES)


def _to_another_part(file, rng):
    (node, key), (other, name) = _entry(file, rng), _entry(file, rng)
    # A copy: a tree that holds itself has no end, here.
    text = json.dumps(other[name], default=lambda array: {"__array": 0})
    if len(text) < 100_000 and "__array" not in text:
        node[key] = json.loads(text)


def _without(file, rng):
    node, key = _entry(file, rng)
    del node[key]


def _twice(file, rng):
    node, key = _entry(file, rng)
    if isinstance(node, list):
        most = _MOST_ADDED // max(1, _size(node[key]))
        # Copies: what is changed in one place later must not change in a thousand.
        node.extend(deepcopy(node[key]) for _ in range(min(most, rng.choice([1, 2, 1000]))))
    else:
        node[f"{key}_"] = deepcopy(node[key])


def _size(value):
    """Return about how many bytes a part of a document takes in a file."""
    return len(json.dumps(value, default=lambda array: "0" * array.nbytes))


def _other_order(file, rng):
    node, _ = _entry(file, rng)
    if isinstance(node, list):
        node.reverse()


def _number_nearby(file, rng):
    for _ in range(30):
        node, key = _entry(file, rng)
        if isinstance(node[key], (int, float)):
            node[key] = node[key] + _pick(rng, [1, -1, 0.5, 10**9]) * _pick(rng, [1, node[key]])
            return


def _another_type(file, rng):
    nodes = [node for node in file.nodes() if "type" in node]
    if not nodes:
        raise _NothingThere
    node = _pick(rng, nodes)
    node["type"] = _pick(rng, [*_TYPES, *(each["type"] for each in nodes)])


def _arrays(file, rng):
    if not file.arrays():
        raise _NothingThere
    node, form = _pick(rng, file.arrays())
    return node, form, node[form]


def _odd_numbers(file, rng):
    node, form, array = _arrays(file, rng)
    if isinstance(array, np.ndarray) and array.size and array.dtype.kind in "iufb":
        array = array.copy()
        with np.errstate(all="ignore"):
            for _ in range(rng.integers(1, 4)):
                value = np.float64(_pick(rng, _ODD))
                array.flat[rng.integers(array.size)] = (
                    value.astype(array.dtype) if array.dtype.kind != "b" else value > 0
                )
        node[form] = array


def _other_bytes(file, rng):
    node, form, array = _arrays(file, rng)
    if isinstance(array, np.ndarray) and array.nbytes:
        content = bytearray(array.tobytes())
        for _ in range(rng.integers(1, 9)):
            content[rng.integers(len(content))] = rng.integers(256)
        node[form] = np.frombuffer(bytes(content), array.dtype).reshape(array.shape)


def _other_shape(file, rng):
    node, form, array = _arrays(file, rng)
    if isinstance(array, np.ndarray):
        flat = array.ravel()
        many = np.tile(flat, 50 if array.nbytes < _MOST_ADDED // 50 else 1)
        node[form] = _pick(
            rng,
            [
                *(flat[:-1], flat[:0], flat[:1], np.concatenate([flat, flat]), many),
                *(array[np.newaxis], array.T, array.reshape(-1, 1)),
                flat[::-1].reshape(array.shape),
            ],
        ).copy()


def _other_dtype(file, rng):
    node, form, array = _arrays(file, rng)
    if isinstance(array, np.ndarray) and array.dtype.kind in "iufb":
        with np.errstate(all="ignore"):
            node[form] = array.astype(_pick(rng, _DTYPES))


def _another_array(file, rng):
    (node, form, _), (_, _, other) = _arrays(file, rng), _arrays(file, rng)
    # What only looks like an array may hold the node itself, and a tree has no such paths.
    if isinstance(other, np.ndarray):
        node[form] = other


def _lying_array(file, rng):
    node, form, array = _arrays(file, rng)
    if isinstance(array, np.ndarray):
        shape = [int(_pick(rng, [0, 1, 2, 5, 2**31, 2**40, -1])) for _ in range(rng.integers(5))]
        node[form] = [_pick(rng, [*_DTYPES, "|O", "<c16", "<U0", "<M8[s]", array.dtype.str]), shape]


def _deeper(file, rng):
    node, key = _entry(file, rng)
    value = node[key]
    for _ in range(int(rng.choice([3, 40, 200]))):
        value = _pick(rng, [[value], {"tuple": [value]}, {"dict": [["a", value]]}])
    node[key] = value


def _larger(file, rng):
    node, key = _entry(file, rng)
    n = int(rng.choice([1000, 50_000, 400_000]))
    # Each its own: what is changed in one place later must not change in all.
    made = _pick(rng, [lambda: 0, list, dict, lambda: {"tuple": []}, None])
    node[key] = "x" * n if made is None else [made() for _ in range(n)]


CHANGES = [
    *(_to_a_value, _to_a_value, _to_a_value, _to_another_part, _without, _twice, _other_order),
    *(_number_nearby, _number_nearby, _another_type, _odd_numbers, _odd_numbers, _odd_numbers),
    *(_other_bytes, _other_shape, _other_dtype, _another_array, _lying_array, _deeper, _larger),
]


def _of_a_text(content, rng):
    """Change a text within a token."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(content)))
        token = _pick(rng, [b'"', b"{", b"[", b"]", b",", b"9" * 50, b"1e9", b"\\u0000", b"\xff"])
        content[place : place + int(rng.integers(3))] = token
    return bytes(content)


def _of_parts(parts, rng):
    """Change parts as a whole."""
    name = _pick(rng, PARTS)
    kind = rng.integers(6)
    if kind == 0:
        parts[name] = bytes(int(rng.choice([0, 1, 10**6, 40 * 10**6])))
    elif kind == 1:
        parts[name] = parts[name][: rng.integers(len(parts[name]) + 1)]
    elif kind == 2:
        parts[name] += parts[name]
    elif kind == 3:
        parts = {each: parts[each] for each in rng.permutation(PARTS).tolist()}
    elif kind == 4:
        del parts[name]
    else:
        parts = {f"{each}x" if each == name else each: parts[each] for each in parts}
    return parts


def _of_bytes(content, rng):
    """Change the bytes of the zip file, mostly those of its headers."""
    content = bytearray(content)
    starts = [place for place in range(len(content) - 4) if content[place : place + 2] == b"PK"]
    for _ in range(rng.integers(1, 5)):
        near = _pick(rng, starts) + int(rng.integers(46))
        place = near if rng.random() < 0.7 else int(rng.integers(len(content)))
        content[min(place, len(content) - 1)] = rng.integers(256)
    if rng.random() < 0.2:
        content = content[: rng.integers(len(content))]
    return bytes(content)


@cache
def _taken_apart(original):
    # To copy it is far quicker than to read it.
    PATH.write_bytes(original)
    return pickle.dumps(ModelFile(PATH))


def changed(original, number):
    """Return the bytes of a changed file."""
    rng = np.random.default_rng(number)
    level = rng.random()
    if level < 0.06:
        return _of_bytes(original, rng)
    file = pickle.loads(_taken_apart(original))
    if level > 0.16:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            with suppress(_NothingThere):
                _pick(rng, CHANGES)(file, rng)
    parts = file.parts()
    if level < 0.11:
        parts = _of_parts(parts, rng)
    elif level < 0.16:
        name = _pick(rng, PARTS[:2])
        parts[name] = _of_a_text(parts[name], rng)
    return write_zip(PATH, parts).read_bytes()


# ---------------------------------------------------------------------- attempts

_opened: list | None = None
_EVENTS = ("open", "os.exec", "os.fork", "os.posix_spawn", "os.system", "subprocess.Popen")
_EVENTS += ("socket.connect", "socket.__new__", "os.listdir", "os.remove", "os.mkdir", "os.rename")


def _watch(event, arguments):
    if _opened is not None and event in _EVENTS:
        _opened.append(f"{event} {arguments[0] if arguments else ''}")


sys.addaudithook(_watch)


def _memory():
    """Return the bytes of memory that this process has had at most since it was asked to forget."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


def _forget_memory():
    # What is free goes back first: else a file could take that, unseen.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def _monitored(model, X):
    monitor = DriftMonitor(model)
    monitor.add(X)
    return monitor.report()


def _use(model, X, *, with_report=False):
    """Predict, and let a model say of itself all that it can; return how many uses failed."""
    steps = [
        model,
        getattr(model, "best_estimator_", None),
        *getattr(model, "named_steps", {}).values(),
    ]
    uses: list = [
        lambda: model.predict_proba(X),
        lambda: model.predict(X),
        lambda: model.drift(X),
        lambda: model.top_rows(X, 5),
        lambda: deque(model.staged_predict_proba(X), maxlen=1),
        lambda: clone(model),
        lambda: model.get_params(deep=True),
        lambda: model.set_threshold(("cost", 5, 1)).predict(X),
        lambda: model._repr_html_(),
    ]
    for step in filter(None, steps):
        uses += [lambda step=step: step.summary(), lambda step=step: step.feature_importances_]
        uses += [lambda step=step: repr(step), lambda step=step: step.get_feature_names_out()]
    if with_report:
        uses += [
            lambda: make_report(model, X, n_repeats=0, n_resamples=10),
            lambda: explain_rows(model, X[:5]),
            lambda: _monitored(steps[-1], X),
            lambda: to_onnx(model),
            lambda: save_model(model, PATH),
        ]
    failed = 0
    for use in uses:
        try:
            str(use())
        except (MemoryError, RecursionError, SystemError) as error:
            raise Finding(f"read, and then {error!r} ({_place_of(error)})") from error
        except Exception:
            failed += 1
    return failed


def _place_of(error):
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def attempt(case):
    """Read a changed file and use it."""
    global _opened
    name, number = case
    original, X, failed = _original(name)
    expected = failed[number % 8 == 0]
    PATH.write_bytes(changed(original, number))
    packed = PATH.stat().st_size
    _forget_memory()
    before, start = _memory(), time.process_time()
    faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
    _opened = []
    try:
        outcome = _read_and_use(X, number, expected)
    finally:
        opened, _opened = _opened, None
        faulthandler.cancel_dump_traceback_later()
    seconds, peak = time.process_time() - start, _memory() - before
    if seconds > MOST_SECONDS:
        raise Finding(f"took {seconds:.1f} seconds ({outcome})")
    if peak > MOST_BYTES + packed:
        raise Finding(f"took {peak >> 20} MB for {packed:,} bytes ({outcome})")
    # A model that is stored again is written beside the file.
    others = sorted({each for each in opened if str(FOLDER) not in each and not _is_ours(each)})
    if others:
        raise Finding(f"touched {others[:5]}")
    return outcome


# Where Python and the packages read their own code, and how many threads there may be.
_CODE = (str(Path(file).parent) for file in (metasampler.__file__, __file__))
_OURS = (sys.prefix, sys.base_prefix, *_CODE, "/sys/", "/proc/")


def _is_ours(event):
    return any(f" {folder}" in event for folder in _OURS) or "max_cpus" in event


def _read_and_use(X, number, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            load_facts(PATH)
            model = load_model(PATH)
        except Exception as error:
            if isinstance(error.__cause__, (MemoryError, RecursionError, SystemError)):
                raise Finding(f"{error.__cause__!r} ({_place_of(error.__cause__)})") from error
            return judge_error(error, kinds=(ValueError,), words="model.mesa")
        failed = _use(model, X, with_report=number % 8 == 0)
    return FINE if failed == expected else "read, and some uses fail"


# A crash is a finding, and its memory is of no use.
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
# What asks for more than this ends in a MemoryError, and is found by what it took.
resource.setrlimit(resource.RLIMIT_DATA, (3 << 30, 3 << 30))
cases = st.tuples(st.sampled_from(list(MODELS)), st.integers(0, 2**40))

__all__ = ["attempt", "cases"]
