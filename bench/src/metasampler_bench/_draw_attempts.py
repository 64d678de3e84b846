"""How far learning to draw has come: what could be had, what was tried, trainers that act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
from metasampler_bench._draw_trained import trained
from metasampler_bench._draw_training import HALVES, half_of
from metasampler_bench._rows import Row
from metasampler_bench._spec import Spec
from metasampler_bench._tables import ResultTable

__all__ = ["attempts", "ceiling", "training"]

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
    own, nothing = cross_validated(cases, learned(), known_of(rows)), ["-"] * (len(lines[0]) - 2)
    lines.append(
        ["learned from constants of other families", *nothing, f"{mean_of(cases, own):.4f}"]
    )
    splits = [f"by {n} other split{'s' * (n > 1)}" for n in range(1, most + 1)]
    return ResultTable.from_texts(
        f"{spec.title}: what could be had",
        ["draws", *splits, *(["perfect knowledge"] if most else [])],
        lines,
        "Relative scores on splits that were not used to choose. The draw is the best one on some "
        "other splits of the same table. To find it takes a fit of each draw on each of these "
        "splits. Perfect knowledge is a range: from what all splits but one tell, to halfway from "
        "there to hindsight. A relative score of 1 needs hindsight. No choice that is made before "
        "reaches it.",
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
        "from clean labels": (learned(), clean),
        "from clean and flipped labels": (learned(), two),
        "from clean and flipped labels and fewer positives: shipped": (learned(), known),
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
        f"All {len(lines)} ways that were tried with these rows. Each is tested on families that "
        "it has not learned from. Choices are made by cross-validation within the other families. "
        "Sides and p are against the best constant of the same column, with hindsight. "
        f"* Families are held apart in {_N_GROUPS} groups, not one by one.",
    )


def training(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show what trainers make of real episodes, on the families of the other half."""
    cases, known = tested_cases(rows, report), known_of(rows)
    flipped = cases_of(rows, {"noise": NOISE})
    on_flipped = trained(rows, flipped) if len(flipped) else {}
    best_mu, best = _best_of(MUS, cases), _best_of(CONSTANTS, cases)
    threshold = cross_validated(cases, one_threshold, known)
    references = [cases.test[best_mu], cases.test[best], threshold]
    flipped_best = [flipped.test[_best_of(CONSTANTS, flipped)]] if len(flipped) else []
    lines = []

    def on_flipped_labels(scores: Floats | None) -> list[str]:
        if scores is None:
            return ["-"] * 4
        mean, worst, _, _, sides, p = judged(flipped, scores, flipped_best)
        return [mean, worst, sides, p]

    for name, found in trained(rows, cases).items():
        noisy = on_flipped.get(name)
        facts = [str(len(found.each)), str(found.n_episodes), f"{found.cpu:.2f}"]
        lines.append(
            [
                f"{name}, as one policy",
                *judged(cases, found.as_one, references),
                *on_flipped_labels(None if noisy is None else noisy.as_one),
                *("-", *facts),
            ]
        )
        lowest = min(mean_of(cases, each) for each in found.each)
        lines.append(
            [
                f"{name}, mean of the seeds' scores",
                *judged(cases, np.mean(found.each, axis=0), references),
                *on_flipped_labels(None if noisy is None else np.mean(noisy.each, axis=0)),
                *(f"{lowest:.4f}", *facts),
            ]
        )
    halves, known_halves = (
        np.array([half_of(family) for family in part.families]) for part in (cases, known)
    )
    by_rows = np.empty(len(cases))
    for half in HALVES:
        if (halves != half).any() and (known_halves == half).any():
            policy = learned()(known.where(known_halves == half))
            by_rows[halves != half] = policy(cases.where(halves != half))
    texts = judged(cases, by_rows, references)
    lines.append(["from the stored rows of a half", *texts, *["-"] * 8])
    return ResultTable.from_texts(
        f"{spec.title}: trainers that act",
        [
            *("trainer", "relative score", "worst", "on"),
            *(f"against the best mu, {best_mu}", "ahead : behind", "p"),
            *(f"against the best constant, {best}", "ahead : behind", "p"),
            *("against a learned threshold", "ahead : behind", "p"),
            *("flipped labels", "worst", "against the best constant there", "p"),
            *("worst seed", "seeds", "episodes", "CPU hours"),
        ],
        lines,
        "A trainer learns on ensembles of boosters. It gets one table of every family of one "
        "half, at most 4,000 rows. It is tested on the stored scores of the other half. *As one "
        "policy* is the mean of the seeds' choices, before it is squashed. Episodes and CPU hours "
        "(with scouts) are of all "
        "seeds and both halves together. The threshold is learned from all stored rows of other "
        "families.",
    )


def _best_of(draws: Sequence[str], cases: Cases) -> str:
    return max(draws, key=lambda draw: mean_of(cases, cases.test[draw]))
