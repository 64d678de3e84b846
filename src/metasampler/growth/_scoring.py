"""Scores computed from the running probabilities of an ensemble."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

__all__ = ["average_precision", "bind_scorer"]


def average_precision(positive: np.ndarray, negative: np.ndarray) -> float:
    """Area under the precision-recall curve, from the scores of the two classes.

    Recall moves only at a positive's score, so the average precision is the mean, over the
    positives, of the precision at their score. By hand because scikit-learn's function spends
    ten times as long on checks and on thresholds where nothing moves; the values are the same.
    """
    positive = np.sort(positive)
    negative = np.sort(negative)
    true_positives = len(positive) - np.searchsorted(positive, positive)
    false_positives = len(negative) - np.searchsorted(negative, positive)
    return float(np.mean(true_positives / (true_positives + false_positives)))


class _GivenProbabilities(ClassifierMixin, BaseEstimator):
    """A fitted classifier to scikit-learn's scorers; its probabilities are handed to it."""

    def __init__(self, classes=None):
        self.classes = classes

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return self.classes

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return self.classes[np.argmax(X, axis=1)]


def _bind_average_precision(codes, n_classes, minority):
    if n_classes == 2:
        positive, negative = np.flatnonzero(codes == minority), np.flatnonzero(codes != minority)

        def score(proba):
            # Scores of class 1; of class 0 they are the complement, which turns the ranking.
            ranking = proba if minority == 1 else -proba
            return average_precision(ranking[positive], ranking[negative])

        return score

    members = [codes == k for k in range(n_classes)]

    def macro_score(proba):
        return float(
            np.mean([average_precision(proba[m, k], proba[~m, k]) for k, m in enumerate(members)])
        )

    return macro_score


def bind_scorer(scoring, codes, classes, minority):
    """Score function of probabilities, for given true labels.

    Parameters
    ----------
    scoring : str or callable
        Name of a scorer or ``scorer(estimator, X, y)``. Names speak of the minority class: for
        two classes the labels they see are 0 and 1, the minority being 1. A callable sees the
        labels as they are.
    codes : ndarray of shape (n_rows,)
        True classes, as positions in `classes`.
    classes : ndarray of shape (n_classes,)
    minority : int
        Position of the minority class.

    Returns
    -------
    score : callable
        Takes the probability of class 1 (two classes) or the matrix of probabilities.
    """
    n_classes = len(classes)
    if isinstance(scoring, str) and scoring == "average_precision":
        return _bind_average_precision(codes, n_classes, minority)

    scorer = get_scorer(scoring)
    if n_classes > 2 or not isinstance(scoring, str):
        y_true, labels, order = classes[codes], classes, slice(None)
    else:
        y_true, labels = (codes == minority).astype(int), np.array([0, 1])
        order = slice(None) if minority == 1 else slice(None, None, -1)
    given = _GivenProbabilities(labels)

    def score(proba):
        if n_classes == 2:
            proba = np.column_stack([1 - proba, proba])[:, order]
        return float(scorer(given, proba, y_true))

    return score
