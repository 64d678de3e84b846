"""Fuzz stores of results: damage is a clear error or costs the damaged end, kills cost nothing."""

import json
import os
import signal
import tempfile
from pathlib import Path

from full_disk import full_disk
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from fuzzing.outcomes import CLEAR, FINE, Finding, judge_error
from metasampler import MesaClassifier, MetaSampler, save_model
from metasampler.policy import find_sampler
from metasampler_bench import ResultStore
from metasampler_bench._rows import last_rows

FOLDER = Path(tempfile.mkdtemp(prefix="metasampler-fuzz-"))
ROWS = [{"cell": {"k": k, "in": {"ner": [k]}}, "seed": 0, "score": k / 7} for k in range(6)]

# ---------------------------------------------------------------------- damage

damages = st.tuples(
    st.integers(0, 6),  # rows that are packed
    st.sampled_from(["log", "packed"]),
    st.one_of(
        st.tuples(st.just("cut"), st.floats(0, 1)),
        st.tuples(
            st.just("bytes"),
            st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=5),
        ),
        st.tuples(st.just("insert"), st.floats(0, 1), st.binary(min_size=1, max_size=12)),
        st.tuples(st.just("line"), st.floats(0, 1), st.text(max_size=20)),
    ),
)


def _fresh(n_packed):
    store = ResultStore(FOLDER / "rows.jsonl")
    store.path.unlink(missing_ok=True)
    store.packed.unlink(missing_ok=True)
    with store.open_for_writing() as append:
        append(ROWS[:n_packed])
    if n_packed:
        store.pack()
    with store.open_for_writing() as append:
        append(ROWS[n_packed:])
    return store


def _changed(content, change):
    kind, *how = change
    if kind == "cut":
        return content[: int(how[0] * len(content))]
    if kind == "insert":
        at = int(how[0] * len(content))
        return content[:at] + how[1] + content[at:]
    if kind == "line":
        lines = content.split(b"\n")
        lines.insert(int(how[0] * len(lines)), how[1].encode("utf-8", "surrogatepass"))
        return b"\n".join(lines)
    changed = bytearray(content)
    for place, value in how[0]:
        if changed:
            changed[int(place * (len(changed) - 1))] = value
    return bytes(changed)


def attempt_damage(case):
    """Read, write and pack a damaged store."""
    n_packed, which, change = case
    store = _fresh(n_packed)
    path = store.packed if which == "packed" and store.packed.is_file() else store.path
    path.write_bytes(_changed(path.read_bytes(), change))
    new = {"cell": {"k": "new"}, "seed": 1}
    try:
        before = store.rows()
        last_rows(before)
        with store.open_for_writing() as append:
            append([new])
        after = store.rows()
        store.pack()
    except Exception as error:
        return judge_error(error, kinds=(ValueError,))
    if after != [*before, new] or store.rows() != after:
        raise Finding(f"{len(before)} rows, and {len(after)} after one more")
    return FINE


# ---------------------------------------------------------------------- kills

#: The calls after which, or within which, a process is killed.
CALLS = ("write", "fsync", "replace", "ftruncate", "open")

kills = st.tuples(
    st.sampled_from(["append", "pack", "sampler", "model"]),
    st.sampled_from(CALLS),
    st.integers(0, 4),
    st.booleans(),
    st.integers(0, 5),
)


def _killing(call, countdown, halfway):
    """Return a call of the operating system that kills this process at some time."""
    real = getattr(os, call)

    def killed(*arguments):
        nonlocal countdown
        countdown -= 1
        if countdown >= 0:
            return real(*arguments)
        if halfway and call == "write":
            real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
        elif halfway:
            real(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    return killed


def _in_child(work):
    """Run work in a forked process; return whether it came to its end."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


_model = None


def _fitted():
    global _model
    if _model is None:
        X, y = make_classification(100, 4, weights=[0.8], random_state=0)
        _model = MesaClassifier(recipe="fast", n_estimators=3, random_state=0).fit(X, y)
    return _model


def attempt_kill(case):
    """Kill a process while it writes: what was there is there, and no row is half or twice."""
    what, call, countdown, halfway, n_packed = case
    if what in ("append", "pack"):
        store = _fresh(n_packed)
        more = [{"cell": {"k": 100 + k}} for k in range(3)]

        def work():
            setattr(os, call, _killing(call, countdown, halfway))
            if what == "pack":
                store.pack()
            with store.open_for_writing() as append:
                for row in more:
                    append([row])

        finished = _in_child(work)
        rows = store.rows()
        kept = len(rows) - len(ROWS)
        if rows != [*ROWS, *more[:kept]] or (finished and kept != len(more)):
            raise Finding(f"after the kill there are {rows}")
        with store.open_for_writing() as append:
            append(more[kept:])
        store.pack()
        if store.rows() != [*ROWS, *more]:
            raise Finding(f"going on gives {store.rows()}")
        return FINE
    path = FOLDER / f"kept {what}"
    path.write_bytes(before := b"what was there")
    model = _fitted() if what == "model" else MetaSampler.load(find_sampler("universal"))

    def work():
        setattr(os, call, _killing(call, countdown, halfway))
        save_model(model, path) if what == "model" else model.save(path)

    finished = _in_child(work)
    content = path.read_bytes()
    for left in FOLDER.glob("kept *"):
        left.unlink()
    if content != before:
        if finished or content[:2] == b"PK":
            return FINE
        raise Finding(f"{len(content)} bytes of something else")
    if finished:
        raise Finding("said that it was done, and nothing is there")
    return FINE


# ---------------------------------------------------------------------- full disks

disks = st.tuples(
    st.sampled_from(["append", "pack", "sampler", "model"]),
    st.integers(0, 30_000),
    st.integers(0, 5),
)


def attempt_disk(case):
    """Write to a disk with room for a number of bytes: all is written, or the file is named."""
    what, room, n_packed = case
    if what in ("append", "pack"):
        store = _fresh(n_packed)
        row = {"cell": {"k": "new"}, "text": "x" * 500}
        try:
            with full_disk(
                store.path.stat().st_size + room // 20 if what == "append" else room // 60
            ):
                if what == "pack":
                    store.pack()
                else:
                    with store.open_for_writing() as append:
                        append([row])
        except Exception as error:
            judge_error(error, kinds=(OSError,), words="rows.jsonl")
            outcome, expected = CLEAR, ROWS
        else:
            outcome, expected = FINE, ROWS if what == "pack" else [*ROWS, row]
        if store.rows() != expected:
            raise Finding(f"rows are lost: {json.dumps(store.rows())}")
        return outcome
    path = FOLDER / f"full {what}"
    path.write_bytes(before := b"what was there")
    model = _fitted() if what == "model" else MetaSampler.load(find_sampler("universal"))
    try:
        with full_disk(room):
            save_model(model, path) if what == "model" else model.save(path)
    except Exception as error:
        outcome = judge_error(error, kinds=(OSError,), words=path.name)
        if path.read_bytes() != before:
            raise Finding("what was there is lost") from error
    else:
        outcome = FINE
    path.unlink()
    left = [other.name for other in FOLDER.glob("full *")]
    if left:
        raise Finding(f"left behind: {left}")
    return outcome
