"""Judge the paper's claims by stored rows: each verdict follows from a rule that stands here."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from metasampler_bench._look import Look, count, listed, short
from metasampler_bench._paper_sentences import BASELINES, OWN, PAPER_SENTENCES, transfer_losses
from metasampler_bench._review_sentences import (
    REVIEW_SENTENCES,
    SEARCHES,
    gaps_to,
    members_ahead,
)
from metasampler_bench._rows import finished, last_rows, per_set_means, row_value, select
from metasampler_bench._sampler_cards import SAMPLER_CARDS
from metasampler_bench._sampler_sentences import SAMPLER_SENTENCES
from metasampler_bench._sentences import say
from metasampler_bench._spec import AXES, list_specs, load_spec
from metasampler_bench._spread import spreads
from metasampler_bench._store import ResultStore, cell_key, row_key
from metasampler_bench._tables import ResultTable

__all__ = ["CLAIMS", "Claim", "count_fits", "load_looks", "write_claims"]

YES, PARTLY, NO, OPEN = "confirmed", "partly", "not confirmed", "open"
NO_ROWS = "No rows are stored yet."
# Pages with places for what rows say.
_WRITTEN_INTO = ("README.md", "sampler.md")
#: Cells with fewer fits are named on the page.
_ENOUGH = 8

Verdict = tuple[str, str]
Looks = dict[str, Look]


class Claim(NamedTuple):
    """What the paper says, where, and how rows judge it.

    Parameters
    ----------
    text : str
        The claim.
    where : str
        Its place in the paper.
    spec : str
        Whose rows judge it.
    rule : str
        When it counts as confirmed.
    judge : callable
        Takes what can be looked up, gives a verdict and the figures behind it.
    """

    text: str
    where: str
    spec: str
    rule: str
    judge: Callable[[Look], Verdict]


def _cells(look: Look, axis: str = "k") -> list[dict[str, Any]]:
    return [
        {"dataset": name, axis: value}
        for name in look.values("dataset", method=OWN)
        for value in look.values(axis, dataset=name, method=OWN)
        if look.has(dataset=name, method=OWN, **{axis: value})
    ]


def _graded(part: int, whole: int, enough: float = 0.8) -> str:
    if not whole:
        return OPEN
    return YES if part == whole else PARTLY if part >= enough * whole else NO


def _first_in_all_cells(look: Look) -> Verdict:
    cells = _cells(look)
    wins = 0
    for cell in cells:
        best = max(look.mean(method=m, **cell) for m in BASELINES)
        # Level with the first, as far as tables show it, is first.
        wins += round(look.mean(method=OWN, **cell), 3) >= round(best, 3)
    return _graded(wins, len(cells)), f"first in {count(wins, len(cells))} cells"


def _same_scores(look: Look) -> Verdict:
    gaps = [
        look.mean(method=OWN, **cell) - paper
        for cell in _cells(look)
        if (paper := look.paper(method=OWN, **cell)) is not None
    ]
    close = sum(gap > -0.01 for gap in gaps)
    return _graded(close, len(gaps)), (
        f"at most .01 below the paper's figure in {count(close, len(gaps))} cells; differences "
        f"{min(gaps):+.3f} to {max(gaps):+.3f}"
    )


def _constants(look: Look) -> Verdict:
    wins, gaps = 0, []
    cells = _cells(look)
    for cell in cells:
        best = max(look.mean(method=m, **cell) for m in ("constant-0.9", "constant-1"))
        gaps.append(look.mean(method=OWN, **cell) - best)
        wins += gaps[-1] > 0
    return _graded(wins, len(cells)), (
        f"ahead of the better of the constants 0.9 and 1 in {count(wins, len(cells))} cells, mean "
        f"difference {np.mean(gaps):+.3f}"
    )


def _fair_rows(look: Look) -> Verdict:
    wins = total = 0
    for cell in _cells(look):
        others = [
            look.mean(method=m, rows="train+valid", **cell)
            for m in BASELINES
            if look.has(method=m, rows="train+valid", **cell)
        ]
        if others:
            total += 1
            wins += look.mean(method=OWN, **cell) >= max(others)
    return _graded(wins, total), (
        f"ahead of baselines that train on the validation rows too in {count(wins, total)} cells"
    )


def _resampling(look: Look) -> Verdict:
    bases = look.values("base", method=OWN)
    wins = 0
    for base in bases:
        others = [
            look.mean(dataset="protein_homo", method=m, base=base)
            for m in look.values("method", base=base)
            if m != OWN
        ]
        own = look.mean(dataset="protein_homo", method=OWN, base=base, meta_fraction=0.1)
        wins += own > np.nanmax(others)
    return _graded(wins, len(bases)), f"first with {count(wins, len(bases))} classifiers"


def _fewer_rows(look: Look) -> Verdict:
    wins = total = 0
    for name in look.values("dataset", method=OWN):
        rivals = [
            (look.mean(dataset=name, method=m, k=k), look.mean("rows", dataset=name, method=m, k=k))
            for m in ("smoteboost", "smotebagging", "ramoboost")
            for k in look.values("k", dataset=name, method=m)
        ]
        if not rivals:
            continue
        score, used = max(rivals)
        total += 1
        wins += any(
            look.mean(dataset=name, method=OWN, k=k) >= score
            and look.mean("rows", dataset=name, method=OWN, k=k) <= 0.2 * used
            for k in look.values("k", dataset=name, method=OWN)
        )
    return _graded(wins, total), (
        f"the best score of three over-sampling ensembles with at most a fifth of their rows on "
        f"{count(wins, total)} sets"
    )


def _noise(flips: str, dataset: str) -> Callable[[Look], Verdict]:
    def judge(look: Look) -> Verdict:
        levels = [
            level
            for level in (0.0, 0.1, 0.25, 0.4)
            if look.has(dataset=dataset, method=OWN, noise=level, flips=flips)
        ]
        wins = 0
        for level in levels:
            place = {"dataset": dataset, "noise": level, "flips": flips}
            best = max(look.mean(method=m, **place) for m in BASELINES)
            wins += look.mean(method=OWN, **place) >= best
        fits = min(
            (look.fits(dataset=dataset, method=OWN, noise=n, flips=flips) for n in levels),
            default=0,
        )
        return _graded(
            wins, len(levels)
        ), f"first at {count(wins, len(levels))} levels ({fits} fits)"

    return judge


def _losses(kind: str, said: int) -> Callable[[Look], Verdict]:
    def judge(look: Look) -> Verdict:
        losses = [loss for loss, *_ in transfer_losses(look)[kind]]
        small = sum(loss > -0.01 for loss in losses)
        if not losses:
            return OPEN, "no rows"
        verdict = YES if small / len(losses) >= said / 20 else _graded(small, len(losses), 0.75)
        return verdict, (
            f"{count(small, len(losses))} lose less than 1% (the paper {said} of 20), worst "
            f"{min(losses):+.1%}"
        )

    return judge


def _loses(method: str) -> Callable[[Look], Verdict]:
    def judge(look: Look) -> Verdict:
        cells = [cell for cell in _cells(look) if look.has(method=method, **cell)]
        below = sum(
            look.mean(method=method, **cell) < look.mean(method=OWN, **cell) for cell in cells
        )
        gaps = [
            look.mean(method=method, **cell) - paper
            for cell in cells
            if (paper := look.paper(method=method, **cell)) is not None
        ]
        return _graded(below, len(cells)), (
            f"below the learned policy in {count(below, len(cells))} cells; ours minus the paper's "
            f"{np.mean(gaps):+.3f} in the mean"
        )

    return judge


def _gentler(look: Look) -> Verdict:
    means, hard = [], []
    for level in (0.0, 0.1, 0.25, 0.4):
        rows = [row for row in select(look.rows, {"noise": level}) if row.get("actions")]
        mus = [row_value(row, "mu_mean") or 0.0 for row in rows]
        if mus:
            means.append(float(np.mean(mus)))
            hard.append((sum(mu >= 0.93 for mu in mus), len(mus)))
    if len(means) < 2:
        return OPEN, "no rows"
    falls = all(b <= a for a, b in pairwise(means))
    most_stay = hard[-1][0] > hard[-1][1] / 2
    verdict = NO if not falls else PARTLY if most_stay else YES
    return verdict, (
        f"mean mu {' > '.join(short(m, 2) for m in means)}, but {count(*hard[-1])} policies keep "
        ".93 or "
        "more at the highest noise"
    )


def _architectures(look: Look) -> Verdict:
    spans = []
    for k in look.values("k"):
        where = {"dataset": "optical_digits", "method": OWN, "k": k}
        hidden = [list(h) for h in look.values("hidden")]
        scores = [look.mean(**where), *(look.mean(hidden=h, **where) for h in hidden)]
        spans.append(max(scores) - min(scores))
    if not spans:
        return OPEN, "no rows"
    verdict = YES if max(spans) < 0.02 else PARTLY if max(spans) < 0.04 else NO
    return verdict, f"highest minus lowest of nine {'/'.join(short(s) for s in spans)}"


def _improves(look: Look) -> Verdict:
    wins = total = 0
    for name in look.values("dataset"):
        tests = np.array([row["curves"]["test"] for row in select(look.rows, {"dataset": name})])
        total += 1
        wins += tests[:, -50:].mean() > tests[:, :50].mean()
    return _graded(wins, total), f"test scores rise on {count(wins, total)} sets"


def _joint(look: Look) -> Verdict:
    joint = [row for row in look.rows if "curves" in row]
    if not joint:
        return OPEN, "no rows"
    trained = joint[0]["cell"]["tasks"].split("+")
    rises = passes = total = 0
    for name in joint[0]["curves"]:
        if name in trained:
            continue
        curves = np.array([row["curves"][name] for row in joint])
        half = min(50, curves.shape[1] // 2)
        total += 1
        end = curves[:, -half:].mean()
        rises += end > curves[:, :half].mean()
        passes += end > max(look.mean(dataset=name, method=m, k=10) for m in BASELINES)
    verdict = YES if passes == total else PARTLY if rises == total else NO
    folds = f"{len(joint)} fold{'s' if len(joint) > 1 else ''}"
    return verdict, (
        f"rises on {count(rises, total)} unseen tasks, passes the best baseline on "
        f"{count(passes, total)} ({folds})"
    )


def _boundaries(look: Look) -> Verdict:
    names = look.values("dataset", method=OWN)
    wins = sum(
        look.mean(dataset=n, method=OWN, k=5)
        >= max(look.mean(dataset=n, method=m, k=5) for m in look.values("method"))
        for n in names
    )
    return _graded(wins, len(names), 0.6), f"first on {count(wins, len(names))} overlaps"


def _uses_state(look: Look) -> Verdict:
    names = look.values("dataset", method=OWN)
    gaps = []
    for name in names:
        own = {"dataset": name, "method": OWN, "k": 10}
        if look.has(setting="n_bins=1", **own):
            gaps.append(look.compare(own, {**own, "setting": "n_bins=1"}))
    if not gaps:
        return OPEN, "no rows"
    clear = sum(gap.mean > gap.error for gap in gaps if gap.n > 1)
    verdict = YES if clear == len(gaps) else PARTLY if clear else NO
    return verdict, (
        f"ahead of samplers that saw no state by {np.mean([g.mean for g in gaps]):+.3f} in the "
        "mean "
        f"of {len(gaps)} sets, by more than a standard error on {clear}"
    )


def _settings(names: tuple[str, ...], usual: str) -> Callable[[Look], Verdict]:
    def judge(look: Look) -> Verdict:
        gaps = {}
        for setting in names:
            found = []
            for name in look.values("dataset", method=OWN):
                own = {"dataset": name, "method": OWN, "k": 10}
                if look.has(setting=setting, **own) and look.has(**own):
                    found.append(look.compare({**own, "setting": setting}, own).mean)
            if found:
                gaps[setting] = float(np.mean(found))
        if not gaps:
            return OPEN, "no rows"
        best = max(gaps.values())
        verdict = YES if best <= 0.005 else PARTLY if best <= 0.02 else NO
        texts = [f"{key.partition('=')[2]} {gap:+.3f}" for key, gap in gaps.items()]
        return verdict, f"against {usual}: {', '.join(texts)}"

    return judge


def _reliable(look: Look) -> Verdict:
    found = spreads(look.spec, look.rows)
    total = sum(each.n_trainings for each in found)
    if not total:
        return OPEN, "no rows"
    fallen = sum(each.collapsed for each in found)
    verdict = YES if fallen < 0.05 * total else PARTLY if fallen < 0.2 * total else NO
    worst = max(each.worst for each in found)
    return verdict, (
        f"{count(fallen, total)} meta-trainings end below a fit with random mu on the same rows, "
        f"the worst by {worst:.3f}, and {sum(each.below_uniform for each in found)} below one with "
        "uniform draws"
    )


def _searches(look: Look) -> Verdict:
    gaps = [gap for rival in SEARCHES for _, gap in gaps_to(look, rival)]
    if not gaps:
        return OPEN, "no rows"
    ahead = sum(gap.mean > gap.error for gap in gaps)
    behind = sum(gap.mean < -gap.error for gap in gaps)
    verdict = YES if ahead == len(gaps) else PARTLY if ahead > behind else NO
    return verdict, (
        f"ahead by more than a standard error in {count(ahead, len(gaps))} comparisons, behind in "
        f"{behind}; differences {min(g.mean for g in gaps):+.3f} to "
        f"{max(g.mean for g in gaps):+.3f}"
    )


def _any_member(look: Look) -> Verdict:
    wins, total = members_ahead(look)
    return _graded(wins, total), (
        f"ahead of UnderBagging and SPE with {count(wins, total)} kinds of members and sets"
    )


def _deep(look: Look) -> Verdict:
    networks = [m for m in look.values("method") if m.startswith("network")]
    sets, means = per_set_means(look.rows, [OWN, *networks])
    if not sets or not networks:
        return OPEN, "no rows"
    wins = int((means[:, 0] > means[:, 1:].max(axis=1)).sum())
    verdict = YES if wins > 0.8 * len(sets) else _graded(wins, len(sets), 0.5)
    return verdict, f"ahead of all {len(networks)} networks on {count(wins, len(sets))} sets"


#: In the order of the paper.
CLAIMS = (
    Claim(
        "MESA is ahead of RUSBoost, UnderBagging, SPE and BalanceCascade in every cell.",
        "Table 3",
        "under-sampling",
        "first in all cells; partly in four of five",
        _first_in_all_cells,
    ),
    Claim(
        "MESA has the scores that the paper prints.",
        "Table 3",
        "under-sampling",
        "nowhere more than .01 below",
        _same_scores,
    ),
    Claim(
        "What the policy learned is needed (against a constant mu, which the paper leaves out).",
        "Table 3",
        "under-sampling",
        "ahead of the better constant in all cells; partly in four of five",
        _constants,
    ),
    Claim(
        "The comparison is fair (against baselines that train on the validation rows).",
        "Table 3",
        "under-sampling",
        "ahead in all cells; partly in four of five",
        _fair_rows,
    ),
    Claim(
        "MESA is ahead of 13 resamplers with each of five classifiers.",
        "Table 2",
        "resampling",
        "first with all",
        _resampling,
    ),
    Claim(
        "MESA needs far fewer rows than over-sampling ensembles.",
        "Figure 4",
        "over-sampling",
        "their best score with a fifth of the rows on all sets",
        _fewer_rows,
    ),
    Claim(
        "MESA is ahead at every level of noise (the authors' split and flips).",
        "Table 5",
        "noise",
        "first at all levels",
        _noise("authors", "mammography-authors"),
    ),
    Claim(
        "MESA is ahead at every level of noise (flips and splits drawn anew).",
        "Table 5",
        "noise",
        "first at all levels",
        _noise("both", "mammography"),
    ),
    Claim(
        "Samplers of other tasks lose less than 1%.",
        "Table 4, Figure 5",
        "transfer-matrix",
        "as many pairs as the paper says",
        _losses("pairs", 18),
    ),
    Claim(
        "Samplers of parts of a task lose less than 1%.",
        "Table 4, Figure 5",
        "transfer-matrix",
        "as many parts as the paper says",
        _losses("parts", 17),
    ),
    Claim(
        "A policy with random weights does worse.",
        "Table 6",
        "ablation",
        "in all cells",
        _loses("random-policy"),
    ),
    Claim(
        "Uniform draws do worse.", "Table 6", "ablation", "in all cells", _loses("uniform-draws")
    ),
    Claim(
        "Policies become gentler with noise.",
        "Figure 8",
        "policy-under-noise",
        "mean mu falls with noise, and most policies fall; partly if only the mean does",
        _gentler,
    ),
    Claim(
        "The architecture of the policy hardly matters.",
        "Table 11",
        "networks",
        "nine architectures within .02; partly within .04",
        _architectures,
    ),
    Claim(
        "Meta-training improves test scores.",
        "Figure 9",
        "meta-training",
        "on all sets",
        _improves,
    ),
    Claim(
        "Joint meta-training improves unseen tasks, past the best baselines.",
        "Figure 6",
        "cross-task",
        "past them on all unseen tasks; partly if it rises on all",
        _joint,
    ),
    Claim(
        "MESA has the best boundary at every overlap.",
        "Figure 3",
        "synthetic",
        "first on all; partly on most",
        _boundaries,
    ),
    Claim(
        "The meta-state guides the policy.",
        "Section 3, Figure 2",
        "states",
        "ahead of samplers that were meta-trained without a state, by more than a standard error "
        "on "
        "all sets; partly on some",
        _uses_state,
    ),
    Claim(
        "sigma = 0.2 is a good choice.",
        "Appendix, guideline",
        "sensitivity",
        "no other sigma better by more than .005; partly .02",
        _settings(("sigma=0.05", "sigma=0.1", "sigma=0.4", "sigma=0.8"), "0.2"),
    ),
    Claim(
        "b = 5 bins are a good choice.",
        "Appendix, guideline",
        "sensitivity",
        "no other number better by more than .005; partly .02",
        _settings(("n_bins=1", "n_bins=2", "n_bins=10", "n_bins=20"), "5"),
    ),
    Claim(
        "Meta-training is reliable.",
        "Figure 9",
        "seeds",
        "fewer than one in twenty end below uniformly random mu; partly one in five",
        _reliable,
    ),
    Claim(
        "Soft actor-critic finds more than a search without gradients in as many episodes.",
        "Section 3",
        "seeds",
        "ahead of a random search and of a bandit over constants by more than a standard error on "
        "all sets; partly more often ahead than behind",
        _searches,
    ),
    Claim(
        "MESA works with any kind of member.",
        "Table 2",
        "own-members",
        "ahead of UnderBagging and SPE with each of five kinds; partly four of five",
        _any_member,
    ),
    Claim(
        "On tables MESA is ahead of networks that learn to weigh rows (the paper names them and "
        "runs "
        "none).",
        "Table 1",
        "deep",
        "on more than four of five sets; partly on half",
        _deep,
    ),
)


def load_looks(folder: str | Path) -> Looks:
    """Return what can be looked up in the rows of a folder, by spec."""
    looks = {}
    for name in list_specs():
        rows = last_rows(ResultStore(Path(folder) / f"{name}.jsonl").rows())
        if rows:
            looks[name] = Look(load_spec(name), rows)
    return looks


def count_fits(looks: Looks) -> ResultTable:
    """Count the fits behind each cell of the paper's tables and figures, and of its reviewers'."""
    lines = []
    for name, look in looks.items():
        if look.spec.kind == "facts" or not (look.spec.paper or name in REVIEW_SENTENCES):
            continue
        cells: dict[str, dict[Any, int]] = {}
        for row in finished(look.rows):
            cell = row["cell"]
            key = tuple((axis, str(cell[axis])) for axis in AXES if axis in cell)
            where = cells.setdefault(_where(look, cell), {})
            where[key] = where.get(key, 0) + 1
        # Data sets that have as many of everything share a line.
        alike: dict[tuple[str, ...], list[str]] = {}
        for place, found in cells.items():
            counts = sorted(found.values())
            few = sum(n < _ENOUGH for n in counts)
            span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
            alike.setdefault((str(len(counts)), span, str(few)), []).append(place)
        for numbers, places in alike.items():
            lines.append([look.spec.paper or "-", name, ", ".join(sorted(places)), *numbers])
    lines.sort(key=_place_in_the_paper)
    return ResultTable.from_texts(
        "How many fits stand behind a cell",
        ["in the paper", "bench", "data sets", "cells each", "fits each", f"below {_ENOUGH}"],
        lines,
        "A fit is one run and fold (on the authors' split one seed). Costs of Table 1 are measured "
        "once.",
    )


def _where(look: Look, cell: dict[str, Any]) -> str:
    """Return the data set of a cell, and the sampler's where that is one of fewer fits."""
    dataset, task = str(cell.get("dataset", cell.get("tasks"))), cell.get("meta_task")
    if task != dataset and task in look.spec.fits:
        return f"samplers of {task} elsewhere"
    return dataset


def _place_in_the_paper(line: list[str]) -> tuple[str, int]:
    """Return by what lines are in order: figures, tables, and what the paper does not have."""
    kind, _, number = line[0].partition(" ")
    return kind.replace("-", "~"), int(number.rstrip(",") or 0)


def say_what_is_left(looks: Looks) -> str:
    """Count the cells that the specs of the paper and of its reviewers name and no row has."""
    texts = []
    for name in (*PAPER_SENTENCES, *REVIEW_SENTENCES):
        spec = load_spec(name)
        # Networks are part of a spec only where PyTorch is installed.
        cells = [cell for job in spec.jobs() for cell in job.cells if not _is_network(cell)]
        stored = {row_key(row) for row in looks[name].rows} if name in looks else set()
        left = sum(cell_key(cell) not in stored for cell in cells)
        if left:
            texts.append(f"`{name}` {count(left, len(cells))}")
    if not texts:
        return "No cell is left to compute."
    return f"Cells that were not run yet, or failed (networks aside): {listed(texts)}."


def _is_network(cell: dict[str, Any]) -> bool:
    return str(cell.get("method", "")).startswith("network")


def judge_claims(looks: Looks) -> ResultTable:
    """Judge all claims."""
    lines = []
    for claim in CLAIMS:
        look = looks.get(claim.spec)
        verdict, evidence = (OPEN, "no rows") if look is None else claim.judge(look)
        # There is a page where there are rows.
        link = claim.spec if look is None else f"[{claim.spec}]({claim.spec}.md)"
        lines.append([claim.text, claim.where, verdict, evidence, claim.rule, link])
    header = ["claim", "in the paper", "verdict", "what the rows say", "confirmed if", "rows"]
    return ResultTable.from_texts("Claims", header, lines)


def write_claims(folder: str | Path) -> list[Path]:
    """Write ``claims.md``, and the sentences of other pages that the folder has.

    Parameters
    ----------
    folder : path
        Where rows and pages are.

    Returns
    -------
    paths : list of Path
        The files.
    """
    folder = Path(folder)
    looks = load_looks(folder)
    page = folder / "claims.md"
    page.write_text(make_claims_page(looks), encoding="utf-8")
    others = [path for path in (folder / name for name in _WRITTEN_INTO) if path.is_file()]
    for path in others:
        path.write_text(with_sentences(path.read_text(encoding="utf-8"), looks), encoding="utf-8")
    return [page, *others]


def make_claims_page(looks: Looks) -> str:
    """Return the page that judges all claims."""
    verdicts = judge_claims(looks)
    counts = [line[2].text for line in verdicts.rows]
    parts = [
        "# What we could and could not confirm",
        f"We judge {len(counts)} claims. The paper makes them, or lets its readers assume them. "
        f"{counts.count(YES)} are confirmed, {counts.count(PARTLY)} partly, and {counts.count(NO)} "
        "are not"
        + (f". {counts.count(OPEN)} are open" if OPEN in counts else "")
        + ". Every verdict follows from stored rows, by the rule beside it. "
        "`metasampler bench claims --output docs/results` writes this page.",
        verdicts.markdown("##").strip(),
        count_fits(looks).markdown("##").strip(),
        say_what_is_left(looks),
    ]
    return "\n\n".join(parts) + "\n"


def with_sentences(text: str, looks: Looks) -> str:
    """Return a page with what rows say in its marked places.

    A place begins with ``<!-- rows: NAME -->`` and goes to ``<!-- end -->``. The name is that of a
    spec, or one of ``SAMPLER_SENTENCES``, or one of ``SAMPLER_CARDS``, which read samplers.
    """
    parts = text.split("<!-- rows: ")
    written = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition(" -->")
        _, _, after = rest.partition("<!-- end -->")
        spec, write = SAMPLER_SENTENCES.get(name, (name, None))
        said = NO_ROWS
        if name in SAMPLER_CARDS:
            said = SAMPLER_CARDS[name]()
        elif spec in looks:
            look = looks[spec]
            said = write(look) if write else say(look.spec, look.rows)
        written.append(f"{name} -->\n{said}\n<!-- end -->{after}")
    return "<!-- rows: ".join(written)
