"""Ask when rivals pay: evidence for those that the universal sampler meets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler_bench._progress import tracked
from metasampler_bench._statistics import standard_error, with_error
from metasampler_bench._tables import ResultTable
from metasampler_bench.studies._random_tasks import RandomTask
from metasampler_bench.studies._study import Options, Row, Study

__all__ = ["RIVALS"]

_ALONE = "universal"
_RIVALS = ((0.5, 1.0), (0.5, 0.9, 1.0), (0.9, 1.0), (1.0,))
_SIZES = (5, 10, 20)
_CHOSEN_AFTER = (5, 10)
_MARGINS = (0.0, 0.5, 1.0)


def _measure(options: Options) -> Iterator[Row]:
    """Yield a row for each task and policy."""
    # As a sampler that is passed it meets no rivals.
    policies = {_ALONE: MetaSampler.load(_ALONE)}
    policies |= {str(mu): mu for mu in sorted({mu for rivals in _RIVALS for mu in rivals})}
    for number in tracked(range(options.seed, options.seed + options.runs), "rivals"):
        task = RandomTask.number(number)
        X, y, X_val, y_val, X_test, y_test = task.draw()
        for name, policy in policies.items():
            clf = MesaClassifier(
                DecisionTreeClassifier(),
                max(_SIZES),
                meta_sampler=policy,
                calibration=None,
                leaf_smoothing=0.0,
                random_state=0,
            ).fit(X, y, X_val=X_val, y_val=y_val)
            stages = enumerate(clf.staged_predict_proba(X_test), start=1)
            yield {
                "task": number,
                "kind": task.kind,
                "flipped": task.flipped,
                "ratio": task.ratio,
                "validation positives": int(np.sum(y_val)),
                "policy": name,
                "validation": {str(k): float(clf.scores_[k - 1]) for k in _CHOSEN_AFTER},
                "test": {
                    str(k): float(average_precision_score(y_test, proba[:, 1]))
                    for k, proba in stages
                    if k in _SIZES
                },
            }


def _tables(rows: list[Row]) -> list[ResultTable]:
    """Make a table of what is gained over the sampler alone, with clean and with flipped labels."""
    tasks: dict[int, dict] = {}
    for row in rows:
        tasks.setdefault(row["task"], {})[row["policy"]] = row
    groups = {
        flipped: [task for task in tasks.values() if (task[_ALONE]["flipped"] > 0) == flipped]
        for flipped in (False, True)
    }
    lines = []
    for mu in sorted({mu for rivals in _RIVALS for mu in rivals}):
        gains = _entries(groups, partial(_always, mu=mu))
        lines.append([f"constant mu {mu:g} always", "", "", *gains])
    for rivals, members, margin in product(_RIVALS, _CHOSEN_AFTER, _MARGINS):
        choose = partial(_chosen, rivals=rivals, members=members, margin=margin)
        name = ", ".join(f"{mu:g}" for mu in rivals)
        lines.append([name, str(members), f"{margin:g}", *_entries(groups, choose)])
    sizes = ", ".join(map(str, _SIZES))
    table = ResultTable.from_texts(
        "Rivals",
        [
            "rivals",
            "members",
            "margin",
            *(f"{labels}, k = {sizes}" for labels in ("clean", "flipped")),
            "all",
        ],
        lines,
        "Gain in average precision over the universal sampler alone. The last column is the mean "
        "over all k, ± its standard error over the tasks. "
        f"{len(groups[False])} tasks have clean and {len(groups[True])} have flipped training "
        "labels. The margin is in standard errors.",
    )
    return [table]


def _always(task: Row, mu: float) -> Row:
    return task[str(mu)]


def _chosen(task: Row, rivals: tuple[float, ...], members: int, margin: float) -> Row:
    """Return the row of the policy that the validation rows would have chosen."""
    own = task[_ALONE]
    score = own["validation"][str(members)]
    error = np.sqrt(score * (1 - score) / own["validation positives"])
    best = max((task[str(mu)] for mu in rivals), key=lambda row: row["validation"][str(members)])
    return best if best["validation"][str(members)] > score + margin * error else own


def _entries(groups: dict[bool, list[Row]], choose: Callable[[Row], Row]) -> list[str]:
    """Write the mean gains of a choice: with clean labels, with flipped ones, and over all."""
    gains = {
        flipped: np.array(
            [[choose(task)["test"][str(k)] - task[_ALONE]["test"][str(k)] for k in _SIZES]
             for task in tasks]
        )
        for flipped, tasks in groups.items()
    }  # fmt: skip
    every = np.concatenate([part for part in gains.values() if len(part)]).mean(axis=1)
    means = [
        " / ".join(f"{gain:+.4f}" for gain in part.mean(axis=0)) if len(part) else "-"
        for part in gains.values()
    ]
    return [*means, with_error(every.mean(), standard_error(every))]


RIVALS = Study(
    name="rivals",
    title="When rivals pay",
    about="""
We compare the universal sampler with and without constants as rivals. The rivals 0.5 and 1 gain a
little. A constant in place of the sampler does worse. The tasks are generated at random, and the
sampler has not seen them. Each has at least 40 validation positives. All policies grow twenty plain
trees. After five or ten members, the validation rows decide which policy continues. A rival must be
ahead by a margin. The margin is in standard errors of a share of the positives.
""",
    measure=_measure,
    tables=_tables,
    runs=120,
    unit="tasks",
)
