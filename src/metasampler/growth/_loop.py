"""The growth loop (Algorithm 2): one object for a fit, an episode and every ensemble on it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from metasampler.growth._data import GrowthData, Selector
from metasampler.growth._learner import PublicLearner
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._sampling import draw_rows, gaussian_log_weights

__all__ = ["Growth", "GrowthStep", "grow_by_policy"]


class Growth:
    """An ensemble that grows one member at a time, and what is known of its errors.

    Only the new member is scored in a step: the ensemble's probability is a running mean.

    Parameters
    ----------
    data : GrowthData
    learner : PublicLearner
    streams : RandomStreams
        Where the draws and the members take their randomness from.
    track : bool, default=True
        Whether to score each new member. A loop that never looks at errors has no need to.
    member_options : dict, default=None
        Further arguments for the members' fit.

    Attributes
    ----------
    members : list of classifier
    subsets : list of ndarray
        The row numbers each member was fitted on.
    """

    def __init__(
        self,
        data: GrowthData,
        learner: PublicLearner,
        streams: RandomStreams,
        *,
        track: bool = True,
        member_options: dict | None = None,
    ):
        self.track = track
        self.member_options = member_options or {}
        self.data = data
        self.learner = learner
        self.streams = streams
        self.members: list = []
        self.subsets: list[np.ndarray] = []
        self._draw_key = streams.row_key(Stream.DRAW)
        # Two classes need one number a row, the probability of class 1.
        width = () if data.n_classes == 2 else (data.n_classes,)
        self._total = np.zeros((len(data.codes), *width))
        self._errors: np.ndarray | None = None

    @property
    def n_members(self) -> int:
        """Members so far."""
        return len(self.members)

    def grow(self, select: Selector | None = None) -> None:
        """Draw a balanced subset, fit a member on it and add it to the ensemble.

        Parameters
        ----------
        select : callable, default=None
            How rows of the larger classes are chosen, see `GrowthData.draw`; None draws
            uniformly.
        """
        self.add(*self.fit_member(self.n_members, select))

    def fit_member(self, number: int, select: Selector | None = None) -> tuple:
        """Fit the member with this number, without adding it to the ensemble.

        Without ``select`` it depends on its number alone, not on the members before it.

        Returns
        -------
        member : classifier
        subset : ndarray of int
            The row numbers it was fitted on.
        """
        subset = self.data.draw(self._draw_key, number, select)
        seed = self.streams.integer(Stream.MEMBER, number)
        weights = self.data.member_weights(subset)
        if weights is not None and not self.learner.takes_weights:
            weights = None
        member = self.learner.fit(
            self.data.tables[0], self.data.codes, subset, seed, weights, **self.member_options
        )
        return member, subset

    def grow_at(self, mu: float, sigma: float) -> None:
        """Grow by a member whose larger classes are drawn around the error ``mu`` (Eq. 3)."""

        def select(rows, keys, size):
            keys -= self._gaussian_log_weights(rows, mu, sigma)
            return rows[draw_rows(keys, size)]

        self.grow(select)

    def _gaussian_log_weights(self, rows, mu, sigma):
        # The errors are a copy already, and a long one: the weights take its place.
        errors = self.errors_of(rows)
        if self.data.n_classes == 2:
            # Nobody reads them again before the new member changes them.
            self.free_errors()
        return gaussian_log_weights(errors, mu, sigma, out=errors)

    def add(self, member, subset: np.ndarray) -> None:
        """Add a fitted member, as a warm start does with those it already has."""
        start = 0
        for X in self.data.tables if self.track else []:
            stop = start + X.shape[0]
            self.learner.add_probabilities(member, X, self._total[start:stop])
            start = stop
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

    def proba(self, role: str = "valid") -> np.ndarray:
        """Mean probability of each class, for the rows in a role."""
        proba = self._total[self.data.rows[role]] / self.n_members
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
        proba = self._total[self.data.rows[role]] / self.n_members
        score = self.data.scorer(role)(proba)
        if not np.isfinite(score):
            raise ValueError(
                f"scoring={self.data.scoring!r} gives {score} on the {role} rows after "
                f"{self.n_members} members; it must be a finite number."
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
