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
    SPLITS_OF_CHOICE,
    cases_of,
    judged,
    known_of,
    mean_of,
    p_over_families,
    splits_of,
)
from metasampler_bench._draw_policies import learned, one_threshold
from metasampler_bench._draw_trained import trained
from metasampler_bench._look import Look, bullets, fold, text_table

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
        f"We tested the shipped policy on {len(set(clean.tables.tolist()))} tables with "
        f"{splits_of(clean)} each. For each table it learned from other families only. A relative "
        "score of 1 is that of the best constant for each table, known only with hindsight. On new "
        f"splits this constant, the best of {len(CONSTANTS)}, would score {low:.4f} to {high:.4f}.",
        _all_places(look.rows, clean, known),
        _where_it_matters(clean),
    ]
    goals = [
        f"With clean labels, {splits_of(clean)}:\n\n" + _goal(clean, clean, known),
        f"With {NOISE:.0%} flipped training labels, {splits_of(flipped)}:\n\n"
        + _goal(flipped, clean, known)
        if len(flipped)
        else "",
    ]
    details = {
        "The goals, with what the policy reached in brackets": "\n\n".join(filter(None, goals)),
        "The same goals on the later splits": _new_splits(look.rows),
        "Learners that act on ensembles themselves": _costs(look.rows, clean, known),
    }
    texts += [fold(title, text) for title, text in details.items() if text]
    return "\n\n".join(text for text in texts if text)


def _new_splits(rows: list[dict[str, Any]]) -> str:
    """Say how policies do on splits that came after all choices."""
    later = range(SPLITS_OF_CHOICE.stop, 1000)
    clean = cases_of(rows, {"splits": SPLITS_OF_CHOICE})
    known = known_of(rows, SPLITS_OF_CHOICE)
    texts = []
    for title, noise in {"clean": 0.0, "flipped": NOISE}.items():
        cases = cases_of(rows, {"noise": noise, "splits": later})
        if len(cases):
            goal = _goal(cases, clean, known)
            texts.append(f"With {title} labels, {splits_of(cases)}:\n\n{goal}")
    if not texts:
        return ""
    head = (
        f"We chose the form of the policy on the first {len(SPLITS_OF_CHOICE)} splits. On the "
        "later splits we tested policies that learned from the first splits of other families:"
    )
    return "\n\n".join([head, *texts])


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
        f"the best mu with hindsight, {mu}": cases.test[mu],
        f"the best constant with hindsight, {_named(best)}": cases.test[best],
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
    # What is met stands first.
    order = sorted(verdicts, key=lambda name: not verdicts[name])
    return bullets(f"{'met' if verdicts[name] else 'missed'}: {name}" for name in order)


def _all_places(rows: list[dict[str, Any]], clean: Cases, known: Cases) -> str:
    """Compare the policy with others, in one column for each kind of data."""
    later = range(SPLITS_OF_CHOICE.stop, 1000)
    # On later splits policies know the first ones alone.
    first = cases_of(rows, {"splits": SPLITS_OF_CHOICE}), known_of(rows, SPLITS_OF_CHOICE)
    places = {
        "clean labels": (cases_of(rows, {}), clean, known),
        "flipped labels": (cases_of(rows, {"noise": NOISE}), clean, known),
        "clean, later": (cases_of(rows, {"splits": later}), *first),
        "flipped, later": (cases_of(rows, {"noise": NOISE, "splits": later}), *first),
        "other sets": (cases_of(rows, {"sets": True}), clean, known),
    }
    header, columns = [], []
    for title, (cases, *learned_from) in places.items():
        if len(cases):
            n = len(set(cases.tables.tolist()))
            header.append(f"{title} ({n})")
            columns.append(_column(cases, *learned_from))
    lines = [[name, *(column[name] for column in columns)] for name in columns[0]]
    return (
        "The table has relative scores. After the score of another policy, two numbers count the "
        "tables on which the shipped policy is ahead of it : behind it. A star means p < "
        f'{_GOAL_P} in Wilcoxon\'s test. In the columns "flipped", {NOISE:.0%} of the training '
        "labels are wrong. We chose the form of the policy on the first "
        f"{len(SPLITS_OF_CHOICE)} splits; the later splits decided nothing. The number of tables "
        "is in brackets.\n\n" + text_table(["", *header], lines)
    )


def _column(cases: Cases, clean: Cases, known: Cases) -> dict[str, str]:
    """Return how the policy and its rivals score on some data."""
    found = _policies(cases, clean, known)
    mu, best = (
        max(draws, key=lambda draw: mean_of(cases, cases.test[draw])) for draws in (MUS, CONSTANTS)
    )
    rivals = {
        "best mu, by hindsight": cases.test[mu],
        "best constant, by hindsight": cases.test[best],
        "a learned threshold": found["threshold"],
        "uniform draws": cases.test["uniform"],
        "learned from clean tables alone": found["clean"],
    }
    column = {"the shipped policy": f"{mean_of(cases, found['own']):.4f}"}
    for name, scores in rivals.items():
        *_, sides, p = judged(cases, found["own"], [scores])
        star = " *" if float(p) < _GOAL_P else ""
        column[name] = f"{mean_of(cases, scores):.4f}, {sides}{star}"
    return column


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
        "The draw matters most if the signal is very small or very large. Below a signal of "
        f"{_LITTLE:.0f} ({len(little)} tables), the hardest draws lose {lost:.1%}. With a signal "
        f"of {_MUCH:.0f} or more ({len(much)} tables), uniform draws lose {lost_uniform:.1%}."
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
        seeds = (
            f"Alone, its {len(alone)} seeds score {alone[0]:.4f} to {alone[-1]:.4f}."
            if len(alone) > 1
            else "It has one seed."
        )
        texts.append(
            f"- {name}: {mean}, worst table {worst}. Tables ahead : behind: {sides} against the "
            f"best mu (p = {p}), {sides_threshold} against a learned threshold (p = "
            f"{p_threshold}). {seeds} It took {found.n_episodes} episodes and {found.cpu:.2f} CPU "
            "hours."
        )
    if not texts:
        return ""
    head = (
        "Three learners act on ensembles themselves. They learn from one half of the families. We "
        "test them on the other half, with clean labels. We combine the seeds of a learner "
        "into one policy:"
    )
    return "\n".join([head, "", *texts])


def _named(draw: str) -> str:
    """Return how the text names a constant draw."""
    return f"mu {draw}" if draw in MUS else draw.removeprefix("soft ")


#: By the name of the spec.
DRAW_SENTENCES = {"policies-tables": policies_tables}
