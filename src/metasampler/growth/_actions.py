"""What the action of a policy means: the mu of a Gaussian over errors, or a power of errors."""

from typing import NamedTuple

import numpy as np

from metasampler.growth._candidates import Candidates
from metasampler.growth._loop import GaussianDraw, Growth

__all__ = ["PowerDraw", "make_draw", "spread_action"]


#: The power of action 1; action 0 draws uniformly.
_MAX_POWER = 6.0

# Nobody can tell such a draw from a uniform one, which needs no errors.
_LEAST_POWER = 0.1

# Added to errors: among rows that are easy anyway nothing depends on how easy they are.
_FLOOR = 0.1


class PowerDraw(NamedTuple):
    """Draw rows of the larger classes with weights ``(error + 0.1) ** power``.

    One number says how hard a draw is. At 0 it is uniform; at 1 rows count by the size of their
    gradient in boosting, as far as they are not easy anyway; at 6 nearly all rows that are drawn
    are the hardest ones.

    Parameters
    ----------
    power : float
        At least 0.
    state : ndarray, default=None
        What the policy saw when it chose the power.

    Examples
    --------
    >>> from metasampler.growth import PowerDraw
    >>> PowerDraw(2.0).power
    2.0
    """

    power: float
    state: np.ndarray | None = None

    def __call__(self, growth: Growth, candidates: Candidates, size: int) -> list:
        """Return which of the candidates are drawn."""
        return candidates.smallest(size, _power_keys, self.power)


def _power_keys(keys: np.ndarray, errors: np.ndarray, power: float) -> np.ndarray:
    errors += _FLOOR
    np.log(errors, out=errors)
    errors *= power
    keys -= errors
    return keys


def spread_action(action, mu_min: float, kind: str = "mu"):
    """Return what an action in [0, 1] means: a mu in [mu_min, 1], or a power from 0 to 6."""
    if kind == "power":
        return (1 + _MAX_POWER) ** action - 1
    return mu_min + (1 - mu_min) * action


def make_draw(
    value: float, kind: str, sigma: float, state: np.ndarray | None
) -> GaussianDraw | PowerDraw | None:
    """Return the rule of a mu or power, as `spread_action` gives it; None is a uniform draw."""
    if kind == "mu":
        return GaussianDraw(value, sigma, state)
    return PowerDraw(value, state) if value >= _LEAST_POWER else None
