"""Rows in memory: the verbs of the loop on plain arrays."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth._data import (
    MAX_EVALUATION_ROWS,
    ROLES,
    EvaluationRows,
    GrowthData,
    SampleFacts,
    evaluation_scales,
    fingerprint,
)
from metasampler.growth._draw import draw_rows, draw_sample, race_keys, race_keys_of
from metasampler.growth._groups import assign_folds_by_group
from metasampler.growth._hold_out import assign_folds, n_filled_folds
from metasampler.growth._join import join_tables
from metasampler.growth._streams import Stream
from metasampler.growth._weights import member_weights, total_of, weigh_classes
from metasampler.tables import TreeTable, lowest_values

__all__ = ["MemoryRows", "Sums", "errors_of_class"]

# Up to this many rows the rows that a member may see are kept for every fold.
_FEW = 1 << 20


@dataclass(eq=False)
class Sums:
    """The sums of the members' probabilities. Two classes need the probability of class 1 only."""

    #: The sums for all rows, of the members as they are.
    total: np.ndarray
    #: Of the evaluation rows of some roles, by soft leaves.
    soft: dict[str, np.ndarray]
    n_members: int = 0

    def copy(self) -> "Sums":
        """Return a copy that further members may be added to."""
        soft = {role: each.copy() for role, each in self.soft.items()}
        return Sums(self.total.copy(), soft, self.n_members)


def errors_of_class(total: np.ndarray, rows: np.ndarray, k: int, n_members: int) -> np.ndarray:
    """Return 1 - p(true class) of rows of one class, given the sums over all rows."""
    if total.ndim == 1:
        errors = total[rows]
        if k == 1:
            # Sums before the division: they are exact where leaves are pure.
            np.subtract(n_members, errors, out=errors)
    else:
        errors = n_members - total[rows, k]
    errors /= n_members
    return errors


@dataclass(eq=False, repr=False, kw_only=True)
class MemoryRows(GrowthData):
    """Rows in memory. Their numbers run through all tables; only rows of the first are sampled."""

    #: That of the training rows, then validation and test rows if they are tables of their own.
    tables: list
    #: The class of every row, as a position in the classes, and its weight if there are weights.
    codes: np.ndarray
    weights: Any = None
    #: The numbers of the rows in each role, in ascending order.
    rows: dict[str, np.ndarray]
    #: The fold of each row of the first table, if members leave folds out in rotation.
    folds: Any = None
    #: A key for the group of each row of the first table, if no fold may cut a group.
    groups: Any = None
    #: The numbers of the rows among those the user passed, if some were left out.
    original: np.ndarray | None = None
    _evaluation: dict[str, EvaluationRows] = field(init=False, default_factory=dict)

    def __post_init__(self):
        n_classes = len(self.classes)
        #: The number of the first row of each table, and the number of all rows.
        self.starts = np.cumsum([0, *(table.shape[0] for table in self.tables)]).tolist()
        self.n_first, self.n_rows = self.starts[1], self.starts[-1]
        self.has_weights, self.by_group = self.weights is not None, self.groups is not None
        self.roles = [role for role in ROLES if role in self.rows]
        valid = self.rows.get("valid")
        self.validation_is_apart = valid is not None and bool(valid[0] >= self.n_first)
        train, first = self.rows["train"], self.codes[: self.n_first]
        #: The training rows of each class.
        self.class_rows = [train[first[train] == k] for k in range(n_classes)]
        self.counts = np.array([len(rows) for rows in self.class_rows])
        self.class_weights = self.counts.astype(float)
        if self.has_weights:
            totals = [total_of(self.weights[rows]) for rows in self.class_rows]
            self.class_weights = np.array(totals)
        self.n_folds, self.fold_counts = 0, None
        self._visible: dict[int, list[np.ndarray]] = {}
        if self.folds is not None:
            in_folds = self.rows["valid"]
            self.n_folds = n_folds = int(self.folds[in_folds].max(initial=0)) + 1
            pairs = first[in_folds].astype(np.intp) * n_folds + self.folds[in_folds]
            found = np.bincount(pairs, minlength=n_classes * n_folds)
            self.fold_counts = found.reshape(n_classes, n_folds)
        self._set_sizes()

    # ------------------------------------------------------------------ members

    def draw(self, key, number, rule=None, sums=None) -> np.ndarray:
        """Return the rows of the member with this number (Algorithm 1), in ascending order."""
        fold = self._left_out(number)
        counts = self._visible_counts(fold)
        sizes = self._sample_sizes(counts)
        class_rows = self.class_rows if fold is None else self._visible_rows(fold)
        keys = np.empty(0)
        if (sizes < counts).any():
            keys = race_keys(key, number, 0, self.n_first)
            if self.weights is not None:
                keys -= np.log(self.weights[: self.n_first])

        def class_errors(k: int, rows: np.ndarray) -> np.ndarray:
            known = sums()
            return errors_of_class(known.total, rows, k, known.n_members)

        errors = None if sums is None else class_errors
        return draw_sample(class_rows, sizes, self.minority, keys, rule, errors)

    def _visible_rows(self, fold: int) -> list[np.ndarray]:
        """Return the rows of each class that a member may see that leaves out a fold."""
        if fold in self._visible:
            return self._visible[fold]
        visible = [rows[self.folds[rows] != fold] for rows in self.class_rows]
        if self.n_first <= _FEW:
            self._visible[fold] = visible
        return visible

    def fit_member(self, sample, number, adapter, seed) -> tuple[Any, SampleFacts]:
        """Return the member with this number, fitted on rows given by their numbers."""
        codes = self.codes[: self.n_first]
        weights = self.weights_in_member(sample)
        options = self._rows_to_stop_by(number) if adapter.stops_early else {}
        member = adapter.fit(self.tables[0], codes, sample, seed, weights, **options)
        n_of_class = np.bincount(codes[sample], minlength=self.n_classes)
        totals = n_of_class
        if weights is not None:
            totals = np.bincount(codes[sample], weights, self.n_classes)
        return member, SampleFacts(self.to_original(sample), (n_of_class, totals))

    def weights_in_member(self, sample: np.ndarray) -> np.ndarray | None:
        """Return the weights with which some rows of the first table enter a member."""
        weights = None if self.weights is None else self.weights[sample]
        return member_weights(weights, self.codes[sample], self.mean_weights, self.class_factors)

    def _rows_to_stop_by(self, number: int) -> dict[str, Any]:
        """Return the rows by which a member stops early: those it does not see."""
        if not self.has_validation or self.validation_is_apart:
            return {}
        valid = self.evaluation_rows("valid")
        unseen: Any = slice(None) if valid.folds is None else valid.folds == number % self.n_folds
        weights = None if valid.weights is None else valid.weights[unseen]
        weights = weigh_classes(weights, valid.codes[unseen], self.class_factors)
        return {"unseen": valid.rows[unseen], "unseen_weight": weights}

    def to_original(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of some rows among the rows the user passed."""
        return rows if self.original is None else self.original[rows]

    def bin_edges(self, n_rows, make_edges: Callable[[list], bytes]) -> bytes | None:
        """Return what is made of a sample of the rows; None if a table is the whole sample."""
        return None if self.n_first <= n_rows else make_edges([self.sample(n_rows)])

    def sample(self, n_rows) -> Any:
        """Return some rows of the first table, or all of them if they are few."""
        if self.n_first <= n_rows:
            return self.tables[0]
        keys = race_keys(self.streams.row_key(Stream.EDGES), 0, 0, self.n_first)
        return take_rows(self.tables[0], draw_rows(keys, n_rows))

    def labelled_rows(self) -> tuple[Any, np.ndarray]:
        """Return the first table and the classes of its rows."""
        return self.tables[0], self.codes[: self.n_first]

    def groups_of(self, rows) -> np.ndarray | None:
        """Return a key for the group of some rows of the first table; None if there are none."""
        return None if self.groups is None else self.groups[rows]

    # ------------------------------------------------------------------ scores

    def start_sums(self, soft_roles: Sequence[str]) -> Sums:
        """Return the sums over no members."""
        soft = {
            role: np.zeros(self._shape_of(len(self.evaluation_rows(role).rows)))
            for role in soft_roles
        }
        return Sums(np.zeros(self._shape_of(self.n_rows)), soft)

    def _shape_of(self, n_rows: int) -> tuple[int, ...]:
        return (n_rows,) if self.n_classes == 2 else (n_rows, self.n_classes)

    def add_scores(self, sums: Sums, adapter, member) -> None:
        """Add the probabilities of all rows by one more member to sums, in place."""
        for table, start, stop in zip(self.tables, self.starts, self.starts[1:], strict=False):
            added = [(slice(None), sums.total[start:stop], 0.0)]
            for role, soft in sums.soft.items():
                rows = self.evaluation_rows(role).rows
                inside = slice(*np.searchsorted(rows, (start, stop)))
                if inside.start < inside.stop:
                    added.append((rows[inside] - start, soft[inside], adapter.leaf_smoothing))
            adapter.add(member, table, added)
        sums.n_members += 1

    def evaluation_sums(self, sums: Sums, role, *, soft) -> np.ndarray:
        """Return the sums of the evaluation rows in a role, by soft leaves if asked for."""
        return sums.soft[role] if soft else sums.total[self.evaluation_rows(role).rows]

    def class_errors(self, sums: Sums, k) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of all training rows of a class, and their errors."""
        rows = self.class_rows[k]
        return rows, errors_of_class(sums.total, rows, k, sums.n_members)

    def fold_scores(self, adapter, member, fold) -> np.ndarray:
        """Return a member's probabilities, by soft leaves, of the validation rows of a fold."""
        valid = self.evaluation_rows("valid")
        rows = valid.rows[valid.folds == fold]
        proba = np.zeros(self._shape_of(len(rows)))
        if len(rows):
            adapter.add_scores(member, take_rows(self.tables[0], rows), proba)
        return proba

    # ------------------------------------------------------------------ evaluation rows

    def evaluation_rows(self, role) -> EvaluationRows:
        """Return the rows of a role that are looked at one by one."""
        if role not in self._evaluation:
            rows, scales = self.rows[role], evaluation_scales(self.role_counts(role))
            if scales is not None:
                key, number = self.streams.row_key(Stream.EVALUATION), ROLES.index(role)
                keys, codes = race_keys_of(key, number, rows), self.codes[rows]
                of_class = [np.flatnonzero(codes == k) for k in range(self.n_classes)]
                some = [each[draw_rows(keys[each], MAX_EVALUATION_ROWS)] for each in of_class]
                rows = rows[np.sort(np.concatenate(some))]
            weights = None if self.weights is None else self.weights[rows]
            rotates = self.folds is not None and role != "test"
            folds = self.folds[rows] if rotates else None
            self._evaluation[role] = EvaluationRows(rows, self.codes[rows], weights, folds, scales)
        return self._evaluation[role]

    def role_counts(self, role) -> np.ndarray:
        """Return the number of rows of each class in a role, or of ``"all"`` rows."""
        codes = self.codes
        if role != "all":
            codes = codes[self.rows.get(role, slice(0))]
        return np.bincount(codes, minlength=len(self.classes))

    # ------------------------------------------------------------------ other rows, same task

    def whole(self) -> "MemoryRows":
        """Return the same task with the validation rows among the training rows."""
        together = self._together()
        return replace(together, rows={"train": np.arange(together.n_first)}, folds=None)

    def held_out_in_turn(self, n_turns, streams) -> Iterator["MemoryRows"]:
        """Yield the same task with another share of the training rows held out, one by one."""
        together, key = self._together(), streams.row_key(Stream.SPLIT)
        # Number 0 was the split into training and validation rows.
        if self.groups is None:
            folds = assign_folds(self.class_rows, together.n_first, n_turns, key, number=1)
            n_turns = n_filled_folds(self.counts, n_turns)
        else:
            codes, n_classes = self.codes[: self.n_first], self.n_classes
            folds = assign_folds_by_group(self.groups, codes, n_classes, n_turns, key, number=1)
            n_turns = int(folds.max()) + 1
        for number in range(n_turns):
            yield together._holding_out(folds == number)

    def holding_out_a_fold(self) -> "MemoryRows":
        """Return the same task with one fold held out from all members, instead of rotation."""
        return self if self.folds is None else self._first_table()._holding_out(self.folds == 0)

    def _holding_out(self, held_out: np.ndarray) -> "MemoryRows":
        """Return rows of one table, those of a mask as validation and all others as training."""
        rows = {"train": np.flatnonzero(~held_out), "valid": np.flatnonzero(held_out)}
        return replace(self, rows=rows, folds=None)

    def _together(self) -> "MemoryRows":
        """Return training and validation rows as one table."""
        if not self.validation_is_apart:
            return self._first_table()
        stop = self.starts[2]
        joined = join_tables(*self.tables[:2])
        train, valid = self.rows["train"], self.rows["valid"]
        return self._with_table(joined, slice(stop), rows={"train": train, "valid": valid})

    def _first_table(self) -> "MemoryRows":
        if len(self.tables) == 1:
            return self
        rows = {role: each for role, each in self.rows.items() if each[0] < self.n_first}
        return self._with_table(self.tables[0], slice(self.n_first), rows=rows)

    def _with_table(self, table, which: Any, **changes) -> "MemoryRows":
        """Return some of the rows, which are the rows of one table."""
        weights = None if self.weights is None else self.weights[which]
        original = None if self.original is None else self.original[which]
        taken = {"codes": self.codes[which], "weights": weights, "original": original}
        return replace(self, tables=[table], **taken, **changes)

    def for_team(
        self, sampling_ratio, *, trees=False, max_rows=None, class_factors=None
    ) -> "MemoryRows":
        """Return the same rows with other draws and, for trees, in the form they take fastest."""
        # A copy: what is known of rows, roles and folds stays as it is.
        twin = copy(self)
        twin._set_draw(sampling_ratio, max_rows, class_factors)
        if trees:
            twin.table_maker = make = TreeTable(lowest_values(self.tables[0]))
            twin.tables = [make(table) for table in self.tables]
        twin._set_sizes()
        return twin

    def thinned(self, ratio, streams) -> "MemoryRows":
        """Return the same task with a fraction of the training rows of each class, at least one."""
        key = streams.row_key(Stream.SUBSET)
        keep = np.ones(self.n_rows, dtype=bool)
        keep[self.rows["train"]] = False
        for rows in self.class_rows:
            size = max(1, round(ratio * len(rows)))
            keep[rows[draw_rows(race_keys_of(key, 0, rows), size)]] = True
        # Rows get new numbers.
        numbers = np.cumsum(keep) - 1
        first = np.flatnonzero(keep[: self.n_first])
        return replace(
            self,
            tables=[take_rows(self.tables[0], first), *self.tables[1:]],
            codes=self.codes[keep],
            weights=None if self.weights is None else self.weights[keep],
            folds=None if self.folds is None else self.folds[first],
            groups=None if self.groups is None else self.groups[first],
            rows={role: numbers[rows[keep[rows]]] for role, rows in self.rows.items()},
            original=None if self.original is None else self.original[keep],
        )

    def fingerprints(self) -> dict[str, Any]:
        """Return short texts that tell these rows, labels, weights and groups from others."""
        return {
            "y": fingerprint(self.codes),
            "sample_weight": None if self.weights is None else fingerprint(self.weights),
            "groups": None if self.groups is None else fingerprint(self.groups),
            "X": list(map(fingerprint, self.tables)),
        }
