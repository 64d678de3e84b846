"""What classifiers that train one inner classifier on class numbers share."""

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from metasampler.growth._validation import check_table, copy_input_tags

__all__ = ["WrappingClassifier"]


class WrappingClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers whose answers are those of one inner classifier.

    A subclass has the parameter `estimator`; its `fit` sets `classes_` and `estimator_`, which is
    trained on positions in `classes_`.
    """

    def _check_predict_table(self, X):
        check_is_fitted(self)
        # Of the estimator nothing is known: it gets the table as it is.
        table = check_table(X, None, owner=self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return table

    def predict_proba(self, X):
        """Probability of each class.

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
        """Class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        table = self._check_predict_table(X)
        return self.classes_[self.estimator_.predict(table)]

    def __sklearn_tags__(self):
        return copy_input_tags(super().__sklearn_tags__(), self.estimator)
