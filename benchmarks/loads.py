"""What large tables, many threads, many fits in a row and stored models take.

    python benchmarks/loads.py --output docs/results
    python benchmarks/loads.py --only rows-fast rows-lightgbm --output docs/results
    python benchmarks/loads.py --list

Every load runs in a process of its own, with one thread if it says nothing else. Memory is what the
process had at most (RSS) beyond what it had before the table was made. It is given as a multiple of
the table, which counts once itself. CPU seconds are those of the fit alone. With --output the
figures are added to loads.jsonl there, in the place of older ones, and loads.md shows them. The
largest load takes 4 GB of memory. Linux only: memory is read from /proc.
"""

import argparse
import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("scikit-learn", "lightgbm", "numpy", "pandas")


# ---------------------------------------------------------------------- tables


def rare(n_rows, n_columns, share=0.02):
    """Return rows of float64, made in parts: no more than the table is in memory."""
    X, y = np.empty((n_rows, n_columns)), np.empty(n_rows, dtype=np.int64)
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, 100_000):
        part = X[start : start + 100_000]
        rng.standard_normal(out=part)
        odds = 1.5 * part[:, 0] + part[:, 1] * part[:, 2] + rng.logistic(size=len(part))
        y[start : start + 100_000] = odds > np.quantile(odds, 1 - share)
    return X, y


def many_classes(n_rows, n_columns, n_classes):
    """Return rows of classes of different sizes, each around a centre of its own."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, n_classes + 1) ** 0.7
    y = rng.choice(n_classes, n_rows, p=shares / shares.sum())
    # Five rows of each are there in any case.
    y[: 5 * n_classes] = np.repeat(np.arange(n_classes), 5)
    centres = rng.normal(size=(n_classes, n_columns))
    return centres[y] + rng.normal(size=(n_rows, n_columns)), y


# ---------------------------------------------------------------------- what a process takes


def from_status(name):
    """Return an entry of /proc/self/status, in MB if it is memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            number = int(line.split()[1])
            return number / 1024 if line.endswith("kB") else number
    raise KeyError(name)


def n_descriptors():
    return len(os.listdir("/proc/self/fd"))


def measured_fit(model, make):
    """Return CPU seconds and memory of a fit on rows that ``make`` makes."""
    before = from_status("VmRSS")
    X, y = make()
    gc.collect()
    # The largest size is counted anew from here.
    Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    model.fit(X, y)
    cpu, peak = time.process_time() - start, from_status("VmHWM") - before
    data = X.nbytes / 2**20
    return {"cpu": round(cpu, 1), "data": round(data), "peak": round(peak), "x": peak / data}


# ---------------------------------------------------------------------- loads


def _ours(recipe="default", **settings):
    from metasampler import MesaClassifier

    return MesaClassifier(recipe=recipe, random_state=0, n_jobs=1, **settings)


def _lightgbm():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)


def large(model, *make):
    function, *arguments = make
    # The first fit of a process imports and builds what later ones share.
    model.fit(*rare(500, 5))
    return measured_fit(model, lambda: function(*arguments))


def in_threads(n_fits=30):
    """Return what fits at the same time in one process take, and whether they agree."""
    X, y = rare(4000, 10)
    expected = _ours("fast").fit(X, y).predict_proba(X)
    threads, start = threading.active_count(), time.process_time()
    with ThreadPoolExecutor(n_fits) as pool:
        models = list(pool.map(lambda _: _ours("fast").fit(X, y), range(n_fits)))
    same = sum(np.array_equal(model.predict_proba(X), expected) for model in models)
    return {
        "cpu": round(time.process_time() - start, 1),
        "fits": n_fits,
        "same": same,
        "more_threads": threading.active_count() - threads,
    }


def in_a_row(n_fits=200, before=20):
    """Return by how much memory, threads and descriptors grow, after some fits that warm up."""
    X, y = rare(2000, 8)
    n_used, start = [], time.process_time()
    for number in range(before + n_fits):
        clf = _ours("fast").fit(X, y)
        clf.predict_proba(X)
        if number in (before - 1, before + n_fits - 1):
            del clf
            gc.collect()
            # What is free, the allocator would keep for later.
            ctypes.CDLL(None).malloc_trim(0)
            n_used.append((from_status("VmRSS"), from_status("Threads"), n_descriptors()))
    (memory, threads, files), (memory_after, threads_after, files_after) = n_used
    return {
        "cpu": round(time.process_time() - start, 1),
        "fits": n_fits,
        "more_mb": round(memory_after - memory, 1),
        "more_threads": threads_after - threads,
        "more_descriptors": files_after - files,
    }


def stored(model, X, y):
    """Return the size of a stored model, and CPU seconds of loads: the first and a usual one."""
    from metasampler import load_model, save_model

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mesa"
        model.fit(X, y)
        save_model(model, path)
        seconds = []
        for _ in range(9):
            start = time.process_time()
            load_model(path)
            seconds.append(time.process_time() - start)
        n_bytes = path.stat().st_size
    return {"bytes": n_bytes, "load": float(np.median(seconds)), "slowest": max(seconds)}


def _pipeline():
    import pandas as pd
    from sklearn.pipeline import make_pipeline

    from metasampler.tables import TableCleaner

    X, y = rare(10_000, 10)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(10)])
    rng = np.random.default_rng(1)
    frame["shop"] = rng.choice([f"shop {k}" for k in range(200)], len(X))
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9000, len(X)), "h")
    return make_pipeline(TableCleaner(), _ours()), frame, y


LOADS = {
    "rows-fast": ("3,000,000 rows x 20, `fast`", lambda: large(_ours("fast"), rare, 3 * 10**6, 20)),
    "rows-default": ("3,000,000 rows x 20, default", lambda: large(_ours(), rare, 3 * 10**6, 20)),
    "rows-lightgbm": (
        "3,000,000 rows x 20, LightGBM",
        lambda: large(_lightgbm(), rare, 3 * 10**6, 20),
    ),
    "columns": ("2,000 rows x 20,000, default", lambda: large(_ours(), rare, 2000, 20_000)),
    "columns-lightgbm": (
        "2,000 rows x 20,000, LightGBM",
        lambda: large(_lightgbm(), rare, 2000, 20_000),
    ),
    "classes": (
        "15,000 rows x 20 of 300 classes, default",
        lambda: large(_ours(), many_classes, 15_000, 20, 300),
    ),
    "classes-lightgbm": (
        "15,000 rows x 20 of 300 classes, LightGBM",
        lambda: large(_lightgbm(), many_classes, 15_000, 20, 300),
    ),
    "threads": ("30 fits in 30 threads, `fast`", in_threads),
    "in-a-row": ("200 fits in a row, `fast`", in_a_row),
    "file-fast": ("`fast`, 10,000 rows x 20", lambda: stored(_ours("fast"), *rare(10_000, 20))),
    "file-default": ("default, 10,000 rows x 20", lambda: stored(_ours(), *rare(10_000, 20))),
    "file-best": ("`best`, 10,000 rows x 20", lambda: stored(_ours("best"), *rare(10_000, 20))),
    "file-classes": (
        "default, 10,000 rows of 30 classes",
        lambda: stored(_ours(), *many_classes(10_000, 20, 30)),
    ),
    "file-pipeline": (
        "cleaner and default, 10,000 rows of a frame",
        lambda: stored(*_pipeline()),
    ),
}


# ---------------------------------------------------------------------- what is stored and shown


def run(name):
    """Run a load in a process of its own, and return its row."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--one", name],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **threads},
    )
    result = json.loads(done.stdout.splitlines()[-1])
    commit = subprocess.run(
        ["git", "describe", "--always", "--abbrev=9", "--dirty=+", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    return {
        "load": name,
        "result": result,
        "command": f"python benchmarks/loads.py --only {name}",
        "commit": commit.stdout.strip() or "unknown",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "versions": {"python": platform.python_version()} | {p: version(p) for p in PACKAGES},
    }


def page(rows):
    """Return the figures in Markdown."""
    of = {row["load"]: row["result"] for row in rows}
    versions = {f"{name} {v}": None for row in rows for name, v in row["versions"].items()}
    lines = [
        "# What fits and stored models take",
        "",
        f"`python benchmarks/loads.py --output docs/results`; "
        f"{', '.join(sorted({row['date'] for row in rows}))}, commit "
        f"{', '.join(sorted({row['commit'] for row in rows}))}; {', '.join(versions)}.",
        "",
        "Each load ran in a process of its own with one thread, beside other work. Memory is what "
        "the process had at most beyond what it had before the table was made. A multiple of 1 is "
        "the table itself.",
    ]
    large, many, files = [], [], []
    for name, each in of.items():
        if "x" in each:
            cells = LOADS[name][0], each["cpu"], f"{each['data']:,}", f"{each['peak']:,}"
            large.append(f"| {' | '.join(map(str, cells))} | {each['x']:.1f} |")
        elif "fits" in each:
            others = [each.get(key, "") for key in ("more_mb", "more_threads", "more_descriptors")]
            n_others = each["fits"] - each["same"] if "same" in each else ""
            cells = LOADS[name][0], each["cpu"], *others, n_others
            many.append(f"| {' | '.join(map(str, cells))} |")
        else:
            cells = f"{each['bytes'] / 1000:,.0f}", f"{each['load']:.3f}", f"{each['slowest']:.3f}"
            files.append(f"| {LOADS[name][0]} | {' | '.join(cells)} |")
    for heads, body in (
        (["fit", "CPU seconds", "table, MB", "memory, MB", "multiple of the table"], large),
        (
            [
                *("fits", "CPU seconds", "more MB after", "more threads", "more open files"),
                "other results",
            ],
            many,
        ),
        (["stored model", "file, kB", "load, CPU seconds", "slowest of nine"], files),
    ):
        if body:
            ruler = f"|---|{'---:|' * (len(heads) - 1)}"
            lines += ["", f"| {' | '.join(heads)} |", ruler, *body]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=list(LOADS), metavar="LOAD")
    parser.add_argument("--list", action="store_true", help="name the loads and stop")
    parser.add_argument("--output", type=Path, help="a folder for loads.jsonl and loads.md")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name:<18} {title}" for name, (title, _) in LOADS.items()))
        return
    if options.one:
        warnings.simplefilter("ignore")
        print(json.dumps(LOADS[options.one][1]()))
        return
    fresh = {}
    for name in options.only or LOADS:
        fresh[name] = run(name)
        print(name, fresh[name]["result"], flush=True)
        if options.output:
            keep(options.output, fresh)
    if not options.output:
        print(page([*fresh.values()]))


def keep(folder, fresh):
    """Add rows to those that are stored by now, and write the page."""
    store, known = folder / "loads.jsonl", {}
    if store.exists():
        rows = map(json.loads, store.read_text(encoding="utf-8").splitlines())
        known = {row["load"]: row for row in rows}
    known |= fresh
    rows = [known[name] for name in LOADS if name in known]
    store.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "loads.md").write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
