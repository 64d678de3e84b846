"""Say what the rows of the paper's tables say; no number enters that is not computed here."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler_bench._look import Look, bullets, count, listed, sentence, short
from metasampler_bench._methods import title_of
from metasampler_bench._paired import Difference, at, by_split
from metasampler_bench._rows import row_value, select
from metasampler_bench._statistics import holm

__all__ = ["BASELINES", "OWN", "PAPER_SENTENCES", "transfer_losses"]

OWN = "mesa-fit"
BASELINES = ("rusboost-paper", "under-bagging", "spe-paper", "cascade")
_FEW = 8


def _cells(look: Look, axis: str = "k", method: str = OWN) -> list[dict[str, Any]]:
    """Return the places of a method: data set by data set, along an axis."""
    return [
        {"dataset": name, axis: value}
        for name in look.values("dataset", method=method)
        for value in look.values(axis, method=method, dataset=name)
        if look.has(dataset=name, method=method, **{axis: value})
    ]


def _places(cells: list[dict[str, Any]], axis: str = "k") -> str:
    """Name places: data set by data set, with the values of an axis."""
    named: dict[str, list[Any]] = {}
    for cell in cells:
        named.setdefault(cell["dataset"], []).append(cell[axis])
    return "; ".join(f"{name} at {listed(values)}" for name, values in named.items()) or "none"


def _few_fits(look: Look, cells: list[dict[str, Any]], method: str = OWN) -> str:
    few: dict[str, int] = {}
    for cell in cells:
        n = look.fits(method=method, **cell)
        if n < _FEW:
            few[cell["dataset"]] = min(n, few.get(cell["dataset"], n))
    if not few:
        return ""
    texts = [f"{name} ({n} fit{'s' if n > 1 else ''})" for name, n in few.items()]
    return f" Few fits stand behind {listed(texts)}."


def _against_paper(look: Look, cells: list[dict[str, Any]], method: str = OWN) -> str:
    gaps = []
    for cell in cells:
        paper = look.paper(method=method, **cell)
        if paper is not None:
            gaps.append((round(look.mean(method=method, **cell), 3) - paper, cell))
    above = sum(gap >= -1e-9 for gap, _ in gaps)
    text = (
        f"{title_of(method)} is at or above the paper's figure in {count(above, len(gaps))} cells"
    )
    low, cell = min(gaps, key=lambda item: item[0])
    if low < 0:
        text += f"; the largest gap below it is {short(-low)} ({_places([cell])})"
    return text + "."


def under_sampling(look: Look) -> str:
    cells = _cells(look)
    if not cells:
        return ""
    texts = [_against_paper(look, cells)]
    first, behind, ahead, tested = 0, [], 0, 0
    p_values, gains = [], []
    for cell in cells:
        own = look.mean(method=OWN, **cell)
        others = {m: look.mean(method=m, **cell) for m in BASELINES if look.has(method=m, **cell)}
        best = max(others, key=lambda name: others[name])
        if round(own, 3) >= round(others[best], 3):
            first += 1
        else:
            behind.append(f"{title_of(best)} by {short(others[best] - own)} ({_places([cell])})")
        for name in others:
            difference = look.compare({"method": OWN, **cell}, {"method": name, **cell})
            p_values.append(difference.p)
            gains.append(difference.mean)
    for p, gain in zip(holm(p_values), gains, strict=True):
        tested += 1
        ahead += p < 0.05 and gain > 0
    worse = sum(p < 0.05 and g < 0 for p, g in zip(holm(p_values), gains, strict=True))
    text = "Against the four baselines on the same training rows it is first or level with the "
    text += f"first in {count(first, len(cells))} cells"
    text += f"; ahead of it are {listed(behind)}." if behind else "."
    texts.append(text)
    texts.append(
        f"Of the {tested} differences to a baseline {ahead} are significantly positive and {worse} "
        f"significantly negative (t test, Holm's correction over all of them)."
    )
    for name in ("constant-0.9", "constant-1"):
        there = [cell for cell in cells if look.has(method=name, **cell)]
        gaps = [look.mean(method=name, **cell) - look.mean(method=OWN, **cell) for cell in there]
        wins = sum(gap > 0 for gap in gaps)
        texts.append(
            f"The {title_of(name)}, which the paper does not show, is ahead of the learned policy "
            "in "
            f"{count(wins, len(there))} cells (mean difference {np.mean(gaps):+.3f})."
        )
    texts += _same_rights(look, cells)
    return " ".join(texts) + _few_fits(look, cells)


def _same_rights(look: Look, cells: list[dict[str, Any]]) -> list[str]:
    """Compare with baselines that train on the validation rows, and MESA with the same right."""
    plain, refit, missing, lost = 0, 0, [], []
    n_plain = n_refit = 0
    for cell in cells:
        others = [
            look.mean(method=m, rows="train+valid", **cell)
            for m in BASELINES
            if look.has(method=m, rows="train+valid", **cell)
        ]
        if not others:
            continue
        n_plain += 1
        plain += look.mean(method=OWN, **cell) >= max(others)
        if not look.has(method="mesa-refit", **cell):
            missing.append(cell)
            continue
        n_refit += 1
        if look.mean(method="mesa-refit", **cell) >= max(others):
            refit += 1
        else:
            lost.append(cell)
    texts = [
        'With the validation rows to train on ("train + valid") the best baseline is ahead of '
        "MESA in "
        f"{count(n_plain - plain, n_plain)} cells."
    ]
    text = f"MESA with the same right (refitted) is ahead of it in {count(refit, n_refit)} cells"
    if lost:
        text += f", and behind on {_places(lost)}"
    if missing:
        text += f"; there are no refitted rows of {listed(sorted({c['dataset'] for c in missing}))}"
    return [*texts, text + "."]


def ablation(look: Look) -> str:
    cells = _cells(look)
    texts = []
    for name in ("random-policy", "uniform-draws"):
        there = [cell for cell in cells if look.has(method=name, **cell)]
        gaps, losses, theirs = [], [], []
        for cell in there:
            paper, own_paper = look.paper(method=name, **cell), look.paper(method=OWN, **cell)
            mean, own = look.mean(method=name, **cell), look.mean(method=OWN, **cell)
            losses.append(mean / own - 1)
            if paper is not None and own_paper is not None:
                gaps.append(mean - paper)
                theirs.append(paper / own_paper - 1)
        if there:
            texts.append(
                f"{title_of(name).capitalize()}: {np.mean(losses):+.1%} against the learned "
                "policy in "
                f"the mean of {len(there)} cells (the paper {np.mean(theirs):+.1%}); ours minus "
                "the "
                f"paper's score is {np.mean(gaps):+.3f} in the mean, {min(gaps):+.3f} at the "
                "lowest."
            )
    drawn = [cell for cell in cells if look.has(method="mesa-sampled", **cell)]
    if drawn:
        gaps = [
            look.compare({"method": "mesa-sampled", **c}, {"method": OWN, **c}).mean for c in drawn
        ]
        texts.append(
            f"Drawn actions in place of the mean change the learned policy's score by "
            f"{np.mean(gaps):+.3f} in the mean of {len(drawn)} cells."
        )
    for name in ("constant-0.9", "constant-1"):
        there = [cell for cell in cells if look.has(method=name, **cell)]
        if there:
            gaps = [look.mean(method=name, **c) - look.mean(method=OWN, **c) for c in there]
            texts.append(
                f"The {title_of(name)}, which the paper's table does not have, is "
                f"{np.mean(gaps):+.3f} from the learned policy."
            )
    return " ".join(texts) + _few_fits(look, cells)


def noise(look: Look) -> str:
    texts = []
    groups = [("mammography-authors", "authors", "With the labels that the authors flipped")]
    groups += [
        (name, "both", f"With flips drawn anew, on {name}")
        for name in look.values("dataset", method=OWN)
    ]
    for dataset, flips, opening in groups:
        levels = [
            level
            for level in (0.0, 0.1, 0.25, 0.4)
            if look.has(dataset=dataset, noise=level, flips=flips, method=OWN)
        ]
        if len(levels) < 2:
            continue
        places = [{"dataset": dataset, "noise": level, "flips": flips} for level in levels]
        own = [look.mean(method=OWN, **place) for place in places]
        best, leads = [], 0
        for place, score in zip(places, own, strict=True):
            others = [look.mean(method=m, **place) for m in BASELINES]
            best.append(max(others))
            leads += score >= max(others)
        paper = [look.paper(method=OWN, **place) for place in places]
        text = f"{opening}, at {'/'.join(f'{level:.0%}' for level in levels)} noise: "
        text += f"MESA has {'/'.join(short(v) for v in own)}"
        if all(value is not None for value in paper):
            text += f" (the paper {'/'.join(short(v) for v in paper if v is not None)})"
        text += f", and the best of the four baselines has {'/'.join(short(v) for v in best)}. "
        fits = min(look.fits(method=OWN, **place) for place in places)
        text += f"MESA is ahead at {count(leads, len(levels))} levels ({fits} "
        text += f"fit{'s' if fits > 1 else ''} each)."
        constants = {
            name: [look.mean(method=name, **place) for place in places]
            for name in ("constant-0.5", "constant-0.8", "constant-0.9", "constant-1")
        }
        if all(np.isfinite(v).all() for v in constants.values()):
            winner = max(constants, key=lambda name: constants[name][-1])
            text += f" At {levels[-1]:.0%} the best constant is "
            text += f"{title_of(winner).removeprefix('constant ')} "
            text += f"({short(constants[winner][-1])})."
        texts.append(text)
    return bullets(texts)


def transfer(look: Look) -> str:
    texts = []
    for name in look.values("dataset", method=OWN):
        ks = [k for k in look.values("k", dataset=name) if look.has(dataset=name, method=OWN, k=k)]
        losses: dict[str, list[float]] = {}
        for k in ks:
            own = look.mean(dataset=name, method=OWN, k=k)
            for part in (0.5, 0.1):
                if look.has(dataset=name, method=OWN, k=k, meta_fraction=part):
                    value = look.mean(dataset=name, method=OWN, k=k, meta_fraction=part)
                    losses.setdefault(f"{part:.0%} of the rows", []).append(value / own - 1)
            for task in ("optical_digits", "spectrometer"):
                if look.has(dataset=name, method=OWN, k=k, meta_task=task):
                    value = look.mean(dataset=name, method=OWN, k=k, meta_task=task)
                    losses.setdefault(f"from {task}", []).append(value / own - 1)
        if losses:
            parts = [f"{key} {min(v):+.1%} to {max(v):+.1%}" for key, v in losses.items()]
            n = look.fits(dataset=name, method=OWN, k=ks[0])
            texts.append(f"On {name} ({n} fits): {listed(parts)}.")
    if not texts:
        return ""
    return f"Scores relative to a sampler of the task itself:\n\n{bullets(texts)}"


def resampling(look: Look) -> str:
    bases = look.values("base", method=OWN)
    if not bases:
        return ""
    where = {"dataset": look.values("dataset", method=OWN)[0]}
    first, gaps = 0, []
    for base in bases:
        own = look.mean(method=OWN, base=base, meta_fraction=0.1, **where)
        others = [
            look.mean(method=m, base=base, **where)
            for m in look.values("method", base=base)
            if m != OWN
        ]
        first += own > np.nanmax(others)
        paper = look.paper(method=OWN, base=base, meta_fraction=0.1, **where)
        gaps += [] if paper is None else [own - paper]
    n = {
        look.fits(method=m, base=bases[0], **where, **({"meta_fraction": 0.1} if m == OWN else {}))
        for m in look.values("method", base=bases[0])
    }
    fits = f"{min(n)}" if min(n) == max(n) else f"{min(n)} to {max(n)}"
    return (
        f"MESA is ahead of all resamplers with {count(first, len(bases))} classifiers; ours minus "
        "the "
        f"paper's figure for it is {min(gaps):+.3f} to {max(gaps):+.3f}. Folds behind a cell: "
        f"{fits}."
    )


def networks(look: Look) -> str:
    texts = []
    for k in look.values("k"):
        where = {"dataset": look.values("dataset")[0], "method": OWN, "k": k}
        hidden = look.values("hidden") or []
        scores = {(50,): look.mean(**where)}
        scores |= {h: look.mean(hidden=list(h), **where) for h in map(tuple, hidden)}
        low, high = (f(scores, key=lambda h: scores[h]) for f in (min, max))
        texts.append(
            f"k = {k}: {short(scores[low])} ({_layers(low)}) to {short(scores[high])} "
            f"({_layers(high)})"
        )
    if not texts:
        return ""
    n = look.fits(dataset=look.values("dataset")[0], method=OWN, k=look.values("k")[0])
    return f"Lowest and highest of {len(scores)} architectures, {n} fits each. " + (
        "; ".join(texts) + "."
    )


def _layers(hidden: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, hidden)) + "}"


def synthetic(look: Look) -> str:
    names = look.values("dataset", method=OWN)
    wins, texts = 0, []
    for name in names:
        scores = {m: look.mean(dataset=name, method=m, k=5) for m in look.values("method")}
        best = max(scores, key=lambda m: scores[m])
        wins += best == OWN
        texts.append(f"{name}: MESA {short(scores[OWN])}, first {title_of(best)}")
    n = look.fits(dataset=names[0], method=OWN, k=5) if names else 0
    first = f"MESA is first on {count(wins, len(names))} overlaps"
    return f"{first} ({n} splits of each; {'; '.join(texts)})."


def over_sampling(look: Look) -> str:
    texts = []
    others = ("smoteboost", "smotebagging", "ramoboost")
    for name in look.values("dataset", method=OWN):
        rivals = {}
        for method in others:
            ks = look.values("k", dataset=name, method=method)
            scored = {k: look.mean(dataset=name, method=method, k=k) for k in ks}
            if scored:
                best = max(scored, key=lambda k: scored[k])
                used = look.mean("rows", dataset=name, method=method, k=best)
                rivals[method] = (scored[best], used)
        if not rivals:
            texts.append(f"{name} has no rows of over-sampling ensembles.")
            continue
        best_rival = max(rivals, key=lambda m: rivals[m][0])
        score, used = rivals[best_rival]
        enough = [
            k
            for k in look.values("k", dataset=name, method=OWN)
            if look.mean(dataset=name, method=OWN, k=k) >= score
        ]
        n = look.fits(dataset=name, method=OWN, k=5)
        text = f"{name} ({n} fit{'s' if n > 1 else ''}): the best of the three over-sampling "
        text += f"ensembles has {short(score)} ({title_of(best_rival)}, {used:,.0f} rows). MESA "
        if enough:
            own = look.mean("rows", dataset=name, method=OWN, k=enough[0])
            text += f"reaches it with {own:,.0f} rows, {own / used:.0%} of them."
        else:
            top = max(
                look.mean(dataset=name, method=OWN, k=k)
                for k in look.values("k", dataset=name, method=OWN)
            )
            text += f"does not reach it (at the most {short(top)})."
        texts.append(text)
    return bullets(texts)


def transfer_losses(look: Look) -> dict[str, list[tuple[float, str, str]]]:
    """Return relative differences to a sampler of the task itself, of pairs and of parts."""
    found: dict[str, list[tuple[float, str, str]]] = {"pairs": [], "parts": []}
    for name in look.values("dataset", method=OWN):
        place = {"dataset": name, "method": OWN, "k": 10}
        # A sampler of the task itself may be named or not.
        own = place if look.has(**place) else {"meta_task": name, **place}
        for task in look.values("meta_task", dataset=name):
            if task != name and look.has(meta_task=task, **place):
                loss = look.compare({"meta_task": task, **place}, own).relative
                found["pairs"].append((loss, task, name))
        for part in look.values("meta_fraction", dataset=name):
            if part != 1 and look.has(meta_fraction=part, **place):
                loss = look.compare({"meta_fraction": part, **place}, own).relative
                found["parts"].append((loss, f"{part:.0%}", name))
    return found


def transfer_matrix(look: Look) -> str:
    found = transfer_losses(look)
    texts = []
    for kind, what, said in (("pairs", "pairs of tasks", 18), ("parts", "parts of a task", 17)):
        if found[kind]:
            small = sum(loss > -0.01 for loss, *_ in found[kind])
            worst = min(found[kind])
            texts.append(
                f"Of the {len(found[kind])} {what} {small} lose less than 1% (the paper: {said} of "
                f"20); the largest loss is {worst[0]:+.1%} ({worst[1]} on {worst[2]})."
            )
    return " ".join(texts)


def cross_task(look: Look) -> str:
    joint = [row for row in look.rows if "curves" in row]
    if not joint:
        return ""
    trained = joint[0]["cell"]["tasks"].split("+")
    texts = []
    for name in joint[0]["curves"]:
        curves = np.array([row["curves"][name] for row in joint])
        half = min(50, curves.shape[1] // 2)
        start, end = curves[:, :half].mean(), curves[:, -half:].mean()
        baselines = {
            m: look.mean(dataset=name, method=m, k=10)
            for m in BASELINES
            if look.has(dataset=name, method=m, k=10)
        }
        best = max(baselines, key=lambda m: baselines[m])
        kind = "trained on" if name in trained else "unseen"
        ends = {
            (row["cell"]["run"], row["cell"]["fold"]): float(np.mean(row["curves"][name][-half:]))
            for row in joint
        }
        gap = Difference(ends, by_split(at(look.rows, {"dataset": name, "method": best, "k": 10})))
        error = f" ± {gap.error:.3f}" if gap.n > 1 else ""
        texts.append(
            f"{name} ({kind}) {short(start)} to {short(end)}, {gap.mean:+.3f}{error} from "
            f"{title_of(best)}"
        )
    n = len(joint)
    return (
        f"Means of the first and of the last {half} rounds, over {n} "
        f"split{'s' if n > 1 else ''}, and how far the last are from the best baseline: "
        f"{'; '.join(texts)}."
    )


def subset_cost(look: Look) -> str:
    texts = []
    for name in look.values("dataset"):
        where = {"dataset": name, "method": OWN, "k": 10}
        parts = [p for p in (0.5, 0.25, 0.1, 0.05) if look.has(meta_fraction=p, **where)]
        if not parts or not look.has(**where):
            continue
        losses = [look.compare({"meta_fraction": p, **where}, where).relative for p in parts]
        cpu, least = (
            look.mean("meta_cpu", **where),
            look.mean("meta_cpu", meta_fraction=parts[-1], **where),
        )
        texts.append(
            f"on {name} {min(losses):+.1%} to {max(losses):+.1%}, at {least / cpu:.0%} of the CPU "
            "time "
            f"with {parts[-1]:.0%} of the rows"
        )
    return f"Relative to all rows: {'; '.join(texts)}." if texts else ""


def policy_under_noise(look: Look) -> str:
    texts = []
    levels = [
        n
        for n in (0.0, 0.1, 0.25, 0.4)
        if look.has(dataset="mammography", method=OWN, k=20, noise=n)
    ]
    for level in levels:
        rows = [row for row in select(look.rows, {"noise": level}) if row.get("actions")]
        mus = [row_value(row, "mu_mean") or 0.0 for row in rows]
        hard = sum(mu >= 0.93 for mu in mus)
        texts.append(
            f"{level:.0%} noise: mean mu {np.mean(mus):.2f}, {count(hard, len(mus))} policies at "
            ".93 or "
            "more"
        )
    return sentence(texts)


def meta_training(look: Look) -> str:
    texts: list[str] = []
    rising = total = level = 0
    for name in look.values("dataset"):
        rows = select(look.rows, {"dataset": name})
        shapes = np.array(
            [[row["curves"][part] for part in ("train", "valid", "test")] for row in rows]
        )
        start, end = shapes[:, :, :50].mean(axis=(0, 2)), shapes[:, :, -50:].mean(axis=(0, 2))
        before = shapes[:, :, -100:-50].mean(axis=(0, 2))
        gains = shapes[:, 2, -50:].mean(axis=1) - shapes[:, 2, :50].mean(axis=1)
        rising += int((gains > 0).sum())
        total += len(gains)
        # Most of the way is behind: the last 50 episodes add less than a tenth of it.
        level += end[2] - before[2] < 0.1 * (end[2] - start[2])
        texts.append(
            f"{name} ({len(rows)} fold{'s' if len(rows) > 1 else ''}): train {short(start[0])} to "
            f"{short(end[0])}, valid {short(start[1])} to {short(end[1])}, test {short(start[2])} "
            f"to {short(end[2])}"
        )
    if not texts:
        return ""
    return (
        f"Test scores rise in {count(rising, total)} meta-trainings. On {count(level, len(texts))} "
        "sets the last 50 episodes bring less than a tenth of the mean rise. Mean scores of the "
        f"first 50 and of the last 50 episodes:\n\n{bullets(texts)}"
    )


def datasets(look: Look) -> str:
    names = look.values("dataset")
    same = [
        name
        for name in names
        if all(
            look.mean(value, dataset=name) == paper
            for value in ("n_rows", "n_features")
            for paper in [_fact(look, name, value)]
        )
    ]
    return f"Rows and columns are the paper's on {count(len(same), len(names))} sets."


def _fact(look: Look, name: str, value: str) -> float | None:
    for entry in look.spec.values:
        if entry["where"]["dataset"] == name:
            return float(entry[value])
    return None


def methods(look: Look) -> str:
    largest = max(look.values("fraction"), default=None)
    if largest is None:
        return ""
    rows = select(look.rows, {"fraction": largest})
    cost = {row["cell"]["method"]: row["resampling_cpu"] for row in rows if "resampling_cpu" in row}
    # A constant draws as a learned policy does.
    own = OWN if OWN in cost else "constant-0.9"
    if own not in cost:
        return ""
    slowest = max(cost, key=lambda name: cost[name])
    smaller = sorted(
        {title_of(m) for m in look.values("method")}
        - {title_of(row["cell"]["method"]) for row in rows}
    )
    text = (
        f"At {largest:.0%} of the training rows MESA's draws take {cost[own]:.2g} CPU seconds, "
        f"{title_of(slowest)} {cost[slowest]:.3g}."
    )
    training = [row["meta_cpu"] for row in select(rows, {"method": OWN}) if "meta_cpu" in row]
    if training:
        text += f" Meta-training comes before them and takes {np.mean(training):.3g}."
    fits = {
        m: row_value(row, "cpu")
        for row in rows
        if (m := row["cell"]["method"]).startswith("network")
    }
    if fits:
        parts = [f"{title_of(m)} {seconds:.3g}" for m, seconds in fits.items()]
        text += f" Fits of networks take, in CPU seconds: {listed(parts)}."
    if smaller:
        text += f" {listed(smaller)} did not finish that part and show a smaller one."
    return text


#: By the name of the spec.
PAPER_SENTENCES = {
    "under-sampling": under_sampling,
    "ablation": ablation,
    "noise": noise,
    "transfer": transfer,
    "resampling": resampling,
    "networks": networks,
    "synthetic": synthetic,
    "over-sampling": over_sampling,
    "transfer-matrix": transfer_matrix,
    "cross-task": cross_task,
    "subset-cost": subset_cost,
    "policy-under-noise": policy_under_noise,
    "meta-training": meta_training,
    "datasets": datasets,
    "methods": methods,
}
