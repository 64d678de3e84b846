"""What a learned policy has to beat: the best constant, selected on validation rows."""

from numbers import Real

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from metasampler._sklearn_compat import Interval, fit_context
from metasampler.ensemble import MesaClassifier
from metasampler.ensemble._refit import check_refit
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble
from metasampler.growth._random import RandomStreams

__all__ = ["SelectedMuClassifier"]


class SelectedMuClassifier(BaseUnderSamplingEnsemble):
    """MESA with the constant mu that does best on the validation rows.

    It fits one :class:`~metasampler.MesaClassifier` for each mu, all with the same validation
    rows and the same random numbers, and keeps the one whose whole ensemble scores highest.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base learner; None means :class:`~sklearn.tree.DecisionTreeClassifier`. Those of a
        list take turns, see :class:`~metasampler.MesaClassifier`.

    n_estimators : int, default=10
        Number of members.

    mus : sequence of float, default=(0.0, 0.1, ..., 1.0)
        The constants to choose from, in [0, 1].

    sigma : float, default=None
        Width of the Gaussian over errors; None means 0.2.

    sampling_ratio : float, default=1.0
        Rows drawn of each larger class per row of the smallest class.

    validation_fraction : float, default=0.2
        Part of each class that is held out if `fit` gets no validation rows.

    scoring : str or callable, default="average_precision"
        How validation rows are scored; see :class:`~metasampler.MesaClassifier`.

    calibration, threshold, n_iter_no_change, tol, validate_members : object
        As in :class:`~metasampler.MesaClassifier`.

    leaf_smoothing, n_candidates, refit : object
        As in :class:`~metasampler.MesaClassifier`; only the mu that was selected is refitted.

    n_jobs : int, default=None
        Threads that score rows, in `fit` and in prediction. The result is the same for any number.

    random_state : int, RandomState instance or None, default=None
        Pass an int for the same ensemble in every call.

    verbose : int, default=0
        Show a progress bar for every mu if not 0.

    Attributes
    ----------
    mu_ : float
        The mu that was selected; of equally good ones the first.

    validation_scores_ : ndarray of shape (n_mus,)
        Score on the validation rows of the whole ensemble of each mu.

    estimators_ : list of classifier
        The members of the ensemble that was kept.

    estimators_samples_ : list of ndarray
        The rows of X each of them was trained on.

    actions_, states_, scores_, meta_sampler_, n_candidates_, leaf_smoothing_, refit_ : object
        Of the ensemble that was kept; see :class:`~metasampler.MesaClassifier`.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    minority_class_ : object
        The label of the smallest class.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean of the members' importances, where they have them.

    estimator_ : classifier or list of classifier
        The base learner that members were copied from, or those that took turns.

    See Also
    --------
    metasampler.MesaClassifier : One constant, or a learned policy.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler.benchmark import SelectedMuClassifier
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> clf = SelectedMuClassifier(mus=(0.1, 0.9), random_state=0).fit(X, y)
    >>> clf.mu_ in (0.1, 0.9), clf.validation_scores_.shape
    (True, (2,))
    """

    _parameter_constraints: dict = {
        **BaseUnderSamplingEnsemble._parameter_constraints,
        "mus": ["array-like"],
        "sigma": [None, Interval(Real, 0, None, closed="neither")],
        # Without validation rows there is nothing to select by.
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        mus=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        sigma=None,
        sampling_ratio=1.0,
        validation_fraction=0.2,
        scoring="average_precision",
        calibration="auto",
        threshold="balanced",
        n_iter_no_change=None,
        tol=1e-4,
        validate_members=False,
        leaf_smoothing=0.0,
        n_candidates=1,
        refit=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        super().__init__(
            estimator,
            n_estimators,
            sampling_ratio=sampling_ratio,
            validation_fraction=validation_fraction,
            scoring=scoring,
            calibration=calibration,
            threshold=threshold,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            validate_members=validate_members,
            leaf_smoothing=leaf_smoothing,
            n_candidates=n_candidates,
            refit=refit,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.mus = mus
        self.sigma = sigma

    # The base learner is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, X_val=None, y_val=None):
        """Fit an ensemble for each mu and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows.

        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.

        X_val, y_val : table and array-like, default=None
            Validation rows. Without them a part of each class is held out from X.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        if len(self.mus) == 0:
            raise ValueError("mus must hold at least one number to choose from.")
        check_refit(self)
        # One seed for all, also where random_state is None or a generator.
        seed = RandomStreams.from_random_state(self.random_state).entropy
        options = self.get_params(deep=False) | {"random_state": seed, "refit": False}
        if self.estimator is None:
            options["estimator"] = DecisionTreeClassifier()
        mus = options.pop("mus")
        scores: list[float] = []
        for mu in mus:
            candidate = MesaClassifier(meta_sampler=float(mu), **options)
            candidate.fit(X, y, X_val, y_val)
            score = candidate.scores_[-1]
            if not scores or score > max(scores):
                best, self.mu_ = candidate, float(mu)
            scores.append(score)
        if self.refit:
            best.set_params(refit=self.refit).fit(X, y, X_val, y_val)
        self.validation_scores_ = np.array(scores)
        self._check_features(X, reset=True)
        # All that a fit leaves behind, and so all that the answers need.
        parameters = best.get_params(deep=False)
        for name, value in vars(best).items():
            if name not in parameters:
                setattr(self, name, value)
        return self
