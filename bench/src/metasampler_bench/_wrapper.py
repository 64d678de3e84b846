"""Share what classifiers do that train one inner classifier."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from metasampler.growth import copy_input_tags
from metasampler.tables import TableForm

__all__ = ["WrappingClassifier"]


class WrappingClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers whose answers are those of one inner classifier.

    A subclass has the parameter `estimator`; its `fit` sets `classes_` and `estimator_`, which is
    trained on positions in `classes_`.
    """

    def _check_fit_rows(self, X, y):
        """Return the table as it is, the classes, and the position of each label in them."""
        # The estimator is unknown, so it gets the table as it is.
        table = TableForm("as it is")(X, owner=self)
        validate_data(self, X, y, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y", estimator_name=type(self).__name__)
        check_classification_targets(y)
        check_consistent_length(table, y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y has only one class, {classes.tolist()[0]!r}.")
        return table, classes, codes

    def _check_predict_table(self, X):
        check_is_fitted(self)
        table = TableForm("as it is")(X, owner=self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return table

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        table = self._check_predict_table(X)
        return self.estimator_.predict_proba(table)

    def predict(self, X):
        """Return the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        table = self._check_predict_table(X)
        return self._labels(self.estimator_.predict(table))

    def _labels(self, answers):
        """Return labels for the answers of the inner classifier."""
        return self.classes_[answers]

    def __sklearn_tags__(self):
        return copy_input_tags(super().__sklearn_tags__(), self.estimator)
