"""UnderBagging: members on independent, uniformly drawn balanced subsets."""

from copy import copy

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from metasampler._progress import progress_bar
from metasampler._sklearn_compat import fit_context
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble

__all__ = ["UnderBaggingClassifier"]


class UnderBaggingClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data whose members train on uniformly drawn balanced subsets.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class, drawn uniformly and without replacement. Members do not depend on each other, so they
    can be fitted side by side.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base learner; None means :class:`~sklearn.tree.DecisionTreeClassifier`. Those of a
        list take turns: member i is a copy of ``estimator[i % len(estimator)]``. Members are
        trained on class numbers 0, 1, ..., the positions in `classes_`.

    n_estimators : int, default=10
        Number of members.

    sampling_ratio : float, default=1.0
        Rows drawn of each larger class per row of the smallest class.

    validation_fraction : float, default=None
        Part of each class that is held out for `scores_`, calibration and threshold, if `fit` gets
        no validation rows. None trains on all rows.

    scoring : str or callable, default="average_precision"
        How validation rows are scored, see :class:`MesaClassifier`.

    calibration : {"auto", "prior", "sigmoid", "isotonic", "cross-fitted"} or None, default="auto"
        How probabilities are brought from the members' balanced world to the real one, see
        :class:`MesaClassifier`.

    threshold : None, "balanced", float, str or tuple, default="balanced"
        From which probability on `predict` says minority, see :class:`MesaClassifier`.

    n_iter_no_change : int, default=None
        Stop when the validation score has not improved by `tol` for so many members.

    tol : float, default=1e-4
        See `n_iter_no_change`.

    validate_members : bool, default=False
        Whether to hand the validation rows to the members' fit, see :class:`MesaClassifier`.

    leaf_smoothing : float, default=0.0
        Rows of each class added to every leaf of tree members, for smoother scores, see
        :class:`MesaClassifier`.

    n_candidates : int, default=1
        Candidates fitted for each member, of which the best on the validation rows joins the
        ensemble, see :class:`MesaClassifier`. Members are then fitted one after the other, and
        their candidates side by side.

    refit : bool, default=False
        Whether to grow the ensemble once more by the same rule, on training and validation rows
        together, see :class:`MesaClassifier`.

    n_jobs : int, default=None
        How many members are fitted at once, in threads if they are scikit-learn's trees and in
        processes otherwise, and the threads that score rows in prediction. The result is the
        same for any number.

    random_state : int, RandomState instance or None, default=None
        Pass an int for the same ensemble in every call.

    warm_start : bool, default=False
        If True, `fit` keeps the members it has and grows the ensemble to `n_estimators`. On the
        same rows this gives what one longer fit would have given.

    verbose : int, default=0
        Show a progress bar if not 0.

    Attributes
    ----------
    estimators_ : list of classifier
        The members; those of the second growth after a `refit`.

    estimators_samples_ : list of ndarray
        The rows of X each member was trained on. After a `refit` these may be validation rows too;
        rows of an X_val follow those of X: position ``len(X)`` is its first row.

    scores_ : ndarray of shape (n_estimators,)
        Score on the validation rows after each member; empty without such rows.

    n_candidates_ : int
        The candidates that were fitted for each member: `n_candidates`, or 1 if the validation rows
        hold fewer than 12 of some class.

    calibration_ : callable
        Maps the members' mean probabilities to those of `predict_proba`.

    threshold_ : float
        Probability of the minority class from which on `predict` says so (two classes).

    expected_precision_, expected_recall_ : float or None
        What the validation rows, if there are any, say of `threshold_`.

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
    EasyEnsembleClassifier : The same with boosted members.
    SelfPacedEnsembleClassifier : Draws that look at how hard rows are.
    imblearn.ensemble.BalancedBaggingClassifier : Balanced draws from bootstrap samples.

    Notes
    -----
    Every member sees the whole smallest class; :class:`imblearn.ensemble.BalancedBaggingClassifier`
    draws a bootstrap sample of all rows first, so that its members see some 63% of it.

    References
    ----------
    .. [1] R. Barandela, R. M. Valdovinos, J. S. Sanchez, "New Applications of Ensembles of
       Classifiers", Pattern Analysis and Applications 6, 2003.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler.ensemble import UnderBaggingClassifier
    >>> X, y = make_classification(2000, weights=[0.95], flip_y=0, random_state=0)
    >>> clf = UnderBaggingClassifier(random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (2000, 2)
    >>> int((y == 1).sum()), [len(rows) for rows in clf.estimators_samples_[:3]]
    (100, [200, 200, 200])
    """

    _parameter_constraints: dict = {
        **BaseUnderSamplingEnsemble._parameter_constraints,
        "warm_start": ["boolean"],
    }
    _reads_errors = False

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        sampling_ratio=1.0,
        validation_fraction=None,
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
        warm_start=False,
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
        self.warm_start = warm_start

    # The base learner is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, X_val=None, y_val=None, sample_weight=None):
        """Fit the members.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows. Data frames reach the members as they are, unless all are
            scikit-learn's trees.

        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.

        X_val, y_val : table and array-like, default=None
            Validation rows. Without them `validation_fraction` of X is held out.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, see :class:`MesaClassifier`.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        resume = self.warm_start and hasattr(self, "estimators_")
        growth = self._start_growth(X, y, X_val, y_val, sample_weight, resume=resume)
        members = [(number, 0) for number in range(growth.n_members, self.n_estimators)]
        # Whether to stop, and which candidate to take, can only be seen one member after the other.
        by_steps = self.n_iter_no_change is not None or growth.n_candidates > 1
        if by_steps or effective_n_jobs(self.n_jobs) == 1 or len(members) < 2:
            self._grow(growth)
            return self._finish_growth(growth)
        known = growth.data.has_validation
        title, verbose = "Growing the ensemble", self.verbose > 0
        with progress_bar(title, len(members), enabled=verbose) as advance:
            for _ in self._grow_at_once(growth, members):
                self._note(growth, {"score": growth.score("valid") if known else None})
                advance()
        return self._finish_growth(growth)

    def _replay(self, growth, records):
        members = [(number, record["candidate"]) for number, record in enumerate(records)]
        return self._grow_at_once(growth, members)

    def _grow_at_once(self, growth, members):
        """Fit batches of members side by side; each depends on its two numbers alone."""
        n_jobs = min(effective_n_jobs(self.n_jobs), len(members))
        batches = np.array_split(members, n_jobs)
        prefer = "threads" if growth.learner.fits_in_threads else "processes"
        parallel = Parallel(n_jobs, prefer=prefer, return_as="generator")
        for fitted in parallel(delayed(_fit_members)(growth, batch) for batch in batches):
            for member, subset in fitted:
                growth.add(member, subset)
                yield


def _fit_members(growth, members):
    """Fit the members with these numbers, of the candidates with these."""
    growth = copy(growth)
    growth.learner = growth.learner.own_copy()
    return [
        growth.fit_member(int(number), candidate=int(candidate)) for number, candidate in members
    ]
