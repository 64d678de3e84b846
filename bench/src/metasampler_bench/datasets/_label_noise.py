"""Wrong labels, as the paper puts them into its data sets."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from metasampler_bench.datasets._labels import find_classes, smallest_class

__all__ = ["flip_labels"]


def flip_labels(
    y: ArrayLike,
    ratio: float,
    *,
    classes: str = "both",
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[Any]:
    """Flip as many labels of the rare class as of the other.

    A share of the minority becomes majority and the same *number* of majority rows becomes
    minority, so that the class counts, and with them the imbalance, stay the same. This is the
    noise of the paper's experiments on robustness. Noise belongs into training rows only: leave
    the labels that a score is computed from as they are.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of two classes, of any kind.

    ratio : float
        Share of the minority to flip, at least 0 and less than 1; the number of rows is rounded.

    classes : {"both", "minority", "majority"}, default="both"
        Whose labels are flipped. With one class only, the imbalance changes.

    random_state : int, RandomState instance or None, default=None
        Decides which rows are flipped.

    Returns
    -------
    noisy : ndarray of shape (n_rows,)
        A copy of ``y`` with ``round(ratio * n_minority)`` labels of each class flipped.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler_bench.datasets import flip_labels
    >>> y = np.repeat([0, 1], [90, 10])
    >>> noisy = flip_labels(y, 0.4, random_state=0)
    >>> int(noisy.sum()), int(np.sum(noisy != y))
    (10, 8)
    """
    if not isinstance(ratio, Real) or not 0 <= ratio < 1:
        raise ValueError(f"ratio must be at least 0 and less than 1, got {ratio!r}.")
    if classes not in ("both", "minority", "majority"):
        raise ValueError(f"classes must be 'both', 'minority' or 'majority', got {classes!r}.")
    names, codes = find_classes(y, "y")
    if len(names) != 2:
        raise ValueError(f"y must have two classes, got {len(names)}.")
    minority = smallest_class(codes)
    rare, common = np.flatnonzero(codes == minority), np.flatnonzero(codes != minority)
    n_flips = round(ratio * len(rare))
    random = check_random_state(random_state)
    noisy = np.array(y)
    # Labels are taken from rows, not from the classes: these may be of another type.
    rare_label, common_label = noisy[rare[0]], noisy[common[0]]
    if classes != "majority":
        noisy[random.choice(rare, size=n_flips, replace=False)] = common_label
    if classes != "minority":
        noisy[random.choice(common, size=n_flips, replace=False)] = rare_label
    return noisy
