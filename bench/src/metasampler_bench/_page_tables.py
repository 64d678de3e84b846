"""Make the tables that stand in pages written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from metasampler_bench._look import Look, short, text_table
from metasampler_bench._methods import title_of
from metasampler_bench._numbers import Numbers
from metasampler_bench._paired import Difference, at, by_split
from metasampler_bench._rows import Row, finished, per_set_means, select
from metasampler_bench._statistics import geometric_mean, paired, set_means, with_error
from metasampler_bench.datasets import list_datasets
from metasampler_bench.studies import STUDIES
from metasampler_bench.studies._study import read_rows

__all__ = ["PAGE_TABLES"]

_SIZES = (5, 10, 20)
_LEVELS = (0.0, 0.1, 0.25, 0.4)
#: Meta-trained policies, by the paper's text and by the recipe of the authors' code.
_LEARNED = ("mesa-fit", "mesa-as-coded")
_RIVALS = ("constant-0.9", "selected-mu", "uniform-draws", "spe", "cascade")
_CONSTANTS = tuple(f"constant-{tenths / 10:g}" for tenths in range(11))
#: Majority rows for each minority row; about a third of the sets are in each group.
_RATIOS = (0.0, 12.0, 25.0, np.inf)


def _title(learned: str) -> str:
    return {"mesa-fit": "the paper's text", "mesa-as-coded": "the authors' recipe"}[learned]


# ---------------------------------------------------------------------- what learning is worth


def _policy_rows(numbers: Numbers) -> list[Row]:
    """Return the rows of all policies on imbalanced-learn's sets."""
    rows = [r for r in numbers.look("policies").rows if r["cell"]["method"] not in _LEARNED]
    learned = [r for r in numbers.look("authors-recipe").rows if r["cell"]["method"] in _LEARNED]
    return [*rows, *learned]


def _gaps(rows: list[Row], learned: str, chosen: Callable[[str], bool]) -> dict[str, np.ndarray]:
    """Return what a learned policy is ahead of each rival, set by set."""
    rows = [row for row in rows if chosen(row["cell"]["dataset"])]
    found: dict[str, np.ndarray] = {}
    for rival in _RIVALS:
        _, means = per_set_means(rows, [learned, rival])
        if len(means) > 1:
            found[title_of(rival)] = means[:, 0] - means[:, 1]
    gaps = []
    for name in sorted({row["cell"]["dataset"] for row in rows}):
        own = select(rows, {"dataset": name})
        # The constant is chosen by all of its fits, and compared on those that both have.
        best = max(_CONSTANTS, key=lambda m: _mean(select(own, {"method": m})))
        _, means = per_set_means(own, [learned, best])
        gaps += [means[0, 0] - means[0, 1]] if len(means) else []
    if len(gaps) > 1:
        found = {"each set's best constant, with hindsight": np.array(gaps), **found}
    return found


def _mean(rows: Iterable[Row]) -> float:
    scores = [row["score"] for row in finished(rows)]
    return float(np.mean(scores)) if scores else -np.inf


def _written(gaps: np.ndarray | None) -> str:
    if gaps is None:
        return ""
    return with_error(*paired(gaps, np.zeros(len(gaps))))


def _learned_table(columns: dict[str, tuple[list[Row], Callable[[str], bool]]]) -> str:
    """Write what learned policies are ahead of their rivals, one column for each kind of data."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    heads = {}
    for title, (rows, chosen) in columns.items():
        counts = []
        for learned in _LEARNED:
            for rival, gaps in _gaps(rows, learned, chosen).items():
                lines.setdefault((learned, rival), {})[title] = _written(gaps)
                counts.append(len(gaps))
        span = f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
        heads[title] = f"{title} ({span} sets)"
    return text_table(
        ["learned by", "minus", *heads.values()],
        [
            [_title(learned), rival, *(cells.get(title, "") for title in heads)]
            for (learned, rival), cells in sorted(
                lines.items(), key=lambda item: item[0][0] != "mesa-fit"
            )
        ],
    )


def worth_by_members(numbers: Numbers) -> str:
    """Compare learned policies with their rivals, by the number of members."""
    rows = _policy_rows(numbers)
    return _learned_table(
        {f"{k} members": (select(rows, {"k": k}), lambda name: True) for k in _SIZES}
    )


def worth_by_imbalance(numbers: Numbers) -> str:
    """Compare learned policies with their rivals, by the imbalance of the data."""
    rows = select(_policy_rows(numbers), {"k": 10})
    ratios = {info.name: info.imbalance_ratio for info in list_datasets()}
    columns: dict[str, Any] = {}
    for low, high in pairwise(_RATIOS):
        if not low:
            title = f"below {high:g} : 1"
        else:
            title = f"{low:g} : 1 or more" if np.isinf(high) else f"{low:g} to {high:g} : 1"
        columns[title] = (rows, lambda name, a=low, b=high: a <= ratios[name] < b)
    return _learned_table(columns)


def _differences(
    look: Look, place: dict[str, Any], rivals: Sequence[str], own: dict[str, Any]
) -> list[str]:
    scores = by_split(at(look.rows, {**place, **own}))
    texts = []
    for rival in rivals:
        gap = Difference(scores, by_split(at(look.rows, {**place, "method": rival})))
        texts.append(with_error(gap.mean, gap.error, 3) if gap.n > 1 else "")
    return texts


def worth_by_noise(numbers: Numbers) -> str:
    """Compare the learned policy with its rivals, by the share of flipped labels."""
    look, lines = numbers.look("noise"), []
    constants = ("constant-0.5", "constant-0.8", "constant-0.9", "constant-1", "selected-mu")
    rivals = (*constants, "spe-paper", "cascade", "under-bagging")
    for name in ("mammography", "protein_homo"):
        for level in _LEVELS:
            place = {"dataset": name, "noise": level, "k": 10}
            own = {"method": "mesa-fit"}
            if look.has(**place, **own):
                fits = look.fits(**place, **own)
                gaps = _differences(look, place, rivals, own)
                lines.append([f"{name}, {level:.0%}", *gaps, f"{fits}"])
    return text_table(["flipped labels", *map(title_of, rivals), "fits"], lines)


def worth_by_base(numbers: Numbers) -> str:
    """Compare the learned policy with its rivals, by the base estimator."""
    look, lines = numbers.look("own-members"), []
    rivals = ("constant-0.9", "random-mu", "under-bagging", "spe-paper")
    for name in look.values("dataset", method="mesa-fit"):
        for base in look.values("base", dataset=name, method="mesa-fit"):
            place = {"dataset": name, "base": base, "k": 10}
            for title, meta_base in (("trees", None), ("the same", base)):
                own = {"method": "mesa-fit", "meta_base": meta_base}
                if look.has(**place, **own):
                    gaps = _differences(look, place, rivals, own)
                    lines.append([f"{base} on {name}", title, *gaps])
    return text_table(["members", "sampler learned with", *map(title_of, rivals)], lines)


# ---------------------------------------------------------------------- the default


#: What each step adds, by the variants that the study of teams has.
_STEPS = (
    ("LightGBM", "LightGBM"),
    ("scouts alone", "scouts: LightGBM that stops early, on ten folds"),
    ("mu None and None", "mixed with boosters and trees on uniformly drawn rows"),
    ("mu 0.65 and 0.9", "rows drawn by errors, by a constant mu"),
    ("default", "rows drawn as a learned sampler chooses: the default"),
)


def made_of(numbers: Numbers) -> str:
    """Show what each part of the default adds on the tables."""
    study = STUDIES["teams"]
    rows = read_rows(numbers.folder / study.file_name)["rows"]
    scores = {name: set_means(rows, "average precision", method=name) for name, _ in _STEPS}
    base = scores["LightGBM"]
    whole = scores["default"].mean() - base.mean()
    lines, before = [], None
    for name, title in _STEPS:
        own = scores[name]
        step = "" if before is None else with_error(*paired(own, before))
        lines.append(
            [title, f"{own.mean():.4f}", step, f"{(own.mean() - base.mean()) / whole:.0%}"]
        )
        before = own
    return text_table(
        [f"on {len(base)} tables", "average precision", "step", "of the whole gain"],
        lines,
    )


#: The default without one of its teams, by the variants that the study of teams has.
_WITHOUT = (
    ("default", "nothing: the default"),
    ("without scouts", "scouts"),
    ("without boosters", "boosters"),
    ("without trees", "trees"),
)


def made_without(numbers: Numbers) -> str:
    """Show what the default loses without each of its teams."""
    study = STUDIES["teams"]
    rows = read_rows(numbers.folder / study.file_name)["rows"]
    names = ("LightGBM", *(name for name, _ in _WITHOUT))
    scores, briers = (
        {name: set_means(rows, value, method=name) for name in names}
        for value in ("average precision", "Brier score")
    )
    lines = []
    for name, title in _WITHOUT:
        step = "" if name == "default" else with_error(*paired(scores[name], scores["default"]))
        brier = geometric_mean(briers[name] / briers["LightGBM"])
        lines.append([title, f"{scores[name].mean():.4f}", step, f"{brier:.3f}"])
    return text_table(
        ["left out", "average precision", "less the default's", "Brier score, LightGBM = 1"], lines
    )


# ---------------------------------------------------------------------- the sampler for trees


def wrong_labels(numbers: Numbers) -> str:
    """Show policies on mammography with flipped labels."""
    look, lines = numbers.look("noise"), []
    levels = (0.25, 0.4)
    for method in ("mesa-alone", "mesa-universal", "constant-0.8", "constant-0.9", "constant-1"):
        scores = [
            look.mean(dataset="mammography", flips="both", noise=level, method=method)
            for level in levels
        ]
        lines.append([title_of(method), *map(short, scores)])
    return text_table(["policy", *(f"{level:.0%} flipped labels" for level in levels)], lines)


def parts_of_mesa(numbers: Numbers) -> str:
    """Show what soft leaves, the refit and look-ahead bring on the authors' split."""
    look, lines = numbers.look("under-sampling"), []
    methods = ("mesa-fit", "mesa-soft", "mesa-refit", "mesa-ahead", "mesa-ahead-refit")
    for method in (*methods, "hard-ahead-refit"):
        places = [{"dataset": "mammography-authors", "method": method, "k": k} for k in _SIZES]
        if all(look.has(**place) for place in places):
            scores = [short(look.mean(**place)) for place in places]
            lines.append([title_of(method), *scores, f"{look.fits(**places[0])}"])
    return text_table(["on the authors' split", *(f"{k} members" for k in _SIZES), "fits"], lines)


#: By the name of a place in a page.
PAGE_TABLES: dict[str, Callable[[Numbers], str]] = {
    "worth-by-members": worth_by_members,
    "worth-by-imbalance": worth_by_imbalance,
    "worth-by-noise": worth_by_noise,
    "worth-by-base": worth_by_base,
    "made-of": made_of,
    "made-without": made_without,
    "wrong-labels": wrong_labels,
    "parts-of-mesa": parts_of_mesa,
}
