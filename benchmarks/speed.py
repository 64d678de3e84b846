"""Speed as ratios of CPU time within one run: medians of interleaved repeats, one thread.

    python benchmarks/speed.py                       all parts
    python benchmarks/speed.py --only meta-training  one of them
    python benchmarks/speed.py --only baselines --python elsewhere/bin/python

A ratio compares what this run measured with what this run measured: machines are noisy, seconds
are only there to give an idea. Meta-training uses the authors' Mammography split where
METASAMPLER_DATA_HOME has it, and otherwise made-up data of the same shape. The baselines are also
compared with imbalanced-ensemble, which cannot be installed beside a current scikit-learn: with
--python in the interpreter that has it, otherwise by seconds that were measured elsewhere.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import cProfile
import pstats
import subprocess
import sys
import time
import tracemalloc
from statistics import median

import numpy as np
from imblearn import ensemble as imblearn_ensemble
from imblearn.ensemble import BalancedBaggingClassifier
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler, ensemble
from metasampler_bench.datasets import load_mesa_mammography

console = Console(width=110)


def measure(functions, repeats):
    """CPU and wall seconds of each function: medians over interleaved repeats."""
    for function in functions.values():
        function()  # imports and caches
    times = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            cpu, wall = time.process_time(), time.perf_counter()
            function()
            times[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {
        name: (median(cpu for cpu, _ in pairs), median(wall for _, wall in pairs))
        for name, pairs in times.items()
    }


def report(title, times, reference, limits, note=""):
    """Print the times, and their ratio to the reference."""
    table = Table(title=title, caption=note or None, title_justify="left")
    for column in ("", "CPU s", "wall s", "ratio of CPU", "goal"):
        table.add_column(column, justify="left" if not column else "right")
    for name, (cpu, wall) in times.items():
        ratio = cpu / times[reference][0]
        limit = limits.get(name)
        mark = "" if limit is None else f"<= {limit}" + ("" if ratio <= limit else "  MISSED")
        table.add_row(name, f"{cpu:.3f}", f"{wall:.3f}", f"{ratio:.2f}", mark)
    console.print(table)


def mammography():
    """Return the authors' split, or made-up data of its shape."""
    try:
        parts = load_mesa_mammography()
        return "authors' Mammography split", parts["train"], parts["valid"]
    except FileNotFoundError:
        rng = np.random.default_rng(0)
        made = []
        for n, n_positive in ((6709, 156), (2237, 52)):
            y = (np.arange(n) < n_positive).astype(int)
            made.append((rng.normal(size=(n, 6)) + 1.2 * y[:, np.newaxis], y))
        return "made-up data of Mammography's shape", *made


def meta_training(repeats):
    """Meta-training against nothing but the tree fits and predictions it needs."""
    name, (X, y), (X_val, y_val) = mammography()
    n_members = sum(
        len(entry["actions"]) + 1
        for entry in MetaSampler(random_state=0).fit(X, y, X_val, y_val).history_
    )
    rng = np.random.default_rng(0)
    minority, majority = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    subsets = [
        np.concatenate([minority, rng.choice(majority, len(minority), replace=False)])
        for _ in range(n_members)
    ]

    def floor():
        for seed, rows in enumerate(subsets):
            tree = DecisionTreeClassifier(random_state=seed).fit(X[rows], y[rows])
            tree.predict_proba(X)
            tree.predict_proba(X_val)

    def ours():
        MetaSampler(random_state=0).fit(X, y, X_val, y_val)

    times = measure({"floor": floor, "MetaSampler.fit": ours}, repeats)
    report(
        f"Meta-training, 500 + 1000 steps, {name}",
        times,
        "floor",
        {"MetaSampler.fit": 1.2},
        f"floor: {n_members} DecisionTreeClassifier().fit on 2|P| rows, and predict_proba of the "
        "training and validation rows, through scikit-learn's public interface.",
    )
    where_time_goes(ours)


#: Functions that together make up meta-training: none of them calls another.
STAGES = {
    "tree fits": ("_learner.py", "fit"),
    "scoring the new tree": ("_learner.py", "add_probabilities"),
    "draws": ("_data.py", "draw"),
    "validation and training scores": ("_loop.py", "score"),
    "states": ("_state.py", "__call__"),
    "SAC updates": ("_sac.py", "update"),
    "actions": ("_policy.py", "sample"),
}


def where_time_goes(function):
    """Shares of the stages of meta-training, by the profiler."""
    profile = cProfile.Profile()
    profile.runcall(function)
    stats = pstats.Stats(profile)
    total = stats.total_tt
    table = Table(title="Where the time of MetaSampler.fit goes", title_justify="left")
    for column in ("stage", "calls", "share"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    rest = 1.0
    for stage, (file, name) in STAGES.items():
        calls = seconds = 0
        for (path, _, function_name), (_, n_calls, _, cumulative, _) in stats.stats.items():
            if path.endswith(os.sep + file) and function_name == name and "metasampler" in path:
                calls += n_calls
                seconds += cumulative
        rest -= seconds / total
        table.add_row(stage, str(calls), f"{seconds / total:.0%}")
    table.add_row("everything else", "", f"{rest:.0%}")
    console.print(table)


def rare(n_rows):
    """Rows of 20 columns with 1.3% positives."""
    return make_classification(
        n_rows, 20, n_informative=8, weights=[0.987], flip_y=0, random_state=0
    )


def ten_trees():
    """Return the paper's members with a constant mu, calibrated as users get them."""
    return MesaClassifier(
        DecisionTreeClassifier(),
        10,
        meta_sampler=0.9,
        leaf_smoothing=0,
        refit=False,
        random_state=0,
    )


def fit(repeats):
    """Compare a fit of ten trees on 100,000 rows with imbalanced-learn's balanced bagging."""
    X, y = rare(100_000)
    for dtype in (np.float64, np.float32):
        table = np.ascontiguousarray(X, dtype=dtype)
        functions = {
            "BalancedBaggingClassifier": lambda table=table: BalancedBaggingClassifier(
                n_estimators=10, random_state=0
            ).fit(table, y),
            "MesaClassifier": lambda table=table: ten_trees().fit(table, y),
        }
        report(
            f"fit, 10 trees, 100,000 x 20 rows as {np.dtype(dtype)}, 1.3% positives",
            measure(functions, repeats),
            "BalancedBaggingClassifier",
            {"MesaClassifier": 0.5} if dtype is np.float64 else {},
            "" if dtype is np.float64 else "float32 is what trees work on: nobody converts here.",
        )


def pairs(seed=0):
    """Our ensemble, imbalanced-learn's (or None) and the goal for the ratio, by title."""
    full, stumps = DecisionTreeClassifier(), DecisionTreeClassifier(max_depth=1)
    boosted = AdaBoostClassifier(n_estimators=10)
    options = {"n_estimators": 10, "random_state": seed}
    samme = options | {"algorithm": "SAMME", "stop_when_perfect": True}
    return {
        "UnderBagging": (
            ensemble.UnderBaggingClassifier(full, **options),
            BalancedBaggingClassifier(full, bootstrap=False, **options),
            0.5,
        ),
        "RUSBoost, SAMME, stumps": (
            ensemble.RUSBoostClassifier(stumps, **samme),
            imblearn_ensemble.RUSBoostClassifier(stumps, **options),
            1.0,
        ),
        "RUSBoost, SAMME, full trees": (
            ensemble.RUSBoostClassifier(full, **samme),
            imblearn_ensemble.RUSBoostClassifier(full, **options),
            1.0,
        ),
        "EasyEnsemble, 10 rounds": (
            ensemble.EasyEnsembleClassifier(boosted, **options),
            imblearn_ensemble.EasyEnsembleClassifier(estimator=boosted, **options),
            0.5,
        ),
        "SPE": (ensemble.SelfPacedEnsembleClassifier(full, **options), None, 0.5),
        "Cascade": (ensemble.BalanceCascadeClassifier(full, **options), None, 0.5),
        # As many synthetic rows as imbalanced-ensemble draws; the MESA paper has 100 a round.
        "SMOTEBoost, balanced": (
            ensemble.SMOTEBoostClassifier(full, n_samples="balance", **options),
            None,
            0.2,
        ),
        "SMOTEBoost, balanced, stumps": (
            ensemble.SMOTEBoostClassifier(stumps, n_samples="balance", **options),
            None,
            0.2,
        ),
        "SMOTEBagging": (ensemble.SMOTEBaggingClassifier(full, **options), None, 0.2),
    }


#: CPU seconds stated for imbalanced-ensemble, measured on another machine.
ELSEWHERE = {
    "UnderBagging": 2.4,
    "SPE": 1.9,
    "Cascade": 1.8,
    # Taken to be its default, stumps: with full trees it needs some ten times as long.
    "SMOTEBoost, balanced, stumps": 23.0,
    "SMOTEBagging": 136.0,
}

#: Run by the other interpreter: class, depth of the trees and settings in, CPU seconds out.
WORKER = """
import sys, time
from imbens import ensemble
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
X, y = make_classification(100_000, 20, n_informative=8, weights=[0.987], flip_y=0, random_state=0)
for line in sys.stdin:
    name, depth, options = eval(line)
    tree = DecisionTreeClassifier(max_depth=depth)
    model = getattr(ensemble, name)(tree, 10, random_state=0, **options)
    start = time.process_time()
    model.fit(X, y)
    print("seconds", time.process_time() - start, flush=True)
"""
IMBALANCED_ENSEMBLE = {
    "UnderBagging": ("UnderBaggingClassifier", None, {"bootstrap": False}),
    "SPE": ("SelfPacedEnsembleClassifier", None, {"k_bins": 10}),
    "Cascade": ("BalanceCascadeClassifier", None, {}),
    "SMOTEBoost, balanced": ("SMOTEBoostClassifier", None, {"k_neighbors": 5}),
    "SMOTEBoost, balanced, stumps": ("SMOTEBoostClassifier", 1, {"k_neighbors": 5}),
    "SMOTEBagging": ("SMOTEBaggingClassifier", None, {"k_neighbors": 5}),
}


def start_worker(python):
    """Return a function that fits one of imbalanced-ensemble's in another interpreter."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    worker = subprocess.Popen([python, "-W", "ignore", "-c", WORKER], **pipes)

    def seconds(title):
        worker.stdin.write(f"{IMBALANCED_ENSEMBLE[title]!r}\n")
        worker.stdin.flush()
        for line in worker.stdout:
            if line.startswith("seconds"):
                return float(line.split()[1])
        raise RuntimeError(f"{python} cannot run imbalanced-ensemble")

    return seconds


def baselines(repeats, python=None):
    """Compare the ensembles beside MESA with other packages' on 100,000 rows."""
    X, y = rare(100_000)
    elsewhere = start_worker(python) if python else None
    source = "imbalanced-ensemble" if python else "measured elsewhere"
    table = Table(
        title="fit of the baselines, 10 members, 100,000 x 20 rows, 1.3% positives",
        title_justify="left",
        caption="CPU seconds, in this run"
        + ("." if python else "; measured elsewhere: imbalanced-ensemble on another machine."),
    )
    for column in ("", "ours", "imbalanced-learn", "ratio", source, "ratio", "goal"):
        table.add_column(column, justify="right" if column else "left")
    for title, (mine, theirs, goal) in pairs().items():
        # Seconds each: one repeat is enough, and takes minutes.
        n_repeats = 1 if title.startswith("SMOTE") else repeats
        times: dict[str, list] = {"ours": [], "imbalanced-learn": [], source: []}
        for _ in range(n_repeats):
            for name, model in (("ours", mine), ("imbalanced-learn", theirs)):
                if model is not None:
                    start = time.process_time()
                    model.fit(X, y)
                    times[name].append(time.process_time() - start)
            if elsewhere and title in IMBALANCED_ENSEMBLE:
                times[source].append(elsewhere(title))
        if not elsewhere and title in ELSEWHERE:
            times[source].append(ELSEWHERE[title])
        cpu = median(times.pop("ours"))
        others = [median(seconds) if seconds else None for seconds in times.values()]
        cells = [f"{cpu:.3f}"]
        for other in others:
            cells += ["", ""] if other is None else [f"{other:.2f}", f"{cpu / other:.2f}"]
        missed = any(other is not None and cpu / other > goal for other in others)
        is_compared = any(other is not None for other in others)
        mark = f"<= {goal}" + ("  MISSED" if missed else "") if is_compared else "not compared"
        table.add_row(title, *cells, mark)
    console.print(table)


def growth(repeats):
    """How time and memory of a fit grow with the number of rows."""
    sizes = [10_000, 31_623, 100_000, 316_228, 1_000_000]
    X, y = rare(sizes[-1])
    # As float32, so that X is used as it is and all memory is the fit's own.
    X = np.ascontiguousarray(X, dtype=np.float32)
    table = Table(title="Growth of a fit of ten trees with the number of rows")
    for column in ("rows", "fit, CPU s", "wall s", "its tree fits alone, CPU s", "peak memory"):
        table.add_column(column, justify="right")
    seconds, tree_seconds, vectors = [], [], []
    for n in sizes:
        part = X[:n], y[:n]
        subsets = ten_trees().fit(*part).estimators_samples_

        def trees(part=part, subsets=subsets):
            for rows in subsets:
                DecisionTreeClassifier(random_state=0).fit(part[0][rows], part[1][rows])

        times = measure(
            {"fit": lambda part=part: ten_trees().fit(*part), "trees": trees},
            repeats,
        )
        tracemalloc.start()
        ten_trees().fit(*part)
        vectors.append(tracemalloc.get_traced_memory()[1] / (8 * n))
        tracemalloc.stop()
        seconds.append(times["fit"][0])
        tree_seconds.append(times["trees"][0])
        table.add_row(
            f"{n:,}",
            *(f"{value:.3f}" for value in (*times["fit"], tree_seconds[-1])),
            f"{vectors[-1]:.1f} vectors",
        )
    slope, tree_slope = (
        np.polyfit(np.log(sizes), np.log(values), 1)[0] for values in (seconds, tree_seconds)
    )
    table.caption = (
        f"log-log slope of the fit {slope:.2f} (goal <= 1.05{'' if slope <= 1.05 else ', MISSED'})"
        f"; of scikit-learn's fits of the same trees on the same rows {tree_slope:.2f}. Peak "
        f"memory beyond X, in float64 vectors of length n (goal <= 6"
        f"{'' if max(vectors[-2:]) <= 6 else ', MISSED'})."
    )
    console.print(table)


def imports(repeats):
    """Import of the package against scikit-learn's ensembles."""

    def import_in_new_process(module):
        start = os.times()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        end = os.times()
        cpu = end.children_user + end.children_system - start.children_user - start.children_system
        return cpu, end.elapsed - start.elapsed

    modules = ("sklearn.ensemble", "metasampler")
    for module in modules:
        import_in_new_process(module)
    times = {module: [] for module in modules}
    for _ in range(repeats):
        for module in modules:
            times[module].append(import_in_new_process(module))
    medians = {
        f"import {module}": tuple(median(column) for column in zip(*pairs, strict=True))
        for module, pairs in times.items()
    }
    report("Import", medians, "import sklearn.ensemble", {"import metasampler": 1.3})


PARTS = {
    "meta-training": meta_training,
    "fit": fit,
    "baselines": baselines,
    "growth": growth,
    "import": imports,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--python", help="interpreter that has imbalanced-ensemble")
    arguments = parser.parse_args()
    for name in arguments.only:
        options = {"python": arguments.python} if name == "baselines" else {}
        PARTS[name](arguments.repeats, **options)


if __name__ == "__main__":
    main()
