"""Fuzz interrupts: after Ctrl-C at any moment an estimator is as before, and nothing is left.

The time of a process, not of the clock, says when: the phases of a fit are met on a busy machine
too.
"""

import gc
import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from fuzzing.outcomes import CLEAR, FINE, Finding
from metasampler import MesaClassifier, MetaSampler, load_model, save_model
from metasampler._writing import _remove_unfinished
from metasampler.cli import app
from metasampler.datasets import ParquetRows
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler_bench import ResultStore

FOLDER = Path(tempfile.mkdtemp(prefix="metasampler-fuzz-"))


@cache
def _rows():
    X, y = make_classification(500, 6, weights=[0.7], flip_y=0.1, random_state=0)
    return pd.DataFrame(X, columns=list("abcdef")), y


def _trees(**options):
    return MesaClassifier(DecisionTreeClassifier(max_depth=4), random_state=0, **options)


@cache
def _grown():
    return _trees(n_estimators=3, warm_start=True).fit(*_rows())


def _warm():
    clf = _trees(n_estimators=9, warm_start=True)
    clf.__dict__.update({k: v for k, v in vars(_grown()).items() if k.endswith("_") or k[0] == "_"})
    return clf


#: Estimators whose fit is interrupted: scouts, boosters beside trees, blends; the refit and what
#: is held out in turn; a warm start; rows in files; meta-training.
FITS = {
    "teams": lambda: MesaClassifier(n_estimators=3, random_state=0),
    "teams in threads": lambda: MesaClassifier(n_estimators=3, random_state=0, n_jobs=2),
    "fast": lambda: MesaClassifier(recipe="fast", random_state=0),
    "refit": lambda: _trees(n_estimators=6, refit=True, threshold="f1"),
    "warm start": _warm,
    "fitted before": lambda: _trees(n_estimators=4).fit(*_rows()),
    "bagging": lambda: UnderBaggingClassifier(n_estimators=10, n_jobs=2, random_state=0),
    "actor-critic": lambda: MetaSampler(
        n_estimators=3, trainer=SoftActorCritic(n_random_steps=10, n_updates=30), random_state=0
    ),
    "constants": lambda: MetaSampler(
        n_estimators=3, trainer=FitToConstants(n_sweeps=2, n_constants=3), random_state=0
    ),
}

COMMANDS = {
    "fit": ["fit", "t.csv", "--target", "y", "--preset", "fast", "--folds", "2"],
    "predict": ["predict", "kept.mesa", "t.csv", "--chunk-rows", "50"],
    "report": ["report", "kept.mesa", "t.csv", "--target", "y", "--output", "r.html"],
}

OTHERS = ["files", "save", "store"]

cases = st.tuples(
    st.sampled_from([*FITS, *FITS, *COMMANDS, *OTHERS]), st.floats(0, 1.05, allow_nan=False)
)


@cache
def _inputs() -> dict[str, bytes]:
    """Return the files that every attempt finds in its folder."""
    X, y = _rows()
    frame = X.assign(y=np.where(y == 1, "yes", "no"))
    with tempfile.TemporaryDirectory() as folder:
        frame.to_parquet(f"{folder}/t.parquet")
        frame.to_csv(f"{folder}/t.csv", index=False)
        save_model(
            MesaClassifier(recipe="fast", random_state=0).fit(X, frame["y"]), f"{folder}/kept.mesa"
        )
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def _fresh_folder():
    """Make the folder anew, and go there."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    os.chdir(FOLDER)
    for name, content in _inputs().items():
        (FOLDER / name).write_bytes(content)


def _interrupted(work, after: float) -> bool:
    """Run work and interrupt it after some time of the process; return whether it was."""
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_PROF, max(after, 1e-6))
        work()
        return False
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)


def _with_limit(what: str, work, part: float) -> bool:
    """Interrupt work after a part of the time that it takes."""
    known = set(threading.enumerate())
    try:
        was = _interrupted(work, part * _duration(what))
    except KeyboardInterrupt:  # in the last moment
        was = True
    left = [thread for thread in threading.enumerate() if thread not in known]
    # One that has nothing to do any more needs a moment to end, and on a busy machine long for it.
    worked, waited = time.process_time() + 0.2, time.monotonic() + 60
    while any(thread.is_alive() for thread in left):
        if time.process_time() > worked or time.monotonic() > waited:
            break
        time.sleep(0.01)
    if any(thread.is_alive() for thread in left):
        raise Finding(f"threads go on: {left}")
    return was


@cache
def _duration(what: str) -> float:
    """Return the seconds of the process that something takes, once all is imported."""
    for _ in range(2):
        _fresh_folder()
        work = _work(what)[0]
        start = time.process_time()
        work()
        seconds = time.process_time() - start
    return seconds


def _work(what: str):
    """Return what is to be done, and what checks how it was left."""
    X, y = _rows()
    if what in FITS:
        estimator = FITS[what]()
        before = dict(vars(estimator))
        return (lambda: estimator.fit(X, y)), (lambda was: _check_fit(what, estimator, before, was))
    if what == "files":
        clf = _trees(n_estimators=3)
        before = dict(vars(clf))
        (FOLDER / "work").mkdir(exist_ok=True)
        rows = ParquetRows(FOLDER / "t.parquet", "y", folder=FOLDER / "work")
        return (lambda: clf.fit(rows)), (lambda was: _check_files(clf, before, was))
    if what == "save":
        model = _grown()
        return (lambda: save_model(model, FOLDER / "kept.mesa")), (lambda was: _check_folder())
    if what == "store":
        store = ResultStore(FOLDER / "rows.jsonl")
        return (lambda: _write_rows(store)), (lambda was: _check_rows(store))
    return (lambda: _run(COMMANDS[what])), (lambda was: _check_folder(ended=True))


def attempt(case):
    """Interrupt something, look at what is left, and do it again."""
    what, part = case
    here = Path.cwd()
    try:
        _duration(what)
        _fresh_folder()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            work, check = _work(what)
            was = _with_limit(what, work, part)
            check(was)
    finally:
        os.chdir(here)
    return CLEAR if was else FINE


def _check_fit(what, estimator, before, was):
    learns = isinstance(estimator, MetaSampler)
    if was:
        after = vars(estimator)
        changed = [k for k in {*before, *after} if before.get(k) is not after.get(k)]
        # The interrupt may come between the end of a fit and its return.
        if changed and not np.array_equal(_answers(estimator), _expected(what)):
            raise Finding(f"changed by an interrupted fit: {sorted(changed)}")
        estimator.fit(*_rows())
    if learns and not was:  # an interrupt warns, and what was learned stays
        if not np.isfinite(estimator.choose(np.full(10, 0.1))):
            raise Finding("chooses nothing")
        return
    answers = _answers(estimator)
    if not np.array_equal(answers, _expected(what)):
        raise Finding(f"another {what} than without an interrupt")


def _answers(estimator):
    if isinstance(estimator, MetaSampler):
        return np.array([estimator.choose(np.full(10, 0.1))])
    return estimator.predict_proba(_rows()[0])


@cache
def _expected(what):
    return _answers(FITS[what]().fit(*_rows()))


def _check_files(clf, before, was):
    if list((FOLDER / "work").iterdir()):
        raise Finding(f"left behind: {list((FOLDER / 'work').iterdir())}")
    if was and vars(clf) != before:
        raise Finding("changed by an interrupted fit")


def _run(words):
    result = CliRunner().invoke(app, words)
    error = result.exception
    if isinstance(error, KeyboardInterrupt) or result.exit_code == 130:
        raise KeyboardInterrupt
    if error is not None and not isinstance(error, SystemExit):
        raise Finding(f"{words[0]} ends in {error!r}") from error
    if result.exit_code and "Aborted" in result.output:
        raise KeyboardInterrupt
    if result.exit_code:
        raise Finding(f"{words[0]} ends with {result.exit_code}: {result.output[-300:]}")


def _check_folder(*, ended=False):
    """Check that there are whole files only: now, or once the process of a command has ended."""
    # An interrupt may keep the frames that it went through, and what they hold, until here.
    gc.collect()
    if ended:
        _remove_unfinished()
    for path in FOLDER.iterdir():
        if path.name in ("t.csv", "t.parquet"):
            continue
        if path.suffix == ".mesa":
            load_model(path)
        elif path.name == "scores.csv":
            if len(pd.read_csv(path)) != len(_rows()[1]):
                raise Finding("a part of the scores")
        elif path.name != "r.html" or not path.read_text().rstrip().endswith("</html>"):
            raise Finding(f"left behind: {path.name}")


def _write_rows(store):
    with store.open_for_writing() as append:
        for number in range(60):
            append([{"cell": {"k": number}, "text": "x" * 200}])
    store.pack()


def _check_rows(store):
    numbers = [row["cell"]["k"] for row in store.rows()]
    if numbers != list(range(len(numbers))):
        raise Finding(f"rows are {numbers}")


__all__ = ["attempt", "cases"]
