"""Rows in partitions: the verbs of the loop, by what partitions answer."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from metasampler.growth import (
    MANY_ROWS,
    MAX_EVALUATION_ROWS,
    MAX_RANKED,
    ROLES,
    Candidates,
    EvaluationRows,
    GaussianDraw,
    GroupCounts,
    GrowthData,
    PowerDraw,
    RandomStreams,
    SampleFacts,
    Stream,
    apply_rule,
    evaluation_scales,
    folds_by_rank,
    folds_of_groups,
    is_alone,
    join_arrays,
    join_tables,
    n_filled_folds,
)
from metasampler.large import _partitions as functions
from metasampler.large._merging import last_of_smallest
from metasampler.large._partitions import SampleOrder, WhichRows
from metasampler.tables import TreeTable

__all__ = [
    "FoundBy",
    "PartitionedRows",
    "PartitionedSums",
    "assign_folds_by_group",
    "assign_folds_to_partitions",
    "count_groups_of",
    "find_smallest",
    "positions_of",
    "total_weight",
]

#: The most rows of a class whose errors are brought together, for rules that need all of them.
MAX_GATHERED = 10_000_000


class PartitionedSums:
    """The sums of the members' probabilities, one cell for each partition."""

    def __init__(self, cells: list, n_members: int = 0):
        self.cells = cells
        self.n_members = n_members

    def copy(self) -> "PartitionedSums":
        """Return a copy that further members may be added to."""
        return PartitionedSums(self.cells, self.n_members)


class FoundBy(NamedTuple):
    """Rows that were chosen: how each partition finds them, once it needs them.

    So the rows of a draw are found in the same task that takes them for a member.
    """

    #: ``function(partition, cell, *args)`` returns positions of rows.
    function: Callable
    #: What is needed of each partition; None if nothing is.
    cells: list | None = None
    args: tuple = ()


class PartitionedSample(NamedTuple):
    """The rows of a member, class by class; or what a journal remembers of the member."""

    found_by: list[FoundBy]
    #: The name of the member in the journal.
    name: tuple | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class PartitionedRows(GrowthData):
    """Rows in partitions, in files or on a cluster. Their numbers run through all partitions."""

    in_memory = False

    backend: Any
    #: Cells that hold `Partition` objects: those that rows are drawn from, then that of validation
    #: rows of their own.
    partitions: list
    n_drawn_from: int
    #: One row like all others; NaN if values are missing.
    example: Any
    #: Whether rows have groups that no fold may cut.
    by_group: bool = False
    _evaluation: dict[str, EvaluationRows] = field(init=False, default_factory=dict)

    def __post_init__(self):
        backend, n_classes = self.backend, len(self.classes)
        self.drawn_from = self.partitions[: self.n_drawn_from]
        facts = backend.ask(functions.facts_of, self.partitions, args=(n_classes,))
        n_rows, counts, roles, weighted, n_folds = zip(*facts, strict=True)
        drawn_from = slice(self.n_drawn_from)
        #: Rows of all partitions, and of those that rows are drawn from.
        self.n_rows, self.n_first = sum(n_rows), sum(n_rows[drawn_from])
        self.counts = np.sum(counts[drawn_from], axis=0)
        self.has_weights = any(weighted)
        self.roles = [role for role in ROLES if any(role in each for each in roles)]
        in_first = any("valid" in each for each in roles[drawn_from])
        self.validation_is_apart = "valid" in self.roles and not in_first
        self.tables = [self.example] * (1 + self.validation_is_apart)
        self.n_folds, self.fold_counts = max(n_folds[drawn_from]), None
        if self.n_folds:
            arguments = (n_classes, self.n_folds)
            answers = backend.ask(functions.count_folds, self.drawn_from, args=arguments)
            self.fold_counts = np.sum(answers, axis=0)
        self.class_weights = self.counts.astype(float)
        if self.has_weights:
            for k, count in enumerate(self.counts.tolist()):
                self.class_weights[k] = total_weight(backend, self.drawn_from, k, count)
        #: For each partition the evaluation rows in the roles that were asked for so far.
        self.evaluation: list = [{} for _ in self.partitions]
        self._set_sizes()

    # ------------------------------------------------------------------ members

    def draw(self, key, number, rule=None, sums=None) -> PartitionedSample:
        """Return how partitions find the rows of the member with this number (Algorithm 1)."""
        name, journal = None, self.backend.journal
        if journal is not None:
            about = (getattr(rule, name, None) for name in ("mu", "power"))
            name = journal.key(*key.tolist(), number, *about)
            if journal.find(name) is not None:
                return PartitionedSample([], name)
        fold, known = self._left_out(number), None
        counts = self._visible_counts(fold)
        if self.n_classes > 2:
            # All rows are needed in the end: their keys are computed once.
            known = self.backend.make(functions.random_keys, self.drawn_from, args=(key, number))
        found_by = []
        for k, (count, size) in enumerate(zip(counts, self._sample_sizes(counts), strict=True)):
            which = WhichRows(k, fold, "train", key, number)
            if size == count:
                found_by.append(FoundBy(functions.all_rows, None, (which,)))
            elif rule is None or k == self.minority:
                found_by.append(self._smallest(which, int(size), int(count), known=known))
            else:
                found_by.append(self._drawn_by(rule, which, int(size), int(count), known, sums))
        return PartitionedSample(found_by, name)

    def _drawn_by(self, rule, which: WhichRows, size: int, count: int, known, sums) -> FoundBy:
        """Return the rows of a larger class that a rule draws."""
        so_far = sums()
        of_sums = so_far.cells[: self.n_drawn_from]
        if isinstance(rule, (GaussianDraw, PowerDraw)):
            args: tuple = ()
            if isinstance(rule, GaussianDraw):
                # Weights are relative to the best row of all, wherever it is.
                cells = (self.drawn_from, of_sums)
                answers = self.backend.ask(functions.least_of, *cells, args=(which, rule.nearest))
                args = (min(answers),)
            options = {"known": known, "sums": of_sums, "adjust": rule.keys, "args": args}
            return self._smallest(which, size, count, **options)
        candidates = self._gathered(which, count, so_far)
        drawn = candidates.rows[apply_rule(rule, candidates, size)]
        return FoundBy(functions.numbered_rows, None, (np.sort(drawn),))

    def _smallest(self, which: WhichRows, size: int, count: int, **options) -> FoundBy:
        return find_smallest(self.backend, self.drawn_from, which, size, count, **options)

    def _gathered(self, which: WhichRows, count: int, sums: PartitionedSums) -> Candidates:
        """Return rows of a class with their keys and errors, brought together."""
        assert which.k is not None
        if count > MAX_GATHERED:
            label = self.classes[[which.k]].tolist()[0]
            raise ValueError(
                f"Class {label!r} has {count:,} rows. This ensemble compares all rows of a class, "
                f"so for rows that are not in memory it takes at most {MAX_GATHERED:,} of each. "
                "Take a sample of them, or MesaClassifier or UnderBaggingClassifier."
            )
        cells = (self.drawn_from, sums.cells[: self.n_drawn_from])
        answers = self.backend.ask(functions.numbered_errors, *cells, args=(which,))
        return Candidates(which.k, *map(np.concatenate, zip(*answers, strict=True)))

    def fit_member(self, sample, number, adapter, seed) -> tuple[Any, SampleFacts]:
        """Return the member with this number, fitted where the backend fits it."""
        journal = self.backend.journal
        if journal is None:
            return self._fit_member(sample, number, adapter, seed)
        remembered = journal.find(sample.name)
        if remembered is None:
            remembered = self._fit_member(sample, number, adapter, seed)
            journal.add(sample.name, remembered)
        # A file says what it likes, and C code reads the columns that a member names.
        elif not self._is_fitted_member(remembered, adapter):
            raise journal.refuse()
        return remembered

    def _is_fitted_member(self, remembered: Any, adapter) -> bool:
        """Return whether this is what `_fit_member` returns."""
        if not (isinstance(remembered, tuple) and len(remembered) == 2):
            return False
        member, facts = remembered
        return (
            isinstance(facts, SampleFacts)
            and all(len(total) == self.n_classes for total in facts.totals)
            and adapter.could_have_fitted(member, self.example.shape[1])
        )

    def _fit_member(self, sample, number: int, adapter, seed: int) -> tuple[Any, SampleFacts]:
        stops = adapter.stops_early and self.has_validation and not self.validation_is_apart
        scales = self.evaluation_rows("valid").scales if stops else None
        fold = self._left_out(number)
        order = SampleOrder(
            *(self.mean_weights, self.class_factors, stops, fold, scales),
            self.backend.collects_rows,
        )
        evaluation = self.evaluation[: self.n_drawn_from]
        cells, finders = _cells_and_finders(sample.found_by, len(self.drawn_from))
        given = (self.drawn_from, evaluation, *cells)
        taken = self.backend.make(functions.take_for_member, *given, args=(finders, order))
        # All of it goes to one place, as one cell.
        (fitted,) = self.backend.ask(functions.fit_on_taken, [taken], args=(adapter, seed))
        return fitted

    def bin_edges(self, n_rows, make_edges) -> bytes:
        """Return what is made of a sample of the rows, or of all if they are few."""
        # All of it goes to one place, as one cell.
        cells = [self._sampled_tables(n_rows)]
        (edges,) = self.backend.ask(functions.edges_of, cells, args=(make_edges,))
        return edges

    def groups_of(self, rows) -> np.ndarray | None:
        """Return a key for the group of some rows that are drawn from; None if there are none."""
        if not self.by_group:
            return None
        keys = np.empty(len(rows), dtype=np.uint64)
        for here, found in self.backend.ask(functions.groups_at, self.drawn_from, args=(rows,)):
            keys[here] = found
        return keys

    def sample(self, n_rows) -> Any:
        """Return some rows that a fit may learn from, or all of them if they are few."""
        return reduce(
            join_tables, self.backend.ask(functions.as_it_is, self._sampled_tables(n_rows))
        )

    def _sampled_tables(self, n_rows: int) -> list:
        """Return cells with a sample of the rows."""
        partitions = self.drawn_from
        if self.n_first <= n_rows:
            chosen = self.backend.make(functions.rows_in_role, partitions, args=("all",))
        else:
            key = self.streams.row_key(Stream.EDGES)
            which = WhichRows(None, None, "all", key, 0, weighted=False)
            found_by = [self._smallest(which, n_rows, self.n_first)]
            chosen = positions_of(self.backend, partitions, found_by)
        return self.backend.make(functions.taken_rows, partitions, chosen)

    # ------------------------------------------------------------------ scores

    def start_sums(self, soft_roles) -> PartitionedSums:
        """Return the sums over no members."""
        for role in soft_roles:
            self.evaluation_rows(role)
        cells = (self.partitions, self.evaluation)
        arguments = (self.n_classes, tuple(soft_roles))
        return PartitionedSums(self.backend.make(functions.start_sums, *cells, args=arguments))

    def add_scores(self, sums: PartitionedSums, adapter, member) -> None:
        """Add the probabilities of all rows by one more member to sums."""
        cells = (self.partitions, self.evaluation, sums.cells)
        sums.cells = self.backend.make(functions.add_member, *cells, args=(adapter, member))
        sums.n_members += 1

    def evaluation_sums(self, sums: PartitionedSums, role, *, soft) -> np.ndarray:
        """Return the sums of the evaluation rows in a role, by soft leaves if asked for."""
        self.evaluation_rows(role)
        cells = (self.evaluation, sums.cells)
        return join_arrays(self.backend.ask(functions.evaluated_sums, *cells, args=(role, soft)))

    def class_errors(self, sums: PartitionedSums, k) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of all training rows of a class, and their errors."""
        which = WhichRows(k, None, "train", self.streams.row_key(Stream.DRAW), 0)
        candidates = self._gathered(which, int(self.counts[k]), sums)
        assert candidates.errors is not None
        return candidates.rows, candidates.errors

    def fold_scores(self, adapter, member, fold) -> np.ndarray:
        """Return a member's probabilities, by soft leaves, of the validation rows of a fold."""
        self.evaluation_rows("valid")
        cells = (self.drawn_from, self.evaluation[: self.n_drawn_from])
        arguments = (adapter, member, fold)
        return join_arrays(self.backend.ask(functions.scores_of_fold, *cells, args=arguments))

    # ------------------------------------------------------------------ evaluation rows

    def evaluation_rows(self, role) -> EvaluationRows:
        """Return the rows of a role that are looked at one by one."""
        if role in self._evaluation:
            return self._evaluation[role]
        backend, partitions = self.backend, self.partitions
        counts = self.role_counts(role)
        scales = evaluation_scales(counts)
        if scales is None:
            chosen = backend.make(functions.rows_in_role, partitions, args=(role,))
        else:
            key, number = self.streams.row_key(Stream.EVALUATION), ROLES.index(role)
            found_by = []
            for k, count in enumerate(counts.tolist()):
                which = WhichRows(k, None, role, key, number, weighted=False)
                if count <= MAX_EVALUATION_ROWS:
                    found_by.append(FoundBy(functions.all_rows, None, (which,)))
                else:
                    size = MAX_EVALUATION_ROWS
                    found_by.append(find_smallest(backend, partitions, which, size, count))
            chosen = positions_of(backend, partitions, found_by)
        found = zip(*backend.ask(functions.look_at, partitions, chosen), strict=True)
        rows, codes, weights, folds = map(join_arrays, found)
        self._evaluation[role] = EvaluationRows(rows, codes, weights, folds, scales)
        self.evaluation[:] = backend.make(
            functions.with_role, self.evaluation, chosen, args=(role,)
        )
        return self._evaluation[role]

    def role_counts(self, role) -> np.ndarray:
        """Return the number of rows of each class in a role, or of ``"all"`` rows."""
        arguments = (len(self.classes), role)
        return np.sum(self.backend.ask(functions.count_classes, self.partitions, args=arguments), 0)

    # ------------------------------------------------------------------ other rows, same task

    def whole(self) -> "PartitionedRows":
        """Return the same task with the validation rows among the training rows."""
        return self._all_drawn_from(
            self.backend.make(functions.all_for_training, self._with_validation())
        )

    def held_out_in_turn(self, n_turns, streams: RandomStreams) -> Iterator["PartitionedRows"]:
        """Yield the same task with another share of the training rows held out, one by one."""
        partitions, key = self._with_validation(), streams.row_key(Stream.SPLIT)
        # Number 0 was the split into training and validation rows.
        if self.by_group:
            groups = count_groups_of(self.backend, partitions, self.n_classes)
            folds = assign_folds_by_group(self.backend, partitions, groups, n_turns, key, number=1)
            n_turns = int(folds_of_groups(groups, n_turns, key, 1).max()) + 1
        else:
            folds = assign_folds_to_partitions(
                self.backend, partitions, self.counts, n_turns, key, number=1
            )
            n_turns = n_filled_folds(self.counts, n_turns)
        for number in range(n_turns):
            cells = (partitions, folds)
            held_out = self.backend.make(functions.holding_out_fold, *cells, args=(number,))
            yield self._all_drawn_from(held_out)

    def holding_out_a_fold(self) -> "PartitionedRows":
        """Return the same task with one fold held out from all members, instead of rotation."""
        if not self.n_folds:
            return self
        partitions = self.backend.make(functions.holding_out_fold, self.drawn_from, args=(None, 0))
        return self._all_drawn_from(partitions)

    def _with_validation(self) -> list:
        """Return the partitions with training and validation rows."""
        return self.partitions[: self.n_drawn_from + self.validation_is_apart]

    def _all_drawn_from(self, partitions: list) -> "PartitionedRows":
        return replace(self, partitions=partitions, n_drawn_from=len(partitions))

    def for_team(
        self, sampling_ratio, *, trees=False, max_rows=None, class_factors=None
    ) -> "PartitionedRows":
        """Return the same rows with other draws and, for trees, in the form they take fastest."""
        # A copy: what is known of rows, roles and folds stays as it is.
        twin = copy(self)
        twin._set_draw(sampling_ratio, max_rows, class_factors)
        if trees:
            lowest = np.min(self.backend.ask(functions.lowest_values_of, self.drawn_from), axis=0)
            twin.table_maker = make = TreeTable(lowest)
            cells = (self.partitions, self.backend.new_paths(len(self.partitions)))
            twin.partitions = self.backend.make(functions.with_table, *cells, args=(make,))
            twin.drawn_from = twin.partitions[: self.n_drawn_from]
            twin.example = make(self.example)
            twin.tables = [twin.example] * len(self.tables)
        twin._set_sizes()
        return twin

    @property
    def fingerprint(self) -> str:
        """A short text that other rows, labels, weights and groups, however cut, hardly have."""
        return (
            f"{sum(self.backend.ask(functions.fingerprint_of, self.partitions)) % (1 << 64):016x}"
        )

    def fingerprints(self) -> dict[str, Any]:
        """Return short texts that tell these rows, labels, weights and groups from others."""
        return {"X": self.fingerprint}


# ---------------------------------------------------------------------- chosen rows


def find_smallest(
    backend,
    partitions: list,
    which: WhichRows,
    size: int,
    count: int,
    *,
    known: list | None = None,
    sums: list | None = None,
    adjust: Callable | None = None,
    args: tuple = (),
) -> FoundBy:
    """Return the ``size`` rows with the smallest keys of ``count``, which are more.

    ``known`` are cells with the random keys of all rows, if there are any. ``adjust(keys, errors,
    *args)`` returns the keys that count, given the errors by ``sums``; None takes the random keys.
    """
    nothing: list = [None] * len(partitions)
    cells = (partitions, sums or nothing, known or nothing)
    arguments = (size, which, adjust, args)
    smallest = backend.make(functions.smallest_keys, *cells, args=arguments)
    last = last_of_smallest(backend, smallest, size, count)
    return FoundBy(functions.rows_up_to, smallest, last)


def positions_of(backend, partitions: list, found_by: list[FoundBy]) -> list:
    """Return cells with the positions of chosen rows, in ascending order."""
    cells, finders = _cells_and_finders(found_by, len(partitions))
    return backend.make(functions.rows_of_sample, partitions, *cells, args=(finders,))


def _cells_and_finders(found_by: list[FoundBy], n_partitions: int) -> tuple[list, tuple]:
    """Return the cells of chosen rows, and the functions with their arguments."""
    nothing: list = [None] * n_partitions
    cells = [nothing if each.cells is None else each.cells for each in found_by]
    return cells, tuple((each.function, each.args) for each in found_by)


# ---------------------------------------------------------------------- sums and folds


def total_weight(backend, partitions: list, k: int | None, count: int) -> float:
    """Return the total weight of a class, the same however rows are cut.

    Few weights are brought together, and added up in the order of their rows; the sum of many is
    exact.
    """
    if count <= MANY_ROWS:
        weights = backend.ask(functions.weights_of_class, partitions, args=(k,))
        return float(np.concatenate(weights).sum())
    return float(sum(backend.ask(functions.exact_weight_of_class, partitions, args=(k,))))


def count_groups_of(backend, partitions: list, n_classes: int) -> GroupCounts:
    """Return how many rows of each class each group has, over all partitions."""
    return GroupCounts.joined(backend.ask(functions.groups_in, partitions, args=(n_classes,)))


def assign_folds_by_group(
    backend, partitions: list, groups: GroupCounts, n_folds: int, key: np.ndarray, number: int = 0
) -> list:
    """Return cells with the fold of every row, as the function of this name has them in memory."""
    folds = folds_of_groups(groups, n_folds, key, number)
    return backend.make(functions.folds_by_group, partitions, args=(groups, folds))


def assign_folds_to_partitions(
    backend, partitions: list, counts: np.ndarray, n_folds: int, key: np.ndarray, number: int = 0
) -> list:
    """Return cells with the fold of every row, as `assign_folds` has them in memory."""
    by_rank: list = []
    for k, count in enumerate(counts.tolist()):
        if count > MAX_RANKED:
            by_rank.append(None)
            continue
        answers = backend.ask(functions.training_keys, partitions, args=(k, key, number))
        rows, keys = map(np.concatenate, zip(*answers, strict=True))
        if is_alone(count, len(counts)):
            folds = np.array([n_folds])
        else:
            folds = folds_by_rank(keys, n_folds)
        by_rank.append((rows, folds.astype(np.min_scalar_type(n_folds))))
    return backend.make(functions.folds_in, partitions, args=(by_rank, key, number, n_folds))
