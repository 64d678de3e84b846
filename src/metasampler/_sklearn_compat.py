"""All that is used of scikit-learn beyond its documented interface, and nothing else.

Each shortcut has a public twin that gives the same result; `FAST_TREES` says whether the
shortcuts are taken. A scikit-learn release that was not tested here only costs speed.
"""

import re

import numpy as np
import sklearn
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils import _safe_indexing

__all__ = ["FAST_TREES", "fit_tree", "is_plain_tree", "take_rows", "tree_probabilities"]

_TESTED_FROM, _TESTED_BELOW = (1, 6), (1, 10)
_VERSION = tuple(int(part) for part in re.findall(r"\d+", sklearn.__version__)[:2])

FAST_TREES = _TESTED_FROM <= _VERSION < _TESTED_BELOW


def is_plain_tree(estimator) -> bool:
    """Whether the estimator is one of scikit-learn's own trees (a subclass may differ)."""
    return type(estimator) in (DecisionTreeClassifier, ExtraTreeClassifier)


def fit_tree(estimator, X: np.ndarray, codes: np.ndarray, seed: int):
    """Fit a fresh copy of a tree on rows that were checked before.

    The tree is the one that ``clone(estimator).set_params(random_state=seed).fit(X, codes)``
    gives; the checks of parameters and data, a third of the time on some hundred rows, are
    left out.
    """
    tree = type(estimator)(**{**estimator.get_params(deep=False), "random_state": seed})
    with config_context(skip_parameter_validation=True, assume_finite=True):
        return tree.fit(X, codes, check_input=False)


def tree_probabilities(tree, X: np.ndarray) -> np.ndarray:
    """Class probabilities of checked float32 rows: of class 1 only, if there are two."""
    # Since scikit-learn 1.3 `value` holds fractions, for every tree with or without weights.
    values = tree.tree_.value[:, 0, :]
    leaves = tree.tree_.apply(X)
    if values.shape[1] == 2:
        return values[:, 1].take(leaves)
    return values.take(leaves, axis=0)


def take_rows(X, rows: np.ndarray):
    """Rows of an array, a sparse matrix or a data frame, by position."""
    return _safe_indexing(X, rows)
