"""The growth loop (Algorithm 2): one object for a fit, an episode and every ensemble on it."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from metasampler._sklearn_compat import take_rows
from metasampler.growth._data import GrowthData
from metasampler.growth._draw import (
    DEFAULT_SIGMA,
    RandomStreams,
    Stream,
    draw_rows,
    gaussian_log_weights,
)
from metasampler.growth._members import MemberLearner, Members
from metasampler.growth._scoring import running_mean
from metasampler.growth._threads import side_by_side

__all__ = [
    "GaussianDraw",
    "Growth",
    "GrowthStep",
    "Policy",
    "Rule",
    "replay",
]

#: Chooses rows of one larger class: ``rule(growth, rows, keys, size)``; see `GaussianDraw`.
Rule = Callable[["Growth", np.ndarray, np.ndarray, int], np.ndarray]

#: Chooses the rule of the next draw: ``policy(growth)``; None means a uniform draw.
Policy = Callable[["Growth"], Rule | None]


class GaussianDraw(NamedTuple):
    """Draw rows of the larger classes whose error is close to mu (Eq. 3).

    This is the rule that a policy returns: a growth calls it once for every larger class.

    Parameters
    ----------
    mu : float
        The error that the draw favours, in [0, 1].
    sigma : float, default=0.2
        Width of the Gaussian.
    state : ndarray, default=None
        What the policy saw when it chose mu.

    Examples
    --------
    >>> from metasampler.growth import GaussianDraw
    >>> GaussianDraw(0.9).sigma
    0.2
    """

    mu: float
    sigma: float = DEFAULT_SIGMA
    state: np.ndarray | None = None

    def __call__(
        self, growth: "Growth", rows: np.ndarray, keys: np.ndarray, size: int
    ) -> np.ndarray:
        """Return ``size`` of the rows; their random ``keys`` are changed in place."""
        # The errors are a copy, and a long one: the weights take its place.
        errors = growth.errors_of(rows)
        if growth.data.n_classes == 2:
            # Nobody reads them again before the new member changes them.
            growth.free_errors()
        keys -= gaussian_log_weights(errors, self.mu, self.sigma, out=errors)
        return rows[draw_rows(keys, size)]


class GrowthStep(NamedTuple):
    """What one step of the loop did and reached; the first has no rule.

    Attributes
    ----------
    rule : callable or None
        How rows were drawn; None means uniformly.
    score : float or None
        Validation score of the ensemble after the step.
    n_rows : int
        Rows the member was trained on.
    class_errors : ndarray of shape (n_classes,) or None
        Mean error of the validation rows of each class after the step.
    mu : float or None
        The error that the draw favoured, if it was drawn around one.
    power : float or None
        The power of errors that rows were drawn by, if they were.
    state : ndarray or None
        The state that mu was chosen in, if a policy looked at one.
    """

    rule: Any
    score: float | None
    n_rows: int
    class_errors: np.ndarray | None
    mu: float | None = None
    state: np.ndarray | None = None
    power: float | None = None


def replay(steps: Sequence[GrowthStep]) -> Policy:
    """Return the policy that repeats the rules of another growth."""
    return lambda growth: steps[growth.n_members].rule


class Growth:
    """An ensemble that grows one member at a time, and what is known of its errors.

    Only the new member is scored in a step: the ensemble's probability is a running mean.

    Parameters
    ----------
    data : GrowthData
        The rows.
    learner : MemberLearner or Members
        What fits and scores the members: ``learner.of(i)`` the one with number i.
    streams : RandomStreams
        Where the draws and the members take their randomness from.
    score_steps : bool, default=True
        Whether each step records the score of the validation rows, if there are any.

    Attributes
    ----------
    members : list of classifier
        The members so far.
    subsets : list of ndarray
        The row numbers each member was fitted on.
    steps : list of GrowthStep
        How each member came about.
    """

    def __init__(
        self,
        data: GrowthData,
        learner: MemberLearner | Members,
        streams: RandomStreams,
        *,
        score_steps: bool = True,
    ):
        self.data = data
        self.learner = learner
        self.streams = streams
        self.score_steps = score_steps
        self.members: list = []
        self.subsets: list[np.ndarray] = []
        self.steps: list[GrowthStep] = []
        self._n_wanted: int | None = None
        # Two classes need one number a row, the probability of class 1.
        width = () if data.n_classes == 2 else (data.n_classes,)
        self._total = np.zeros((len(data.codes), *width))
        # Draws and states look at the members as they are; soft leaves are for scores only.
        soft = learner.leaf_smoothing and len(data.rows) > 1 and not data.n_folds
        self._soft_total = np.zeros_like(self._total) if soft else None
        # With rotation: the sum over the members that have not seen a row, and how many they are.
        self._unseen_total = np.zeros_like(self._total) if data.n_folds else None
        self._n_unseen = np.zeros(max(data.n_folds, 1), dtype=np.intp)
        self._errors: np.ndarray | None = None
        # Rows are scored when somebody asks: uniform draws never do, nor does a last member.
        self._n_scored = 0

    @property
    def n_members(self) -> int:
        """Members so far."""
        return len(self.members)

    # ------------------------------------------------------------------ the loop

    def grow(self, policy: Policy | None, n_members: int) -> Iterator[GrowthStep]:
        """Grow the ensemble to ``n_members`` (Algorithm 2).

        Parameters
        ----------
        policy : callable or None
            Chooses how the rows of each member after the first are drawn. None draws uniformly:
            such members do not depend on each other and are fitted side by side.
        n_members : int
            When to stop.

        Yields
        ------
        step : GrowthStep
            One for each new member.
        """
        if policy is None and effective_n_jobs(self.learner.n_jobs) > 1:
            yield from self._grow_side_by_side(n_members)
        while self.n_members < n_members:
            n_before, rule = self.n_members, None
            if policy is not None and n_before:
                self._n_wanted = n_members
                rule = policy(self)
                self._n_wanted = None
            # A policy that tries several beginnings has grown the ensemble itself.
            if self.n_members < n_members:
                self.step(rule)
            yield from self.steps[n_before:]

    def step(self, rule: Rule | None = None) -> None:
        """Draw a balanced subset, fit a member on it, add it and record the step."""
        member, subset = self.fit_member(self.n_members, rule)
        self.add(member, subset, rule)

    def fit_member(self, number: int, rule: Rule | None = None) -> tuple:
        """Fit the member with this number, without adding it to the ensemble.

        Without a rule it depends on its number alone, not on the members before it.

        Returns
        -------
        member : classifier
        subset : ndarray of int
            The row numbers it was fitted on.
        """
        data, streams = self.data, self.streams
        seed, key = streams.integer(Stream.MEMBER, number), streams.row_key(Stream.DRAW)
        subset = data.draw(key, number, None if rule is None else partial(rule, self))
        weights = None if data.weights is None else data.member_weights(subset)
        learner = self.learner.of(number)
        options = {}
        if learner.stops_early and (unseen := data.unseen(number)) is not None:
            of_unseen = None if data.weights is None else data.weights[unseen]
            options = {"unseen": unseen, "unseen_weight": of_unseen}
        return learner.fit(data.tables[0], data.codes, subset, seed, weights, **options), subset

    def add(self, member, subset: np.ndarray, rule: Rule | None = None) -> None:
        """Add a fitted member and record the step."""
        self._add_unseen(member)
        self.members.append(member)
        self.subsets.append(subset)
        # With rotation the score waits until every row was left out by some member.
        known = self.score_steps and self.data.has_validation
        if self.data.n_folds:
            known = known and bool(self._n_unseen.all())
        self.steps.append(
            GrowthStep(
                rule,
                self.score("valid") if known else None,
                len(subset),
                self._class_errors() if known else None,
                getattr(rule, "mu", None),
                getattr(rule, "state", None),
                getattr(rule, "power", None),
            )
        )

    def _add_unseen(self, member) -> None:
        """Add a new member's probabilities of the rows it leaves out in rotation."""
        if self._unseen_total is not None:
            number = self.n_members
            rows = np.flatnonzero(self.data.folds == number % self.data.n_folds)
            part = np.zeros_like(self._total[rows])
            table = take_rows(self.data.tables[0], rows)
            self.learner.of(number).add_scores(member, table, part)
            self._unseen_total[rows] += part
            self._n_unseen[number % self.data.n_folds] += 1
        self._errors = None

    def _score_new_members(self) -> None:
        """Add the probabilities of members that were not asked for yet to the running sums."""
        for number in range(self._n_scored, self.n_members):
            learner, start = self.learner.of(number), 0
            for X in self.data.tables:
                stop = start + X.shape[0]
                soft = None if self._soft_total is None else self._soft_total[start:stop]
                learner.add_probabilities(self.members[number], X, self._total[start:stop], soft)
                start = stop
        self._n_scored = self.n_members

    def _grow_side_by_side(self, n_members: int) -> Iterator[GrowthStep]:
        """Fit batches of members at once; each depends on its number alone."""
        numbers = range(self.n_members, n_members)
        n_jobs = min(effective_n_jobs(self.learner.n_jobs), len(numbers))
        if n_jobs < 2:
            return
        batches = np.array_split(numbers, n_jobs)
        if self.learner.fits_in_threads:
            self.learner.prepare(self.data.tables[0], self.data.codes)
            fitted = side_by_side([partial(self._fit_members, batch) for batch in batches], n_jobs)
        else:
            parallel = Parallel(n_jobs, return_as="generator")
            fitted = parallel(delayed(self._fit_members)(batch) for batch in batches)
        for pairs in fitted:
            for member, subset in pairs:
                self.add(member, subset)
                yield self.steps[-1]

    def _fit_members(self, numbers: np.ndarray) -> list[tuple]:
        twin = copy(self)
        twin.learner = self.learner.own_copy()
        return [twin.fit_member(int(number)) for number in numbers]

    # ------------------------------------------------------------------ copies

    def anew(self, data: GrowthData, **options) -> "Growth":
        """Return an empty growth with the same learner and random numbers on other rows."""
        return Growth(data, self.learner, self.streams, **options)

    def resume(self, members: list, subsets: list[np.ndarray], steps: list[GrowthStep]) -> None:
        """Begin with the members of an earlier fit, as a warm start does."""
        for member, subset, step in zip(members, subsets, steps, strict=True):
            self._add_unseen(member)
            self.members.append(member)
            self.subsets.append(self.data.from_original(subset))
            self.steps.append(step)

    def fork(self) -> "Growth":
        """Return a copy that grows on its own; fitted members are shared."""
        twin = copy(self)
        twin._n_wanted = None
        twin._take_from(self)
        return twin

    def adopt(self, other: "Growth") -> None:
        """Become what a fork of this growth has become.

        While a policy is asked, this ends with the members that are wanted.
        """
        if self._n_wanted is not None and self._n_wanted < other.n_members:
            new = slice(self.n_members, self._n_wanted)
            subsets = [self.data.to_original(subset) for subset in other.subsets[new]]
            self.resume(other.members[new], subsets, other.steps[new])
        else:
            self._take_from(other)

    def _take_from(self, other: "Growth") -> None:
        self.members = list(other.members)
        self.subsets = list(other.subsets)
        self.steps = list(other.steps)
        self._total = other._total.copy()
        self._soft_total = None if other._soft_total is None else other._soft_total.copy()
        if other._unseen_total is not None:
            self._unseen_total = other._unseen_total.copy()
        self._n_unseen = other._n_unseen.copy()
        self._n_scored = other._n_scored
        self._errors = None

    # ------------------------------------------------------------------ what is known of the rows

    def errors(self, role: str = "train", part: str = "all") -> np.ndarray:
        """Return the errors, 1 - p(true class), of the rows in a role."""
        if role == "valid" and self.data.n_folds:
            rows = self._judged(part)
            return self._errors_by(self._unseen_mean(rows), self.data.codes[rows], 1)
        errors = self._all_errors()
        return errors[self.data.rows[role] if part == "all" else self.data.part(role, part)]

    def errors_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the errors of the rows with these numbers, as a new array."""
        return self._all_errors()[rows]

    def weights(self, role: str = "train", part: str = "all") -> np.ndarray | None:
        """Return the weights of the rows in a role, or None if all count the same."""
        if self.data.weights is None:
            return None
        if role == "valid" and self.data.n_folds:
            return self.data.weights[self._judged(part)]
        return self.data.weights[self.data.part(role, part)]

    def _judged(self, part: str = "all") -> np.ndarray:
        """Return the rows that some member has left out, with rotation."""
        rows = np.arange(len(self.data.codes))[self.data.part("valid", part)]
        return rows[self._n_unseen[self.data.folds[rows]] > 0]

    def _unseen_mean(self, rows: np.ndarray) -> np.ndarray:
        """Return the mean over the members that have not seen a row."""
        counts = self._n_unseen[self.data.folds[rows]]
        assert self._unseen_total is not None
        total = self._unseen_total[rows]
        return total / (counts if total.ndim == 1 else counts[:, np.newaxis])

    def free_errors(self) -> None:
        """Free the memory of the errors; they are computed again when they are asked for."""
        self._errors = None

    def _all_errors(self) -> np.ndarray:
        if self._errors is None:
            self._score_new_members()
            self._errors = self._errors_by(self._total, self.data.codes, self.n_members)
        return self._errors

    @staticmethod
    def _errors_by(total: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
        """Return 1 - p(true class), given the sum of the probabilities of k members."""
        if total.ndim == 1:
            # Sums before the division: they are exact where leaves are pure.
            errors = np.where(codes == 1, k - total, total)
        else:
            true = codes[:, np.newaxis].astype(np.intp)
            errors = k - np.take_along_axis(total, true, axis=1)[:, 0]
        errors /= k
        return errors

    def _class_errors(self) -> np.ndarray:
        """Return the mean error of the validation rows of each class."""
        rows = self._judged() if self.data.n_folds else self.data.rows["valid"]
        codes, errors, weights = self.data.codes[rows], self.errors("valid"), self.weights("valid")
        weighted = errors if weights is None else errors * weights
        totals = np.bincount(codes, weighted, self.data.n_classes)
        return totals / np.bincount(codes, weights, self.data.n_classes)

    def score(self, role: str = "valid") -> float:
        """Return the score of the ensemble on the rows in a role."""
        scorer = self.data.scorers.get(role) or self.data.scorer(role)
        score = scorer(self._mean(role))
        if not np.isfinite(score):
            raise ValueError(
                f"scoring={self.data.scoring!r} gives {score} on the {role} rows after "
                f"{self.n_members} members; it must be a finite number."
            )
        return score

    def proba(self, role: str = "valid") -> np.ndarray:
        """Return the mean probability of each class, by soft leaves if there are any."""
        proba = self._mean(role)
        return proba if proba.ndim == 2 else np.column_stack([1 - proba, proba])

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the validation rows and their probabilities."""
        if self.data.n_folds:
            return self._judged(), self.proba("valid")
        return np.arange(len(self.data.codes))[self.data.rows["valid"]], self.proba("valid")

    def _mean(self, role: str) -> np.ndarray:
        if role == "valid" and self.data.n_folds:
            return self._unseen_mean(self._judged())
        self._score_new_members()
        total = self._total if self._soft_total is None else self._soft_total
        smoothing = self.learner.leaf_smoothing
        return running_mean(total[self.data.rows[role]], self.n_members, smoothing)

    def drawn_shares(self) -> np.ndarray:
        """Return the share of each class in what members were trained on, on average."""
        # It is the same for all members, but for those whose fit takes no weights.
        takers = [self.learner.of(number).takes_weights for number in range(self.n_members)]
        part = np.mean(takers)
        weighted, plain = (
            self.data.drawn_shares(self.subsets[0], weighted=taken) for taken in (True, False)
        )
        return part * weighted + (1 - part) * plain
