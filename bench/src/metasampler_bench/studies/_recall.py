"""Ask whether new rows have the recall that a threshold was asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics import average_precision_score, precision_score, recall_score
from sklearn.model_selection import train_test_split

from metasampler import MesaClassifier
from metasampler_bench._statistics import set_means, standard_error
from metasampler_bench._tables import ResultTable
from metasampler_bench.datasets import REAL_NAMES
from metasampler_bench.studies._data import each_split
from metasampler_bench.studies._decisions import count_sets, few_positives, values_of
from metasampler_bench.studies._study import Options, Row, Study

__all__ = ["RECALL"]

_PRESETS = ("default", "fast")
_TARGETS = (0.5, 0.8, 0.95)

# Digits and letters, whose average precision is next to 1.
_SOLVED_SETS = ("letter_img", "optical_digits", "pen_digits")
_NEARLY_SOLVED = 0.97

# Larger tables take most of the time.
_MOST_ROWS = 20_000


def _measure(options: Options) -> Iterator[Row]:
    """Ask for a recall, and measure the one that is reached on unseen rows."""
    for name, number, X, y, seed in each_split(options, (*_SOLVED_SETS, *REAL_NAMES), "recall"):
        if len(y) > _MOST_ROWS:
            continue
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.25, stratify=y, random_state=seed
        )
        for preset in _PRESETS:
            for target in _TARGETS:
                clf = MesaClassifier.from_preset(
                    preset, threshold=("recall", target), random_state=seed
                )
                with few_positives():
                    proba = clf.fit(X_train, y_train).predict_proba(X_test)
                called = clf.decide(proba)
                yield {
                    "set": name,
                    "split": number,
                    "positives": int(y.sum()),
                    "preset": preset,
                    "target": target,
                    "recall": float(recall_score(y_test, called)),
                    "precision": float(precision_score(y_test, called, zero_division=0)),
                    "average precision": float(average_precision_score(y_test, proba[:, 1])),
                }


def _tables(rows: list[Row]) -> list[ResultTable]:
    """Make one table of what was asked for and what was reached, by how hard the tables are."""
    names = values_of(rows, "set")
    solved = {
        name
        for name, score in zip(names, set_means(rows, "average precision"), strict=True)
        if score >= _NEARLY_SOLVED
    }
    header = ["preset", "sets", "asked", "recall on unseen rows", "lowest set"]
    header += ["precision"]
    lines, short = [], []
    for is_solved, group in ((False, "others"), (True, "nearly solved")):
        chosen = [row for row in rows if (row["set"] in solved) == is_solved]
        for preset in values_of(chosen, "preset"):
            for target in values_of(chosen, "target"):
                which = {"preset": preset, "target": target}
                reached = set_means(chosen, "recall", **which)
                error = standard_error(reached) if len(reached) > 1 else 0.0
                if reached.mean() < target - 2 * error:
                    short.append(f"{preset}, {group}, {target:g}")
                lines.append(
                    [
                        preset,
                        f"{group} ({count_sets(chosen)})",
                        f"{target:g}",
                        f"{reached.mean():.3f} ± {error:.3f}",
                        f"{reached.min():.3f}",
                        f"{np.mean(set_means(chosen, 'precision', **which)):.3f}",
                    ]
                )
    n_splits = len({row["split"] for row in rows})
    missed = "is below what was asked for by more than two standard errors here: "
    note = (
        "The mean recall "
        + (missed + "; ".join(short) if short else "is nowhere clearly below what was asked for")
        + f". {n_splits} splits of each set; the sets are the units of ±. Nearly solved sets have "
        f"an average precision of {_NEARLY_SOLVED:g} or more. There a higher recall costs next to "
        "no precision, so the threshold takes it."
    )
    return [ResultTable.from_texts('threshold=("recall", r)', header, lines, note)]


RECALL = Study(
    name="recall",
    title="Recall",
    about=(
        f"The data are the real tables with at most {_MOST_ROWS:,} rows, and "
        f"{', '.join(_SOLVED_SETS[:2])} and {_SOLVED_SETS[2]}. 75% of the rows train. The "
        "classifier is a preset; only the threshold differs."
    ),
    measure=_measure,
    tables=_tables,
    runs=3,
    file="decisions-recall",
    page="decisions",
)
