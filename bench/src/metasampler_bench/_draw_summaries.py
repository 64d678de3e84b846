"""Say what the rows of `policies-tables` say: what learning to draw buys, and by what it sees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from metasampler_bench._draw_attempts import attempts, ceiling, training
from metasampler_bench._draw_cases import (
    ACTIONS,
    MORE_NUMBERS,
    Cases,
    Floats,
    cross_validated,
    mean_by_table,
)
from metasampler_bench._draw_judge import (
    CONSTANTS,
    MUS,
    NOISE,
    cases_of,
    judged,
    known_of,
    mean_of,
    splits_of,
    tested_cases,
)
from metasampler_bench._draw_measure import CHOICES, SELECTABLE
from metasampler_bench._draw_places import places
from metasampler_bench._draw_policies import (
    best_constant,
    by_signal,
    learned,
    one_threshold,
    random_search,
    selected,
    soft_actor_critic,
)
from metasampler_bench._draw_trained import trained
from metasampler_bench._rows import Row
from metasampler_bench._spec import Spec
from metasampler_bench._tables import ResultTable

__all__ = ["DRAW_SUMMARIES", "everywhere"]

_EDGES = (0.0, 25.0, 36.0, 50.0, 100.0, 160.0, np.inf)

# Searches and soft actor-critic depend on chance: the mean of some is shown.
_SEEDS = range(3)

# How tables name the shipped sampler.
_OWN = "learned, also from flipped labels and fewer positives: shipped"

# Members of a team; the first is drawn uniformly and shared.
_N_MEMBERS = 4

# Soft actor-critic is slow to train: the families are held apart in this many groups.
_GROUPS_OF_FAMILIES = 5


def _title_of(draw: str) -> str:
    if draw == "uniform":
        return "uniform draws"
    if draw.startswith("soft power"):
        return f"power {draw.removeprefix('soft power ')}"
    if "+" in draw:
        return f"{draw}, members of both"
    if draw.startswith("powers"):
        return f"{draw} in turn"
    return f"{draw}, without floor" if draw.startswith("power") else f"constant mu {draw}"


def _by_chance(fit: Callable[[int], Any], cases: Cases, known: Cases) -> Floats:
    return np.mean(
        [cross_validated(cases, fit(seed), known, n_groups=_GROUPS_OF_FAMILIES) for seed in _SEEDS],
        axis=0,
    )


def short(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show what matters: the learned policies beside what they have to beat, everywhere."""
    clean, known = tested_cases(rows, {}), known_of(rows)
    best_mu = max(MUS, key=lambda draw: mean_of(clean, clean.test[draw]))
    best = max(CONSTANTS, key=lambda draw: mean_of(clean, clean.test[draw]))
    own = _OWN
    where = {
        "the tables": clean,
        "with flipped labels": cases_of(rows, {"noise": NOISE}),
        "other data sets": cases_of(rows, {"sets": True}),
    }
    where = {title: cases for title, cases in where.items() if len(cases)}
    ways: dict[str, Callable[[Cases], Floats]] = {
        own: lambda cases: cross_validated(cases, learned(), known),
        "learned from clean tables alone": lambda cases: cross_validated(cases, learned(), clean),
        "one threshold on the signal, learned": lambda cases: cross_validated(
            cases, one_threshold, known
        ),
        f"{_title_of(best)}, the best constant": lambda cases: cases.test[best],
        f"{_title_of(best_mu)}, the best mu": lambda cases: cases.test[best_mu],
        "uniform draws": lambda cases: cases.test["uniform"],
    }
    lines = []
    first = {title: ways[own](cases) for title, cases in where.items()}
    for name, scores_of in ways.items():
        texts: list[str] = []
        for title, cases in where.items():
            scores = first[title] if name == own else scores_of(cases)
            mean, worst, *_ = judged(cases, scores, [])
            *_, sides, p = judged(cases, first[title], [scores])
            texts += [mean, worst, *(("-", "-") if name == own else (sides, p))]
        lines.append([name, *texts])
    header = ["draws"]
    for title in where:
        header += [title, "worst", "the first is ahead : behind", "p"]
    counts = "; ".join(
        f"{title}: {len(set(cases.tables.tolist()))}, {splits_of(cases)}"
        for title, cases in where.items()
    )
    return ResultTable.from_texts(
        f"{spec.title}: in short",
        header,
        lines,
        "A relative score is average precision, divided by that of the best of "
        f"{len(CONSTANTS)} constants on the same table with hindsight. Learned policies are tested "
        "on families that they have not learned from. The two constants are the best on the clean "
        "tables, with hindsight. p is "
        f"Wilcoxon's. How many: {counts}.",
    )


def everywhere(spec: Spec, rows: list[Row], report: dict[str, Any]) -> list[ResultTable]:
    """Show the policies on the tables, and on each of their varieties that there are rows of."""
    tested_cases(rows, {})
    data: list[dict[str, Any]] = [{"controls": True}, {"noise": NOISE}, {"sets": True}]
    return [policies(spec, rows, which) for which in data if len(cases_of(rows, which))]


def policies(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show relative scores of constants, rules and learned policies, each on unseen families."""
    cases = tested_cases(rows, report)
    # Rules and policies learn from the same: how many labels of a table are wrong is not known.
    clean, known = cases_of(rows, {}), known_of(rows)
    ways: dict[str, tuple[Floats, float]] = {
        _title_of(draw): (scores, 1.0) for draw, scores in cases.test.items() if draw in CONSTANTS
    }
    best_mu = max(MUS, key=lambda draw: mean_of(cases, cases.test[draw]))
    best = max(CONSTANTS, key=lambda draw: mean_of(cases, cases.test[draw]))
    ways |= {
        "best mu of the other families": (cross_validated(cases, best_constant(MUS), known), 1.0),
        "best constant of the other families": (
            cross_validated(cases, best_constant(CONSTANTS), known),
            1.0,
        ),
        "one threshold on the signal": (cross_validated(cases, one_threshold, known), 1.0),
        "thresholds set by hand, on these tables": (by_signal(cases), 1.0),
        "learned from clean tables alone": (cross_validated(cases, learned(), clean), 1.0),
        _OWN: (cross_validated(cases, learned(), known), 1.0),
        "hindsight: the best constant of each table": (_hindsight(cases), np.nan),
    }
    if not report.get("sets"):
        ways |= {
            f"{name} on ensembles, its seeds as one": (found.as_one, 1.0)
            for name, found in trained(rows, cases).items()
        }
    if report.get("controls"):
        ways |= {
            "soft actor-critic, on the same curves": (
                _by_chance(soft_actor_critic, cases, known),
                1.0,
            ),
            "random search over linear policies": (_by_chance(random_search, cases, known), 1.0),
        }
    references = {
        f"best constant mu, {best_mu}": cases.test[best_mu],
        f"best constant, {_title_of(best)}": cases.test[best],
        "one threshold": ways["one threshold on the signal"][0],
    }
    lines = [
        [name, *judged(cases, scores, references.values()), _cost(value)]
        for name, (scores, value) in ways.items()
    ]
    # Some ways were tried on fewer splits; then each is compared on those.
    tried = [cases_of(rows, report, group=group) for group in ("more", "turns")]
    for group, few in zip(("more", "turns"), tried, strict=True):
        if not len(few):
            continue
        few_references = [
            few.test[best_mu],
            few.test[best],
            cross_validated(few, one_threshold, known),
        ]
        lines += [
            [f"{name} *", *judged(few, scores, few_references), _cost(value)]
            for name, (scores, value) in _tried(few, group).items()
        ]
    lines.sort(key=lambda line: -float(line[1]))
    noise = report.get("noise", 0.0)
    labels = f", {noise:.0%} flipped training labels" if noise else ""
    labels += ", on other data sets" if report.get("sets") else ""
    header = ["draws", "relative score", "worst", "on"]
    for name in references:
        header += [f"against {name}", "ahead : behind", "p"]
    return ResultTable.from_texts(
        f"{spec.title}{labels}",
        [*header, "cost"],
        lines,
        "Average precision, divided by that of each table's own best constant: the mean over "
        f"{splits_of(cases)} of {len(set(cases.tables.tolist()))} tables. All that is chosen or "
        "learned comes from tables of other families: with clean labels, with flipped labels, and "
        "with fewer positives. p is Wilcoxon's over the tables. Cost: members that are fitted, a "
        "constant is 1."
        + (
            " * Measured and compared on fewer splits. Compare its differences with the others, "
            "but not its score."
            if any(map(len, tried))
            else ""
        ),
    )


def _tried(few: Cases, group: str) -> dict[str, tuple[Floats, float]]:
    """Return what was measured on some splits only, with its cost."""
    # Pairs of draws are not draws of their own, and stand in the rows of "more".
    ways = {
        _title_of(draw): (scores, 1.75 if "+" in draw else 1.0)
        for draw, scores in few.test.items()
        if draw in CHOICES[group] or (group == "more" and "+" in draw)
    }
    if group == "more":
        cost = (1 + len(SELECTABLE) * (_N_MEMBERS - 1)) / _N_MEMBERS
        ways[f"selected on validation rows, {len(SELECTABLE)} fits"] = selected(few), cost
    if group == "turns":
        fit = best_constant((*CONSTANTS, *CHOICES[group]))
        name = "best of constants and of powers in turn, of the other families"
        ways[name] = cross_validated(few, fit), 1.0
    return ways


def _hindsight(cases: Cases) -> Floats:
    means = {draw: mean_by_table(cases.tables, cases.test[draw]) for draw in CONSTANTS}
    best = {
        name: max(CONSTANTS, key=lambda draw: means[draw][name])
        for name in set(cases.tables.tolist())
    }
    return np.array([cases.test[best[name]][n] for n, name in enumerate(cases.tables)])


def _cost(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def groups(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show how draws do on tables of much and of little signal."""
    cases = tested_cases(rows, report)
    signal = mean_by_table(cases.tables, cases.numbers["signal"])
    spans = list(pairwise(_EDGES))
    tables = [[name for name, s in signal.items() if low <= s < high] for low, high in spans]
    lines = []
    for draw in (*MUS, *CHOICES["power"]):
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
        "Mean relative score on the tables with a signal in these limits. The number of tables is "
        "in brackets.",
    )


def state(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show what each number says of hard draws, and what it adds to a policy beside the signal."""
    cases, known = tested_cases(rows, report), known_of(rows)
    gain = np.array(
        list(mean_by_table(cases.tables, cases.test[ACTIONS[-1]] - cases.test["uniform"]).values())
    )
    lines = []

    def line(name: str, number: str, fit: Any) -> None:
        values = np.array(list(mean_by_table(cases.tables, cases.numbers[number]).values()))
        rank = spearmanr(values, gain).statistic if number else np.nan
        texts = judged(cases, cross_validated(cases, fit, known), [])
        lines.append([name, f"{rank:+.2f}" if number else "-", *texts])

    line("signal", "signal", learned())
    for name in MORE_NUMBERS:
        line(f"signal and {name}", name, learned(more=(name,)))
    line("signal, constant at the test", "signal", learned(spoiled=_constant))
    line("signal, shuffled at the test", "signal", learned(spoiled=_shuffled))
    for penalty in (1e-5, 1e-4, 1e-2):
        line(f"signal, penalty {penalty:g}", "signal", learned(penalty=penalty))
    everything = tuple(MORE_NUMBERS)
    texts = judged(cases, cross_validated(cases, learned(more=everything), known), [])
    lines.append(["signal and all of them", "-", *texts])
    return ResultTable.from_texts(
        f"{spec.title}: the state",
        ["state", "rank correlation", "relative score", "worst", "on"],
        lines,
        "The rank correlation is that of the last number of the state with the gain of the hardest "
        "draw over uniform draws. The scores are those of a policy that reads this state, tested "
        "on other families.",
    )


def _constant(states: Floats, known: Floats) -> Floats:
    return np.broadcast_to(known.mean(axis=0), states.shape)


def _shuffled(states: Floats, known: Floats) -> Floats:
    # From all that is known: a family alone has too few to shuffle.
    rng = np.random.default_rng(0)
    return known[rng.integers(len(known), size=len(states))]


def each_table(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show for each table its signal, and relative scores of some draws and of the policy."""
    cases = tested_cases(rows, report)
    signal = mean_by_table(cases.tables, cases.numbers["signal"])
    columns = {
        _title_of(draw): mean_by_table(cases.tables, cases.test[draw])
        for draw in ("uniform", "0.6", "0.9", *CHOICES["power"])
    }
    columns["learned"] = mean_by_table(
        cases.tables, cross_validated(cases, learned(), known_of(rows))
    )
    lines = [
        [name, f"{signal[name]:.0f}", *(f"{means[name]:.3f}" for means in columns.values())]
        for name in sorted(signal, key=partial(signal.__getitem__))
    ]
    return ResultTable.from_texts(
        f"{spec.title}: tables", ["table", "signal", *columns], lines, "In the order of the signal."
    )


#: By the kind of report.
DRAW_SUMMARIES = {
    "draw-places": places,
    "draw-short": short,
    "draw-groups": groups,
    "draw-state": state,
    "draw-tables": each_table,
    "draw-ceiling": ceiling,
    "draw-attempts": attempts,
    "draw-training": training,
}
