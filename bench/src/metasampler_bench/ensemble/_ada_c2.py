"""AdaC2: boosting in which every round multiplies the weights of rows by their costs."""

import numpy as np

from metasampler_bench.ensemble._ada_cost import AdaCostClassifier
from metasampler_bench.ensemble._boosting import BaseBoosting
from metasampler_bench.ensemble._docs import shared_docs

__all__ = ["AdaC2Classifier"]


@shared_docs()
class AdaC2Classifier(AdaCostClassifier):
    """Cost-sensitive boosting in which the cost of a row stands outside of the exponent.

    After every round the weight of a row is multiplied by its cost, besides the usual factor, and
    a member's weight is that of its error by weights times costs. So costly rows gain in every
    round, right or wrong.

    Parameters
    ----------
    {weighted_estimator}

    {n_estimators}

    class_cost : "balanced" or dict, default="balanced"
        Cost of a row of each class, which enters in every round. ``"balanced"`` means that over
        all rounds together it is one over the number of rows of the class: the root of that.

    learning_rate : float, default=1.0
        How much a member changes the weights of rows, and its own weight.

    stop_when_perfect : bool, default=False
        Whether to stop after a member that makes no mistake on the training rows.

    {running}

    Attributes
    ----------
    {boosted}

    class_cost_ : ndarray of shape (n_classes,)
        The cost of each class, the largest being 1.

    {fitted}

    See Also
    --------
    AdaCostClassifier : Costs inside of the exponent.

    References
    ----------
    .. [1] Y. Sun, M. S. Kamel, A. K. C. Wong, Y. Wang, "Cost-Sensitive Boosting for Classification
       of Imbalanced Data", Pattern Recognition 40, 2007.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from metasampler_bench.ensemble import AdaC2Classifier
    >>> X, y = make_classification(2000, weights=[0.9], flip_y=0.05, random_state=0)
    >>> clf = AdaC2Classifier(
    ...     DecisionTreeClassifier(max_depth=3), class_cost={0: 0.5, 1: 1.0}, random_state=0
    ... ).fit(X, y)
    >>> len(clf.estimators_)
    7
    """

    def _resolve_costs(self, data):
        costs = super()._resolve_costs(data)
        return costs ** (1 / self.n_estimators) if isinstance(self.class_cost, str) else costs

    def _first_weights(self, data):
        self.class_cost_ = self._resolve_costs(data)
        return BaseBoosting._first_weights(self, data)

    def _adjustments(self, data, correct):
        return 1.0

    def _judged(self, data, weights):
        costly = weights * self.class_cost_[data.codes]
        return np.asarray(costly / costly.sum())
