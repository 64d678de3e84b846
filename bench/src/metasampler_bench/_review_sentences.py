"""Say what the rows say that answer a reviewer's questions, and those of the deep networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler_bench._look import Look, count, listed, short
from metasampler_bench._methods import METHODS, title_of
from metasampler_bench._paired import Difference, by_split
from metasampler_bench._rows import finished, name_of, per_set_means, row_value, select
from metasampler_bench._spread import spreads
from metasampler_bench._views import VIEWS

__all__ = ["REVIEW_SENTENCES"]

OWN = "mesa-fit"


def _over_sets(differences: list[Difference]) -> tuple[float, float, int]:
    """Return mean, lowest and number of differences that are there."""
    means = [each.mean for each in differences if each.n]
    return (float(np.mean(means)), min(means), len(means)) if means else (np.nan, np.nan, 0)


def states(look: Look) -> str:
    names = look.values("dataset", method=OWN)
    own = [{"dataset": name, "method": OWN, "k": 10} for name in names]
    texts = []
    for view in VIEWS:
        mean, low, n = _over_sets([look.compare({**o, "view": view}, o) for o in own])
        if n:
            texts.append(f"{VIEWS[view]} {mean:+.3f} (lowest {low:+.3f})")
    blind = [look.compare({**o, "setting": "n_bins=1"}, o) for o in own]
    mean, low, n = _over_sets(blind)
    text = ""
    if texts:
        text = (
            f"What the scores lose if trained samplers see something else, mean over {len(names)} "
        )
        text += f"sets: {listed(texts)}."
    if n:
        text += f" Samplers that were meta-trained without seeing anything: {mean:+.3f} (lowest "
        text += f"{low:+.3f})."
    ranges = [row_value(r, "mu_range") for r in look.rows if "view" not in r["cell"]]
    known = [value for value in ranges if value is not None]
    if known:
        text += f" Within a fit mu moves by {np.median(known):.3f} in the median."
    return text.strip()


def seeds(look: Look) -> str:
    found = spreads(look.spec, look.rows)
    if not found:
        return ""
    texts = []
    for each in found:
        between = "" if np.isnan(each.between) else f", over splits {short(each.between)}"
        texts.append(
            f"{each.dataset}: SD over meta-trainings {short(each.within)}{between}, "
            f"{count(each.collapsed, each.n_trainings)} below random mu"
        )
    text = "; ".join(texts) + "."
    for rival in (
        "search-policies",
        "search-constants",
        "selected-mu",
        "constant-0.9",
        "constant-1",
    ):
        gaps = []
        for each in found:
            own = by_split(
                r
                for r in look.rows
                if r["cell"]["dataset"] == each.dataset and r["cell"]["method"] == OWN
            )
            other = by_split(select(look.rows, {"dataset": each.dataset, "method": rival, "k": 10}))
            gap = Difference(own, other)
            gaps += [gap.mean] if gap.n else []
        if gaps:
            text += f" Soft actor-critic minus {title_of(rival)}: {np.mean(gaps):+.3f} (per set "
            text += f"{', '.join(f'{gap:+.3f}' for gap in gaps)})."
    return text


def sensitivity(look: Look) -> str:
    names = look.values("dataset", method=OWN)
    found = []
    for setting in look.values("setting"):
        places = [{"dataset": name, "method": OWN, "k": 10} for name in names]
        mean, _, n = _over_sets([look.compare({**p, "setting": setting}, p) for p in places])
        if n == len(names):
            found.append((mean, setting))
    if not found:
        return ""
    found.sort()
    small = sum(abs(mean) < 0.01 for mean, _ in found)
    worst, best = (f"{name_of('setting', s)} ({m:+.3f})" for m, s in (found[0], found[-1]))
    return (
        f"Mean difference to the paper's settings over {len(names)} sets: from {worst} to {best}; "
        f"{count(small, len(found))} settings change it by less than .01."
    )


def validation_size(look: Look) -> str:
    texts = []
    for name in look.values("dataset", method=OWN):
        own = {"dataset": name, "method": OWN, "k": 10}
        parts = [p for p in (0.5, 0.25, 0.1) if look.has(valid_fraction=p, **own)]
        if parts:
            gaps = [look.compare({**own, "valid_fraction": p}, own) for p in parts]
            values = "/".join(f"{gap.mean:+.3f}" for gap in gaps)
            sizes = "/".join(f"{p:.0%}" for p in parts)
            texts.append(f"{name}: {sizes} of the validation rows change MESA's score by {values}")
    noisy = {"dataset": "mammography", "method": OWN, "k": 10, "noise": 0.25}
    if look.has(valid_noise=0.25, **noisy):
        gap = look.compare({**noisy, "valid_noise": 0.25}, noisy)
        texts.append(
            f"with a quarter of the validation labels flipped as well as of the training labels, "
            f"{gap.mean:+.3f} ± {gap.error:.3f}"
        )
    for flips in ("minority", "majority"):
        place = {"dataset": "mammography", "k": 10, "noise": 0.25, "flips": flips}
        if look.has(method=OWN, **place):
            others = {
                m: look.mean(method=m, **place)
                for m in ("constant-0.8", "constant-0.9", "spe-paper", "under-bagging", "cascade")
                if look.has(method=m, **place)
            }
            best = max(others, key=lambda m: others[m])
            texts.append(
                f"flips of the {flips} only: MESA {short(look.mean(method=OWN, **place))}, the "
                "best "
                f"other {title_of(best)} {short(others[best])}"
            )
    return "; ".join(texts).capitalize() + ("." if texts else "")


def own_members(look: Look) -> str:
    gaps, wins, texts = [], 0, []
    for name in look.values("dataset", method=OWN):
        for base in look.values("base", dataset=name):
            own = {"dataset": name, "method": OWN, "base": base, "k": 10}
            if base != "DT" and look.has(meta_base=base, **own):
                gaps.append(look.compare({**own, "meta_base": base}, own).mean)
            best = max(
                (
                    look.mean(dataset=name, method=m, base=base, k=10)
                    for m in ("under-bagging", "spe-paper")
                    if look.has(dataset=name, method=m, base=base, k=10)
                ),
                default=np.nan,
            )
            if look.has(**own) and np.isfinite(best):
                texts.append(base)
                wins += look.mean(**own) > best
    if not texts:
        return ""
    text = f"MESA is ahead of UnderBagging and SPE with {count(wins, len(texts))} kinds of members "
    text += "(over all sets)."
    if gaps:
        text += (
            " Meta-training with members of the same kind, not with trees, changes the score by "
        )
        text += f"{np.mean(gaps):+.3f} in the mean ({min(gaps):+.3f} to {max(gaps):+.3f})."
    return text


def deep(look: Look) -> str:
    methods = [m for m in look.values("method") if m in METHODS]
    networks = [m for m in methods if m.startswith("network")]
    if not networks or OWN not in methods:
        return ""
    rows: list[dict[str, Any]] = finished(look.rows)
    texts = []
    sets, means = per_set_means(rows, [OWN, *networks])
    if sets:
        average = means.mean(axis=0)
        best = int(np.argmax(average[1:])) + 1
        wins = int((means[:, 0] > means[:, 1:].max(axis=1)).sum())
        name = title_of(networks[best - 1])
        texts.append(
            f"Mean over {len(sets)} sets: MESA of ten trees {short(float(average[0]))}, the best "
            "of the "
            f"networks, {name}, {short(float(average[best]))}; MESA is ahead of all networks on "
            f"{count(wins, len(sets))} sets."
        )
        plain = networks.index("network") + 1 if "network" in networks else None
        if plain is not None:
            gaps = {
                m: float((means[:, n + 1] - means[:, plain]).mean())
                for n, m in enumerate(networks)
                if m != "network"
            }
            parts = [f"{title_of(m)} {gap:+.3f}" for m, gap in gaps.items()]
            texts.append(f"Against the plain network: {listed(parts)}.")
    _, cpu = per_set_means(rows, [OWN, *networks], "total_cpu")
    if len(cpu):
        ratio = np.exp(np.log(cpu[:, 1:] / cpu[:, :1]).mean(axis=0))
        slow = int(np.argmax(ratio))
        texts.append(
            f"A fit of {title_of(networks[slow])} takes {ratio[slow]:.1f} times the CPU time of "
            "MESA "
            "with its meta-training."
        )
    return " ".join(texts)


#: By the name of the spec.
REVIEW_SENTENCES = {
    "states": states,
    "seeds": seeds,
    "sensitivity": sensitivity,
    "validation-size": validation_size,
    "own-members": own_members,
    "deep": deep,
}
