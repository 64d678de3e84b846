"""Judge claims by stored rows: effect, interval and a corrected test, by one rule for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from metasampler_bench._claim_list import CLAIMS, Claim
from metasampler_bench._evidence import LEVEL, MARGIN, Effect, Evidence, Tested
from metasampler_bench._fit_counts import count_fits, say_what_is_left
from metasampler_bench._look import Look, short
from metasampler_bench._numbers import Numbers
from metasampler_bench._statistics import holm
from metasampler_bench._tables import ResultTable

__all__ = ["CLAIM_TABLES", "Verdict", "judge", "judge_claims"]

CONFIRMED, PARTLY, SAME = "confirmed", "partly", "no difference"
DIFFERENT, REFUTED = "different", "refuted"
UNDECIDED, OPEN = "undecided", "open"
_VERDICTS = (CONFIRMED, PARTLY, SAME, DIFFERENT, REFUTED, UNDECIDED, OPEN)

Looks = dict[str, Look]


class Verdict(NamedTuple):
    """A verdict, with the rival and the corrected p that it rests on."""

    name: str
    rival: str
    p: float


def judge(claims: Sequence[Claim], found: Sequence[Evidence]) -> list[Verdict]:
    """Return the verdicts on some claims.

    Each claim is asked twice: is there a difference, and is it within the margin? Both kinds of
    test have Holm's correction over all claims.
    """
    margins = [MARGIN if claim.margin is None else claim.margin for claim in claims]
    differences = [
        each.ahead() if claim.margin is None else each.different()
        for claim, each in zip(claims, found, strict=True)
    ]
    within = [each.within(margin) for margin, each in zip(margins, found, strict=True)]
    return [
        _verdict(claim, each, *tested)
        for claim, each, *tested in zip(
            claims, found, _corrected(differences), _corrected(within), strict=True
        )
    ]


def _corrected(tests: list[Tested]) -> list[Tested]:
    """Return tests with p corrected for their number."""
    values = holm([test.p for test in tests])
    return [test._replace(p=p) for test, p in zip(tests, values, strict=True)]


def _verdict(claim: Claim, found: Evidence, difference: Tested, within: Tested) -> Verdict:
    """Return the verdict on one claim."""
    if claim.margin is not None:
        if within.p < LEVEL:
            return Verdict(CONFIRMED, *within)
        return Verdict(DIFFERENT, *difference) if difference.p < LEVEL else _undecided(within)
    if difference.p < LEVEL:
        if found.effects[difference.rival].mean < 0:
            return Verdict(REFUTED, *difference)
        return Verdict(PARTLY if found.n_behind_by_sign else CONFIRMED, *difference)
    return Verdict(SAME, *within) if within.p < LEVEL else _undecided(difference)


def _undecided(test: Tested) -> Verdict:
    return Verdict(UNDECIDED, *test)


def judge_claims(looks: Looks, claims: Iterable[Claim], title: str) -> ResultTable:
    """Judge some claims together."""
    claims = list(claims)
    found = [c.evidence(looks[c.spec]) if c.spec in looks else None for c in claims]
    tested = [(claim, each) for claim, each in zip(claims, found, strict=True) if each is not None]
    verdicts = iter(judge([c for c, _ in tested], [each for _, each in tested]))
    lines = []
    for claim, each in zip(claims, found, strict=True):
        link = f"[{claim.spec}]({claim.spec}.md)" if claim.spec in looks else claim.spec
        origin = [claim.where] if any(c.where for c in claims) else []
        if each is None:
            lines.append([claim.text, *origin, OPEN, *[""] * 5, link])
            continue
        verdict = next(verdicts)
        lines.append(
            [
                claim.text,
                *origin,
                verdict.name,
                verdict.rival,
                _written(each.effects[verdict.rival]),
                "<.001" if verdict.p < 0.001 else short(verdict.p),
                f"{each.n_ahead} : {each.n_behind} of {each.n_cells}" if each.is_of_cells else "",
                f"{each.n_behind_by_sign} of {each.n_cells}",
                link,
            ]
        )
    header = ["claim", *(["in the paper"] if any(c.where for c in claims) else []), "verdict"]
    header += ["against", "effect (95% interval)", "p, Holm"]
    header += ["cells significantly ahead : behind", "behind", "rows"]
    return ResultTable.from_texts(title, header, lines)


def _written(effect: Effect) -> str:
    """Write an effect with its interval, and how many data sets are left out."""
    text = f"{effect.mean:+.3f}"
    if effect.is_known:
        low, high = effect.interval
        text += f" ({low:+.3f} to {high:+.3f})"
    n = effect.n_left_out
    return text + (f", without {n} set{'s' * (n > 1)} of one fit" if n else "")


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
