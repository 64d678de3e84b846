"""What `make_report` was given, checked before any work is lost."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from metasampler.report._model import Rule

#: Rows that can be listed; a report is not a data file.
MOST_TOP_ROWS = 1000


def check_numbers(amounts: Mapping[str, Any], counts: Mapping[str, Any]) -> None:
    """Refuse amounts that are negative or no numbers, and counts that are not whole.

    Parameters
    ----------
    amounts, counts : dict
        By the name of the parameter; an amount may be None.
    """
    for name, value in amounts.items():
        good = isinstance(value, Real) and not isinstance(value, bool)
        if value is not None and not (good and np.isfinite(float(value)) and value >= 0):
            raise ValueError(f"{name} must be a number that is not negative; got {value!r}.")
    for name, value in counts.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
            raise ValueError(f"{name} must be a whole number, 0 or more; got {value!r}.")
    if counts["top_rows"] > MOST_TOP_ROWS:
        raise ValueError(
            f"top_rows must be at most {MOST_TOP_ROWS}; got {counts['top_rows']}. `metasampler "
            "predict` writes the scores of all rows."
        )


def check_rows(X, y, sample_weight, labels) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the class number of each row and the weights; None for what was not given."""
    n_rows = X.shape[0]
    if n_rows == 0:
        raise ValueError("X has no rows.")
    weights = None
    if sample_weight is not None:
        check_consistent_length(X, sample_weight)
        weights = np.asarray(sample_weight, dtype=float)
        if not np.isfinite(weights).all() or weights.min() < 0 or not weights.sum() > 0:
            raise ValueError("sample_weight must not be negative or missing, nor all zero.")
    if y is None:
        return None, weights
    check_consistent_length(X, y)
    return classes_of(y, labels), weights


def classes_of(y, labels) -> np.ndarray:
    """Return the position of each label among the classes of a classifier."""
    given = np.asarray(y)
    if given.ndim != 1:
        raise ValueError(f"y must have one label a row; got an array of shape {given.shape}.")
    places = {label: place for place, label in enumerate(labels.tolist())}
    # NaN is not equal to itself; as an object None and NaN alike are not labels of a classifier.
    values = given.tolist()
    codes = np.array([places.get(value, -1) for value in values], dtype=np.intp)
    if (codes < 0).any():
        unknown = list(dict.fromkeys(str(values[row]) for row in np.flatnonzero(codes < 0)[:100]))
        raise ValueError(
            f"y has {int((codes < 0).sum()):,} labels that the classifier does not know, such as "
            f"{', '.join(map(repr, unknown[:3]))}; its classes are {labels.tolist()[:10]}."
        )
    return codes


def class_to_find(pos_label, rule: Rule | None, labels, codes, weights) -> int:
    """Return the position of the class to find."""
    known = labels.tolist()
    if pos_label is not None:
        if pos_label not in known:
            raise ValueError(
                f"pos_label must be a class of the classifier; got {pos_label!r}, and its classes "
                f"are {known[:10]}."
            )
        place = known.index(pos_label)
    elif rule is not None:
        place = known.index(rule.label)
    elif codes is not None:
        counts = np.bincount(codes, minlength=len(known))
        there = np.flatnonzero(counts)
        place = int(there[np.argmin(counts[there])])
    else:
        place = len(known) - 1
    if codes is not None:
        positive = (codes == place) if weights is None else (codes == place) & (weights > 0)
        others = (codes != place) if weights is None else (codes != place) & (weights > 0)
        if not positive.any() or not others.any():
            which = "only" if positive.any() else "no"
            raise ValueError(
                f"y has {which} rows of the class to find, {known[place]!r}: nothing can be said "
                "of precision and recall. Leave y out for a report without them."
            )
    return place
