"""The rows an ensemble grows on, wherever they are: parts, and what the loop asks of them.

A *part* is some rows with consecutive numbers. A question to it is a plain function whose first
argument is a `Part`; it stands beside whoever asks it. It changes nothing that another question
could see, so that it may be asked again, in another process or on another machine.

Parts are in a *place*, which holds one *cell* a part for each thing that is known of the parts. It
has two verbs: ``make`` fills new cells, ``ask`` brings answers to the loop. `_memory` has rows in
memory, where a cell is the thing itself, `_parted` rows in files (`_places`) or on a cluster.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy import sparse

from metasampler._sklearn_compat import take_rows
from metasampler.growth._draw import (
    Candidates,
    Choice,
    RandomStreams,
    Request,
    Stream,
    draw_rows,
    draw_subset,
    join_choices,
    race_keys_of,
)
from metasampler.growth._fingerprint import fingerprint_rows
from metasampler.growth._memory import join_tables
from metasampler.growth._places import lowest_in, remake_table
from metasampler.growth._scoring import bind_scorer
from metasampler.growth._weights import MANY_ROWS, exact_sum
from metasampler.tables import TreeTable, lowest_values

#: Rows of each class, in each role, that are looked at one by one: for scores, states, calibration
#: and to stop by. Of more rows a sample by keys is; each then stands for several.
MAX_WATCHED = 300_000

# Up to so many rows the rows that a member may see are kept for every fold.
_FEW = 1 << 20

_ROLES = ("train", "valid", "test")

#: Numbers of rows in a part: all, those of a mask, or a list of them.
Selector = slice | np.ndarray


@dataclass(eq=False, repr=False)
class Part:
    """Some rows of a task, with consecutive numbers."""

    table: Any
    codes: np.ndarray
    #: The number of the first row.
    start: int = 0
    _: KW_ONLY
    weights: np.ndarray | None = None
    folds: np.ndarray | None = None
    #: Which of the rows serve as "train", "valid" and "test"; None: all train.
    roles: Any = None
    #: The numbers of the rows among all that the user passed, if some were left out.
    original: np.ndarray | None = None
    #: Whether the rows of a class are looked up once and kept, at eight bytes a row.
    remembers: bool = False
    _known: dict = field(init=False, default_factory=dict)

    def __post_init__(self):
        self.n_rows = len(self.codes)
        if self.roles is None:
            self.roles = {"train": slice(None)}

    def __getstate__(self):
        return {**self.__dict__, "_known": {}}

    def rows_of(self, k: int | None, fold: int | None = None, role: str = "train") -> np.ndarray:
        """Return the positions of a class's rows in a role, without those of a fold."""
        if (role, k, fold) in self._known:
            return self._known[role, k, fold]
        chosen = np.zeros(self.n_rows, dtype=bool)
        chosen[slice(None) if role == "all" else self.roles.get(role, slice(0))] = True
        if k is not None:
            chosen &= self.codes == k
        if fold is not None:
            chosen &= self.folds != fold
        rows = np.flatnonzero(chosen)
        often = role == "train" and fold is None
        if self.remembers and (often or self.n_rows <= _FEW):
            self._known[role, k, fold] = rows
        return rows

    def holding_out(self, rows: Selector) -> "Part":
        """Return the same rows, these as validation rows and all others as training rows."""
        train = np.ones(self.n_rows, dtype=bool)
        train[rows] = False
        return replace(self, roles={"train": train, "valid": ~train}, folds=None)


class Watched(NamedTuple):
    """Rows of one role that are looked at one by one, wherever they are."""

    #: Their numbers, in ascending order.
    rows: np.ndarray
    codes: np.ndarray
    #: The weights that the user gave them.
    own_weights: np.ndarray | None
    folds: np.ndarray | None
    #: How many rows each row of a class stands for; None if all are here.
    scales: np.ndarray | None

    @property
    def weights(self) -> np.ndarray | None:
        """What each row counts; None if all count the same."""
        if self.scales is None:
            return self.own_weights
        factors = self.scales[self.codes]
        return factors if self.own_weights is None else self.own_weights * factors


@dataclass(eq=False, repr=False)
class GrowthData:
    """The rows an ensemble grows on: fixed, and shared by all episodes on one task.

    Their numbers run through all tables. What is done with them is done by parts (`Part`), and
    their answers are merged here; in memory each table is one part.
    """

    #: Where the parts are, and the parts as the place knows them: those that rows are drawn from,
    #: then validation and test rows if they are tables of their own.
    place: Any
    parts: list
    classes: np.ndarray
    _: KW_ONLY
    #: From so many parts, the first ones, rows are drawn.
    n_drawn_parts: int
    #: The smallest class, as a position in the classes.
    minority: int
    sampling_ratio: float
    scoring: Any
    streams: RandomStreams
    #: How tables were brought into the form that members take, and if need be into yet another.
    form: Any = None
    table_maker: Any = None
    #: The most rows of a class that a member gets; None sets no limit.
    max_rows: int | None = None
    #: One row like all others, if rows are not in memory; NaN if values are missing.
    example: Any = None
    #: What is known of the same rows, in the same roles and folds, is taken over from it.
    same_rows_as: InitVar["GrowthData | None"] = None

    def __post_init__(self, same_rows_as):
        known, place = same_rows_as, self.place
        self.drawn_parts = self.parts[: self.n_drawn_parts]
        self.n_classes = n_classes = len(self.classes)
        self._facts = known._facts if known else place.ask(_facts_of, self.parts, args=(n_classes,))
        n_rows, counts, roles, weighted, n_folds = zip(*self._facts, strict=True)
        drawn = slice(self.n_drawn_parts)
        #: Rows of all tables, and of the first, from which rows are drawn.
        self.n_rows, self.n_train_table = sum(n_rows), sum(n_rows[drawn])
        #: Training rows of each class.
        self.counts = counts = np.sum(counts[drawn], axis=0)
        self.has_weights = any(weighted)
        #: Folds that members leave out in rotation, or 0.
        self.n_folds = max(n_folds[drawn])
        #: "train" and, where there are any such rows, "valid" and "test".
        self.roles = [role for role in _ROLES if any(role in of for of in roles)]
        self.has_validation = "valid" in self.roles
        #: Whether validation rows are a table of their own, which the user passed.
        self.validation_is_apart = self.has_validation and "valid" not in set().union(*roles[drawn])
        #: The tables, or of each that is not in memory one row, by which learners are chosen.
        self.tables: list = [self.example] * (1 + self.validation_is_apart)
        if self.example is None:
            self.tables = [part.table for part in self.parts]
        #: Rows of each larger class that a member gets, if it may see all rows.
        self.draw_size = self._draw_size(int(counts[self.minority]))
        limits = self.limits(counts)
        #: The part of the training rows that a member gets.
        self.drawn_part = float(limits.sum() / counts.sum())
        #: Rows of each class and fold.
        self.fold_counts: np.ndarray | None = known.fold_counts if known else None
        if self.n_folds and not known:
            answers = place.ask(_count_folds, self.drawn_parts, args=(n_classes, self.n_folds))
            self.fold_counts = np.sum(answers, axis=0)
        #: The total weight of each class in the training rows.
        self.class_weights = known.class_weights if known else counts.astype(float)
        #: The mean weight of each class that is drawn. There the rows' own weights have done their
        #: work in the draw: each drawn row stands for rows of the mean weight of its class.
        self.mean_weights: dict[int, float] = {}
        if self.has_weights:
            for k, count in enumerate(counts):
                if not known:
                    self.class_weights[k] = sum_of_parts(
                        place, _weights_of_class, self.drawn_parts, k, count
                    )
                if count > limits[k]:
                    self.mean_weights[k] = self.class_weights[k] / count
        #: For each part the watched rows in the roles that were asked for so far.
        self.watches: list = known.watches if known else [{} for _ in self.parts]
        self._watched: dict[str, Watched] = dict(known._watched) if known else {}
        self._positions: dict = {}
        self._scorers: dict = {}
        # An unknown scorer is found before any member is fitted.
        for role in self.roles:
            if role != "train":
                self.scorer(role)

    # ------------------------------------------------------------------ other rows, same task

    def thinned(self, ratio: float, streams: RandomStreams) -> "GrowthData":
        """Return the same task with a part of the training rows of each class, at least one.

        The rows left out are not even scored: this is what makes meta-training on a part cheap.
        """
        if self.example is not None:
            raise ValueError(
                "Meta-training needs rows in memory: pass a fitted MetaSampler, or take a sample "
                "of the rows to train one."
            )
        key, first = streams.row_key(Stream.SUBSET), self.parts[0]
        keep = np.ones(first.n_rows, dtype=bool)
        keep[first.roles["train"]] = False
        for rows in self.class_rows:
            size = max(1, round(ratio * len(rows)))
            keep[rows[draw_rows(race_keys_of(key, 0, rows), size)]] = True
        parts = [_some_rows(first, keep)]
        for part in self.parts[1:]:
            parts.append(replace(part, start=parts[-1].start + parts[-1].n_rows))
        return replace(self, parts=parts)

    def _together(self) -> list:
        """Return the parts with training and validation rows; in memory they are one table."""
        parts = self.parts[: self.n_drawn_parts + self.validation_is_apart]
        if self.place.copies_rows or len(parts) == 1:
            return parts
        return self.place.make(join_below, [parts])

    def whole(self) -> "GrowthData":
        """Return the same task with the validation rows among the training rows."""
        parts = self.place.make(_all_for_training, self._together())
        return replace(self, parts=parts, n_drawn_parts=len(parts))

    def held_out_in_turn(self, n_parts: int, streams: RandomStreams) -> Iterator["GrowthData"]:
        """Yield the same task with another part of the training rows held out, one by one.

        A part has its share of every class. All other rows are training rows.
        """
        # Imported here: it makes such rows.
        from metasampler.growth._parted import deal_parts

        place, parts = self.place, self._together()
        # Number 0 was the split into training and validation rows.
        folds = deal_parts(place, parts, self.counts, streams.row_key(Stream.SPLIT), 1, n_parts)
        # Rows are dealt like cards: with fewer rows the last parts get none.
        for number in range(min(n_parts, int(self.counts.max()))):
            held_out = place.make(_holding_out_fold, parts, folds, args=(number,))
            yield replace(self, parts=held_out, n_drawn_parts=len(parts))

    def holding_out_a_fold(self) -> "GrowthData":
        """Return the same task with one fold held out from all members, instead of rotation."""
        if not self.n_folds:
            return self
        parts = self.place.make(_holding_out_fold, self.drawn_parts, args=(None, 0))
        return replace(self, parts=parts)

    def for_team(self, sampling_ratio: float, *, trees: bool = False) -> "GrowthData":
        """Return the same rows with other draws and, for trees, in the form they take fastest."""
        changes: dict[str, Any] = {"table_maker": None}
        if trees and self.example is None:
            changes["table_maker"] = maker = TreeTable(lowest_values(self.tables[0]))
            changes["parts"] = [replace(part, table=maker(part.table)) for part in self.parts]
        elif trees:
            place, paths = self.place, self.place.new_paths(len(self.parts))
            lowest = np.min(place.ask(_lowest_values, self.drawn_parts), axis=0)
            changes["table_maker"] = maker = TreeTable(lowest)
            changes["parts"] = place.make(_with_table, self.parts, paths, args=(maker,))
            changes["example"] = maker(self.example)
        return replace(self, sampling_ratio=sampling_ratio, same_rows_as=self, **changes)

    # ------------------------------------------------------------------ of rows in memory

    @property
    def codes(self) -> np.ndarray:
        """The class of every row of every table, as a position in the classes."""
        return join_arrays([part.codes for part in self.parts])

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of all rows, if they have any."""
        return join_arrays([part.weights for part in self.parts])

    @property
    def rows(self) -> dict[str, np.ndarray]:
        """The numbers of the rows in each role."""
        return {
            role: join_arrays([part.start + part.rows_of(None, None, role) for part in self.parts])
            for role in self.roles
        }

    @property
    def class_rows(self) -> list[np.ndarray]:
        """The numbers of the training rows of each class."""
        return [self.parts[0].rows_of(k) for k in range(self.n_classes)]

    def to_original(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of some rows of the first table among the rows the user passed."""
        original = self.parts[0].original
        return rows if original is None else original[rows]

    def draw(self, key: np.ndarray, number: int, rule=None) -> np.ndarray:
        """Return the rows of the first table that `draw_subset` draws, by their positions."""
        return self._found(draw_subset(self, key, number, rule), self.drawn_parts)[0]

    def member_weights(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the weights with which some rows of the first table enter a member."""
        # Imported here: pieces are cut from the rows.
        from metasampler.growth._pieces import member_weights

        part = self.parts[0]
        if part.weights is None:
            return None
        return member_weights(part.weights[rows], part.codes[rows], self.mean_weights)

    # ------------------------------------------------------------------ fingerprints

    @cached_property
    def fingerprint(self) -> str:
        """A short text that other rows, labels and weights, cut as they may be, hardly have."""
        return f"{sum(self.place.ask(_fingerprint_of, self.parts)) % (1 << 64):016x}"

    def fingerprints(self) -> dict[str, Any]:
        """Return short texts that tell these rows, labels and weights from others."""
        if self.example is not None:
            return {"X": self.fingerprint}
        return {
            "y": fingerprint(self.codes),
            "sample_weight": None if self.weights is None else fingerprint(self.weights),
            "X": list(map(fingerprint, self.tables)),
        }

    # ------------------------------------------------------------------ sizes of draws

    def _draw_size(self, n_smallest: int) -> int:
        if np.isinf(self.sampling_ratio):
            return self.n_rows
        return max(1, round(self.sampling_ratio * n_smallest))

    def limits(self, counts: np.ndarray) -> np.ndarray:
        """Return how many rows of each class a member gets, of so many that it may see."""
        limits = np.minimum(counts, self._draw_size(int(counts[self.minority])))
        limits[self.minority] = counts[self.minority]
        return limits if self.max_rows is None else np.minimum(limits, self.max_rows)

    # ------------------------------------------------------------------ questions

    def watched(self, role: str) -> Watched:
        """Return the rows of a role that are looked at one by one."""
        if role in self._watched:
            return self._watched[role]
        place, parts, scales = self.place, self.parts, None
        counts = self.role_counts(role)
        if counts.max() <= MAX_WATCHED:
            chosen = place.make(_role_rows, parts, args=(role,))
        else:
            key, number = self.streams.row_key(Stream.WATCH), _ROLES.index(role)
            scales = np.maximum(counts, 1) / np.clip(counts, 1, MAX_WATCHED)
            of_class = []
            for k, count in enumerate(counts):
                request = Request(k, None, role, key, number, weighted=False, n_rows=int(count))
                candidates = Candidates(place, parts, request)
                few = count <= MAX_WATCHED
                of_class.append(candidates.all() if few else candidates.smallest(MAX_WATCHED))
            chosen = self._found(join_choices(of_class), parts)
        found = zip(*place.ask(_look_at, parts, chosen), strict=True)
        rows, codes, weights, folds = map(join_arrays, found)
        self._watched[role] = Watched(rows, codes, weights, folds, scales)
        self.watches = place.make(_add_watch, self.watches, chosen, args=(role,))
        return self._watched[role]

    def _found(self, choice: Choice, parts: list) -> list:
        # Imported here: pieces are cut from the rows.
        from metasampler.growth._pieces import find_rows

        return find_rows(self.place, parts, choice)

    def role_counts(self, role: str) -> np.ndarray:
        """Return the number of rows of each class in a role, or of ``"all"`` rows."""
        return np.sum(self.place.ask(count_classes, self.parts, args=(self.n_classes, role)), 0)

    def positions(self, role: str, part: str) -> np.ndarray:
        """Return which of the watched rows are a part ("minority" or "majority") of them."""
        if (role, part) not in self._positions:
            is_minority = self.watched(role).codes == self.minority
            self._positions[role, part] = np.flatnonzero(is_minority == (part == "minority"))
        return self._positions[role, part]

    def scorer(self, role: str):
        """Return the function that scores the probabilities of the rows in a role."""
        if role not in self._scorers:
            rows = self.watched(role)
            self._scorers[role] = self.score_function(rows.codes, rows.weights)
        return self._scorers[role]

    def score_function(self, codes: np.ndarray, weights: np.ndarray | None):
        """Return what scores the probabilities of rows with these classes and weights."""
        return bind_scorer(self.scoring, codes, self.classes, self.minority, weights)

    def edge_rows(self, n_rows: int) -> list:
        """Return a sample of the rows of each part, by which columns are cut into bins."""
        place, parts = self.place, self.drawn_parts
        if self.n_train_table <= n_rows:
            chosen = place.make(_role_rows, parts, args=("all",))
        else:
            key, n_all = self.streams.row_key(Stream.EDGES), self.n_train_table
            request = Request(None, None, "all", key, 0, weighted=False, n_rows=n_all)
            chosen = self._found(Candidates(place, parts, request).smallest(n_rows), parts)
        return place.make(_take_rows, parts, chosen)

    def sample(self, n_rows: int):
        """Return some rows that a fit may learn from, in the form that members take."""
        tables = self.place.ask(_as_is, self.edge_rows(n_rows))
        return reduce(join_tables, tables)


# ---------------------------------------------------------------------- the questions


def _as_is(cell):
    return cell


def _facts_of(part: Part, n_classes: int) -> tuple:
    """Return rows, training rows of each class, roles, whether there are weights, and folds."""
    n_folds = 0 if part.folds is None else int(part.folds.max(initial=0)) + 1
    counts = count_classes(part, n_classes, "train")
    return part.n_rows, counts, tuple(part.roles), part.weights is not None, n_folds


def count_classes(part: Part, n_classes: int, role: str) -> np.ndarray:
    """Return the number of rows of each class in a role."""
    return np.array([len(part.rows_of(k, None, role)) for k in range(n_classes)])


def _count_folds(part: Part, n_classes: int, n_folds: int) -> np.ndarray:
    assert part.folds is not None
    pairs = part.codes.astype(np.intp) * n_folds + part.folds
    return np.bincount(pairs, minlength=n_classes * n_folds).reshape(n_classes, n_folds)


def _role_rows(part: Part, role: str) -> Selector:
    if role == "all" or isinstance(part.roles.get(role), slice):
        return slice(None)
    return part.rows_of(None, None, role)


def _look_at(part: Part, rows: Selector) -> tuple:
    """Return numbers, classes, weights and folds of rows."""
    numbers = np.arange(part.start, part.start + part.n_rows)[rows]
    weights = None if part.weights is None else part.weights[rows]
    return numbers, part.codes[rows], weights, None if part.folds is None else part.folds[rows]


def _add_watch(watch: dict, rows: Selector, role: str) -> dict:
    return {**watch, role: rows}


def _take_rows(part: Part, rows: np.ndarray):
    return take_rows(part.table, rows)


def _weights_of_class(part: Part, k: int) -> np.ndarray:
    assert part.weights is not None
    return part.weights[part.rows_of(k)]


def _fingerprint_of(part: Part) -> int:
    return fingerprint_rows(part.table, part.codes, part.weights, part.start)


def _lowest_values(part: Part) -> np.ndarray:
    return lowest_in(part.table)


def fingerprint(table) -> str:
    """Return a short text that tables with other values do not have."""
    if hasattr(table, "columns"):
        # By column: how a frame keeps its columns together is no part of it.
        table = [(str(name), np.asarray(table[name])) for name in table.columns]
    elif sparse.issparse(table):
        table = table.tocsr()
    else:
        # The order of values in memory is no part of them either.
        table = np.ascontiguousarray(table)
    return joblib.hash(table)


# ---------------------------------------------------------------------- other parts


def _with_table(part: Part, path, table_maker) -> Part:
    return replace(part, table=remake_table(part.table, table_maker, path))


def _all_for_training(part: Part) -> Part:
    return replace(part, roles=None, folds=None)


def _holding_out_fold(part: Part, folds: np.ndarray | None, number: int) -> Part:
    return part.holding_out(np.asarray(part.folds if folds is None else folds) == number)


def _some_rows(part: Part, keep: np.ndarray) -> Part:
    """Return the rows of a mask as a part: there they get new numbers."""
    return replace(
        part,
        table=take_rows(part.table, np.flatnonzero(keep)),
        codes=part.codes[keep],
        weights=None if part.weights is None else part.weights[keep],
        folds=None if part.folds is None else part.folds[keep],
        roles={
            role: which if isinstance(which, slice) else which[keep]
            for role, which in part.roles.items()
        },
        original=None,
    )


def part_apart(table, codes: np.ndarray, start: int, role: str, weights, passed) -> Part:
    """Return rows that are a table of their own as a part.

    ``passed`` are the numbers of the rows among all that the user passed, if they are others.
    """
    return Part(table, codes, start, roles={role: slice(None)}, weights=weights, original=passed)


def join_below(parts: list[Part]) -> Part:
    """Return training rows, and validation rows of their own below them, as one part."""
    above, below = parts
    return replace(
        above,
        table=join_tables(above.table, below.table),
        codes=join_arrays([above.codes, below.codes]),
        weights=join_arrays([above.weights, below.weights]),
        original=join_arrays([above.original, below.original]),
    ).holding_out(slice(above.n_rows, None))


# ---------------------------------------------------------------------- sums


def join_arrays(arrays: Sequence) -> Any:
    """Return the arrays of all parts as one; None if there are none."""
    arrays = [each for each in arrays if each is not None]
    if len(arrays) < 2:
        return arrays[0] if arrays else None
    return np.concatenate(arrays)


def sum_of_parts(place, function, parts: list, k: int | None, count: int) -> float:
    """Return the sum of numbers that parts hold, the same however rows are cut into parts.

    Few numbers are brought together, and summed up in the order of their rows; of many the sum is
    exact.
    """
    if count <= MANY_ROWS:
        return float(np.concatenate(place.ask(function, parts, args=(k,))).sum())
    return float(sum(place.ask(_exact_sum_of, parts, args=(function, k))))


def _exact_sum_of(part: Part, function, *args) -> Fraction:
    return exact_sum(function(part, *args))
