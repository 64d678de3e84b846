"""What all ensembles share once they are fitted: the mean of the members' probabilities."""

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from metasampler._sklearn_compat import Interval
from metasampler.growth._learner import make_learners
from metasampler.growth._leaves import running_mean
from metasampler.growth._validation import (
    check_table,
    copy_input_tags,
)

__all__ = ["BaseGrownEnsemble"]


class BaseGrownEnsemble(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the classifiers whose probability is the mean of their members'.

    A subclass has the parameters `estimator` and `n_jobs`; its `fit` sets `estimators_`,
    `estimators_samples_`, `classes_` and what ``_check_features`` sets.
    """

    _parameter_constraints: dict = {
        "estimator": [None, object],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "sampling_ratio": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    @abstractmethod
    def __init__(self, estimator=None, *, n_jobs=None):
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _base_learner(self):
        """The base learner, or a list of them; None means a decision tree."""
        return self.estimator

    @property
    def _smoothing(self) -> float:
        """By how much the leaves of the members are smoothed."""
        return getattr(self, "leaf_smoothing_", 0.0)

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

    def _staged_totals(self, X, smoothing: float):
        """Running sums of the members' probabilities; the array is the same in each step."""
        n_classes = len(self.classes_)
        learner = make_learners(self.estimator_, [X], n_classes, self.n_jobs, smoothing)
        total = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        for number, member in enumerate(self.estimators_):
            learner.of(number).add_scores(member, X, total)
            yield total

    def _mean(self, total: np.ndarray, n_members: int, smoothing: float) -> np.ndarray:
        """Mean probability of each class, before calibration."""
        proba = running_mean(total, n_members, smoothing)
        return proba if proba.ndim == 2 else np.column_stack([1 - proba, proba])

    def _calibrate(self, proba: np.ndarray) -> np.ndarray:
        """Hook for ensembles whose mean is not the probability they promise."""
        return proba

    def predict_proba(self, X):
        """Probability of each class: the mean over the members.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        X = self._check_predict_table(X)
        *_, total = self._staged_totals(X, self._smoothing)
        return self._calibrate(self._mean(total, len(self.estimators_), self._smoothing))

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
        for n_members, total in enumerate(self._staged_totals(X, self._smoothing), start=1):
            yield self._calibrate(self._mean(total, n_members, self._smoothing))

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
        proba = self.predict_proba(X)
        return self.classes_[np.argmax(proba, axis=1)]

    @property
    def feature_importances_(self):
        """Mean of the members' feature importances, for members that have them.

        Where different classifiers take turns, those of each member are scaled to sum to 1.
        """
        check_is_fitted(self)
        without = {
            type(member).__name__
            for member in self.estimators_
            if not hasattr(member, "feature_importances_")
        }
        if without:
            names = ", ".join(sorted(without))
            raise AttributeError(f"The members of type {names} have no feature_importances_.")
        importances = np.array([member.feature_importances_ for member in self.estimators_])
        if len({type(member) for member in self.estimators_}) > 1:
            # Some count splits and some add up gains: the means would be those of the larger unit.
            totals = importances.sum(axis=1, keepdims=True)
            importances = importances / np.where(totals > 0, totals, 1)
        return importances.mean(axis=0)

    def __sklearn_tags__(self):
        return copy_input_tags(super().__sklearn_tags__(), self._base_learner())
