"""The paper's data in two dimensions, for looking at what a method does."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons

__all__ = ["ARCH_NOISE", "make_arch"]

#: Standard deviation of the noise at each level of overlap. With 2,000 and 200 rows, 25 nearest
#: neighbours reach a cross-validated average precision of about .99, .81 and .51.
ARCH_NOISE = {"low": 0.15, "mid": 0.3, "high": 0.5}


def make_arch(
    overlap: str | float = "mid",
    *,
    n_majority: int = 2000,
    n_minority: int = 200,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make an arch of many points, and a hanging one of few that reaches into it.

    The paper shows three such sets, with little, some and much overlap of the classes. These
    are scikit-learn's two moons with classes of different size.

    Parameters
    ----------
    overlap : {"low", "mid", "high"} or float, default="mid"
        How far the classes mix: a standard deviation of the noise, which is 0.15, 0.3 or 0.5 for
        the three names. With the default sizes, 25 nearest neighbours then reach an average
        precision of about .99, .81 and .51; a blind guess has .09.

    n_majority : int, default=2000
        Points along the arch.

    n_minority : int, default=200
        Points of the rare class.

    random_state : int, RandomState instance or None, default=None
        Decides the noise and the order of the rows.

    Returns
    -------
    X : ndarray of shape (n_majority + n_minority, 2)

    y : ndarray of shape (n_majority + n_minority,)
        1 for the rare class, 0 for the arch.

    Examples
    --------
    >>> from metasampler_bench.datasets import make_arch
    >>> X, y = make_arch("high", random_state=0)
    >>> X.shape, int(y.sum())
    ((2200, 2), 200)
    """
    if isinstance(overlap, str):
        if overlap not in ARCH_NOISE:
            raise ValueError(
                f"overlap must be one of {', '.join(map(repr, ARCH_NOISE))} or a number, "
                f"got {overlap!r}."
            )
        noise = ARCH_NOISE[overlap]
    elif isinstance(overlap, Real) and 0 <= overlap < np.inf:
        noise = float(overlap)
    else:
        raise ValueError(f"overlap must be a name or a number of at least 0, got {overlap!r}.")
    for name, size in {"n_majority": n_majority, "n_minority": n_minority}.items():
        if not isinstance(size, Integral) or size < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {size!r}.")
    X, y = make_moons((n_majority, n_minority), noise=noise, random_state=random_state)
    return X, y.astype(np.int64)
