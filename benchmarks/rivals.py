"""When rivals pay: evidence for `rivals="auto"` of MesaClassifier.

    python benchmarks/rivals.py --splits 3 --output docs/results/rivals.json

The universal sampler against it with rivals (the constants 0.5, 0.9 and 1), on the tasks it was
meta-trained on, which no benchmark tests on: 60% of the rows train, 20% validate, 20% are scored;
twenty plain trees. All are grown once, and it is then seen which the validation rows would have
chosen after five members, if the best rival has to be ahead by so many standard errors of a share
of the validation positives. Needs METASAMPLER_DATA_HOME.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
from pathlib import Path

import numpy as np
from _study import StudyTable, write_rows
from rich.console import Console
from rich.progress import track
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.cli._meta_tasks import load_tasks

TASKS = Path(__file__).with_name("universal-tasks.txt").read_text().split()
POLICIES = ("universal", 0.5, 0.9, 1.0)
SIZES = (5, 10, 20)
#: Members after which the best is chosen, and by how many standard errors it has to be ahead.
CHOSEN_AFTER = 5
MARGINS = (0.0, 0.5, 1.0)
#: Groups by the validation rows of the smaller class: from, to.
GROUPS = ((0, 15), (15, 30), (30, 60), (60, 100_000))


def study(options):
    """One row for each task, split and policy."""
    tasks, _ = load_tasks(
        TASKS,
        [],
        data_home=options.data_home,
        target=None,
        settings={},
        n_splits=options.splits,
    )
    for name, rows in track(
        tasks.items(), "rivals", disable=not sys.stdout.isatty(), transient=True
    ):
        X, y, X_val, y_val, X_test, y_test = rows
        labels, counts = np.unique(y_test, return_counts=True)
        minority = labels[counts.argmin()]
        for policy in POLICIES:
            clf = MesaClassifier(
                DecisionTreeClassifier(),
                max(SIZES),
                meta_sampler=policy,
                rivals=None,
                calibration=None,
                leaf_smoothing=0.0,
                random_state=0,
            ).fit(X, y, X_val, y_val)
            column = list(clf.classes_).index(minority)
            stages = enumerate(clf.staged_predict_proba(X_test), start=1)
            yield {
                "task": name,
                "flipped": "@" in name,
                "validation positives": int(np.count_nonzero(y_val == minority)),
                "policy": str(policy),
                "validation": float(clf.scores_[CHOSEN_AFTER - 1]),
                "test": {
                    str(k): float(average_precision_score(y_test == minority, proba[:, column]))
                    for k, proba in stages
                    if k in SIZES
                },
            }


def report(rows) -> StudyTable:
    """What the choice gains over the sampler alone, by the number of validation positives."""
    plays = {}
    for row in rows:
        plays.setdefault(row["task"], []).append(row)
    lines = []
    for flipped in (False, True):
        for low, high in GROUPS:
            group = [
                play
                for play in plays.values()
                if play[0]["flipped"] == flipped and low <= play[0]["validation positives"] < high
            ]
            for margin in MARGINS:
                gains = _gains(group, margin)
                if not len(gains):
                    continue
                error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
                lines.append(
                    [
                        "flipped" if flipped else "clean",
                        f"{low} to {high - 1}" if high < GROUPS[-1][1] else f"{low} or more",
                        f"{margin:g}",
                        *(f"{a:+.4f} ± {b:.4f}" for a, b in zip(gains.mean(0), error, strict=True)),
                        str(len(gains)),
                    ]
                )
    return StudyTable(
        "Rivals",
        [
            "labels",
            "validation positives",
            "standard errors ahead",
            *(f"gain, k = {k}" for k in SIZES),
            "tasks",
        ],
        lines,
        "Gain in average precision over the universal sampler alone, means over the tasks with the "
        "standard error; splits of a task are averaged first.",
    )


def _gains(group, margin) -> np.ndarray:
    """For each task its mean gain at every size."""
    by_task: dict[str, list] = {}
    for play in group:
        own, *rivals = play
        best = max(rivals, key=lambda row: row["validation"])
        share = own["validation"]
        error = np.sqrt(share * (1 - share) / own["validation positives"])
        if best["validation"] <= share + margin * error:
            best = own
        gain = [best["test"][str(k)] - own["test"][str(k)] for k in SIZES]
        by_task.setdefault(play[0]["task"].partition(" (")[0], []).append(gain)
    return np.array([np.mean(gains, axis=0) for gains in by_task.values()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--output", default=None, help="also write the rows to this JSON file")
    options = parser.parse_args()
    rows = list(study(options))
    table = report(rows)
    if options.output:
        command = f"python benchmarks/rivals.py --splits {options.splits}"
        write_rows(options.output, rows, command=command, seed=0, settings={"tasks": TASKS})
        Path(options.output).with_suffix(".md").write_text(
            f"# When rivals pay\n\n{__doc__.split(chr(10) * 2, 2)[2].strip()}\n\n`{command}`\n\n"
            + table.markdown()
        )
    table.show(Console(width=120))


if __name__ == "__main__":
    main()
