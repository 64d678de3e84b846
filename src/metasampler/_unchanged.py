"""Fits that fail or are interrupted."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["unchanged_on_error"]


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Let an estimator be what it was before if its fit fails or is interrupted.

    Parameters
    ----------
    estimator : estimator
        What is fitted inside of the context.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler._unchanged import unchanged_on_error
    >>> tree = DecisionTreeClassifier()
    >>> try:
    ...     with unchanged_on_error(tree):
    ...         tree.n_features_in_ = 3
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     print(hasattr(tree, "n_features_in_"))
    False
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # In one step: there may be a second interrupt.
        estimator.__dict__ = before
        raise
