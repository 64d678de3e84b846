"""When rivals pay: evidence for `rivals="auto"` of MesaClassifier.

    python benchmarks/rivals.py --tasks 120 --output docs/results/rivals.json

The universal sampler alone against it with constants as rivals, on tasks made at random, which it
has not seen (`_random_tasks.py`); all have 40 or more validation positives. All policies grow
twenty plain trees, and it is then seen which the validation rows would have chosen after five and
after ten members, if the best rival has to be ahead by so many standard errors of a share of the
positives.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys

import numpy as np
from _random_tasks import RandomTask
from _study import StudyTable, publish
from rich.console import Console
from rich.progress import track
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier

ALONE = "universal"
RIVALS = ((0.5, 1.0), (0.5, 0.9, 1.0), (0.9, 1.0), (1.0,))
SIZES = (5, 10, 20)
CHOSEN_AFTER = (5, 10)
MARGINS = (0.0, 0.5, 1.0)


def study(options):
    """One row for each task and policy."""
    numbers = range(options.tasks)
    for number in track(numbers, "rivals", disable=not sys.stdout.isatty(), transient=True):
        task = RandomTask.number(number)
        X, y, X_val, y_val, X_test, y_test = task.draw()
        for policy in (ALONE, *sorted({mu for rivals in RIVALS for mu in rivals})):
            clf = MesaClassifier(
                DecisionTreeClassifier(),
                max(SIZES),
                meta_sampler=policy,
                rivals=None,
                calibration=None,
                leaf_smoothing=0.0,
                random_state=0,
            ).fit(X, y, X_val, y_val)
            stages = enumerate(clf.staged_predict_proba(X_test), start=1)
            yield {
                "task": number,
                "kind": task.kind,
                "flipped": task.flipped,
                "ratio": task.ratio,
                "validation positives": int(np.sum(y_val)),
                "policy": str(policy),
                "validation": {str(k): float(clf.scores_[k - 1]) for k in CHOSEN_AFTER},
                "test": {
                    str(k): float(average_precision_score(y_test, proba[:, 1]))
                    for k, proba in stages
                    if k in SIZES
                },
            }


def report(rows) -> StudyTable:
    """What is gained over the sampler alone, by clean and by flipped labels."""
    tasks: dict[int, dict] = {}
    for row in rows:
        tasks.setdefault(row["task"], {})[row["policy"]] = row
    groups = {
        flipped: [task for task in tasks.values() if (task[ALONE]["flipped"] > 0) == flipped]
        for flipped in (False, True)
    }
    lines = [
        [f"constant mu {mu:g} always", "", "", *_entries(groups, lambda task, mu=mu: task[str(mu)])]
        for mu in sorted({mu for rivals in RIVALS for mu in rivals})
    ]
    for rivals in RIVALS:
        for members in CHOSEN_AFTER:
            for margin in MARGINS:

                def chosen(task, rivals=rivals, members=members, margin=margin):
                    return _chosen(task, rivals, members, margin)

                name = ", ".join(f"{mu:g}" for mu in rivals)
                lines.append([name, str(members), f"{margin:g}", *_entries(groups, chosen)])
    sizes = ", ".join(map(str, SIZES))
    return StudyTable(
        "Rivals",
        [
            "rivals",
            "members",
            "margin",
            *(f"{labels}, k = {sizes}" for labels in ("clean", "flipped")),
            "all",
        ],
        lines,
        "Gain in average precision over the universal sampler alone; the last column is the mean "
        f"over all k with its standard error over the tasks, {len(groups[False])} with clean and "
        f"{len(groups[True])} with flipped training labels. The margin is in standard errors.",
    )


def _chosen(task, rivals, members, margin):
    own = task[ALONE]
    score = own["validation"][str(members)]
    error = np.sqrt(score * (1 - score) / own["validation positives"])
    best = max((task[str(mu)] for mu in rivals), key=lambda row: row["validation"][str(members)])
    return best if best["validation"][str(members)] > score + margin * error else own


def _entries(groups, choose) -> list[str]:
    gains = {
        flipped: np.array(
            [[choose(task)["test"][str(k)] - task[ALONE]["test"][str(k)] for k in SIZES]
             for task in tasks]
        )
        for flipped, tasks in groups.items()
    }  # fmt: skip
    every = np.concatenate([part for part in gains.values() if len(part)]).mean(axis=1)
    means = [
        " / ".join(f"{gain:+.4f}" for gain in part.mean(axis=0)) if len(part) else "-"
        for part in gains.values()
    ]
    return [*means, f"{every.mean():+.4f} ± {every.std(ddof=1) / np.sqrt(len(every)):.4f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=120)
    parser.add_argument("--output", default=None, help="also write the rows to this JSON file")
    options = parser.parse_args()
    rows = list(study(options))
    table = report(rows)
    if options.output:
        command = f"python benchmarks/rivals.py --tasks {options.tasks}"
        publish(
            "When rivals pay", __doc__, rows, table, options.output, command=command, settings={}
        )
    table.show(Console(width=160))


if __name__ == "__main__":
    main()
