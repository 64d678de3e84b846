"""What policies that were trained on ensembles score on families they have not learned from.

Trainings say which power they choose at some signals. So a policy is judged by the stored scores of
constant powers, on the half of the families that it has not seen; one that was trained on all
families is judged on other data sets alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from metasampler.growth import spread_action
from metasampler.policy import GaussianPolicy
from metasampler_bench._draw_cases import Cases, Floats
from metasampler_bench._draw_training import ALL, HALVES, LEARNERS, SIGNALS, as_one, half_of
from metasampler_bench._rows import Row, finished
from metasampler_bench.datasets import REAL_FAMILIES

__all__ = ["OWN", "Trained", "policy_of_all", "trained", "trained_by_name"]

#: What comes along: its learner, and the part of the labels that were flipped in training.
OWN = "soft actor-critic", 0.0

# Steps of the action by which powers are turned back into actions.
_GRID = np.linspace(0, 1, 2001)
_POWERS = [float(spread_action(action, 0.0, "power")) for action in _GRID]

# Actions of 0 and 1 would be infinite before they are squashed.
_MARGIN = 1e-4


class Trained(NamedTuple):
    """How several trainings of one learner do.

    Attributes
    ----------
    each : list of ndarray of shape (n_cases,)
        Scores of each training alone.
    as_one : ndarray of shape (n_cases,)
        Scores of the one policy that is the mean of all.
    n_episodes : int
        Of all trainings together.
    cpu : float
        Hours of all together, with those of the scouts.
    """

    each: list[Floats]
    as_one: Floats
    n_episodes: int
    cpu: float


def trained(rows: list[Row], cases: Cases, learner: str, noise: float = 0.0) -> Trained | None:
    """Return how the trainings of a learner do; None without one that knows all cases.

    Parameters
    ----------
    rows : list of dict
        With those of the trainings.
    cases : Cases
        Where they are tested.
    learner : str
        A name of `LEARNERS`.
    noise : float
        The part of the labels that were flipped in every second task.
    """
    own = _trainings(rows, learner, noise)
    parts = np.array([_judged_by(family) for family in cases.families])
    needed = set(parts.tolist())
    by_run: dict[int, dict[str, Row]] = {}
    for row in own:
        by_run.setdefault(row["cell"]["run"], {})[row["cell"]["families"]] = row
    whole = [found for _, found in sorted(by_run.items()) if found.keys() >= needed]
    if not whole or not len(cases):
        return None
    actions = np.empty((len(whole), len(cases)))
    for place, found in enumerate(whole):
        for part in needed:
            tested = parts == part
            signals = cases.numbers["signal"][tested]
            actions[place, tested] = _actions_at(signals, found[part]["powers"])
    # Means of squashed Gaussians are averaged before they are squashed, as `as_one` does.
    before = np.arctanh(2 * np.clip(actions, _MARGIN, 1 - _MARGIN) - 1).mean(axis=0)
    used = [row for found in whole for part, row in found.items() if part in needed]
    return Trained(
        [cases.scores_of(each) for each in actions],
        cases.scores_of((np.tanh(before) + 1) / 2),
        sum(row["n_episodes"] for row in used),
        sum(row["cpu"] for row in used) / 3600,
    )


def trained_by_name(rows: list[Row], cases: Cases) -> dict[str, Trained]:
    """Return how all trainings do that there are rows of, with and without flipped labels."""
    found = {}
    for learner in LEARNERS:
        for noise in sorted({row["cell"].get("noise", 0.0) for row in _trainings(rows, learner)}):
            result = trained(rows, cases, learner, noise)
            if result is not None:
                found[f"{learner}, also from flipped labels" if noise else learner] = result
    return found


def policy_of_all(
    rows: list[Row], learner: str = OWN[0], noise: float = OWN[1]
) -> tuple[GaussianPolicy, list[Row]] | None:
    """Return the mean of all trainings on all families, and their rows; None without any."""
    used = [row for row in _trainings(rows, learner, noise) if row["cell"]["families"] == ALL]
    if not used:
        return None
    used.sort(key=lambda row: row["cell"]["run"])
    return as_one([_policy_of(row["layers"]) for row in used]), used


def _policy_of(layers: Sequence[Any]) -> GaussianPolicy:
    weights, biases = zip(*layers, strict=True)
    return GaussianPolicy.from_layers(
        *([np.asarray(part, np.float32) for part in parts] for parts in (weights, biases))
    )


def _trainings(rows: list[Row], learner: str, noise: float | None = None) -> list[Row]:
    return [
        row
        for row in finished(rows)
        if row["cell"].get("setting") == f"learner={learner}"
        and (noise is None or row["cell"].get("noise", 0.0) == noise)
    ]


def _judged_by(family: str) -> str:
    """Return the part of the families that a policy for this one has learned from."""
    if family not in REAL_FAMILIES.values():
        return ALL
    first, second = HALVES
    return second if half_of(family) == first else first


def _actions_at(signals: Floats, powers: list[float]) -> Floats:
    """Return the actions of a policy that is known by its powers at some signals."""
    chosen = np.interp(np.log(signals), np.log(SIGNALS), powers)
    return np.interp(chosen, _POWERS, _GRID)
