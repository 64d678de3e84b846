"""Members that are scikit-learn's trees or forests: how trees are built, and what soft leaves say.

A *soft leaf* of n rows, n_c of them of class c, says p_c = (n_c + s) / (n + s * n_classes). This is
Laplace's rule for s = 1: pure leaves say more than 0 or 1, and large leaves are surer than small
ones. It is not part of the paper.
"""

from functools import cached_property

import numpy as np
from sklearn import config_context

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
    """The same members for scikit-learn's trees on float32 rows that were checked once.

    A tree is the one that ``clone(estimator).set_params(random_state=seed).fit(X, codes)`` gives.
    Checking the rows again for each tree takes a fifth of the time if it has some hundred rows.
    """

    # Growing a tree lets other threads run.
    fits_in_threads = True
    starts_threads = False

    _is_checked = False

    @cached_property
    def _parameters(self) -> dict:
        # Once for all trees: `clone` would ask for them each time.
        return self.estimator.get_params(deep=False)

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
        # All trees have the parameters of the first, where they are checked.
        with config_context(skip_parameter_validation=self._is_checked):
            tree.fit(X, codes.astype(np.intp), sample_weight=sample_weight, check_input=False)
        self._is_checked = True
        return tree


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
    # Smooth whichever is shorter: the leaves of few rows, or all nodes of the tree once.
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
