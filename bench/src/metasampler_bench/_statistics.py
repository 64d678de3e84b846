"""Describe samples: means with their standard errors, and measures of probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss

__all__ = [
    "calibration_error",
    "geometric_mean",
    "holm",
    "measure_probabilities",
    "paired",
    "set_means",
    "standard_error",
    "with_error",
]

#: Bins of the calibration error.
_N_BINS = 15


def standard_error(values: ArrayLike) -> float:
    """Return the standard error of a mean."""
    values = np.asarray(values)
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def paired(values: NDArray[Any], reference: NDArray[Any]) -> tuple[float, float]:
    """Return the mean difference and its standard error, with data sets as the units."""
    difference = values - reference
    return float(difference.mean()), standard_error(difference)


def with_error(difference: float, error: float | None = None, digits: int = 4) -> str:
    """Write a difference with its sign and, where there is one, its standard error."""
    text = f"{difference:+.{digits}f}"
    return text if error is None else f"{text} ± {error:.{digits}f}"


def geometric_mean(values: ArrayLike) -> float:
    """Return the geometric mean of positive numbers, as of ratios."""
    return float(np.exp(np.mean(np.log(values))))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's step-down method.

    Examples
    --------
    >>> from metasampler_bench._statistics import holm
    >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    highest = 0.0
    for place, number in enumerate(order):
        highest = max(highest, (len(p_values) - place) * p_values[number])
        corrected[number] = min(1.0, highest)
    return [float(p) for p in corrected]


def calibration_error(y: NDArray[Any], probability: NDArray[Any]) -> float:
    """Return the expected calibration error over bins of equal width."""
    bins = np.minimum((probability * _N_BINS).astype(int), _N_BINS - 1)
    gaps = np.bincount(bins, probability - y, _N_BINS)
    return float(np.abs(gaps).sum() / len(y))


def measure_probabilities(y: NDArray[Any], probability: NDArray[Any]) -> dict[str, float]:
    """Measure predicted probabilities of the positive class."""
    return {
        "Brier score": float(brier_score_loss(y, probability)),
        "log-loss": float(log_loss(y, probability, labels=[0, 1])),
        "calibration error": calibration_error(y, probability),
        "average precision": float(average_precision_score(y, probability)),
    }


def set_means(rows: Iterable[dict[str, Any]], value: str, **wanted: Any) -> NDArray[Any]:
    """Return the mean over the splits of each set, in the order of the sets' names."""
    chosen: dict[str, list[float]] = {}
    for row in rows:
        if all(row[key] == given for key, given in wanted.items()):
            chosen.setdefault(row["set"], []).append(row[value])
    return np.array([np.mean(chosen[name]) for name in sorted(chosen)])
