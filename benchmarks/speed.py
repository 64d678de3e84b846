"""Speed as ratios of CPU time within one run: medians of interleaved repeats.

    python benchmarks/speed.py                       all parts
    python benchmarks/speed.py --only meta-training  one of them
    python benchmarks/speed.py --only baselines --python elsewhere/bin/python
    python benchmarks/speed.py --only tables wide --repeats 1

Fits run as a user runs them: with ``n_jobs=1``, and no variable that limits the threads of BLAS.
"small" shows what these threads cost. A ratio compares what this run measured with what this run
measured: machines are noisy, seconds are only there to give an idea. Meta-training uses the
authors' Mammography split where METASAMPLER_DATA_HOME has it, and otherwise made-up data of the
same shape. The baselines are also compared with imbalanced-ensemble, which cannot be installed
beside a current scikit-learn: with --python in the interpreter that has it, otherwise by seconds
that were measured elsewhere. Tables are those of METASAMPLER_DATA_HOME, or made up where it has
none; "wide" has 300,000 rows of 500 columns, takes minutes and 5 GB, and runs only if it is asked
for; so do "many-classes", which takes minutes, and "threads" and "walls" (all 46 tables), whose
clock counts only on a machine with nothing else to do.
"""

import argparse
import cProfile
import os
import pstats
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import contextmanager, suppress
from functools import partial
from statistics import median
from unittest.mock import patch

import numpy as np
from imblearn import ensemble as imblearn_ensemble
from imblearn.ensemble import BalancedBaggingClassifier
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from metasampler import MesaClassifier, MetaSampler, ensemble
from metasampler._running import side_by_side
from metasampler.ensemble import _under_sampling
from metasampler.ensemble._calibration import Blend
from metasampler.ensemble._sources import TableSource
from metasampler.explain import explain_rows
from metasampler.growth import Growth, _adapters, _loop
from metasampler.growth._lightgbm_adapter import LightGBMAdapter
from metasampler_bench import ensemble as bench
from metasampler_bench.datasets import REAL_NAMES, load, load_mesa_mammography

console = Console(width=110)


def measure(functions, repeats, *, warm_up=True, best=False):
    """CPU and wall seconds of each function: medians, or the best, of interleaved repeats."""
    middle = min if best else median
    for function in functions.values() if warm_up else ():
        function()  # imports and caches
    times = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            cpu, wall = time.process_time(), time.perf_counter()
            function()
            times[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {
        name: (middle(cpu for cpu, _ in pairs), middle(wall for _, wall in pairs))
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
        for entry in MetaSampler(random_state=0).fit(X, y, X_val=X_val, y_val=y_val).history_
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
        MetaSampler(random_state=0).fit(X, y, X_val=X_val, y_val=y_val)

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
    "tree fits": ("_tree_adapter.py", "fit"),
    "scoring the new tree": ("_memory.py", "add_scores"),
    "draws": ("_draw.py", "draw_sample"),
    "validation and training scores": ("_loop.py", "score"),
    "states": ("_policies.py", "error_histogram"),
    "SAC updates": ("_sac.py", "update"),
    "actions": ("_network.py", "sample"),
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
            ""
            if dtype is np.float64
            else "float32 is what trees work on: there is no conversion here.",
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
            bench.RUSBoostClassifier(stumps, **samme),
            imblearn_ensemble.RUSBoostClassifier(stumps, **options),
            1.0,
        ),
        "RUSBoost, SAMME, full trees": (
            bench.RUSBoostClassifier(full, **samme),
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
            bench.SMOTEBoostClassifier(full, n_samples="balance", **options),
            None,
            0.2,
        ),
        "SMOTEBoost, balanced, stumps": (
            bench.SMOTEBoostClassifier(stumps, n_samples="balance", **options),
            None,
            0.2,
        ),
        "SMOTEBagging": (bench.SMOTEBaggingClassifier(full, **options), None, 0.2),
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


class Stages:
    """CPU seconds of the stages of a fit; what a stage calls counts for the inner stage only."""

    def __init__(self):
        self.seconds: dict[str, float] = {}
        self._open: list[str] = []
        self._since = 0.0

    def _switch(self):
        now = time.process_time()
        if self._open:
            name = self._open[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    @contextmanager
    def stage(self, name):
        """Count what runs inside for this stage."""
        self._switch()
        self._open.append(name)
        try:
            yield
        finally:
            self._switch()
            self._open.pop()

    def timed(self, function, name):
        """Return the function as a stage; a name may depend on what it is called with."""

        def call(*args, **kwargs):
            with self.stage(name(*args) if callable(name) else name):
                return function(*args, **kwargs)

        return call


def team_of(growth, *_):
    """Return the name of the team that grows."""
    adapter = growth.adapters.of(0)
    if not isinstance(adapter, LightGBMAdapter):
        return "trees"
    return "scouts" if adapter.stops_early else "boosters"


def stages_of(model, X, y):
    """CPU seconds of a fit of MESA by team, and of what comes before and after the teams."""
    stages = Stages()
    # Its own class keeps its place: `patch` restores what was there.
    replaced = {
        (TableSource, "make_rows"): "checks and encoding",
        (LightGBMAdapter, "_dataset"): "binning",
        (Growth, "step"): team_of,
        (_under_sampling, "decide"): "calibration and threshold",
        (type(model), "_become"): "the rest",
    }
    joined = staticmethod(stages.timed(Blend.of, "blending"))
    patches = [
        patch.object(owner, name, stages.timed(getattr(owner, name), title))
        for (owner, name), title in replaced.items()
    ]
    patches.append(patch.object(Blend, "of", joined))
    for each in patches:
        each.start()
    try:
        with stages.stage("the rest"):
            model.fit(X, y)
    finally:
        for each in patches:
            each.stop()
    return stages.seconds


def lightgbm_form(frame):
    """Return what LightGBM takes without help: plain names, and dates as days."""
    import pandas as pd

    def column(values):
        is_date = pd.api.types.is_datetime64_any_dtype(values)
        return (values - pd.Timestamp(0)) / pd.Timedelta(days=1) if is_date else values

    columns = {f"c{n}": column(frame[name]) for n, name in enumerate(frame.columns)}
    return pd.DataFrame(columns, index=frame.index)


def made_up_frame(n_rows, n_numbers, n_categories, seed=0):
    """Numbers with gaps and categories, of which some say something about rare labels."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, n_numbers)).astype(np.float32)
    codes = rng.integers(0, 30, size=(n_rows, n_categories))
    odds = numbers[:, 0] + numbers[:, 1] * numbers[:, 2] + 0.5 * np.abs(numbers[:, 3])
    odds = odds + rng.normal(size=30)[codes[:, 0]] + 0.7 * numbers[:, 4:14].sum(axis=1) / 3
    y = (odds + rng.logistic(size=n_rows) > np.quantile(odds, 0.95) + 1).astype(int)
    numbers[rng.random(size=n_rows) < 0.1, ::10] = np.nan
    frame = pd.DataFrame(numbers, columns=[f"n{n}" for n in range(n_numbers)], copy=False)
    levels = [f"level {n}" for n in range(30)]
    kinds = {f"k{n}": pd.Categorical.from_codes(codes[:, n], levels) for n in range(n_categories)}
    return pd.concat([frame, pd.DataFrame(kinds)], axis=1), y


#: From small to large, from numbers only to categories only.
TABLES = (
    "iranian_churn",
    "bank_card_churn",
    "leads_buy_3m",
    "vehicle_insurance_fraud",
    "hotel_children",
    "unsw_nb15_fuzzers",
)


def some_tables():
    """Tables of the data home by name, or made-up ones."""
    try:
        for name in TABLES:
            data = load(name)
            yield name, data.data, data.target
    except FileNotFoundError:
        for n_rows in (3_000, 30_000, 80_000):
            yield f"made-up, {n_rows:,} rows", *made_up_frame(n_rows, 20, 10)


def compare_with_lightgbm(name, X, y, repeats, *, warm_up=True):
    """Ratios of MESA's presets to LightGBM on one table, and where their time goes."""
    from lightgbm import LGBMClassifier

    goals = {"MESA, default": 5, "MESA, fast": 1}
    functions = {
        "LightGBM": lambda: LGBMClassifier(n_jobs=1, verbosity=-1).fit(lightgbm_form(X), y)
    }
    stages = {}

    def fit_preset(preset):
        model = MesaClassifier.from_preset(preset, n_jobs=1, random_state=0)
        # A few readings of the clock: they cost nothing.
        stages[preset] = stages_of(model, X, y)

    for preset in ("default", "fast"):
        functions[f"MESA, {preset}"] = lambda preset=preset: fit_preset(preset)
    title = f"fit of {name}: {X.shape[0]:,} x {X.shape[1]}, {np.mean(y):.1%} positives"
    times = measure(functions, repeats, warm_up=warm_up)
    report(title, times, "LightGBM", goals)
    show_stages(stages)
    return {name: cpu / times["LightGBM"][0] for name, (cpu, _) in times.items()}


def show_stages(by_preset):
    """Print the shares of the stages, of the last fit of each preset."""
    order = ("checks and encoding", "binning", "scouts", "boosters", "trees")
    order = (*order, "blending", "calibration and threshold", "the rest")
    found = {stage for seconds in by_preset.values() for stage in seconds}
    table = Table(title="Where its time goes", title_justify="left")
    table.add_column("stage")
    for preset in by_preset:
        table.add_column(f"{preset}, CPU s", justify="right")
        table.add_column("share", justify="right")
    for stage in (*order, *sorted(found - set(order))):
        if stage in found:
            cells = []
            for seconds in by_preset.values():
                own = seconds.get(stage, 0.0)
                cells += [f"{own:.3f}", f"{own / sum(seconds.values()):.0%}"]
            table.add_row(stage, *cells)
    console.print(table)


def tables(repeats):
    """MESA's presets against LightGBM on frames, one thread."""
    ratios = []
    for name, X, y in some_tables():
        ratios.append(compare_with_lightgbm(name, X, y, repeats))
    means = {name: np.exp(np.mean([np.log(r[name]) for r in ratios])) for name in ratios[0]}
    console.print(
        "Geometric mean of the CPU ratios: "
        + ", ".join(f"{name} {ratio:.2f}" for name, ratio in means.items())
    )


class LongestChain:
    """CPU seconds of the longest chain of calls in a fit: what it takes where cores are idle.

    The clock tells it only on a machine with nothing else to do; this can be told on any. Calls
    that run side by side count with the thread that has the most to do.
    """

    def __init__(self):
        self._local = threading.local()

    def _pass(self):
        """Count what this thread has worked since it was last looked at."""
        now = time.thread_time()
        self._local.seconds += now - self._local.since
        self._local.since = now

    def side_by_side(self, calls, n_jobs, stop=lambda: None):
        """Do what the function of this name does, and count."""

        def counted(call):
            before = getattr(self._local, "seconds", None), getattr(self._local, "since", None)
            self._local.seconds, self._local.since = 0.0, time.thread_time()
            result = call()
            self._pass()
            taken = self._local.seconds
            self._local.seconds, self._local.since = before
            return result, taken, threading.get_ident()

        self._pass()
        done = side_by_side([partial(counted, call) for call in calls], n_jobs, stop)
        # Calls that found no thread of their own were done one after the other.
        busy: dict[int, float] = {}
        for _, taken, thread in done:
            busy[thread] = busy.get(thread, 0.0) + taken
        self._local.since = time.thread_time()
        self._local.seconds += max(busy.values(), default=0.0)
        return [result for result, *_ in done]

    def of(self, fit):
        """Return the seconds of the longest chain, and of all that was done."""
        self._local.seconds, self._local.since = 0.0, time.thread_time()
        start = time.process_time()
        with (
            patch.object(_loop, "side_by_side", self.side_by_side),
            patch.object(_adapters, "side_by_side", self.side_by_side),
            patch.object(_under_sampling, "side_by_side", self.side_by_side),
        ):
            fit()
        self._pass()
        return self._local.seconds, time.process_time() - start


def small(repeats):
    """Compare fits and predictions of small tables with the same on one thread of BLAS."""
    limits = [
        f"{name}={os.environ[name]}"
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        if name in os.environ
    ]
    if limits:
        console.print(f"{', '.join(limits)} hides what threads of BLAS cost.")
    of_three = make_classification(
        1500, 20, n_informative=6, n_classes=3, weights=[0.8, 0.14], random_state=0
    )
    of_two = make_classification(1500, 20, weights=[0.9], random_state=0)
    cases = {
        "default": (MesaClassifier(random_state=0), of_two),
        "fast": (MesaClassifier(recipe="fast", random_state=0), of_two),
        "three classes": (MesaClassifier(random_state=0), of_three),
        "ten trees": (MesaClassifier(DecisionTreeClassifier(), 10, random_state=0), of_two),
        "UnderBagging": (
            ensemble.UnderBaggingClassifier(validation_fraction=0.2, random_state=0),
            of_two,
        ),
    }
    for title, (clf, (X, y)) in cases.items():

        def fit(clf=clf, X=X, y=y):
            # Long enough for the clock of the process.
            for _ in range(3):
                clone(clf).fit(X, y).predict(X)

        def fit_on_one(fit=fit):
            with threadpool_limits(1, user_api="blas"):
                fit()

        times = measure({"one thread of BLAS": fit_on_one, "as it is": fit}, repeats)
        name = f"{title}: three fits of {len(X):,} rows, and predictions"
        report(name, times, "one thread of BLAS", {"as it is": 1.2})


def long_tail(n_classes, n_rows):
    """Return made-up rows of many classes: the k-th largest has a k-th of the largest's rows."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, n_classes + 1)
    more = rng.choice(n_classes, n_rows - 2 * n_classes, p=shares / shares.sum())
    y = np.concatenate([np.arange(n_classes), np.arange(n_classes), more])
    return rng.normal(0, 2, (n_classes, 10))[y] + rng.normal(size=(n_rows, 10)), y


def many_classes(repeats):
    """Compare the default with LightGBM of balanced classes, from three to hundreds of classes."""
    from lightgbm import LGBMClassifier

    ratios = []
    for n_classes, n_rows in ((3, 150), (10, 10_000), (50, 10_000), (300, 2_400), (1000, 30_000)):
        X, y = long_tail(n_classes, n_rows)
        usual = LGBMClassifier(class_weight="balanced", n_jobs=1, verbosity=-1)
        fits = {
            "LightGBM, balanced": lambda usual=usual, X=X, y=y: usual.fit(X, y),
            "MESA, default": lambda X=X, y=y: MesaClassifier(random_state=0).fit(X, y),
        }
        times = measure(fits, repeats if n_classes < 300 else 1, warm_up=n_classes < 300)
        title = f"fit of {n_rows:,} rows of {n_classes:,} classes"
        report(title, times, "LightGBM, balanced", {"MESA, default": 6})
        ratios.append(times["MESA, default"][0] / times["LightGBM, balanced"][0])
    console.print(
        f"Geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.2f} (goal <= 3)"
    )
    console.print(f"Most memory of this process: {peak_memory():,.0f} MB")


def peak_memory():
    """Return the most memory that this process has had, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fits_with_threads(X, y, numbers):
    """Return fits of LightGBM and of the default, by title, for several numbers of threads."""
    from lightgbm import LGBMClassifier

    fits = {
        "LightGBM": lambda n: LGBMClassifier(n_jobs=n, verbosity=-1).fit(lightgbm_form(X), y),
        "MESA": lambda n: MesaClassifier(n_jobs=n, random_state=0).fit(X, y),
    }
    return {
        f"{title}, {n} thread{'s' * (n > 1)}": partial(fit, n)
        for n in numbers
        for title, fit in fits.items()
    }


def threads(repeats):
    """Compare the default with one and with two threads, by the clock and by its longest chain."""
    names = ("unsw_nb15_fuzzers", "be_mtpl97_claim")
    sets = [("made-up", *made_up_frame(100_000, 20, 10))]
    with suppress(FileNotFoundError):
        sets += [(name, load(name).data, load(name).target) for name in names]
    for name, X, y in sets:
        functions = fits_with_threads(X, y, (1, 2))
        times = measure(functions, repeats, best=True)
        walls = {title: wall for title, (_, wall) in times.items()}
        report(f"{name}: {X.shape[0]:,} x {X.shape[1]}", times, "LightGBM, 1 thread", {})
        chain, work = LongestChain().of(functions["MESA, 2 threads"])
        of_one = walls["MESA, 2 threads"] / walls["MESA, 1 thread"]
        of_other = walls["MESA, 2 threads"] / walls["LightGBM, 2 threads"]
        console.print(
            f"MESA with two threads by one, wall: {of_one:.2f} (goal <= 0.6); longest chain by all "
            f"its work: {chain / work:.2f}; by LightGBM with two threads, wall: {of_other:.2f} "
            "(goal <= 3 over the tables, see walls). The clock counts only if nothing else runs."
        )


def walls(repeats):
    """Compare the default with LightGBM by the clock on all tables, two threads each."""
    ratios = {}
    for name in REAL_NAMES:
        data = load(name)
        times = measure(fits_with_threads(data.data, data.target, (2,)), repeats, best=True)
        ratio = times["MESA, 2 threads"][1] / times["LightGBM, 2 threads"][1]
        ratios[name] = len(data.target), ratio
        console.print(f"{name}: {len(data.target):,} rows, {ratio:.2f}")
    by_size = [ratio for _, ratio in sorted(ratios.values())]
    console.print(
        "MESA by LightGBM, two threads each, wall, geometric mean: "
        f"{np.exp(np.mean(np.log(by_size))):.2f} (goal <= 3), of the five largest tables "
        f"{np.exp(np.mean(np.log(by_size[-5:]))):.2f}, at most {max(by_size):.2f}. "
        "The clock counts only if nothing else runs."
    )


def foreign_kinds():
    """Members of other packages that are installed, by name; each fit has one thread."""
    yield "HistGradientBoosting", HistGradientBoostingClassifier()
    with suppress(ImportError):
        from xgboost import XGBClassifier

        yield "XGBoost", XGBClassifier(n_jobs=1)
    with suppress(ImportError):
        from catboost import CatBoostClassifier

        # A tenth of its rounds: the ratio is the same, and the run ends.
        options = {"iterations": 100, "thread_count": 1, "allow_writing_files": False}
        yield "CatBoost, 100 rounds", CatBoostClassifier(verbose=False, **options)


def foreign(repeats):
    """Compare ten members of other packages with ten bare fits on as many rows."""
    X, y = make_classification(5000, weights=[0.9], random_state=0)
    rows = np.flatnonzero(y == 1)
    rows = np.concatenate([rows, np.flatnonzero(y == 0)[: len(rows)]])
    for name, members in foreign_kinds():

        def bare(members=members):
            with threadpool_limits(1, user_api="openmp"):
                for _ in range(10):
                    clone(members).fit(X[rows], y[rows])

        mesa = partial(MesaClassifier, members, 10)
        functions = {
            "ten bare fits": bare,
            "UnderBagging": ensemble.UnderBaggingClassifier(members).fit,
            "MESA, constant mu, no refit": mesa(meta_sampler=0.9, refit=False).fit,
            "MESA": mesa().fit,
        }
        functions = {
            title: fit if fit is bare else partial(fit, X, y) for title, fit in functions.items()
        }
        times = measure(functions, repeats, warm_up=False)
        report(f"Ten members of {name} on 5,000 rows", times, "ten bare fits", {})


def serving(repeats):
    """How long a service waits for one row and for a thousand, beside LightGBM, on one thread."""
    from lightgbm import LGBMClassifier

    for title, noise in (("labels with noise", 0.02), ("labels without noise", 0.0)):
        X, y = make_classification(
            20_000, 20, n_informative=8, weights=[0.95], flip_y=noise, random_state=0
        )
        models = {
            "LightGBM": LGBMClassifier(n_jobs=1, verbosity=-1),
            "MESA, default": MesaClassifier(random_state=0),
            "MESA, fast": MesaClassifier(recipe="fast", random_state=0),
        }
        n_trees = {}
        for name, model in models.items():
            model.fit(X, y)
            members = [] if name == "LightGBM" else model.estimators_
            # Their trees have up to 31 leaves; those of scikit-learn are other ones.
            rounds = [member.n_rounds_ for member in members if hasattr(member, "n_rounds_")]
            n_trees[name] = sum(rounds) if members else model.n_estimators_
        table = Table(title=f"predict_proba, 20 columns, {title}", title_justify="left")
        table.add_column("")
        for column in ("boosted trees", "rows", "p50, ms", "p99, ms", "ratio of p50", "goal"):
            table.add_column(column, justify="right")
        for n_rows, goals in ((1, {}), (1000, {"MESA, default": 2.5})):
            waits = {name: [] for name in models}
            for start in range(100 * repeats):
                rows = X[start : start + n_rows]
                for name, model in models.items():
                    before = time.perf_counter()
                    model.predict_proba(rows)
                    waits[name].append(1000 * (time.perf_counter() - before))
            for name, seen in waits.items():
                ratio = median(seen) / median(waits["LightGBM"])
                goal = goals.get(name)
                mark = "" if goal is None else f"<= {goal}" + ("" if ratio <= goal else "  MISSED")
                p50, p99 = np.percentile(seen, [50, 99])
                cells = (f"{n_trees[name]}", f"{n_rows:,}", f"{p50:.2f}", f"{p99:.2f}")
                table.add_row(name, *cells, f"{ratio:.2f}", mark)
        console.print(table)


def reasons(repeats):
    """Compare reasons of 10,000 rows of 30 columns, and of a single row, with predict_proba."""
    fast = {"recipe": "fast"}
    for name, settings, n_classes in (
        ("default", {}, 2),
        ("fast", fast, 2),
        ("fast with 3 classes", fast, 3),
    ):
        weights = [0.95] if n_classes == 2 else [0.8, 0.15]
        X, y = make_classification(
            20_000,
            30,
            n_informative=12,
            n_classes=n_classes,
            weights=weights,
            flip_y=0.02,
            random_state=0,
        )
        model = MesaClassifier(**settings, random_state=0).fit(X[:10_000], y[:10_000])
        for rows in (X[10_000:], X[10_000:10_001]):
            functions = {
                "predict_proba": partial(model.predict_proba, rows),
                "explain_rows": partial(explain_rows, model, rows),
            }
            times = measure(functions, repeats)
            goals = {"explain_rows": 20} if len(rows) > 1 and n_classes == 2 else {}
            report(f"Reasons, {name}, rows: {len(rows):,}", times, "predict_proba", goals)


def wide(repeats):
    """Compare on a wide and long table: 300,000 rows of 480 numbers and 20 categories."""
    from lightgbm import LGBMClassifier

    X, y = made_up_frame(300_000, 480, 20)
    # Imports are warm after a small table, and nothing else is to be warmed up for minutes.
    LGBMClassifier(n_jobs=1, verbosity=-1).fit(X.head(1000), y[:1000])
    MesaClassifier(n_jobs=1).fit(X.head(5000), y[:5000])
    compare_with_lightgbm("a wide and long table", X, y, repeats, warm_up=False)


PARTS = {
    "meta-training": meta_training,
    "fit": fit,
    "baselines": baselines,
    "growth": growth,
    "import": imports,
    "tables": tables,
    "small": small,
    "many-classes": many_classes,
    "threads": threads,
    "walls": walls,
    "foreign": foreign,
    "serving": serving,
    "reasons": reasons,
    "wide": wide,
}


#: What runs only if it is asked for.
ASKED_FOR = ("many-classes", "threads", "walls", "wide")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", choices=PARTS, nargs="+", default=[n for n in PARTS if n not in ASKED_FOR]
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--python", help="interpreter that has imbalanced-ensemble")
    arguments = parser.parse_args()
    for name in arguments.only:
        options = {"python": arguments.python} if name == "baselines" else {}
        PARTS[name](arguments.repeats, **options)


if __name__ == "__main__":
    main()
