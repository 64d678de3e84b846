"""BalanceCascade: after each member the rows it has learned leave the larger classes."""

import numpy as np

from metasampler._docs import shared_docs
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble
from metasampler.growth import Candidates, Growth, Stream, draw_rows, hardest_rows, race_keys_of


@shared_docs()
class BalanceCascadeClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data that drops the easiest majority rows after each member.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class, drawn uniformly from that class's pool. At first the pool is the whole class. After each
    member the pool keeps only the rows with the largest errors of the ensemble so far. The fraction
    that it keeps is always the same. So the last member gets only the hardest rows.

    Parameters
    ----------
    {estimator}

    n_estimators : int, default=10
        Number of members. With more members, the pools shrink more slowly.

    sampling_ratio : float, default=1.0
        Rows drawn of each larger class per row of the smallest class, and so the size of the
        last pool.

    {hold_out}

    {running}

    Attributes
    ----------
    {members}

    pool_sizes_ : ndarray of shape (n_estimators, n_classes)
        The number of rows of each class in the pool of each member. After a `refit` the pools are
        those of the second growth, on all rows.

    {decided}

    {fitted}

    See Also
    --------
    EasyEnsembleClassifier : Keeps all rows; from the same paper.
    SelfPacedEnsembleClassifier : Also looks at errors, but keeps some easy rows.

    Notes
    -----
    With P rows in the smallest class, N in a larger one and k members, a fraction
    ``(P / N) ** (1 / (k - 1))`` of the pool is kept after each member. The error of a row is 1
    minus the probability of its class; rows with equal errors are kept at random.

    In the paper a member is an AdaBoost ensemble. Its threshold is moved until its rate of false
    positives is that fraction. Then the rows that it gets right are dropped. Here members may be
    any classifier, and the whole ensemble so far ranks the rows. Later implementations do the same.

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

    def _make_policy(self, plan, data):
        return _Cascade(data, data.streams, self.n_estimators)

    def _repeated(self, policy, growth, data):
        # Pools shrink by the errors of the growth they belong to.
        return _Cascade(data, growth.streams, self.n_estimators)

    def _become_more(self, plan, teams, final):
        # The rule holds pools, which are as large as the classes.
        self._steps = [step._replace(rule=None) for step in self._steps]
        self.pool_sizes_ = np.array(final[0].policy.sizes).T


def pool_sizes(n_rows: int, draw_size: int, n_members: int) -> np.ndarray:
    """Return the size of one class's pool for each member: a geometric sequence."""
    exponents = np.arange(n_members) / max(1, n_members - 1)
    return np.rint(n_rows * min(1.0, draw_size / max(n_rows, 1)) ** exponents).astype(np.intp)


class _Cascade:
    """The policy, and the rule of every draw: rows come from pools that shrink with each member."""

    def __init__(self, data, streams, n_members: int):
        #: For each class the size of its pool, member by member.
        self.sizes = [pool_sizes(int(count), data.draw_size, n_members) for count in data.counts]
        # Not the keys of the draw: rows that were kept for their small keys would then be drawn
        # more often than those kept for their errors.
        self._ties = streams.row_key(Stream.TIES)
        #: For each class that is drawn from its pool, as positions among its training rows.
        self._pools = {
            k: np.arange(count)
            for k, count in enumerate(data.counts.tolist())
            if count > data.draw_size and k != data.minority
        }

    def __call__(self, growth: Growth):
        """Cut the pools and return the rule of the next draw."""
        for k, pool in self._pools.items():
            size = int(self.sizes[k][growth.n_members])
            rows, errors = growth.class_errors(k)
            ties = race_keys_of(self._ties, 0, rows[pool])
            self._pools[k] = pool[hardest_rows(errors[pool], ties, size)]
        # It knows the newest pools only. It is never replayed: a refit has a cascade of its own.
        return self._draw

    def _draw(self, candidates: Candidates, size: int) -> np.ndarray:
        """Return ``size`` of the candidates that are in the pool of their class."""
        pool = self._pools[candidates.k]
        return pool[draw_rows(candidates.keys[pool], size)]
