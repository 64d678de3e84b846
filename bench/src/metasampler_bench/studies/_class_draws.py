"""Ask what the draw of a sample is worth with many classes: its balance, weights and hardness.

Constants come first. `_class_policies` learns policies that choose among them.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler_bench._class_measure import scores_of_classes, take_classes
from metasampler_bench._frames import FrameClassifier
from metasampler_bench._progress import tracked
from metasampler_bench._statistics import paired, with_error
from metasampler_bench._tables import Entry, ResultTable
from metasampler_bench.datasets._classes import CLASS_TABLES
from metasampler_bench.studies._class_policies import (
    LEARNED,
    STATE,
    choices,
    macro_ap,
    state_of,
)
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


def _forest(
    numbers: Any, y: Any, numbers_test: Any, variant: tuple, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean probabilities of trees that each leave out a fold of the rows.

    Those of the test rows come first. Those of the training rows are by the trees that left them
    out.
    """
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
    return total / _N_TREES, judged / np.maximum(n_judges, 1)[:, np.newaxis]


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
            forests = {
                variant: _forest(numbers, y, numbers_test, variant, run) for variant in VARIANTS
            }
            state = state_of(y, forests[_USUAL][1])
            fast = scores_of_classes(y, y_test, usual)["score"]
            for variant, (proba, left_out) in forests.items():
                forest = np.zeros_like(usual)
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
                    "fast": fast,
                    "left out": macro_ap(y, left_out),
                    **state,
                }


def _cube(rows: list[Row], tables: list[str], *numbers: str) -> np.ndarray:
    """Return numbers by table, split and draw; a table has all of its splits or is left out."""
    found = {(row["table"], row["run"], row["q"], row["w"], row["p"]): row for row in rows}
    runs = sorted({row["run"] for row in rows})
    return np.array(
        [
            [
                [[found[name, run, *draw][number] for number in numbers] for draw in VARIANTS]
                for run in runs
            ]
            for name in tables
        ]
    )


def _tables(rows: list[Row]) -> list[ResultTable]:
    n_splits = len({row["run"] for row in rows})
    counts = Counter(row["table"] for row in rows)
    names = [name for name, count in counts.items() if count == n_splits * len(VARIANTS)]
    numbers = _cube(rows, names, "score", "with fast", "left out", "balanced")
    scores, joint, left_out, balanced = np.moveaxis(numbers, -1, 0)
    states = _cube(rows, names, *STATE)[:, :, 0]
    chosen = {
        "a forest": choices(names, states, scores, left_out),
        "the fast recipe and a forest": choices(names, states, joint, left_out),
    }
    by_members = dict(zip(chosen, (scores.mean(axis=1), joint.mean(axis=1)), strict=True))
    n_tables = f"{len(names)} tables, {n_splits} splits of each"
    return [
        _ways(by_members, balanced.mean(axis=1), chosen, n_tables),
        _worth(by_members, chosen, n_tables),
    ]


def _ways(
    by_members: dict[str, np.ndarray],
    balanced: np.ndarray,
    chosen: dict[str, dict[str, np.ndarray]],
    n_tables: str,
) -> ResultTable:
    """Show each constant, and how far the learned policy is ahead of it."""
    alone, joint = by_members.values()
    learned = [ways[next(iter(LEARNED))] for ways in chosen.values()]
    best = alone.mean(axis=0).argmax()
    lines = []
    for number, draw in enumerate(VARIANTS):
        relative = (alone[:, number] / alone.max(axis=1)).mean()
        lines.append(
            [
                *(Entry(f"{each:g}") for each in draw),
                Entry(f"{alone[:, number].mean():.4f}", bold=number == best),
                Entry(f"{relative:.3f}"),
                Entry(with_error(*paired(learned[0], alone[:, number]))),
                Entry(f"{balanced[:, number].mean():.4f}"),
                Entry(f"{joint[:, number].mean():.4f}"),
                Entry(with_error(*paired(learned[1], joint[:, number]))),
            ]
        )
    header = ["q", "w", "p", "macro AP", "of the table's best", "the learned policy is ahead by"]
    return ResultTable(
        "Ways to draw the samples of a forest",
        [*header, "balanced accuracy", "macro AP with the fast recipe", "learned, ahead by"],
        lines,
        f"Means over {n_tables}. The learned policy is the ridge of the table below; ± is the "
        "standard error of the mean over the tables.",
    )


def _worth(
    by_members: dict[str, np.ndarray], chosen: dict[str, dict[str, np.ndarray]], n_tables: str
) -> ResultTable:
    """Show what choosing the draw by table gives, against what the default does."""
    columns = []
    usual = VARIANTS.index(_USUAL)
    for members, means in by_members.items():
        ways = {
            "q = 1, w = 0.5, as the default": means[:, usual],
            "best constant, in hindsight": means[:, means.mean(axis=0).argmax()],
            **chosen[members],
        }
        columns.append(
            {
                name: (f"{values.mean():.4f}", with_error(*paired(values, means[:, usual])))
                for name, values in ways.items()
            }
        )
    lines = [[name, *(text for column in columns for text in column[name])] for name in columns[0]]
    header = ["how the draw is chosen"]
    for members in by_members:
        header += [f"macro AP, {members}", "ahead of the default's draw by"]
    return ResultTable.from_texts(
        "What a choice of the draw is worth",
        header,
        lines,
        f"Means over {n_tables}. Learned policies read the number of classes, the number of rows "
        "in all and in the smallest class, the imbalance, and what trees say of rows they leave "
        "out: the macro AP, and the mean errors of head, middle and tail. They predict how far "
        "each draw is ahead on the table, and take the best. They learn from tables of other "
        "families, and from splits on which they are not judged. 'Best on the same test rows' "
        "gains by chance too.",
    )


CLASS_DRAWS = Study(
    name="class-draws",
    title="Many classes: what the draw adds",
    about=(
        "The 24 raw tables with many classes, 2,000 rows of each at most. A forest of 40 trees; "
        "each leaves out a fifth of the rows. A class of n rows gives n_min^(1-q) n^q of them, "
        "where n_min is the size of the smallest class. Its rows weigh one over their number to "
        "the power of w. Within a class rows are drawn with weights (error + 0.1)^p by the trees "
        "that left them out. Learned policies choose q, w and p by table."
    ),
    measure=_measure,
    tables=_tables,
    runs=4,
    resumes=True,
)
