"""The rows an ensemble grows on."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from metasampler._sklearn_compat import take_rows
from metasampler.growth._draw import RandomStreams, Stream, draw_rows, race_keys, race_keys_of
from metasampler.growth._scoring import bind_scorer
from metasampler.tables import is_frame

__all__ = ["GrowthData", "Selector", "join_tables"]

#: Chooses rows of one class: takes row numbers, their random keys and how many to choose.
Selector = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


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
        The labels.
    rows : dict of str to slice or ndarray
        Row numbers, or mask, of ``"train"`` and, where there are any, ``"valid"`` and ``"test"``.
    minority : int
        The smallest class, as a position in `classes`.
    sampling_ratio : float
        Rows drawn of each larger class per row of the smallest class.
    scoring : str or callable
        How validation and test rows are scored.
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
    """

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
        weights=None,
        original_rows=None,
        folds=None,
        form=None,
        table_maker=None,
    ):
        self.tables = tables
        self.codes = codes
        self.classes = classes
        self.rows = rows
        self.minority = minority
        self.sampling_ratio = sampling_ratio
        self.scoring = scoring
        self.weights = weights
        self.original_rows = original_rows
        self.folds = folds
        self.form = form
        self.table_maker = table_maker
        #: Folds that members leave out in rotation, or 0.
        self.n_folds = 0 if folds is None else int(folds.max()) + 1
        self.n_classes = len(classes)
        # Only rows of the first table can be drawn, and their numbers are their positions there.
        self.n_train_table = tables[0].shape[0]
        train = np.arange(len(codes))[rows["train"]]
        self.class_rows = [train[codes[train] == k] for k in range(self.n_classes)]
        self.draw_size = self._draw_size(self.class_rows)
        self._rotated: dict[int, list[np.ndarray]] = {}
        #: Whether there are validation rows.
        self.has_validation = "valid" in rows
        #: Whether they are a table of their own, which the user passed.
        self.validation_is_apart = self.has_validation and bool(
            np.arange(len(codes))[rows["valid"]][0] >= self.n_train_table
        )
        # An unknown scorer is found before any member is fitted.
        self.scorers = {role: self._bind(role) for role in rows if role != "train"}
        self._parts = {}

    # ------------------------------------------------------------------ other rows, same task

    def _with(self, **changes) -> "GrowthData":
        """Return the same task with some of the constructor's arguments changed."""
        same = {
            name: getattr(self, name)
            for name in (
                "tables",
                "codes",
                "classes",
                "rows",
                "minority",
                "sampling_ratio",
                "scoring",
                "weights",
                "original_rows",
                "folds",
                "form",
                "table_maker",
            )
        }
        return GrowthData(**{**same, **changes})

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

    def holding_out(self, rows: np.ndarray) -> "GrowthData":
        """Return the same task with these rows of the only table as its validation rows."""
        train = np.ones(len(self.codes), dtype=bool)
        train[rows] = False
        return self._with(rows={"train": train, "valid": rows}, folds=None)

    def holding_out_a_fold(self) -> "GrowthData":
        """Return the same task with one fold held out from all members, instead of rotation."""
        return self if self.folds is None else self.holding_out(np.flatnonzero(self.folds == 0))

    def parts_of_training(self, n_parts: int, streams: RandomStreams) -> list[np.ndarray]:
        """Return the training rows in parts, each with its share of every class."""
        key = streams.row_key(Stream.SPLIT)
        parts: list[list] = [[] for _ in range(n_parts)]
        for rows in self.class_rows:
            # Number 0 was the split into training and validation rows.
            shuffled = rows[np.argsort(race_keys_of(key, 1, rows))]
            for number, part in enumerate(parts):
                part.append(shuffled[number::n_parts])
        joined = [np.sort(np.concatenate(part)) for part in parts]
        return [rows for rows in joined if len(rows)]

    # ------------------------------------------------------------------ questions

    def part(self, role: str, part: str):
        """Return the row numbers of a part ("all", "minority", "majority") of a role's rows."""
        if part == "all":
            return self.rows[role]
        if (role, part) not in self._parts:
            numbers = np.arange(len(self.codes))[self.rows[role]]
            is_minority = self.codes[numbers] == self.minority
            self._parts[role, part] = numbers[is_minority == (part == "minority")]
        return self._parts[role, part]

    def scorer(self, role: str):
        """Return the function that scores the probabilities of the rows in a role."""
        if role not in self.scorers:
            self.scorers[role] = self._bind(role)
        return self.scorers[role]

    def _bind(self, role: str):
        rows = self.rows[role]
        weights = None if self.weights is None else self.weights[rows]
        return bind_scorer(self.scoring, self.codes[rows], self.classes, self.minority, weights)

    def to_original(self, subset: np.ndarray) -> np.ndarray:
        """Return row numbers among the rows the user passed."""
        return subset if self.original_rows is None else self.original_rows[subset]

    def from_original(self, rows: np.ndarray) -> np.ndarray:
        """Return row numbers here, given those of rows the user passed."""
        return rows if self.original_rows is None else np.searchsorted(self.original_rows, rows)

    def class_weights(self) -> np.ndarray:
        """Return the total weight of each class in the training rows."""
        if self.weights is None:
            return np.array([float(len(rows)) for rows in self.class_rows])
        return np.array([self.weights[rows].sum() for rows in self.class_rows])

    # ------------------------------------------------------------------ draws

    def _draw_size(self, class_rows: list[np.ndarray]) -> int:
        """Return how many rows of each larger class a member gets."""
        n_smallest = len(class_rows[self.minority])
        if np.isinf(self.sampling_ratio):
            return len(self.codes)
        return max(1, round(self.sampling_ratio * n_smallest))

    def visible(self, number: int) -> list[np.ndarray]:
        """Return the rows of each class that a member may be trained on."""
        if not self.n_folds:
            return self.class_rows
        fold = number % self.n_folds
        if fold not in self._rotated:
            self._rotated[fold] = [rows[self.folds[rows] != fold] for rows in self.class_rows]
        return self._rotated[fold]

    def unseen(self, number: int) -> np.ndarray | None:
        """Return the rows of the first table that a member must not see; None if there are none."""
        if self.n_folds:
            return np.flatnonzero(self.folds == number % self.n_folds)
        return self.rows["valid"] if isinstance(self.rows.get("valid"), np.ndarray) else None

    def for_team(self, sampling_ratio: float, table_maker=None) -> "GrowthData":
        """Return the same rows with other draws and, if need be, in another form."""
        tables = self.tables
        if table_maker is not None:
            tables = [table_maker(table) for table in tables]
        return self._with(tables=tables, sampling_ratio=sampling_ratio, table_maker=table_maker)

    def draw(self, key: np.ndarray, number: int, select: Selector | None = None) -> np.ndarray:
        """Draw the smallest class and as many rows of each larger one (Algorithm 1).

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
        chosen, class_rows = [], self.visible(number)
        size = self._draw_size(class_rows) if self.n_folds else self.draw_size
        # With many classes all rows are needed in the end: their keys are computed once.
        whole = race_keys(key, number, 0, self.n_train_table) if self.n_classes > 2 else None
        for k, rows in enumerate(class_rows):
            if k == self.minority or len(rows) <= size:
                chosen.append(rows)
                continue
            keys = race_keys_of(key, number, rows) if whole is None else whole[rows]
            if self.weights is not None:
                keys -= np.log(self.weights[rows])
            if select is None:
                chosen.append(rows[draw_rows(keys, size)])
            else:
                chosen.append(select(rows, keys, size))
        subset = np.concatenate(chosen)
        subset.sort()
        return subset

    def member_weights(self, subset: np.ndarray) -> np.ndarray | None:
        """Return the weights with which the rows of a subset enter a member.

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

    def drawn_shares(self, subset: np.ndarray, *, weighted: bool) -> np.ndarray:
        """Return the share of each class in what a member was trained on."""
        weights = self.member_weights(subset) if weighted else None
        totals = np.bincount(self.codes[subset], weights, self.n_classes)
        return totals / totals.sum()


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
