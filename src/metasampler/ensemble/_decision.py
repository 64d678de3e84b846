"""What an ensemble learns from rows that no member has seen: calibration and threshold."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metasampler.ensemble._calibration import Calibration, make_calibration
from metasampler.ensemble._threshold import Threshold, choose_threshold
from metasampler.growth import GrowthData, join_arrays

__all__ = ["Decision", "HeldOut", "decide"]

# Chosen on 53 tasks that are none of imbalanced-learn's 27 sets: with all rows held out in turn,
# the mean Brier score of those with fewer held-out positives fell by .0006 to .0014, of the others
# by .0001 (`metasampler study few-rows`).
_ENOUGH_ROWS = 30


class HeldOut(NamedTuple):
    """Rows that members have not seen, and the ensemble's uncalibrated probabilities of them."""

    rows: np.ndarray
    proba: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def joined(cls, parts: Sequence["HeldOut"]) -> "HeldOut":
        """Return the rows of several."""
        arrays = zip(*parts, strict=True)
        return cls(*(join_arrays(of) for of in arrays))

    def are_few(self, n_classes: int) -> bool:
        """Return whether some class has too few rows for a reliable calibration."""
        counts = np.bincount(self.codes, minlength=n_classes)
        return bool(counts.min() < _ENOUGH_ROWS)


class Decision(NamedTuple):
    """How the mean of the members becomes a probability, and the probability a label.

    Attributes
    ----------
    calibration : Calibration
        Maps the members' mean probabilities to real ones.
    threshold : Threshold or None
        For two classes the probability from which `predict` returns the minority class.
    """

    calibration: Calibration
    threshold: Threshold | None


def decide(
    data: GrowthData,
    drawn: np.ndarray,
    held_out: HeldOut | None,
    calibration,
    threshold,
    of_log_odds: bool = False,
) -> Decision:
    """Fit the calibration and choose the threshold.

    Parameters
    ----------
    data : GrowthData
        The rows of the grown ensemble.
    drawn : ndarray of shape (n_classes,)
        Share of each class in what members were trained on.
    held_out : HeldOut or None
        Rows to learn from, if there are any.
    calibration, threshold : object
        The parameters of the ensemble.
    of_log_odds : bool, default=False
        Whether a sigmoid is fitted to log-odds, as those of a blend, or to mean probabilities.

    Returns
    -------
    decision : Decision
    """
    prior = data.class_weights / data.class_weights.sum()
    proba = codes = weights = None
    if held_out is not None:
        proba, codes = held_out.proba, held_out.codes
        weights = _to_prior(codes, held_out.weights, prior)
    calibrate = make_calibration(
        calibration,
        prior=prior,
        drawn=drawn,
        proba=proba,
        codes=codes,
        weights=weights,
        of_log_odds=of_log_odds,
    )
    if data.n_classes > 2:
        return Decision(calibrate, None)
    judged = {}
    if held_out is not None:
        judged = {
            "scores": calibrate(held_out.proba)[:, data.minority],
            "positive": codes == data.minority,
            "weights": weights,
        }
    chosen = choose_threshold(
        threshold, prior=calibrate.prior[data.minority], n_rows=data.n_rows, **judged
    )
    return Decision(calibrate, chosen)


def _to_prior(codes, weights, prior):
    """Return weights by which the classes are as frequent as in the training rows.

    The rows of a user may hold any share of the rare class; the probabilities speak of the world
    of the training rows.
    """
    totals = np.bincount(codes, weights, len(prior))
    factors = prior * totals.sum() / totals
    return factors[codes] if weights is None else weights * factors[codes]
