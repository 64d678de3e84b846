"""Several methods on one task: their cross-validation, and the table and the picture of it."""

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from sklearn.impute import SimpleImputer
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import label_binarize
from threadpoolctl import threadpool_limits

from metasampler._running import progress_bar
from metasampler._writing import written_beside
from metasampler.cli._methods import METHODS
from metasampler.cli._splits import how_split, make_splits
from metasampler.cli._table_input import Task
from metasampler.tables import TableEncoder, is_frame

#: Members of the ensembles that have no number of their own: as many as MESA and forests have.
USUAL_SIZE = 100

_RULE_FOR_MANY = (
    "Scores are macro averages, each class against the rest; for F1 each row gets the class that "
    "is most probable compared with its frequency. "
)
#: What the titles of methods mean that do not say it themselves.
_EXPLAINED = {
    METHODS["spe"].title: "SPE is a self-paced ensemble",
    METHODS["mesa-fit"].title: "'MESA, meta-trained' first learns a sampler from the training rows",
}


@dataclass
class Result:
    """What one method did."""

    title: str
    #: That of the positive class, predicted by the fold that did not train on the row.
    probability: NDArray[np.float64]
    #: One entry per fold: scores and seconds, by the names of the table's columns.
    folds: list[dict[str, float]] = field(default_factory=list)
    #: Empty unless the method raised an error.
    failure: str = ""

    def column(self, name: str) -> list[float]:
        """Return a number of each fold."""
        return [fold[name] for fold in self.folds]


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

    ``top`` is the share of the rows that every method calls; None means the class's own share.
    """
    splits = make_splits(task, folds, seed)
    results = []
    with progress_bar(
        "compare", len(methods) * len(splits), enabled=sys.stderr.isatty(), transient=True
    ) as advance:
        for name, method in methods.items():
            result = Result(method.title, np.full(len(task.y), np.nan))
            results.append(result)
            size = n_estimators or (USUAL_SIZE if method.sized else None)
            reads_tables = not is_frame(task.X) or getattr(method, "reads_tables", False)
            try:
                for train, test in splits:
                    advance(name, steps=0)
                    model = method.build(n_estimators=size, random_state=seed, n_jobs=n_jobs)
                    if not reads_tables:
                        medians = SimpleImputer(strategy="median", keep_empty_features=True)
                        model = make_pipeline(TableEncoder(), medians, model)
                    probability, fold = _run_fold(task, model, train, test, n_jobs, top)
                    result.probability[test] = probability
                    result.folds.append(fold)
                    advance(name)
            except Exception as error:
                reason = str(error).strip().splitlines()
                result.failure = f"{type(error).__name__}: {reason[0] if reason else ''}"
                advance(name, steps=len(splits) - len(result.folds))
    return results


def _run_fold(
    task: Task,
    model: Any,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    n_jobs: int,
    top: float | None,
) -> tuple[NDArray[np.float64], dict[str, float]]:
    """Fit on one fold's training rows; return probabilities of its test rows, and its numbers."""
    rows = task.X.iloc if hasattr(task.X, "iloc") else task.X
    X_train, X_test = rows[train], rows[test]
    # Threads, not processes: the processor time of processes would not be seen from here.
    with (
        threadpool_limits(joblib.effective_n_jobs(n_jobs)),
        joblib.parallel_config(backend="threading"),
    ):
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(X_train, task.y[train])
        seconds = {"fit, s": time.perf_counter() - wall, "CPU, s": time.process_time() - cpu}
        probability = model.predict_proba(X_test)
    truth, prior = task.y[test], np.bincount(task.y[train], minlength=len(task.labels)) / len(train)
    found: NDArray[Any]
    if len(task.labels) == 2:
        # One rule for all methods: each calls as many rows, those with the highest probabilities.
        found, score = truth == task.positive, probability[:, task.positive]
        share = prior[task.positive] if top is None else top
        precision, recall = at_the_top(found, score, max(1, round(share * len(truth))))
        by_rule = {"precision": precision, "recall": recall}
    else:
        # Each row gets the class that is most probable compared with its frequency.
        found, score = label_binarize(truth, classes=np.arange(len(task.labels))), probability
        by_rule = {"F1": f1_score(truth, np.argmax(probability / prior, axis=1), average="macro")}
    scores = {
        "average precision": average_precision_score(found, score),
        "ROC AUC": roc_auc_score(found, score),
    }
    return probability[:, task.positive], {**scores, **by_rule, **seconds}


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


def describe(task: Task) -> str:
    """Describe the data set in one line."""
    n_rows, n_columns = len(task.y), task.X.shape[1]
    counts, smallest = task.counts, task.smallest
    left_out = {} if task.cleaner is None else task.cleaner.left_out_
    # The user knows what they dropped.
    used = " in use" if any(why != "As asked." for why in left_out.values()) else ""
    parts = [f"{n_rows:,} rows", f"{n_columns:,} columns{used}"]
    if len(task.labels) > 2:
        parts.append(f"{len(task.labels)} classes")
    parts.append(f"minority {escape(repr(task.labels[smallest]))}: {counts[smallest]:,} rows")
    parts.append(f"ratio {counts.max() / counts[smallest]:.1f}:1")
    if len(task.labels) == 2 and task.positive != smallest:
        parts.append(f"class to find {escape(repr(task.labels[task.positive]))}")
    return f"[bold]{escape(task.name)}[/]: " + ", ".join(parts)


def describe_columns(title: str, columns: dict[str, str]) -> str:
    """Name columns, with what was found."""
    parts = [f"{escape(str(name))} ({escape(why.rstrip('.'))})" for name, why in columns.items()]
    return f"{title}: {'; '.join(parts)}."


def table(
    task: Task,
    results: list[Result],
    *,
    folds: int,
    n_estimators: int | None,
    top: float | None = None,
) -> Table:
    """Return the results as one table: best average precision first and in bold, failures last."""
    many = len(task.labels) > 2
    rows = (
        "its n most probable rows, where n is the number of positives"
        if top is None
        else f"{top:.3g} of the rows, its most probable ones"
    )
    rule = f"For precision and recall each method calls {rows}. "
    titles = {result.title for result in results}
    explained = "; ".join(words for title, words in _EXPLAINED.items() if title in titles)
    caption = (
        f"Means over {how_split(task, folds)} (± standard deviation). Ensembles have "
        f"{n_estimators or USUAL_SIZE} members, forests and boosting at most 100 trees. "
        + ("" if n_estimators else "MESA's presets set their own size. ")
        + (f"{explained}. " if explained else "")
        + (_RULE_FOR_MANY if many else rule)
        + "Times are of one fit."
    )
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1), caption=caption, caption_justify="left")
    drawn.add_column("method", max_width=40, overflow="fold")
    scores = ("average precision", "ROC AUC", *(("F1",) if many else ("precision", "recall")))
    formats = dict.fromkeys(scores, ".3f") | dict.fromkeys(("fit, s", "CPU, s"), ".2f")
    for name in formats:
        drawn.add_column(name, justify="right", no_wrap=True)

    finished = [result for result in results if not result.failure]
    finished.sort(key=lambda result: -np.mean(result.column(scores[0])))
    for rank, result in enumerate(finished):
        cells = [f"{np.mean(result.column(name)):{form}}" for name, form in formats.items()]
        cells[0] += f" ± {np.std(result.column(scores[0])):.3f}"
        drawn.add_row(result.title, *cells, style="bold" if rank == 0 else None)
    for result in results:
        if result.failure:
            reason = result.failure[:200]
            drawn.add_row(Text.assemble(result.title, "\n", (f"failed: {reason}", "red")))
    return drawn


def save_curves(task: Task, results: list[Result], path: Path) -> None:
    """Draw precision over recall of the class to find, from all folds' predictions together."""
    from matplotlib.figure import Figure
    from sklearn.metrics import PrecisionRecallDisplay

    from metasampler.plotting.style import legend_beside, line_style, tidy

    against = "the rest" if len(task.labels) > 2 else task.labels[1 - task.positive]
    title = f"{task.name}: {task.labels[task.positive]} against {against}, all folds together"
    # Figure without pyplot: no window system is asked for, and no state is left behind.
    figure = Figure(figsize=(9, 5), layout="constrained")
    ax = figure.add_subplot()
    drawn = [result for result in results if not result.failure]
    # Forward in time the oldest rows are never tested.
    tested = np.flatnonzero(~np.isnan(drawn[0].probability)) if drawn else np.empty(0, np.intp)
    found = task.y[tested] == task.positive
    drawn.sort(key=lambda result: -average_precision_score(found, result.probability[tested]))
    for number, result in enumerate(drawn):
        chance = {"plot_chance_level": result is drawn[-1]}
        curve = PrecisionRecallDisplay.from_predictions(
            found, result.probability[tested], name=result.title, ax=ax, **chance
        )
        # Every curve has its markers elsewhere, at equal distances in the picture.
        curve.line_.set(**line_style(number), markevery=(0.02 * (number % 6), 0.12))
    ax.set(xlabel="recall", ylabel="precision", aspect="auto")
    ax.set_title(title, loc="left", fontsize=11, parse_math=False)
    tidy(ax)
    legend_beside(ax)
    with written_beside(path) as file:
        figure.savefig(file, dpi=150, format=path.suffix[1:])
