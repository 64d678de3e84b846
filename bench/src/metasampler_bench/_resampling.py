"""Put a classifier behind one of imbalanced-learn's samplers; the paper's base classifiers."""

import time
from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state, get_tags

from metasampler.growth import resolve_estimator
from metasampler_bench._wrapper import WrappingClassifier

__all__ = ["BASE_CLASSIFIERS", "ResampledClassifier"]

#: The base classifiers of the paper's resampling table, unfitted.
BASE_CLASSIFIERS = {
    "KNN": KNeighborsClassifier(),
    "GNB": GaussianNB(),
    "DT": DecisionTreeClassifier(),
    "AdaBoost": AdaBoostClassifier(n_estimators=10),
    "GBM": GradientBoostingClassifier(n_estimators=10),
}


class ResampledClassifier(WrappingClassifier):
    """Classifier that is trained on what a sampler makes of the rows.

    It gives what :class:`imblearn.pipeline.Pipeline` gives with the same two steps, and records
    what that cannot say: how many rows the sampler left, and how long it took.

    Parameters
    ----------
    sampler : sampler of imbalanced-learn, default=None
        What has `fit_resample`; None leaves the rows as they are.

    estimator : classifier with `predict_proba`, default=None
        What is trained; None means :class:`~sklearn.tree.DecisionTreeClassifier`. It is trained
        on class numbers 0, 1, ..., the positions in `classes_`.

    random_state : int, RandomState instance or None, default=None
        Pass an int for the same result in every call. It overrides that of the sampler and of
        the estimator; None leaves theirs.

    Attributes
    ----------
    sampler_ : sampler or None
        The fitted sampler.

    estimator_ : classifier
        The fitted classifier.

    n_training_rows_ : int
        Rows the classifier was trained on.

    resampling_time_ : float
        CPU seconds of the sampler, of all its threads.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    See Also
    --------
    imblearn.pipeline.Pipeline : Any number of steps.

    Examples
    --------
    >>> from imblearn.over_sampling import SMOTE
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench import ResampledClassifier
    >>> X, y = make_classification(1000, weights=[0.9], flip_y=0, random_state=0)
    >>> clf = ResampledClassifier(SMOTE(), random_state=0).fit(X, y)
    >>> clf.n_training_rows_
    1802
    """

    def __init__(self, sampler=None, estimator=None, *, random_state=None):
        self.sampler = sampler
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X, y):
        """Resample the rows and train the classifier on what comes out.

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
        if self.sampler is not None and not hasattr(self.sampler, "fit_resample"):
            raise TypeError(f"sampler={self.sampler!r} must have fit_resample.")
        # Labels as numbers, because some samplers take no others.
        table, classes, codes = self._check_fit_rows(X, y)
        counts = np.bincount(codes)
        sampler = None if self.sampler is None else clone(self.sampler)
        estimator = clone(resolve_estimator(self.estimator))
        if self.random_state is not None:
            rng = check_random_state(self.random_state)
            _set_random_state(sampler, rng)
            _set_random_state(estimator, rng)

        start = time.process_time()
        if sampler is not None:
            _number_classes(sampler, classes)
            try:
                table, codes = sampler.fit_resample(table, codes)
            except ValueError as error:
                advice = _advice(sampler, str(error), classes, counts)
                if not advice:
                    raise
                raise ValueError(advice) from error
        self.resampling_time_ = time.process_time() - start
        lost = np.setdiff1d(np.arange(len(classes)), codes)
        if len(lost):
            raise ValueError(
                f"{sampler} left no row of class {classes[lost].tolist()}; use another sampler, or "
                "set its sampling_strategy."
            )
        self.sampler_ = sampler
        self.estimator_ = estimator.fit(table, codes)
        self.n_training_rows_ = len(codes)
        self.classes_ = classes
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.sampler is not None:
            sampler_tags = get_tags(self.sampler).input_tags
            tags.input_tags.sparse &= sampler_tags.sparse
            tags.input_tags.allow_nan &= sampler_tags.allow_nan
        return tags


def _set_random_state(estimator, rng) -> None:
    """Give every `random_state` of an estimator, and of what it holds, a number of its own."""
    if estimator is None:
        return
    names = [name for name in sorted(estimator.get_params()) if name.endswith("random_state")]
    estimator.set_params(**{name: rng.randint(np.iinfo(np.int32).max) for name in names})


def _number_classes(sampler, classes: np.ndarray) -> None:
    """Let a sampling strategy that names classes name their numbers."""
    strategy = getattr(sampler, "sampling_strategy", None)
    if not isinstance(strategy, (dict, list)):
        return
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    unknown = [label for label in strategy if label not in numbers]
    if unknown:
        raise ValueError(
            f"sampling_strategy names classes that y does not have: {unknown}; y has "
            f"{list(numbers)}."
        )
    if isinstance(strategy, dict):
        sampler.set_params(sampling_strategy={numbers[k]: size for k, size in strategy.items()})
    else:
        sampler.set_params(sampling_strategy=[numbers[label] for label in strategy])


def _advice(sampler, message: str, classes: np.ndarray, counts: np.ndarray) -> str:
    """Say what to set if a sampler lacked neighbours; say nothing if it failed otherwise."""
    if "n_neighbors" not in message:
        return ""
    rarest = int(np.argmin(counts))
    n_rows = int(counts[rarest])
    names = [
        name
        for name, value in sampler.get_params().items()
        if name.endswith("_neighbors") and isinstance(value, Integral)
    ]
    # SMOTEENN and SMOTETomek hold their SMOTE only if one is given.
    setting = " and ".join(f"{name}={sampler.get_params()[name]}" for name in names)
    if not names:
        names, setting = ["smote"], "5 neighbours"
    if n_rows < 2:
        remedy = "Pass more rows of this class, or leave it out."
    elif names == ["smote"]:
        remedy = f"Set smote=SMOTE(k_neighbors={n_rows - 1})."
    else:
        remedy = f"Set {names[0]} to {n_rows - 1} or less."
    return (
        f"Class {classes.tolist()[rarest]!r} has n_samples = {n_rows} rows, too few for "
        f"{type(sampler).__name__} with {setting}: {message} {remedy}"
    )
