"""The rules that rows are drawn by, and the errors that they look at.

A rule is what a policy returns: ``rule(growth, candidates, size)`` is called once for every larger
class, and chooses so many of its rows.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metasampler.growth._data import Part
from metasampler.growth._draw import DEFAULT_SIGMA, Candidates, Choice, Request
from metasampler.growth._merging import last_of_largest
from metasampler.growth._pieces import find_rows

if TYPE_CHECKING:
    from metasampler.growth._loop import Growth

#: The power of action 1; action 0 draws uniformly.
_MAX_POWER = 6.0

# Nobody can tell such a draw from a uniform one, which needs no errors.
_LEAST_POWER = 0.1

# Added to errors: among rows that are easy anyway nothing depends on how easy they are.
_FLOOR = 0.1


class Sums(NamedTuple):
    """What a growth knows of the rows of one part: sums of the members' probabilities."""

    #: Of all rows, by the members as they are. Two classes need the probability of class 1 only.
    total: np.ndarray
    #: Of the watched rows of a role, by soft leaves; empty if there are none.
    soft: dict[str, np.ndarray]

    def class_errors(self, rows: np.ndarray, k: int, n_members: int) -> np.ndarray:
        """Return 1 - p(true class) of rows of one class, as a new array."""
        if self.total.ndim == 1:
            errors = self.total[rows]
            if k == 1:
                # Sums before the division: they are exact where leaves are pure.
                np.subtract(n_members, errors, out=errors)
        else:
            errors = n_members - self.total[rows, k]
        errors /= n_members
        return errors


#: Chooses rows of one larger class: ``rule(growth, candidates, size)``; see `GaussianDraw`.
Rule = Callable[["Growth", Candidates, int], Choice]


class GaussianDraw(NamedTuple):
    """Draw rows of the larger classes whose error is close to mu (Eq. 3).

    This is the rule that a policy returns: a growth calls it once for every larger class.
    """

    #: The error that the draw favours, in [0, 1], and the width of the Gaussian.
    mu: float
    sigma: float = DEFAULT_SIGMA
    #: What the policy saw when it chose mu.
    state: np.ndarray | None = None

    def __call__(self, growth: "Growth", candidates: Candidates, size: int) -> Choice:
        """Return which of the candidates are drawn."""
        # Weights are relative to the best row of all, wherever it is.
        parted = candidates.are_parted
        least = candidates.least(_squared_distance, self.mu) if parted else None
        return candidates.smallest(size, _gaussian_keys, self.mu, self.sigma, least)


def _squared_distance(errors: np.ndarray, mu: float) -> np.ndarray:
    errors -= mu
    errors *= errors
    return errors


def _gaussian_keys(keys, errors, mu: float, sigma: float, least: float | None) -> np.ndarray:
    keys -= gaussian_log_weights(errors, mu, sigma, least, out=errors)
    return keys


def gaussian_log_weights(errors, mu: float, sigma: float, least=None, out=None) -> np.ndarray:
    """Return the logarithm of the sampling weight of each row, relative to the largest.

    The weight is a Gaussian over the row's error with centre ``mu`` and width ``sigma``
    (Eq. 3). Its logarithm cannot underflow, even if the Gaussian is narrow. The draw needs only the
    logarithm. ``least`` is the smallest squared distance to ``mu``, if these are not all rows.
    """
    log_weights = np.subtract(errors, mu, out=out)
    log_weights *= log_weights
    # Relative to the best row: equal rows then have weight 1, whatever the width.
    log_weights -= log_weights.min() if least is None else least
    # Divided twice, and bounded: the square of the width may be too small or large for a float.
    log_weights *= -min(0.5 / sigma / sigma, 1e300)
    return log_weights


class PowerDraw(NamedTuple):
    """Draw rows of the larger classes with weights ``(error + 0.1) ** power``.

    One number says how hard a draw is. At 0 it is uniform; at 1 rows count by the size of their
    gradient in boosting, as far as they are not easy anyway; at 6 nearly all rows that are drawn
    are the hardest ones.
    """

    power: float
    #: What the policy saw when it chose the power.
    state: np.ndarray | None = None

    def __call__(self, growth: "Growth", candidates: Candidates, size: int) -> Choice:
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


# ---------------------------------------------------------------------- pools


def hardest_rows(candidates: Candidates, size: int, key: np.ndarray) -> list:
    """Return a pool to draw from: parts whose training rows are those with the largest errors.

    There are at least ``size`` candidates. Of rows with equal errors those with the smallest random
    keys count, which come from ``key``. The parts hold no tables, only which rows they are.
    """
    place, parts, request = candidates.place, candidates.parts, candidates.request
    sums = candidates.sums()
    limit, n_larger = last_of_largest(place, parts, sums, request, size)
    by_lot = request._replace(key=key, number=0, weighted=False)
    tied = Candidates(place, parts, by_lot, candidates.sums)
    chosen = find_rows(place, parts, tied.smallest(size - n_larger, _keys_at, limit))
    return place.make(_harder_rows, parts, sums, chosen, args=(request, limit))


def _keys_at(keys: np.ndarray, errors: np.ndarray, error: float) -> np.ndarray:
    """Return the keys of rows with one error; those of others come last."""
    keys[errors != error] = np.inf
    return keys


def _harder_rows(part: Part, sums, chosen: np.ndarray, request: Request, limit: float) -> Part:
    """Return which rows of a request have larger errors, and those that are chosen besides."""
    rows = part.rows_of(request.k, request.fold, request.role)
    harder = rows[sums.class_errors(rows, request.k, request.n_members) > limit]
    return replace(part, table=None, roles={"train": np.sort(np.concatenate([harder, chosen]))})
