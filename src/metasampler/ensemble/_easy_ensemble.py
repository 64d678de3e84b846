"""EasyEnsemble: boosted members on independent, uniformly drawn balanced subsets."""

from sklearn.ensemble import AdaBoostClassifier

from metasampler._docs import shared_docs
from metasampler.ensemble._under_bagging import UnderBaggingClassifier


@shared_docs(default="an :class:`~sklearn.ensemble.AdaBoostClassifier` of 50 trees of depth 1")
class EasyEnsembleClassifier(UnderBaggingClassifier):
    """Ensemble for imbalanced data whose members are AdaBoost ensembles on balanced subsets.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class, drawn uniformly and without replacement. It is
    :class:`~metasampler.ensemble.UnderBaggingClassifier` with another base estimator.

    Parameters
    ----------
    {uniform}

    Attributes
    ----------
    {grown}

    See Also
    --------
    UnderBaggingClassifier : The same with members that are not boosted.
    BalanceCascadeClassifier : Drops easy rows of the larger classes after each member.
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

    def _base_estimator(self):
        return AdaBoostClassifier() if self.estimator is None else self.estimator
