"""Data sets that scikit-learn ships, so that no download is needed."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from metasampler.datasets import make_imbalanced_digits

__all__ = ["BUNDLED", "load_bundled"]

#: Rows, columns, classes, and rows of the largest and of the smallest class of each set.
BUNDLED = {
    "breast-cancer": (569, 30, 2, 357, 212),
    "digits": (1797, 64, 10, 183, 174),
    "digits-8": (1677, 64, 2, 1623, 54),
    "wine": (178, 13, 3, 71, 48),
}


def load_bundled(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and labels of one of the ``BUNDLED`` sets."""
    if name == "digits-8":
        return make_imbalanced_digits()
    loaders = {"breast-cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}
    bunch: Any = loaders[name]()
    if name == "breast-cancer":
        # Names, because scikit-learn's numbers say 1 for the larger, benign class.
        return bunch.data, bunch.target_names[bunch.target]
    return bunch.data, bunch.target
