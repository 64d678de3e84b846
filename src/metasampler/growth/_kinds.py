"""The base learners of an ensemble: one, or a list of several that take turns.

With a list, member i is a copy of ``estimator[i % len(estimator)]``. What is in the list is called
a kind.
"""

from sklearn.tree import DecisionTreeClassifier

__all__ = ["kinds_of", "resolve_estimator", "resolve_kinds"]


def kinds_of(estimator) -> list:
    """The kinds of members: the entries of a list, or the one base learner there is."""
    return list(estimator) if isinstance(estimator, list) else [estimator]


def resolve_kinds(estimator):
    """The base learner, or the list of those that take turns, if they can serve as members."""
    if estimator is None:
        return DecisionTreeClassifier()
    if isinstance(estimator, tuple):
        raise TypeError(
            f"estimator={estimator!r} must be a classifier with fit and predict_proba, or a list "
            "of them; got a tuple."
        )
    if not isinstance(estimator, list):
        _check_classifier(estimator, "estimator")
        return estimator
    if not estimator:
        raise ValueError(
            "estimator=[] is an empty list; it must hold at least one classifier with fit and "
            "predict_proba."
        )
    for position, kind in enumerate(estimator):
        _check_classifier(kind, f"estimator[{position}]")
    return list(estimator)


def resolve_estimator(estimator):
    """The base learner: the one given, if it can serve as a member, or a decision tree."""
    if isinstance(estimator, (list, tuple)):
        raise TypeError(
            f"estimator={estimator!r} must be one classifier with fit and predict_proba: only "
            "ensembles that under-sample take a list of them."
        )
    return resolve_kinds(estimator)


def _check_classifier(estimator, name: str) -> None:
    if isinstance(estimator, type):
        raise TypeError(
            f"{name} must be an instance, got the class {estimator.__name__}; "
            f"write {estimator.__name__}()."
        )
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{name}={estimator!r} must have fit and predict_proba: the ensemble's errors are "
            "computed from probabilities."
        )
