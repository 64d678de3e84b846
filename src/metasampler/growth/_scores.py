"""Scores computed from the running probabilities of an ensemble."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer


def running_mean(total: np.ndarray, n_members: int, smoothing: float) -> np.ndarray:
    """Return the mean probability, given the sum over the members.

    Sums of soft leaves depend, in their last bits, on the order of the members; what is equal
    but for them is rounded to the same number, so that ties stay ties.
    """
    mean = total / n_members
    return mean.round(12, out=mean) if smoothing else mean


def average_precision(
    positive: np.ndarray,
    negative: np.ndarray,
    positive_weights: np.ndarray | None = None,
    negative_weights: np.ndarray | None = None,
) -> float:
    """Return the area under the precision-recall curve, from the scores of the two classes.

    Recall moves only at a positive's score, so the average precision is the mean, over the
    positives, of the precision at their score. By hand because scikit-learn's function spends
    ten times as long on checks and on thresholds where nothing moves; the values are the same.
    """
    true_positives = _weight_at_least(positive, positive_weights, positive)
    false_positives = _weight_at_least(negative, negative_weights, positive)
    precision = true_positives / (true_positives + false_positives)
    return float(np.average(precision, weights=positive_weights))


def _weight_at_least(scores, weights, thresholds):
    """Return the total weight of the scores that reach each threshold."""
    if weights is None:
        return len(scores) - np.searchsorted(np.sort(scores), thresholds)
    order = np.argsort(scores)
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    return below[-1] - below[np.searchsorted(scores[order], thresholds)]


class _GivenProbabilities(ClassifierMixin, BaseEstimator):
    """A fitted classifier to scikit-learn's scorers; its probabilities are handed to it."""

    def __init__(self, classes_, minority=1):
        self.classes_ = classes_
        self.minority = minority

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        return X

    def predict(self, X):
        if len(self.classes_) > 2:
            return self.classes_[np.argmax(X, axis=1)]
        # Equal probabilities go to the minority, as in the ensembles' own predict.
        called = X[:, self.minority] >= X[:, 1 - self.minority]
        return self.classes_[np.where(called, self.minority, 1 - self.minority)]


def _bind_average_precision(codes, n_classes, minority, weights):
    def against_the_rest(is_class):
        inside, outside = np.flatnonzero(is_class), np.flatnonzero(~is_class)
        split = (None, None) if weights is None else (weights[inside], weights[outside])
        return lambda scores: average_precision(scores[inside], scores[outside], *split)

    if n_classes == 2:
        score = against_the_rest(codes == minority)
        # Scores of class 1; of class 0 they are the complement, which turns the ranking.
        return score if minority == 1 else lambda proba: score(-proba)

    # Classes without rows, whose only row no member leaves out, do not count.
    one_by_one = {k: against_the_rest(codes == k) for k in np.unique(codes).tolist()}
    return lambda proba: float(np.mean([score(proba[:, k]) for k, score in one_by_one.items()]))


def check_scoring(scoring, n_classes: int) -> None:
    """Refuse a scoring that no scorer is named by, or that probabilities do not suffice for."""
    rows = np.arange(n_classes)
    if isinstance(scoring, str):
        bind_scorer(scoring, rows, rows, minority=1)


def bind_scorer(scoring, codes, classes, minority, weights=None):
    """Return the score function of probabilities, for given true classes and weights of rows.

    Named scorers score the minority class: for two classes the labels they see are 0 and 1,
    the minority being 1. A callable ``scorer(estimator, X, y)`` sees the labels as they are. The
    function takes the probability of class 1 (two classes) or the matrix of probabilities.
    """
    n_classes, by_name = len(classes), isinstance(scoring, str)
    if by_name and scoring == "average_precision":
        return _bind_average_precision(codes, n_classes, minority, weights)
    try:
        scorer = get_scorer(scoring)
    except ValueError as error:
        raise ValueError(
            f"scoring={scoring!r} is not a scorer; sklearn.metrics.get_scorer_names() lists them."
        ) from error
    if n_classes > 2 or not by_name:
        y_true, order = classes[codes], slice(None)
        given = _GivenProbabilities(classes, minority)
    else:
        y_true = (codes == minority).astype(int)
        order = slice(None) if minority == 1 else slice(None, None, -1)
        given = _GivenProbabilities(np.array([0, 1]))
    if n_classes > 2 and by_name:
        # Made-up rows, and no fit, tell whether it takes two classes only.
        try:
            scorer(given, np.full((n_classes, n_classes), 1 / n_classes), classes)
        except ValueError as error:
            message = f"scoring={scoring!r} cannot score {n_classes} classes: {error}"
            raise ValueError(message) from error
    known = {"sample_weight": weights} if by_name and weights is not None else {}

    def score(proba):
        if n_classes == 2:
            proba = np.column_stack([1 - proba, proba])[:, order]
        return float(_call(scorer, scoring, given, proba, y_true, **known))

    return score


def _call(scorer, scoring, given, proba, y_true, **options):
    """Return a score; an ensemble has probabilities and nothing else to be scored by."""
    try:
        return scorer(given, proba, y_true, **options)
    except AttributeError as error:
        if type(given).__name__ not in str(error):
            raise
        raise ValueError(
            f"scoring={scoring!r:.200} asks for more than `predict_proba` and `predict`, such as "
            "`decision_function`: choose a scorer of probabilities or of labels."
        ) from error
