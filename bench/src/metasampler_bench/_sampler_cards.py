"""Write the cards of the samplers that ship with the library, of what their files say."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from metasampler import MetaSampler
from metasampler.policy import pretrained_names
from metasampler_bench._look import listed, short, text_table

__all__ = ["SAMPLER_CARDS"]

#: Those that a fit takes by itself.
_USUAL = ("boosters", "universal")
#: A large task.
_MANY = 7000


def _table(lines: dict[str, str]) -> str:
    return text_table(["", ""], [[name, text] for name, text in lines.items()]).replace(
        "---:|", "---|"
    )


def _made(card: dict, command: str) -> str:
    return f"`{command}`; seed {card['seed']}, {card['date']}, commit {card['commit']}"


def universal() -> str:
    """Say how the sampler for trees was trained."""
    sampler = MetaSampler.load("universal")
    card, trainer = sampler.summary_, sampler.trainer
    names = [task["name"] for task in card["tasks"]]
    sets = {re.split(r"[:%@]", name)[0] for name in names}
    flipped = [name for name in names if "@" in name]
    thinned = [name for name in names if "%" in name and "@" not in name]
    levels = [float(name.rpartition("@")[2]) for name in flipped]
    sizes = sorted({sum(task["train_rows"]) for task in card["tasks"]})
    many = sum(sum(task["train_rows"]) > _MANY for task in card["tasks"])
    judged = card["validation"]
    chosen = next(r for r in judged["rounds"] if r["round"] == judged["chosen_round"])
    constants = {
        mu: float(np.mean(list(scores.values()))) for mu, scores in judged["constants"].items()
    }
    others = [f"{short(score)} (mu {float(mu):g})" for mu, score in constants.items()]
    return _table(
        {
            "made by": _made(card, "bench/samplers/universal.sh"),
            "trainer": f"`{type(trainer).__name__}`: {trainer.n_constants} constants, from mu "
            f"{sampler.mu_min:g} to 1, on every task",
            "policy": "a squashed linear function of the state, mu in "
            f"[{sampler.mu_min:g}, 1]; the state is `{sampler.state}`, "
            f"{sampler.encoder_.size} numbers",
            "tasks": f"{len(names)} from {len(sets)} data sets, {card['splits']} splits each: "
            f"{len(names) - len(flipped) - len(thinned)} as they are, {len(thinned)} with a "
            f"thinned minority, and {len(flipped)} with {min(levels):.0%} to {max(levels):.0%} "
            "flipped labels",
            "sizes": f"{sizes[0]:,} to {sizes[-1]:,} training rows; {many} tasks have more "
            f"than {_MANY:,}",
            "chosen by": f"{len(chosen['scores'])} validation tasks: the mean is "
            f"{short(chosen['mean'])}; constants have {listed(others)}",
            "not among them": "the families of imbalanced-learn's sets, and those of "
            "`leaderboard-large`",
            "limits": "two classes, plain trees, mostly small data",
        }
    )


def boosters() -> str:
    """Say how the sampler for boosters was trained."""
    sampler = MetaSampler.load("boosters")
    card, trainer = sampler.summary_, sampler.trainer
    more = [
        f"{number} with {name.removesuffix(', splits')}"
        for name, number in card["varieties"].items()
    ]
    return _table(
        {
            "made by": _made(card, card["command"]) + f"; rows of `{card['rows']}`",
            "trainer": f"`{type(trainer).__name__}`: {trainer.n_constants} powers on every table",
            "policy": f"a squashed linear function of the state; {card['state']}",
            "action": card["action"],
            "tasks": f"{len(card['tasks'])} tables of {card['families']} families, "
            f"{card['splits']} splits as they are, {listed(more)}",
            "cost": f"{card['cpu_hours']:g} CPU hours for the draws it learned from",
            "members": f"the {sampler.n_estimators} boosters of the default; another kind of "
            "members warns",
            "limits": card["limits"],
        }
    )


def others() -> str:
    """Name the samplers that nothing takes by itself."""
    names = [f"`{name}`" for name in pretrained_names() if name not in _USUAL]
    return f"The package also has {listed(names)}, which nothing takes by itself."


#: By the name of a place on the page.
SAMPLER_CARDS: dict[str, Callable[[], str]] = {
    "card-universal": universal,
    "card-boosters": boosters,
    "other-samplers": others,
}
