"""RAMOBoost: boosting with more synthetic rows where other classes are near."""

from numbers import Integral, Real

from scipy.special import expit

from metasampler.ensemble.base import Interval
from metasampler_bench.ensemble._docs import shared_docs
from metasampler_bench.ensemble._smote import Smote, others_nearby
from metasampler_bench.ensemble._smote_boost import BaseSyntheticBoosting

__all__ = ["RAMOBoostClassifier"]


@shared_docs()
class RAMOBoostClassifier(BaseSyntheticBoosting):
    """Boosting for imbalanced data with ranked minority over-sampling in every round.

    Each member is trained on all rows and on synthetic rows of every class but the largest. A
    synthetic row lies between a row and one of its nearest neighbours in the same class. Rows
    are started from more often the larger their weights are, and the more of their nearest
    neighbours are of other classes. After the round the synthetic rows are thrown away, and the
    weights of the real rows change by the member's mistakes on them.

    Parameters
    ----------
    {weighted_estimator}

    {n_estimators}

    {synthetic}

    k_neighbors_1 : int, default=5
        Nearest neighbours, of any class, among which those of other classes are counted.

    k_neighbors_2 : int, default=5
        Nearest neighbours of the same class that a synthetic row can lie towards; fewer, with a
        warning, where the class has too few rows.

    alpha : float, default=0.3
        How much neighbours of other classes count: a row with d of them is started from in
        proportion to 1 / (1 + exp(-alpha * d)), times its weight.

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
    SMOTEBoostClassifier : Starts from rows by their weights alone.

    Notes
    -----
    The published algorithm draws the rows of a round by their weights and then looks for
    neighbours among the rows drawn. Here all rows are kept with their weights, which enter the
    draw of rows to start from.

    {synthetic_notes}

    References
    ----------
    .. [1] S. Chen, H. He, E. A. Garcia, "RAMOBoost: Ranked Minority Oversampling in Boosting",
       IEEE Transactions on Neural Networks 21 (10), 2010.
    .. [2] J. Zhu, H. Zou, S. Rosset, T. Hastie, "Multi-class AdaBoost", Statistics and Its
       Interface 2, 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench.ensemble import RAMOBoostClassifier
    >>> X, y = make_classification(2000, weights=[0.95], flip_y=0, random_state=0)
    >>> clf = RAMOBoostClassifier(random_state=0).fit(X, y)
    >>> clf.predict_proba(X).shape
    (2000, 2)
    >>> clf.n_training_rows_[:3]
    [2100, 2100, 2100]
    """

    _parameter_constraints: dict = {
        **BaseSyntheticBoosting._parameter_constraints,
        "k_neighbors_1": [Interval(Integral, 1, None, closed="left")],
        "k_neighbors_2": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        n_samples=100,
        k_neighbors_1=5,
        k_neighbors_2=5,
        alpha=0.3,
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
        self.k_neighbors_1 = k_neighbors_1
        self.k_neighbors_2 = k_neighbors_2
        self.alpha = alpha
        self.algorithm = algorithm
        self.learning_rate = learning_rate
        self.min_probability = min_probability
        self.stop_when_perfect = stop_when_perfect
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_smote(self, data, wanted):
        k_neighbors = self.k_neighbors_2
        return Smote(data, wanted, k_neighbors, name="k_neighbors_2", n_jobs=self.n_jobs)

    def _start_factors(self, data, wanted):
        factors = {}
        for k in wanted:
            rows = data.class_rows[k]
            counts = others_nearby(
                data.tables[0], rows, data.codes, self.k_neighbors_1, n_jobs=self.n_jobs
            )
            factors[k] = expit(self.alpha * counts)
        return factors
