"""Stratified cross-validation of several methods on one task."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import label_binarize
from threadpoolctl import threadpool_limits

from metasampler._running import progress_bar
from metasampler.cli._table_input import Task
from metasampler.tables import TableEncoder, is_frame

#: Members of the ensembles that have no number of their own: as many as MESA and forests have.
USUAL_SIZE = 100


@dataclass
class Result:
    """What one method did: an entry per fold, and a probability.

    ``precision`` and ``recall`` are those of one rule for all methods: as many rows are called as
    the rule says, those with the highest probabilities. Of more than two classes ``f1`` is the
    macro average, where each row gets the class that is most probable compared with its frequency.
    ``probability`` is that of the task's positive class, predicted by the fold that did not train
    on the row. ``failure`` is empty unless the method raised an error.
    """

    method: str
    title: str
    probability: NDArray[np.float64]
    average_precision: list[float] = field(default_factory=list)
    roc_auc: list[float] = field(default_factory=list)
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)
    wall_seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    rows_used: list[int] = field(default_factory=list)
    failure: str = ""


def cross_validate(
    task: Task,
    methods: dict[str, Any],
    *,
    folds: int,
    n_estimators: int | None,
    seed: int,
    n_jobs: int = 1,
    top: float | None = None,
) -> list[Result]:
    """Run methods on the same folds; a method that raises loses its own row only.

    Without ``n_estimators`` ensembles have `USUAL_SIZE` members, or what is their own number.
    ``top`` is the share of the rows that every method calls; None means the class's own share of
    the training rows.
    """
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(task.y, task.y))
    results = []
    with progress_bar(
        "compare", len(methods) * folds, enabled=sys.stderr.isatty(), transient=True
    ) as advance:
        for name, method in methods.items():
            result = Result(name, method.title, np.full(len(task.y), np.nan))
            results.append(result)
            size = n_estimators or (USUAL_SIZE if method.sized else None)
            reads_tables = not is_frame(task.X) or getattr(method, "reads_tables", False)
            left = folds
            try:
                for train, test in splits:
                    advance(name, steps=0)
                    model = method.build(n_estimators=size, random_state=seed, n_jobs=n_jobs)
                    fitted = model if reads_tables else _on_numbers(model)
                    _run_fold(result, task, fitted, train, test, n_jobs, top)
                    result.rows_used.append(method.n_training_rows(model, len(train)))
                    advance(name)
                    left -= 1
            except Exception as error:
                reason = str(error).strip().splitlines()
                result.failure = f"{type(error).__name__}: {reason[0] if reason else ''}"
                advance(name, steps=left)
    return results


def _on_numbers(model: Any) -> Any:
    """Return a model of tables, for a method that takes numbers without gaps."""
    medians = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(TableEncoder(), medians, model)


def _run_fold(
    result: Result,
    task: Task,
    model: Any,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    n_jobs: int,
    top: float | None,
) -> None:
    """Fit on one fold's training rows, and score the rows of its test."""
    rows = task.X.iloc if hasattr(task.X, "iloc") else task.X
    X_train, X_test = rows[train], rows[test]
    # Threads, not processes: the processor time of processes would not be seen from here.
    with (
        threadpool_limits(joblib.effective_n_jobs(n_jobs)),
        joblib.parallel_config(backend="threading"),
    ):
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X_train, task.y[train])
        result.cpu_seconds.append(time.process_time() - cpu)
        result.wall_seconds.append(time.perf_counter() - wall)
        probability = model.predict_proba(X_test)
    result.probability[test] = probability[:, task.positive]
    prior = np.bincount(task.y[train], minlength=len(task.labels)) / len(train)
    _score(result, task, test, probability, prior, top)


def _score(
    result: Result,
    task: Task,
    test: NDArray[np.intp],
    probability: NDArray[np.float64],
    prior: NDArray[np.float64],
    top: float | None,
) -> None:
    """Add the scores of one fold."""
    truth = task.y[test]
    if len(task.labels) == 2:
        found = truth == task.positive
        score = probability[:, task.positive]
        result.average_precision.append(average_precision_score(found, score))
        result.roc_auc.append(roc_auc_score(found, score))
        share = prior[task.positive] if top is None else top
        precision, recall = at_the_top(found, score, max(1, round(share * len(test))))
        result.precision.append(precision)
        result.recall.append(recall)
        return
    each_class = label_binarize(truth, classes=np.arange(len(task.labels)))
    result.average_precision.append(average_precision_score(each_class, probability))
    result.roc_auc.append(roc_auc_score(each_class, probability))
    decided = np.argmax(probability / prior, axis=1)
    result.f1.append(f1_score(truth, decided, average="macro"))


def at_the_top(
    found: NDArray[np.bool_], score: NDArray[np.float64], n_called: int
) -> tuple[float, float]:
    """Return precision and recall if the rows with the highest scores are called.

    Rows of one score count alike: what lies on the edge is called in part.
    """
    n_called = min(n_called, len(score))
    edge = np.partition(score, -n_called)[-n_called]
    above, on_edge = score > edge, score == edge
    part = (n_called - above.sum()) / on_edge.sum()
    hits = found[above].sum() + part * found[on_edge].sum()
    return float(hits / n_called), float(hits / max(1, found.sum()))
