"""Weights of rows: which are valid, their unit, and sums that do not depend on partitions."""

from fractions import Fraction

import numpy as np

__all__ = [
    "MANY_ROWS",
    "check_spread",
    "check_weights",
    "exact_sum",
    "member_weights",
    "ratios_to",
    "total_of",
    "weigh_classes",
]

#: Up to this many numbers NumPy adds up in the order of rows. For more numbers the sum is exact, so
#: it does not depend on how rows are cut into partitions.
MANY_ROWS = 300_000

# Beyond it sums of weights lose the small ones.
_LARGEST_SPREAD = 1e12


def check_weights(weights: np.ndarray) -> None:
    """Refuse weights of some rows that are negative or not finite."""
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("Weights of rows must be finite numbers, none below zero.")


def check_spread(least: float, most: float, name: str = "sample_weight") -> None:
    """Refuse positive weights whose sums would lose the small ones."""
    with np.errstate(over="ignore"):
        spread = np.float64(most) / least
    if not spread <= _LARGEST_SPREAD:
        raise ValueError(
            f"{name} lies between {least:.3g} and {most:.3g}; the largest may be at most "
            f"{_LARGEST_SPREAD:.0e} times the smallest, or sums would lose the small ones. A "
            "weight of zero leaves its row out."
        )


def ratios_to(weights: np.ndarray, least: float) -> np.ndarray:
    """Return positive weights as ratios to the smallest.

    Their unit must not matter, not even in the last bits, which would lead to another ensemble:
    the ratios are rounded to 30 bits. Weights that are small multiples of the smallest stay what
    they are.
    """
    mantissas, exponents = np.frexp(weights / least)
    return np.ldexp(np.round(np.ldexp(mantissas, 30)), exponents - 30)


def member_weights(
    weights: np.ndarray | None,
    codes: np.ndarray,
    means: dict[int, float],
    class_factors: np.ndarray | None = None,
) -> np.ndarray | None:
    """Return the weights of sampled rows in a member; None if all count the same.

    ``means`` are the mean weights of the classes that are drawn from. There the rows' own weights
    have counted in the draw: each sampled row stands for rows of the mean weight of its class.
    """
    if weights is not None:
        weights = weights.astype(float)
        for k, mean in means.items():
            weights[codes == k] = mean
    return weigh_classes(weights, codes, class_factors)


def weigh_classes(
    weights: np.ndarray | None, codes: np.ndarray, class_factors: np.ndarray | None
) -> np.ndarray | None:
    """Return weights of rows times a factor for each class; None stands for ones."""
    if class_factors is None:
        return weights
    factors = class_factors[codes]
    return factors if weights is None else weights * factors


def total_of(numbers: np.ndarray) -> float:
    """Return the sum of numbers, by the rule that holds for all sums over rows."""
    return float(numbers.sum() if len(numbers) <= MANY_ROWS else exact_sum(numbers))


def exact_sum(numbers: np.ndarray) -> Fraction:
    """Return the exact sum of numbers."""
    mantissas, exponents = np.frexp(numbers)
    whole = (mantissas * 2.0**53).astype(np.int64)
    total = Fraction(0)
    for exponent in np.unique(exponents):
        of = whole[exponents == exponent]
        # In two halves, so that no sum of 64-bit integers can run over.
        high, low = int((of >> 26).sum()), int((of & (2**26 - 1)).sum())
        total += (high * 2**26 + low) * Fraction(2) ** (int(exponent) - 53)
    return total
