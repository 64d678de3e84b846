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
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from metasampler import MesaClassifier
from metasampler._running import progress_bar
from metasampler.cli._comparison import at_the_top, describe
from metasampler.cli._per_day import Alarms, alarms_per_day
from metasampler.cli._plain_lightgbm import PlainLightGBM
from metasampler.cli._splits import how_split, make_splits
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
    per_day : bool
        Whether it is a number of each day.
    """

    model: Any
    promise: str
    scores: Any = None
    figures: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    n_called: int | None = None
    per_day: bool = False


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
    per_day: bool = False,
) -> Outcome:
    """Cross-validate beside LightGBM, if there are ``folds``, then fit on all rows.

    ``n_called`` is the number of rows of each file, or ``per_day``, that `metasampler predict` will
    call.
    """
    y = task.classes[task.y]
    n_jobs, seed = settings["n_jobs"], settings["random_state"]
    results: dict[str, list[dict[str, float]]] = {"MESA": [], "LightGBM": []}
    notes: dict[str, None] = {}
    fitted: list[tuple[Any, Any, Any]] = []
    splits = make_splits(task, folds, seed) if folds else []
    steps = 2 * len(splits) + 1
    # Threads, not processes: the table is in memory once.
    with (
        progress_bar("fit", steps, enabled=sys.stderr.isatty(), transient=True) as advance,
        threadpool_limits(joblib.effective_n_jobs(n_jobs)),
        joblib.parallel_config(backend="threading"),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        of_all = round(settings["threshold"][1] * len(y)) if n_called is not None else None
        for number, (train, test) in enumerate(splits, start=1):
            clf = _classifier(preset, settings)
            advance(f"fold {number} of {len(splits)}", steps=0)
            groups = None if task.groups is None else task.groups[train]
            fewest = np.bincount(task.y[train], minlength=len(task.labels)).min()
            if groups is not None and clf.estimator is None and fewest >= _ENOUGH_ROWS:
                # The folds judge it: no clones of its own have to.
                clf.set_params(refit=False)
            clf.fit(task.X.iloc[train], y[train], groups=groups)
            fitted.append((clf, test, train))
            advance()
            rival = PlainLightGBM(random_state=seed, n_jobs=n_jobs)
            rival.fit(task.X.iloc[train], task.y[train])
            advance()
            _judge(results, task, test, clf, rival, of_all)
        advance("all rows", steps=0)
        clf = _classifier(preset, settings)
        if task.source is not None:
            clf.fit(task.source)
        else:
            clf.fit(task.X, y, groups=task.groups, time=None if splits else task.time)
        # In a fit few members score a held-out row. In the folds whole ensembles do.
        alarms = _decide_by_folds(clf, task, fitted, n_called if per_day else None)
        advance()
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            notes.setdefault(str(warning.message))
    outcome = Outcome(
        Pipeline([("cleaner", task.cleaner), ("classifier", clf)]),
        _promise(clf, n_called, alarms, per_day=per_day),
        notes=list(notes),
        n_called=n_called,
        per_day=per_day,
    )
    if folds:
        outcome.scores = _table(task, results, folds)
        outcome.figures = {
            name: {key: [fold[key] for fold in each] for key in each[0]}
            for name, each in results.items()
        }
    return outcome


def _decide_by_folds(
    clf: Any, task: Task, fitted: list[tuple[Any, Any, Any]], n_per_day: int | None
) -> Alarms | None:
    """Calibrate and decide by the folds; return what a number of alarms a day finds in them."""
    if not fitted:
        return None
    if task.time is not None and task.groups is None:
        # The newest rows judge: older folds only if these have too few rows of a class.
        while len(fitted) > 1:
            newest = np.concatenate([test for _, test, _ in fitted[1:]])
            if np.bincount(task.y[newest], minlength=len(task.labels)).min() < _ENOUGH_ROWS:
                break
            fitted = fitted[1:]
    rows = np.concatenate([test for _, test, _ in fitted])
    if np.bincount(task.y[rows], minlength=len(task.labels)).min() < _ENOUGH_ROWS:
        return None
    clf.recalibrate(task.X, task.classes[task.y], groups=task.groups, fitted=fitted)
    if n_per_day is None:
        return None
    scores = np.concatenate(
        [clone.predict_proba(task.X.iloc[test])[:, task.positive] for clone, test, _ in fitted]
    )
    days = np.floor(task.time[rows])
    return alarms_per_day(scores, task.y[rows] == task.positive, days, n_per_day)


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
                "alarms": n_called / len(test),
            }
        )


def _table(task: Task, results: dict[str, list[dict[str, float]]], folds: int) -> Table:
    """Return the scores as a table."""
    caption = f"Means over {how_split(task, folds)} (± standard deviation)."
    if len(task.labels) == 2:
        caption += (
            " Precision and recall are at the threshold. LightGBM has its default settings, and "
            "raises as many alarms, for its most probable rows."
        )
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1), caption=caption, caption_justify="left")
    drawn.add_column("cross-validated")
    names = list(results["MESA"][0])
    for name in names:
        title = "alarms, of all rows" if name == "alarms" else name
        drawn.add_column(title, justify="right", no_wrap=True)
    for method, each in results.items():
        cells = []
        for name in names:
            values = np.array([fold[name] for fold in each])
            known = values[~np.isnan(values)]
            form = ".1%" if name == "alarms" else ".3f"
            mean = f"{known.mean():{form}}" if len(known) else "-"
            first = name == names[0]
            cells.append(f"{mean} ± {known.std():.3f}" if first else mean)
        drawn.add_row(method, *cells)
    return drawn


def _promise(clf: Any, n_called: int | None, alarms: Alarms | None, *, per_day: bool) -> str:
    """Return what the threshold does, and what to expect of it."""
    promise = clf.summary().promise
    if not promise:
        return "predict returns the class that is most probable compared with its frequency."
    if n_called is not None:
        of_each = "day" if per_day else "file"
        found = f" {alarms}" if alarms is not None else ""
        promise = (
            f"`metasampler predict` raises alarms for the {n_called:,} most probable rows of each "
            f"{of_each}.{found} In Python {promise}"
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
    group: str | None = None,
    time: str | None = None,
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
        per_day=outcome.per_day,
        group=group,
        time=time,
        time_format=task.time_format,
        cross_validation=outcome.figures,
        command=command,
    )
