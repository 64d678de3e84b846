"""The rows an ensemble grows on."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from metasampler._sklearn_compat import take_rows
from metasampler.growth import _parts
from metasampler.growth._candidates import Candidates
from metasampler.growth._draw import RandomStreams, Stream, deal, draw_rows, race_keys_of
from metasampler.growth._parts import Part, Request
from metasampler.growth._places import Memory
from metasampler.growth._scoring import bind_scorer
from metasampler.growth._weights import MANY_ROWS
from metasampler.tables import is_frame

__all__ = ["MAX_WATCHED", "GrowthData", "Watched", "join_tables"]

#: Rows of each class, in each role, that are looked at one by one: for scores, states, calibration
#: and to stop by. Of more rows a sample by keys is; each then stands for several.
MAX_WATCHED = 300_000


class Watched(NamedTuple):
    """Rows of one role that are looked at one by one, wherever they are.

    Attributes
    ----------
    rows, codes : ndarray of int
        Their numbers, in ascending order, and their classes.
    own_weights : ndarray or None
        The weights that the user gave them.
    folds : ndarray of int or None
        Their folds, with rotation.
    scales : ndarray of shape (n_classes,) or None
        How many rows each row of a class stands for; None if all are here.
    """

    rows: np.ndarray
    codes: np.ndarray
    own_weights: np.ndarray | None
    folds: np.ndarray | None
    scales: np.ndarray | None

    @property
    def weights(self) -> np.ndarray | None:
        """What each row counts; None if all count the same."""
        if self.scales is None:
            return self.own_weights
        factors = self.scales[self.codes]
        return factors if self.own_weights is None else self.own_weights * factors


class GrowthData:
    """The rows an ensemble grows on: fixed, and shared by all episodes on one task.

    Their numbers run through all tables. What is done with them is done by parts (`Part`), and
    their answers are merged here; in memory each table is one part.

    Parameters
    ----------
    tables : list of table
        Training rows first, then validation and test rows if they are tables of their own.
    codes : ndarray of shape (n_rows,)
        Class of every row of every table, as a position in `classes`.
    classes : ndarray of shape (n_classes,)
        The labels.
    rows : dict of str to slice or ndarray
        Row numbers, or mask, of ``"train"`` and, where there are any, ``"valid"`` and ``"test"``.
    minority : int
        The smallest class, as a position in `classes`.
    sampling_ratio : float
        Rows drawn of each larger class per row of the smallest class.
    scoring : str or callable
        How validation and test rows are scored.
    streams : RandomStreams
        Where samples of rows come from.
    weights : ndarray of shape (n_rows,), default=None
        Positive weights of all rows.
    original_rows : ndarray of int, default=None
        For each row its number among the rows the user passed, if some of them were left out.
    folds : ndarray of int of shape (n_rows,), default=None
        The fold of every training row. Members then leave the folds out in rotation: member i
        does not see fold ``i % n_folds``, and the training rows are validation rows too, each for
        the members that have not seen it.
    form : TableForm, default=None
        How tables were brought into the form that members take.
    table_maker : callable, default=None
        How the table was made from that form, if members take it in yet another.
    max_rows : int, default=None
        The most rows of a class that a member gets; None sets no limit.
    """

    _ARGUMENTS: tuple[str, ...] = (
        "tables",
        "codes",
        "classes",
        "rows",
        "minority",
        "sampling_ratio",
        "scoring",
        "streams",
        "weights",
        "original_rows",
        "folds",
        "form",
        "table_maker",
        "max_rows",
    )

    def __init__(
        self,
        tables,
        codes,
        classes,
        rows,
        *,
        minority,
        sampling_ratio,
        scoring,
        streams,
        weights=None,
        original_rows=None,
        folds=None,
        form=None,
        table_maker=None,
        max_rows=None,
    ):
        self.tables = tables
        self.codes = codes
        self.rows = rows
        self.weights = weights
        self.original_rows = original_rows
        self.folds = folds
        # Only rows of the first table can be drawn, and their numbers are their positions there.
        self.n_train_table = tables[0].shape[0]
        train = np.arange(len(codes))[rows["train"]]
        self.class_rows = [train[codes[train] == k] for k in range(len(classes))]
        self._describe(
            Memory(),
            self._make_parts(),
            classes,
            roles=tuple(rows),
            counts=np.array([len(of) for of in self.class_rows]),
            n_folds=0 if folds is None else int(folds.max()) + 1,
            minority=minority,
            sampling_ratio=sampling_ratio,
            scoring=scoring,
            streams=streams,
            form=form,
            table_maker=table_maker,
            max_rows=max_rows,
        )

    def _describe(
        self,
        place,
        parts: list,
        classes,
        *,
        roles: tuple[str, ...],
        counts: np.ndarray,
        n_folds: int,
        minority,
        sampling_ratio,
        scoring,
        streams,
        form,
        table_maker,
        max_rows,
    ) -> None:
        """Set what the loop knows of rows, wherever they are."""
        self.place = place
        self.parts = parts
        self.classes = classes
        self.n_classes = len(classes)
        self.roles = roles
        #: Training rows of each class.
        self.counts = counts
        #: Folds that members leave out in rotation, or 0.
        self.n_folds = n_folds
        self.minority = minority
        self.sampling_ratio = sampling_ratio
        self.scoring = scoring
        self.streams = streams
        self.form = form
        self.table_maker = table_maker
        self.max_rows = max_rows
        self.draw_size = self._draw_size(int(counts[minority]))
        #: Whether there are validation rows.
        self.has_validation = "valid" in roles
        self._fold_counts: np.ndarray | None = None
        self._class_weights: np.ndarray | None = None
        self._watched: dict[str, Watched] = {}
        self._watches: list | None = None
        self._positions: dict = {}
        # An unknown scorer is found before any member is fitted.
        self.scorers = {role: self._bind(role) for role in roles if role != "train"}

    def _make_parts(self) -> list:
        """Return one part a table."""
        parts, start = [], 0
        numbers = {
            role: which if isinstance(which, slice) else np.arange(len(self.codes))[which]
            for role, which in self.rows.items()
        }
        for table in self.tables:
            stop = start + table.shape[0]
            roles = {}
            for role, which in numbers.items():
                if isinstance(which, slice):
                    if which.start <= start and stop <= which.stop:
                        roles[role] = slice(None)
                    continue
                inside = which[np.searchsorted(which, start) : np.searchsorted(which, stop)]
                if len(inside):
                    roles[role] = inside - start
            part = Part(
                table,
                self.codes[start:stop],
                start,
                weights=None if self.weights is None else self.weights[start:stop],
                folds=None if self.folds is None else self.folds[start:stop],
                roles=roles,
                remembers=True,
            )
            if start == 0:
                part.remember("train", self.class_rows)
            parts.append(part)
            start = stop
        return parts

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return len(self.codes)

    @property
    def n_columns(self) -> int:
        """Columns of the tables."""
        return self.tables[0].shape[1]

    @property
    def has_weights(self) -> bool:
        """Whether rows have weights."""
        return self.weights is not None

    @property
    def validation_is_apart(self) -> bool:
        """Whether validation rows are a table of their own, which the user passed."""
        if not self.has_validation:
            return False
        return bool(np.arange(self.n_rows)[self.rows["valid"]][0] >= self.n_train_table)

    @property
    def _drawn_from(self) -> list:
        """The parts that hold training rows."""
        return self.parts[:1]

    def fingerprints(self, make) -> dict:
        """Return what tells these rows from others: ``make(array)`` gives a short text."""
        return {
            "y": make(self.codes),
            "sample_weight": None if self.weights is None else make(self.weights),
            "X": [make(table) for table in self.tables],
        }

    # ------------------------------------------------------------------ other rows, same task

    def _with(self, **changes) -> "GrowthData":
        """Return the same task with some of the constructor's arguments changed."""
        same = {name: getattr(self, name) for name in self._ARGUMENTS}
        return type(self)(**{**same, **changes})

    def thinned(self, ratio: float, streams: RandomStreams) -> "GrowthData":
        """Return the same task with a part of the training rows of each class, at least one.

        The rows left out are not even scored: this is what makes meta-training on a part cheap.
        """
        key = streams.row_key(Stream.SUBSET)
        keep = np.ones(len(self.codes), dtype=bool)
        keep[self.rows["train"]] = False
        for rows in self.class_rows:
            size = max(1, round(ratio * len(rows)))
            keep[rows[draw_rows(race_keys_of(key, 0, rows), size)]] = True
        number = np.cumsum(keep) - 1
        old = np.arange(len(self.codes))
        table = take_rows(self.tables[0], np.flatnonzero(keep[: self.n_train_table]))
        return self._with(
            tables=[table, *self.tables[1:]],
            codes=self.codes[keep],
            rows={role: number[old[which][keep[old[which]]]] for role, which in self.rows.items()},
            weights=None if self.weights is None else self.weights[keep],
            original_rows=None,
            folds=None if self.folds is None else self.folds[keep],
        )

    def whole(self) -> "GrowthData":
        """Return the same task with the validation rows among the training rows.

        The rows keep their numbers. Validation rows that are a table of their own are put below
        the others, in a copy of both.
        """
        table = self.tables[0]
        if self.validation_is_apart:
            table = join_tables(table, self.tables[1])
        n_rows = table.shape[0]
        return self._with(
            tables=[table],
            codes=self.codes[:n_rows],
            rows={"train": slice(0, n_rows)},
            weights=None if self.weights is None else self.weights[:n_rows],
            folds=None,
        )

    def holding_out(self, rows) -> "GrowthData":
        """Return the same task with these rows of the only table as its validation rows."""
        train = np.ones(len(self.codes), dtype=bool)
        train[rows] = False
        return self._with(rows={"train": train, "valid": rows}, folds=None)

    def holding_out_a_fold(self) -> "GrowthData":
        """Return the same task with one fold held out from all members, instead of rotation."""
        return self if self.folds is None else self.holding_out(np.flatnonzero(self.folds == 0))

    def parts_of_training(self, n_parts: int, streams: RandomStreams) -> list[np.ndarray]:
        """Return the training rows in parts, each with its share of every class."""
        folds = np.full(self.n_rows, n_parts)
        key = streams.row_key(Stream.SPLIT)
        for rows in self.class_rows:
            # Number 0 was the split into training and validation rows.
            folds[rows] = deal(race_keys_of(key, 1, rows), n_parts)
        parts = [np.flatnonzero(folds == number) for number in range(n_parts)]
        return [rows for rows in parts if len(rows)]

    def for_team(self, sampling_ratio: float, table_maker=None) -> "GrowthData":
        """Return the same rows with other draws and, if need be, in another form."""
        tables = self.tables
        if table_maker is not None:
            tables = [table_maker(table) for table in tables]
        return self._with(tables=tables, sampling_ratio=sampling_ratio, table_maker=table_maker)

    # ------------------------------------------------------------------ questions

    def watched(self, role: str) -> Watched:
        """Return the rows of a role that are looked at one by one."""
        if role not in self._watched:
            self._watch(role)
        return self._watched[role]

    def watches(self, role: str | None = None) -> list:
        """Return for each part which rows are watched, in the roles that were asked for so far."""
        if role is not None:
            self.watched(role)
        if self._watches is None:
            self._watches = [{} for _ in self.parts]
        return self._watches

    def _watch(self, role: str) -> None:
        place, parts = self.place, self.parts
        counts = self.role_counts(role)
        key, number = self.streams.row_key(Stream.WATCH), ("train", "valid", "test").index(role)
        scales = None
        if counts.max() <= MAX_WATCHED:
            chosen = place.make(_parts.role_rows, parts, args=(role,))
        else:
            scales = np.maximum(counts, 1) / np.clip(counts, 1, MAX_WATCHED)
            of_class = []
            for k, count in enumerate(counts):
                request = Request(k, None, role, key, number, weighted=False)
                candidates = Candidates(place, parts, request)
                of_class.append(
                    candidates.all() if count <= MAX_WATCHED else candidates.smallest(MAX_WATCHED)
                )
            chosen = place.make(_parts.join_rows, parts, *of_class)
        found = zip(*place.ask(_parts.look_at, parts, chosen), strict=True)
        rows, codes, weights, folds = (join_arrays(arrays) for arrays in found)
        self._watches = place.make(_parts.add_watch, self.watches(), chosen, args=(role,))
        self._watched[role] = Watched(rows, codes, weights, folds, scales)

    def role_counts(self, role: str) -> np.ndarray:
        """Return the number of rows of each class in a role, or of ``"all"`` rows."""
        answers = self.place.ask(_parts.count_classes, self.parts, args=(self.n_classes, role))
        return np.sum(answers, axis=0)

    def positions(self, role: str, part: str):
        """Return which of the watched rows are a part ("all", "minority", "majority") of them."""
        if part == "all":
            return slice(None)
        if (role, part) not in self._positions:
            is_minority = self.watched(role).codes == self.minority
            self._positions[role, part] = np.flatnonzero(is_minority == (part == "minority"))
        return self._positions[role, part]

    def scorer(self, role: str):
        """Return the function that scores the probabilities of the rows in a role."""
        if role not in self.scorers:
            self.scorers[role] = self._bind(role)
        return self.scorers[role]

    def _bind(self, role: str):
        rows = self.watched(role)
        return self.score_function(rows.codes, rows.weights)

    def score_function(self, codes: np.ndarray, weights: np.ndarray | None):
        """Return what scores the probabilities of rows with these classes and weights."""
        return bind_scorer(self.scoring, codes, self.classes, self.minority, weights)

    def to_original(self, subset: np.ndarray) -> np.ndarray:
        """Return row numbers among the rows the user passed."""
        return subset if self.original_rows is None else self.original_rows[subset]

    def from_original(self, rows: np.ndarray) -> np.ndarray:
        """Return row numbers here, given those of rows the user passed."""
        return rows if self.original_rows is None else np.searchsorted(self.original_rows, rows)

    def class_weights(self) -> np.ndarray:
        """Return the total weight of each class in the training rows."""
        if not self.has_weights:
            return self.counts.astype(float)
        if self._class_weights is None:
            self._class_weights = np.array(
                [
                    sum_of_parts(self.place, _parts.weights_of_class, self._drawn_from, k, count)
                    for k, count in enumerate(self.counts)
                ]
            )
        return self._class_weights

    def lowest_values(self) -> np.ndarray:
        """Return the lowest number of each column of the training table."""
        return np.min(self.place.ask(_parts.lowest_values, self._drawn_from), axis=0)

    def edge_rows(self, n_rows: int):
        """Return a sample of the rows, by which columns are cut into bins.

        None if it is all rows, and these are one table: they need not be copied.
        """
        place, parts = self.place, self._drawn_from
        if self.n_train_table <= n_rows:
            if not place.copies_rows:
                return None
            chosen = place.make(_parts.role_rows, parts, args=("all",))
        else:
            key = self.streams.row_key(Stream.EDGES)
            request = Request(None, None, "all", key, 0, weighted=False)
            chosen = Candidates(place, parts, request).smallest(n_rows)
        tables = place.ask(_parts.take_part_rows, parts, chosen)
        return tables[0] if len(tables) == 1 else np.concatenate(tables)

    # ------------------------------------------------------------------ draws

    def _draw_size(self, n_smallest: int) -> int:
        """Return how many rows of each larger class a member gets."""
        if np.isinf(self.sampling_ratio):
            return self.n_rows
        return max(1, round(self.sampling_ratio * n_smallest))

    def _visible_counts(self, number: int) -> np.ndarray:
        """Return the rows of each class that a member may be trained on."""
        if not self.n_folds:
            return self.counts
        if self._fold_counts is None:
            arguments = (self.n_classes, self.n_folds)
            answers = self.place.ask(_parts.count_folds, self._drawn_from, args=arguments)
            self._fold_counts = np.sum(answers, axis=0)
        return self.counts - self._fold_counts[:, number % self.n_folds]

    def _limits(self, counts: np.ndarray) -> np.ndarray:
        """Return how many rows of each class a member gets, of so many that it may see."""
        limits = np.minimum(counts, self._draw_size(int(counts[self.minority])))
        limits[self.minority] = counts[self.minority]
        return limits if self.max_rows is None else np.minimum(limits, self.max_rows)

    def drawn_part(self) -> float:
        """Return the part of the training rows that one member gets."""
        return float(self._limits(self.counts).sum() / self.counts.sum())

    def draw(self, key: np.ndarray, number: int, rule=None) -> np.ndarray | None:
        """Return the numbers of the rows that `draw_parts` draws."""
        return self.numbers(self.draw_parts(key, number, rule))

    def draw_parts(self, key: np.ndarray, number: int, rule=None, growth=None) -> list:
        """Draw the smallest class and as many rows of each larger one (Algorithm 1).

        Parameters
        ----------
        key : ndarray
            Key of the row-addressed random numbers.
        number : int
            Number of the draw.
        rule : callable, default=None
            ``rule(growth, candidates, size)`` chooses ``size`` of the `Candidates`, the rows of one
            larger class. None draws uniformly.
        growth : Growth, default=None
            Whose member the rows are for; without it rules know no errors.

        Returns
        -------
        chosen : list
            The positions of the rows in each part, in ascending order, as the place keeps them.
        """
        place, parts = self.place, self._drawn_from
        fold = number % self.n_folds if self.n_folds else None
        counts = self._visible_counts(number)
        # With many classes all rows are needed in the end: their keys are computed once.
        whole = (
            place.make(_parts.all_keys, parts, args=(key, number)) if self.n_classes > 2 else None
        )
        n_members, sums = (0, None) if growth is None else (growth.n_members, growth.sums)
        chosen = []
        for k, (count, limit) in enumerate(zip(counts, self._limits(counts), strict=True)):
            request = Request(k, fold, "train", key, number, n_members)
            candidates = Candidates(place, parts, request, sums, whole)
            if count <= limit:
                chosen.append(candidates.all())
            elif rule is None or k == self.minority:
                chosen.append(candidates.smallest(int(limit)))
            else:
                chosen.append(rule(growth, candidates, int(limit)))
        return place.make(_parts.join_rows, parts, *chosen)

    def numbers(self, chosen: list) -> np.ndarray | None:
        """Return the numbers of drawn rows; None where they are too many to be brought here."""
        if not self.place.knows_rows:
            return None
        numbers = self.place.ask(_parts.numbers_of, self._drawn_from, chosen)
        return numbers[0] if len(numbers) == 1 else np.concatenate(numbers)

    def pieces(self, chosen: list, number: int, *, stops_early: bool) -> list:
        """Return what a member is fitted on, part by part."""
        stop_by: tuple | None = None
        scales = None
        if stops_early and self.n_folds:
            stop_by = ("valid", number % self.n_folds)
        elif stops_early and self.has_validation and not self.validation_is_apart:
            stop_by = ("valid", None)
        if stop_by is not None:
            scales = self.watched("valid").scales
        arguments = (self._mean_weights(), stop_by, scales, self.place.copies_rows)
        watches = self.watches()[: len(self._drawn_from)]
        return self.place.make(_parts.make_piece, self._drawn_from, chosen, watches, args=arguments)

    def _mean_weights(self) -> dict[int, float]:
        """Return the mean weight of each class that is drawn.

        There the rows' own weights have done their work in the draw: each drawn row stands for
        rows of the mean weight of its class.
        """
        if not self.has_weights:
            return {}
        sums, limits = self.class_weights(), self._limits(self.counts)
        return {k: sums[k] / count for k, count in enumerate(self.counts) if count > limits[k]}

    def member_weights(self, subset: np.ndarray) -> np.ndarray | None:
        """Return the weights with which rows in memory enter a member."""
        if self.weights is None:
            return None
        return _parts.member_weights(self.weights[subset], self.codes[subset], self._mean_weights())


def join_arrays(arrays: Sequence) -> Any:
    """Return the arrays of all parts as one; None if there are none."""
    return None if arrays[0] is None else np.concatenate(arrays)


def sum_of_parts(place, function, parts: list, k: int | None, count: int) -> float:
    """Return the sum of numbers that parts hold, the same however rows are cut into parts.

    Few numbers are brought together, and summed up in the order of their rows; of many the sum is
    exact.
    """
    if count <= MANY_ROWS:
        return float(np.concatenate(place.ask(function, parts, args=(k,))).sum())
    return float(sum(place.ask(_parts.exact_sum_of, parts, args=(function, k))))


def join_tables(X, below):
    """Return two tables of one kind as one, the rows of the first above those of the second."""
    if sparse.issparse(X) and sparse.issparse(below):
        return sparse.vstack([X, below], format="csr")
    if isinstance(X, np.ndarray) and isinstance(below, np.ndarray):
        return np.concatenate([X, below])
    if is_frame(X) and type(X) is type(below):
        if hasattr(X, "vstack"):  # polars
            import polars

            return polars.concat([X, below], how="vertical_relaxed")
        if hasattr(X, "iloc"):
            import pandas

            joined = pandas.concat([X, below], ignore_index=True)
            for name, kind in X.dtypes.items():
                if kind == "category" and joined[name].dtype != "category":
                    raise ValueError(
                        f"X and X_val are put into one table, but the categories of column "
                        f"{name!r} differ between them; give both the same."
                    )
            return joined
    raise ValueError(
        f"X and X_val are put into one table; X is a {type(X).__name__} and X_val a "
        f"{type(below).__name__}. Pass both as the same kind of table."
    )
