"""EasyEnsemble: boosted members on independent, uniformly drawn balanced subsets."""

from sklearn.ensemble import AdaBoostClassifier

from metasampler.ensemble._under_bagging import UnderBaggingClassifier

__all__ = ["EasyEnsembleClassifier"]


class EasyEnsembleClassifier(UnderBaggingClassifier):
    """Ensemble for imbalanced data whose members are AdaBoost ensembles on balanced subsets.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class, drawn uniformly and without replacement. It is
    :class:`~metasampler.ensemble.UnderBaggingClassifier` with another base learner.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base learner; None means :class:`~sklearn.ensemble.AdaBoostClassifier`, which boosts
        50 trees of depth 1. Those of a list take turns: member i is a copy of
        ``estimator[i % len(estimator)]``. Members are trained on class numbers 0, 1, ..., the
        positions in `classes_`.

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
        :class:`MesaClassifier`. The default
        base learner has no leaves to smooth.

    n_candidates : int, default=1
        Candidates fitted for each member, of which the best on the validation rows joins the
        ensemble, see :class:`MesaClassifier`. Members are then fitted one after the other, and
        their candidates side by side.

    refit : bool, default=False
        Whether to grow the ensemble once more by the same rule, on training and validation rows
        together, see :class:`MesaClassifier`.

    n_jobs : int, default=None
        How many members are fitted at once, in processes, and the threads that score rows in
        prediction. The result is the same for any number.

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
    UnderBaggingClassifier : The same with members that are not boosted.
    BalanceCascadeClassifier : Drops the easy rows of the larger classes on the way.
    imblearn.ensemble.EasyEnsembleClassifier : The same algorithm.

    Notes
    -----
    The paper boosts larger trees for 10 rounds in each of 4 members, and adds up the scores of
    all boosted trees. Here, as in imbalanced-learn, the default is 50 rounds of trees of depth 1
    in each of 10 members, and the members' probabilities are averaged.

    References
    ----------
    .. [1] X.-Y. Liu, J. Wu, Z.-H. Zhou, "Exploratory Undersampling for Class-Imbalance
       Learning", IEEE Transactions on Systems, Man, and Cybernetics B 39 (2), 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler.ensemble import EasyEnsembleClassifier
    >>> X, y = make_classification(2000, weights=[0.95], flip_y=0, random_state=0)
    >>> clf = EasyEnsembleClassifier(n_estimators=3, random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (2000, 2)
    >>> clf.estimators_[0]
    AdaBoostClassifier(...)
    """

    def _base_learner(self):
        return AdaBoostClassifier() if self.estimator is None else self.estimator
