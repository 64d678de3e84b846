"""What ``metasampler fit`` does and prints once its options are checked."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from metasampler import MesaClassifier
from metasampler._running import progress_bar
from metasampler.cli._comparison import at_the_top, describe
from metasampler.cli._lightgbm import PlainLightGBM
from metasampler.cli._table_input import Task
from metasampler.persistence import save_model

# With fewer rows of a class the folds decide by chance.
_ENOUGH_ROWS = 25


@dataclass
class Outcome:
    """What came of a fit.

    Attributes
    ----------
    model : Pipeline
        The cleaner and the fitted classifier: it takes rows as the file has them.
    promise : str
        What the threshold promises.
    scores : rich Table or None
        The cross-validated scores, if they were asked for.
    figures : dict
        The same as numbers, by method.
    notes : list of str
        Warnings of the fit.
    n_called : int or None
        The number of rows of each file to call, if it was asked for.
    """

    model: Any
    promise: str
    scores: Any = None
    figures: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    n_called: int | None = None


def print_findings(console: Any, task: Task, target: str) -> None:
    """Print what was found in the file: columns, what is left out and why, class counts."""
    console.print(describe(task), soft_wrap=True)
    counts = ", ".join(
        f"{escape(repr(label))} {count:,}"
        for label, count in zip(task.labels, task.counts.tolist(), strict=True)
    )
    console.print(f"Target {escape(repr(target))}: {counts}.", soft_wrap=True)
    dropped = [name for name, why in task.cleaner.left_out_.items() if why == "As asked."]
    if dropped:
        console.print(f"Dropped, as asked: {escape(', '.join(dropped))}.", soft_wrap=True)
    console.print(str(task.cleaner.report_).rstrip(), markup=False, soft_wrap=True)
    console.print()


def fit_model(
    task: Task,
    preset: str,
    settings: dict[str, Any],
    *,
    folds: int,
    n_called: int | None = None,
) -> Outcome:
    """Cross-validate beside LightGBM, if there are ``folds``, then fit on all rows.

    ``n_called`` is the number of rows of each file that `metasampler predict` will call.
    """
    y = task.classes[task.y]
    n_jobs, seed = settings["n_jobs"], settings["random_state"]
    results: dict[str, list[dict[str, float]]] = {"MESA": [], "LightGBM": []}
    notes: dict[str, None] = {}
    fitted: list[tuple[Any, Any]] = []
    steps = 2 * folds + 1
    # Threads, not processes: the table is in memory once.
    with (
        progress_bar("fit", steps, enabled=sys.stderr.isatty(), transient=True) as advance,
        threadpool_limits(joblib.effective_n_jobs(n_jobs)),
        joblib.parallel_config(backend="threading"),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        if folds:
            splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
            for number, (train, test) in enumerate(splitter.split(task.y, task.y), start=1):
                clf = _classifier(preset, settings)
                advance(f"fold {number} of {folds}", steps=0)
                clf.fit(task.X.iloc[train], y[train])
                fitted.append((clf, test))
                advance()
                rival = PlainLightGBM(random_state=seed, n_jobs=n_jobs)
                rival.fit(task.X.iloc[train], task.y[train])
                advance()
                _judge(results, task, test, clf, rival, n_called)
        advance("all rows", steps=0)
        clf = _classifier(preset, settings)
        clf.fit(*((task.X, y) if task.source is None else (task.source,)))
        if fitted and task.counts.min() >= _ENOUGH_ROWS:
            # In a fit few members score a held-out row. Here whole ensembles do.
            clf.recalibrate(task.X, y, fitted=fitted)
        advance()
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            notes.setdefault(str(warning.message))
    outcome = Outcome(
        Pipeline([("cleaner", task.cleaner), ("classifier", clf)]),
        _promise(clf, n_called),
        notes=list(notes),
        n_called=n_called,
    )
    if folds:
        outcome.scores = _table(task, results, folds)
        outcome.figures = {
            name: {key: [fold[key] for fold in each] for key in each[0]}
            for name, each in results.items()
        }
    return outcome


def _classifier(preset: str, settings: dict[str, Any]) -> Any:
    return MesaClassifier.from_preset(preset, **settings)


def _judge(
    results: dict[str, list], task: Task, test: Any, clf: Any, rival: Any, n_of_all: int | None
) -> None:
    """Add the scores of one fold; LightGBM calls as many rows as MESA does."""
    rows, truth = task.X.iloc[test], task.y[test]
    proba, other = clf.predict_proba(rows), rival.predict_proba(rows)
    if len(task.labels) > 2:
        decided = np.searchsorted(clf.classes_, clf.decide(proba))
        prior = np.bincount(task.y) / len(task.y)
        called = {"MESA": decided, "LightGBM": np.argmax(other / prior, axis=1)}
        each = np.eye(len(task.labels))[truth]
        for name, scores in (("MESA", proba), ("LightGBM", other)):
            results[name].append(
                {
                    "average precision": float(average_precision_score(each, scores)),
                    "ROC AUC": float(roc_auc_score(each, scores)),
                    "F1": float(f1_score(truth, called[name], average="macro")),
                }
            )
        return
    found = truth == task.positive
    if n_of_all is not None:
        # The number is for a file as large as this one.
        n_called = max(1, round(n_of_all * len(test) / len(task.y)))
    else:
        n_called = int((clf.decide(proba) == clf.minority_class_).sum())
    for name, scores in (("MESA", proba), ("LightGBM", other)):
        score = scores[:, task.positive]
        precision, recall = at_the_top(found, score, n_called) if n_called else (np.nan, 0.0)
        results[name].append(
            {
                "average precision": float(average_precision_score(found, score)),
                "ROC AUC": float(roc_auc_score(found, score)),
                "precision": precision,
                "recall": recall,
                "called": n_called / len(test),
            }
        )


def _table(task: Task, results: dict[str, list[dict[str, float]]], folds: int) -> Table:
    """Return the scores as a table."""
    caption = f"Means over {folds} folds (± standard deviation)."
    if len(task.labels) == 2:
        caption += (
            " Precision and recall are at the threshold. LightGBM has its default settings, and "
            "calls the same number of rows, its most probable ones."
        )
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1), caption=caption, caption_justify="left")
    drawn.add_column("cross-validated")
    names = list(results["MESA"][0])
    for name in names:
        title = "rows called" if name == "called" else name
        drawn.add_column(title, justify="right", no_wrap=True)
    for method, each in results.items():
        cells = []
        for name in names:
            values = np.array([fold[name] for fold in each])
            known = values[~np.isnan(values)]
            form = ".1%" if name == "called" else ".3f"
            mean = f"{known.mean():{form}}" if len(known) else "-"
            first = name == names[0]
            cells.append(f"{mean} ± {known.std():.3f}" if first else mean)
        drawn.add_row(method, *cells)
    return drawn


def _promise(clf: Any, n_called: int | None) -> str:
    """Return what the threshold does, and what to expect of it."""
    promise = clf.summary().promise
    if not promise:
        return "predict returns the class that is most probable compared with its frequency."
    if n_called is not None:
        promise = (
            f"`metasampler predict` calls the {n_called:,} most probable rows of each file. "
            f"In Python {promise}"
        )
    return f"Threshold: {promise}"


def store(
    task: Task,
    outcome: Outcome,
    output: Path,
    *,
    target: str | None,
    preset: str,
    command: str,
) -> None:
    """Write the model, with all that is known of it."""
    two = len(task.labels) == 2
    save_model(
        outcome.model,
        output,
        source=task.name,
        target=target,
        positive=task.classes[task.positive] if two else None,
        n_rows=len(task.y),
        preset=preset,
        left_out={str(name): why for name, why in task.cleaner.left_out_.items()},
        warned={str(name): why for name, why in task.cleaner.report_.warned.items()},
        promise=outcome.promise,
        n_called=outcome.n_called,
        cross_validation=outcome.figures,
        command=command,
    )
