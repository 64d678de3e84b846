"""List the claims, and the paired scores that judge each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from metasampler_bench._evidence import MARGIN, Evidence, Pair, weigh, weigh_sets
from metasampler_bench._look import Look
from metasampler_bench._methods import title_of
from metasampler_bench._paired import Place, at, by_split
from metasampler_bench._protocol import n_folds_of
from metasampler_bench._rows import Row, per_set_means, row_value, select

__all__ = ["BASELINES", "CLAIMS", "OWN", "Claim", "first_and_last", "transferred"]

OWN = "mesa-fit"
BASELINES = ("rusboost-paper", "under-bagging", "spe-paper", "cascade")


class Claim(NamedTuple):
    """A claim, where it comes from, and the paired scores that judge it.

    Parameters
    ----------
    text : str
        The claim.
    where : str
        Its place in the paper; empty for a question of ours.
    spec : str
        Whose rows judge it.
    evidence : callable
        Takes what can be looked up, gives the evidence or None.
    margin : float, default=None
        For a claim that there is no difference: what counts as none.
    """

    text: str
    where: str
    spec: str
    evidence: Callable[[Look], Evidence | None]
    margin: float | None = None


# ---------------------------------------------------------------------- what is compared


def _scores(look: Look, **where: Any) -> dict[Place, float]:
    return by_split(at(look.rows, where))


def _against(
    look: Look, cells: Iterable[dict[str, Any]], rivals: Iterable[str], **of_rivals: Any
) -> Iterator[Pair]:
    """Yield MESA beside other methods; a cell may say which MESA it means."""
    for cell in cells:
        place = {key: value for key, value in cell.items() if key != "own"}
        own = {**place, **cell.get("own", {"method": OWN})}
        for rival in rivals:
            other = _scores(look, **place, method=rival, **of_rivals)
            yield Pair(title_of(rival), cell["dataset"], _scores(look, **own), other)


def _sizes(look: Look, *, fixed: bool = False, method: str = OWN) -> list[dict[str, Any]]:
    """Return the cells of a table: data sets, the authors' fixed split apart, and members."""
    return [
        {"dataset": name, "k": k}
        for name in look.values("dataset", method=method)
        if (n_folds_of(name) == 1) == fixed
        for k in look.values("k", method=method, dataset=name)
    ]


def _of_table(*rivals: str, fixed: bool = False, own: str = OWN, **of_rivals: Any) -> Callable:
    def evidence(look: Look) -> Evidence | None:
        cells = [{**cell, "own": {"method": own}} for cell in _sizes(look, fixed=fixed)]
        return weigh(_against(look, cells, rivals, **of_rivals))

    return evidence


def _as_printed(*, fixed: bool = False) -> Callable:
    def evidence(look: Look) -> Evidence | None:
        pairs = []
        for cell in _sizes(look, fixed=fixed):
            own, printed = _scores(look, method=OWN, **cell), look.paper(method=OWN, **cell)
            if printed is not None:
                other = dict.fromkeys(own, printed)
                pairs.append(Pair("the paper's score", cell["dataset"], own, other))
        return weigh(pairs)

    return evidence


def _resampling(look: Look) -> Evidence | None:
    rivals = [method for method in look.values("method") if method != OWN]
    own = {"method": OWN, "meta_fraction": 0.1}
    bases = look.values("base", method=OWN)
    cells = [{"dataset": "protein_homo", "base": base, "own": own} for base in bases]
    return weigh(_against(look, cells, rivals))


def _fewer_rows(look: Look) -> Evidence | None:
    pairs = []
    for name in look.values("dataset", method=OWN):
        for rival in ("smoteboost", "smotebagging", "ramoboost"):
            sizes = look.values("k", dataset=name, method=rival)
            if not sizes:
                continue
            other = {"dataset": name, "method": rival, "k": max(sizes)}
            most = look.mean("rows", **other) / 5
            own = [
                place
                for k in look.values("k", dataset=name, method=OWN)
                if look.mean("rows", **(place := {"dataset": name, "method": OWN, "k": k})) <= most
            ]
            if own:
                pairs.append(
                    Pair(title_of(rival), name, _scores(look, **own[-1]), _scores(look, **other))
                )
    return weigh(pairs)


def _noise(dataset: str, flips: str) -> Callable:
    def evidence(look: Look) -> Evidence | None:
        cells = [
            {"dataset": dataset, "noise": level, "flips": flips, "k": 10}
            for level in (0.0, 0.1, 0.25, 0.4)
        ]
        return weigh(_against(look, cells, BASELINES))

    return evidence


def _relative(rival: str, dataset: str, own: dict[Place, float], other: dict[Place, float]) -> Pair:
    """Return scores as fractions of the rival's mean."""
    common = own.keys() & other.keys()
    mean = float(np.mean([other[place] for place in common])) if common else 1.0
    own, other = ({place: side[place] / mean for place in common} for side in (own, other))
    return Pair(rival, dataset, own, other)


def transferred(look: Look, axis: str) -> list[Pair]:
    """Return samplers of other tasks, or of parts of the task, beside one of the task itself."""
    pairs = []
    for name in look.values("dataset", method=OWN):
        place = {"dataset": name, "method": OWN, "k": 10}
        # A sampler of the task itself may be named or not.
        own = place if look.has(**place) else {"meta_task": name, **place}
        for value in look.values(axis, dataset=name):
            if value not in (name, 1):
                scores = _scores(look, **place, **{axis: value})
                pairs.append(
                    _relative("one of the task itself", name, scores, _scores(look, **own))
                )
    return pairs


def _transfer(axis: str) -> Callable:
    def evidence(look: Look) -> Evidence | None:
        return weigh(transferred(look, axis))

    return evidence


def _mus(look: Look, which: str, noise: float) -> dict[Place, float]:
    rows = [row for row in select(look.rows, {"noise": noise}) if row.get("actions")]
    return _by_place(rows, lambda row: row_value(row, which) or 0.0)


def _by_place(rows: list[Row], number: Callable[[Row], float]) -> dict[Place, float]:
    return by_split([{**row, "number": number(row)} for row in rows], "number")


def _gentler(look: Look) -> Evidence | None:
    clean = _mus(look, "mu_mean", 0.0)
    return weigh(
        Pair(f"mu at {level:.0%} noise", "mammography", clean, _mus(look, "mu_mean", level))
        for level in (0.25, 0.4)
    )


def _gentler_late(look: Look) -> Evidence | None:
    early, late = (_mus(look, name, 0.4) for name in ("mu_early", "mu_late"))
    return weigh([Pair("late mu at 40% noise", "mammography", early, late)])


def _architectures(look: Look) -> Evidence | None:
    return weigh(
        Pair("{" + ", ".join(map(str, hidden)) + "}", cell["dataset"], own, other)
        for cell in _sizes(look)
        for hidden in look.values("hidden")
        for own in [_scores(look, method=OWN, **cell)]
        for other in [_scores(look, method=OWN, hidden=list(hidden), **cell)]
    )


#: Episodes of uniformly random actions: 500 of nine in an episode.
N_RANDOM_EPISODES = 56
_WINDOW = 50


def first_and_last(row: Row) -> tuple[float, float]:
    """Return the mean test score of the first 50 episodes of a policy, and of the last 50."""
    scores = row["curves"]["test"][N_RANDOM_EPISODES:]
    return float(np.mean(scores[:_WINDOW])), float(np.mean(scores[-_WINDOW:]))


def _improves(look: Look) -> Evidence | None:
    pairs = []
    for name in look.values("dataset"):
        rows = select(look.rows, {"dataset": name})
        first = _by_place(rows, lambda row: first_and_last(row)[0])
        last = _by_place(rows, lambda row: first_and_last(row)[1])
        pairs.append(Pair("the first policies", name, last, first))
    return weigh(pairs)


def _joint(look: Look) -> Evidence | None:
    joint = [row for row in look.rows if "curves" in row]
    pairs = []
    for name in joint[0]["curves"] if joint else ():
        half = min(_WINDOW, len(joint[0]["curves"][name]) // 2)
        ends = by_split(
            [{**r, "end": float(np.mean(r["curves"][name][-half:]))} for r in joint], "end"
        )
        for method in BASELINES:
            other = _scores(look, dataset=name, method=method, k=10)
            pairs.append(Pair(title_of(method), name, ends, other))
    return weigh(pairs)


def _boundaries(look: Look) -> Evidence | None:
    rivals = [method for method in look.values("method") if method != OWN]
    cells = [{"dataset": name, "k": 5} for name in look.values("dataset", method=OWN)]
    return weigh(_against(look, cells, rivals))


def _settings(*settings: str, names: dict[str, str] | None = None) -> Callable:
    """Compare the paper's settings with others."""

    def evidence(look: Look) -> Evidence | None:
        return weigh(
            Pair((names or {}).get(setting, setting.replace("=", " = ")), name, own, other)
            for setting in settings
            for name in look.values("dataset", method=OWN)
            for place in [{"dataset": name, "method": OWN, "k": 10}]
            for own in [_scores(look, **place)]
            for other in [_scores(look, setting=setting, **place)]
        )

    return evidence


def _meta_trainings(*rivals: str) -> Callable:
    """Compare the mean of all meta-trainings on a split."""

    def evidence(look: Look) -> Evidence | None:
        return weigh(
            Pair(title_of(rival), name, own, other)
            for name in look.values("dataset", method=OWN)
            for own in [by_split(select(look.rows, {"dataset": name, "method": OWN}))]
            for rival in rivals
            for other in [by_split(select(look.rows, {"dataset": name, "method": rival}))]
        )

    return evidence


def _members(look: Look) -> Evidence | None:
    cells = [
        {"dataset": name, "base": base, "k": 10}
        for name in look.values("dataset", method=OWN)
        for base in look.values("base", dataset=name, method=OWN)
    ]
    return weigh(_against(look, cells, ("under-bagging", "spe-paper")))


def _over_many_sets(own: str | tuple[str, ...], *rivals: str, k: int = 10) -> Callable:
    """Compare over data sets: each is one difference. Several methods have to be ahead each.

    Without rows of one of the methods nothing is judged: the claim would be another one.
    """
    owns = (own,) if isinstance(own, str) else own

    def evidence(look: Look) -> Evidence | None:
        found = {}
        for mine, rival in product(owns, rivals):
            _, means = per_set_means(select(look.rows, {"k": k}), [mine, rival])
            if len(means) < 2:
                return None
            whose = f"; {title_of(mine)}" if len(owns) > 1 else ""
            found[title_of(rival) + whose] = means[:, 0] - means[:, 1]
        return weigh_sets(found)

    return evidence


#: Networks that learn the weights of rows, and those that compute them by a rule.
_LEARNING_NETWORKS = ("network-l2rw", "network-mw-net")
_OTHER_NETWORKS = tuple(f"network{rule}" for rule in ("", "-balanced", "-focal", "-ohem"))
_NOT_LEARNED = ("constant-0.9", "constant-1")
_AHEAD = "MESA is ahead of RUSBoost, UnderBagging, SPE and BalanceCascade"

#: The paper's claims in its order, then questions of ours.
CLAIMS = (
    Claim(f"{_AHEAD}.", "Table 3", "under-sampling", _of_table(*BASELINES)),
    Claim(
        "The same on the authors' split.",
        "Table 3",
        "under-sampling",
        _of_table(*BASELINES, fixed=True),
    ),
    Claim(
        "MESA has the scores that the paper prints (within .01).",
        "Table 3",
        "under-sampling",
        _as_printed(),
        MARGIN,
    ),
    Claim(
        "The same on the authors' split.",
        "Table 3",
        "under-sampling",
        _as_printed(fixed=True),
        MARGIN,
    ),
    Claim("MESA is ahead of 14 ways to resample.", "Table 2", "resampling", _resampling),
    Claim(
        "With a fifth of their rows MESA is ahead of over-sampling ensembles.",
        "Figure 4",
        "over-sampling",
        _fewer_rows,
    ),
    Claim(
        "MESA is ahead with flipped labels: the authors' split and flips.",
        "Table 5",
        "noise",
        _noise("mammography-authors", "authors"),
    ),
    Claim(
        "The same with flips and splits drawn anew.",
        "Table 5",
        "noise",
        _noise("mammography", "both"),
    ),
    Claim(
        "The same on the authors' split, with flips drawn anew.",
        "Table 5",
        "noise",
        _noise("mammography-authors", "both"),
    ),
    Claim("The same on protein_homo.", "Table 5", "noise", _noise("protein_homo", "both")),
    Claim(
        "A sampler of another task does as well (within 1%).",
        "Table 4, Figure 5",
        "transfer-matrix",
        _transfer("meta_task"),
        0.01,
    ),
    Claim(
        "A sampler of a part of the task does as well (within 1%).",
        "Table 4, Figure 5",
        "transfer-matrix",
        _transfer("meta_fraction"),
        0.01,
    ),
    Claim(
        "A learned policy is ahead of one with random weights.",
        "Table 6",
        "ablation",
        _of_table("random-policy"),
    ),
    Claim(
        "A learned policy is ahead of uniform draws.",
        "Table 6",
        "ablation",
        _of_table("uniform-draws"),
    ),
    Claim(
        "With noise in the labels policies choose a smaller mu.",
        "Figure 8",
        "policy-under-noise",
        _gentler,
    ),
    Claim(
        "With noise mu falls towards the end of a fit.",
        "Figure 8",
        "policy-under-noise",
        _gentler_late,
    ),
    Claim(
        "The policy's hidden layers do not matter (within .01).",
        "Table 11",
        "networks",
        _architectures,
        MARGIN,
    ),
    Claim(
        "Meta-training improves the scores of the first policies.",
        "Figure 9",
        "meta-training",
        _improves,
    ),
    Claim(
        "A jointly meta-trained sampler is ahead of the baselines on four tasks.",
        "Figure 6",
        "cross-task",
        _joint,
    ),
    Claim("MESA is ahead on overlapping classes.", "Figure 3", "synthetic", _boundaries),
    Claim(
        "The meta-state guides the policy: it is ahead of one that saw no state.",
        "Section 3, Figure 2",
        "states",
        _settings("n_bins=1", names={"n_bins=1": "a policy that saw no state"}),
    ),
    Claim(
        "sigma = 0.2 is ahead of other widths.",
        "Appendix",
        "sensitivity",
        _settings("sigma=0.05", "sigma=0.1", "sigma=0.4", "sigma=0.8"),
    ),
    Claim(
        "b = 5 is ahead of other numbers of bins.",
        "Appendix",
        "sensitivity",
        _settings("n_bins=1", "n_bins=2", "n_bins=10", "n_bins=20"),
    ),
    # ------------------------------------------------------------------ our questions
    Claim(
        "The learned policy scores as the constant 0.9 does (within .01): the paper's sets.",
        "",
        "under-sampling",
        _of_table("constant-0.9"),
        MARGIN,
    ),
    Claim(
        "The same on the authors' split.",
        "",
        "under-sampling",
        _of_table("constant-0.9", fixed=True),
        MARGIN,
    ),
    Claim(
        "The learned policy is ahead of the constants 0.9 and 1: the paper's sets.",
        "",
        "under-sampling",
        _of_table(*_NOT_LEARNED),
    ),
    Claim(
        "Trained by the paper's text, it scores as the constant 0.9 does (within .01): many sets, "
        "10 members.",
        "",
        "authors-recipe",
        _over_many_sets("mesa-fit", "constant-0.9"),
        MARGIN,
    ),
    Claim(
        "The same with 20 members.",
        "",
        "authors-recipe",
        _over_many_sets("mesa-fit", "constant-0.9", k=20),
        MARGIN,
    ),
    Claim(
        "Trained by the recipe of the authors' code, it is ahead of the constant 0.9: 10 members.",
        "",
        "authors-recipe",
        _over_many_sets("mesa-as-coded", "constant-0.9"),
    ),
    Claim(
        "The same with 20 members.",
        "",
        "authors-recipe",
        _over_many_sets("mesa-as-coded", "constant-0.9", k=20),
    ),
    Claim(
        "The same with 20 members and actions that are drawn, as the authors' code does.",
        "",
        "authors-recipe",
        _over_many_sets("mesa-as-coded-sampled", "constant-0.9", k=20),
    ),
    Claim(
        "Trained by this recipe, it is ahead of the mu chosen on validation rows: 20 members.",
        "",
        "authors-recipe",
        _over_many_sets("mesa-as-coded", "selected-mu", k=20),
    ),
    Claim(
        "The recipe of the authors' code is ahead of the paper's text: 20 members.",
        "",
        "authors-recipe",
        _over_many_sets("mesa-as-coded", "mesa-fit", k=20),
    ),
    Claim(
        "A policy that was trained by either is ahead of uniform draws: 20 members.",
        "",
        "authors-recipe",
        _over_many_sets(("mesa-fit", "mesa-as-coded"), "uniform-draws", k=20),
    ),
    Claim(
        "MESA is ahead of baselines that train on the validation rows too.",
        "",
        "under-sampling",
        _of_table(*BASELINES, rows="train+valid"),
    ),
    Claim(
        "MESA, refitted on these rows, is ahead of them.",
        "",
        "under-sampling",
        _of_table(*BASELINES, own="mesa-refit", rows="train+valid"),
    ),
    Claim(
        "A meta-trained policy is ahead of random mu on the same rows.",
        "",
        "seeds",
        _meta_trainings("random-mu"),
    ),
    Claim(
        "Soft actor-critic is ahead of searches with as many episodes.",
        "",
        "seeds",
        _meta_trainings("search-policies", "search-constants"),
    ),
    Claim(
        "MESA is ahead of UnderBagging and SPE with five kinds of members.",
        "",
        "own-members",
        _members,
    ),
    Claim(
        "MESA is ahead of the networks with learned weights of rows that the paper names: L2RW and "
        "Meta-Weight-Net.",
        "",
        "deep",
        _over_many_sets(OWN, *_LEARNING_NETWORKS),
    ),
    Claim(
        "MESA is ahead of a plain network, and of those with class weights, focal loss or OHEM.",
        "",
        "deep",
        _over_many_sets(OWN, *_OTHER_NETWORKS),
    ),
    Claim(
        "The same of a network with gradient harmonising (GHM).",
        "",
        "deep",
        _over_many_sets(OWN, "network-ghm"),
    ),
)
