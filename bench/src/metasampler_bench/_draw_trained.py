"""What policies that were trained on ensembles score on families they have not learned from.

Trainings say which power they choose at some signals. So a policy is judged by the stored scores of
constant powers, on the half of the families that it has not seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from metasampler.growth import spread_action
from metasampler_bench._draw_cases import Cases, Floats
from metasampler_bench._draw_training import HALVES, SIGNALS, TRAINERS, half_of, trainer_of
from metasampler_bench._rows import Row, finished

__all__ = ["Trained", "trained"]

# Steps of the action by which powers are turned back into actions.
_GRID = np.linspace(0, 1, 2001)
_POWERS = [float(spread_action(action, 0.0, "power")) for action in _GRID]

# Actions of 0 and 1 would be infinite before they are squashed.
_MARGIN = 1e-4


class Trained(NamedTuple):
    """How several trainings of one trainer do.

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


def trained(rows: list[Row], cases: Cases) -> dict[str, Trained]:
    """Return how the trainings of each trainer do on the half of the families they have not seen.

    Parameters
    ----------
    rows : list of dict
        With those of the trainings.
    cases : Cases
        Where they are tested.

    Returns
    -------
    found : dict of Trained
        By trainer; those without a seed that has both halves are left out.
    """
    halves = np.array([half_of(family) for family in cases.families])
    found = {}
    for name in TRAINERS:
        own = [row for row in finished(rows) if trainer_of(row["cell"]) == name]
        used: list[Row] = []
        actions: list[Floats] = []
        for run in sorted({row["cell"]["run"] for row in own}):
            by_half = {row["cell"]["families"]: row for row in own if row["cell"]["run"] == run}
            if len(by_half) == len(HALVES):
                chosen = np.empty(len(cases))
                for half, row in by_half.items():
                    signals = cases.numbers["signal"][halves != half]
                    chosen[halves != half] = _actions_at(signals, row["powers"])
                actions.append(chosen)
                used += by_half.values()
        if actions:
            # Means of squashed Gaussians are averaged before they are squashed.
            inner = np.clip(actions, _MARGIN, 1 - _MARGIN)
            mean = np.tanh(np.arctanh(2 * inner - 1).mean(axis=0))
            found[name] = Trained(
                [cases.scores_of(each) for each in actions],
                cases.scores_of((mean + 1) / 2),
                sum(row["n_episodes"] for row in used),
                sum(row["cpu"] for row in used) / 3600,
            )
    return found


def _actions_at(signals: Floats, powers: list[float]) -> Floats:
    """Return the actions of a policy that is known by its powers at some signals."""
    chosen = np.interp(np.log(signals), np.log(SIGNALS), powers)
    return np.interp(chosen, _POWERS, _GRID)
