"""Say what the rows of `policies-tables` say, for those who want to know whether learning pays."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler_bench._draw_cases import ACTIONS, Cases, Floats, cross_validated, mean_by_table
from metasampler_bench._draw_ceiling import perfect_knowledge
from metasampler_bench._draw_judge import (
    CONSTANTS,
    MUS,
    NOISE,
    cases_of,
    judged,
    known_of,
    mean_of,
    p_over_families,
    splits_of,
)
from metasampler_bench._draw_policies import learned, one_threshold
from metasampler_bench._draw_trained import trained
from metasampler_bench._look import Look

__all__ = ["DRAW_SENTENCES"]

#: What was asked for: the mean, the worst table, and p against constants and the threshold.
_GOAL, _GOAL_WORST, _GOAL_P = 0.992, 0.93, 0.05

# Signals below and above which the choice of a draw matters most.
_LITTLE, _MUCH = 25.0, 160.0


def policies_tables(look: Look) -> str:
    """Say how the learned policies do, what could be had, and what learning costs."""
    clean = cases_of(look.rows, {})
    if not len(clean):
        return ""
    known = known_of(look.rows)
    flipped = cases_of(look.rows, {"noise": NOISE})
    low, high = perfect_knowledge(clean, CONSTANTS)
    texts = [
        f"On {len(set(clean.tables.tolist()))} tables, {splits_of(clean)}, each judged by what was "
        f"learned from others: {_goal(clean, clean, known)} Who knew the truly best of "
        f"{len(CONSTANTS)} constants of every table would have {low:.4f} to {high:.4f} on new "
        "splits; 1 is the best with hindsight.",
        f"With {NOISE:.0%} flipped training labels, {splits_of(flipped)}: "
        + _goal(flipped, clean, known)
        if len(flipped)
        else "",
        _all_places(look.rows, clean, known),
        _where_it_matters(clean),
        _costs(look.rows, clean, known),
    ]
    return "\n\n".join(text for text in texts if text)


def _policies(cases: Cases, clean: Cases, known: Cases) -> dict[str, Floats]:
    return {
        "own": cross_validated(cases, learned(), known),
        "clean": cross_validated(cases, learned(), clean),
        "threshold": cross_validated(cases, one_threshold, known),
    }


def _goal(cases: Cases, clean: Cases, known: Cases) -> str:
    found = _policies(cases, clean, known)
    mu, best = (
        max(draws, key=lambda draw: mean_of(cases, cases.test[draw])) for draws in (MUS, CONSTANTS)
    )
    rivals = {
        "the best mu with hindsight": cases.test[mu],
        f"the best constant of all with hindsight, {best.removeprefix('soft ')}": cases.test[best],
        "a learned threshold": found["threshold"],
    }
    own = found["own"]
    mean, worst, table, *compared = judged(cases, own, rivals.values())
    verdicts = {
        f"a mean of {_GOAL} ({mean})": float(mean) >= _GOAL,
        f"no table below {_GOAL_WORST} ({worst}, {table})": float(worst) >= _GOAL_WORST,
    }
    n_families = len(set(cases.families.tolist()))
    for (name, scores), gain, p in zip(rivals.items(), compared[::3], compared[2::3], strict=True):
        of_families = f"over the {n_families} families {p_over_families(cases, own, scores):.2g}"
        is_ahead = float(p) < _GOAL_P and float(gain) > 0
        verdicts[f"p < {_GOAL_P} against {name} ({p}; {of_families})"] = is_ahead
    met = [name for name, is_met in verdicts.items() if is_met]
    missed = [name for name, is_met in verdicts.items() if not is_met]
    text = f"met: {_listed(met)}" if met else "nothing of the goal is met"
    return f"{text}; missed: {_listed(missed)}." if missed else f"{text}."


def _all_places(rows: list[dict[str, Any]], clean: Cases, known: Cases) -> str:
    places = {
        "With clean labels": clean,
        f"With {NOISE:.0%} flipped training labels": cases_of(rows, {"noise": NOISE}),
        "On other data sets": cases_of(rows, {"sets": True}),
    }
    texts = []
    for title, cases in places.items():
        if not len(cases):
            continue
        found = _policies(cases, clean, known)
        mu = max(MUS, key=lambda draw: mean_of(cases, cases.test[draw]))
        best = max(CONSTANTS, key=lambda draw: mean_of(cases, cases.test[draw]))
        rivals = {
            f"the best mu, {mu}": cases.test[mu],
            f"the best constant of all, {best.removeprefix('soft ')}": cases.test[best],
            "a learned threshold": found["threshold"],
            "uniform draws": cases.test["uniform"],
            "the same learner on clean tables alone": found["clean"],
        }
        compared = []
        for name, scores in rivals.items():
            *_, sides, p = judged(cases, found["own"], [scores])
            compared.append(f"{name} {mean_of(cases, scores):.4f} ({sides}, p = {p})")
        count = f"{len(set(cases.tables.tolist()))} {'sets' if 'sets' in title else 'tables'}"
        texts.append(
            f"- **{title}** ({count}, {splits_of(cases)}): the policy that comes along "
            f"{mean_of(cases, found['own']):.4f}; {_listed(compared)}."
        )
    return "\n".join(texts)


def _where_it_matters(clean: Cases) -> str:
    signal = mean_by_table(clean.tables, clean.numbers["signal"])
    uniform, hardest = (mean_by_table(clean.tables, clean.test[ACTIONS[n]]) for n in (0, -1))
    little = [name for name, value in signal.items() if value < _LITTLE]
    much = [name for name, value in signal.items() if value >= _MUCH]
    if not little or not much:
        return ""
    lost = 1 - np.mean([hardest[name] for name in little])
    lost_uniform = 1 - np.mean([uniform[name] for name in much])
    return (
        f"It matters at the ends: below a signal of {_LITTLE:.0f} ({len(little)} tables) the "
        f"hardest draws lose {lost:.1%}, and from {_MUCH:.0f} on ({len(much)} tables) uniform ones "
        f"lose {lost_uniform:.1%}."
    )


def _costs(rows: list[dict[str, Any]], clean: Cases, known: Cases) -> str:
    mu = max(MUS, key=lambda draw: mean_of(clean, clean.test[draw]))
    threshold = cross_validated(clean, one_threshold, known)
    texts = []
    for name, found in trained(rows, clean).items():
        mean, worst, _, _, sides, p, _, sides_threshold, p_threshold = judged(
            clean, found.as_one, [clean.test[mu], threshold]
        )
        alone = sorted(mean_of(clean, each) for each in found.each)
        seeds = f"{len(alone)} seeds, alone {alone[0]:.4f} to {alone[-1]:.4f}"
        texts.append(
            f"- {name}: {mean}, worst table {worst}; against the best mu {sides}, p = {p}; against "
            f"a learned threshold {sides_threshold}, p = {p_threshold}; "
            f"{seeds if len(alone) > 1 else 'one seed'}; episodes: {found.n_episodes}, CPU hours: "
            f"{found.cpu:.2f}"
        )
    if not texts:
        return ""
    head = (
        "Learners that act on ensembles themselves, trained on one half of the families and tested "
        "on the other, with clean labels; the seeds of each become one policy:"
    )
    return "\n".join([head, "", *texts])


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


#: By the name of the spec.
DRAW_SENTENCES = {"policies-tables": policies_tables}
