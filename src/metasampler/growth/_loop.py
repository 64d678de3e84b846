"""The growth loop (Algorithm 2): one object for a fit, an episode and every ensemble on it."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from metasampler._running import side_by_side
from metasampler.growth._adapters import Adapter, Adapters
from metasampler.growth._data import GrowthData, SampleFacts
from metasampler.growth._draw import Rule
from metasampler.growth._rules import as_rule
from metasampler.growth._scores import running_mean
from metasampler.growth._streams import RandomStreams, Stream

__all__ = ["Growth", "GrowthStep", "Policy", "replay"]

#: Chooses the rule of the next draw: ``policy(growth)``; None means a uniform draw.
Policy = Callable[["Growth"], Rule | None]


class GrowthStep(NamedTuple):
    """What one step of the loop did, and what the ensemble reached on the validation rows."""

    #: How rows were drawn; None means uniformly, as for the first member.
    rule: Any
    score: float | None
    n_rows: int
    #: The mean error of each class.
    class_errors: np.ndarray | None
    #: Of the rule: the error that it favoured, the state in which a policy chose, the power.
    mu: float | None = None
    state: np.ndarray | None = None
    power: float | None = None
    #: Rows of each class that the member was trained on, and their total weights.
    totals: tuple[np.ndarray, np.ndarray] | None = None


def replay(steps: Sequence[GrowthStep]) -> Policy:
    """Return the policy that repeats the rules of another growth."""
    return lambda growth: steps[growth.n_members].rule


@dataclass(eq=False, repr=False)
class Growth:
    """An ensemble that grows one member at a time, and what is known of its errors.

    Only the new member is scored in a step: the ensemble's probability is a running mean.
    """

    data: GrowthData
    adapters: Adapter | Adapters
    streams: RandomStreams
    _: KW_ONLY
    #: Whether each step records the score of the validation rows, if there are any.
    score_steps: bool = True

    def __post_init__(self):
        data, adapters = self.data, self.adapters
        self._key = self.streams.row_key(Stream.DRAW)
        self.members: list = []
        #: The rows that each member was fitted on; None where they are too many to be known.
        self.samples: list[np.ndarray | None] = []
        self._steps: list[GrowthStep] = []
        # Steps that are not recorded yet. With rotation no draw of ours reads the rows that members
        # leave out, so a thread that is left can record them while other members are fitted.
        self._unrecorded: deque[Callable[[], None]] = deque()
        has_threads = effective_n_jobs(adapters.n_jobs) > 1 and data.in_memory
        self._records_later = bool(data.n_folds) and has_threads
        self._n_wanted: int | None = None
        # Draws and states look at the members as they are; soft leaves are for scores only.
        soft = adapters.leaf_smoothing and not data.n_folds
        self._soft_roles = tuple(role for role in data.roles if role != "train") if soft else ()
        # With rotation: the sum over the members that have not seen a row, and how many they are.
        self._unseen_total: np.ndarray | None = None
        self._n_unseen = np.zeros(max(data.n_folds, 1), dtype=np.intp)
        if data.n_folds:
            n_rows = len(data.evaluation_rows("valid").rows)
            shape = n_rows if data.n_classes == 2 else (n_rows, data.n_classes)
            self._unseen_total = np.zeros(shape)
        # Rows are scored on request: uniform draws never ask, and nothing asks after the last
        # member.
        self._sums: Any = None
        self._errors: dict[str, np.ndarray] = {}
        adapters.before_growth(data)

    @property
    def n_members(self) -> int:
        """Members so far."""
        return len(self.members)

    @property
    def steps(self) -> list[GrowthStep]:
        """What every step did."""
        self._record()
        return self._steps

    # ------------------------------------------------------------------ the loop

    def grow(self, policy: Policy | None, n_members: int) -> Iterator[GrowthStep | None]:
        """Grow the ensemble to ``n_members`` (Algorithm 2), and yield the step of each new one.

        The policy chooses how the rows of each member after the first are drawn. None draws
        uniformly: such members do not depend on each other and are fitted side by side. None stands
        for a step that is recorded later, see `add`.
        """
        if policy is None and self.data.in_memory:
            yield from self._grow_side_by_side(n_members)
        while self.n_members < n_members:
            n_before, rule = self.n_members, None
            if policy is not None and n_before:
                self._n_wanted = n_members
                rule = as_rule(policy(self), policy)
                self._n_wanted = None
            # A policy that tries several beginnings has grown the ensemble itself.
            if self.n_members < n_members:
                self.step(rule)
            for number in range(n_before, self.n_members):
                yield self._steps[number] if number < len(self._steps) else None

    def run(
        self,
        policy: Policy | None,
        n_members: int,
        advance: Callable[[str], None] = lambda note: None,
        stopped: Event | None = None,
    ) -> None:
        """Grow the ensemble to ``n_members``, and tell of every step, until it is stopped."""
        note = ""
        for step in self.grow(policy, n_members):
            if step is not None and step.score is not None:
                note = f"validation score {step.score:.3f}"
            advance(note)
            if stopped is not None and stopped.is_set():
                return
        if self.data.n_folds:
            # With rotation only draws need the sums of all rows, and no draw is left.
            self._sums = None
        self._record()

    def step(self, rule: Rule | None = None) -> None:
        """Draw a balanced sample, fit a member on it, add it and record the step."""
        # A draw shares its work among the threads, a fit leaves room for the steps before it.
        sample = self._draw(self.n_members, rule)
        fit = partial(self._fit, sample, self.n_members)
        member, facts = self._record_beside(fit) if self._unrecorded else fit()
        self.add(member, facts, rule)

    def fit_member(self, number: int, rule: Rule | None = None) -> tuple[Any, SampleFacts]:
        """Return the member with this number and what is known of its rows, without adding it.

        Without a rule it depends on its number alone, not on the members before it.
        """
        return self._fit(self._draw(number, rule), number)

    def _draw(self, number: int, rule: Rule | None):
        return self.data.draw(self._key, number, rule, self.sums)

    def _fit(self, sample, number: int) -> tuple[Any, SampleFacts]:
        seed = self.streams.integer(Stream.MEMBER, number)
        return self.data.fit_member(sample, number, self.adapters.of(number), seed)

    def add(self, member, facts: SampleFacts, rule: Rule | None = None, unseen=None) -> None:
        """Add a fitted member and record the step, if need be beside a later fit.

        ``unseen`` are its scores of the rows that it leaves out, if they are known.
        """
        step = partial(self._add_step, self.n_members, member, facts, rule, unseen)
        self._unrecorded.append(step)
        self.members.append(member)
        self.samples.append(facts.rows)
        self._errors = {}
        if not self._records_later:
            self._record()

    # ------------------------------------------------------------------ records

    def _record_beside(self, fit: Callable[[], tuple]) -> tuple:
        """Return what a fit gives; if a thread is left, it records steps meanwhile."""
        fitted = Event()

        def fit_and_tell():
            try:
                return fit()
            finally:
                fitted.set()

        calls = [fit_and_tell, lambda: self._record(until=fitted)]
        return side_by_side(calls, self.adapters.n_jobs)[0]

    def _record(self, until: Event | None = None) -> None:
        """Record the steps that wait for it, or begin no more of them once an event has come."""
        # Recording a step asks for scores, and so for this again: then nothing waits.
        waiting, self._unrecorded = self._unrecorded, deque()
        try:
            while waiting and not (until and until.is_set()):
                waiting.popleft()()
        finally:
            self._unrecorded = waiting

    def _add_step(self, number: int, member, facts: SampleFacts, rule, unseen) -> None:
        self._add_unseen(number, member, unseen)
        # With rotation the score waits until every row was left out by some member.
        known = self.score_steps and self.data.has_validation
        if self.data.n_folds:
            known = known and bool(self._n_unseen.all())
        class_errors = self._mean_class_errors() if known else None
        self._steps.append(
            GrowthStep(
                rule,
                self.score("valid") if known else None,
                int(facts.totals[0].sum()),
                class_errors,
                getattr(rule, "mu", None),
                getattr(rule, "state", None),
                getattr(rule, "power", None),
                facts.totals,
            )
        )

    def _unseen_scores(self, number: int, member) -> np.ndarray | None:
        """Return a member's probabilities of the rows it leaves out, with rotation."""
        if self._unseen_total is None:
            return None
        return self.data.fold_scores(self.adapters.of(number), member, number % self.data.n_folds)

    def _add_unseen(self, number: int, member, unseen: np.ndarray | None = None) -> None:
        """Add a member's probabilities of the rows it leaves out in rotation."""
        if self._unseen_total is not None:
            if unseen is None:
                unseen = self._unseen_scores(number, member)
            fold = number % self.data.n_folds
            self._unseen_total[self.data.evaluation_rows("valid").folds == fold] += unseen
            self._n_unseen[fold] += 1

    # ------------------------------------------------------------------ side by side

    def _grow_side_by_side(self, n_members: int) -> Iterator[GrowthStep]:
        """Fit batches of members at once; each depends on its number alone."""
        numbers = range(self.n_members, n_members)
        n_jobs = min(effective_n_jobs(self.adapters.n_jobs), len(numbers))
        if n_jobs < 2:
            return
        batches = np.array_split(numbers, n_jobs)
        if self.adapters.fits_in_threads:
            in_memory: Any = self.data
            self.adapters.prepare(in_memory.tables[0], in_memory.codes)
            fitted = side_by_side([partial(self._fit_members, batch) for batch in batches], n_jobs)
        else:
            parallel = Parallel(n_jobs, return_as="generator")
            fitted = parallel(delayed(self._fit_members)(batch) for batch in batches)
        for of_batch in fitted:
            for member, facts, unseen in of_batch:
                self.add(member, facts, None, unseen)
                yield self.steps[-1]

    def _fit_members(self, numbers: np.ndarray) -> list[tuple]:
        twin = copy(self)
        twin.adapters = self.adapters.own_copy()
        fitted = []
        for number in numbers.tolist():
            member, facts = twin.fit_member(number)
            # Scored here, where other members are fitted meanwhile.
            fitted.append((member, facts, twin._unseen_scores(number, member)))
        return fitted

    # ------------------------------------------------------------------ copies

    def anew(self, data: GrowthData, **options) -> "Growth":
        """Return an empty growth with the same adapters and random numbers on other rows."""
        return Growth(data, self.adapters, self.streams, **options)

    def resume(self, members: list, samples: list, steps: list[GrowthStep]) -> None:
        """Begin with the members of an earlier fit, as a warm start does."""
        for member, sample, step in zip(members, samples, steps, strict=True):
            self._add_unseen(self.n_members, member)
            self.members.append(member)
            self.samples.append(sample)
            self.steps.append(step)
        self._errors = {}

    def fork(self) -> "Growth":
        """Return a copy that grows on its own; fitted members are shared."""
        # Before the copy: a step that waits would be recorded twice.
        self._record()
        twin = copy(self)
        twin._unrecorded = deque()
        twin._n_wanted = None
        twin._take_from(self)
        return twin

    def adopt(self, other: "Growth") -> None:
        """Become what a fork of this growth has become.

        While a policy is asked, this ends with the members that are wanted.
        """
        if self._n_wanted is not None and self._n_wanted < other.n_members:
            new = slice(self.n_members, self._n_wanted)
            self.resume(other.members[new], other.samples[new], other.steps[new])
        else:
            self._take_from(other)

    def _take_from(self, other: "Growth") -> None:
        self.members = list(other.members)
        self.samples = list(other.samples)
        self._steps = list(other.steps)
        self._sums = None if other._sums is None else other._sums.copy()
        if other._unseen_total is not None:
            self._unseen_total = other._unseen_total.copy()
        self._n_unseen = other._n_unseen.copy()
        self._errors = {}

    # ------------------------------------------------------------------ what is known of the rows

    def sums(self) -> Any:
        """Return the sums over all members; new members are scored now."""
        if self._sums is None:
            self._sums = self.data.start_sums(self._soft_roles)
        for number in range(self._sums.n_members, self.n_members):
            self.data.add_scores(self._sums, self.adapters.of(number), self.members[number])
        return self._sums

    def class_errors(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of all training rows of a class, and their errors."""
        return self.data.class_errors(self.sums(), k)

    def errors(self, role: str = "train", group: str = "all") -> np.ndarray:
        """Return the errors, 1 - p(true class), of the evaluation rows in a role.

        A group of classes is "all", "minority" or "majority".
        """
        codes, which = self.data.evaluation_rows(role).codes, self._which(role, group)
        if role == "valid" and self.data.n_folds:
            return _errors_by(self._unseen_mean(which), codes[which], 1)
        if role not in self._errors:
            total = self.data.evaluation_sums(self.sums(), role, soft=False)
            self._errors[role] = _errors_by(total, codes, self.n_members)
        return self._errors[role][which]

    def weights(self, role: str = "train", group: str = "all") -> np.ndarray | None:
        """Return the weights of the evaluation rows in a role, or None if all count the same."""
        weights = self.data.evaluation_rows(role).weights
        return None if weights is None else weights[self._which(role, group)]

    def _which(self, role: str, group: str = "all") -> Any:
        """Return which evaluation rows are asked for; with rotation some member left them out."""
        self._record()
        data = self.data
        which: Any = slice(None) if group == "all" else data.positions(role, group)
        if role != "valid" or not data.n_folds:
            return which
        judged = self._n_unseen[data.evaluation_rows("valid").folds] > 0
        return np.flatnonzero(judged) if group == "all" else which[judged[which]]

    def _unseen_mean(self, judged: np.ndarray) -> np.ndarray:
        """Return the mean over the members that have not seen a row."""
        folds = self.data.evaluation_rows("valid").folds
        assert self._unseen_total is not None
        assert folds is not None
        counts, total = self._n_unseen[folds[judged]], self._unseen_total[judged]
        return total / (counts if total.ndim == 1 else counts[:, np.newaxis])

    def _mean_class_errors(self) -> np.ndarray:
        """Return the mean error of the validation rows of each class."""
        codes = self.data.evaluation_rows("valid").codes[self._which("valid")]
        weights, errors = self.weights("valid"), self.errors("valid")
        weighted = errors if weights is None else errors * weights
        totals = np.bincount(codes, weighted, self.data.n_classes)
        return totals / np.bincount(codes, weights, self.data.n_classes)

    def score(self, role: str = "valid") -> float:
        """Return the score of the ensemble on the rows in a role."""
        score = self.data.scorer(role)(self._mean(role))
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

    def judged(self) -> tuple:
        """Return the validation rows, or without any the training rows.

        These are their numbers, the ensemble's probabilities of them, their classes and weights.
        """
        role = "valid" if self.data.has_validation else "train"
        rows = self.data.evaluation_rows(role)
        which = self._which(role)
        weights = None if rows.own_weights is None else rows.own_weights[which]
        return rows.rows[which], self.proba(role), rows.codes[which], weights

    def _mean(self, role: str) -> np.ndarray:
        if role == "valid" and self.data.n_folds:
            return self._unseen_mean(self._which(role))
        total = self.data.evaluation_sums(self.sums(), role, soft=role in self._soft_roles)
        return running_mean(total, self.n_members, self.adapters.leaf_smoothing)

    def sampled_shares(self) -> np.ndarray:
        """Return the share of each class in what members were trained on, on average."""
        # It is the same for all members, but for those whose fit takes no weights.
        adapters = map(self.adapters.of, range(self.n_members))
        weighs = np.mean([adapter.weight_argument is not None for adapter in adapters])
        assert self.steps[0].totals is not None
        plain, weighted = (totals / totals.sum() for totals in self.steps[0].totals)
        return weighs * weighted + (1 - weighs) * plain


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
