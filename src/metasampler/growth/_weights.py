"""Weights of rows: which are proper, their unit, and sums that do not depend on parts."""

from fractions import Fraction

import numpy as np

#: Up to so many numbers NumPy sums up, in the order of rows. Of more the sum is exact: it does not
#: depend on how rows are cut into parts.
MANY_ROWS = 300_000

# Beyond it sums of weights lose the small ones.
_LARGEST_SPREAD = 1e12


def check_weights(weights: np.ndarray) -> None:
    """Refuse weights of some rows that are negative or no numbers."""
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


def group_sums(groups: np.ndarray, numbers: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the sum of each group's numbers, by the rule that holds for all sums over rows."""
    if len(numbers) <= MANY_ROWS:
        return np.bincount(groups, weights=numbers, minlength=n_groups)
    return np.array(exact_group_sums(groups, numbers, n_groups), dtype=float)


def exact_group_sums(groups: np.ndarray, numbers: np.ndarray, n_groups: int) -> list[Fraction]:
    """Return the exact sum of the numbers of each group."""
    return [exact_sum(numbers[groups == group]) for group in range(n_groups)]
