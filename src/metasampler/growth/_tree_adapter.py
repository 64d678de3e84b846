"""Members that are scikit-learn's trees or forests: how trees are built, and what soft leaves say.

A *soft leaf* of n rows, n_c of them of class c, says p_c = (n_c + s) / (n + s * n_classes). This is
Laplace's rule for s = 1: pure leaves say more than 0 or 1, and large leaves are surer than small
ones. It is no part of the paper.
"""

from copy import copy
from functools import cached_property
from math import ceil
from numbers import Integral

import numpy as np

from metasampler import _sklearn_compat as compat
from metasampler.growth._adapters import Adapter


class LeafAdapter(Adapter):
    """The same members for trees and forests that answer by soft leaves."""

    def answers(self, member, X, smoothings):
        """Return the probabilities of some rows for each smoothing of the leaves.

        The rows go through the trees once for all.
        """
        with np.errstate(**self._quiet):
            leaves = member.apply(X)
        return [leaf_probabilities(member, leaves, smoothing) for smoothing in smoothings]


class TreeAdapter(Adapter):
    """The same members for scikit-learn's trees on checked float32 rows, without more checks.

    A tree is the one that ``clone(estimator).set_params(random_state=seed).fit(X, codes)`` gives.
    What is left out are the checks of parameters, rows and labels, which on some hundred rows take
    half of the time. Each class has at least one row in every fit.
    """

    # Growing a tree lets other threads run.
    fits_in_threads = True
    starts_threads = False

    @cached_property
    def _parameters(self) -> dict:
        # Once for all trees; scikit-learn's fit would check them for each.
        self.estimator._validate_params()
        return self.estimator.get_params(deep=False)

    @cached_property
    def _random_state(self) -> np.random.RandomState:
        return np.random.RandomState(0)

    def own_copy(self):
        """Return a copy that has random numbers of its own."""
        twin = copy(self)
        twin.__dict__.pop("_random_state", None)
        return twin

    def answers(self, member, X, smoothings):
        """Return the probabilities of some rows for each smoothing of the leaves."""
        leaves = member.tree_.apply(X)
        return [leaf_values(member, leaves, smoothing) for smoothing in smoothings]

    def fit(self, X, codes, rows, seed, sample_weight=None, unseen=None, unseen_weight=None):
        """Fit a new member on some rows of X, or on all of them if ``rows`` is None."""
        if rows is not None:
            # In memory take is faster than X[rows], and other threads go on meanwhile.
            X = X.take(rows, axis=0) if type(X) is np.ndarray else X[rows]
            codes = codes[rows]
        tree = type(self.estimator)(**{**self._parameters, "random_state": seed})
        # These are rare, and scikit-learn's own fit knows what to do about them.
        if (
            not isinstance(tree.criterion, str)
            or not isinstance(tree.splitter, str)
            or tree.class_weight is not None
            or tree.max_leaf_nodes is not None
            or tree.monotonic_cst is not None
            or tree.ccp_alpha != 0
        ):
            codes = codes.astype(np.intp)
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
        tree.tree_ = compat.Tree(n_features, n_classes, 1)
        total_weight = n_rows if sample_weight is None else np.sum(sample_weight)
        min_weight = tree.min_weight_fraction_leaf * total_weight
        splitter = compat.DENSE_SPLITTERS[tree.splitter](
            compat.CRITERIA_CLF[tree.criterion](1, n_classes),
            tree.max_features_,
            leaf,
            min_weight,
            self._random_state,
            None,
        )
        builder = compat.DepthFirstTreeBuilder(
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


# ---------------------------------------------------------------------- soft leaves


def leaf_values(tree, leaves: np.ndarray, smoothing: float) -> np.ndarray:
    """Return what some leaves say: for class 1 only, if there are two classes.

    ``leaves`` are numbers of nodes, which may occur many times; ``smoothing`` rows of each class
    are added to each, 0 gives the plain shares.
    """
    # Since scikit-learn 1.3 `value` holds shares, for every tree with or without weights.
    shares = tree.tree_.value[:, 0, :]
    n_classes = shares.shape[1]
    if n_classes == 2:
        shares = shares[:, 1]
    if not smoothing:
        return shares.take(leaves, axis=0)
    sizes = tree.tree_.weighted_n_node_samples
    # Whatever is less to smooth: the leaves of few rows, or once all nodes of the tree.
    few = len(leaves) < len(sizes)
    if few:
        shares, sizes = shares.take(leaves, axis=0), sizes.take(leaves)
    if n_classes > 2:
        sizes = sizes[:, np.newaxis]
    values = (shares * sizes + smoothing) / (sizes + smoothing * n_classes)
    return values if few else values.take(leaves, axis=0)


def leaf_probabilities(member, leaves: np.ndarray, smoothing: float) -> np.ndarray:
    """Return the probabilities of rows whose leaves are known, as ``member.apply`` gives them.

    ``member`` is a tree or a forest; of two classes the probabilities are those of class 1.
    """
    if leaves.ndim == 1:
        return leaf_values(member, leaves, smoothing)
    trees = zip(member.estimators_, leaves.T, strict=True)
    # Added up first and divided last, as in scikit-learn: the same to the last bit.
    total = np.zeros(())
    for tree, column in trees:
        total = total + leaf_values(tree, column, smoothing)
    return total / len(member.estimators_)
