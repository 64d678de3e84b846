"""Say what the rows over many data sets say: what learning buys, and how defaults rank."""

from __future__ import annotations

from scipy.stats import rankdata

from metasampler_bench._look import Look, listed
from metasampler_bench._methods import title_of
from metasampler_bench._rows import per_set_means, select
from metasampler_bench._statistics import geometric_mean, paired
from metasampler_bench._summaries import ranked_methods

__all__ = ["BOARD_SENTENCES"]


def policies(look: Look) -> str:
    texts = []
    for k in look.values("k"):
        sets, means = per_set_means(select(look.rows, {"k": k}), ["mesa-fit", "spe"])
        if len(sets) > 1:
            gain, error = paired(means[:, 0], means[:, 1])
            texts.append(f"{gain:+.3f} ± {error:.3f} with {k} members ({len(sets)} sets)")
    text = ""
    if texts:
        text = (
            "Average precision of MESA, meta-trained on the task, minus that of SPE: "
            f"{listed(texts)}."
        )
    rows = [
        row
        for row in select(look.rows, {"k": 10})
        if row["cell"]["method"] not in ("mesa-fit", "mesa-adapt")
    ]
    methods = ranked_methods(look.spec, rows, {})
    sets, means = per_set_means(rows, methods)
    if "mesa-universal" in methods and sets:
        ranks = dict(zip(methods, rankdata(-means, axis=1).mean(axis=0), strict=True))
        own = ranks["mesa-universal"]
        ahead = [m for m in sorted(ranks, key=lambda m: ranks[m]) if ranks[m] < own]
        place = sum(rank <= own for rank in ranks.values())
        text += (
            f" With ten members on {len(sets)} sets, the universal sampler has the mean rank "
            f"{own:.2f} and is number {place} of {len(methods)}"
        )
        if ahead:
            text += "; ahead of it: " + listed(f"{title_of(m)} ({ranks[m]:.2f})" for m in ahead)
        text += "."
    return text.strip()


def leaderboard(look: Look) -> str:
    left_out = set(look.spec.reports[0].get("without", ()))
    for report in look.spec.reports:
        if report["kind"] == "leaderboard":
            left_out = set(report.get("without", ()))
            break
    rows = [row for row in look.rows if row["cell"]["method"] not in left_out]
    methods = ranked_methods(look.spec, rows, {})
    sets, means = per_set_means(rows, methods)
    if not sets or "mesa" not in methods:
        return ""
    ranks = dict(zip(methods, rankdata(-means, axis=1).mean(axis=0), strict=True))
    best = sorted(ranks, key=lambda m: ranks[m])[:5]
    named = [n for n in dict.fromkeys(["mesa", "mesa-fast", "lightgbm", *best]) if n in ranks]
    named.sort(key=lambda m: ranks[m])
    costs = []
    if "lightgbm" in methods:
        for name in (n for n in named if n.startswith("mesa")):
            _, cpu = per_set_means(rows, [name, "lightgbm"], "total_cpu")
            costs.append(f"{title_of(name)} {geometric_mean(cpu[:, 0] / cpu[:, 1]):.2f}")
    fits = [look.fits(dataset=name, method="mesa", rows="train+valid") for name in sets]
    span = f"{min(fits)}" if min(fits) == max(fits) else f"{min(fits)} to {max(fits)}"
    text = (
        f"Mean ranks of {len(methods)} methods on {len(sets)} sets, 1 is best: "
        f"{listed(f'{title_of(name)} {ranks[name]:.2f}' for name in named)}."
    )
    if costs:
        text += f" CPU time of a fit, LightGBM's is 1: {listed(costs)}."
    return f"{text} The default was fitted {span} times on each set."


#: By the name of the spec.
BOARD_SENTENCES = {
    "policies": policies,
    "leaderboard": leaderboard,
    "leaderboard-large": leaderboard,
}
