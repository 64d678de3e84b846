"""Say what the rows over many data sets say: what learning buys, and how defaults rank."""

from __future__ import annotations

from typing import Any

from scipy.stats import rankdata

from metasampler_bench._look import Look, bullets, fold, listed, text_table
from metasampler_bench._methods import title_of
from metasampler_bench._rows import Row, per_set_means, select
from metasampler_bench._statistics import geometric_mean, paired
from metasampler_bench._summaries import methods_of, ranked_methods

__all__ = ["BOARD_SENTENCES"]


def policies(look: Look) -> str:
    texts = []
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
        text = (
            f"With ten members on {len(sets)} sets, the universal sampler is number {place} of "
            f"{len(methods)} policies. Its mean rank is {own:.2f}."
        )
        if ahead:
            text += f" Ahead of it: {listed(f'{title_of(m)} ({ranks[m]:.2f})' for m in ahead)}."
        texts.append(text)
    found = [
        " ".join(texts),
        *_of_constants(look, "mesa-universal", "mesa-alone", "constant-"),
        *_on_the_task(look),
    ]
    return "\n\n".join(text for text in found if text)


def policies_default(look: Look) -> str:
    found = _of_constants(look, "default-universal", "default-alone", "default-constant-")
    return "\n\n".join(found)


def _on_the_task(look: Look) -> list[str]:
    """Show what samplers gain that learn from the task itself."""
    sizes = look.values("k")
    spe: dict[int, tuple[float, float]] = {}
    n_sets = 0
    for k in sizes:
        sets, means = per_set_means(select(look.rows, {"k": k}), ["mesa-fit", "spe"])
        if len(sets) > 1:
            n_sets = max(n_sets, len(sets))
            spe[k] = paired(means[:, 0], means[:, 1])
    rows = {f"meta-trained on the task, minus SPE ({n_sets} sets)": spe}
    report = next((r for r in look.spec.reports if r.get("reference") == "mesa-universal"), None)
    for method, name in (("mesa-fit", "meta-trained on"), ("mesa-adapt", "adapted to")):
        if report is not None:
            gaps = _gaps(look, report, method, "mesa-universal")
            rows[f"{name} the task, minus the universal sampler"] = gaps
    table = _table_of_gaps(rows, sizes)
    return [fold("Samplers that learn from the task itself", table)] if table else []


def _table_of_gaps(rows: dict[str, dict[int, tuple[float, float]]], sizes: list[int]) -> str:
    """Write differences and their errors, with a column for each number of members."""
    lines = [
        [name, *(f"{gaps[k][0]:+.4f} ± {gaps[k][1]:.4f}" if k in gaps else "" for k in sizes)]
        for name, gaps in rows.items()
        if gaps
    ]
    header = ["difference in average precision", *(f"{k} members" for k in sizes)]
    return text_table(header, lines) if lines else ""


def _shown(look: Look, report: dict[str, Any]) -> list[Row]:
    """Return the rows that a report shows."""
    left_out = set(report.get("without", ()))
    return [row for row in look.rows if not left_out.intersection(map(str, row["cell"].values()))]


def _gaps(
    look: Look, report: dict[str, Any], method: str, reference: str
) -> dict[int, tuple[float, float]]:
    """Return the differences of a table by the number of members, each with its error."""
    rows = _shown(look, report)
    methods, gaps = methods_of(look.spec, rows), {}
    for k in look.values("k"):
        sets, means = per_set_means(select(rows, {"k": k}), methods)
        if len(sets) > 1 and {method, reference} <= set(methods):
            own, other = (means[:, methods.index(name)] for name in (method, reference))
            gaps[k] = paired(own, other)
    return gaps


def _of_constants(look: Look, own: str, alone: str, family: str) -> list[str]:
    """Compare the universal sampler with all constants: in the mean, and set by set."""
    held = f"{family}0.9"
    report = next((r for r in look.spec.reports if r.get("reference") == held), {})
    rows = _shown(look, report)
    methods = methods_of(look.spec, rows)
    constants = [name for name in methods if name.startswith(family)]
    if not {own, alone, held} <= set(methods):
        return []
    columns = {"universal sampler": own, "without rivals": alone}
    columns |= {
        title_of(name): name for name in ("selected-mu", "uniform-draws") if name in methods
    }
    lines, losses, n_sets = [], [], 0
    fits: list[int] = []
    for k in look.values("k"):
        sets, means = per_set_means(select(rows, {"k": k}), methods)
        if len(sets) < 2:
            continue
        n_sets = max(n_sets, len(sets))
        fits += [look.fits(dataset=name, method=own, k=k) for name in sets]
        average = dict(zip(methods, means.mean(axis=0), strict=True))
        best = max(constants, key=lambda name: average[name])
        cells = [f"{average[name]:.4f}" for name in columns.values()]
        cells.insert(1, f"{average[best]:.4f} (mu {best.removeprefix(family)})")
        lines.append([f"{k}", *cells])
        top = means[:, [methods.index(name) for name in constants]].max(axis=1)
        for name in (own, f"{family}0.8", held, f"{family}1"):
            if name in methods and any(r.get("k") == k for r in look.spec.reports):
                lost = top - means[:, methods.index(name)]
                title = "universal sampler" if name == own else f"mu {name.removeprefix(family)}"
                worst = int(lost.argmax())
                losses.append(
                    [f"{k}", title, f"{lost.mean():.3f}", f"{lost[worst]:.3f} ({sets[worst]})"]
                )
    if not lines:
        return []
    gains = {
        "universal sampler, minus the constant mu 0.9": _gaps(look, report, own, held),
        "the same without rivals": _gaps(look, report, alone, held),
    }
    others = list(columns)
    return [
        f"Mean average precision over {n_sets} sets, {_span(fits)} fits of each. The best constant "
        "is known only with hindsight:",
        text_table(["members", others[0], "best constant", *others[1:]], lines),
        fold(
            "Differences from the constant mu 0.9, with standard errors",
            _table_of_gaps(gains, look.values("k")),
        ),
        fold(
            "What a policy loses on each set, compared with the best constant of this set",
            text_table(["members", "policy", "mean loss", "worst loss"], losses),
        ),
    ]


def _span(fits: list[int]) -> str:
    """Write the smallest and the largest of several counts."""
    return f"{min(fits)}" if min(fits) == max(fits) else f"{min(fits)} to {max(fits)}"


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
    order = sorted(ranks, key=lambda m: ranks[m])
    named = [n for n in dict.fromkeys(["mesa", "mesa-fast", "lightgbm", *order[:5]]) if n in ranks]
    named.sort(key=lambda m: ranks[m])
    place = order.index("mesa") + 1
    where = "first" if place == 1 else f"number {place}"
    others = listed(f"{title_of(name)} ({ranks[name]:.2f})" for name in named if name != "mesa")
    texts = [
        f"MESA's default is {where} of {len(methods)} methods on {len(sets)} sets. Its mean rank "
        f"is {ranks['mesa']:.2f}; 1 is best. Mean ranks of others: {others}."
    ]
    costs = []
    if "lightgbm" in methods:
        for name in (n for n in named if n.startswith("mesa")):
            _, cpu = per_set_means(rows, [name, "lightgbm"], "total_cpu")
            costs.append(f"{geometric_mean(cpu[:, 0] / cpu[:, 1]):.2f} ({title_of(name)})")
    if costs:
        texts.append(f"CPU time of a fit, relative to LightGBM: {listed(costs)}.")
    fits = [look.fits(dataset=name, method="mesa", rows="train+valid") for name in sets]
    texts.append(f"We fitted the default {_span(fits)} times on each set.")
    return bullets(texts)


#: By the name of the spec.
BOARD_SENTENCES = {
    "policies": policies,
    "policies-default": policies_default,
    "leaderboard": leaderboard,
    "leaderboard-large": leaderboard,
}
