"""The rules that rows are drawn by: how errors change the random keys of a larger class.

A rule is what a policy returns. It is called once for every larger class, with `Candidates` and the
number of rows to draw, and returns the positions of the drawn ones.
"""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from metasampler.growth._draw import Candidates, draw_rows

__all__ = [
    "DEFAULT_SIGMA",
    "GaussianDraw",
    "PowerDraw",
    "as_rule",
    "gaussian_log_weights",
    "hardest_rows",
    "make_draw",
    "spread_action",
]

#: Width of the Gaussian over errors that the paper recommends.
DEFAULT_SIGMA = 0.2

#: The power of action 1; action 0 draws uniformly.
_MAX_POWER = 6.0

# A draw with a smaller power cannot be told from a uniform one, which needs no errors.
_LEAST_POWER = 0.1

# Added to errors: among rows that are easy anyway nothing depends on how easy they are.
_FLOOR = 0.1


class GaussianDraw(NamedTuple):
    """Draw rows of the larger classes whose error is close to mu (Eq. 3).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.growth import GaussianDraw
    >>> def policy(growth):
    ...     return GaussianDraw(mu=0.7, sigma=0.1)  # a narrow Gaussian
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(recipe="fast", meta_sampler=policy, random_state=0).fit(X, y)
    >>> float(clf.actions_[0])
    0.7
    """

    #: The error that the draw favours, in [0, 1], and the width of the Gaussian.
    mu: float
    sigma: float = DEFAULT_SIGMA
    #: What the policy saw when it chose mu.
    state: np.ndarray | None = None

    def __call__(self, candidates: Candidates, size: int) -> np.ndarray:
        """Return which of the candidates are drawn."""
        return draw_rows(self.keys(candidates.keys, candidates.errors), size)

    def keys(self, keys: np.ndarray, errors, nearest: float | None = None) -> np.ndarray:
        """Return random keys that are smaller for rows with larger weights.

        ``nearest`` is the smallest squared distance to mu, if these are not all rows.
        """
        return keys - gaussian_log_weights(errors, self.mu, self.sigma, nearest)

    def nearest(self, errors: np.ndarray) -> float:
        """Return the smallest squared distance to mu; infinity without rows."""
        return float(((errors - self.mu) ** 2).min(initial=np.inf))


def gaussian_log_weights(errors, mu: float, sigma: float, nearest=None) -> np.ndarray:
    """Return the logarithm of the sampling weight of each row, relative to the largest.

    The weight is a Gaussian over the row's error with centre ``mu`` and width ``sigma``
    (Eq. 3). Its logarithm cannot underflow, even if the Gaussian is narrow. The draw needs only the
    logarithm.
    """
    log_weights = errors - mu
    log_weights *= log_weights
    # Relative to the best row: equal rows then have weight 1, whatever the width.
    log_weights -= log_weights.min() if nearest is None else nearest
    # Divided twice, and bounded: the square of the width may be too small or large for a float.
    log_weights *= -min(0.5 / sigma / sigma, 1e300)
    return log_weights


class PowerDraw(NamedTuple):
    """Draw rows of the larger classes with weights ``(error + 0.1) ** power``.

    One number says how hard a draw is. At 0 it is uniform; at 1 rows count by the size of their
    gradient in boosting, as far as they are not easy anyway; at 6 nearly all rows that are drawn
    are the hardest ones.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler import MesaClassifier
    >>> from metasampler.growth import PowerDraw
    >>> def harder_and_harder(growth):
    ...     return PowerDraw(power=0.5 * growth.n_members)
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> clf = MesaClassifier(meta_sampler=harder_and_harder, random_state=0).fit(X, y)
    >>> [float(power) for power in clf.actions_[:3]]
    [0.5, 1.0, 1.5]
    """

    power: float
    #: What the policy saw when it chose the power.
    state: np.ndarray | None = None

    def __call__(self, candidates: Candidates, size: int) -> np.ndarray:
        """Return which of the candidates are drawn."""
        return draw_rows(self.keys(candidates.keys, candidates.errors), size)

    def keys(self, keys: np.ndarray, errors) -> np.ndarray:
        """Return random keys that are smaller for rows with larger weights."""
        return keys - self.power * np.log(errors + _FLOOR)


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


def as_rule(chosen: Any, policy: Any) -> Any:
    """Return the rule that a policy chose; a number in [0, 1] is the mu of a `GaussianDraw`."""
    if chosen is None or callable(chosen):
        return chosen
    allowed = "a mu in [0, 1], GaussianDraw(mu), PowerDraw(power) or None for a uniform draw"
    if not isinstance(chosen, Real) or isinstance(chosen, bool):
        raise TypeError(f"The policy {policy!r} must return {allowed}; got {chosen!r}.")
    if not 0 <= float(chosen) <= 1:
        raise ValueError(f"The policy {policy!r} must return {allowed}; got {chosen!r}.")
    return GaussianDraw(float(chosen))


def hardest_rows(errors: np.ndarray, ties: np.ndarray, size: int) -> np.ndarray:
    """Return the positions of the ``size`` largest errors, in ascending order.

    Among equal errors the rows with the smallest keys ``ties`` count.
    """
    if size >= len(errors):
        return np.arange(len(errors))
    limit = np.partition(errors, len(errors) - size)[len(errors) - size]
    harder, tied = np.flatnonzero(errors > limit), np.flatnonzero(errors == limit)
    chosen = tied[draw_rows(ties[tied], size - len(harder))]
    return np.sort(np.concatenate([harder, chosen]))
