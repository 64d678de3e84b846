"""What all ensembles on the growth loop share after they are fitted."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from metasampler.growth._learner import make_learner
from metasampler.growth._validation import check_member_estimator, check_table

__all__ = ["BaseGrownEnsemble"]


class BaseGrownEnsemble(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the classifiers whose probability is the mean of their members'.

    A subclass has the parameters `estimator` and `n_jobs`; its `fit` sets `estimators_`,
    `estimators_samples_`, `classes_` and what ``_check_features`` sets.
    """

    @abstractmethod
    def __init__(self, estimator=None, *, n_jobs=None):
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _member_estimator(self):
        """The base learner: the one given, or a decision tree."""
        if self.estimator is None:
            return DecisionTreeClassifier()
        check_member_estimator(self.estimator)
        return self.estimator

    def _check_features(self, X, *, reset: bool, name: str = "X") -> None:
        """Set, or compare with, the number and the names of the columns."""
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except ValueError as error:
            if name == "X":
                raise
            raise ValueError(f"{name}: {error}") from error

    def _check_predict_table(self, X):
        check_is_fitted(self)
        table = check_table(X, self.estimator_, owner=self)
        self._check_features(X, reset=False)
        return table

    def _staged_totals(self, X):
        """Running sums of the members' probabilities; the array is the same in each step."""
        n_classes = len(self.classes_)
        learner = make_learner(self.estimator_, [X], n_classes, self.n_jobs)
        total = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        for member in self.estimators_:
            learner.add_probabilities(member, X, total)
            yield total

    @staticmethod
    def _as_matrix(proba: np.ndarray) -> np.ndarray:
        return proba if proba.ndim == 2 else np.column_stack([1 - proba, proba])

    def predict_proba(self, X):
        """Probability of each class: the mean over the members.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`. Members train on balanced subsets, so these are
            probabilities in a world where all classes are equally frequent.
        """
        X = self._check_predict_table(X)
        *_, total = self._staged_totals(X)
        return self._as_matrix(total / len(self.estimators_))

    def staged_predict_proba(self, X):
        """Probability of each class after each member.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
            What an ensemble of the first 1, 2, ... members predicts.
        """
        X = self._check_predict_table(X)
        for n_members, total in enumerate(self._staged_totals(X), start=1):
            yield self._as_matrix(total / n_members)

    def predict(self, X):
        """Most probable class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    @property
    def feature_importances_(self):
        """Mean of the members' feature importances, for members that have them."""
        check_is_fitted(self)
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            raise AttributeError(f"The members, {self.estimator_!r}, have no feature_importances_.")
        return np.mean([member.feature_importances_ for member in self.estimators_], axis=0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        member_tags = get_tags(
            DecisionTreeClassifier() if self.estimator is None else self.estimator
        )
        tags.input_tags.sparse = member_tags.input_tags.sparse
        tags.input_tags.allow_nan = member_tags.input_tags.allow_nan
        return tags
