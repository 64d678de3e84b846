"""Soft leaves: what a tree's leaf says if a few rows of every class are added to it.

A tree that is grown to the end has pure leaves, which say 0 or 1: the mean of k such members
takes only k + 1 values, so that most rows are tied. A leaf of n rows, n_c of them of class c, says

    p_c = (n_c + s) / (n + s * n_classes)

instead (Laplace's rule for s = 1): large leaves are surer than small ones. This is no part of the
paper.
"""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from metasampler._sklearn_compat import is_plain_tree
from metasampler.growth._kinds import kinds_of

__all__ = [
    "LAPLACE",
    "has_leaves",
    "leaf_probabilities",
    "leaf_values",
    "resolve_leaf_smoothing",
    "running_mean",
]

#: Laplace's rule: what "auto" means for members with leaves.
LAPLACE = 1.0


def has_leaves(estimator) -> bool:
    """Whether members of this kind answer by the leaves of trees, which can be smoothed."""
    # A subclass may answer otherwise than by the mean of its leaves.
    is_forest = type(estimator) in (RandomForestClassifier, ExtraTreesClassifier)
    return is_forest or is_plain_tree(estimator)


def resolve_leaf_smoothing(smoothing: float | str, estimator) -> float:
    """By how much leaves are smoothed; "auto" leaves base learners that have none alone.

    Of several kinds that take turns one with leaves is enough: the others answer as they are.
    """
    any_leaves = any(has_leaves(kind) for kind in kinds_of(estimator))
    if isinstance(smoothing, str):
        return LAPLACE if any_leaves else 0.0
    if smoothing and not any_leaves:
        raise ValueError(
            f"leaf_smoothing={smoothing} needs members with leaves, scikit-learn's own "
            "DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier or "
            f"ExtraTreesClassifier; the estimator is {estimator!r}. Set leaf_smoothing=0."
        )
    return float(smoothing)


def leaf_values(tree, leaves: np.ndarray, smoothing: float) -> np.ndarray:
    """What some leaves say: for class 1 only, if there are two classes.

    Parameters
    ----------
    tree : fitted tree of scikit-learn
    leaves : ndarray of int of shape (n_rows,)
        Numbers of nodes; they may occur many times.
    smoothing : float
        Rows added of each class; 0 gives the plain shares.
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
    """Probabilities of rows whose leaves are known: of class 1 only, if there are two classes.

    Parameters
    ----------
    member : fitted tree or forest of scikit-learn
    leaves : ndarray of shape (n_rows,) or (n_rows, n_trees)
        What ``member.apply`` gives.
    smoothing : float
    """
    if leaves.ndim == 1:
        return leaf_values(member, leaves, smoothing)
    trees = zip(member.estimators_, leaves.T, strict=True)
    # Added up first and divided last, as in scikit-learn: the same to the last bit.
    total = np.zeros(())
    for tree, column in trees:
        total = total + leaf_values(tree, column, smoothing)
    return total / len(member.estimators_)


def running_mean(total: np.ndarray, n_members: int, smoothing: float) -> np.ndarray:
    """Mean probability, given the sum over the members.

    Sums of smoothed leaves depend, in their last bits, on the order of the members; what is equal
    but for them is rounded to the same number, so that ties stay ties.
    """
    mean = total / n_members
    return mean.round(12, out=mean) if smoothing else mean
