"""The rows an ensemble grows on."""

import warnings
from collections.abc import Callable

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._sampling import draw_rows, race_keys, race_keys_of
from metasampler.growth._scoring import bind_scorer
from metasampler.growth._tables import join_tables

__all__ = ["GrowthData", "Selector", "split_rows"]

#: Chooses rows of one class: takes row numbers, their random keys and how many to choose.
Selector = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def split_rows(codes: np.ndarray, n_classes: int, fraction: float, streams: RandomStreams):
    """Class-wise random split that leaves every class on both sides.

    By hand because scikit-learn's stratified split may leave a rare class without any
    validation row, and because rows are chosen by number, as in every other draw.

    Returns
    -------
    train : ndarray of bool
        Mask of the training rows.
    valid : ndarray of int
        Numbers of the validation rows, in ascending order.
    """
    key = streams.row_key(Stream.SPLIT)
    held_out = np.zeros(len(codes), dtype=bool)
    for k in range(n_classes):
        rows = np.flatnonzero(codes == k)
        size = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        held_out[rows[draw_rows(race_keys_of(key, 0, rows), size)]] = True
    # Most rows are training rows: a mask takes an eighth of the memory of their numbers.
    return ~held_out, np.flatnonzero(held_out)


class GrowthData:
    """The rows an ensemble grows on: fixed, and shared by all episodes on one task.

    The rows of all tables are numbered through, so that one vector holds what is known of
    each row. A validation part of the training table is a set of row numbers, not a copy.

    Parameters
    ----------
    tables : list of table
        Training rows first, then validation and test rows if they are tables of their own.
    codes : ndarray of shape (n_rows,)
        Class of every row of every table, as a position in `classes`.
    classes : ndarray of shape (n_classes,)
    rows : dict of str to slice or ndarray
        Row numbers, or mask, of ``"train"`` and, where there are any, ``"valid"`` and ``"test"``.
    sampling_ratio : float
        Rows drawn of each larger class per row of the smallest class.
    scoring : str or callable
    weights : ndarray of shape (n_rows,), default=None
        Positive weights of all rows.
    original_rows : ndarray of int, default=None
        For each row its number among the rows the user passed, if some of them were left out.
    minority : int, default=None
        The smallest class; None means the one with the fewest rows in the first table.
    """

    def __init__(
        self,
        tables,
        codes,
        classes,
        rows,
        *,
        sampling_ratio,
        scoring,
        weights=None,
        original_rows=None,
        minority=None,
    ):
        self.tables = tables
        self.original_rows = original_rows
        self.weights = weights
        self.codes = codes
        self.classes = classes
        self.n_classes = len(classes)
        self.rows = rows
        self.sampling_ratio = sampling_ratio
        self.scoring = scoring
        numbers = np.arange(len(codes))
        train = numbers[rows["train"]]
        # Only rows of the first table can be drawn, and their numbers are their positions there.
        self.n_train_table = tables[0].shape[0]
        self.class_rows = [train[codes[train] == k] for k in range(self.n_classes)]
        sizes = np.array([len(members) for members in self.class_rows])
        if minority is None:
            # Counted before the split. Of equally small classes the last is the minority, as 1 is
            # of 0 and 1.
            counts = np.bincount(codes[: self.n_train_table], minlength=self.n_classes)
            minority = self.n_classes - 1 - int(np.argmin(counts[::-1]))
        self.minority = minority
        self.draw_size = max(1, round(sampling_ratio * sizes[self.minority]))
        others = np.delete(sizes, self.minority)
        if np.any(others < self.draw_size):
            warnings.warn(
                f"sampling_ratio={sampling_ratio} asks for {self.draw_size} rows of each larger "
                f"class, but one has only {others.min()}; all of its rows are taken.",
                UserWarning,
                stacklevel=2,
            )
        self._parts = {}
        self._scorers = {}
        self._taken = {}

    def thinned(self, ratio: float, streams: RandomStreams) -> "GrowthData":
        """The same task with a part of the training rows of each class, at least one.

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
        rows = {role: number[old[which][keep[old[which]]]] for role, which in self.rows.items()}
        table = take_rows(self.tables[0], np.flatnonzero(keep[: self.n_train_table]))
        with warnings.catch_warnings():
            # A ratio that is too large has been reported for the whole data.
            warnings.simplefilter("ignore", UserWarning)
            return GrowthData(
                [table, *self.tables[1:]],
                self.codes[keep],
                self.classes,
                rows,
                sampling_ratio=self.sampling_ratio,
                scoring=self.scoring,
                weights=None if self.weights is None else self.weights[keep],
            )

    def whole(self) -> "GrowthData":
        """The same task with the validation rows among the training rows, and none held out.

        The rows keep their numbers. Validation rows that are a table of their own are put below
        the others, in a copy of both.
        """
        table = self.tables[0]
        if self._table_of("valid"):
            table = join_tables(table, self.tables[1])
        n_rows = table.shape[0]
        with warnings.catch_warnings():
            # A ratio that is too large has been reported already.
            warnings.simplefilter("ignore", UserWarning)
            return GrowthData(
                [table],
                self.codes[:n_rows],
                self.classes,
                {"train": slice(0, n_rows)},
                sampling_ratio=self.sampling_ratio,
                scoring=self.scoring,
                weights=None if self.weights is None else self.weights[:n_rows],
                original_rows=self.original_rows,
                minority=self.minority,
            )

    def holding_out(self, rows: np.ndarray) -> "GrowthData":
        """The same task with these rows of the only table as its validation rows."""
        train = np.ones(len(self.codes), dtype=bool)
        train[rows] = False
        with warnings.catch_warnings():
            # A ratio that is too large has been reported already.
            warnings.simplefilter("ignore", UserWarning)
            return GrowthData(
                self.tables,
                self.codes,
                self.classes,
                {"train": train, "valid": rows},
                sampling_ratio=self.sampling_ratio,
                scoring=self.scoring,
                weights=self.weights,
                original_rows=self.original_rows,
                minority=self.minority,
            )

    def take(self, role: str) -> tuple:
        """The rows in a role other than training: their table, and their classes."""
        if role not in self._taken:
            rows = self.rows[role]
            number = self._table_of(role)
            table = self.tables[number] if number else take_rows(self.tables[0], rows)
            self._taken[role] = table, self.codes[rows]
        return self._taken[role]

    def _table_of(self, role: str) -> int:
        """Number of the table that the rows in a role lie in: the first, or one of their own."""
        rows = self.rows[role]
        first = rows.start if isinstance(rows, slice) else rows[0]
        ends = np.cumsum([table.shape[0] for table in self.tables])
        return int(np.searchsorted(ends, first, side="right"))

    def part(self, role: str, part: str):
        """Row numbers of a part ("all", "minority", "majority") of the rows in a role."""
        if part == "all":
            return self.rows[role]
        if (role, part) not in self._parts:
            numbers = np.arange(len(self.codes))[self.rows[role]]
            is_minority = self.codes[numbers] == self.minority
            self._parts[role, part] = numbers[is_minority == (part == "minority")]
        return self._parts[role, part]

    def scorer(self, role: str):
        """Function that scores the probabilities of the rows in a role."""
        if role not in self._scorers:
            rows = self.rows[role]
            weights = None if self.weights is None else self.weights[rows]
            self._scorers[role] = bind_scorer(
                self.scoring, self.codes[rows], self.classes, self.minority, weights
            )
        return self._scorers[role]

    @property
    def has_validation(self) -> bool:
        """Whether there are validation rows."""
        return "valid" in self.rows

    def to_original(self, subset: np.ndarray) -> np.ndarray:
        """Row numbers among the rows the user passed."""
        return subset if self.original_rows is None else self.original_rows[subset]

    def from_original(self, rows: np.ndarray) -> np.ndarray:
        """Row numbers here, of rows the user passed."""
        return rows if self.original_rows is None else np.searchsorted(self.original_rows, rows)

    def member_weights(self, subset: np.ndarray) -> np.ndarray | None:
        """Weights with which the rows of a subset enter a member.

        Where a class is drawn, its rows' weights have done their work in the draw: each drawn
        row stands for rows of the mean weight of its class.
        """
        if self.weights is None:
            return None
        weights = self.weights[subset].astype(float)
        codes = self.codes[subset]
        for k, rows in enumerate(self.class_rows):
            if k != self.minority and len(rows) > self.draw_size:
                weights[codes == k] = self.weights[rows].mean()
        return weights

    def class_weights(self) -> np.ndarray:
        """Total weight of each class in the training rows."""
        if self.weights is None:
            return np.array([float(len(rows)) for rows in self.class_rows])
        return np.array([self.weights[rows].sum() for rows in self.class_rows])

    def drawn_shares(self, subset: np.ndarray, *, weighted: bool) -> np.ndarray:
        """Share of each class in what a member was trained on, with or without weights."""
        weights = self.member_weights(subset) if weighted else None
        totals = np.bincount(self.codes[subset], weights, self.n_classes)
        return totals / totals.sum()

    def draw(self, key: np.ndarray, number: int, select: Selector | None = None) -> np.ndarray:
        """Balanced subset: the smallest class, and as many rows of each larger one (Algorithm 1).

        Parameters
        ----------
        key : ndarray
            Key of the row-addressed random numbers.
        number : int
            Number of the draw.
        select : callable, default=None
            ``select(rows, keys, size)`` chooses ``size`` of the ``rows`` of one larger class,
            given their random ``keys`` (which it may change). None draws uniformly.

        Returns
        -------
        subset : ndarray of int
            Row numbers, in ascending order.
        """
        chosen = []
        # With many classes all rows are needed in the end: their keys are computed once.
        whole = race_keys(key, number, 0, self.n_train_table) if self.n_classes > 2 else None
        for k, rows in enumerate(self.class_rows):
            if k == self.minority or len(rows) <= self.draw_size:
                chosen.append(rows)
                continue
            keys = race_keys_of(key, number, rows) if whole is None else whole[rows]
            if self.weights is not None:
                keys -= np.log(self.weights[rows])
            if select is None:
                chosen.append(rows[draw_rows(keys, self.draw_size)])
            else:
                chosen.append(select(rows, keys, self.draw_size))
        subset = np.concatenate(chosen)
        subset.sort()
        return subset
