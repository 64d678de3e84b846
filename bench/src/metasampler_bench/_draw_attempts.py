"""How far learning to draw has come: what could be had, what was tried, learners that act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from metasampler.growth import spread_action
from metasampler_bench._draw_cases import ACTIONS, MORE_NUMBERS, Cases, Floats, cross_validated
from metasampler_bench._draw_ceiling import known_from_splits, perfect_knowledge
from metasampler_bench._draw_judge import (
    CONSTANTS,
    MUS,
    NOISE,
    THINNED,
    cases_of,
    judged,
    known_of,
    mean_of,
    tested_cases,
)
from metasampler_bench._draw_policies import (
    chosen_among,
    committee,
    kernel_smoothed,
    learned,
    one_threshold,
    shrunken,
)
from metasampler_bench._draw_training import HALVES, LEARNERS, SIGNALS, half_of
from metasampler_bench._rows import Row, finished
from metasampler_bench._spec import Spec
from metasampler_bench._tables import ResultTable

__all__ = ["attempts", "ceiling", "scores_of_training", "training"]

# Groups of families, for what is slow to fit.
_N_GROUPS = 5


def ceiling(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show what could be had at all: by knowledge of the table itself, up to a perfect one."""
    cases = tested_cases(rows, report)
    most = max(int((cases.tables == name).sum()) for name in set(cases.tables.tolist())) - 1
    choices = {
        "all constants": CONSTANTS,
        "constants mu": MUS,
        "constant powers": ACTIONS,
    }
    lines = []
    for name, draws in choices.items():
        known = [known_from_splits(cases, draws, n) for n in range(1, most + 1)]
        texts = [f"{_mean_over(scores):.4f}" for scores in known]
        if most:
            low, high = perfect_knowledge(cases, draws)
            texts.append(f"{low:.4f} to {high:.4f}")
        lines.append([f"best of {name} ({len(draws)})", *texts])
    own = cross_validated(cases, learned(), known_of(rows))
    lines.append(
        ["learned from other families", *["-"] * (len(lines[0]) - 2), f"{mean_of(cases, own):.4f}"]
    )
    splits = [f"by {n} other split{'s' * (n > 1)}" for n in range(1, most + 1)]
    return ResultTable.from_texts(
        f"{spec.title}: what could be had",
        ["draws", *splits, *(["perfect knowledge"] if most else [])],
        lines,
        "Relative score on splits that were not used to choose. The draw is the best one of some "
        "other splits of the same table, which takes a fit of each draw on each of them. Perfect "
        "knowledge of the truly best draw lies between what all splits but one tell, and halfway "
        "from there to hindsight. Scores are parts of the table's best with hindsight, and no "
        "choice that is made beforehand reaches 1.",
    )


def _mean_over(scores: dict[str, float]) -> float:
    return float(np.mean(list(scores.values())))


def attempts(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show every way of learning that was tried, on clean and on flipped labels."""
    clean, flipped = tested_cases(rows, report), cases_of(rows, {"noise": NOISE})
    thinned, known = cases_of(rows, {"thinned": THINNED}), known_of(rows)
    two = Cases.together({"": clean, " (flipped labels)": flipped})
    penalties = {f"{p:g}": learned(penalty=p) for p in (1e-5, 1e-4, 1e-3, 1e-2)}
    widths = {f"{w:g}": kernel_smoothed(w) for w in (0.1, 0.15, 0.2, 0.3)}
    states = {"signal": learned(), **{name: learned(more=(name,)) for name in MORE_NUMBERS}}
    ways: dict[str, tuple[Any, Cases]] = {
        "from clean labels: the sampler that comes along": (learned(), clean),
        "from clean and flipped labels": (learned(), two),
        "from clean and flipped labels and fewer positives": (learned(), known),
        "curves of noisy tables drawn to the mean": (learned(prepared=shrunken), known),
    }
    # Slow to fit: so these are held apart in groups of families.
    slow_ways: dict[str, Any] = {
        "penalty chosen within": chosen_among(penalties),
        "best of a curve smoothed over the signal, width chosen within": chosen_among(widths),
        "one more number in the state, chosen within": chosen_among(states),
        "mean of policies with one more number each": committee(),
    }
    tested = [cases for cases in (clean, flipped, thinned) if len(cases)]
    lines = []

    def line(name: str, fit: Any, source: Cases, n_groups: int | None) -> None:
        texts: list[str] = []
        for cases in tested:
            scores = cross_validated(cases, fit, source, n_groups=n_groups)
            best = cases.test[_best_of(CONSTANTS, cases)]
            mean, worst, _, _, sides, p = judged(cases, scores, [best])
            texts += [mean, worst, sides, p]
        lines.append([name, *texts])

    for name, (fit, source) in ways.items():
        line(name, fit, source, None)
    for name, fit in slow_ways.items():
        line(f"{name} *", fit, known, _N_GROUPS)
    titles = ["clean", "flipped", "thinned"]
    header = [
        column
        for title, cases in zip(titles, (clean, flipped, thinned), strict=True)
        if len(cases)
        for column in (f"{title} labels" if title != "thinned" else title, "worst", "sides", "p")
    ]
    return ResultTable.from_texts(
        f"{spec.title}: ways of learning",
        ["learned", *header],
        lines,
        f"All {len(lines)} that were tried with these rows, each on families that it has not "
        "learned from; what is chosen is chosen by cross-validation within the other families. "
        "Sides and p are against the best constant of all, with hindsight, of the same column. "
        f"* Families are held apart in {_N_GROUPS} groups, not one by one.",
    )


def scores_of_training(rows: list[Row], cases: Cases) -> dict[str, tuple[list[Floats], int, float]]:
    """Return what learners that act score on the half of the families they have not seen.

    Parameters
    ----------
    rows : list of dict
        With those of the trainings.
    cases : Cases
        Where they are tested.

    Returns
    -------
    found : dict of tuple
        By learner: scores of each seed, episodes and CPU hours of all trainings. Those without a
        seed that has both halves are left out.
    """
    halves = np.array([half_of(family) for family in cases.families])
    found = {}
    for name in LEARNERS:
        own = [row for row in finished(rows) if row["cell"].get("setting") == f"learner={name}"]
        scores = []
        for run in sorted({row["cell"]["run"] for row in own}):
            by_half = {row["cell"]["families"]: row for row in own if row["cell"]["run"] == run}
            if len(by_half) == len(HALVES):
                actions = np.empty(len(cases))
                for half, row in by_half.items():
                    signals = cases.numbers["signal"][halves != half]
                    actions[halves != half] = _actions_at(signals, row["powers"])
                scores.append(cases.scores_of(actions))
        if scores:
            cpu = sum(row["cpu"] for row in own) / 3600
            found[name] = scores, sum(row["n_episodes"] for row in own), cpu
    return found


def training(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show what learners make of real episodes, on the families of the other half."""
    cases, known = tested_cases(rows, report), known_of(rows)
    flipped = cases_of(rows, {"noise": NOISE})
    on_flipped = scores_of_training(rows, flipped) if len(flipped) else {}
    best_mu, best = _best_of(MUS, cases), _best_of(CONSTANTS, cases)
    threshold = cross_validated(cases, one_threshold, known)
    references = [cases.test[best_mu], cases.test[best], threshold]
    lines = []
    for name, (scores, n_episodes, cpu) in scores_of_training(rows, cases).items():
        lowest = min(mean_of(cases, each) for each in scores)
        texts = judged(cases, np.mean(scores, axis=0), references)
        noisy = mean_of(flipped, np.mean(on_flipped[name][0], axis=0)) if len(flipped) else np.nan
        facts = [f"{lowest:.4f}", str(len(scores)), f"{noisy:.4f}", str(n_episodes), f"{cpu:.2f}"]
        lines.append([name, *texts, *facts])
    halves, known_halves = (
        np.array([half_of(family) for family in part.families]) for part in (cases, known)
    )
    by_rows = np.empty(len(cases))
    for half in HALVES:
        if (halves != half).any() and (known_halves == half).any():
            policy = learned()(known.where(known_halves == half))
            by_rows[halves != half] = policy(cases.where(halves != half))
    texts = judged(cases, by_rows, references)
    lines.append(["from the stored rows of a half", *texts, *["-"] * 5])
    return ResultTable.from_texts(
        f"{spec.title}: learners that act",
        [
            *("learner", "relative score", "worst", "on"),
            *(f"against the best mu, {best_mu}", "ahead : behind", "p"),
            *(f"against the best constant, {best}", "ahead : behind", "p"),
            *("against a learned threshold", "ahead : behind", "p"),
            *("worst seed", "seeds", "flipped labels", "episodes", "CPU hours"),
        ],
        lines,
        "Trained on ensembles of boosters, on one table of every family of a half (at most 4,000 "
        "rows), and tested on the stored scores of the other half; scores are means over the "
        "seeds, episodes and CPU hours (with scouts) of all seeds and both halves together. The "
        "threshold is learned from all stored rows of other families.",
    )


def _best_of(draws: Sequence[str], cases: Cases) -> str:
    return max(draws, key=lambda draw: mean_of(cases, cases.test[draw]))


def _actions_at(signals: Floats, powers: list[float]) -> Floats:
    """Return the actions of a policy that is known by its powers at some signals."""
    chosen = np.interp(np.log(signals), np.log(SIGNALS), powers)
    grid = np.linspace(0, 1, 401)
    return np.interp(chosen, [float(spread_action(a, 0.0, "power")) for a in grid], grid)
