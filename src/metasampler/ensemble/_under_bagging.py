"""UnderBagging: members on independent, uniformly drawn balanced subsets."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from metasampler._docs import shared_docs
from metasampler.ensemble._other_names import explain_other_names
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble


@shared_docs()
@explain_other_names
@dataclass(eq=False, repr=False)
class UnderBaggingClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data whose members train on uniformly drawn balanced subsets.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class, drawn uniformly and without replacement. Members do not depend on each other, so they
    can be fitted side by side.

    Parameters
    ----------
    {uniform}

    Attributes
    ----------
    {grown}

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

    _parameter_constraints = {
        **BaseUnderSamplingEnsemble._parameter_constraints,
        "warm_start": ["boolean"],
    }

    _: KW_ONLY
    warm_start: Any = False
