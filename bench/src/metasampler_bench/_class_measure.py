"""Measure a cell of the benchmark of many classes: one fit, its probabilities and decisions."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score
from sklearn.model_selection import train_test_split

from metasampler_bench._class_methods import for_class_frames
from metasampler_bench._methods import find_method
from metasampler_bench._protocol import fit_seed
from metasampler_bench._samplers import SamplerCache
from metasampler_bench._spec import Job
from metasampler_bench.datasets._classes import load_classes

__all__ = ["MOST_ROWS", "measure_classes", "scores_of_classes", "take_classes"]

#: Rows of a table that take part; of larger tables a share of each class.
MOST_ROWS = 3000

# Rows of a class that always take part, and probabilities below which log-loss does not look.
_LEAST_OF_CLASS, _LEAST = 12, 1e-7


def take_classes(
    name: str, run: int, *, seed: int = 0, data_home: str | None = None, most: int = MOST_ROWS
) -> tuple[Any, Any, Any, Any]:
    """Return a table for one run, cut class-wise 75 : 25; labels are numbers.

    Classes with a single row do not take part.
    """
    X, y = load_classes(name, data_home)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    rng, kept = np.random.default_rng(seed + run), []
    share = min(1.0, most / len(y))
    for k, count in enumerate(counts.tolist()):
        size = max(min(count, _LEAST_OF_CLASS), round(share * count)) if count > 1 else 0
        kept.append(rng.permutation(np.flatnonzero(codes == k))[:size])
    rows = np.sort(np.concatenate(kept))
    codes = np.unique(codes[rows], return_inverse=True)[1]
    train, test = train_test_split(
        np.arange(len(rows)), test_size=0.25, stratify=codes, random_state=seed + run
    )
    train, test = np.sort(train), np.sort(test)
    first, second = (X.iloc[rows[some]].reset_index(drop=True) for some in (train, test))
    return first, codes[train], second, codes[test]


def measure_classes(job: Job, cache: SamplerCache) -> list[dict[str, Any]]:
    """Fit one method, and measure what it says of the test rows."""
    cell = job.cell
    X, y, X_test, y_test = take_classes(
        cell["dataset"], cell["run"], seed=cache.seed, data_home=cache.data_home
    )
    seed = fit_seed(cell["run"], cell["fold"], cache.seed)
    model = find_method(cell["method"]).build(None, max(job.ks, default=None), seed, n_jobs=1)
    model = for_class_frames(cell["method"], model)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    row: dict[str, Any] = {"cpu": round(time.process_time() - cpu, 4)}
    row["wall"] = round(time.perf_counter() - wall, 4)
    cpu = time.process_time()
    proba = np.asarray(model.predict_proba(X_test), dtype=float)
    row["predict_cpu"] = round(time.process_time() - cpu, 4)
    # A class whose rows are all in the test part is unknown to the model.
    known = np.zeros((len(y_test), max(y.max(), y_test.max()) + 1))
    known[:, np.asarray(model.classes_, dtype=int)] = proba
    decided = known.argmax(axis=1)
    by_f1 = decided
    if hasattr(model, "set_threshold"):
        decided = model.decide(proba)
        by_f1 = model.set_threshold("macro_f1").decide(proba)
    row |= scores_of_classes(y, y_test, known)
    row["balanced_accuracy"] = round(float(balanced_accuracy_score(y_test, decided)), 6)
    row["macro_f1"] = round(float(f1_score(y_test, by_f1, average="macro")), 6)
    facts = {"n_rows": len(y) + len(y_test), "n_features": X.shape[1]}
    counts = np.bincount(y)
    facts |= {"n_classes": len(counts), "smallest": int(counts.min())}
    return [{**row, **facts}]


def scores_of_classes(y: Any, y_test: Any, proba: Any) -> dict[str, float]:
    """Return the scores of probabilities: macro average precision first."""
    present = np.unique(y_test)
    each = {k: average_precision_score(y_test == k, proba[:, k]) for k in present.tolist()}
    # The rarest third of the classes, by their training rows.
    counts = np.bincount(y, minlength=proba.shape[1])
    rarest = sorted(present.tolist(), key=lambda k: (counts[k], k))
    rarest = rarest[: max(1, round(len(rarest) / 3))]
    clipped = np.clip(proba, _LEAST, 1)
    clipped /= clipped.sum(axis=1, keepdims=True)
    prior = np.maximum(counts, 1) / len(y)
    by_prior = balanced_accuracy_score(y_test, (proba / prior).argmax(axis=1))
    return {
        "score": round(float(np.mean(list(each.values()))), 6),
        "tail": round(float(np.mean([each[k] for k in rarest])), 6),
        "log_loss": round(float(-np.log(clipped[np.arange(len(y_test)), y_test]).mean()), 6),
        "balanced_by_prior": round(float(by_prior), 6),
    }
