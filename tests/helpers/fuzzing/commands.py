"""Fuzz command lines: odd files and options end in a result or in a message, never in a trace."""

import gzip
import os
import shutil
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
from hypothesis import strategies as st
from typer.testing import CliRunner

from fuzzing.outcomes import CLEAR, FINE, Finding
from metasampler.cli import app

FOLDER = Path(tempfile.mkdtemp(prefix="metasampler-fuzz-"))

_COLUMNS = {
    "number": lambda n, rng: rng.normal(size=n).round(3).astype(str),
    "whole": lambda n, rng: rng.integers(0, 9, n).astype(str),
    "gaps": lambda n, rng: np.where(rng.random(n) < 0.3, "", rng.integers(0, 9, n).astype(str)),
    "empty": lambda n, rng: np.full(n, ""),
    "text": lambda n, rng: rng.choice(["red", "green", "NA", "blue, dark"], n),
    "quotes": lambda n, rng: rng.choice(['say ""hi""', "it's", "a\tb", "x;y"], n),
    "code": lambda n, rng: rng.choice(["01067", "80331", "00"], n),
    "identifier": lambda n, rng: np.array([f"r{i:x}" for i in range(n)]),
    "counted": lambda n, rng: np.arange(n).astype(str),
    "huge": lambda n, rng: np.array([str(10**30 + i) for i in range(n)]),
    "very huge": lambda n, rng: np.array([str(10**400 + i) for i in range(n)]),
    "date": lambda n, rng: np.array([f"2023-01-{d:02}" for d in rng.integers(1, 29, n)]),
    "time": lambda n, rng: np.array([f"2023-01-{d:02}T10:00:00Z" for d in rng.integers(1, 29, n)]),
    "mixed": lambda n, rng: rng.choice(["1", "2.5", "x", "", "1e400", "-inf"], n),
    "constant": lambda n, rng: np.full(n, "7"),
    "bool": lambda n, rng: rng.choice(["True", "False"], n),
    "umlaut": lambda n, rng: rng.choice(["ä", "ö", "日本"], n),
    "markup": lambda n, rng: rng.choice(["[red]x[/]", "[/]", "<b>"], n),
}

_TARGETS = {
    "words": lambda bad, rng: np.where(bad, "yes", "no"),
    "numbers": lambda bad, rng: np.where(bad, "1", "0"),
    "floats": lambda bad, rng: np.where(bad, "1.0", "0.0"),
    "bool": lambda bad, rng: np.where(bad, "True", "False"),
    "markup": lambda bad, rng: np.where(bad, "[bold]", "[/]"),
    "three": lambda bad, rng: np.where(bad, "a", rng.choice(["b", "c"], len(bad))),
    "dates": lambda bad, rng: np.where(bad, "2020-01-01", "2021-01-01"),
    "huge": lambda bad, rng: np.where(bad, str(10**30), str(10**30 + 1)),
    "mixed": lambda bad, rng: np.where(bad, "1", "no"),
    "gaps": lambda bad, rng: np.where(rng.random(len(bad)) < 0.1, "", np.where(bad, "1", "0")),
    "all missing": lambda bad, rng: np.full(len(bad), ""),
    "one class": lambda bad, rng: np.full(len(bad), "no"),
    "quantity": lambda bad, rng: rng.normal(size=len(bad)).astype(str),
    "infinite": lambda bad, rng: np.where(bad, "inf", "0"),
    "one row": lambda bad, rng: np.where(np.arange(len(bad)) == 0, "yes", "no"),
}

_NAMES = ["a", "b", " c ", "d,e", 'f"g', "probability", "rank", "ü", "", "a", "[x]", "bad.1", "1"]

_SHAPES = [
    *("plain", "plain", "plain", "plain", "BOM", "semicolons", "tabs", "tsv", "bars", "quoted"),
    *("CRLF", "CR", "latin-1", "utf-16", "gzip", "not gzip", "cut gzip", "blank lines", "ragged"),
    *("no header", "only header", "empty", "one byte", "one column", "NUL", "long", "spaces"),
    *("parquet", "parquet", "parquet typed", "parquet nested", "parquet cut", "parquet index"),
    *("folder", "nothing", "other suffix"),
]

_THRESHOLDS = [
    *("balanced", "f1", "mcc", "0.3", "recall=0.9", "precision=0.8", "top=5", "top=10%", "cost=9"),
    *("cost=50:1", "recall=90%", "top=100000", "0", "1", "nan", "recall=2", "top=0", "top=-1"),
    *("cost=1e308:1e308", "cost=0:1", "cost=:", "f2", "", "=", "recall=", "recall=nan", "top=1e99"),
]

_OPTIONS = {
    "--threshold": _THRESHOLDS,
    "--positive": ["yes", "no", "1", "1.0", "YES", "a", "nobody", "", "True", "[/]"],
    "--drop": ["a", "a,b", "nowhere", "bad", "", ",", "d,e", '[x],"'],
    "--keep": ["a", "a,b", "nowhere", "bad", "", "ü", "1"],
    "--folds": ["0", "2", "1", "-1", "3", "100"],
    "--jobs": ["1", "2", "0", "-1", "x"],
    "--seed": ["0", "4294967295", "4294967296", "-1"],
    "--preset": ["fast", "none", "", "paper"],
    "--target": ["bad", "Bad", "nowhere", "a", ""],
}

_LATER = {
    "predict": {
        "--output": ["s.csv", "s.csv.gz", "s.parquet", "s.txt", "no/s.csv", "table.csv", ""],
        "--columns": ["all", "a", "a,b", "nowhere", "probability", "bad", "", "d,e"],
        "--chunk-rows": ["1", "7", "0", "1000000"],
    },
    "report": {
        "--target": ["bad", "nowhere", "a"],
        "--positive": ["yes", "1", "nobody", "no"],
        "--weight": ["a", "bad", "nowhere", "b"],
        "--title": ["<script>alert(1)</script>", "", "ü"],
        "--rows-a-day": ["0", "1e300", "nan", "inf", "-1"],
        "--cost": ["50:1", "1", ":", "nan:1", "-1:1", "1e400:1", "0:0"],
        "--top": ["0", "5", "100000", "-1"],
        "--repeats": ["0", "1"],
        "--output": ["r.html", "r.txt", "no/r.html"],
    },
}

_seldom = st.integers(0, 3).map(lambda number: number == 3)


@st.composite
def _options(draw, known, most=2):
    chosen = draw(st.lists(st.sampled_from(list(known)), max_size=most, unique=True))
    return [word for name in chosen for word in (name, draw(st.sampled_from(known[name])))]


@st.composite
def cases(draw):
    """Draw a file, the options of a command on it, and a second command on what it gave."""
    odd = draw(st.booleans())
    n_rows = draw(st.sampled_from([0, 1, 5, 20, 40] if draw(_seldom) else [30, 60, 90]))
    command = draw(st.sampled_from(["fit", "fit", "fit", "compare"]))
    options = draw(_options(_OPTIONS)) if odd or draw(_seldom) else []
    later = draw(st.sampled_from(list(_LATER)))
    return {
        "command": command,
        "options": options,
        "rows": n_rows,
        "columns": draw(st.lists(st.sampled_from(list(_COLUMNS)), min_size=1, max_size=5)),
        "names": draw(st.permutations(_NAMES)) if draw(_seldom) else list("ABCDEFGH"),
        "target": draw(st.sampled_from(list(_TARGETS))) if draw(_seldom) else "words",
        "shape": draw(st.sampled_from(_SHAPES)) if odd else "plain",
        "seed": draw(st.integers(0, 2**16)),
        "later": later,
        "later options": draw(_options(_LATER[later])),
        # Rows of another day: a table that is not quite that of the fit.
        "other rows": draw(
            st.sampled_from(["same", "same", "fewer columns", "more columns", "other kinds"])
        ),
    }


def _table(case, kinds):
    rng = np.random.default_rng(case["seed"])
    n_rows = case["rows"]
    names = list(case["names"][: len(kinds)])
    columns = [_COLUMNS[kind](n_rows, rng).tolist() for kind in kinds]
    names.append("bad")
    columns.append(_TARGETS[case["target"]](np.arange(n_rows) % 4 == 0, rng).tolist())
    return names, [list(row) for row in zip(*columns, strict=True)]


def _text(names, rows, separator=",", quote=False, end="\n"):
    def cell(value):
        needs = quote or any(sign in value for sign in (separator, '"', "\n"))
        return '"' + value.replace('"', '""') + '"' if needs else value

    lines = [separator.join(map(cell, line)) for line in [names, *rows]]
    return end.join(lines) + end


def _write(names, rows, shape, stem):
    """Write a table in some shape; return the path, or None if the shape cannot hold it."""
    path = Path(f"{stem}.csv")
    text = _text(names, rows)
    if shape.startswith("parquet") or shape == "folder":
        return _write_parquet(names, rows, shape, stem)
    if shape == "tsv":
        path = Path(f"{stem}.tsv")
    elif shape in ("gzip", "not gzip", "cut gzip"):
        path = Path(f"{stem}.csv.gz")
    elif shape == "other suffix":
        path = Path(f"{stem}.xlsx")
    separators = {"semicolons": ";", "tabs": "\t", "tsv": "\t", "bars": "|"}
    if shape in separators:
        text = _text(names, rows, separators[shape])
    packed = gzip.compress(text.encode())
    contents = {
        "BOM": "\ufeff" + text,
        "quoted": _text(names, rows, quote=True),
        "CRLF": _text(names, rows, end="\r\n"),
        "CR": _text(names, rows, end="\r"),
        "latin-1": text.encode("latin-1", "replace") + "Ä".encode("latin-1"),
        "utf-16": text.encode("utf-16"),
        "gzip": packed,
        "cut gzip": packed[: len(packed) // 2],
        "blank lines": "\n\n" + text.replace("\n", "\n\n"),
        "ragged": text + "1,2,3,4,5,6,7,8,9,10,11,12\n1\n",
        "no header": text.partition("\n")[2],
        "only header": text.partition("\n")[0] + "\n",
        "empty": "",
        "one byte": "\x00",
        "one column": _text(["bad"], [row[-1:] for row in rows]),
        "NUL": text.replace("e", "\x00"),
        "long": text.replace("no", "n" + "o" * 5000),
        "spaces": text.replace(",", " , "),
    }
    content = contents.get(shape, text)
    if shape != "nothing":
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _write_parquet(names, rows, shape, stem):
    frame = pd.DataFrame(rows, columns=names)
    if shape == "parquet typed":
        frame = frame.apply(lambda column: pd.to_numeric(column, errors="coerce"))
        frame["bad"] = pd.Categorical([row[-1] for row in rows])
        frame["when"] = pd.Timestamp("2023-01-01", tz="UTC")
        frame["price"] = pd.Series([2**60] * len(frame), dtype="Int64").mask(frame.index % 3 == 0)
    elif shape == "parquet nested":
        frame["list"] = [[1, 2]] * len(frame)
        frame["struct"] = [{"a": 1}] * len(frame)
        frame["bytes"] = [b"\xff"] * len(frame)
    elif shape == "parquet index":
        frame = frame.set_index(frame.columns[0])
    path = Path(f"{stem}.parquet")
    try:
        if shape == "folder":
            path.mkdir()
            frame.to_parquet(path / "part-0.parquet")
        else:
            frame.to_parquet(path)
    except (ValueError, TypeError, pyarrow.ArrowException):
        return None  # two columns of one name, for one
    if shape == "parquet cut":
        path.write_bytes(path.read_bytes()[:-20])
    return path


def _run(*words):
    """Run a command; return whether it gave what was asked for, or raise a `Finding`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = CliRunner().invoke(app, [str(word) for word in words])
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno} {last.name}"
        raise Finding(f"{words[0]} ends in {error!r:.300} ({place})") from error
    if result.exit_code not in (0, 1, 2):
        raise Finding(f"{words[0]} ends with code {result.exit_code}: {result.output[-300:]}")
    if result.exit_code and "Invalid value for MODEL" in result.output:
        raise Finding(f"{words[0]} refuses the model that fit has made: {result.output[-300:]}")
    if result.exit_code and len(result.output.strip()) < 20:
        raise Finding(f"{words[0]} says too little: {result.output!r}")
    loud = [w for w in caught if issubclass(w.category, RuntimeWarning)]
    if loud:
        place = f"{Path(loud[0].filename).name}:{loud[0].lineno}"
        raise Finding(f"{words[0]} warns: {loud[0].message} ({place})")
    hidden = [name for name in os.listdir() if name.startswith(".")]
    if hidden:
        raise Finding(f"{words[0]} left behind: {hidden}")
    return result.exit_code == 0


def attempt(case):
    """Run a command on a file, and if it made a model, a second one on rows of another day."""
    here = Path.cwd()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    os.chdir(FOLDER)
    try:
        path = _write(*_table(case, case["columns"]), case["shape"], "table")
        if path is None:
            return FINE
        words = [case["command"], path]
        if "--target" not in case["options"]:
            words += ["--target", "bad"]
        if case["command"] == "compare":
            options = [*case["options"]]
            if "--preset" in options:  # it has methods for that
                at = options.index("--preset")
                del options[at : at + 2]
            quick = ["--method", "tree", "--method", "mesa-fast", "--n-estimators", 2]
            return FINE if _run(*words, *quick, *options) else CLEAR
        for name, usual in (("--folds", "0"), ("--preset", "fast")):
            if name not in case["options"]:
                words += [name, usual]
        if not _run(*words, *case["options"]):
            return CLEAR
        if not Path("model.mesa").stat().st_size:
            raise Finding("an empty model")
        return _second(case, path)
    finally:
        os.chdir(here)


def _second(case, path):
    kinds = list(case["columns"])
    if case["other rows"] == "fewer columns":
        kinds = kinds[:-1]
    elif case["other rows"] == "more columns":
        kinds = [*kinds, "text"]
    elif case["other rows"] == "other kinds":
        kinds = ["text" if kind != "text" else "number" for kind in kinds]
    if case["other rows"] != "same":
        path = _write(*_table(case, kinds), case["shape"], "other")
        if path is None:
            return FINE
    if case["later"] == "predict":
        done = _run("predict", "model.mesa", path, *case["later options"])
        output = Path("scores.csv")
        if done and "--output" not in case["later options"]:
            scores = pd.read_csv(output)
            numbers = scores.filter(like="probability").to_numpy(dtype=float)
            if not np.isfinite(numbers).all() or not len(scores):
                raise Finding("scores that are not finite")
    else:
        quick = [] if "--repeats" in case["later options"] else ["--repeats", 0]
        done = _run("report", "model.mesa", path, *quick, *case["later options"])
    return FINE if done else CLEAR


__all__ = ["attempt", "cases"]
