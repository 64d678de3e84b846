"""From what members say to probabilities and a decision, by rows that no member has seen.

Members are trained on balanced subsets, so the mean of their probabilities answers a question
about a world in which all classes are equally frequent. Each calibration here maps these means
to probabilities of the real world and keeps their order. Teams are joined first (`Blend`, and
`_pool.Pool` for many classes).
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from metasampler.ensemble._held_out import HeldOut, count_units
from metasampler.ensemble._pool import ENOUGH_ROWS, SoftmaxCalibration
from metasampler.growth import GrowthData

CALIBRATIONS = ("auto", "prior", "sigmoid")

Arrays = Sequence[np.ndarray]

# On imbalanced-learn's 27 data sets a sigmoid has the lowest Brier score even where it is fitted
# on five positives; on other sets no other form did better with so few
# (`metasampler study calibration` and `few-rows`).
_FEWEST_ROWS_FOR_SIGMOID = 5

# Rows of each class that are added to those a sigmoid is fitted on. Platt's one for each keeps few
# rows from saturating it, but makes a good blend under-confident.
_ADDED_ROWS, _ADDED_ROWS_TO_BLENDS = 1.0, 0.2

# The bounds of a sigmoid's slope keep the order of the scores, whatever the held-out rows say: a
# steeper one would round different scores to the same probability.
_FLATTEST, _STEEPEST = 1e-3, 60.0

# Newton's steps at most, the shortest of them, when a last step is exact enough, and what counts as
# scores that are all the same.
_MAX_STEPS, _SHORTEST, _CLOSE, _SINGULAR = 100, 1e-10, 1e-12, 1e-14

# Below this share of the loss its rounding hides what a step gains, and the step is right.
_ROUNDING = 1e-15

# The smallest probability that has a logarithm.
_LEAST = np.finfo(float).tiny

# Log-odds of a team beyond these say nothing more.
_LEAST_OF_TEAM = 1e-12

# With fewer left-out rows, or groups of rows, of a class a team's scale would be chance.
_ENOUGH_LEFT_OUT = 20


# ---------------------------------------------------------------------- teams


class Blend:
    """Join the answers of several teams for two classes: the mean of their calibrated log-odds.

    Each team's log-odds are scaled by its left-out rows, because a team that is too
    sure of itself would drown the others. The teams then count alike, but for sharp trees, which
    have as many votes as the others together: weights that were learned from left-out rows did no
    better.

    ``answers`` are the mean probabilities of class 1 by each team, for some rows. ``codes`` are the
    classes of the rows, if members have not seen them, and ``groups`` the keys of their groups.
    ``shares`` are those of each class in what each team was trained on: log-odds are counted from
    there, so that the joint answer is that of a balanced world.
    """

    def __init__(
        self, answers: Arrays, codes, shares: Arrays, votes: Sequence[int] = (), groups=None
    ):
        self.votes = list(votes) or [1] * len(answers)
        self.centres, self.scales = [], []
        #: The score of each team on the rows that all can judge, and last that of all together.
        self.scores: list[float] = []
        for answer, share in zip(answers, shares, strict=True):
            self.centres.append(_log_odds(_vector(share[np.newaxis]))[0])
            self.scales.append(_scale(_log_odds(answer), codes, groups))

    @classmethod
    def of(
        cls, data: GrowthData, judged: Sequence[tuple], shares: Arrays, votes: Sequence[int] = ()
    ) -> tuple["Blend", HeldOut | None]:
        """Return the blend of grown teams, and the rows that decide, if there are any.

        These are the rows that all teams can judge. With few scouts, which leave out only some of
        the rows, they may be few. Then they are the rows that some team can judge.

        ``judged`` are the rows of each team, as `Growth.judged` returns them, and the keys of their
        groups if there are any.
        """
        if not data.has_validation:
            answers = [_vector(proba) for _, proba, *_ in judged]
            return cls(answers, None, shares, votes), None
        teams = [HeldOut(*of_team) for of_team in judged]
        common = reduce(partial(np.intersect1d, assume_unique=True), [team.rows for team in teams])
        shared = [team.at(common) for team in teams]
        answers, first = [_vector(team.proba) for team in shared], shared[0]
        blend = cls(answers, first.codes, shares, votes, first.groups)
        held_out = first._replace(proba=blend(answers))
        # Skip scores if a class has no rows.
        if np.bincount(first.codes, minlength=data.n_classes).min():
            score = data.score_function(first.codes, first.weights)
            blend.scores = [score(answer) for answer in (*answers, _vector(held_out.proba))]
        if held_out.are_few(data.n_classes):
            held_out = blend._by_those_who_can(teams)
        return blend, held_out

    def _by_those_who_can(self, teams: Sequence[HeldOut]) -> HeldOut:
        """Return all rows that some team can judge, each with the answer of the teams that can."""
        rows = np.unique(np.concatenate([team.rows for team in teams]))
        known = np.array([np.isin(rows, team.rows, assume_unique=True) for team in teams])
        parts = []
        for pattern in np.unique(known, axis=1).T:
            here = rows[(known == pattern[:, np.newaxis]).all(axis=0)]
            able = [
                team.at(here) if can else None for team, can in zip(teams, pattern, strict=True)
            ]
            proba = self([None if team is None else _vector(team.proba) for team in able])
            parts.append(next(filter(None, able))._replace(proba=proba))
        joined = HeldOut.joined(parts)
        return joined.take(np.argsort(joined.rows))

    def __call__(self, answers: Sequence[np.ndarray | None]) -> np.ndarray:
        """Return the joint probability of each class; teams without an answer do not count."""
        given = [
            (n_votes * (_log_odds(answer) - centre) * scale, n_votes * (scale > 0))
            for answer, centre, scale, n_votes in zip(
                answers, self.centres, self.scales, self.votes, strict=True
            )
            if answer is not None
        ]
        # A team that says the same of all rows adds nothing, and must not water down the rest.
        mean = sum(part for part, _ in given) / max(1, sum(counts for _, counts in given))
        return np.column_stack([expit(-mean), expit(mean)])


def _scale(odds: np.ndarray, codes: np.ndarray | None, groups: np.ndarray | None) -> float:
    """Return what a team's log-odds are multiplied by: 1 where rows cannot tell."""
    if (spread := float(odds.std())) < 1e-9:
        return 0.0  # a team that says the same of all rows says nothing
    if codes is None or count_units(codes, 2, groups).min() < _ENOUGH_LEFT_OUT:
        return 1.0
    # At least a little, whatever the rows say: a team is never ignored or turned round.
    return max(fit_sigmoid(odds / spread, codes == 1).slope, 0.05) / spread


def _vector(proba: np.ndarray) -> np.ndarray:
    """Return the probabilities of class 1."""
    return proba[:, 1]


def _logs(proba: np.ndarray) -> np.ndarray:
    """Return logarithms of probabilities, also of zeros."""
    return np.log(np.maximum(proba, _LEAST))


def _log_odds(proba: np.ndarray) -> np.ndarray:
    """Return log-odds of class 1."""
    logs = np.log(np.maximum(proba, _LEAST_OF_TEAM))
    return logs - np.log(np.maximum(1 - proba, _LEAST_OF_TEAM))


# ---------------------------------------------------------------------- calibrations


@dataclass(eq=False)
class NoCalibration:
    """Leave the mean of the members' probabilities as it is; ``prior`` is that of their subsets."""

    prior: np.ndarray
    name = "none"

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        return proba

    def logits(self, proba: np.ndarray) -> np.ndarray:
        """Return what the calibrated probabilities are the softmax of."""
        return _logs(proba)


@dataclass(eq=False)
class PriorCalibration:
    """Correct for the known ratios of the classes in the draws.

    A class that is drawn q/p times as often as it occurs gets its odds divided by q/p. This is
    exact if rows of a class are drawn uniformly and the mean is calibrated in the balanced world.
    ``prior`` and ``drawn`` are the shares of the classes in the data and in the members' subsets.
    """

    prior: np.ndarray
    drawn: np.ndarray
    name = "prior"

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        return _normalise(proba * (self.prior / self.drawn))

    def logits(self, proba: np.ndarray) -> np.ndarray:
        """Return what the calibrated probabilities are the softmax of."""
        return _logs(proba) + np.log(self.prior / self.drawn)


class Sigmoid(NamedTuple):
    """An increasing function from scores to probabilities."""

    slope: float
    intercept: float

    def __call__(self, scores):
        return expit(self.slope * scores + self.intercept)


class SigmoidCalibration:
    """Platt's sigmoid of the mean probability, fitted on held-out rows.

    By hand because scikit-learn has it only inside `CalibratedClassifierCV`, which refits; the
    targets are Platt's, which keeps few rows from saturating it. It is a sigmoid ``of_log_odds``
    for answers that are not means of probabilities.
    """

    name = "sigmoid"

    def __init__(self, prior, proba, codes, weights=None, of_log_odds=False):
        self.prior = prior
        self.of_log_odds = of_log_odds
        scores = self._scores(proba)
        # For two classes one function is enough, and it keeps the order exactly.
        columns = [1] if len(prior) == 2 else range(len(prior))
        added = _ADDED_ROWS_TO_BLENDS if of_log_odds else _ADDED_ROWS
        self.functions = [fit_sigmoid(scores[:, k], codes == k, weights, added) for k in columns]

    def __call__(self, proba: np.ndarray) -> np.ndarray:
        columns = self._columns(proba)
        if len(columns) == 1:
            return np.column_stack([1 - columns[0], columns[0]])
        return _normalise(np.column_stack(columns))

    def logits(self, proba: np.ndarray) -> np.ndarray:
        """Return what the calibrated probabilities of many classes are the softmax of."""
        return _logs(np.column_stack(self._columns(proba)))

    def _columns(self, proba: np.ndarray) -> list[np.ndarray]:
        scores = self._scores(proba).T[-len(self.functions) :]
        return [function(column) for function, column in zip(self.functions, scores, strict=True)]

    def shifted(self, prior, proba, codes, weights=None) -> "SigmoidCalibration":
        """Return the same for two classes with the level of some rows, and the slope as it is."""
        weights = np.ones(len(codes)) if weights is None else weights / weights.mean()
        added = _ADDED_ROWS_TO_BLENDS if self.of_log_odds else _ADDED_ROWS
        old = self.functions[0]
        logits = old.slope * self._scores(proba)[:, 1] + old.intercept
        targets = _targets(codes == 1, weights, added)
        shift = brentq(lambda by: np.sum(weights * (expit(logits + by) - targets)), -50, 50)
        new = copy(self)
        new.prior, new.functions = prior, [Sigmoid(old.slope, old.intercept + shift)]
        return new

    def _scores(self, proba: np.ndarray) -> np.ndarray:
        if not self.of_log_odds:
            return proba
        # Those of the other classes, added up: 1 - p would be 0 where a class is all but certain.
        # A product of matrices would start threads of BLAS.
        two = proba.shape[1] == 2
        others = proba[:, ::-1] if two else proba @ (1 - np.eye(proba.shape[1]))
        return np.log(np.maximum(proba, _LEAST)) - np.log(np.maximum(others, _LEAST))


def _targets(is_class, weights, added: float) -> np.ndarray:
    """Return Platt's targets: the classes, as far as some more rows of each leave them certain."""
    n_in, n_out = weights[is_class].sum(), weights[~is_class].sum()
    n_more = 2 * added
    return np.where(is_class, (n_in + added) / (n_in + n_more), added / (n_out + n_more))


def fit_sigmoid(scores, is_class, weights=None, added: float = _ADDED_ROWS) -> Sigmoid:
    """Fit Platt's sigmoid to the scores of some rows, with ``added`` rows more of each class."""
    # With mean 1, the certainty of the sigmoid depends on the number of rows and not on the unit
    # of their weights.
    weights = np.ones(len(scores)) if weights is None else weights / weights.mean()
    targets = _targets(is_class, weights, added)
    return Sigmoid(*map(float, _fit_logistic(scores, targets, weights)))


def _fit_logistic(
    scores: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """Return the slope, within its bounds, and the intercept with the least cross-entropy.

    Newton's method on two parameters. By hand because scipy's L-BFGS-B calls BLAS, which starts
    threads that cost more than a small fit.
    """
    centre, unit = float(scores.mean()), float(scores.std())
    if unit <= _SINGULAR * abs(centre):
        unit = 1.0  # all scores are the same
    scores = (scores - centre) / unit
    flattest, steepest = _FLATTEST * unit, _STEEPEST * unit
    least_curvature = _SINGULAR * float(np.sum(weights))

    def loss(slope: float, intercept: float) -> float:
        logits = slope * scores + intercept
        return float(np.sum(weights * (np.logaddexp(0, logits) - targets * logits)))

    slope = min(max(1.0, flattest), steepest)
    intercept = float(logit(np.average(targets, weights=weights)))
    value = loss(slope, intercept)
    for _ in range(_MAX_STEPS):
        proba = expit(slope * scores + intercept)
        residuals, curvature = weights * (proba - targets), weights * proba * (1 - proba)
        slope_gradient, gradient = float(np.sum(residuals * scores)), float(np.sum(residuals))
        a, b = float(np.sum(curvature * scores**2)), float(np.sum(curvature * scores))
        c = max(float(np.sum(curvature)), least_curvature)
        determinant = a * c - b * b
        slope_step = 0.0
        if determinant > _SINGULAR * a * c:
            slope_step = (b * gradient - c * slope_gradient) / determinant
        limit = steepest if slope_step > 0 else flattest
        if slope == limit:
            slope_step = 0.0
        step = -(gradient + b * slope_step) / c
        # On the way to a bound the step gets shorter, so that it stays a way down.
        room = (limit - slope) / slope_step if slope_step else np.inf
        size = min(1.0, room)
        descent = slope_gradient * slope_step + gradient * step
        while size > _SHORTEST:
            new = limit if size == room else slope + size * slope_step, intercept + size * step
            new_value = loss(*new)
            if new_value <= value + 1e-4 * size * descent or -descent <= _ROUNDING * value:
                break
            size /= 2
        else:
            break  # rounding is all that is left
        (slope, intercept), value = new, new_value
        # The error is squared by every full step.
        if size == 1 and -descent <= _CLOSE * value:
            break
    # Rounding must not lead beyond the bounds.
    slope = min(max(slope / unit, _FLATTEST), _STEEPEST)
    return slope, intercept - slope * centre


def _normalise(proba: np.ndarray) -> np.ndarray:
    total = proba.sum(axis=1, keepdims=True)
    # A row that no class claims is as undecided as it can be.
    return np.where(total > 0, proba / np.where(total > 0, total, 1), 1 / proba.shape[1])


Calibration = NoCalibration | PriorCalibration | SigmoidCalibration | SoftmaxCalibration


def make_calibration(
    method, *, prior, drawn, proba=None, codes=None, weights=None, of_log_odds=False
) -> Calibration:
    """Return a calibration by name; ``proba``, ``codes`` and ``weights`` are of held-out rows.

    ``"auto"`` takes the sigmoid if each class has at least five of these rows, else the prior.
    """
    if of_log_odds and len(prior) > 2:
        return _calibration_of_pool(method, prior, drawn, proba, codes, weights)
    if method == "auto":
        fewest = 0 if codes is None else np.bincount(codes, minlength=len(prior)).min()
        method = "sigmoid" if fewest >= _FEWEST_ROWS_FOR_SIGMOID else "prior"
    if method is None:
        return NoCalibration(drawn)
    if method == "prior":
        return PriorCalibration(prior, drawn)
    return SigmoidCalibration(prior, proba, codes, weights, of_log_odds)


def _calibration_of_pool(method, prior, drawn, proba, codes, weights) -> Calibration:
    """Return the calibration of teams' joint answers for many classes."""
    if method is None:
        return NoCalibration(drawn)
    if method == "prior" or codes is None or len(codes) < ENOUGH_ROWS:
        return PriorCalibration(prior, drawn)
    # Pooled answers are never 0.
    return SoftmaxCalibration(prior, drawn, proba, codes, weights, floor=1e-12)
