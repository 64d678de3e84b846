"""The growth loop (Algorithm 2): one object for a fit, an episode and every ensemble on it."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from metasampler._running import side_by_side
from metasampler._sklearn_compat import take_rows
from metasampler.growth._data import GrowthData, Part, join_arrays
from metasampler.growth._draw import Candidates, RandomStreams, Request, Stream, draw_subset
from metasampler.growth._members import MemberLearner, Members
from metasampler.growth._pieces import Drawn, fit_on_rows
from metasampler.growth._rules import Rule, Sums
from metasampler.growth._scoring import running_mean

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
    learner: MemberLearner | Members
    streams: RandomStreams
    _: KW_ONLY
    #: Whether each step records the score of the validation rows, if there are any.
    score_steps: bool = True

    def __post_init__(self):
        data, learner = self.data, self.learner
        #: One a kind of members; kinds alternate.
        self.learners: list[MemberLearner] = getattr(learner, "learners", [learner])
        self._key = self.streams.row_key(Stream.DRAW)
        self.members: list = []
        #: The rows that each member was fitted on; None where they are too many to be known.
        self.subsets: list[np.ndarray | None] = []
        self._steps: list[GrowthStep] = []
        # Steps that are not recorded yet. With rotation no draw of ours reads the rows that members
        # leave out, so a thread that is left can record them while other members are fitted.
        self._unrecorded: deque[Callable[[], None]] = deque()
        has_threads = effective_n_jobs(learner.n_jobs) > 1 and not data.place.copies_rows
        self._records_later = bool(data.n_folds) and has_threads
        self._n_wanted: int | None = None
        # Draws and states look at the members as they are; soft leaves are for scores only.
        soft = learner.leaf_smoothing and not data.n_folds
        self._soft_roles = tuple(role for role in data.roles if role != "train") if soft else ()
        # With rotation: the sum over the members that have not seen a row, and how many they are.
        self._unseen_total: np.ndarray | None = None
        self._n_unseen = np.zeros(max(data.n_folds, 1), dtype=np.intp)
        if data.n_folds:
            n_watched = len(data.watched("valid").rows)
            shape = n_watched if data.n_classes == 2 else (n_watched, data.n_classes)
            self._unseen_total = np.zeros(shape)
        # Rows are scored when somebody asks: uniform draws never do, nor does a last member.
        self._sums: list | None = None
        self._n_scored = 0
        self._errors: dict[str, np.ndarray] = {}
        for each in self.learners:
            if each.looks_at_rows:
                each.look_at(data)

    @property
    def n_members(self) -> int:
        """Members so far."""
        return len(self.members)

    @property
    def steps(self) -> list[GrowthStep]:
        """What every step did."""
        self._record()
        return self._steps

    def _learner_of(self, number: int) -> MemberLearner:
        """Return the learner of the member with this number."""
        return self.learners[number % len(self.learners)]

    # ------------------------------------------------------------------ the loop

    def grow(self, policy: Policy | None, n_members: int) -> Iterator[GrowthStep | None]:
        """Grow the ensemble to ``n_members`` (Algorithm 2), and yield the step of each new one.

        The policy chooses how the rows of each member after the first are drawn. None draws
        uniformly: such members do not depend on each other and are fitted side by side. None stands
        for a step that is recorded later, see `add`.
        """
        if policy is None and not self.data.place.copies_rows:
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
            for number in range(n_before, self.n_members):
                yield self._steps[number] if number < len(self._steps) else None

    def run(
        self,
        policy: Policy | None,
        n_members: int,
        advance: Callable[[str], None] = lambda note: None,
        stopped: Event | None = None,
    ) -> None:
        """Grow the ensemble to ``n_members``, and tell of every step, until somebody stops it."""
        note = ""
        for step in self.grow(policy, n_members):
            if step is not None and step.score is not None:
                note = f"validation score {step.score:.3f}"
            advance(note)
            if stopped is not None and stopped.is_set():
                return
        if self.data.n_folds:
            # With rotation only draws ask for the sums of all rows, and there are no more draws.
            self._sums, self._n_scored = None, 0
        self._record()

    def step(self, rule: Rule | None = None) -> None:
        """Draw a balanced subset, fit a member on it, add it and record the step."""
        # A draw shares its work among the threads, a fit leaves room for the steps before it.
        fit = self._draw(self.n_members, rule)
        member, drawn = self._record_beside(fit) if self._unrecorded else fit()
        self.add(member, drawn, rule)

    def _record_beside(self, fit: Callable[[], tuple]) -> tuple:
        """Return what a fit gives; if a thread is left, it records steps meanwhile."""
        fitted = Event()

        def fit_and_tell():
            try:
                return fit()
            finally:
                fitted.set()

        calls = [fit_and_tell, lambda: self._record(until=fitted)]
        return side_by_side(calls, self.learner.n_jobs)[0]

    def fit_member(self, number: int, rule: Rule | None = None) -> tuple:
        """Return the member with this number, and the rows it was fitted on, without adding it.

        Without a rule it depends on its number alone, not on the members before it.
        """
        return self._draw(number, rule)()

    def _draw(self, number: int, rule: Rule | None) -> Callable[[], tuple]:
        """Draw the rows of the member with this number, and return what fits it on them."""
        data, learner, journal = self.data, self._learner_of(number), self.data.place.journal
        if journal is not None:
            about = (getattr(rule, name, None) for name in ("mu", "power"))
            key = journal.key(*self.streams.path, number, *about)
            if journal.find(key) is not None:
                return partial(journal.find, key)
        seed = self.streams.integer(Stream.MEMBER, number)
        chosen = draw_subset(data, self._key, number, rule, self)
        fit = partial(fit_on_rows, data, chosen, number, learner, seed)
        return fit if journal is None else partial(journal.add_result, key, fit)

    def add(self, member, drawn: Drawn, rule: Rule | None = None, unseen=None) -> None:
        """Add a fitted member and record the step, if need be beside a later fit.

        ``unseen`` are its scores of the rows that it leaves out, if somebody has them.
        """
        step = partial(self._add_step, self.n_members, member, drawn, rule, unseen)
        self._unrecorded.append(step)
        self.members.append(member)
        self.subsets.append(drawn.rows)
        self._errors = {}
        if not self._records_later:
            self._record()

    def _record(self, until: Event | None = None) -> None:
        """Record the steps that wait for it, or begin no more of them once an event has come."""
        # Who records a step asks for scores, and so for this again: then nothing waits.
        waiting, self._unrecorded = self._unrecorded, deque()
        try:
            while waiting and not (until and until.is_set()):
                waiting.popleft()()
        finally:
            self._unrecorded = waiting

    def _add_step(self, number: int, member, drawn: Drawn, rule: Rule | None, unseen) -> None:
        self._add_unseen(number, member, unseen)
        # With rotation the score waits until every row was left out by some member.
        known = self.score_steps and self.data.has_validation
        if self.data.n_folds:
            known = known and bool(self._n_unseen.all())
        class_errors = self._class_errors() if known else None
        self._steps.append(
            GrowthStep(
                rule,
                self.score("valid") if known else None,
                int(drawn.totals[0].sum()),
                class_errors,
                getattr(rule, "mu", None),
                getattr(rule, "state", None),
                getattr(rule, "power", None),
                drawn.totals,
            )
        )

    def _unseen_scores(self, number: int, member) -> np.ndarray | None:
        """Return a member's probabilities of the rows it leaves out, with rotation."""
        data = self.data
        if self._unseen_total is None:
            return None
        arguments = (self._learner_of(number), member, number % data.n_folds)
        watches = data.watches[: data.n_drawn_parts]
        answers = data.place.ask(_scores_of_fold, data.drawn_parts, watches, args=arguments)
        return join_arrays(answers)

    def _add_unseen(self, number: int, member, unseen: np.ndarray | None = None) -> None:
        """Add a member's probabilities of the rows it leaves out in rotation."""
        if self._unseen_total is not None:
            if unseen is None:
                unseen = self._unseen_scores(number, member)
            fold = number % self.data.n_folds
            self._unseen_total[self.data.watched("valid").folds == fold] += unseen
            self._n_unseen[fold] += 1

    def sums(self) -> list:
        """Return the sums over all members, of each part; new members are scored now."""
        data, place = self.data, self.data.place
        if self._sums is None:
            for role in self._soft_roles:
                data.watched(role)
            arguments: tuple = (data.n_classes, self._soft_roles)
            self._sums = place.make(_start_sums, data.parts, data.watches, args=arguments)
        for number in range(self._n_scored, self.n_members):
            arguments = (self._learner_of(number), self.members[number], place.in_place)
            cells = (data.parts, data.watches, self._sums)
            self._sums = place.make(_add_member, *cells, args=arguments)
        self._n_scored = self.n_members
        return self._sums

    def candidates(self, k: int) -> Candidates:
        """Return the training rows of a class, with their errors by the members so far."""
        request = Request(k, None, "train", self._key, self.n_members, self.n_members)
        return Candidates(self.data.place, self.data.drawn_parts, request, self.sums)

    def _watched_sums(self, role: str, *, soft: bool) -> np.ndarray:
        """Return the sums over all members, of the watched rows in a role."""
        data = self.data
        data.watched(role)
        answers = data.place.ask(_watched_sums, data.watches, self.sums(), args=(role, soft))
        return join_arrays(answers)

    def _grow_side_by_side(self, n_members: int) -> Iterator[GrowthStep]:
        """Fit batches of members at once; each depends on its number alone."""
        numbers = range(self.n_members, n_members)
        n_jobs = min(effective_n_jobs(self.learner.n_jobs), len(numbers))
        if n_jobs < 2:
            return
        batches = np.array_split(numbers, n_jobs)
        if self.learner.fits_in_threads:
            first = self.data.parts[0]
            for learner in self.learners:
                learner.prepare(first.table, first.codes)
            fitted = side_by_side([partial(self._fit_members, batch) for batch in batches], n_jobs)
        else:
            parallel = Parallel(n_jobs, return_as="generator")
            fitted = parallel(delayed(self._fit_members)(batch) for batch in batches)
        for of_batch in fitted:
            for member, subset, unseen in of_batch:
                self.add(member, subset, None, unseen)
                yield self.steps[-1]

    def _fit_members(self, numbers: np.ndarray) -> list[tuple]:
        twin = copy(self)
        twin.learners = [learner.own_copy() for learner in self.learners]
        fitted = []
        for number in numbers.tolist():
            member, subset = twin.fit_member(number)
            # Scored here, where other members are fitted meanwhile.
            fitted.append((member, subset, twin._unseen_scores(number, member)))
        return fitted

    # ------------------------------------------------------------------ copies

    def anew(self, data: GrowthData, **options) -> "Growth":
        """Return an empty growth with the same learner and random numbers on other rows."""
        return Growth(data, self.learner, self.streams, **options)

    def resume(self, members: list, subsets: list, steps: list[GrowthStep]) -> None:
        """Begin with the members of an earlier fit, as a warm start does."""
        for member, subset, step in zip(members, subsets, steps, strict=True):
            self._add_unseen(self.n_members, member)
            self.members.append(member)
            self.subsets.append(subset)
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
            self.resume(other.members[new], other.subsets[new], other.steps[new])
        else:
            self._take_from(other)

    def _take_from(self, other: "Growth") -> None:
        self.members = list(other.members)
        self.subsets = list(other.subsets)
        self._steps = list(other.steps)
        self._sums = other._sums
        if self.data.place.in_place:
            self._sums = deepcopy(self._sums)
        if other._unseen_total is not None:
            self._unseen_total = other._unseen_total.copy()
        self._n_unseen = other._n_unseen.copy()
        self._n_scored = other._n_scored
        self._errors = {}

    # ------------------------------------------------------------------ what is known of the rows

    def errors(self, role: str = "train", part: str = "all") -> np.ndarray:
        """Return the errors, 1 - p(true class), of the watched rows in a role."""
        codes, which = self.data.watched(role).codes, self._which(role, part)
        if role == "valid" and self.data.n_folds:
            return self._errors_by(self._unseen_mean(which), codes[which], 1)
        if role not in self._errors:
            total = self._watched_sums(role, soft=False)
            self._errors[role] = self._errors_by(total, codes, self.n_members)
        return self._errors[role][which]

    def weights(self, role: str = "train", part: str = "all") -> np.ndarray | None:
        """Return the weights of the watched rows in a role, or None if all count the same."""
        weights = self.data.watched(role).weights
        return None if weights is None else weights[self._which(role, part)]

    def _which(self, role: str, part: str = "all") -> Any:
        """Return which of the watched rows are asked for; with rotation some member left them out.

        A part is "all", "minority" or "majority".
        """
        self._record()
        data = self.data
        which: Any = slice(None) if part == "all" else data.positions(role, part)
        if role != "valid" or not data.n_folds:
            return which
        judged = self._n_unseen[data.watched("valid").folds] > 0
        return np.flatnonzero(judged) if part == "all" else which[judged[which]]

    def _unseen_mean(self, judged: np.ndarray) -> np.ndarray:
        """Return the mean over the members that have not seen a row."""
        folds = self.data.watched("valid").folds
        assert self._unseen_total is not None
        assert folds is not None
        counts, total = self._n_unseen[folds[judged]], self._unseen_total[judged]
        return total / (counts if total.ndim == 1 else counts[:, np.newaxis])

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
        codes = self.data.watched("valid").codes[self._which("valid")]
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
        rows = self.data.watched(role)
        which = self._which(role)
        weights = None if rows.own_weights is None else rows.own_weights[which]
        return rows.rows[which], self.proba(role), rows.codes[which], weights

    def _mean(self, role: str) -> np.ndarray:
        if role == "valid" and self.data.n_folds:
            return self._unseen_mean(self._which(role))
        total = self._watched_sums(role, soft=role in self._soft_roles)
        return running_mean(total, self.n_members, self.learner.leaf_smoothing)

    def drawn_shares(self) -> np.ndarray:
        """Return the share of each class in what members were trained on, on average."""
        # It is the same for all members, but for those whose fit takes no weights.
        learners = map(self._learner_of, range(self.n_members))
        part = np.mean([learner.weight_argument is not None for learner in learners])
        assert self.steps[0].totals is not None
        plain, weighted = (totals / totals.sum() for totals in self.steps[0].totals)
        return part * weighted + (1 - part) * plain


# ---------------------------------------------------------------------- questions to the parts


def _start_sums(part: Part, watch: dict, n_classes: int, soft_roles: tuple) -> Sums:
    """Return the sums over no members."""
    width = () if n_classes == 2 else (n_classes,)
    total = np.zeros((part.n_rows, *width))
    soft = {
        role: np.zeros((len(total[watch[role]]), *width)) for role in soft_roles if role in watch
    }
    return Sums(total, soft)


def _add_member(part: Part, watch: dict, sums: Sums, learner, member, in_place: bool) -> Sums:
    """Return the sums with one more member."""
    if not in_place:
        sums = Sums(sums.total.copy(), {role: each.copy() for role, each in sums.soft.items()})
    smooth = learner.leaf_smoothing
    soft = [(watch[role], each, smooth) for role, each in sums.soft.items() if len(each)]
    learner.add(member, part.table, [(slice(None), sums.total, 0.0), *soft])
    return sums


def _scores_of_fold(part: Part, watch: dict, learner, member, fold: int) -> np.ndarray:
    """Return a member's probabilities, by soft leaves, of the validation rows of a fold."""
    assert part.folds is not None
    rows = np.arange(part.n_rows)[watch["valid"]]
    rows = rows[part.folds[rows] == fold]
    proba = np.zeros(len(rows) if learner.n_classes == 2 else (len(rows), learner.n_classes))
    if len(rows):
        learner.add_scores(member, take_rows(part.table, rows), proba)
    return proba


def _watched_sums(watch: dict, sums: Sums, role: str, soft: bool) -> np.ndarray:
    """Return the sums of the watched rows of a role."""
    return sums.soft[role] if soft else sums.total[watch[role]]
