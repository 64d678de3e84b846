"""Say what the rows of the paper's tables say; no number enters that is not computed here."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler_bench._look import Look, bullets, count, listed, short, text_table
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


def _places(cells: list[dict[str, Any]]) -> str:
    """Name places: data set by data set, with the numbers of members."""
    named: dict[str, list[Any]] = {}
    for cell in cells:
        named.setdefault(cell["dataset"], []).append(cell["k"])
    texts = (f"{name} with {listed(values)} members" for name, values in named.items())
    return "; ".join(texts) or "none"


def _few_fits(look: Look, cells: list[dict[str, Any]], method: str = OWN) -> str:
    few: dict[str, int] = {}
    for cell in cells:
        n = look.fits(method=method, **cell)
        if n < _FEW:
            few[cell["dataset"]] = min(n, few.get(cell["dataset"], n))
    if not few:
        return ""
    texts = [f"{name} has {n} fit{'s' if n > 1 else ''} in a cell" for name, n in few.items()]
    return f"Few fits: {listed(texts)}."


def _against_paper(look: Look, cells: list[dict[str, Any]], method: str = OWN) -> str:
    gaps = []
    for cell in cells:
        paper = look.paper(method=method, **cell)
        if paper is not None:
            gaps.append((round(look.mean(method=method, **cell), 3) - paper, cell))
    above = sum(gap >= -1e-9 for gap, _ in gaps)
    text = (
        f"{title_of(method)}, reaches at least the paper's score in "
        f"{count(above, len(gaps))} cells."
    )
    low, cell = min(gaps, key=lambda item: item[0])
    if low < 0:
        text += f" It is at most {short(-low)} below the paper's score ({_places([cell])})."
    return text


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
            behind.append(f"{short(others[best] - own)} ({title_of(best)}; {_places([cell])})")
        for name in others:
            difference = look.compare({"method": OWN, **cell}, {"method": name, **cell})
            p_values.append(difference.p)
            gains.append(difference.mean)
    for p, gain in zip(holm(p_values), gains, strict=True):
        tested += 1
        ahead += p < 0.05 and gain > 0
    worse = sum(p < 0.05 and g < 0 for p, g in zip(holm(p_values), gains, strict=True))
    text = "Compared with the four baselines on the same training rows, it is first or level with "
    text += f"the first in {count(first, len(cells))} cells."
    if behind:
        text += f" In the other cells the first is ahead by {listed(behind)}."
    texts.append(text)
    texts.append(
        f"We tested {tested} differences from a baseline. {ahead} are significantly positive, and "
        f"{worse} significantly negative (t test, Holm's correction)."
    )
    for name in ("constant-0.9", "constant-1"):
        there = [cell for cell in cells if look.has(method=name, **cell)]
        gaps = [look.mean(method=name, **cell) - look.mean(method=OWN, **cell) for cell in there]
        wins = sum(gap > 0 for gap in gaps)
        texts.append(
            f"The {title_of(name)} is ahead of the learned policy in {count(wins, len(there))} "
            f"cells (mean difference {np.mean(gaps):+.3f}). The paper does not show it."
        )
    texts += _same_rights(look, cells)
    few = _few_fits(look, cells)
    return bullets([*texts, few] if few else texts)


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
    text = "MESA, refitted, trains on these rows too. It is ahead of the best of these baselines "
    text += f"in {count(refit, n_refit)} cells."
    if lost:
        text += f" It is behind on {_places(lost)}."
    if missing:
        text += f" There are no refitted rows of {listed(sorted({c['dataset'] for c in missing}))}."
    return [
        'If baselines train on the validation rows too ("train + valid"), the best of them is '
        f"ahead of MESA in {count(n_plain - plain, n_plain)} cells.",
        text,
    ]


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
                f"{title_of(name).capitalize()}: {np.mean(losses):+.1%} against the learned policy "
                f"in the mean of {len(there)} cells; in the paper {np.mean(theirs):+.1%}. Our "
                f"score minus the paper's is {np.mean(gaps):+.3f} in the mean, and "
                f"{min(gaps):+.3f} at the lowest."
            )
    drawn = [cell for cell in cells if look.has(method="mesa-sampled", **cell)]
    if drawn:
        gaps = [
            look.compare({"method": "mesa-sampled", **c}, {"method": OWN, **c}).mean for c in drawn
        ]
        texts.append(
            f"Drawn actions: if the learned policy draws its actions instead of taking their mean, "
            f"its score changes by {np.mean(gaps):+.3f} (mean of {len(drawn)} cells)."
        )
    for name in ("constant-0.9", "constant-1"):
        there = [cell for cell in cells if look.has(method=name, **cell)]
        if there:
            gaps = [look.mean(method=name, **c) - look.mean(method=OWN, **c) for c in there]
            texts.append(
                f"{title_of(name).capitalize()}: {np.mean(gaps):+.3f} against the learned policy. "
                "The paper's table does not have it."
            )
    few = _few_fits(look, cells)
    return bullets([*texts, few] if few else texts)


_LEVELS = (0.0, 0.1, 0.25, 0.4)


def noise(look: Look) -> str:
    texts, lines = [], []
    groups = [("mammography-authors", "authors", "the authors' flips")]
    groups += [
        (name, "both", f"{name}, flips drawn anew") for name in look.values("dataset", method=OWN)
    ]
    for dataset, flips, title in groups:
        places = [
            {"dataset": dataset, "noise": level, "flips": flips}
            for level in _LEVELS
            if look.has(dataset=dataset, noise=level, flips=flips, method=OWN)
        ]
        if len(places) < 2:
            continue
        own = [look.mean(method=OWN, **place) for place in places]
        best = [max(look.mean(method=m, **place) for m in BASELINES) for place in places]
        leads = sum(score >= other for score, other in zip(own, best, strict=True))
        paper = [look.paper(method=OWN, **place) for place in places]
        fits = min(look.fits(method=OWN, **place) for place in places)
        levels = [place["noise"] for place in places]
        rows = {"MESA": own, "the best baseline": best}
        if all(value is not None for value in paper):
            rows["MESA in the paper"] = [value for value in paper if value is not None]
        for name, values in rows.items():
            found = dict(zip(levels, values, strict=True))
            scores = [short(found[level]) if level in found else "" for level in _LEVELS]
            lines.append([title, name, *scores])
        text = f"{title[0].upper()}{title[1:]}: MESA is ahead at {count(leads, len(levels))} "
        text += f"levels ({fits} fit{'s' if fits > 1 else ''} each)."
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
    if not texts:
        return ""
    header = ["labels", "score of", *(f"{level:.0%} noise" for level in _LEVELS)]
    return f"{bullets(texts)}\n\n{text_table(header, lines)}"


def transfer(look: Look) -> str:
    lines, columns = [], [f"{part:.0%} of its rows" for part in (0.5, 0.1)]
    tasks = ("optical_digits", "spectrometer")
    for name in look.values("dataset", method=OWN):
        ks = [k for k in look.values("k", dataset=name) if look.has(dataset=name, method=OWN, k=k)]
        losses: dict[str, list[float]] = {}
        for k in ks:
            place = {"dataset": name, "method": OWN, "k": k}
            others: dict[str, dict[str, Any]] = {
                **{f"{part:.0%} of its rows": {"meta_fraction": part} for part in (0.5, 0.1)},
                **{task: {"meta_task": task} for task in tasks},
            }
            for title, more in others.items():
                if look.has(**place, **more):
                    loss = look.mean(**place, **more) / look.mean(**place) - 1
                    losses.setdefault(title, []).append(loss)
        if losses:
            n = look.fits(dataset=name, method=OWN, k=ks[0])
            spans = [
                f"{min(losses[title]):+.1%} to {max(losses[title]):+.1%}" if title in losses else ""
                for title in (*columns, *tasks)
            ]
            lines.append([name, *spans, f"{n}"])
    if not lines:
        return ""
    head = "How the score changes if the sampler was meta-trained on a part of the rows, or on "
    head += "another task. We compare it with a sampler of all rows of the task itself. The two "
    head += "numbers are the lowest and the highest over the numbers of members:"
    return f"{head}\n\n{text_table(['used on', *columns, *tasks, 'fits'], lines)}"


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
        f"MESA is ahead of all resamplers with {count(first, len(bases))} classifiers. Its score "
        f"minus the paper's is {min(gaps):+.3f} to {max(gaps):+.3f}. Each cell is a mean "
        f"over {fits} folds."
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
            f"{k} members: {short(scores[low])} ({_layers(low)}) to "
            f"{short(scores[high])} ({_layers(high)})"
        )
    if not texts:
        return ""
    n = look.fits(dataset=look.values("dataset")[0], method=OWN, k=look.values("k")[0])
    head = f"The lowest and the highest score of {len(scores)} architectures, with {n} fits each. "
    head += "The hidden layers are in brackets:"
    return f"{head}\n\n{bullets(texts)}"


def _layers(hidden: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, hidden)) + "}"


def synthetic(look: Look) -> str:
    names = look.values("dataset", method=OWN)
    wins, texts = 0, []
    for name in names:
        scores = {m: look.mean(dataset=name, method=m, k=5) for m in look.values("method")}
        best = max(scores, key=lambda m: scores[m])
        wins += best == OWN
        text = f"{name}: MESA has {short(scores[OWN])}"
        if best != OWN:
            text += f". The best method has {short(scores[best])} ({title_of(best)})"
        texts.append(text)
    n = look.fits(dataset=names[0], method=OWN, k=5) if names else 0
    first = f"MESA has the highest score at {count(wins, len(names))} levels of overlap. Scores "
    return f"{first}are means over {n} splits:\n\n{bullets(texts)}"


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
        text += f"ensembles is {title_of(best_rival)}. It has {short(score)} with {used:,.0f} "
        text += "rows. MESA "
        if enough:
            own = look.mean("rows", dataset=name, method=OWN, k=enough[0])
            text += f"reaches it with {own:,.0f} rows, {own / used:.0%} of them."
        else:
            top = max(
                look.mean(dataset=name, method=OWN, k=k)
                for k in look.values("k", dataset=name, method=OWN)
            )
            text += f"does not reach it (at most {short(top)})."
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
                f"{small} of {len(found[kind])} {what} lose less than 1% (in the paper {said} of "
                f"20). The largest loss is {worst[0]:+.1%} ({worst[1]} on {worst[2]})."
            )
    return bullets(texts)


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
        kind = "meta-trained on" if name in trained else "unseen"
        ends = {
            (row["cell"]["run"], row["cell"]["fold"]): float(np.mean(row["curves"][name][-half:]))
            for row in joint
        }
        gap = Difference(ends, by_split(at(look.rows, {"dataset": name, "method": best, "k": 10})))
        error = f" ± {gap.error:.3f}" if gap.n > 1 else ""
        texts.append(
            f"{name} ({kind}): from {short(start)} to {short(end)}, {gap.mean:+.3f}{error} against "
            f"{title_of(best)}"
        )
    n = len(joint)
    return (
        f"Mean scores of the first {half} and of the last {half} rounds, over {n} "
        f"split{'s' if n > 1 else ''}. The last number compares the last rounds with the best "
        f"baseline:\n\n{bullets(texts)}"
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
            f"{name}: the score changes by {min(losses):+.1%} to {max(losses):+.1%}. With "
            f"{parts[-1]:.0%} of the rows meta-training takes {least / cpu:.0%} of the CPU time."
        )
    if not texts:
        return ""
    head = "A sampler that was meta-trained on a part of the rows, compared with one that was "
    head += "meta-trained on all rows:"
    return f"{head}\n\n{bullets(texts)}"


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
            f"{level:.0%} noise: {np.mean(mus):.2f}; {count(hard, len(mus))} policies choose .93 "
            "or more"
        )
    if not texts:
        return ""
    return f"The mean mu of the learned policies, by noise:\n\n{bullets(texts)}"


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
        "sets the last 50 episodes add less than a tenth of the mean rise. Mean scores of the "
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
    same_on = count(len(same), len(names))
    return f"The numbers of rows and columns match the paper's on {same_on} sets."


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
        f"With {largest:.0%} of the training rows MESA's draws take {cost[own]:.2g} CPU seconds. "
        f"The slowest method, {title_of(slowest)}, takes {cost[slowest]:.3g}."
    )
    training = [row["meta_cpu"] for row in select(rows, {"method": OWN}) if "meta_cpu" in row]
    if training:
        text += f" MESA's meta-training takes another {np.mean(training):.3g}."
    fits = {
        m: row_value(row, "cpu")
        for row in rows
        if (m := row["cell"]["method"]).startswith("network")
    }
    if fits:
        parts = [f"{seconds:.3g} ({_kind(m)})" for m, seconds in fits.items()]
        text += f" A fit of a network takes {listed(parts)}."
    if smaller:
        text += f" {listed(smaller)} did not finish with so many rows. Their lines show a "
        text += "smaller part of the rows."
    return text


def _kind(network: str) -> str:
    """Name the way a network is trained."""
    return title_of(network).removeprefix("network").lstrip(", ") or "plain"


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
