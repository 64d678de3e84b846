"""Tell the spread over meta-trainings from the spread over splits, and count collapses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from metasampler_bench._paired import at, by_split
from metasampler_bench._rows import Row, axis_order, finished, row_value, select
from metasampler_bench._spec import Spec
from metasampler_bench._tables import ResultTable

__all__ = ["Spread", "spread", "spreads"]


class Spread(NamedTuple):
    """What several meta-trainings on the same splits give."""

    dataset: str
    n_splits: int
    n_trainings: int
    mean: float
    within: float  # standard deviation over meta-trainings on the same split
    between: float  # standard deviation over splits, of their means
    collapsed: int  # meta-trainings below uniformly random mu on the same split
    below_uniform: int  # below uniform draws
    worst: float  # largest loss against uniformly random mu
    lowest_mu: float  # of the means over a fit: a policy that has lost its way shows here
    highest_mu: float


def spreads(spec: Spec, rows: list[Row]) -> list[Spread]:
    """Return the spread on every data set that has several meta-trainings a split."""
    found = []
    learned = finished(select(rows, {"method": "mesa-fit"}))
    for name in axis_order(spec, "dataset", (row["cell"]["dataset"] for row in learned)):
        splits: dict[tuple[int, int], list[float]] = {}
        for row in select(learned, {"dataset": name}):
            splits.setdefault((row["cell"]["run"], row["cell"]["fold"]), []).append(row["score"])
        random = by_split(at(rows, {"dataset": name, "method": "random-mu"}))
        uniform = by_split(at(rows, {"dataset": name, "method": "uniform-draws"}))
        known = [place for place in splits if place in random and place in uniform]
        if not known or min(len(splits[place]) for place in known) < 2:
            continue
        losses = [random[place] - score for place in known for score in splits[place]]
        under = sum(score < uniform[place] for place in known for score in splits[place])
        means = [np.mean(splits[place]) for place in known]
        found.append(
            Spread(
                name,
                len(known),
                len(losses),
                float(np.mean(means)),
                float(np.sqrt(np.mean([np.var(splits[place], ddof=1) for place in known]))),
                float(np.std(means, ddof=1)) if len(means) > 1 else float("nan"),
                int(np.sum(np.array(losses) > 0)),
                int(under),
                float(max(losses)),
                *_mu_span(select(learned, {"dataset": name})),
            )
        )
    return found


def _mu_span(rows: list[Row]) -> tuple[float, float]:
    """Return the lowest and the highest mean mu of some fits; NaN if no actions are stored."""
    mus = [mu for row in rows if (mu := row_value(row, "mu_mean")) is not None]
    return (min(mus), max(mus)) if mus else (float("nan"), float("nan"))


def spread(spec: Spec, rows: list[Row], report: dict[str, Any]) -> ResultTable:
    """Show the spreads and the collapses, a line for each data set."""
    lines = [
        [
            each.dataset,
            f"{each.mean:.3f}",
            f"{each.within:.3f}",
            "-" if np.isnan(each.between) else f"{each.between:.3f}",
            f"{each.collapsed} of {each.n_trainings}",
            f"{each.below_uniform} of {each.n_trainings}",
            f"{each.worst:+.3f}",
            "-" if np.isnan(each.lowest_mu) else f"{each.lowest_mu:.2f} to {each.highest_mu:.2f}",
            f"{each.n_splits}",
        ]
        for each in spreads(spec, rows)
    ]
    header = ["dataset", "average precision", "SD over meta-trainings", "SD over splits"]
    header += ["below random mu", "below uniform draws", "largest loss to random mu", "mean mu"]
    header += ["splits"]
    return ResultTable.from_texts(
        f"{spec.title}: spread",
        header,
        lines,
        "The first deviation is over meta-trainings on the same rows, pooled over the splits. The "
        "second is over the means of the splits. Random mu and uniform draws have one fit on each "
        "split. If this fit was lucky, all meta-trainings are below it.",
    )
