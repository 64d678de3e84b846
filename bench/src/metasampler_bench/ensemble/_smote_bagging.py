"""SMOTEBagging: bagging on balanced bootstraps, in part synthetic, in varying proportions."""

from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from metasampler.ensemble.base import BaseEnsemble, Interval, fit_context
from metasampler.growth import (
    RandomStreams,
    Stream,
    is_plain_tree,
    make_adapters,
    make_growth_data,
    resolve_estimator,
)
from metasampler_bench.ensemble._docs import shared_docs
from metasampler_bench.ensemble._smote import NumericRowsMixin, Smote

__all__ = ["SMOTEBaggingClassifier"]

# The resampling rates: 10 %, 20 %, ..., 100 %, and from the start again.
_N_RATES = 10


@shared_docs()
class SMOTEBaggingClassifier(NumericRowsMixin):
    """Bagging for imbalanced data whose small classes are filled up with synthetic rows (SMOTE).

    Each member is trained on a bootstrap of the largest class and on as many rows of every other
    class. A part b of the latter are drawn from the class with replacement, the rest are
    synthetic and lie between a row and one of its nearest neighbours in the class. b is 10 % for
    the first member, 20 % for the second, ..., 100 % for the tenth, then 10 % again, which makes
    the members different.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, default=None
        The base estimator; None means a :class:`~sklearn.tree.DecisionTreeClassifier`. Members are
        trained on class numbers 0, 1, ..., the positions in `classes_`.

    {n_estimators}

    {k_neighbors}

    {n_jobs_members}

    {random_state}

    {verbose}

    Attributes
    ----------
    estimators_ : list of classifier
        The members.

    estimators_samples_ : list of ndarray
        The rows of X each member was trained on; a row that was drawn twice is there twice.

    n_training_rows_ : list of int
        How many rows each member was trained on, synthetic ones included.

    resampling_rates_ : ndarray of shape (n_estimators,)
        The part of the smaller classes that is not synthetic, for each member.

    {fitted}

    See Also
    --------
    SMOTEBoostClassifier : Synthetic rows with boosting.
    UnderBaggingClassifier : Balanced by leaving out rows.

    Notes
    -----
    The neighbours are computed once. The rows must be numbers, and for neighbours to mean
    something the columns should be scaled alike.

    References
    ----------
    .. [1] S. Wang, X. Yao, "Diversity Analysis on Imbalanced Data Sets by Using Ensemble Models",
       IEEE Symposium on Computational Intelligence and Data Mining, 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench.ensemble import SMOTEBaggingClassifier
    >>> X, y = make_classification(2000, weights=[0.95], flip_y=0, random_state=0)
    >>> clf = SMOTEBaggingClassifier(random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (2000, 2)
    >>> clf.n_training_rows_[:3], clf.resampling_rates_[:3]
    ([3800, 3800, 3800], array([0.1, 0.2, 0.3]))
    """

    _parameter_constraints: dict = {
        **BaseEnsemble._parameter_constraints,
        "k_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        k_neighbors=5,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.k_neighbors = k_neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # The base estimator is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y):
        """Fit the members.

        Parameters
        ----------
        {training_rows}

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        estimator = resolve_estimator(self._base_estimator())
        streams = RandomStreams.from_random_state(self.random_state)
        data = make_growth_data(
            self._fit_table(X, estimator),
            y,
            estimator=estimator,
            validation_fraction=None,
            sampling_ratio=1.0,
            scoring=None,
            streams=streams,
            owner=self,
        )
        self._check_features(X, reset=True)
        rates = (np.arange(self.n_estimators) % _N_RATES + 1) / _N_RATES
        # Rates below 1 need synthetic rows, of every class that is smaller than the largest.
        sizes = np.array([len(rows) for rows in data.class_rows])
        smaller = np.flatnonzero(sizes < sizes.max())
        smote = Smote(data, smaller, self.k_neighbors)

        adapter = make_adapters(estimator, data.tables, data.n_classes).of(0)
        n_jobs = min(effective_n_jobs(self.n_jobs), self.n_estimators)
        prefer = "threads" if adapter.fits_in_threads else "processes"
        parallel = Parallel(n_jobs, prefer=prefer, return_as="generator")
        self.estimators_, self.estimators_samples_, self.n_training_rows_ = [], [], []
        with self._progress("Bagging", self.n_estimators) as advance:
            for member, rows, n_rows in parallel(
                delayed(_fit_member)(estimator, data, smote, float(rate), streams, number)
                for number, rate in enumerate(rates)
            ):
                self.estimators_.append(member)
                self.estimators_samples_.append(rows)
                self.n_training_rows_.append(n_rows)
                advance()
        self.resampling_rates_ = rates
        self.estimator_ = estimator
        self._form = data.form
        self.classes_ = data.classes
        self.minority_class_ = data.classes[data.minority]
        return self


def _fit_member(estimator, data, smote, rate, streams, number):
    """Fit the member with this number; it depends on nothing else."""
    rng = streams.generator(Stream.DRAW, number)
    size = max(len(rows) for rows in data.class_rows)
    X, codes = data.tables[0], data.codes
    drawn, synthetic, synthetic_codes = [], [], []
    for k, rows in enumerate(data.class_rows):
        n_drawn = size if k not in smote.neighbors else round(rate * size)
        drawn.append(rng.choice(rows, n_drawn))
        if n_drawn < size:
            synthetic.append(smote.draw(k, size - n_drawn, rng))
            synthetic_codes.append(np.full(size - n_drawn, k, dtype=codes.dtype))
    rows = np.sort(np.concatenate(drawn))
    real, weights = rows, None
    if _counts_serve(estimator):
        real, counts = np.unique(rows, return_counts=True)
        n_synthetic = sum(len(part) for part in synthetic)
        weights = np.concatenate([counts, np.ones(n_synthetic)])
    adapter = make_adapters(estimator, [X], data.n_classes).of(0)
    member = adapter.fit(
        np.concatenate([X[real], *synthetic]),
        np.concatenate([codes[real], *synthetic_codes]),
        None,
        streams.integer(Stream.MEMBER, number),
        weights,
    )
    return member, rows, size * data.n_classes


def _counts_serve(estimator) -> bool:
    """Return whether a row drawn twice can be one row of weight 2: the same tree, sooner."""
    return (
        is_plain_tree(estimator)
        and estimator.class_weight is None
        and estimator.min_samples_leaf == 1
        and estimator.min_samples_split == 2
    )
