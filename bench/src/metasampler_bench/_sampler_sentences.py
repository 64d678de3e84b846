"""Say what the rows of several specs say about the sampler for trees, for its page."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metasampler_bench._look import Look, listed, short, text_table
from metasampler_bench._methods import title_of
from metasampler_bench._paired import at, by_split
from metasampler_bench._rows import per_set_means, select

__all__ = ["SAMPLER_SENTENCES"]

_POLICIES = ("mesa-alone", "mesa-universal", "constant-0.8", "constant-0.9", "constant-1")
_PARTS = (
    "mesa-fit",
    "mesa-soft",
    "mesa-refit",
    "mesa-ahead",
    "mesa-ahead-refit",
    "hard-ahead-refit",
)


def sets_apart(look: Look) -> str:
    """Say on which set the sampler without rivals gains and loses most against a constant."""
    sets, means = per_set_means(select(look.rows, {"k": 10}), ["mesa-alone", "constant-0.9"])
    if len(sets) < 2:
        return ""
    gaps = means[:, 0] - means[:, 1]
    best, worst = int(gaps.argmax()), int(gaps.argmin())
    return (
        "With ten members, the sampler without rivals gains most against the constant 0.9 on "
        f"{sets[best]} ({gaps[best]:+.3f}), and loses most on {sets[worst]} ({gaps[worst]:+.3f})."
    )


def wrong_labels(look: Look) -> str:
    """Show policies on mammography with flipped labels."""
    levels = (0.25, 0.4)
    place = {"dataset": "mammography", "flips": "both"}
    lines, spreads, fits = [], [], set()
    for method in _POLICIES:
        found = [by_split(at(look.rows, {**place, "noise": n, "method": method})) for n in levels]
        if not all(found):
            continue
        values = [list(each.values()) for each in found]
        spreads += [float(np.std(each, ddof=1)) for each in values]
        fits |= {len(each) for each in values}
        lines.append([title_of(method), *(short(float(np.mean(each))) for each in values)])
    if not lines:
        return ""
    table = text_table(["policy", *(f"{level:.0%} flipped labels" for level in levels)], lines)
    return (
        f"{table}\n\nMammography, ten members, {listed(sorted(fits))} fits each. The standard "
        f"deviation between fits is {short(min(spreads), 2)} to {short(max(spreads), 2)}."
    )


def parts_of_mesa(look: Look) -> str:
    """Show what soft leaves, the refit and look-ahead bring on the authors' split."""
    sizes = look.values("k")
    lines = []
    for method in _PARTS:
        places = [{"dataset": "mammography-authors", "method": method, "k": k} for k in sizes]
        if all(look.has(**place) for place in places):
            n = look.fits(**places[0])
            scores = [short(look.mean(**place)) for place in places]
            lines.append([title_of(method), *scores, f"{n}"])
    if not lines:
        return ""
    return text_table(["on the authors' split", *(f"{k} members" for k in sizes), "fits"], lines)


#: By the name of a place: the spec that has the rows, and what they say.
SAMPLER_SENTENCES: dict[str, tuple[str, Callable[[Look], str]]] = {
    "sets-apart": ("policies", sets_apart),
    "wrong-labels": ("noise", wrong_labels),
    "parts-of-mesa": ("under-sampling", parts_of_mesa),
}
