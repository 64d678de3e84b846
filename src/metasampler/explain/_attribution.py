"""Sums of contributions, carried through the functions that lead from members to log-odds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["Attribution"]

# Values that differ by less, relative to their size, get a function's slope in place of a secant.
_CLOSE, _STEP = 1e-9, 1e-5

_SMALLEST = np.finfo(float).tiny


@dataclass(frozen=True)
class Attribution:
    """Values, their base, and what each column adds: ``value == base + parts.sum(axis=1)``.

    A sum of attributions adds up. Through a function f all parts are multiplied by the secant
    (f(value) - f(base)) / (value - base), so they add up to f(value) - f(base).

    Attributes
    ----------
    value, base : ndarray of shape (n_values, n_samples)
        What is explained, and what it is when nothing is known of a row.
    parts : ndarray of shape (n_values, n_columns, n_samples)
        What each column adds.
    """

    value: np.ndarray
    base: np.ndarray
    parts: np.ndarray

    def through(self, function: Callable[[np.ndarray], np.ndarray]) -> Attribution:
        """Return the attribution of an increasing function of each value."""
        value, base = function(self.value), function(self.base)
        change = self.value - self.base
        size = np.abs(self.value) + np.abs(self.base) + _SMALLEST
        is_close = np.abs(change) <= _CLOSE * size
        if is_close.any():
            step = _STEP * size
            slope = (function(self.value + step) - function(self.value - step)) / (2 * step)
            secant = np.where(is_close, slope, (value - base) / np.where(is_close, 1, change))
        else:
            secant = (value - base) / change
        return Attribution(value, base, self.parts * secant[:, np.newaxis])

    def __add__(self, other: Attribution) -> Attribution:
        return Attribution(
            self.value + other.value, self.base + other.base, self.parts + other.parts
        )

    def __sub__(self, other: Attribution) -> Attribution:
        return self + other * -1.0

    def __mul__(self, factor: float) -> Attribution:
        return Attribution(self.value * factor, self.base * factor, self.parts * factor)

    def only(self, rows) -> Attribution:
        """Return some of the values."""
        return Attribution(self.value[rows], self.base[rows], self.parts[rows])

    def of_rows(self, rows) -> Attribution:
        """Return the values of some rows."""
        return Attribution(self.value[:, rows], self.base[:, rows], self.parts[:, :, rows])

    def log_sum_exp(self) -> Attribution:
        """Return the logarithm of the sum of exponentials, as a single value."""
        # Shifted so that no exponential overflows.
        shift = np.maximum(self.value.max(axis=0), self.base.max(axis=0))
        shifted = Attribution(self.value - shift, self.base - shift, self.parts).through(np.exp)
        total = Attribution(
            shifted.value.sum(axis=0, keepdims=True),
            shifted.base.sum(axis=0, keepdims=True),
            shifted.parts.sum(axis=0, keepdims=True),
        ).through(lambda sums: np.log(np.maximum(sums, _SMALLEST)))
        return Attribution(total.value + shift, total.base + shift, total.parts)

    def log_softmax(self) -> Attribution:
        """Return the logarithm of each value's softmax."""
        return self - self.log_sum_exp()
