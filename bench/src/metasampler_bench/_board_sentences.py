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
        text = f"MESA that was meta-trained on the task against SPE: {listed(texts)}."
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
            f" By mean rank over {len(sets)} sets, ten members, the universal sampler is number "
            f"{place} of {len(methods)} ({own:.2f})"
        )
        if ahead:
            text += "; ahead of it are " + listed(f"{title_of(m)} ({ranks[m]:.2f})" for m in ahead)
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
    texts = []
    for name in dict.fromkeys(["mesa", "mesa-fast", "lightgbm", *best]):
        if name not in ranks:
            continue
        text = f"{title_of(name)} {ranks[name]:.2f}"
        if name.startswith("mesa") and "lightgbm" in methods:
            _, cpu = per_set_means(rows, [name, "lightgbm"], "total_cpu")
            text += f" at {geometric_mean(cpu[:, 0] / cpu[:, 1]):.2f} times LightGBM's CPU time"
        texts.append((ranks[name], text))
    ordered = [text for _, text in sorted(texts)]
    fits = [look.fits(dataset=name, method="mesa", rows="train+valid") for name in sets]
    return (
        f"Mean ranks of {len(methods)} methods on {len(sets)} sets, with {min(fits)} to "
        f"{max(fits)} "
        f"fits of the default a set: {listed(ordered)}."
    )


#: By the name of the spec.
BOARD_SENTENCES = {
    "policies": policies,
    "leaderboard": leaderboard,
    "leaderboard-large": leaderboard,
}
