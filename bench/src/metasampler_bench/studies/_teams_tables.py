"""Make the tables of the study of teams from its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from metasampler.ensemble.teams import RECIPES
from metasampler_bench._statistics import geometric_mean, paired, standard_error, with_error
from metasampler_bench._tables import ResultTable
from metasampler_bench.studies._study import Row

__all__ = ["design_tables", "few_tables"]

_SCORE = "average precision"
_RECIPE = RECIPES["default"]

#: Ways to cut the tables into halves.
_N_HALVES = 200

#: Signals from which on draws may become harder.
_LIMITS = (0.0, 20.0, 28.0, 36.0, 45.0, 60.0, 90.0, np.inf)

#: Numbers of positives from which on teams may take the place of trees.
_FEWEST = (0, 35, 75, 125, 200, 10**6)

#: What is compared where positives are few.
_KINDS = ("teams", "teams without sharp trees", "trees", "LightGBM")


def _by_table(rows: Iterable[Row], value: str = _SCORE) -> dict[str, dict[str, Any]]:
    """Return for each method the mean over the splits of each table."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row[value] is not None:
            found.setdefault(row["method"], {}).setdefault(row["set"], []).append(row[value])
    return {
        method: {name: float(np.mean(values)) for name, values in of_method.items()}
        for method, of_method in found.items()
    }


def _vector(of_table: dict[str, float], names: Iterable[str]) -> NDArray[Any]:
    return np.array([of_table[name] for name in names])


# ---------------------------------------------------------------------- the design


def design_tables(rows: list[Row]) -> list[ResultTable]:
    """Make the tables of what the design rests on."""
    return [_variants(rows), _signal_table(rows), _draws_table(rows)]


def _variants(rows: list[Row]) -> ResultTable:
    scores, cpu, brier = (_by_table(rows, key) for key in (_SCORE, "CPU seconds", "Brier score"))
    names = sorted(scores["default"])
    default = _vector(scores["default"], names)
    lines = []
    for method, of_method in scores.items():
        if method.startswith(("mu ", "boosters alone, mu", "trees alone, mu")):
            continue
        own = _vector(of_method, names)
        same = method == "default"
        lines.append(
            [
                method,
                f"{own.mean():.4f}",
                "" if same else with_error(*paired(own, default)),
                "" if same else f"{np.sum(own > default)} of {len(names)}",
                f"{_ratio(brier, method, names):.3f}",
                f"{_ratio(cpu, method, names):.2f}" if method in cpu else "",
            ]
        )
    return ResultTable.from_texts(
        "Variants of the default",
        [
            "variant",
            _SCORE,
            "less the default's",
            "better on",
            "Brier score, LightGBM = 1",
            "CPU, LightGBM = 1",
        ],
        lines,
        f"{len(names)} tables; ± is the standard error over them. Ratios are geometric means. CPU "
        "is the time to grow the teams. A fit also reads the table and calibrates; this is not in "
        "it. A variant that shares its teams with the default has no CPU time.",
    )


def _ratio(values: dict[str, dict[str, Any]], method: str, names: list[str]) -> float:
    """Return the geometric mean of the ratios to LightGBM."""
    return geometric_mean(_vector(values[method], names) / _vector(values["LightGBM"], names))


def _signal_table(rows: list[Row]) -> ResultTable:
    """Show how well the signal tells what hard draws gain."""
    scores = _by_table(rows)
    signals = {row["set"]: row["signal"] for row in rows if row["split"] == 0}
    sizes = {row["set"]: row["positives"] for row in rows if row["split"] == 0}
    names = sorted(signals)
    signal = _vector(signals, names)
    lines = []
    for team, mus in (("boosters", ("0.65", "0.9")), ("trees", ("0.9",))):
        easy = _vector(scores[f"{team} alone, mu None"], names)
        for mu in mus:
            # As a part: tables differ in what there is to gain.
            gain = _vector(scores[f"{team} alone, mu {mu}"], names) / easy - 1
            lines.append(
                [
                    team,
                    mu,
                    f"{spearmanr(signal, gain).statistic:+.2f}",
                    f"{spearmanr(_vector(sizes, names), gain).statistic:+.2f}",
                    *(
                        f"{100 * gain[chosen].mean():+.1f} % ({np.sum(chosen)})"
                        if any(chosen)
                        else "-"
                        for chosen in (signal < 36, (signal >= 36) & (signal < 50), signal >= 50)
                    ),
                ]
            )
    return ResultTable.from_texts(
        "Signal and what hard draws gain",
        [
            "team",
            "mu",
            "rank correlation with signal",
            "with the number of positives",
            "signal below 36",
            "36 to 50",
            "50 or more",
        ],
        lines,
        "How much draws by this mu gain over uniform draws, relative to average precision. The "
        "number of tables is in brackets.",
    )


def _draws_table(rows: list[Row]) -> ResultTable:
    """Choose limits of the signal by one half of the tables, and test them on the other."""
    scores = _by_table(rows)
    signals = {row["set"]: row["signal"] for row in rows if row["split"] == 0}
    names = sorted(signals)
    uniform = _vector(scores["mu None and None"], names)

    def gains(rule: Callable[[float], tuple[float | None, float | None]]) -> NDArray[Any]:
        chosen = [scores["mu {} and {}".format(*rule(signals[n]))][n] for n in names]
        return np.array(chosen) - uniform

    rules: dict[str, NDArray[Any]] = {
        f"always {mu} and {of_trees}": gains(lambda _, mu=mu, t=of_trees: (mu, t))  # type: ignore[misc]
        for mu in (None, 0.65, 0.9)
        for of_trees in (None, 0.9)
    }
    shipped = _vector(scores["default"], names) - uniform
    candidates = {
        limits: gains(lambda s, limits=limits: _by_limits(s, *limits))  # type: ignore[misc]
        for limits in (
            (low, high, of_trees)
            for low, high in [*combinations(_LIMITS, 2), *((limit, limit) for limit in _LIMITS)]
            for of_trees in _LIMITS
        )
    }
    table = np.array(list(candidates.values()))
    keys = list(candidates)
    rng = np.random.default_rng(0)
    tested, picked = [], []
    for _ in range(_N_HALVES):
        order = rng.permutation(len(names))
        first, second = order[: len(names) // 2], order[len(names) // 2 :]
        best = int(table[:, first].mean(axis=1).argmax())
        picked.append(keys[best])
        tested.append(
            [table[best, second].mean(), shipped[second].mean()]
            + [gain[second].mean() for gain in rules.values()]
        )
    means = np.mean(tested, axis=0)
    best_of_each = np.max(list(rules.values()), axis=0)
    lines = [
        ["limits of the signal, chosen by the other half", with_error(means[0])],
        ["the default, by its sampler", with_error(means[1])],
        *([name, with_error(mean)] for name, mean in zip(rules, means[2:], strict=True)),
        ["the best of the six for each table, with hindsight", with_error(best_of_each.mean())],
    ]
    middle = np.median([[min(value, 999) for value in limits] for limits in picked], axis=0)
    return ResultTable.from_texts(
        "Draws by signal, over halves of the tables",
        ["mu of boosters and of trees", f"{_SCORE}, less that of uniform draws"],
        lines,
        f"Means over {_N_HALVES} ways to halve {len(names)} tables. Each half chooses limits of "
        f"the signal. Their medians: boosters draw by mu .65 from a signal of {middle[0]:.0f} on, "
        f"and by .9 from {middle[1]:.0f} on. Trees draw by .9 from {middle[2]:.0f} on.",
    )


def _by_limits(
    signal: float, low: float, high: float, of_trees: float
) -> tuple[float | None, float | None]:
    mu = None if signal < low else 0.65 if signal < high else 0.9
    return mu, None if signal < of_trees else 0.9


# ---------------------------------------------------------------------- few positives


def few_tables(rows: list[Row]) -> list[ResultTable]:
    """Make the tables of teams and trees by the number of positives."""
    tables = []
    for title, thinned in (("thinned tables", True), ("extra sets", False)):
        chosen = [row for row in rows if row["thinned"] == thinned]
        if chosen:
            tables.append(_few_table(chosen, title))
    return [*tables, _limit_table(rows)]


def _tasks(rows: list[Row]) -> dict[tuple, dict[str, float]]:
    tasks: dict[tuple, dict[str, float]] = {}
    for row in rows:
        key = (row["set"], row["split"], row["positives"])
        tasks.setdefault(key, {})[row["method"]] = row[_SCORE]
    return tasks


def _few_table(rows: list[Row], title: str) -> ResultTable:
    edges = _FEWEST
    lines = []
    for low, high in pairwise(edges):
        group = [task for key, task in _tasks(rows).items() if low <= key[2] < high]
        if len(group) < 2:
            continue
        teams, blunt, trees, single = (
            np.array([task[method] for task in group]) for method in _KINDS
        )
        lines.append(
            [
                f"{low} to {high - 1}" if high < edges[-1] else f"{low} or more",
                str(len(group)),
                *(f"{scores.mean():.4f}" for scores in (teams, blunt, trees, single)),
                with_error(*paired(teams, trees)),
                f"{np.sum(teams > trees)} of {len(group)}",
                with_error(*paired(teams, blunt)) if (teams != blunt).any() else "",
                with_error(*paired(teams, single)),
            ]
        )
    return ResultTable.from_texts(
        f"Teams or trees: {title}",
        [
            "training positives",
            "tasks",
            *_KINDS,
            "teams less trees",
            "teams better on",
            "what sharp trees add",
            "teams less LightGBM",
        ],
        lines,
        f"{_SCORE.capitalize()}; ± is the standard error over the tasks.",
    )


def _limit_table(rows: list[Row]) -> ResultTable:
    """Choose the limit by one half of the sets, and test it on the other."""
    tasks = _tasks(rows)
    sets = sorted({key[0] for key in tasks})
    gains = {
        limit: {
            name: float(
                np.mean(
                    [
                        (task["teams"] if key[2] >= limit else task["trees"]) - task["trees"]
                        for key, task in tasks.items()
                        if key[0] == name
                    ]
                )
            )
            for name in sets
        }
        for limit in _FEWEST
    }
    table = np.array([_vector(of_limit, sets) for of_limit in gains.values()])
    rng = np.random.default_rng(0)
    tested, picked = [], []
    for _ in range(_N_HALVES):
        order = rng.permutation(len(sets))
        first, second = order[: len(sets) // 2], order[len(sets) // 2 :]
        best = int(table[:, first].mean(axis=1).argmax())
        picked.append(_FEWEST[best])
        tested.append([table[best, second].mean(), *table[:, second].mean(axis=1)])
    means = np.mean(tested, axis=0)
    lines = [["chosen by the other half", "", with_error(means[0]), ""]]
    for number, limit in enumerate(_FEWEST):
        name = "never teams" if limit == _FEWEST[-1] else str(limit) if limit else "always teams"
        share = 100 * np.mean(np.array(picked) == limit)
        error = standard_error(table[number])
        lines.append([name, f"{share:.0f} %", with_error(table[number].mean(), error), ""])
    return ResultTable.from_texts(
        "The fewest positives for teams, over halves of the sets",
        ["limit", "chosen by halves", f"{_SCORE}, less that of trees always"],
        [line[:3] for line in lines],
        f"The chosen limit: means over {_N_HALVES} ways to halve {len(sets)} sets. A given limit: "
        f"the mean over all sets. The median of the chosen limits is {int(np.median(picked))}.",
    )
