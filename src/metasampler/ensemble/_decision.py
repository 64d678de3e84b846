"""What held-out rows decide: the calibration, the threshold, and what to expect of both."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from metasampler.ensemble._calibration import (
    Calibration,
    NoCalibration,
    SigmoidCalibration,
    make_calibration,
)
from metasampler.ensemble._class_decision import (
    ClassDecision,
    ClassEvidence,
    choose_class_decision,
)
from metasampler.ensemble._cut_points import CutPoints
from metasampler.ensemble._held_out import HeldOut
from metasampler.ensemble._threshold import Threshold, choose_threshold

# In a fit of teams few members score a held-out row, and all of them a new one. The more members
# average, the less log-odds spread: by this factor in the mean of 46 tables, and so much does it
# matter to thresholds (`metasampler study promises`).
_SPREAD_OF_ALL = 0.92

# Clones of an ensemble, or members that leave groups out, are right about other rows than the
# ensemble itself. The variance of what it keeps is then larger than that of the rows that judge: by
# this factor, on made tables of patients and of independent rows, with 25 seeds each.
_DOUBT = 1.5

# With more classes each takes rows from the others, so that shares of large classes vary more than
# their many rows say: by this factor, on made tables with three classes and 10 seeds each.
_DOUBT_OF_CLASSES = 2.5


@dataclass(eq=False)
class World:
    """The rows that probabilities and decisions are about.

    ``prior`` is the share of each of the ``classes``, and ``minority`` the position of the class
    to find.
    """

    prior: np.ndarray
    minority: int
    classes: np.ndarray


@dataclass(eq=False)
class Decision:
    """A calibration, and how classes are called by its probabilities.

    ``cuts`` are what a threshold can be chosen by again: None without held-out rows.
    """

    calibration: Calibration
    cuts: CutPoints | ClassEvidence | None
    threshold: Threshold | ClassDecision


def decide(
    world: World,
    drawn: np.ndarray | None,
    held_out: HeldOut | None,
    calibration,
    goal,
    *,
    by_few: bool = False,
) -> Decision:
    """Fit the calibration, and choose how classes are called.

    ``by_few`` says that held-out rows were scored by fewer members than new rows will be.

    ``drawn`` is the share of each class in what members were trained on. It is None for the joint
    answers of teams: to their log-odds a sigmoid is fitted, or for many classes a softmax.
    """
    judged, weights, n_classes = {}, None, len(world.prior)
    if held_out is not None:
        weights = _to_prior(held_out.codes, held_out.weights, world.prior)
        judged = {"proba": held_out.proba, "codes": held_out.codes, "weights": weights}
    of_log_odds = drawn is None
    if of_log_odds and n_classes > 2:
        drawn = world.prior
    drawn = np.full(n_classes, 1 / n_classes) if drawn is None else drawn
    calibrate = make_calibration(
        calibration, prior=world.prior, drawn=drawn, of_log_odds=of_log_odds, **judged
    )
    if n_classes > 2:
        rows = None if held_out is None else held_out._replace(weights=weights)
        return _decide_among_classes(calibrate, rows, goal, world.classes)
    cuts = None
    if held_out is not None:
        spread = _SPREAD_OF_ALL if by_few else 1.0
        rows = held_out._replace(weights=weights)
        doubt = 1.0 if held_out.groups is None else _DOUBT
        cuts = _cut_points(calibrate, rows, world.minority, spread=spread, doubt=doubt)
    prior = calibrate.prior[world.minority]
    return Decision(calibrate, cuts, choose_threshold(goal, cuts, prior=prior))


def decide_again(
    old: Calibration,
    rows: HeldOut,
    world: World,
    method,
    goal,
    *,
    of_log_odds: bool,
    by_clones: bool = False,
    anew: bool = False,
) -> Decision:
    """Fit the calibration and choose the threshold by labelled rows that came after the fit.

    ``by_clones`` says that others than the ensemble itself have scored the rows. The rows' own
    shares of the classes count, not those of the ``world`` of the fit. Few rows change the level of
    the old calibration alone, unless it is to be made ``anew``.
    """
    totals = np.bincount(rows.codes, rows.weights)
    prior = totals / totals.sum()
    calibrate: Calibration
    if isinstance(old, NoCalibration):
        calibrate = old
    elif isinstance(old, SigmoidCalibration) and len(prior) == 2 and rows.are_few(2) and not anew:
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
        return _decide_among_classes(calibrate, rows, goal, world.classes)
    doubt = _DOUBT if by_clones else 1.0
    cuts = _cut_points(calibrate, rows, world.minority, doubt=doubt)
    called = choose_threshold(goal, cuts, prior=calibrate.prior[world.minority])
    return Decision(calibrate, cuts, called)


def _decide_among_classes(
    calibrate: Calibration, rows: HeldOut | None, goal, classes: np.ndarray
) -> Decision:
    evidence = None
    if rows is not None:
        proba = calibrate(rows.proba)
        evidence = ClassEvidence.of(proba, rows.codes, rows.weights, rows.groups, _DOUBT_OF_CLASSES)
    called = choose_class_decision(goal, evidence, classes, calibrate.prior)
    return Decision(calibrate, evidence, called)


def _cut_points(
    calibrate: Calibration,
    rows: HeldOut,
    minority: int,
    *,
    spread: float = 1.0,
    doubt: float = 1.0,
) -> CutPoints:
    scores = calibrate(rows.proba)[:, minority]
    if spread < 1:
        # The ends of the floats have no log-odds.
        odds = logit(np.clip(scores, 1e-15, 1 - 1e-15))
        mean = np.average(odds, weights=rows.weights)
        scores = expit(mean + spread * (odds - mean))
    return CutPoints.of(scores, rows.codes == minority, rows.weights, rows.groups, doubt)


def _to_prior(codes, weights, prior):
    """Return weights by which the classes are as frequent as in the training rows.

    The rows of a user may hold any share of the rare class; the probabilities describe the world of
    the training rows.
    """
    totals = np.bincount(codes, weights, len(prior))
    # A class may have no held-out row, if it has only one row at all.
    factors = prior * totals.sum() / np.where(totals > 0, totals, 1)
    return factors[codes] if weights is None else weights * factors[codes]
