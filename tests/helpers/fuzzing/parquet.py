"""Fuzz fits on Parquet files and folders: the members of the same rows in memory, or an error."""

import shutil
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
from hypothesis import strategies as st

from fuzzing.outcomes import FINE, Finding, judge_error
from fuzzing.tables import codes_of, frames
from metasampler import MesaClassifier
from metasampler.datasets import ParquetRows
from metasampler.ensemble import SelfPacedEnsembleClassifier, UnderBaggingClassifier

FOLDER = Path(tempfile.mkdtemp(prefix="metasampler-fuzz-"))
SOURCE = FOLDER / "source"

LABELS = {
    "whole": lambda y, rng: y,
    "text": lambda y, rng: [f"k{k}" for k in y],
    "float": lambda y, rng: y.astype(float),
    "bool": lambda y, rng: y > 0,
    "category": lambda y, rng: pd.Categorical([f"k{k}" for k in y]),
    "missing": lambda y, rng: pd.Series(y, dtype="Int64").mask(rng.random(len(y)) < 0.1),
    "all missing": lambda y, rng: np.full(len(y), np.nan),
    "text with gaps": lambda y, rng: [None if rng.random() < 0.1 else f"k{k}" for k in y],
    "date": lambda y, rng: np.datetime64("2020-01-01", "ms") + y,
    "continuous": lambda y, rng: rng.normal(size=len(y)),
}

WEIGHTS = {
    "random": lambda n, rng: rng.exponential(size=n),
    "whole": lambda n, rng: rng.integers(0, 3, n),
    "negative": lambda n, rng: rng.normal(size=n),
    "missing": lambda n, rng: np.where(rng.random(n) < 0.1, np.nan, 1.0),
    "text": lambda n, rng: ["heavy"] * n,
    "too wide": lambda n, rng: 10.0 ** rng.uniform(-200, 200, n),
}

#: What happens to the files before the fit.
MISHAPS = ["cut", "other columns", "other types", "empty file", "no rows", "a text", "no file"]

_seldom = st.integers(0, 4).map(lambda number: number == 4)


@st.composite
def cases(draw):
    """Draw rows, how they lie in files, and what is asked of a fit."""
    n_rows = draw(st.sampled_from([30, 60, 120, 300]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    frame, kind = draw(frames(n_rows, kinds=("pandas",), odd=False))
    codes = codes_of(n_rows, draw(st.sampled_from([2, 2, 2, 3, 1])), 0.3, rng)
    label = draw(st.sampled_from(list(LABELS))) if draw(_seldom) else "whole"
    weight = draw(st.sampled_from(list(WEIGHTS))) if draw(_seldom) else None
    frame = frame.assign(**{"the label": LABELS[label](codes, rng)})
    if weight is not None:
        frame = frame.assign(**{"the weight": WEIGHTS[weight](n_rows, rng)})
    return {
        "table": kind,
        "rows": n_rows,
        "labels": label,
        "weights": weight,
        "files": draw(st.integers(1, 3)),
        "group": draw(st.sampled_from([5, 40, 1000])),
        "memory": draw(st.sampled_from(["2 GB", "1 MB", 20_000])),
        "class": draw(
            st.sampled_from([MesaClassifier] * 3 + [UnderBaggingClassifier] * 2)
            if not draw(_seldom)
            else st.just(SelfPacedEnsembleClassifier)
        ),
        "named": draw(st.sampled_from(["the label"] * 8 + ["nowhere", None, 3])),
        "mishap": draw(st.sampled_from(MISHAPS)) if draw(_seldom) else None,
        "X": frame,
    }


def _write(case):
    """Write the rows to files; return whether a file can hold them."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir()
    frame = case["X"]
    cuts = np.linspace(0, len(frame), case["files"] + 1).astype(int)
    try:
        for number, (start, stop) in enumerate(pairwise(cuts)):
            path = SOURCE / f"part-{number}.parquet"
            frame.iloc[start:stop].to_parquet(path, row_group_size=case["group"], index=False)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
        return False  # a column of numbers and texts, for one
    last, mishap = path, case["mishap"]
    if mishap == "cut":
        last.write_bytes(last.read_bytes()[: last.stat().st_size // 2])
    elif mishap == "other columns":
        pd.DataFrame({"other": [1.0, 2.0]}).to_parquet(last)
    elif mishap == "other types":
        frame.iloc[start:stop].assign(**{frame.columns[0]: "text"}).to_parquet(last, index=False)
    elif mishap == "empty file":
        last.write_bytes(b"")
    elif mishap == "no rows":
        frame.iloc[:0].to_parquet(SOURCE / "part-9.parquet", index=False)
    elif mishap == "a text":
        last.write_text("a,b\n1,2\n")
    elif mishap == "no file":
        shutil.rmtree(SOURCE)
    return True


def attempt(case):
    """Fit on files and on the same rows in memory."""
    if not _write(case):
        return FINE
    weight = None if case["weights"] is None else "the weight"
    work = FOLDER / "work"
    work.mkdir(exist_ok=True)
    options = {"weight": weight, "memory": case["memory"], "folder": work}
    clf = case["class"](n_estimators=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            clf.fit(ParquetRows(SOURCE, case["named"], **options))
        except Exception as error:
            return judge_error(error, kinds=(ValueError, TypeError, FileNotFoundError))
        finally:
            left = list(work.iterdir())
            if left:
                raise Finding(f"left behind: {left}")
        if case["mishap"] not in (None, "no rows"):
            return FINE  # the files hold other rows now
        frame = case["X"]
        names = [case["named"], weight] if weight else [case["named"]]
        table = frame.drop(columns=names)
        twin = case["class"](n_estimators=2, random_state=0)
        twin.fit(table, frame[case["named"]], sample_weight=frame[weight] if weight else None)
        proba = clf.predict_proba(table)
        if not np.array_equal(proba, twin.predict_proba(table)):
            raise Finding("other members than in memory")
        if not np.array_equal(proba, clf.predict_proba(ParquetRows(SOURCE, *names[:1], **options))):
            raise Finding("other probabilities from the files")
    return FINE


__all__ = ["attempt", "cases"]
