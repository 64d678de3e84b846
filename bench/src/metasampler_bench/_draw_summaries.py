"""Say what the rows of `policies-tables` say: what learning to draw buys, and by what it sees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr, wilcoxon

from metasampler_bench._draw_measure import CHOICES, SELECTABLE
from metasampler_bench._draw_policies import (
    ACTIONS,
    MORE_NUMBERS,
    PENALTY,
    Cases,
    best_constant,
    by_signal,
    cross_validated,
    learned,
    mean_by_table,
    one_threshold,
    random_search,
    selected,
    soft_actor_critic,
)
from metasampler_bench._rows import Row, finished
from metasampler_bench._spec import Spec
from metasampler_bench._tables import ResultTable

__all__ = ["DRAW_SUMMARIES"]

Floats = NDArray[np.float64]

_MUS = tuple(CHOICES["mu"])
_CONSTANTS = (*_MUS, *CHOICES["power"])
_EDGES = (0.0, 25.0, 36.0, 50.0, 100.0, 160.0, np.inf)

# Searches and soft actor-critic depend on chance: the mean of some is shown.
_SEEDS = range(3)

# Members of a team; the first is drawn uniformly and shared.
_N_MEMBERS = 4


def _of(rows: list[Row], report: dict[str, Any], **options: Any) -> Cases:
    noise = report.get("noise", 0.0)
    chosen = [row for row in finished(rows) if row["cell"].get("noise", 0.0) == noise]
    cases = Cases.of(chosen, **options)
    if not len(cases) and not options:
        raise ValueError("No table has rows of all draws yet; the same command goes on.")
    return cases


def _title_of(draw: str) -> str:
    if draw == "uniform":
        return "uniform draws"
    if draw.startswith("soft power"):
        return f"power {draw.removeprefix('soft power ')}"
    if "+" in draw:
        return f"{draw}, members of both"
    return f"{draw}, without floor" if draw.startswith("power") else f"constant mu {draw}"


def _mean(cases: Cases, scores: Floats) -> float:
    return float(cases.weights @ scores)


def _by_chance(fit: Callable[[int], Any], cases: Cases, known: Cases) -> Floats:
    return np.mean([cross_validated(cases, fit(seed), known) for seed in _SEEDS], axis=0)


def policies(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show relative scores of constants, rules and learned policies, each on unseen families."""
    cases = _of(rows, report)
    # Policies for wrong labels come from clean ones: nobody knows how many are wrong.
    known = _of(rows, {}) if report.get("noise") else cases
    ways: dict[str, tuple[Floats, float]] = {
        _title_of(draw): (scores, 1.0) for draw, scores in cases.test.items() if draw in _CONSTANTS
    }
    best_mu = max(_MUS, key=lambda draw: _mean(cases, cases.test[draw]))
    best = max(_CONSTANTS, key=lambda draw: _mean(cases, cases.test[draw]))
    own = f"learned: {_name(PENALTY)}"
    ways |= {
        "best mu of the other families": (cross_validated(cases, best_constant(_MUS), known), 1.0),
        "best constant of the other families": (
            cross_validated(cases, best_constant(_CONSTANTS), known),
            1.0,
        ),
        "one threshold on the signal": (cross_validated(cases, one_threshold, known), 1.0),
        "thresholds set by hand, on these tables": (by_signal(cases), 1.0),
        own: (cross_validated(cases, learned(), known), 1.0),
        "soft actor-critic, on the same curves": (_by_chance(soft_actor_critic, cases, known), 1.0),
        "random search over linear policies": (_by_chance(random_search, cases, known), 1.0),
        "hindsight: the best constant of each table": (_hindsight(cases), np.nan),
    }
    # Where rows were held out there are fewer splits; then each is compared on those.
    few = _of(rows, report, selectable=True)
    cost = (1 + len(SELECTABLE) * (_N_MEMBERS - 1)) / _N_MEMBERS
    references = {
        f"best constant mu, {best_mu}": cases.test[best_mu],
        f"best constant, {_title_of(best)}": cases.test[best],
        "one threshold": ways["one threshold on the signal"][0],
    }
    lines = [
        [name, *_judged(cases, scores, references.values()), _cost(value)]
        for name, (scores, value) in ways.items()
    ]
    if len(few):
        few_references = [
            few.test[best_mu],
            few.test[best],
            cross_validated(few, one_threshold),
        ]
        others: dict[str, tuple[Floats, float]] = {
            f"selected on validation rows, {len(SELECTABLE)} fits": (selected(few), cost)
        }
        others |= {
            _title_of(draw): (scores, 1.75 if "+" in draw else 1.0)
            for draw, scores in few.test.items()
            if draw not in _CONSTANTS
        }
        lines += [
            [f"{name} *", *_judged(few, scores, few_references), _cost(value)]
            for name, (scores, value) in others.items()
        ]
    lines.sort(key=lambda line: -float(line[1]))
    noise = report.get("noise", 0.0)
    labels = f", {noise:.0%} flipped training labels" if noise else ""
    header = ["draws", "relative score", "worst", "on"]
    for name in references:
        header += [f"against {name}", "ahead : behind", "p"]
    return ResultTable.from_texts(
        f"{spec.title}{labels}",
        [*header, "cost"],
        lines,
        f"Average precision as a part of each table's own best constant, in the mean over "
        f"{_splits(cases)} of {len(set(cases.tables.tolist()))} tables; whatever is chosen or "
        "learned comes from the tables of other families. p is Wilcoxon's over the tables. Cost: "
        "members that are fitted, a constant is 1."
        + (
            f" * Only on the {_splits(few)} where rows were held out; each is compared on these."
            if len(few)
            else ""
        )
        + (" Rules and policies come from clean labels." if noise else ""),
    )


def _splits(cases: Cases) -> str:
    counts = [int((cases.tables == name).sum()) for name in set(cases.tables.tolist())]
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{low} splits" if low == high else f"{low} to {high} splits"


def _name(penalty: float) -> str:
    return f"power by the signal, penalty {penalty:g}"


def _hindsight(cases: Cases) -> Floats:
    means = {draw: mean_by_table(cases.tables, cases.test[draw]) for draw in _CONSTANTS}
    best = {
        name: max(_CONSTANTS, key=lambda draw: means[draw][name])
        for name in set(cases.tables.tolist())
    }
    return np.array([cases.test[best[name]][n] for n, name in enumerate(cases.tables)])


def _cost(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _judged(cases: Cases, scores: Floats, references: Any) -> list[str]:
    """Write mean, worst table, and what it is against each reference."""
    own = mean_by_table(cases.tables, scores)
    worst = min(own, key=lambda name: own[name])
    texts = [f"{np.mean(list(own.values())):.4f}", f"{own[worst]:.3f}", worst]
    for reference in references:
        other = mean_by_table(cases.tables, reference)
        difference = np.array([own[name] - other[name] for name in own])
        difference[np.abs(difference) < 1e-9] = 0.0
        p = wilcoxon(difference).pvalue if difference.any() else 1.0
        ahead, behind = int((difference > 0).sum()), int((difference < 0).sum())
        texts += [f"{difference.mean():+.4f}", f"{ahead} : {behind}", f"{p:.2g}"]
    return texts


def groups(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show how draws do on tables of much and of little signal."""
    cases = _of(rows, report)
    signal = mean_by_table(cases.tables, cases.numbers["signal"])
    spans = list(pairwise(_EDGES))
    tables = [[name for name, s in signal.items() if low <= s < high] for low, high in spans]
    lines = []
    for draw in (*_MUS, *CHOICES["power"]):
        means = mean_by_table(cases.tables, cases.test[draw])
        texts = [f"{np.mean([means[n] for n in names]):.3f}" if names else "-" for names in tables]
        lines.append([_title_of(draw), *texts])
    header = [
        f"{low:.0f} to {high:.0f} ({len(names)})"
        if high < np.inf
        else f"{low:.0f} on ({len(names)})"
        for (low, high), names in zip(spans, tables, strict=True)
    ]
    return ResultTable.from_texts(
        f"{spec.title}: by signal",
        ["draws", *header],
        lines,
        "Mean relative score on the tables whose signal is in these limits, with their number.",
    )


def state(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show what each number says of hard draws, and what it adds to a policy beside the signal."""
    cases = _of(rows, report)
    gain = np.array(
        list(mean_by_table(cases.tables, cases.test[ACTIONS[-1]] - cases.test["uniform"]).values())
    )
    lines = []

    def line(name: str, number: str, fit: Any) -> None:
        values = np.array(list(mean_by_table(cases.tables, cases.numbers[number]).values()))
        rank = spearmanr(values, gain).statistic if number else np.nan
        judged = _judged(cases, cross_validated(cases, fit), [])
        lines.append([name, f"{rank:+.2f}" if number else "-", *judged])

    line("signal", "signal", learned())
    for name in MORE_NUMBERS:
        line(f"signal and {name}", name, learned(more=(name,)))
    line("signal, constant at the test", "signal", learned(spoiled=_constant))
    line("signal, shuffled at the test", "signal", learned(spoiled=_shuffled))
    for penalty in (1e-5, 1e-4, 1e-2):
        line(f"signal, penalty {penalty:g}", "signal", learned(penalty=penalty))
    everything = tuple(MORE_NUMBERS)
    judged = _judged(cases, cross_validated(cases, learned(more=everything)), [])
    lines.append(["signal and all of them", "-", *judged])
    return ResultTable.from_texts(
        f"{spec.title}: the state",
        ["state", "rank correlation", "relative score", "worst", "on"],
        lines,
        "Rank correlation over the tables of the last number with what the hardest draw gains over "
        "uniform ones; and the learned policy on states that hold it, tested on other families.",
    )


def _constant(states: Floats, known: Floats) -> Floats:
    return np.broadcast_to(known.mean(axis=0), states.shape)


def _shuffled(states: Floats, known: Floats) -> Floats:
    # From all that is known: a family alone has too few to shuffle.
    rng = np.random.default_rng(0)
    return known[rng.integers(len(known), size=len(states))]


def each_table(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show for each table its signal, and relative scores of some draws and of the policy."""
    cases = _of(rows, report)
    signal = mean_by_table(cases.tables, cases.numbers["signal"])
    columns = {
        _title_of(draw): mean_by_table(cases.tables, cases.test[draw])
        for draw in ("uniform", "0.6", "0.9", *CHOICES["power"])
    }
    columns["learned"] = mean_by_table(cases.tables, cross_validated(cases, learned()))
    lines = [
        [name, f"{signal[name]:.0f}", *(f"{means[name]:.3f}" for means in columns.values())]
        for name in sorted(signal, key=partial(signal.__getitem__))
    ]
    return ResultTable.from_texts(
        f"{spec.title}: tables", ["table", "signal", *columns], lines, "In the order of the signal."
    )


#: By the kind of report.
DRAW_SUMMARIES = {
    "draw-policies": policies,
    "draw-groups": groups,
    "draw-state": state,
    "draw-tables": each_table,
}
