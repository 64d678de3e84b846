"""Limits of parameters that several estimators have."""

from numbers import Integral, Real

from metasampler._sklearn_compat import Interval

__all__ = ["N_JOBS", "SAMPLING_RATIO"]

#: Zero means nothing to joblib, which says so only when there is work for it.
N_JOBS: list = [
    None,
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
]

#: More rows than anybody has; from here on products with numbers of rows may leave all types.
SAMPLING_RATIO: list = [Interval(Real, 0, 1e12, closed="right")]
