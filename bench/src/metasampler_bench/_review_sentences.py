"""Say what the rows say that answer a reviewer's questions, and those of the deep networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from metasampler_bench._look import Look, bullets, count, listed, short, text_table
from metasampler_bench._methods import METHODS, title_of
from metasampler_bench._paired import Difference, by_split
from metasampler_bench._protocol import n_folds_of
from metasampler_bench._rows import finished, name_of, per_set_means, row_value, select
from metasampler_bench._spread import spreads
from metasampler_bench._statistics import holm
from metasampler_bench._views import VIEWS

__all__ = ["REVIEW_SENTENCES", "SEARCHES", "gaps_to", "members_ahead"]

OWN = "mesa-fit"
#: Searches that have as many episodes as soft actor-critic.
SEARCHES = ("search-policies", "search-constants")


def _over_sets(differences: list[Difference]) -> tuple[float, float, int]:
    """Return mean, lowest and number of differences that are there."""
    means = [each.mean for each in differences if each.n]
    return (float(np.mean(means)), min(means), len(means)) if means else (np.nan, np.nan, 0)


def _with_error(gap: Difference) -> str:
    """Write a difference and its standard error; one pair has none."""
    return f"{gap.mean:+.3f}" + (f" ± {gap.error:.3f}" if gap.n > 1 else "")


def states(look: Look) -> str:
    names = look.values("dataset", method=OWN)
    own = [{"dataset": name, "method": OWN, "k": 10} for name in names]
    texts = []
    for view in VIEWS:
        mean, low, n = _over_sets([look.compare({**o, "view": view}, o) for o in own])
        if n:
            texts.append(f"{VIEWS[view]}: {mean:+.3f} (lowest {low:+.3f})")
    text = ""
    if texts:
        text = "How scores change if trained samplers see something other than the state (means "
        text += f"over {len(names)} sets):\n\n{bullets(texts)}"
    blind = [look.compare({**o, "setting": "n_bins=1"}, o) for o in own]
    mean, low, n = _over_sets(blind)
    if n:
        text += (
            f"\n\nFor samplers that were meta-trained without a state, it is {mean:+.3f} (lowest "
        )
        text += f"{low:+.3f})."
    ranges = [row_value(r, "mu_range") for r in look.rows if "view" not in r["cell"]]
    known = [value for value in ranges if value is not None]
    if known:
        text += f" The median range of mu within a fit is {np.median(known):.3f}."
    return text.strip()


def gaps_to(look: Look, rival: str) -> list[tuple[str, Difference]]:
    """Return soft actor-critic's differences to a rival, the mean of all meta-trainings a split."""
    gaps = []
    for name in look.values("dataset", method=OWN):
        own = by_split(select(look.rows, {"dataset": name, "method": OWN}))
        other = by_split(select(look.rows, {"dataset": name, "method": rival}))
        gap = Difference(own, other, fixed=n_folds_of(name) == 1)
        gaps += [(name, gap)] if gap.n else []
    return gaps


def seeds(look: Look) -> str:
    found = spreads(look.spec, look.rows)
    if not found:
        return ""
    texts = []
    for each in found:
        between = "" if np.isnan(each.between) else f", and {short(each.between)} over splits"
        mus = ""
        if not np.isnan(each.lowest_mu):
            mus = f" The mean mu of a meta-training ranges from {short(each.lowest_mu, 2)} to "
            mus += f"{short(each.highest_mu, 2)}."
        texts.append(
            f"{each.dataset}: the standard deviation is {short(each.within)} over "
            f"meta-trainings{between}.{mus} {count(each.collapsed, each.n_trainings)} "
            "meta-trainings score below a fit with random mu on the same rows."
        )
    text, gaps = bullets(texts), []
    for rival in (*SEARCHES, "selected-mu", "constant-0.9", "constant-1"):
        parts = [f"{name} {_with_error(gap)}" for name, gap in gaps_to(look, rival)]
        if parts:
            gaps.append(f"{title_of(rival)}: {listed(parts)}")
    if gaps:
        head = "The score of soft actor-critic minus that of other methods:"
        text += f"\n\n{head}\n\n{bullets(gaps)}"
    return text


def sensitivity(look: Look) -> str:
    names = look.values("dataset", method=OWN)
    found, p_values = [], []
    for setting in look.values("setting"):
        places = [{"dataset": name, "method": OWN, "k": 10} for name in names]
        gaps = [look.compare({**p, "setting": setting}, p) for p in places]
        mean, _, n = _over_sets(gaps)
        if n == len(names):
            found.append((mean, setting))
            p_values += [gap.p for gap in gaps]
    if not found:
        return ""
    found.sort()
    small = sum(abs(mean) < 0.01 for mean, _ in found)
    worst, best = (f"{name_of('setting', s)} ({m:+.3f})" for m, s in (found[0], found[-1]))
    significant = sum(p < 0.05 for p in holm(p_values))
    return bullets(
        [
            f"Compared with the paper's settings, the worst setting is {worst} and the best is "
            f"{best}. These are means over {len(names)} sets.",
            f"{count(small, len(found))} settings change the score by less than .01.",
            f"On single sets, {count(significant, len(p_values))} differences are significant (t "
            "test, Holm's correction).",
        ]
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
            texts.append(
                f"With {sizes} of the validation rows, MESA's score on {name} changes by {values}."
            )
    noisy = {"dataset": "mammography", "method": OWN, "k": 10, "noise": 0.25}
    if look.has(valid_noise=0.25, **noisy):
        gap = look.compare({**noisy, "valid_noise": 0.25}, noisy)
        texts.append(
            "A quarter of the training labels is flipped. If a quarter of the validation labels is "
            f"flipped too, the score changes by {_with_error(gap)}."
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
                f"If only {flips} labels are flipped, MESA has "
                f"{short(look.mean(method=OWN, **place))}. "
                f"The best other method, {title_of(best)}, has {short(others[best])}."
            )
    return bullets(texts)


def members_ahead(look: Look) -> tuple[int, int]:
    """Count the sets and kinds of members with which MESA leads UnderBagging and SPE, and all."""
    wins = total = 0
    for name in look.values("dataset", method=OWN):
        for base in look.values("base", dataset=name, method=OWN):
            place = {"dataset": name, "base": base, "k": 10}
            rivals = [m for m in ("under-bagging", "spe-paper") if look.has(method=m, **place)]
            if rivals and look.has(method=OWN, **place):
                total += 1
                best = max(look.mean(method=m, **place) for m in rivals)
                wins += look.mean(method=OWN, **place) > best
    return wins, total


def own_members(look: Look) -> str:
    wins, total = members_ahead(look)
    if not total:
        return ""
    text = "MESA uses a sampler that was meta-trained with trees. It is ahead of UnderBagging and "
    text += f"SPE in {count(wins, total)} combinations of members and sets. The last column shows "
    text += "how the score changes if the sampler was meta-trained with members of the same kind."
    others = ("constant-0.9", "under-bagging", "spe-paper")
    lines = []
    for name in look.values("dataset", method=OWN):
        for base in look.values("base", dataset=name, method=OWN):
            place = {"dataset": name, "base": base, "k": 10}
            scores = [
                short(look.mean(method=m, **place)) if look.has(method=m, **place) else ""
                for m in (OWN, *others)
            ]
            own = {"method": OWN, **place}
            gap = look.compare({**own, "meta_base": base}, own)
            lines.append([f"{base} on {name}", *scores, _with_error(gap) if gap.n else ""])
    header = ["members", "MESA", *map(title_of, others), "sampler of the same kind"]
    return f"{text}\n\n{text_table(header, lines)}"


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
        folds = [len(select(rows, {"dataset": n, "method": networks[0]})) for n in sets]
        fits = f"{min(folds)}" if min(folds) == max(folds) else f"{min(folds)} to {max(folds)}"
        texts.append(
            f"MESA of ten trees is ahead of all networks on {count(wins, len(sets))} sets, "
            f"{fits} split{'s' if max(folds) > 1 else ''} of each. Its mean score is "
            f"{short(float(average[0]))}. The best of the networks has "
            f"{short(float(average[best]))} ({name})."
        )
        if len(sets) > 1:
            texts.append(_each_network(networks, means))
    _, cpu = per_set_means(rows, [OWN, *networks], "total_cpu")
    if len(cpu):
        ratio = np.exp(np.log(cpu[:, 1:] / cpu[:, :1]).mean(axis=0))
        slow = int(np.argmax(ratio))
        texts.append(
            f"The slowest fit takes {ratio[slow]:.1f} times the CPU time of MESA with its "
            f"meta-training ({title_of(networks[slow])})."
        )
    return "\n\n".join(texts)


def _each_network(networks: list[str], means: np.ndarray) -> str:
    """Compare MESA, the first column, with each network, and each network with the plain one."""
    ahead = means[:, :1] - means[:, 1:]
    p_values = holm([float(wilcoxon(gap).pvalue) for gap in ahead.T])
    plain = networks.index("network") if "network" in networks else None
    lines = []
    for number, (method, p) in enumerate(zip(networks, p_values, strict=True)):
        text = f"{title_of(method)}: {ahead[:, number].mean():+.3f} (p = {p:.2g})"
        if plain is not None and number != plain:
            gap = float((ahead[:, plain] - ahead[:, number]).mean())
            text += f". It differs from the plain network by {gap:+.3f}"
        lines.append(text)
    head = "MESA's mean score minus that of each network (Wilcoxon test over the sets, Holm's "
    return f"{head}correction):\n\n{bullets(lines)}"


#: By the name of the spec.
REVIEW_SENTENCES = {
    "states": states,
    "seeds": seeds,
    "sensitivity": sensitivity,
    "validation-size": validation_size,
    "own-members": own_members,
    "deep": deep,
}
