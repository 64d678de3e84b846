"""BalanceCascade: after each member the rows it has learned leave the larger classes."""

import numpy as np

from metasampler._sklearn_compat import fit_context
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble
from metasampler.growth._loop import Growth
from metasampler.growth._random import Stream
from metasampler.growth._sampling import draw_rows, race_keys

__all__ = ["BalanceCascadeClassifier"]


class BalanceCascadeClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data that drops the easiest majority rows after each member.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class, drawn uniformly from that class's pool. At first the pool is the whole class. After
    each member it is cut to the rows with the largest errors of the ensemble so far, by the same
    fraction every time, so that the last member gets the hardest rows and no others.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base learner; None means :class:`~sklearn.tree.DecisionTreeClassifier`. Those of a
        list take turns: member i is a copy of ``estimator[i % len(estimator)]``. Members are
        trained on class numbers 0, 1, ..., the positions in `classes_`.

    n_estimators : int, default=10
        Number of members. The more there are, the slower the pools shrink.

    sampling_ratio : float, default=1.0
        Rows drawn of each larger class per row of the smallest class, and so the size of the
        last pool.

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
        :class:`MesaClassifier`. Rows are ranked by the plain leaves.

    n_candidates : int, default=1
        Candidates fitted for each member, of which the best on the validation rows joins the
        ensemble, see :class:`MesaClassifier`.

    refit : bool, default=False
        Whether to grow the ensemble once more by the same rule, on training and validation rows
        together, see :class:`MesaClassifier`.

    n_jobs : int, default=None
        Threads that score rows, in `fit` and in prediction, and that fit candidates. The result is
        the same for any number.

    random_state : int, RandomState instance or None, default=None
        Pass an int for the same ensemble in every call.

    verbose : int, default=0
        Show a progress bar if not 0.

    Attributes
    ----------
    estimators_ : list of classifier
        The members; those of the second growth after a `refit`.

    estimators_samples_ : list of ndarray
        The rows of X each member was trained on. After a `refit` these may be validation rows too;
        rows of an X_val follow those of X: position ``len(X)`` is its first row.

    pool_sizes_ : ndarray of shape (n_estimators, n_classes)
        The rows of each class that each member's were drawn from; after a `refit`, of all rows.

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
    EasyEnsembleClassifier : Keeps all rows; from the same paper.
    SelfPacedEnsembleClassifier : Also looks at errors, but keeps some easy rows.

    Notes
    -----
    With P rows in the smallest class, N in a larger one and k members, a fraction
    ``(P / N) ** (1 / (k - 1))`` of the pool is kept after each member. The error of a row is 1
    minus the probability of its class; rows with equal errors are kept at random.

    In the paper a member is an AdaBoost ensemble whose threshold is moved until its rate of
    false positives is that fraction, and the rows it then gets right are dropped. Here, as in
    later implementations, members may be any classifier and the rows are ranked by the whole
    ensemble so far.

    References
    ----------
    .. [1] X.-Y. Liu, J. Wu, Z.-H. Zhou, "Exploratory Undersampling for Class-Imbalance
       Learning", IEEE Transactions on Systems, Man, and Cybernetics B 39 (2), 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler.ensemble import BalanceCascadeClassifier
    >>> X, y = make_classification(1000, weights=[0.99], flip_y=0, random_state=0)
    >>> clf = BalanceCascadeClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (1000, 2)
    >>> clf.pool_sizes_[:, 0].tolist()
    [990, 314, 99, 32, 10]
    """

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

    # The base learner is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, X_val=None, y_val=None, sample_weight=None):
        """Grow the ensemble.

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
        growth = self._start_growth(X, y, X_val, y_val, sample_weight)
        self._grow(growth)
        return self._finish_growth(growth)

    def _selector(self, growth):
        cascade = _Cascade(growth, self.n_estimators)
        self.pool_sizes_ = np.array(cascade.sizes).T
        return cascade


def pool_sizes(n_rows: int, draw_size: int, n_members: int) -> np.ndarray:
    """Rows of one class that each member's may be drawn from: a geometric sequence."""
    if n_rows <= draw_size:
        return np.full(n_members, n_rows)
    exponents = np.arange(n_members) / max(1, n_members - 1)
    return np.rint(n_rows * (draw_size / n_rows) ** exponents).astype(np.intp)


def hardest(errors: np.ndarray, ties: np.ndarray, size: int) -> np.ndarray:
    """Positions of the ``size`` largest errors; of equal ones those with the smallest ``ties``.

    In linear time, whereas sorting by both would not be.
    """
    if size >= len(errors):
        return np.arange(len(errors))
    limit = np.partition(errors, len(errors) - size)[len(errors) - size]
    kept = errors > limit
    tied = np.flatnonzero(errors == limit)
    kept[tied[draw_rows(ties[tied], size - int(np.count_nonzero(kept)))]] = True
    return np.flatnonzero(kept)


class _Cascade:
    """Chooses rows of the larger classes from pools that shrink with every member."""

    def __init__(self, growth: Growth, n_members: int):
        data = growth.data
        self.growth = growth
        self.sizes = [pool_sizes(len(rows), data.draw_size, n_members) for rows in data.class_rows]
        self.pools = [np.arange(len(rows)) for rows in data.class_rows]
        # Not the keys of the draw: rows that were kept for their small keys would then be drawn
        # more often than those kept for their errors.
        self.ties = race_keys(growth.streams.row_key(Stream.TIES), 0, 0, data.n_train_table)

    def __call__(self, rows: np.ndarray, keys: np.ndarray, size: int) -> np.ndarray:
        k = int(self.growth.data.codes[rows[0]])
        pool = self.pools[k]
        members = rows[pool]
        kept = hardest(
            self.growth.errors_of(members),
            self.ties[members],
            int(self.sizes[k][self.growth.n_members]),
        )
        self.pools[k] = pool = pool[kept]
        return rows[pool[draw_rows(keys[pool], size)]]
