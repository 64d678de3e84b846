"""Class weights for classifiers that only know the weights of rows."""

from sklearn.base import clone
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from metasampler._sklearn_compat import StrOptions, fit_context
from metasampler.benchmark._wrapper import WrappingClassifier
from metasampler.growth._kinds import resolve_estimator
from metasampler.growth._validation import check_labels, check_table

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
    >>> from metasampler.benchmark import WeightedClassifier
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> WeightedClassifier(GaussianNB()).fit(X, y).estimator_.class_prior_
    array([0.5, 0.5])
    """

    _parameter_constraints: dict = {
        "estimator": [None, object],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(self, estimator=None, *, class_weight="balanced"):
        self.estimator = estimator
        self.class_weight = class_weight

    @fit_context(prefer_skip_nested_validation=False)
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
        # Of the estimator nothing is known: it gets the table as it is.
        table = check_table(X, None, owner=self)
        y = check_labels(y, table, owner=self)
        validate_data(self, X, skip_check_array=True)
        encoder = LabelEncoder().fit(y)
        if len(encoder.classes_) < 2:
            raise ValueError(f"y has only one class, {encoder.classes_.tolist()[0]!r}.")
        weights = {}
        if self.class_weight is not None:
            weights = {"sample_weight": compute_sample_weight(self.class_weight, y)}
        estimator = clone(resolve_estimator(self.estimator))
        self.estimator_ = estimator.fit(table, encoder.transform(y), **weights)
        self.classes_ = encoder.classes_
        return self
