"""Labels as a user passes them, and as positions among the classes."""

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

__all__ = ["check_labels", "encode_labels"]


def check_labels(y, X, *, owner=None, name: str = "y") -> np.ndarray:
    """Return the labels as a vector with one entry for every row of X."""
    if y is None:
        # The wording is scikit-learn's.
        raise ValueError(
            f"This {type(owner).__name__} estimator requires {name} to be passed, but the target "
            f"{name} is None."
        )
    y = column_or_1d(y, warn=True)
    _refuse_missing_labels(y, name)
    assert_all_finite(y, input_name=name, estimator_name=type(owner).__name__)
    if any(isinstance(label, bytes) for label in y[:1]):
        raise TypeError(
            f"{name} holds bytes, for instance {bytes(y[0])!r:.100}; labels are numbers or texts: "
            "decode them."
        )
    try:
        check_classification_targets(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(f"{name} must hold labels of one type, got {', '.join(kinds)}.") from error
    check_consistent_length(X, y)
    return y


def _refuse_missing_labels(y: np.ndarray, name: str) -> None:
    """Raise a ValueError for None and NA among labels of any kind, which others stumble over."""
    if y.dtype.kind != "O":
        return
    is_missing = [label is None or type(label).__name__ in ("NAType", "NaTType") for label in y]
    if any(is_missing):
        raise ValueError(
            f"Input {name} contains NaN: {sum(is_missing)} of {len(y)} labels are missing. Fill "
            "them, or leave these rows out."
        )


def encode_labels(y, classes, name: str) -> np.ndarray:
    """Return the positions of labels in ``classes``; each class must be there, and no other."""
    try:
        found = np.unique(y)
        unknown = np.setdiff1d(found, classes)
    except TypeError:  # labels of another kind, which do not even compare
        found, unknown = y, np.unique(y)
    if len(unknown):
        raise ValueError(
            f"{name} has classes that y does not have: {unknown[:10].tolist()}; y has "
            f"{classes.tolist()}."
        )
    missing = np.setdiff1d(classes, found)
    if len(missing):
        raise ValueError(
            f"{name} has no row of class {missing[:10].tolist()}; it needs rows of every class to "
            "score an ensemble."
        )
    return np.searchsorted(classes, y)
