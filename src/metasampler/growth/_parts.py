"""Parts of the rows: each answers small questions, and the loop merges what they answer.

A question is a plain function whose first argument is a `Part`; it stands beside whoever asks it.
It changes nothing that another question could see, so that it may be asked again, in another
process or on another machine.

Parts are in a *place*, which holds one *cell* a part for each thing that is known of the parts. It
has two verbs: ``make`` fills new cells, ``ask`` brings answers to the loop. Here is the place in
memory, where a cell is the thing itself; `_places` has files, `metasampler.distributed` Dask.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from metasampler.growth._journal import Journal

__all__ = ["Memory", "Part", "Selector", "cut_part"]

# Up to so many rows the rows that a member may see are kept for every fold.
_FEW = 1 << 20

#: Numbers of rows in a part: all, those of a mask, or a list of them.
Selector = slice | np.ndarray


class Part:
    """Some rows of a task, with consecutive numbers.

    Parameters
    ----------
    table : table
        The rows, in the form that members take.
    codes : ndarray of int of shape (n_rows,)
        The class of every row.
    start : int, default=0
        The number of the first row.
    weights : ndarray of shape (n_rows,), default=None
        Positive weights.
    folds : ndarray of int of shape (n_rows,), default=None
        The fold of every row, if members leave folds out in rotation.
    roles : dict of str to slice or ndarray, default=None
        Which of the rows serve as ``"train"``, ``"valid"`` and ``"test"``; None: all train.
    original : ndarray of int of shape (n_rows,), default=None
        The numbers of the rows among all that the user passed, if some were left out.
    remembers : bool, default=False
        Whether the rows of a class are looked up once and kept, at eight bytes a row.
    """

    def __init__(
        self,
        table,
        codes,
        start=0,
        *,
        weights=None,
        folds=None,
        roles=None,
        original=None,
        remembers=False,
    ):
        self.table = table
        self.codes = codes
        self.start = start
        self.weights = weights
        self.folds = folds
        self.roles: dict[str, Selector] = {"train": slice(None)} if roles is None else roles
        self.original = original
        self.remembers = remembers
        #: Number of rows.
        self.n_rows = len(codes)
        self._known: dict = {}

    def __getstate__(self):
        return {**self.__dict__, "_known": {}}

    def with_(self, **changes) -> "Part":
        """Return the same rows with some of the constructor's arguments changed."""
        same = {k: v for k, v in self.__dict__.items() if k not in ("n_rows", "_known")}
        return Part(**{**same, **changes})

    def rows_of(self, k: int | None, fold: int | None = None, role: str = "train") -> np.ndarray:
        """Return the positions of a class's rows in a role, without those of a fold."""
        if (role, k, fold) in self._known:
            return self._known[role, k, fold]
        which = slice(None) if role == "all" else self.roles.get(role, slice(0))
        if fold is not None:
            rows = self.rows_of(k, None, role)
            assert self.folds is not None
            rows = rows[self.folds[rows] != fold]
        elif isinstance(which, slice) and which == slice(None) and k is not None:
            rows = np.flatnonzero(self.codes == k)
        else:
            rows = np.arange(self.n_rows)[which]
            rows = rows if k is None else rows[self.codes[rows] == k]
        often = role == "train" and fold is None
        if self.remembers and (often or self.n_rows <= _FEW):
            self._known[role, k, fold] = rows
        return rows


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
