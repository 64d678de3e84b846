"""Measure a cell of the benchmark of tables: one fit on a frame, and its probabilities."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
)

from metasampler_bench._methods import METHODS, find_method
from metasampler_bench._protocol import fit_seed, take_frames
from metasampler_bench._rows import finished, last_rows
from metasampler_bench._samplers import SamplerCache
from metasampler_bench._spec import Job
from metasampler_bench._table_methods import BUDGETS, for_frames

__all__ = ["measure_tables"]


def measure_tables(job: Job, cache: SamplerCache) -> list[dict[str, Any]]:
    """Fit one method on a frame as it is, and measure the probabilities of the test rows."""
    cell = job.cell
    X, y, X_test, y_test = take_frames(
        cell["dataset"], cell["run"], seed=cache.seed, data_home=cache.data_home
    )
    seed = fit_seed(cell["run"], cell["fold"], cache.seed)
    model = find_method(cell["method"]).build(None, max(job.ks, default=None), seed, n_jobs=1)
    row: dict[str, Any] = {}
    if cell["method"] in BUDGETS:
        row["budget"], row["budget_from"] = _budget(cell, cache, X, y, seed)
        model.set_params(seconds=row["budget"])
    model = for_frames(cell["method"], model)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    row["cpu"] = round(time.process_time() - cpu, 4)
    row["wall"] = round(time.perf_counter() - wall, 4)
    wall, cpu = time.perf_counter(), time.process_time()
    probability = np.asarray(model.predict_proba(X_test), dtype=float)
    row["predict_cpu"] = round(time.process_time() - cpu, 4)
    row["predict_wall"] = round(time.perf_counter() - wall, 4)
    probability = probability[:, int(np.flatnonzero(model.classes_ == 1)[0])]
    row["score"] = round(float(average_precision_score(y_test, probability)), 6)
    row["roc_auc"] = round(float(roc_auc_score(y_test, probability)), 6)
    row["brier"] = round(float(brier_score_loss(y_test, probability)), 7)
    row["log_loss"] = round(float(log_loss(y_test, probability, labels=[0, 1])), 7)
    return [{**row, **_facts(X, X_test, y, y_test)}]


def _facts(X: Any, X_test: Any, y: Any, y_test: Any) -> dict[str, Any]:
    """Describe the whole table: its size, and shares of categories and of missing values."""
    n_rows = len(y) + len(y_test)
    missing = int(X.isna().to_numpy().sum()) + int(X_test.isna().to_numpy().sum())
    # All that is neither a number nor a date: categories, texts.
    numbers = X.select_dtypes(["number", "bool", "datetime", "datetimetz"])
    return {
        "n_rows": n_rows,
        "n_features": X.shape[1],
        "n_positive": int(y.sum() + y_test.sum()),
        "categories": round(1 - numbers.shape[1] / X.shape[1], 4),
        "missing": round(missing / (n_rows * X.shape[1]), 4),
    }


def _budget(cell: dict[str, Any], cache: SamplerCache, X: Any, y: Any, seed: int) -> Any:
    """Return the CPU seconds of another method on these rows, and where they come from."""
    owner, times = BUDGETS[cell["method"]]
    wanted = {**cell, "method": owner}
    for row in last_rows(finished(cache.earlier_rows())):
        if row["cell"] == wanted and row["seed"] == cache.seed and row["commit"] == cache.commit:
            return round(times * row["cpu"], 4), "row"
    model = METHODS[owner].build(None, None, seed, n_jobs=1)
    start = time.process_time()
    model.fit(X, y)
    return round(times * (time.process_time() - start), 4), "fit"
