"""Ask what the draw of a sample is worth with many classes: its balance, weights and hardness."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler_bench._class_measure import scores_of_classes, take_classes
from metasampler_bench._frames import FrameClassifier
from metasampler_bench._progress import tracked
from metasampler_bench._tables import Entry, ResultTable
from metasampler_bench.datasets._classes import CLASS_TABLES
from metasampler_bench.studies._study import Options, Row, Study

__all__ = ["CLASS_DRAWS", "class_sizes", "draw_classes"]

#: Balance q, power w of the weights, and power p of the errors.
VARIANTS = (
    *((q, 0.5, 0) for q in (0.0, 0.25, 0.5, 0.75, 1.0)),
    *((1.0, w, 0) for w in (0.0, 1.0)),
    *((q, 0.5, p) for q in (0.5, 0.75) for p in (1, 2, 4)),
)
#: What the default does.
_USUAL = (1.0, 0.5, 0)
_N_TREES, _N_FOLDS, _MOST_ROWS = 40, 5, 2000

# Added to errors: among rows that are easy anyway nothing depends on how easy they are.
_FLOOR = 0.1


def class_sizes(counts: np.ndarray, q: float) -> np.ndarray:
    """Return how many rows of each class a sample has: 0 takes as many as of the smallest class."""
    sizes = np.ceil(counts.min() ** (1 - q) * counts**q)
    return np.minimum(counts, sizes).astype(int)


def draw_classes(
    y: np.ndarray, rows: np.ndarray, q: float, power: float, errors: np.ndarray, rng: Any
) -> np.ndarray:
    """Return a sample of rows: from each class with weights ``(error + 0.1) ** power``."""
    counts = np.bincount(y[rows])
    present = np.flatnonzero(counts)
    sample = []
    for k, size in zip(present, class_sizes(counts[present].astype(float), q), strict=True):
        of_class = rows[y[rows] == k]
        keys = np.log(-np.log(rng.random(len(of_class))))
        keys -= power * np.log(errors[of_class] + _FLOOR)
        sample.append(of_class[np.argsort(keys)[:size]])
    return np.sort(np.concatenate(sample))


def _forest(numbers: Any, y: Any, numbers_test: Any, variant: tuple, seed: int) -> np.ndarray:
    """Return the mean probability of trees that each leave out a fold of the rows."""
    (q, weighting, power), n_classes = variant, int(y.max()) + 1
    rng = np.random.default_rng(seed)
    folds = rng.permutation(len(y)) % _N_FOLDS
    judged, n_judges = np.zeros((len(y), n_classes)), np.zeros(len(y))
    total, every = np.zeros((len(numbers_test), n_classes)), np.arange(len(y))
    for number in range(_N_TREES):
        fold = number % _N_FOLDS
        known = judged[every, y] / np.maximum(n_judges, 1)
        errors = np.where(n_judges > 0, 1 - known, 0.5)
        sample = draw_classes(y, every[folds != fold], q, power, errors, rng)
        weights = np.bincount(y[sample], minlength=n_classes)[y[sample]] ** -float(weighting)
        tree = DecisionTreeClassifier(
            max_features="sqrt", min_samples_leaf=2, random_state=int(rng.integers(1 << 30))
        ).fit(numbers[sample], y[sample], sample_weight=weights / weights.mean())
        total[:, tree.classes_] += tree.predict_proba(numbers_test)
        out = np.flatnonzero(folds == fold)
        judged[np.ix_(out, tree.classes_)] += tree.predict_proba(numbers[out])
        n_judges[out] += 1
    return total / _N_TREES


def _measure(options: Options) -> Iterator[Row]:
    """Yield a row for each table, split and way to draw."""
    names = [name for name in CLASS_TABLES if not options.datasets or name in options.datasets]
    for name in tracked([each for each in names if each not in options.finished], "class draws"):
        for run in range(options.seed, options.seed + options.runs):
            X, y, X_test, y_test = take_classes(
                name, run, data_home=options.data_home, most=_MOST_ROWS
            )
            with warnings.catch_warnings():
                # Small classes; and rows that are left out of one class alone.
                warnings.simplefilter("ignore")
                clf = MesaClassifier(recipe="fast", random_state=run).fit(X, y)
            usual = np.zeros((len(y_test), int(max(y.max(), y_test.max())) + 1))
            usual[:, clf.classes_] = clf.predict_proba(X_test)
            form = FrameClassifier(DecisionTreeClassifier(max_depth=1), takes="numbers")
            form.fit(X, y)
            numbers, numbers_test = form.form_(X), form.form_(X_test)
            for variant in VARIANTS:
                forest = np.zeros_like(usual)
                proba = _forest(numbers, y, numbers_test, variant, run)
                forest[:, : proba.shape[1]] = proba
                # A product, as the default joins its teams.
                both = (forest + 0.01) * (usual + 0.01)
                alone, joint = (scores_of_classes(y, y_test, each) for each in (forest, both))
                yield {
                    "table": name,
                    "run": run,
                    "q": variant[0],
                    "w": variant[1],
                    "p": variant[2],
                    "score": alone["score"],
                    "tail": alone["tail"],
                    "balanced": alone["balanced_by_prior"],
                    "with fast": joint["score"],
                    "fast": scores_of_classes(y, y_test, usual)["score"],
                }


def _means(rows: list[Row], number: str) -> tuple[list[str], np.ndarray]:
    """Return the tables, and the mean score of each table (row) and variant (column)."""
    tables = list(dict.fromkeys(row["table"] for row in rows))
    means = np.array(
        [
            [
                np.mean(
                    [
                        row[number]
                        for row in rows
                        if row["table"] == name and (row["q"], row["w"], row["p"]) == variant
                    ]
                )
                for variant in VARIANTS
            ]
            for name in tables
        ]
    )
    return tables, means


def _tables(rows: list[Row]) -> list[ResultTable]:
    names, alone = _means(rows, "score")
    _, joint = _means(rows, "with fast")
    _, balanced = _means(rows, "balanced")
    best = alone.mean(axis=0).argmax()
    lines = []
    for number, (q, w, p) in enumerate(VARIANTS):
        relative = (alone[:, number] / alone.max(axis=1)).mean()
        lines.append(
            [
                Entry(f"{q:g}"),
                Entry(f"{w:g}"),
                Entry(f"{p:g}"),
                Entry(f"{alone[:, number].mean():.4f}", bold=number == best),
                Entry(f"{relative:.3f}"),
                Entry(f"{balanced[:, number].mean():.4f}"),
                Entry(f"{joint[:, number].mean():.4f}"),
            ]
        )
    header = ["q", "w", "p", "macro AP", "of the table's best", "balanced accuracy"]
    ways = ResultTable(
        "Ways to draw the samples of a forest",
        [*header, "macro AP with the fast recipe"],
        lines,
        f"Means over {len(names)} tables.",
    )
    return [ways, _choices(names, alone, joint)]


def _choices(names: list[str], alone: np.ndarray, joint: np.ndarray) -> ResultTable:
    """Show what choosing the draw by table could give."""
    lines = []
    usual = VARIANTS.index(_USUAL)
    for title, means in (("a forest", alone), ("the fast recipe and a forest", joint)):
        # Each table by the way that is best on the mean of all others.
        others = means.sum(axis=0) - means
        learned = np.take_along_axis(means, others.argmax(axis=1)[:, np.newaxis], axis=1)
        lines.append(
            [
                title,
                f"{means[:, usual].mean():.4f}",
                f"{means.mean(axis=0).max():.4f}",
                f"{learned.mean():.4f}",
                f"{means.max(axis=1).mean():.4f}",
            ]
        )
    header = ["members", "q = 1, w = 0.5", "best constant", "chosen on the other tables"]
    return ResultTable.from_texts(
        "What a choice of the draw is worth",
        [*header, "best of each table, in hindsight"],
        lines,
        f"Macro average precision, mean over {len(names)} tables. Hindsight looks at the test rows "
        "and gains by chance too.",
    )


CLASS_DRAWS = Study(
    name="class-draws",
    title="Many classes: what the draw adds",
    about=(
        "The 24 raw tables with many classes, 2,000 rows of each at most. A forest of 40 trees; "
        "each leaves out a fifth of the rows. A class of n rows gives n_min^(1-q) n^q of them, "
        "where n_min is the size of the smallest class. Its rows weigh one over their number to "
        "the power of w. Within a class rows are drawn with weights (error + 0.1)^p by the trees "
        "that left them out."
    ),
    measure=_measure,
    tables=_tables,
    runs=1,
    resumes=True,
)
