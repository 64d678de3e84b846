"""Self-paced ensemble (SPE): draws harmonised over bins of equal hardness."""

from collections.abc import Callable
from math import pi, tan
from numbers import Integral

import numpy as np

from metasampler._sklearn_compat import Interval, StrOptions, fit_context
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble
from metasampler.growth._sampling import draw_rows

__all__ = ["SelfPacedEnsembleClassifier"]

# Cross-entropy is infinite where all members are wrong, and the bins span its range.
_LEAST_PROBABILITY = 1e-4

_HARDNESS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "absolute": lambda errors: errors,
    "squared": np.square,
    "cross-entropy": lambda errors: -np.log(np.maximum(1 - errors, _LEAST_PROBABILITY)),
}


class SelfPacedEnsembleClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data that shifts from easy majority rows to hard ones.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class. These are divided into bins by their hardness, which is computed from the errors of
    the ensemble so far. At first each bin contributes about the same sum of hardness, so that
    the many easy rows are represented but do not prevail; member by member this turns into the
    same number of rows from each bin. The first member is trained on a uniform draw.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base learner; None means :class:`~sklearn.tree.DecisionTreeClassifier`. Those of a
        list take turns: member i is a copy of ``estimator[i % len(estimator)]``. Members are
        trained on class numbers 0, 1, ..., the positions in `classes_`.

    n_estimators : int, default=10
        Number of members.

    hardness : {"absolute", "squared", "cross-entropy"}, default="absolute"
        How hard a row is, given the probability p of its class: ``1 - p``, ``(1 - p) ** 2`` or
        ``-log(p)`` with p at least 0.0001.

    k_bins : int, default=10
        Number of bins of equal width between the least and the greatest hardness of a class.

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
        :class:`MesaClassifier`. Hardness is that of the plain leaves.

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
    UnderBaggingClassifier : Uniform balanced draws.
    BalanceCascadeClassifier : Drops easy rows for good.
    MesaClassifier : Learns which rows to draw.

    Notes
    -----
    A bin with mean hardness h gets a share of the draw proportional to ``1 / (h + alpha)``. With
    k members the self-paced factor alpha is ``tan(i * pi / (2 * (k - 1)))`` for the i-th member
    after the first; for the last it is infinite but for rounding.

    Where a bin has fewer rows than its share, all of them are taken and the other bins fill the
    gap in proportion to their shares; the authors' first implementation leaves it open, and its
    second draws rows repeatedly. So every subset has exactly the size that was asked for.

    References
    ----------
    .. [1] Z. Liu, W. Cao, Z. Gao, J. Bian, H. Chen, Y. Chang, T.-Y. Liu, "Self-paced Ensemble for
       Highly Imbalanced Massive Data Classification", ICDE 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler.ensemble import SelfPacedEnsembleClassifier
    >>> X, y = make_classification(2000, weights=[0.95], flip_y=0, random_state=0)
    >>> clf = SelfPacedEnsembleClassifier(random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (2000, 2)
    >>> int((y == 1).sum()), [len(rows) for rows in clf.estimators_samples_[:3]]
    (100, [200, 200, 200])
    """

    _parameter_constraints: dict = {
        **BaseUnderSamplingEnsemble._parameter_constraints,
        "hardness": [StrOptions(set(_HARDNESS))],
        "k_bins": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        hardness="absolute",
        k_bins=10,
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
        self.hardness = hardness
        self.k_bins = k_bins

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
        hardness_of = _HARDNESS[self.hardness]

        def select(rows, keys, size):
            hardness = hardness_of(growth.errors_of(rows))
            alpha = self_paced_factor(growth.n_members, self.n_estimators)
            return rows[draw_self_paced(hardness, keys, size, alpha, self.k_bins)]

        return select


def self_paced_factor(member: int, n_members: int) -> float:
    """Alpha for a member, numbered from 0; the first is not drawn by hardness."""
    # The quotient first: it is exactly 1 for the last member, and rounding beyond pi / 2 would
    # turn the sign.
    return tan(pi / 2 * (member / (n_members - 1)))


def share_out(weights: np.ndarray, populations: np.ndarray, size: int) -> np.ndarray:
    """Whole numbers in proportion to ``weights``, none above its population, ``size`` in sum.

    Parameters
    ----------
    weights : ndarray of shape (n_bins,)
        Positive where there are any rows.
    populations : ndarray of int of shape (n_bins,)
        The rows there are, in all at least ``size``.
    size : int
        The rows to draw.

    Returns
    -------
    quotas : ndarray of int of shape (n_bins,)
    """
    shares = np.zeros(len(weights))
    open_bins = populations > 0
    left = size
    while True:
        shares[open_bins] = left * weights[open_bins] / weights[open_bins].sum()
        full = open_bins & (shares >= populations)
        if not full.any():
            break
        shares[full] = populations[full]
        left -= int(populations[full].sum())
        open_bins &= ~full
        if not open_bins.any():
            break
    quotas = np.floor(shares).astype(np.intp)
    # What rounding has left over goes to the bins that lost most by it.
    by_loss = np.argsort(quotas - shares, kind="stable")
    quotas[by_loss[: size - quotas.sum()]] += 1
    return quotas


def draw_self_paced(
    hardness: np.ndarray, keys: np.ndarray, size: int, alpha: float, k_bins: int
) -> np.ndarray:
    """Positions of the rows that a self-paced draw takes.

    Parameters
    ----------
    hardness : ndarray of shape (n_rows,)
    keys : ndarray of shape (n_rows,)
        Random keys of the rows.
    size : int
        How many rows to draw, no more than there are.
    alpha : float
        The self-paced factor, above 0.
    k_bins : int
    """
    least, greatest = hardness.min(), hardness.max()
    if least == greatest:
        return draw_rows(keys, size)
    bins = ((hardness - least) / (greatest - least) * k_bins).astype(np.intp)
    np.minimum(bins, k_bins - 1, out=bins)
    populations = np.bincount(bins, minlength=k_bins)
    sums = np.bincount(bins, weights=hardness, minlength=k_bins)
    weights = 1 / (sums / np.maximum(populations, 1) + alpha)
    quotas = share_out(weights, populations, size)
    drawn = []
    for k in np.flatnonzero(quotas):
        rows = np.flatnonzero(bins == k)
        drawn.append(rows[draw_rows(keys[rows], quotas[k])])
    return np.concatenate(drawn)
