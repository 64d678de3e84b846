"""Measure a cell: scores of a fit, curves of a meta-training, facts of a data set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from metasampler.ensemble import MesaClassifier
from metasampler.meta import MetaSampler
from metasampler.policy import Drawn
from metasampler_bench._class_measure import measure_classes
from metasampler_bench._draw_measure import measure_draws
from metasampler_bench._draw_training import measure_training
from metasampler_bench._methods import METHODS
from metasampler_bench._protocol import Parts, fit_seed
from metasampler_bench._resampling import BASE_CLASSIFIERS, ResampledClassifier
from metasampler_bench._samplers import SamplerCache, make_meta_sampler, pass_on_interrupt
from metasampler_bench._spec import Job
from metasampler_bench._table_measure import measure_tables
from metasampler_bench._views import Viewed
from metasampler_bench.datasets import load

__all__ = ["KEPT_ON_REQUEST", "MEASURES", "needs_sampler"]

#: What only the rows of a spec hold that has to keep it.
KEPT_ON_REQUEST = ("actions", "states", "surface", "extent", "points")

Row = dict[str, Any]
_RESOLUTION = 60


def needs_sampler(job: Job) -> bool:
    """Say whether a job uses a sampler that is meta-trained beforehand."""
    return job.kind == "scores" and METHODS[job.cell["method"]].meta_trains


class TimedTree(DecisionTreeClassifier):
    """A decision tree that adds up the CPU time of all fits, to tell it from resampling."""

    seconds = 0.0

    def fit(self, X, y, sample_weight=None, check_input=True):
        """Fit the tree and add the time to `TimedTree.seconds`."""
        start = time.process_time()
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        TimedTree.seconds += time.process_time() - start
        return self


def _build(job: Job, cache: SamplerCache) -> tuple[Any, dict[str, Any]]:
    """Return the unfitted classifier of a job, and what its meta-training took."""
    cell = job.cell
    method = METHODS[cell["method"]]
    base = None
    if "base" in cell:
        base = BASE_CLASSIFIERS[cell["base"]]
    elif "resampling" in job.keep and method.uses_base_estimator:
        # A full tree leaves nothing to boost on the rows it saw.
        base = TimedTree(max_depth=3 if method.family == "IE+RW" else None)
    seed = fit_seed(cell["run"], cell["fold"], cache.seed)
    model = method.build(base, max(job.ks, default=None), seed, n_jobs=1)
    facts: dict[str, Any] = {}
    if needs_sampler(job):
        sampler, facts = cache.get(cell)
        policy: Any = Viewed(sampler, cell["view"]) if "view" in cell else sampler
        drawn = isinstance(model.meta_sampler, Drawn)
        model.set_params(meta_sampler=Drawn(policy) if drawn else policy)
    # Only the order of rows is scored here: nothing has to be calibrated or decided.
    unused = {"calibration": None, "threshold": None}
    names = model.get_params(deep=False)
    model.set_params(**{name: value for name, value in unused.items() if name in names})
    return model, {name: facts[name] for name in ("meta_cpu", "meta_wall") if name in facts}


def measure_scores(job: Job, cache: SamplerCache) -> list[Row]:
    """Fit one method and score the test rows, for every k that can be read off the fit."""
    cell = job.cell
    parts = cache.parts(cell)
    method = METHODS[cell["method"]]
    model, facts = _build(job, cache)
    rows: tuple[Any, ...] = (parts.X_train, parts.y_train)
    validation: Row = {}
    if cell.get("rows", "train") == "train+valid":
        rows = (
            np.concatenate([parts.X_train, parts.X_valid]),
            np.concatenate([parts.y_train, parts.y_valid]),
        )
    elif method.uses_validation:
        validation = {"X_val": parts.X_valid, "y_val": parts.y_valid}
    TimedTree.seconds = 0.0
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        # Samplers of another kind of members are what some specs measure.
        warnings.filterwarnings("ignore", message="This sampler was meta-trained with")
        model.fit(*rows, **validation)
    facts["cpu"] = round(time.process_time() - cpu, 4)
    facts["wall"] = round(time.perf_counter() - wall, 4)
    if "resampling" in job.keep:
        # A method without a base estimator to time draws no rows: all of it is fitting.
        rest = 0.0 if not method.uses_base_estimator else max(0.0, facts["cpu"] - TimedTree.seconds)
        facts["resampling_cpu"] = round(getattr(model, "resampling_time_", rest), 4)
    elif hasattr(model, "resampling_time_"):
        facts["resampling_cpu"] = round(model.resampling_time_, 4)
    positive = parts.y_test == 1
    results = []
    stages = _stages(model, parts.X_test, job.ks)
    for k, probability in stages.items():
        row = dict(facts)
        row["score"] = round(float(average_precision_score(positive, probability)), 6)
        row["rows"] = method.n_training_rows(model, len(rows[1]), k)
        scores = getattr(model, "scores_", ())
        if method.uses_validation and len(scores):
            row["valid_score"] = round(float(scores[(k or len(scores)) - 1]), 6)
        if "actions" in job.keep and hasattr(model, "actions_"):
            row["actions"] = np.round(model.actions_[: k and k - 1], 4).tolist()
        if "states" in job.keep:
            row["states"] = np.round(model.states_[: k and k - 1], 4).tolist()
        if "surface" in job.keep:
            row |= _surface(model, parts)
        results.append(row)
    return results


def measure_resampling(job: Job, cache: SamplerCache) -> list[Row]:
    """Resample once and train every base classifier on what comes out."""
    cell = job.cell
    parts = cache.parts(cell)
    seed = fit_seed(cell["run"], cell["fold"], cache.seed)
    sampler = METHODS[cell["method"]].build(None, 10, seed, n_jobs=1).sampler
    X, y, seconds = parts.X_train, parts.y_train, 0.0
    if sampler is not None:
        if "random_state" in sampler.get_params():
            sampler.set_params(random_state=seed)
        start = time.process_time()
        X, y = sampler.fit_resample(X, y)
        seconds = time.process_time() - start
    results = []
    for name in job.bases:
        model = ResampledClassifier(None, BASE_CLASSIFIERS[name], random_state=seed)
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X, y)
        row = {
            "cpu": round(time.process_time() - cpu, 4),
            "wall": round(time.perf_counter() - wall, 4),
            "resampling_cpu": round(seconds, 4),
            "rows": len(y),
        }
        probability = model.predict_proba(parts.X_test)[:, 1]
        row["score"] = round(float(average_precision_score(parts.y_test, probability)), 6)
        results.append(row)
    return results


def _stages(model: Any, X: Any, ks: tuple[int, ...]) -> dict[int | None, np.ndarray]:
    """Return the probability of the positive class after each of the wanted numbers of members."""
    column = int(np.flatnonzero(model.classes_ == 1)[0])
    if len(ks) <= 1:
        k = ks[0] if ks else None
        return {k: model.predict_proba(X)[:, column]}
    found: dict[int | None, np.ndarray] = {}
    for number, probability in enumerate(model.staged_predict_proba(X), 1):
        if number in ks:
            found[number] = probability[:, column]
    # A boosting that ended early is complete as it is.
    return {k: found.get(k, probability[:, column]) for k in ks}


def _surface(model: Any, parts: Parts) -> Row:
    """Return the probability on a grid around the rows, for a picture of the decision boundary."""
    X = np.concatenate([parts.X_train, parts.X_valid, parts.X_test])
    y = np.concatenate([parts.y_train, parts.y_valid, parts.y_test])
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    axes = [np.linspace(low[i], high[i], _RESOLUTION) for i in range(2)]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes)], axis=1)
    proba = model.predict_proba(grid)[:, 1]
    return {
        "surface": np.round(proba, 3).tolist(),
        "extent": np.round(np.column_stack([low, high]), 3).ravel().tolist(),
        "points": np.round(np.column_stack([X, y]), 2).tolist(),
    }


def measure_facts(job: Job, cache: SamplerCache) -> list[Row]:
    """Count rows, columns and imbalance ratio of a data set."""
    data = load(job.cell["dataset"], data_home=cache.data_home)
    n_positive = int((data.target == 1).sum())
    n_rows, n_columns = data.data.shape
    return [
        {
            "n_rows": n_rows,
            "n_features": n_columns,
            "n_positive": n_positive,
            "imbalance_ratio": round((n_rows - n_positive) / n_positive, 2),
        }
    ]


def measure_history(job: Job, cache: SamplerCache) -> list[Row]:
    """Score every episode of a meta-training on the three parts of the data."""
    parts = cache.parts(job.cell)
    sampler = make_meta_sampler(job.cell, cache.seed)
    wall, cpu = time.perf_counter(), time.process_time()
    sampler.fit(
        *parts[:2],
        X_val=parts.X_valid,
        y_val=parts.y_valid,
        X_test=parts.X_test,
        y_test=parts.y_test,
    )
    pass_on_interrupt(sampler)
    names = ("train", "valid", "test")
    return [
        {
            "meta_cpu": round(time.process_time() - cpu, 3),
            "meta_wall": round(time.perf_counter() - wall, 3),
            "score": round(float(np.mean([e["test_score"] for e in sampler.history_[-50:]])), 6),
            "curves": {
                name: [round(entry[f"{name}_score"], 4) for entry in sampler.history_]
                for name in names
            },
            "mu": [round(float(np.mean(entry["actions"])), 4) for entry in sampler.history_],
        }
    ]


def measure_joint(job: Job, cache: SamplerCache) -> list[Row]:
    """Score several tasks while one sampler is meta-trained on some of them."""
    cell = job.cell
    trained, watched = cell["tasks"].split("+"), cell["watch"].split("+")
    parts = {name: cache.parts({**cell, "dataset": name}) for name in (*trained, *watched)}
    curves: dict[str, list[float]] = {name: [] for name in parts}
    episodes: list[int] = []
    sampler = make_meta_sampler(cell, cache.seed)

    def score_all(progress: Any) -> None:
        policy = MetaSampler.from_policy(
            progress.policy, state=sampler.state, n_bins=sampler.n_bins
        )
        seed = fit_seed(cell["run"], cell["fold"], cache.seed) + len(episodes)
        for name, rows in parts.items():
            # The ensembles that it is meta-trained with.
            model = MesaClassifier.from_preset(
                "paper", meta_sampler=policy, threshold=None, random_state=seed
            ).fit(*rows[:2], X_val=rows.X_valid, y_val=rows.y_valid)
            probability = model.predict_proba(rows.X_test)[:, 1]
            curves[name].append(round(float(average_precision_score(rows.y_test, probability)), 4))
        episodes.append(len(progress.history))

    wall, cpu = time.perf_counter(), time.process_time()
    sampler.fit_tasks({name: parts[name][:4] for name in trained}, callback=score_all)
    pass_on_interrupt(sampler)
    return [
        {
            "cpu": round(time.process_time() - cpu, 3),
            "wall": round(time.perf_counter() - wall, 3),
            "episodes": episodes,
            "curves": curves,
        }
    ]


#: By the kind of a job: takes the job and the cache, gives a row for each cell of the job.
MEASURES: dict[str, Callable[[Job, SamplerCache], list[Row]]] = {
    "scores": measure_scores,
    "resampling": measure_resampling,
    "facts": measure_facts,
    "history": measure_history,
    "joint": measure_joint,
    "tables": measure_tables,
    "classes": measure_classes,
    "draws": measure_draws,
    "draw-training": measure_training,
}
