"""A partition, some rows with consecutive numbers, and the functions that backends call with it.

A function gets the partition and what else is known of it, cell by cell, and changes none of them.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth import (
    GroupCounts,
    SampleFacts,
    Sums,
    count_groups,
    draw_rows,
    errors_of_class,
    exact_sum,
    fold_by_key,
    folds_of_rows,
    join_arrays,
    member_weights,
    race_keys,
    race_keys_of,
    weigh_classes,
)
from metasampler.large._file_tables import lowest_in, remake_table
from metasampler.large._fingerprint import fingerprint_rows
from metasampler.large._merging import SmallKeys
from metasampler.large._stacked import StackedRows, TakenRows

__all__ = ["Partition", "SampleOrder", "WhichRows"]

# Up to this many rows the rows that a member may see are kept for every fold.
_FEW = 1 << 20

#: Numbers of rows in a partition: all, those of a mask, or a list of them.
Selector = slice | np.ndarray


@dataclass(eq=False, repr=False)
class Partition:
    """Some rows of a task, with consecutive numbers."""

    table: Any
    codes: np.ndarray
    #: The number of the first row.
    start: int = 0
    _: KW_ONLY
    weights: np.ndarray | None = None
    folds: np.ndarray | None = None
    #: Which of the rows serve as "train" and "valid"; None: all train.
    roles: Any = None
    #: The numbers of the rows among all that the user passed, if some were left out.
    original: np.ndarray | None = None
    #: A key for the group of each row, if no fold may cut a group.
    groups: np.ndarray | None = None
    _known: dict = field(init=False, default_factory=dict)

    def __post_init__(self):
        self.n_rows = len(self.codes)
        if self.roles is None:
            self.roles = {"train": slice(None)}

    def __getstate__(self):
        return {**self.__dict__, "_known": {}}

    def rows_of(self, k: int | None, fold: int | None = None, role: str = "train") -> np.ndarray:
        """Return the positions of a class's rows in a role, without those of a fold."""
        chosen = np.zeros(self.n_rows, dtype=bool)
        chosen[slice(None) if role == "all" else self.roles.get(role, slice(0))] = True
        if k is not None:
            chosen &= self.codes == k
        if fold is not None:
            chosen &= self.folds != fold
        return np.flatnonzero(chosen)

    def numbers_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of rows, given their positions."""
        return rows + self.start if self.start else rows

    def holding_out(self, rows: Selector) -> "Partition":
        """Return the same rows, these as validation rows and all others as training rows."""
        train = np.ones(self.n_rows, dtype=bool)
        train[rows] = False
        return replace(self, roles={"train": train, "valid": ~train}, folds=None)


# ---------------------------------------------------------------------- facts


def facts_of(partition: Partition, n_classes: int) -> tuple:
    """Return rows, training rows of each class, roles, whether there are weights, and folds."""
    folds = partition.folds
    n_folds = 0
    if folds is not None:
        n_folds = int(folds[partition.rows_of(None, None, "valid")].max(initial=0)) + 1
    counts = count_classes(partition, n_classes, "train")
    weighted = partition.weights is not None
    return partition.n_rows, counts, tuple(partition.roles), weighted, n_folds


def count_classes(partition: Partition, n_classes: int, role: str) -> np.ndarray:
    """Return the number of rows of each class in a role."""
    codes = partition.codes[partition.rows_of(None, None, role)]
    return np.bincount(codes, minlength=n_classes)


def count_folds(partition: Partition, n_classes: int, n_folds: int) -> np.ndarray:
    """Return the number of rows of each class and fold."""
    assert partition.folds is not None
    in_folds = partition.folds < n_folds
    pairs = partition.codes[in_folds].astype(np.intp) * n_folds + partition.folds[in_folds]
    return np.bincount(pairs, minlength=n_classes * n_folds).reshape(n_classes, n_folds)


def weights_of_class(partition: Partition, k: int | None) -> np.ndarray:
    """Return the weights of the training rows of a class, or of all."""
    assert partition.weights is not None
    return partition.weights[partition.rows_of(k)]


def exact_weight_of_class(partition: Partition, k: int | None) -> Fraction:
    """Return the exact sum of the weights of a class."""
    return exact_sum(weights_of_class(partition, k))


def fingerprint_of(partition: Partition) -> int:
    """Return a number that other rows hardly ever have; those of all partitions are added up."""
    return fingerprint_rows(
        partition.table, partition.codes, partition.weights, partition.start, partition.groups
    )


def lowest_values_of(partition: Partition) -> np.ndarray:
    """Return the lowest number of each column."""
    return lowest_in(partition.table)


# ---------------------------------------------------------------------- which rows


class WhichRows(NamedTuple):
    """Rows that a draw, or an evaluation, chooses from; partitions find them."""

    #: The class; None for rows of all.
    k: int | None
    fold: int | None
    role: str
    #: Where their random keys come from, and whether the weights of the rows count.
    key: np.ndarray
    number: int
    weighted: bool = True

    def found_in(self, partition: Partition) -> np.ndarray:
        """Return the positions of the rows in a partition."""
        return partition.rows_of(self.k, self.fold, self.role)

    def keys_in(self, partition: Partition, rows: np.ndarray, known=None) -> np.ndarray:
        """Return the keys of rows in a partition; ``known`` are the random keys of all its rows."""
        if known is None:
            keys = race_keys_of(self.key, self.number, partition.numbers_of(rows))
        else:
            keys = known[rows]
        if self.weighted and partition.weights is not None:
            keys -= np.log(partition.weights[rows])
        return keys


def random_keys(partition: Partition, key: np.ndarray, number: int) -> np.ndarray:
    """Return the random keys of all rows."""
    return race_keys(key, number, partition.start, partition.start + partition.n_rows)


def errors_in(partition: Partition, sums: Any, which: WhichRows) -> np.ndarray:
    """Return the errors of rows of one class."""
    assert which.k is not None
    rows = which.found_in(partition)
    return errors_of_class(sums.total, rows, which.k, sums.n_members)


def least_of(partition: Partition, sums: Sums, which: WhichRows, function: Callable) -> float:
    """Return ``function(errors)`` of rows of one class."""
    return function(errors_in(partition, sums, which))


def numbered_errors(partition: Partition, sums: Sums, which: WhichRows) -> tuple:
    """Return the numbers of rows, their random keys and their errors."""
    rows = which.found_in(partition)
    keys = which.keys_in(partition, rows)
    return partition.numbers_of(rows), keys, errors_in(partition, sums, which)


def smallest_keys(
    partition: Partition,
    sums: Sums | None,
    known: np.ndarray | None,
    size: int,
    which: WhichRows,
    adjust=None,
    args=(),
) -> SmallKeys:
    """Return the smallest keys of one partition; no others can be among those of all.

    ``adjust(keys, errors, *args)`` returns the keys that count; None takes the random ones.
    """
    rows = which.found_in(partition)
    keys = which.keys_in(partition, rows, known)
    if adjust is not None and len(rows):
        keys = adjust(keys, errors_in(partition, sums, which), *args)
    few = draw_rows(keys, size)
    return SmallKeys(partition.start, rows[few], keys[few], len(keys))


# ---------------------------------------------------------------------- the rows of a sample


def all_rows(partition: Partition, cell: None, which: WhichRows) -> np.ndarray:
    """Return the positions of all rows of a class."""
    return which.found_in(partition)


def rows_up_to(partition: Partition, cell: SmallKeys, last: float, last_row: int) -> np.ndarray:
    """Return the positions of rows with keys up to the last one, equal ones by their numbers."""
    start, rows, keys, _ = cell
    chosen = keys < last
    chosen |= (keys == last) & (rows <= last_row - start)
    return rows[chosen]


def numbered_rows(partition: Partition, cell: None, numbers: np.ndarray) -> np.ndarray:
    """Return the positions of those rows that are here, given the numbers of all, ascending."""
    stop = partition.start + partition.n_rows
    return numbers[slice(*np.searchsorted(numbers, (partition.start, stop)))] - partition.start


def rows_of_sample(partition: Partition, *given) -> np.ndarray:
    """Return the positions of chosen rows, in ascending order.

    The last argument has, for each cell before it, the function that finds rows by it and its
    further arguments.
    """
    *cells, finders = given
    found = [
        find(partition, cell, *args) for cell, (find, args) in zip(cells, finders, strict=True)
    ]
    rows = np.concatenate(found)
    # The rows of each class ascend: a stable sort finds such runs, and only merges them.
    rows.sort(kind="stable")
    return rows


# ---------------------------------------------------------------------- what a member gets


class SampleOrder(NamedTuple):
    """What the partitions take for a member."""

    #: The mean weights of the classes that are drawn from.
    means: dict
    #: What the weights of the rows of each class are multiplied by.
    class_factors: np.ndarray | None
    #: Whether the member stops early, by the validation rows in this fold, or in none.
    stops_early: bool
    fold: int | None
    #: How many rows each evaluation row of a class stands for.
    scales: np.ndarray | None
    #: Whether the numbers of the rows are told.
    numbered: bool


class TakenForMember(NamedTuple):
    """What one partition gives to a member: rows to train on, and rows to stop by."""

    table: Any
    codes: np.ndarray
    #: Positions in table and codes.
    rows: np.ndarray
    weights: np.ndarray | None
    unseen: np.ndarray | None
    unseen_weights: np.ndarray | None
    #: The numbers of the rows among all that the user passed.
    numbers: np.ndarray | None


def take_for_member(partition: Partition, evaluation: dict, *given) -> TakenForMember:
    """Return what a member gets of one partition; the order comes last, the sample before."""
    *sample, order = given
    rows = rows_of_sample(partition, *sample)
    numbers = None
    if order.numbered:
        numbers = partition.numbers_of(rows)
        if partition.original is not None:
            numbers = partition.original[rows]
    unseen = unseen_weights = None
    weights = None if partition.weights is None else partition.weights[rows]
    weights = member_weights(weights, partition.codes[rows], order.means, order.class_factors)
    n_trained = len(rows)
    if order.stops_early:
        unseen = np.arange(partition.n_rows)[evaluation.get("valid", slice(0))]
        if order.fold is not None:
            assert partition.folds is not None
            unseen = unseen[partition.folds[unseen] == order.fold]
        unseen_weights = None if partition.weights is None else partition.weights[unseen]
        if order.scales is not None:
            factors = order.scales[partition.codes[unseen]]
            unseen_weights = factors if unseen_weights is None else unseen_weights * factors
        unseen_weights = weigh_classes(unseen_weights, partition.codes[unseen], order.class_factors)
        rows = np.concatenate([rows, unseen])
        unseen = np.arange(n_trained, len(rows))
    # A file can be read wherever the member is fitted.
    in_file = hasattr(partition.table, "is_in_file")
    table = TakenRows(partition.table, rows) if in_file else take_rows(partition.table, rows)
    trained = np.arange(n_trained)
    return TakenForMember(
        table, partition.codes[rows], trained, weights, unseen, unseen_weights, numbers
    )


def fit_on_taken(taken: list[TakenForMember], adapter, seed: int) -> tuple[Any, SampleFacts]:
    """Return the member, and what is known of the rows it was fitted on."""
    table, codes, rows, weights, unseen, unseen_weights, numbers = taken[0]
    if len(taken) > 1:
        starts = np.cumsum([0, *(len(each.codes) for each in taken[:-1])])
        table = StackedRows([each.table for each in taken])
        codes = np.concatenate([each.codes for each in taken])
        rows = _counted_from(starts, [each.rows for each in taken])
        weights = join_arrays([each.weights for each in taken])
        unseen = _counted_from(starts, [each.unseen for each in taken])
        unseen_weights = join_arrays([each.unseen_weights for each in taken])
        numbers = join_arrays([each.numbers for each in taken])
    n_of_class = np.bincount(codes[rows], minlength=adapter.n_classes)
    totals = n_of_class
    if weights is not None:
        totals = np.bincount(codes[rows], weights, adapter.n_classes)
    options = {}
    if unseen is not None:
        options = {"unseen": unseen, "unseen_weight": unseen_weights}
    member = adapter.fit(table, codes, rows, seed, weights, **options)
    return member, SampleFacts(numbers, (n_of_class, totals))


def _counted_from(starts: np.ndarray, rows: list) -> Any:
    """Return positions in all partitions, each counted from where it starts."""
    if rows[0] is None:
        return None
    return np.concatenate([each + start for each, start in zip(rows, starts, strict=True)])


# ---------------------------------------------------------------------- scores


def start_sums(partition: Partition, evaluation: dict, n_classes: int, soft_roles: tuple) -> Sums:
    """Return the sums over no members."""
    width = () if n_classes == 2 else (n_classes,)
    total = np.zeros((partition.n_rows, *width))
    soft = {
        role: np.zeros((len(total[evaluation[role]]), *width))
        for role in soft_roles
        if role in evaluation
    }
    return Sums(total, soft)


def add_member(partition: Partition, evaluation: dict, sums: Sums, adapter, member) -> Sums:
    """Return the sums with one more member."""
    sums = sums.copy()
    smoothing = adapter.leaf_smoothing
    soft = [(evaluation[role], each, smoothing) for role, each in sums.soft.items() if len(each)]
    adapter.add(member, partition.table, [(slice(None), sums.total, 0.0), *soft])
    sums.n_members += 1
    return sums


def scores_of_fold(
    partition: Partition, evaluation: dict, adapter, member, fold: int
) -> np.ndarray:
    """Return a member's probabilities, by soft leaves, of the validation rows of a fold."""
    assert partition.folds is not None
    rows = np.arange(partition.n_rows)[evaluation["valid"]]
    rows = rows[partition.folds[rows] == fold]
    proba = np.zeros(len(rows) if adapter.n_classes == 2 else (len(rows), adapter.n_classes))
    if len(rows):
        adapter.add_scores(member, take_rows(partition.table, rows), proba)
    return proba


# ---------------------------------------------------------------------- evaluation rows


def rows_in_role(partition: Partition, role: str) -> Selector:
    """Return the positions of all rows in a role."""
    if role == "all" or isinstance(partition.roles.get(role), slice):
        return slice(None)
    return partition.rows_of(None, None, role)


def look_at(partition: Partition, rows: Selector) -> tuple:
    """Return numbers, classes, weights and folds of rows."""
    numbers = np.arange(partition.start, partition.start + partition.n_rows)[rows]
    weights = None if partition.weights is None else partition.weights[rows]
    folds = None if partition.folds is None else partition.folds[rows]
    return numbers, partition.codes[rows], weights, folds


def with_role(evaluation: dict, rows: Selector, role: str) -> dict:
    """Return the evaluation rows of one more role."""
    return {**evaluation, role: rows}


def evaluated_sums(evaluation: dict, sums: Sums, role: str, soft: bool) -> np.ndarray:
    """Return the sums of the evaluation rows in a role."""
    return sums.soft[role] if soft else sums.total[evaluation[role]]


def taken_rows(partition: Partition, rows: np.ndarray):
    """Return rows of the table."""
    return take_rows(partition.table, rows)


def as_it_is(cell):
    """Return what a cell holds."""
    return cell


def edges_of(tables: list, make_edges: Callable[[list], bytes]) -> bytes:
    """Return the edges of bins, by a sample of the rows."""
    return make_edges(tables)


# ---------------------------------------------------------------------- other partitions


def with_table(partition: Partition, path, table_maker) -> Partition:
    """Return the same rows in another form."""
    return replace(partition, table=remake_table(partition.table, table_maker, path))


def all_for_training(partition: Partition) -> Partition:
    """Return the same rows, all of them as training rows."""
    return replace(partition, roles=None, folds=None)


def with_folds(partition: Partition, folds: np.ndarray, n_folds: int) -> Partition:
    """Return the same rows in folds that members leave out in rotation."""
    train = valid = partition.roles["train"]
    in_folds = folds < n_folds
    if not in_folds.all():
        valid = np.zeros(partition.n_rows, dtype=bool)
        valid[train] = True
        valid &= in_folds
    return replace(partition, folds=folds, roles={"train": train, "valid": valid})


def groups_in(partition: Partition, n_classes: int) -> GroupCounts:
    """Return how many rows of each class each group has."""
    assert partition.groups is not None
    return count_groups(partition.groups, partition.codes, n_classes)


def folds_by_group(partition: Partition, groups: GroupCounts, folds: np.ndarray) -> np.ndarray:
    """Return the fold of each row, given that of each group."""
    assert partition.groups is not None
    return folds_of_rows(groups, folds, partition.groups)


def groups_at(partition: Partition, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which of some rows are here, and their groups."""
    assert partition.groups is not None
    stop = partition.start + partition.n_rows
    here = np.flatnonzero((rows >= partition.start) & (rows < stop))
    return here, partition.groups[rows[here] - partition.start]


def holding_out_fold(partition: Partition, folds: np.ndarray | None, number: int) -> Partition:
    """Return the same rows with one fold held out."""
    folds = partition.folds if folds is None else folds
    return partition.holding_out(np.asarray(folds) == number)


def training_keys(partition: Partition, k: int, key: np.ndarray, number: int) -> tuple:
    """Return the numbers of the training rows of a class, and their keys."""
    rows = partition.numbers_of(partition.rows_of(k))
    return rows, race_keys_of(key, number, rows)


def folds_in(
    partition: Partition, by_rank: list, key: np.ndarray, number: int, n_folds: int
) -> np.ndarray:
    """Return the fold of each row.

    ``by_rank`` has for each class the numbers of its rows and their folds; None for a class whose
    rows find their folds by their own keys.
    """
    # Rows that are not assigned get a number that no fold has.
    folds = np.full(partition.n_rows, n_folds, dtype=np.min_scalar_type(n_folds))
    for k, of_class in enumerate(by_rank):
        rows = partition.rows_of(k)
        numbers = partition.numbers_of(rows)
        if of_class is None:
            folds[rows] = fold_by_key(race_keys_of(key, number, numbers), n_folds)
        elif len(rows):
            known, found = of_class
            folds[rows] = found[np.searchsorted(known, numbers)]
    return folds
