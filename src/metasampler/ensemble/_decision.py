"""What held-out rows decide: the calibration, the threshold, and what to expect of both."""

from dataclasses import dataclass

import numpy as np

from metasampler.ensemble._calibration import (
    Calibration,
    HeldOut,
    NoCalibration,
    SigmoidCalibration,
    make_calibration,
)
from metasampler.ensemble._cut_points import CutPoints
from metasampler.ensemble._threshold import Threshold, choose_threshold


@dataclass(eq=False)
class World:
    """The rows that probabilities and decisions are about.

    ``prior`` is the share of each class, ``minority`` the position of the class to find.
    """

    prior: np.ndarray
    minority: int


@dataclass(eq=False)
class Decision:
    """A calibration and, for two classes, a threshold.

    ``cuts`` are what a threshold can be chosen by again: None for more classes, or without held-out
    rows.
    """

    calibration: Calibration
    cuts: CutPoints | None = None
    threshold: Threshold | None = None


def decide(
    world: World, drawn: np.ndarray | None, held_out: HeldOut | None, calibration, goal
) -> Decision:
    """Fit the calibration and choose the threshold, which only two classes have.

    ``drawn`` is the share of each class in what members were trained on. It is None for the answers
    of a blend, whose log-odds have no prior of their own: a sigmoid is fitted to these.
    """
    judged, weights, n_classes = {}, None, len(world.prior)
    if held_out is not None:
        weights = _to_prior(held_out.codes, held_out.weights, world.prior)
        judged = {"proba": held_out.proba, "codes": held_out.codes, "weights": weights}
    of_log_odds = drawn is None
    drawn = np.full(n_classes, 1 / n_classes) if drawn is None else drawn
    calibrate = make_calibration(
        calibration, prior=world.prior, drawn=drawn, of_log_odds=of_log_odds, **judged
    )
    if n_classes > 2:
        return Decision(calibrate)
    cuts = None
    if held_out is not None:
        cuts = _cut_points(calibrate, held_out._replace(weights=weights), world.minority)
    prior = calibrate.prior[world.minority]
    return Decision(calibrate, cuts, choose_threshold(goal, cuts, prior=prior))


def decide_again(
    old: Calibration, rows: HeldOut, minority: int, method, goal, *, of_log_odds: bool
) -> Decision:
    """Fit the calibration and choose the threshold by labelled rows that came after the fit."""
    totals = np.bincount(rows.codes, rows.weights)
    prior = totals / totals.sum()
    calibrate: Calibration
    if isinstance(old, NoCalibration):
        calibrate = old
    elif isinstance(old, SigmoidCalibration) and len(prior) == 2 and rows.are_few(2):
        calibrate = old.shifted(prior, rows.proba, rows.codes, rows.weights)
    else:
        calibrate = make_calibration(
            method,
            prior=prior,
            drawn=getattr(old, "drawn", np.full(len(prior), 1 / len(prior))),
            proba=rows.proba,
            codes=rows.codes,
            weights=rows.weights,
            of_log_odds=of_log_odds,
        )
    if len(prior) > 2:
        return Decision(calibrate)
    cuts = _cut_points(calibrate, rows, minority)
    return Decision(calibrate, cuts, choose_threshold(goal, cuts, prior=calibrate.prior[minority]))


def _cut_points(calibrate: Calibration, rows: HeldOut, minority: int) -> CutPoints:
    scores = calibrate(rows.proba)[:, minority]
    return CutPoints.of(scores, rows.codes == minority, rows.weights)


def _to_prior(codes, weights, prior):
    """Return weights by which the classes are as frequent as in the training rows.

    The rows of a user may hold any share of the rare class; the probabilities describe the world of
    the training rows.
    """
    totals = np.bincount(codes, weights, len(prior))
    factors = prior * totals.sum() / totals
    return factors[codes] if weights is None else weights * factors[codes]
