"""Select the best constant on validation rows: what a learned policy has to beat."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from metasampler import MesaClassifier
from metasampler_bench._wrapper import WrappingClassifier

__all__ = ["KEPT", "SelectedMuClassifier"]

#: What is taken over of the ensemble that is kept.
KEPT = ("classes_", "estimators_", "estimators_samples_", "actions_", "scores_")


class SelectedMuClassifier(WrappingClassifier):
    """MESA with the constant mu that does best on the validation rows.

    It fits one :class:`~metasampler.MesaClassifier` for each mu, all with the same validation
    rows and the same random numbers, and keeps the one whose whole ensemble scores highest.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base estimator; None means :class:`~sklearn.tree.DecisionTreeClassifier`. Those of a
        list take turns, see :class:`~metasampler.MesaClassifier`.

    n_estimators : int, default=10
        Number of members.

    mus : sequence of float, default=(0.0, 0.1, ..., 1.0)
        The constants to choose from, in [0, 1].

    validation_fraction : float, default=0.2
        Part of each class that is held out if `fit` gets no validation rows.

    calibration, threshold : object
        As in :class:`~metasampler.MesaClassifier`.

    refit : bool, default=False
        As in :class:`~metasampler.MesaClassifier`; only the mu that was selected is refitted.

    n_jobs : int, default=None
        Threads that score rows, in `fit` and in prediction. The result is the same for any number.

    random_state : int, RandomState instance or None, default=None
        Pass an int for the same ensemble in every call.

    Attributes
    ----------
    mu_ : float
        The mu that was selected; of equally good ones the first.

    validation_scores_ : ndarray of shape (n_mus,)
        Score on the validation rows of the whole ensemble of each mu.

    estimator_ : MesaClassifier
        The ensemble that was kept.

    estimators_, estimators_samples_, actions_, scores_ : object
        Of the ensemble that was kept; see :class:`~metasampler.MesaClassifier`.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    See Also
    --------
    metasampler.MesaClassifier : One constant, or a learned policy.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench import SelectedMuClassifier
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> clf = SelectedMuClassifier(mus=(0.1, 0.9), random_state=0).fit(X, y)
    >>> clf.mu_ in (0.1, 0.9), clf.validation_scores_.shape
    (True, (2,))
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        mus=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        validation_fraction=0.2,
        calibration="auto",
        threshold="balanced",
        refit=False,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.mus = mus
        self.validation_fraction = validation_fraction
        self.calibration = calibration
        self.threshold = threshold
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None, sample_weight_val=None):
        """Fit an ensemble for each mu and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows.

        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, see :meth:`metasampler.MesaClassifier.fit`.

        X_val, y_val : table and array-like, default=None
            Validation rows. Without them a part of each class is held out from X.

        sample_weight_val : array-like of shape (n_validation_samples,), default=None
            Weights of the validation rows.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        if len(self.mus) == 0:
            raise ValueError("mus must hold at least one number to choose from.")
        if self.validation_fraction is None and X_val is None:
            raise ValueError(
                "There are no validation rows to select mu by: set validation_fraction, or pass "
                "X_val and y_val."
            )
        validation = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        options = self.get_params(deep=False)
        mus = options.pop("mus")
        options |= {"refit": False, "leaf_smoothing": 0.0, "random_state": self._seed()}
        if self.estimator is None:
            options["estimator"] = DecisionTreeClassifier()
        scores: list[float] = []
        for mu in mus:
            candidate = MesaClassifier(meta_sampler=float(mu), **options)
            candidate.fit(X, y, sample_weight, **validation)
            score = candidate.scores_[-1]
            if not scores or score > max(scores):
                best, self.mu_ = candidate, float(mu)
            scores.append(score)
        if self.refit:
            best.set_params(refit=self.refit).fit(X, y, sample_weight, **validation)
        self.validation_scores_ = np.array(scores)
        validate_data(self, X, skip_check_array=True)
        self._keep(best)
        return self

    def _keep(self, fitted: MesaClassifier) -> None:
        self.estimator_ = fitted
        for name in KEPT:
            setattr(self, name, getattr(fitted, name))

    def _seed(self) -> int:
        """Return one seed for all fits, also where random_state is None or a generator."""
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _labels(self, answers):
        return answers

    def staged_predict_proba(self, X):
        """Yield the probability of each class after each member.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
        """
        table = self._check_predict_table(X)
        yield from self.estimator_.staged_predict_proba(table)
