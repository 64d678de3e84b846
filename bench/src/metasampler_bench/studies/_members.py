"""Ask which kinds of members, and how many: evidence for the default of MesaClassifier."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import gmean
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler import MesaClassifier
from metasampler_bench._progress import tracked
from metasampler_bench._tables import ResultTable
from metasampler_bench._tasks import load_tasks
from metasampler_bench.studies._study import Options, Row, Study

__all__ = ["MEMBERS"]

_SIZES = (14, 30, 60, 100)
#: As `metasampler meta-train` takes them: NAME:3 is class 3 against the rest, NAME%0.1 keeps a
#: tenth of the minority.
_TASKS = [
    "adbench_27_PageBlocks",
    "adbench_2_annthyroid",
    "keelstd_phoneme",
    "keelstd_marketing:0",
    "keelstd_marketing:4",
    "keelmulti_splice:1",
    "keelmulti_splice:2%0.06",
    "adbench_7_Cardiotocography",
    "adbench_7_Cardiotocography%0.1",
    "adbench_41_Waveform",
    "adbench_12_fault",
    "adbench_12_fault%0.1",
    "keelstd_german",
    "keelstd_contraceptive:1",
    "keel_pima",
    "keel_vehicle1",
    "keel_vehicle3%0.2",
    "keelstd_segment:2",
    "keelstd_segment:4%0.1",
    "keelmulti_vowel:4",
    "keelstd_wdbc",
    "keelmulti_led7digit:3",
    "keel_haberman",
    "adbench_17_InternetAds%0.2",
    "adbench_37_Stamps",
    "keelmulti_cleveland:0",
    "keel_glass1",
    "keel_kddcup-buffer_overflow_vs_back",
]


def _best_split(**options: Any) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(criterion="entropy", max_features="sqrt", **options)


def _random_split(max_features: Any) -> ExtraTreeClassifier:
    return ExtraTreeClassifier(criterion="entropy", max_features=max_features)


_KINDS = {
    "best splits": [_best_split()],
    "best splits, leaves of 2": [_best_split(min_samples_leaf=2)],
    "random splits, sqrt": [_random_split("sqrt")],
    "random splits, half": [_random_split(0.5)],
    "both, sqrt": [_best_split(), _random_split("sqrt")],
    "both, half": [_best_split(), _random_split(0.5)],
    "both, all features": [_best_split(), _random_split(None)],
    "both, half, leaves of 2": [_best_split(min_samples_leaf=2), _random_split(0.5)],
}


def _measure(options: Options) -> Iterator[Row]:
    """Yield a row for each task, split, kind and size."""
    names = list(options.datasets) or _TASKS
    tasks, _ = load_tasks(names, [], data_home=options.data_home)
    cases = ((name, split) for name in tasks for split in range(options.runs))
    for name, number in tracked(cases, "members"):
        X, y = tasks[name]
        labels, counts = np.unique(y, return_counts=True)
        y = (y == labels[counts.argmin()]).astype(int)
        seed = options.seed + number
        rows = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
        for kind, size, score, seconds in _compare(rows, seed):
            yield {
                "set": name,
                "split": number,
                "kind": kind,
                "members": size,
                "average precision": score,
                "CPU seconds": seconds,
            }


def _compare(rows: Any, seed: int) -> Iterator[tuple[str, int | None, float, float]]:
    """Yield kind, size, score and CPU seconds, those of LightGBM first."""
    from lightgbm import LGBMClassifier

    X, X_test, y, y_test = rows
    start = time.process_time()
    booster = LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed).fit(X, y)
    seconds = time.process_time() - start
    found: Any = booster.predict_proba(X_test)
    yield "LightGBM", None, float(average_precision_score(y_test, found[:, 1])), seconds
    for kind, estimator in _KINDS.items():
        clf = MesaClassifier(
            estimator,
            max(_SIZES),
            meta_sampler=0.85,
            validation_fraction=None,
            calibration=None,
            random_state=seed,
        )
        start = time.process_time()
        clf.fit(X, y)
        seconds = time.process_time() - start
        # With a constant mu the first k members are a fit of k.
        for size, proba in enumerate(clf.staged_predict_proba(X_test), start=1):
            if size in _SIZES:
                score = float(average_precision_score(y_test, proba[:, 1]))
                yield kind, size, score, seconds * size / max(_SIZES)


def _tables(rows: list[Row]) -> list[ResultTable]:
    """Make a table of the mean score and cost of every kind and size."""
    columns = list(dict.fromkeys((row["kind"], row["members"]) for row in rows))
    sets = list(dict.fromkeys(row["set"] for row in rows))
    scores, seconds = (np.full((len(sets), len(columns)), 0.0) for _ in range(2))
    n_splits = len({row["split"] for row in rows})
    for row in rows:
        place = sets.index(row["set"]), columns.index((row["kind"], row["members"]))
        scores[place] += row["average precision"] / n_splits
        seconds[place] += row["CPU seconds"] / n_splits
    # No ranks: sizes of one kind are so alike that they would depend on which of them are listed.
    means = scores.mean(axis=0)
    costs = gmean(seconds / seconds[:, :1], axis=0)
    ahead = np.count_nonzero(scores > scores[:, :1], axis=0)
    table = ResultTable.from_texts(
        "Members",
        ["kind", "members", "average precision", "CPU, LightGBM = 1", "ahead of it"],
        [
            [
                kind,
                "" if size is None else str(size),
                f"{means[number]:.4f}",
                f"{costs[number]:.2f}",
                "" if size is None else f"{ahead[number]} of {len(sets)}",
            ]
            for number, (kind, size) in sorted(
                enumerate(columns), key=lambda column: -means[column[0]]
            )
        ],
        f"{len(sets)} sets, {n_splits} splits. CPU is the geometric mean over the sets of "
        "the ratio of fit times.",
    )
    return [table]


MEMBERS = Study(
    name="members",
    title="Which members",
    about="""
Which kinds of trees are worth their time? We compare them, alone or taking turns, with LightGBM.
Two kinds that take turns score best. Other benchmarks do not test on these sets, except for three
sets of `leaderboard-large`. Trees have soft leaves. mu is the constant 0.85. Nothing is held out.
75% of the rows train, 25% test. The study needs METASAMPLER_DATA_HOME.
""",
    measure=_measure,
    tables=_tables,
    runs=3,
)
