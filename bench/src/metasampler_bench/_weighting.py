"""Give class weights to classifiers that only know the weights of rows."""

from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

from metasampler.growth import resolve_estimator
from metasampler_bench._wrapper import WrappingClassifier

__all__ = ["WeightedClassifier"]


class WeightedClassifier(WrappingClassifier):
    """Classifier that is trained with class weights, passed on as weights of the rows.

    For classifiers without a parameter `class_weight`. For naive Bayes, balanced weights are
    uniform priors. For XGBoost they are `scale_pos_weight`, up to a factor that all rows share,
    for any number of classes; and XGBoost takes no labels but 0, 1, ..., which it gets here.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, default=None
        What to train; its `fit` must take `sample_weight`, unless `class_weight` is None. None
        means :class:`~sklearn.tree.DecisionTreeClassifier`. It is trained on class numbers 0, 1,
        ..., the positions in `classes_`.

    class_weight : "balanced", dict or None, default="balanced"
        Weight of each class; ``"balanced"`` means one over the number of its rows, and None
        equal weights for all rows.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from metasampler_bench import WeightedClassifier
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> WeightedClassifier(GaussianNB()).fit(X, y).estimator_.class_prior_
    array([0.5, 0.5])
    """

    def __init__(self, estimator=None, *, class_weight="balanced"):
        self.estimator = estimator
        self.class_weight = class_weight

    def fit(self, X, y):
        """Train the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows.

        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        table, classes, codes = self._check_fit_rows(X, y)
        weights = {}
        if self.class_weight is not None:
            weights = {"sample_weight": compute_sample_weight(self.class_weight, classes[codes])}
        estimator = clone(resolve_estimator(self.estimator))
        self.estimator_ = estimator.fit(table, codes, **weights)
        self.classes_ = classes
        return self
