"""UnderBagging: members on independent, uniformly drawn balanced subsets."""

from metasampler._docs import shared_docs
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble

__all__ = ["UnderBaggingClassifier"]


@shared_docs()
class UnderBaggingClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data whose members train on uniformly drawn balanced subsets.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class, drawn uniformly and without replacement. Members do not depend on each other, so they
    can be fitted side by side.

    Parameters
    ----------
    {kinds}

    {n_estimators}

    {sampling_ratio}

    {hold_out}

    {decision}

    {refit}

    {n_jobs_members}

    {random_state}

    {warm_start}

    {verbose}

    Attributes
    ----------
    {members}

    {decided}

    {fitted}

    See Also
    --------
    EasyEnsembleClassifier : The same with boosted members.
    SelfPacedEnsembleClassifier : Draws that look at how hard rows are.
    imblearn.ensemble.BalancedBaggingClassifier : Balanced draws from bootstrap samples.

    Notes
    -----
    Every member sees the whole smallest class. :class:`imblearn.ensemble.BalancedBaggingClassifier`
    draws a bootstrap sample of all rows first, so its members see some 63% of this class.

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
        leaf_smoothing=0.0,
        refit=False,
        n_jobs=None,
        random_state=None,
        warm_start=False,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling_ratio = sampling_ratio
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.calibration = calibration
        self.threshold = threshold
        self.leaf_smoothing = leaf_smoothing
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
