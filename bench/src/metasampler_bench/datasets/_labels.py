"""From the labels that stand in a data set to whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from metasampler.datasets import near_matches

__all__ = ["encode_labels", "find_classes", "smallest_class"]

# What people write for "no" and "yes": here 1 is the class to find, whatever its size.
YES_NO = ([-1, 1], [0, 1])


def find_classes(labels: Any, what: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Find the distinct labels, in ascending order, and each row's position among them.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Numbers, strings or booleans; an array, or a column of pandas or polars.

    what : str
        How to call the labels in an error message.

    Returns
    -------
    classes : ndarray
        Whole numbers become integers even if they came as floats.

    codes : ndarray of shape (n_rows,)
    """
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"{what} must have one label per row and at least one row, got shape {values.shape}."
        )
    n_missing = _count_missing(labels, values)
    if n_missing:
        raise ValueError(
            f"{what} has no label in {n_missing} of {len(values)} rows: fill or remove them first."
        )
    if values.dtype.kind == "O":
        # Columns that may have missing values come as objects, whatever they hold.
        values = np.array(values.tolist()) if _all_numbers(values) else values
    if values.dtype.kind == "f":
        if not np.all(np.isfinite(values) & (values == np.round(values))):
            raise ValueError(
                f"{what} holds fractional or infinite numbers: this looks like a quantity "
                "(regression), not a class. Make strings of them if they are classes."
            )
        values = values.astype(np.int64)
    try:
        classes, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"{what} mixes labels of several types: {error}.") from error
    return classes, codes.astype(np.int64)


def smallest_class(codes: NDArray[np.int64]) -> int:
    """Return the class with fewest rows; of equally small ones the last, as 1 is of 0 and 1."""
    counts = np.bincount(codes)
    return len(counts) - 1 - int(np.argmin(counts[::-1]))


def encode_labels(
    labels: Any, positive: Any, *, what: str, one_is_positive: bool
) -> tuple[NDArray[np.int64], list[Any]]:
    """Make the target of a data set.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        The labels as they stand in the data.

    positive : label or None
        The class that becomes 1, all others becoming 0. None finds it where there are two
        classes, and keeps more than two apart.

    what : str
        How to call the labels in an error message.

    one_is_positive : bool
        Whether label 1 of (-1, 1) or (0, 1) is the class to find even if it is the larger one.

    Returns
    -------
    target : ndarray of shape (n_rows,)
        0 and 1; or integer labels as they are; or positions in the sorted labels.

    names : list
        The label behind each distinct value of ``target``, in ascending order.
    """
    classes, codes = find_classes(labels, what)
    names = classes.tolist()
    if len(names) < 2:
        raise ValueError(
            f"{what} has only one class, {names[0]!r}: there is nothing to tell apart."
        )
    if positive is not None:
        index = _find_label(positive, names, what)
    elif len(names) > 2:
        # Integers may mean something outside of this file, so they stay.
        whole = classes.dtype.kind in "iu"
        return (classes.astype(np.int64)[codes] if whole else codes), names
    elif one_is_positive and names in YES_NO:
        index = 1
    else:
        index = smallest_class(codes)
    others = [name for i, name in enumerate(names) if i != index]
    return (codes == index).astype(np.int64), [
        others[0] if len(others) == 1 else "rest",
        names[index],
    ]


def _find_label(positive: Any, names: list[Any], what: str) -> int:
    if positive in names:
        return names.index(positive)
    # What comes from a command line or a form is always a string.
    as_text = [str(name) for name in names]
    if as_text.count(str(positive)) == 1:
        return as_text.index(str(positive))
    shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
    owner = what[0].lower() + what[1:]
    raise ValueError(
        f"positive={positive!r} is not a class of {owner}.{near_matches(positive, names)} "
        f"Classes: {shown}."
    )


def _count_missing(labels: Any, values: NDArray[Any]) -> int:
    if hasattr(labels, "isna"):
        return int(labels.isna().sum())
    if hasattr(labels, "null_count"):  # polars keeps null apart from NaN
        n_null = int(labels.null_count())
        if n_null:
            return n_null
    if values.dtype.kind == "f":
        return int(np.isnan(values).sum())
    if values.dtype.kind == "O":
        return sum(value is None or value != value for value in values)
    return 0


def _all_numbers(values: NDArray[Any]) -> bool:
    return all(isinstance(value, (int, float, np.number, np.bool_)) for value in values)
