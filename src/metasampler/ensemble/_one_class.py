"""One class against the rest: labels of any number of classes become False and True."""

from typing import Any

import numpy as np

from metasampler.growth import check_labels

__all__ = ["against_the_rest", "check_rarer", "count_against_the_rest", "is_positive"]


def is_positive(y, positive: Any) -> np.ndarray:
    """Return which labels are those of one class."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    # As Python has them: NumPy compares no text with numbers.
    return np.array([label == positive for label in classes.tolist()], dtype=bool)[codes]


def against_the_rest(y, X, positive: Any, *, owner, name: str = "y") -> np.ndarray:
    """Return which rows are of the class to find, and refuse labels that do not have it."""
    labels = check_labels(y, X, owner=owner, name=name)
    found = is_positive(labels, positive)
    if not found.any():
        raise _absent(positive, np.unique(labels), name)
    return found


def count_against_the_rest(classes: np.ndarray, counts: np.ndarray, positive: Any) -> np.ndarray:
    """Return the rows of all other classes, and those of the class to find."""
    found = is_positive(classes, positive)
    if not found.any():
        raise _absent(positive, classes, "y")
    totals = np.array([counts[~found].sum(), counts[found].sum()])
    check_rarer(totals, positive)
    return totals


def check_rarer(counts: np.ndarray, positive: Any) -> None:
    """Refuse a class to find that has more rows than the rest, given the rows of both.

    That there is a rest is checked where the labels are.
    """
    if len(counts) == 2 and counts[1] > counts[0] > 0:
        raise ValueError(
            f"positive={positive!r:.80} has {counts[1]:,} of {counts.sum():,} rows: the class to "
            "find must have fewer rows than all others together. Leave positive out, or name a "
            "rarer class."
        )


def _absent(positive: Any, classes: np.ndarray, name: str) -> ValueError:
    shown = ", ".join(f"{label!r:.80}" for label in classes.tolist()[:12])
    more = f", ... ({len(classes)} in all)" if len(classes) > 12 else ""
    return ValueError(
        f"{name} has no row of class positive={positive!r:.80}. Its classes are {shown}{more}."
    )
