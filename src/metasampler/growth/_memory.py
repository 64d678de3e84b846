"""Rows in memory: how they are put together, and the same task with other rows."""

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import joblib
import numpy as np
from scipy import sparse

from metasampler._sklearn_compat import take_rows
from metasampler.growth._data import GrowthData, Part
from metasampler.growth._draw import (
    RandomStreams,
    Stream,
    deal,
    draw_rows,
    draw_subset,
    race_keys_of,
)
from metasampler.growth._journal import Journal
from metasampler.growth._pieces import find_rows, member_weights
from metasampler.growth._stacked import join_frames
from metasampler.tables import TreeTable, is_frame, lowest_values

__all__ = ["Memory", "RowsInMemory", "fingerprint", "join_tables"]


class Memory:
    """The place of parts in memory."""

    #: Whether questions may change sums where they are, instead of making new ones.
    in_place = True

    #: Whether the loop may ask for the numbers of all rows that members were trained on.
    knows_rows = True

    #: Whether a piece for a member holds copies of its rows.
    copies_rows = False

    #: Remembers members for whoever begins the fit again.
    journal: Journal | None = None

    def make(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return a cell for each part: what the function makes of the cells given.

        A cell that is a list holds cells of several parts: the function gets them together.
        """
        return [function(*each, *args) for each in zip(*cells, strict=True)]

    #: Return the answer of each part: in memory a cell is the thing itself.
    ask = make

    def new_paths(self, n_paths: int) -> list[Path] | None:
        """Return paths of files for the tables of parts; None keeps them where the parts are."""
        return None

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        """Leave nothing behind: a fit is over, or has failed."""


class RowsInMemory(GrowthData):
    """The rows an ensemble grows on, in memory: each table is one part.

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
    weights : ndarray of shape (n_rows,), default=None
        Positive weights of all rows.
    original_rows : ndarray of int, default=None
        For each row its number among the rows the user passed, if some of them were left out.
    folds : ndarray of int of shape (n_rows,), default=None
        The fold of every training row. Members then leave the folds out in rotation: member i
        does not see fold ``i % n_folds``, and the training rows are validation rows too, each for
        the members that have not seen it.
    **settings
        Those of `GrowthData`, from `minority` on.
    """

    def __init__(
        self,
        tables,
        codes,
        classes,
        rows,
        *,
        weights=None,
        original_rows=None,
        folds=None,
        same_rows_as=None,
        **settings,
    ):
        self.codes = codes
        self.rows = rows
        self.weights = weights
        self.original_rows = original_rows
        self.folds = folds
        self._arguments = {
            "tables": tables,
            "codes": codes,
            "classes": classes,
            "rows": rows,
            "weights": weights,
            "original_rows": original_rows,
            "folds": folds,
            **settings,
        }
        place = Memory()
        starts = np.cumsum([0, *(table.shape[0] for table in tables)]).tolist()
        arguments = (codes, rows, weights, folds, original_rows)
        parts = place.make(cut_part, tables, starts[:-1], args=arguments)
        # Only rows of the first table can be drawn, and their numbers are their positions there.
        self.class_rows = [parts[0].rows_of(k) for k in range(len(classes))]
        super().__init__(
            place,
            parts,
            tables,
            classes,
            n_rows=len(codes),
            n_train_table=tables[0].shape[0],
            n_drawn_parts=1,
            roles=tuple(rows),
            counts=np.array([len(of) for of in self.class_rows]),
            n_folds=0 if folds is None else int(folds.max()) + 1,
            has_weights=weights is not None,
            validation_is_apart="valid" in rows and "valid" not in parts[0].roles,
            same_rows_as=same_rows_as,
            **settings,
        )

    # ------------------------------------------------------------------ other rows, same task

    def _with(self, **changes) -> "RowsInMemory":
        """Return the same task with some of the constructor's arguments changed."""
        return RowsInMemory(**{**self._arguments, **changes})

    def thinned(self, ratio: float, streams: RandomStreams) -> "RowsInMemory":
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

    def whole(self) -> "RowsInMemory":
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

    def holding_out(self, rows) -> "RowsInMemory":
        """Return the same task with these rows of the only table as its validation rows."""
        train = np.ones(len(self.codes), dtype=bool)
        train[rows] = False
        return self._with(rows={"train": train, "valid": rows}, folds=None)

    def holding_out_a_fold(self) -> "RowsInMemory":
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

    def for_team(self, sampling_ratio: float, *, trees: bool = False) -> "RowsInMemory":
        """Return the same rows with other draws and, for trees, in the form they take fastest."""
        tables, maker = self.tables, None
        if trees:
            maker = TreeTable(lowest_values(self.tables[0]))
            tables = [maker(table) for table in tables]
        changes = {"tables": tables, "sampling_ratio": sampling_ratio, "table_maker": maker}
        return self._with(same_rows_as=self, **changes)

    # ------------------------------------------------------------------ for others than the loop

    def draw(self, key: np.ndarray, number: int, rule=None) -> np.ndarray:
        """Return the rows of the first table that `draw_subset` draws, by their positions."""
        return find_rows(self.place, self.drawn_parts, draw_subset(self, key, number, rule))[0]

    def member_weights(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the weights with which some rows enter a member."""
        if self.weights is None:
            return None
        return member_weights(self.weights[rows], self.codes[rows], self.mean_weights)

    def to_original(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers of some rows among the rows the user passed."""
        return rows if self.original_rows is None else self.original_rows[rows]

    def fingerprints(self) -> dict[str, Any]:
        """Return short texts that tell these rows, labels and weights from others."""
        return {
            "y": fingerprint(self.codes),
            "sample_weight": None if self.weights is None else fingerprint(self.weights),
            "X": [fingerprint(table) for table in self.tables],
        }


def cut_part(table, start: int, codes, rows: dict, weights, folds, original) -> Part:
    """Return a table in memory as a part, given what is known of the rows of all tables."""
    stop = start + table.shape[0]
    roles: dict = {}
    for role, which in rows.items():
        if isinstance(which, slice):
            if which.start <= start and stop <= which.stop:
                roles[role] = slice(None)
            continue
        numbers = np.flatnonzero(which) if which.dtype == bool else which
        inside = numbers[slice(*np.searchsorted(numbers, (start, stop)))]
        if len(inside):
            roles[role] = inside - start
    arrays = {"weights": weights, "folds": folds, "original": original}
    own = {name: None if of is None else of[start:stop] for name, of in arrays.items()}
    return Part(table, codes[start:stop], start, roles=roles, remembers=True, **own)


def fingerprint(table) -> str:
    """Return a short text that tables with other values do not have."""
    if sparse.issparse(table):
        table = table.tocsr()
        return " ".join(map(fingerprint, (table.data, table.indices, table.indptr)))
    if isinstance(table, np.ndarray) and not table.dtype.hasobject:
        # A checksum: it is to find mistakes, and every fit reads its whole table for it.
        head = crc32(f"{table.shape} {table.dtype}".encode())
        return f"{crc32(np.ascontiguousarray(table).data, head):08x}"
    if hasattr(table, "columns"):
        # By column: how a frame keeps its columns together is no part of it.
        parts = [joblib.hash((str(name), np.asarray(table[name]))) for name in table.columns]
        return blake2b(" ".join(parts).encode(), digest_size=8).hexdigest()
    return joblib.hash(table)


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
            return join_frames([X, below])
    raise ValueError(
        f"X and X_val are put into one table; X is a {type(X).__name__} and X_val a "
        f"{type(below).__name__}. Pass both as the same kind of table."
    )
