"""``metasampler samplers``: the samplers that come with the package."""

from __future__ import annotations

from typing import Any

from metasampler.cli._console import make_console


def samplers() -> None:
    """List the samplers that come with the package.

    `MesaClassifier(meta_sampler=NAME)` uses one of them.
    """
    from rich import box
    from rich.table import Table

    from metasampler import MetaSampler
    from metasampler.policy import pretrained_names

    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        caption="Gain: mean score on the tasks it was validated on, which also chose it, less that "
        "of the better constant mu (0.9 or 1.0); of boosters the relative score on tables of "
        "families it has not learned from, less that of the best constant mu.",
        caption_justify="left",
    )
    for column in ("name", "learner", "state", "estimator", "tasks", "gain", "date"):
        table.add_column(column, no_wrap=column != "estimator")
    for name in pretrained_names():
        sampler = MetaSampler.load(name)
        card = sampler.summary_
        table.add_row(
            name,
            "-" if sampler.learner is None else type(sampler.learner).__name__,
            sampler.state,
            str(card.get("estimator", "-")),
            str(len(card.get("tasks", []))),
            _gain(card),
            str(card.get("date", "-")),
        )
    make_console().print(table)


def _gain(card: dict[str, Any]) -> str:
    if tested := card.get("cross_validated_by_family"):
        return f"{tested['relative_score'] - tested['best_constant_mu']:+.3f}"
    validation = card.get("validation")
    if not validation:
        return "-"
    chosen = next(r for r in validation["rounds"] if r["round"] == validation["chosen_round"])
    constants = validation["constants"].values()
    best = max(sum(scores.values()) / len(scores) for scores in constants)
    return f"{chosen['mean'] - best:+.3f}"
