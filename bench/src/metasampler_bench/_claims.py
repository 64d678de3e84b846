"""Judge claims by stored rows: effect, interval and a corrected test, by one rule for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from metasampler_bench._claim_list import CLAIMS, Claim
from metasampler_bench._evidence import LEVEL, MARGIN, Evidence
from metasampler_bench._fit_counts import count_fits, say_what_is_left
from metasampler_bench._look import Look, short
from metasampler_bench._numbers import Numbers
from metasampler_bench._statistics import holm
from metasampler_bench._tables import ResultTable

__all__ = ["CLAIM_TABLES", "judge_claims", "verdict"]

CONFIRMED, PARTLY, SAME = "confirmed", "partly", "no difference"
DIFFERENT, REFUTED = "different", "refuted"
UNDECIDED, OPEN = "undecided", "open"
_VERDICTS = (CONFIRMED, PARTLY, SAME, DIFFERENT, REFUTED, UNDECIDED, OPEN)

Looks = dict[str, Look]


def _primary(claim: Claim, found: Evidence) -> float:
    return found.p_ahead() if claim.margin is None else found.p_within(claim.margin)


def verdict(claim: Claim, found: Evidence, p: float) -> str:
    """Return the verdict on a claim, by its corrected p."""
    if claim.margin is not None:
        differs = found.effects[found.furthest].p < LEVEL
        return CONFIRMED if p < LEVEL else DIFFERENT if differs else UNDECIDED
    effect = found.effects[found.nearest]
    if p < LEVEL and effect.mean > 0:
        return PARTLY if found.n_behind_by_sign else CONFIRMED
    if effect.mean < 0 and effect.p < LEVEL:
        return REFUTED
    return SAME if found.p_within(MARGIN) < LEVEL else UNDECIDED


def judge_claims(looks: Looks, claims: Iterable[Claim], title: str) -> ResultTable:
    """Judge some claims together."""
    claims = list(claims)
    found = [c.evidence(looks[c.spec]) if c.spec in looks else None for c in claims]
    tested = [(claim, each) for claim, each in zip(claims, found, strict=True) if each is not None]
    corrected = iter(holm([_primary(claim, each) for claim, each in tested]))
    lines = []
    for claim, each in zip(claims, found, strict=True):
        link = f"[{claim.spec}]({claim.spec}.md)" if claim.spec in looks else claim.spec
        origin = [claim.where] if any(c.where for c in claims) else []
        if each is None:
            lines.append([claim.text, *origin, OPEN, *[""] * 5, link])
            continue
        p = next(corrected)
        rival = each.nearest if claim.margin is None else each.furthest
        effect = each.effects[rival]
        low, high = effect.interval
        shown = f"{effect.mean:+.3f} ({low:+.3f} to {high:+.3f})"
        lines.append(
            [
                claim.text,
                *origin,
                verdict(claim, each, p),
                rival,
                shown if effect.is_known else f"{effect.mean:+.3f}",
                "<.001" if p < 0.001 else short(p),
                f"{each.n_ahead} : {each.n_behind} of {each.n_cells}" if each.is_of_cells else "",
                f"{each.n_behind_by_sign} of {each.n_cells}",
                link,
            ]
        )
    header = ["claim", *(["in the paper"] if any(c.where for c in claims) else []), "verdict"]
    header += ["against", "effect (95% interval)", "p, Holm"]
    header += ["cells significantly ahead : behind", "behind", "rows"]
    return ResultTable.from_texts(title, header, lines)


def claims_of_paper(numbers: Numbers) -> str:
    """Judge the paper's claims, and count the verdicts."""
    table = judge_claims(numbers.looks, (claim for claim in CLAIMS if claim.where), "")
    verdicts = [line[2].text for line in table.rows]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in _VERDICTS if v in verdicts)
    return f"{len(verdicts)} claims: {counts}.\n\n{_without_title(table)}"


def questions_of_ours(numbers: Numbers) -> str:
    """Judge what the paper does not claim."""
    table = judge_claims(numbers.looks, (claim for claim in CLAIMS if not claim.where), "")
    return _without_title(table)


def _without_title(table: ResultTable) -> str:
    """Write a table whose page has the title."""
    return table.markdown("##").strip().partition("\n")[2].strip()


#: By the name of a place in a page.
CLAIM_TABLES: dict[str, Callable[[Numbers], str]] = {
    "claims-of-paper": claims_of_paper,
    "questions-of-ours": questions_of_ours,
    "fits": lambda numbers: _without_title(count_fits(numbers.looks)),
    "left": lambda numbers: say_what_is_left(numbers.looks),
}
