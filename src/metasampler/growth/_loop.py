"""The growth loop (Algorithm 2): one object for a fit, an episode and every ensemble on it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from metasampler.growth._data import GrowthData, Selector
from metasampler.growth._learner import PublicLearner, RotatingLearner
from metasampler.growth._leaves import running_mean
from metasampler.growth._look_ahead import Candidate, fit_candidates
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._sampling import draw_rows, gaussian_log_weights

__all__ = ["Growth", "GrowthStep", "grow_by_policy"]


class Growth:
    """An ensemble that grows one member at a time, and what is known of its errors.

    Only the new member is scored in a step: the ensemble's probability is a running mean.

    Parameters
    ----------
    data : GrowthData
    learner : PublicLearner or RotatingLearner
        What fits and scores the members: ``learner.of(i)`` the one with number i.
    streams : RandomStreams
        Where the draws and the members take their randomness from.
    track : bool, default=True
        Whether to score each new member. A loop that never looks at errors has no need to.
    n_candidates : int, default=1
        Candidates that are fitted for each member; the one with which the ensemble scores best on
        the validation rows joins it. Those with leaves are compared by smoothed ones.

    Attributes
    ----------
    members : list of classifier
    subsets : list of ndarray
        The row numbers each member was fitted on.
    candidate : int
        Which candidate the newest member was.
    """

    def __init__(
        self,
        data: GrowthData,
        learner: PublicLearner | RotatingLearner,
        streams: RandomStreams,
        *,
        track: bool = True,
        n_candidates: int = 1,
    ):
        self.track = track
        self.n_candidates = n_candidates
        self.candidate = 0
        self.data = data
        self.learner = learner
        self.streams = streams
        self.members: list = []
        self.subsets: list[np.ndarray] = []
        # Two classes need one number a row, the probability of class 1.
        width = () if data.n_classes == 2 else (data.n_classes,)
        self._total = np.zeros((len(data.codes), *width))
        # Draws and states look at the members as they are; smoothed leaves are for scores only.
        smooth = learner.leaf_smoothing and len(data.rows) > 1
        self._smooth_total = np.zeros_like(self._total) if smooth else None
        # Plain leaves say 0 or 1, which leaves most rows tied and candidates hard to tell apart.
        judged_apart = n_candidates > 1 and learner.judging_smoothing != learner.leaf_smoothing
        self._judged = np.zeros_like(self._total[data.rows["valid"]]) if judged_apart else None
        self._errors: np.ndarray | None = None

    @property
    def n_members(self) -> int:
        """Members so far."""
        return len(self.members)

    def grow(self, select: Selector | None = None, candidate: int | None = None) -> None:
        """Draw a balanced subset, fit a member on it and add it to the ensemble.

        Parameters
        ----------
        select : callable, default=None
            How rows of the larger classes are chosen, see `GrowthData.draw`; None draws
            uniformly.
        candidate : int, default=None
            Which candidate to take; None takes the best.
        """
        if candidate is None and self.n_candidates > 1:
            self.add(*self._best_candidate(select))
        else:
            self.candidate = candidate or 0
            self.add(*self.fit_member(self.n_members, select, self.candidate))

    def fit_member(self, number: int, select: Selector | None = None, candidate: int = 0) -> tuple:
        """Fit the member with this number, without adding it to the ensemble.

        Without ``select`` it depends on its number alone, not on the members before it.

        Returns
        -------
        member : classifier
        subset : ndarray of int
            The row numbers it was fitted on.
        """
        drawn = self._draw(number, select, candidate)
        member = self.learner.of(number).fit(
            self.data.tables[0],
            self.data.codes,
            drawn.subset,
            drawn.seed,
            drawn.weights,
        )
        return member, drawn.subset

    def _draw(self, number: int, select: Selector | None, candidate: int) -> Candidate:
        """Draw what a member, or a candidate for it, is fitted on; the first is the member."""
        streams = self.streams.child(Stream.CANDIDATE, candidate) if candidate else self.streams
        subset = self.data.draw(streams.row_key(Stream.DRAW), number, select)
        takes_weights = self.learner.of(number).takes_weights
        weights = self.data.member_weights(subset) if takes_weights else None
        return Candidate(subset, streams.integer(Stream.MEMBER, number), weights)

    def _best_candidate(self, select: Selector | None) -> tuple:
        """The candidate with which the ensemble scores best; of equal ones the first."""
        number = self.n_members
        # Drawn one after the other: they read the same errors, and a rule may keep notes.
        drawn = [self._draw(number, select, j) for j in range(self.n_candidates)]
        fitted = fit_candidates(self.learner.of(number), self.data, drawn)
        so_far = self._judged
        if so_far is None:
            so_far = self._score_total[self.data.rows["valid"]]
        smoothing = self.learner.judging_smoothing
        means = [running_mean(so_far + proba, number + 1, smoothing) for _, proba in fitted]
        scores = [self._score_of(mean, number + 1, "valid") for mean in means]
        self.candidate = int(np.argmax(scores))
        return fitted[self.candidate][0], drawn[self.candidate].subset

    def grow_at(self, mu: float, sigma: float, candidate: int | None = None) -> None:
        """Grow by a member whose larger classes are drawn around the error ``mu`` (Eq. 3)."""

        def select(rows, keys, size):
            keys -= self._gaussian_log_weights(rows, mu, sigma)
            return rows[draw_rows(keys, size)]

        self.grow(select, candidate)

    def _gaussian_log_weights(self, rows, mu, sigma):
        # The errors are a copy already, and a long one: the weights take its place.
        errors = self.errors_of(rows)
        if self.data.n_classes == 2 and self.n_candidates == 1:
            # Nobody reads them again before the new member changes them.
            self.free_errors()
        return gaussian_log_weights(errors, mu, sigma, out=errors)

    def add(self, member, subset: np.ndarray) -> None:
        """Add a fitted member, as a warm start does with those it already has."""
        start = 0
        learner = self.learner.of(self.n_members)
        for X in self.data.tables if self.track else []:
            stop = start + X.shape[0]
            smooth = None if self._smooth_total is None else self._smooth_total[start:stop]
            learner.add_probabilities(member, X, self._total[start:stop], smooth)
            start = stop
        if self._judged is not None:
            X, _ = self.data.take("valid")
            learner.add_scores(member, X, self._judged, learner.judging_smoothing)
        self.members.append(member)
        self.subsets.append(subset)
        self._errors = None

    def errors(self, role: str = "train", part: str = "all") -> np.ndarray:
        """Errors, 1 - p(true class), of the rows in a role."""
        return self._all_errors()[self.data.part(role, part)]

    def weights(self, role: str = "train", part: str = "all") -> np.ndarray | None:
        """Weights of the rows in a role, or None if all count the same."""
        if self.data.weights is None:
            return None
        return self.data.weights[self.data.part(role, part)]

    def drawn_shares(self) -> np.ndarray:
        """Share of each class in what members were trained on, on average over them."""
        # It is the same for all members, but for those whose fit takes no weights.
        takers = [self.learner.of(number).takes_weights for number in range(self.n_members)]
        part = np.mean(takers)
        weighted, plain = (
            self.data.drawn_shares(self.subsets[0], weighted=taken) for taken in (True, False)
        )
        return part * weighted + (1 - part) * plain

    def proba(self, role: str = "valid") -> np.ndarray:
        """Mean probability of each class, by smoothed leaves if there are any."""
        proba = self._mean(role)
        return proba if proba.ndim == 2 else np.column_stack([1 - proba, proba])

    def free_errors(self) -> None:
        """Free the memory of the errors; they are computed again when they are asked for."""
        self._errors = None

    def errors_of(self, rows: np.ndarray) -> np.ndarray:
        """Errors of the rows with these numbers, as a new array."""
        return self._all_errors()[rows]

    def _all_errors(self) -> np.ndarray:
        if self._errors is None:
            codes, k = self.data.codes, self.n_members
            if self.data.n_classes == 2:
                # Sums before the division: they are exact where leaves are pure.
                errors = np.where(codes == 1, k - self._total, self._total)
            else:
                true = codes[:, np.newaxis].astype(np.intp)
                errors = k - np.take_along_axis(self._total, true, axis=1)[:, 0]
            errors /= k
            self._errors = errors
        return self._errors

    def score(self, role: str = "valid") -> float:
        """Score of the ensemble on the rows in a role."""
        return self._score_of(self._mean(role), self.n_members, role)

    @property
    def _score_total(self) -> np.ndarray:
        """The sums that scores are computed from."""
        return self._total if self._smooth_total is None else self._smooth_total

    def _mean(self, role: str) -> np.ndarray:
        """Mean over the members that scores are computed from."""
        total = self._score_total[self.data.rows[role]]
        return running_mean(total, self.n_members, self.learner.leaf_smoothing)

    def _score_of(self, mean: np.ndarray, n_members: int, role: str) -> float:
        score = self.data.scorer(role)(mean)
        if not np.isfinite(score):
            raise ValueError(
                f"scoring={self.data.scoring!r} gives {score} on the {role} rows after "
                f"{n_members} members; it must be a finite number."
            )
        return score


class GrowthStep(NamedTuple):
    """What one step of the loop saw, did and reached; the first has neither state nor mu."""

    state: np.ndarray | None
    mu: float | None
    score: float | None


def grow_by_policy(
    growth: Growth,
    n_members: int,
    encoder: Callable[[Growth], np.ndarray] | None,
    choose_mu: Callable[[np.ndarray | None, int], float],
    sigma: float,
) -> Iterator[GrowthStep]:
    """Algorithm 2: grow an ensemble to ``n_members``, one step at a time.

    Parameters
    ----------
    growth : Growth
        The ensemble, empty or not.
    n_members : int
        When to stop.
    encoder : callable or None
        Gives the meta-state of an ensemble; None for a policy that looks at none.
    choose_mu : callable
        The policy: takes the state and the number of members so far.
    sigma : float
        Width of the Gaussian.

    Yields
    ------
    step : GrowthStep
    """
    while growth.n_members < n_members:
        if growth.n_members == 0:
            state = mu = None
            growth.grow()
        else:
            state = None if encoder is None else encoder(growth)
            mu = choose_mu(state, growth.n_members)
            growth.grow_at(mu, sigma)
        score = growth.score("valid") if growth.data.has_validation else None
        yield GrowthStep(state, mu, score)
