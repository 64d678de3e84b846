"""SMOTEBoost: boosting whose members are also trained on synthetic rows of small classes."""

from abc import abstractmethod
from numbers import Integral

import numpy as np

from metasampler.ensemble.base import Interval, StrOptions
from metasampler.growth import Stream
from metasampler_bench.ensemble._boosting import BaseBoosting, TrainingRows
from metasampler_bench.ensemble._docs import shared_docs
from metasampler_bench.ensemble._smote import NumericRowsMixin, Smote

__all__ = ["BaseSyntheticBoosting", "SMOTEBoostClassifier"]


class BaseSyntheticBoosting(NumericRowsMixin, BaseBoosting):
    """Base of the boosted ensembles that add synthetic rows in every round.

    A subclass says how SMOTE is set up, and may change how often a row is started from.
    """

    _parameter_constraints: dict = {
        **BaseBoosting._parameter_constraints,
        **BaseBoosting._algorithm_constraints,
        "n_samples": [Interval(Integral, 1, None, closed="left"), StrOptions({"balance"})],
    }

    @abstractmethod
    def _make_smote(self, data, wanted) -> Smote:
        """Return SMOTE for the classes with the numbers in ``wanted``."""

    def _start_factors(self, data, wanted) -> dict:
        """Return what row weights are multiplied by in the draw of rows to start from."""
        return dict.fromkeys(wanted, 1.0)

    def _start_rounds(self, data, streams):
        X, codes = data.tables[0], data.codes
        sizes = np.array([len(rows) for rows in data.class_rows])
        lacking = sizes.max() - sizes
        if self.n_samples != "balance":
            lacking = np.minimum(lacking, self.n_samples)
        wanted = np.flatnonzero(lacking).tolist()
        smote = self._make_smote(data, wanted)
        factors = self._start_factors(data, wanted)
        self.n_synthetic_ = {data.classes.tolist()[k]: int(lacking[k]) for k in wanted}
        # Synthetic rows live for one round, each with the weight of an average real row.
        new_codes = np.repeat(np.arange(data.n_classes), lacking)
        all_codes = np.concatenate([codes, new_codes.astype(codes.dtype)])
        extra = np.full(lacking.sum(), 1 / len(codes))

        def make_rows(number, weights):
            rng = streams.generator(Stream.DRAW, number)
            parts = [X]
            for k in wanted:
                # Rows that boosting finds hard are started from more often.
                share = factors[k] * weights[data.class_rows[k]]
                parts.append(smote.draw(k, lacking[k], rng, share))
            all_weights = np.concatenate([weights, extra])
            return TrainingRows(np.concatenate(parts), all_codes, None, all_weights)

        return make_rows


@shared_docs()
class SMOTEBoostClassifier(BaseSyntheticBoosting):
    """Boosting for imbalanced data with new synthetic rows (SMOTE) in every round.

    Each member is trained on all rows and on synthetic rows of every class but the largest. A
    synthetic row lies between a row and one of its nearest neighbours in the same class; rows
    with large weights are started from more often. After the round the synthetic rows are
    thrown away, and the weights of the real rows change by the member's mistakes on them.

    Parameters
    ----------
    {weighted_estimator}

    {n_estimators}

    {synthetic}

    {k_neighbors}

    {boosting}

    {synthetic_votes}

    {running}

    Attributes
    ----------
    {boosted}

    n_synthetic_ : dict
        How many synthetic rows of each class a round has.

    {fitted}

    See Also
    --------
    RAMOBoostClassifier : Draws more synthetic rows near other classes.
    SMOTEBaggingClassifier : Synthetic rows without boosting.
    RUSBoostClassifier : Leaves out rows of the larger classes instead.

    Notes
    -----
    {synthetic_notes}

    References
    ----------
    .. [1] N. V. Chawla, A. Lazarevic, L. O. Hall, K. W. Bowyer, "SMOTEBoost: Improving
       Prediction of the Minority Class in Boosting", PKDD 2003.
    .. [2] J. Zhu, H. Zou, S. Rosset, T. Hastie, "Multi-class AdaBoost", Statistics and Its
       Interface 2, 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench.ensemble import SMOTEBoostClassifier
    >>> X, y = make_classification(2000, weights=[0.95], flip_y=0, random_state=0)
    >>> clf = SMOTEBoostClassifier(random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (2000, 2)
    >>> clf.n_training_rows_[:3]
    [2100, 2100, 2100]
    """

    _parameter_constraints: dict = {
        **BaseSyntheticBoosting._parameter_constraints,
        "k_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        n_samples=100,
        k_neighbors=5,
        algorithm="SAMME.R",
        learning_rate=1.0,
        min_probability=0.1,
        stop_when_perfect=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_samples = n_samples
        self.k_neighbors = k_neighbors
        self.algorithm = algorithm
        self.learning_rate = learning_rate
        self.min_probability = min_probability
        self.stop_when_perfect = stop_when_perfect
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_smote(self, data, wanted):
        return Smote(data, wanted, self.k_neighbors, n_jobs=self.n_jobs)
