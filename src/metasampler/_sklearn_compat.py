"""All that is used of scikit-learn beyond its documented interface, and nothing else.

Each shortcut has a public twin that gives the same result; `FAST_TREES` says whether the
shortcuts are taken. A scikit-learn release that was not tested here only costs speed. The rest
are scikit-learn's own tools for the authors of estimators, which have no public name yet; if one
is not where it was, those of `_sklearn_public` serve.
"""

import os
import re
from math import ceil
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
import sklearn

__all__ = [
    "FAST_TREES",
    "PUBLIC_ONLY",
    "Interval",
    "StrOptions",
    "TreeBuilder",
    "check_sample_weight",
    "fit_context",
    "take_rows",
    "validate_parameter_constraints",
]

PUBLIC_ONLY = os.environ.get("METASAMPLER_PUBLIC_SKLEARN") == "1"
if not PUBLIC_ONLY:
    try:
        from sklearn.base import _fit_context as fit_context
        from sklearn.utils import _safe_indexing
        from sklearn.utils._param_validation import (
            Interval,
            StrOptions,
            validate_parameter_constraints,
        )
        from sklearn.utils.validation import _check_sample_weight as check_sample_weight
    except ImportError:  # a later release
        PUBLIC_ONLY = True
if PUBLIC_ONLY and not TYPE_CHECKING:
    from metasampler._sklearn_public import (
        Interval,
        StrOptions,
        check_sample_weight,
        fit_context,
        validate_parameter_constraints,
    )
    from metasampler._sklearn_public import take_rows as _safe_indexing

_TESTED_FROM, _TESTED_BELOW = (1, 6), (1, 10)
_VERSION = tuple(int(part) for part in re.findall(r"\d+", sklearn.__version__)[:2])

FAST_TREES = not PUBLIC_ONLY and _TESTED_FROM <= _VERSION < _TESTED_BELOW
if FAST_TREES:
    from sklearn.tree._classes import CRITERIA_CLF, DENSE_SPLITTERS, DepthFirstTreeBuilder, Tree


class TreeBuilder:
    """Fits copies of one tree on rows that were checked before.

    A tree is the one that ``clone(estimator).set_params(random_state=seed).fit(X, codes)``
    gives. What is left out are the checks of parameters, rows and labels, which on some hundred
    rows take half of the time.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or ExtraTreeClassifier
    n_classes : int
        The labels are 0, ..., n_classes - 1, and each has at least one row in every fit.
    """

    def __init__(self, estimator, n_classes: int):
        self.estimator = estimator
        self.n_classes = n_classes
        self.parameters = estimator.get_params(deep=False)
        # Once for all trees; scikit-learn's fit would check them for each.
        estimator._validate_params()
        self._random_state = np.random.RandomState(0)
        # These are rare, and scikit-learn's own fit knows what to do about them.
        self._needs_fit = (
            not isinstance(estimator.criterion, str)
            or not isinstance(estimator.splitter, str)
            or estimator.class_weight is not None
            or estimator.max_leaf_nodes is not None
            or estimator.monotonic_cst is not None
            or estimator.ccp_alpha != 0
        )

    def fit(
        self,
        X: np.ndarray,
        codes: np.ndarray,
        seed: int,
        sample_weight: np.ndarray | None = None,
    ):
        """Fit one tree on float32 rows without missing values; weights are float64."""
        tree = type(self.estimator)(**{**self.parameters, "random_state": seed})
        if self._needs_fit:
            return tree.fit(X, codes, sample_weight=sample_weight, check_input=False)
        n_rows, n_features = X.shape
        # The splitter takes one number of it; seeding anew is ten times cheaper than a new object.
        self._random_state.seed(seed)
        leaf = _count(tree.min_samples_leaf, n_rows, 1)
        n_classes = np.array([self.n_classes], dtype=np.intp)
        tree.n_features_in_ = n_features
        tree.n_outputs_ = 1
        tree.n_classes_ = n_classes[0]
        tree.classes_ = np.arange(self.n_classes)
        tree.max_features_ = _max_features(tree.max_features, n_features)
        tree.tree_ = Tree(n_features, n_classes, 1)
        total_weight = n_rows if sample_weight is None else np.sum(sample_weight)
        min_weight = tree.min_weight_fraction_leaf * total_weight
        splitter = DENSE_SPLITTERS[tree.splitter](
            CRITERIA_CLF[tree.criterion](1, n_classes),
            tree.max_features_,
            leaf,
            min_weight,
            self._random_state,
            None,
        )
        builder = DepthFirstTreeBuilder(
            splitter,
            max(_count(tree.min_samples_split, n_rows, 2), 2 * leaf),
            leaf,
            min_weight,
            np.iinfo(np.int32).max if tree.max_depth is None else tree.max_depth,
            tree.min_impurity_decrease,
        )
        targets = codes.astype(np.float64).reshape(-1, 1)
        builder.build(tree.tree_, X, targets, sample_weight, None)
        return tree


def _count(value, n_rows: int, least: int) -> int:
    """Return a number of rows that may be given as a fraction of all."""
    return int(value) if isinstance(value, Integral) else max(ceil(value * n_rows), least)


def _max_features(value, n_features: int) -> int:
    if value is None:
        return n_features
    if isinstance(value, Integral):
        return int(value)
    part = {"sqrt": np.sqrt, "log2": np.log2}.get(value)
    return max(1, int(part(n_features) if part else value * n_features))


def take_rows(X, rows: np.ndarray | slice):
    """Return rows of an array, a table in a file, a sparse matrix or a data frame, by position."""
    if isinstance(X, np.ndarray) or hasattr(X, "is_in_file"):
        return X[rows]
    return _safe_indexing(X, rows)
