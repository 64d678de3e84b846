"""What an ensemble learns from rows its members have not seen: calibration and threshold."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from metasampler._sklearn_compat import take_rows
from metasampler.ensemble._calibration import make_calibration
from metasampler.ensemble._threshold import choose_threshold
from metasampler.ensemble._turns import hold_out_in_turn, takes_turns
from metasampler.growth._data import GrowthData
from metasampler.growth._loop import Growth
from metasampler.growth._random import Stream

__all__ = ["check_cross_fitted", "decide"]

# Fits that a cross-fitted calibration takes on top of the ensemble's own.
_CROSS_FIT_FOLDS = 5


def decide(ensemble, growth: Growth) -> tuple:
    """Calibration of a grown ensemble, and by which probability it decides.

    Parameters
    ----------
    ensemble : BaseUnderSamplingEnsemble
        Its parameters say how.
    growth : Growth

    Returns
    -------
    calibration : callable
    decision : tuple or None
        Threshold, expected precision and expected recall; None for more than two classes.
    """
    data = growth.data
    prior = data.class_weights() / data.class_weights().sum()
    held_out: dict = {}
    proba = None
    if ensemble.calibration == "cross-fitted":
        held_out = {"codes": data.codes, "weights": data.weights}
        proba = _cross_fit(ensemble, growth)
    elif data.has_validation:
        rows = np.arange(len(data.codes))[data.rows["valid"]]
        proba = growth.proba("valid")
        if takes_turns(ensemble, data):
            more, their_proba = hold_out_in_turn(ensemble, growth)
            rows, proba = np.append(rows, more), np.append(proba, their_proba, axis=0)
        codes = data.codes[rows]
        weights = None if data.weights is None else data.weights[rows]
        held_out = {"codes": codes, "weights": _to_prior(codes, weights, prior)}
    calibration = make_calibration(
        ensemble.calibration,
        prior=prior,
        drawn=growth.drawn_shares(),
        proba=proba,
        **held_out,
    )
    if data.n_classes > 2:
        return calibration, None
    judged = {}
    if held_out:
        judged = {
            "scores": calibration(proba)[:, data.minority],
            "positive": held_out["codes"] == data.minority,
            "weights": held_out["weights"],
        }
    return calibration, choose_threshold(
        ensemble.threshold, prior=calibration.prior[data.minority], **judged
    )


def _to_prior(codes, weights, prior):
    """Weights of held-out rows by which the classes are as frequent as in the training rows.

    The rows of a user may hold any share of the rare class; the probabilities speak of the world
    of the training rows.
    """
    totals = np.bincount(codes, weights, len(prior))
    factors = prior * totals.sum() / totals
    return factors[codes] if weights is None else weights * factors[codes]


def check_cross_fitted(data: GrowthData) -> None:
    """Refuse to cross-fit where rows are held out already, or where there are too few."""
    if data.has_validation:
        raise ValueError(
            "calibration='cross-fitted' holds every row out in turn and is for fits without "
            "validation rows: set validation_fraction=None and pass no X_val."
        )
    smallest = len(data.class_rows[data.minority])
    if smallest < 2:
        raise ValueError(
            "calibration='cross-fitted' needs at least 2 rows of each class; the smallest has "
            f"n_samples = {smallest}."
        )


def _cross_fit(ensemble, growth: Growth) -> np.ndarray:
    """Uncalibrated probabilities of all rows, by ensembles that have not seen them."""
    data, seeds = growth.data, growth.streams
    X, labels = data.tables[0], data.classes[data.codes]
    n_folds = min(_CROSS_FIT_FOLDS, len(data.class_rows[data.minority]))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seeds.integer(Stream.SPLIT, 1))
    plain = {
        "calibration": None,
        "threshold": None,
        "validate_members": False,
        "verbose": 0,
    }
    proba = np.empty((len(labels), data.n_classes))
    for number, (train, rest) in enumerate(folds.split(np.zeros(len(labels)), data.codes)):
        seed = seeds.integer(Stream.SPLIT, 2 + number)
        twin = clone(ensemble).set_params(**plain, random_state=seed)
        weights = None if data.weights is None else data.weights[train]
        with warnings.catch_warnings():
            # What there is to say of ratio and weights was said for the whole data.
            warnings.simplefilter("ignore", UserWarning)
            twin.fit(take_rows(X, train), labels[train], sample_weight=weights)
        proba[rest] = twin.predict_proba(take_rows(X, rest))
    return proba
