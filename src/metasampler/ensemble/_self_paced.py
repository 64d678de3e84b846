"""Self-paced ensemble (SPE): draws harmonised over bins of equal hardness."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from math import pi, tan
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from metasampler._docs import shared_docs
from metasampler._sklearn_compat import Interval, StrOptions
from metasampler.ensemble._other_names import explain_other_names
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble
from metasampler.growth import Candidates, draw_rows

# Cross-entropy is infinite where all members are wrong, and the bins span its range.
_LEAST_PROBABILITY = 1e-4

_HARDNESS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "absolute": lambda errors: errors,
    "squared": np.square,
    "cross-entropy": lambda errors: -np.log(np.maximum(1 - errors, _LEAST_PROBABILITY)),
}


@shared_docs()
@explain_other_names
@dataclass(eq=False, repr=False)
class SelfPacedEnsembleClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data that shifts from easy majority rows to hard ones.

    Each member is trained on all rows of the smallest class and as many rows of every larger
    class. The rows of a larger class are divided into bins by their hardness. Hardness comes from
    the errors of the ensemble so far. The first member is trained on a uniform draw. Then each bin
    contributes about the same sum of hardness, so that the many easy rows do not dominate. With
    each further member this shifts, until each bin contributes the same number of rows.

    Parameters
    ----------
    {estimator}

    {n_estimators}

    hardness : {"absolute", "squared", "cross-entropy"}, default="absolute"
        How hard a row is, given the probability p of its class: ``1 - p``, ``(1 - p) ** 2`` or
        ``-log(p)`` with p at least 0.0001.

    k_bins : int, default=10
        Number of bins of equal width between the least and the greatest hardness of a class.

    {sampling_ratio}

    {hold_out}

    {running}

    Attributes
    ----------
    {grown}

    See Also
    --------
    UnderBaggingClassifier : Uniform balanced draws.
    BalanceCascadeClassifier : Drops easy rows for good.
    MesaClassifier : Learns which rows to draw.

    Notes
    -----
    A bin with mean hardness h gets a share of the draw proportional to ``1 / (h + alpha)``. With
    k members the self-paced factor alpha is ``tan(i * pi / (2 * (k - 1)))`` for the i-th member
    after the first. For the last member it would be infinite; rounding makes it a very large
    number.

    If a bin has fewer rows than its share, all of them are taken. The other bins fill the gap in
    proportion to their shares. So every subset has exactly the size that was asked for. The
    authors' first implementation leaves the gap open, and their second draws rows repeatedly.

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

    _parameter_constraints = {
        **BaseUnderSamplingEnsemble._parameter_constraints,
        "hardness": [StrOptions(set(_HARDNESS))],
        "k_bins": [Interval(Integral, 1, None, closed="left")],
    }

    _: KW_ONLY
    hardness: Any = "absolute"
    k_bins: Any = 10

    def _make_policy(self, plan, data):
        def policy(growth):
            alpha = self_paced_factor(growth.n_members, self.n_estimators)
            return _SelfPacedDraw(alpha, self.hardness, self.k_bins)

        return policy


class _SelfPacedDraw(NamedTuple):
    """The rule of one draw: a self-paced factor, and how rows are put into bins."""

    alpha: float
    hardness: str
    k_bins: int

    def __call__(self, candidates: Candidates, size: int) -> np.ndarray:
        """Return which of the candidates are drawn."""
        hardness = _HARDNESS[self.hardness](candidates.errors)
        return draw_self_paced(hardness, candidates.keys, size, self.alpha, self.k_bins)


def bin_numbers(hardness: np.ndarray, least: float, greatest: float, k_bins: int) -> np.ndarray:
    """Return the bin of each row; all are equally wide, from the least to the greatest hardness."""
    bins = ((hardness - least) / (greatest - least) * k_bins).astype(np.intp)
    return np.minimum(bins, k_bins - 1, out=bins)


def bin_weights(populations: np.ndarray, sums: np.ndarray, alpha: float) -> np.ndarray:
    """Return what each bin counts: less, the harder its rows are on average."""
    return 1 / (sums / np.maximum(populations, 1) + alpha)


def self_paced_factor(member: int, n_members: int) -> float:
    """Return alpha for a member, numbered from 0; the first is not drawn by hardness."""
    # The quotient first: it is exactly 1 for the last member, and rounding beyond pi / 2 would
    # turn the sign.
    return tan(pi / 2 * (member / (n_members - 1)))


def share_out(weights: np.ndarray, populations: np.ndarray, size: int) -> np.ndarray:
    """Share ``size`` out in proportion to ``weights``, in whole numbers, none above its population.

    Weights are positive where there are any rows; in all there are at least ``size``.
    """
    shares = np.zeros(len(weights))
    open_bins = populations > 0
    left = size
    while open_bins.any():
        shares[open_bins] = left * weights[open_bins] / weights[open_bins].sum()
        full = open_bins & (shares >= populations)
        if not full.any():
            break
        shares[full] = populations[full]
        left -= int(populations[full].sum())
        open_bins &= ~full
    quotas = np.floor(shares).astype(np.intp)
    # What rounding has left over goes to the bins that lost most by it.
    by_loss = np.argsort(quotas - shares, kind="stable")
    quotas[by_loss[: size - quotas.sum()]] += 1
    return quotas


def draw_self_paced(
    hardness: np.ndarray, keys: np.ndarray, size: int, alpha: float, k_bins: int
) -> np.ndarray:
    """Return the positions of the rows that a self-paced draw takes."""
    least, greatest = hardness.min(), hardness.max()
    if least == greatest:
        return draw_rows(keys, size)
    bins = bin_numbers(hardness, least, greatest, k_bins)
    populations = np.bincount(bins, minlength=k_bins)
    weights = bin_weights(populations, np.bincount(bins, hardness, k_bins), alpha)
    quotas = share_out(weights, populations, size)
    drawn = []
    for k in np.flatnonzero(quotas):
        rows = np.flatnonzero(bins == k)
        drawn.append(rows[draw_rows(keys[rows], quotas[k])])
    return np.concatenate(drawn)
