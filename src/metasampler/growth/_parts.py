"""Parts of the rows: each answers small questions, and the loop merges what they answer.

A question is a plain function whose first argument is a `Part`. It changes nothing that another
question could see, so that it may be asked again, in another process or on another machine.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from metasampler import tables
from metasampler._sklearn_compat import take_rows
from metasampler.growth._draw import draw_rows, race_keys, race_keys_of
from metasampler.growth._weights import exact_sum

__all__ = [
    "Part",
    "Piece",
    "Request",
    "Sums",
    "add_member",
    "class_keys",
    "count_classes",
    "least_of",
    "look_at",
    "make_piece",
    "start_sums",
]

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
        self._known: dict = {}

    def __getstate__(self):
        return {**self.__dict__, "_known": {}}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def with_(self, **changes) -> "Part":
        """Return the same rows with some of the constructor's arguments changed."""
        same = {name: value for name, value in self.__dict__.items() if name != "_known"}
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
        if self.remembers and self.n_rows <= _FEW:
            self._known[role, k, fold] = rows
        return rows

    def remember(self, role: str, class_rows: list[np.ndarray]) -> None:
        """Keep the positions of the rows of each class, which somebody knows already."""
        self._known.update({(role, k, None): rows for k, rows in enumerate(class_rows)})

    def race(self, rows: np.ndarray, key: np.ndarray, number: int) -> np.ndarray:
        """Return the keys of some rows in a draw."""
        return race_keys_of(key, number, rows + self.start if self.start else rows)


class Request(NamedTuple):
    """Which rows a draw is about, and where their random keys come from."""

    #: The class; None for rows of all.
    k: Any
    fold: int | None
    role: str
    key: np.ndarray
    number: int
    n_members: int = 0
    weighted: bool = True


# ---------------------------------------------------------------------- sums over the members


class Sums(NamedTuple):
    """What a growth knows of the rows of one part: sums of the members' probabilities.

    Attributes
    ----------
    total : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Of all rows, by the members as they are. Two classes need the probability of class 1 only.
    soft : dict of str to ndarray
        Of the watched rows of a role, by soft leaves; empty if there are none.
    """

    total: np.ndarray
    soft: dict[str, np.ndarray]


def start_sums(part: Part, watch: dict, n_classes: int, soft_roles: tuple) -> Sums:
    """Return the sums over no members."""
    width = () if n_classes == 2 else (n_classes,)
    total = np.zeros((part.n_rows, *width))
    soft = {
        role: np.zeros((len(total[watch[role]]), *width)) for role in soft_roles if role in watch
    }
    return Sums(total, soft)


def add_member(part: Part, watch: dict, sums: Sums, learner, member, in_place: bool) -> Sums:
    """Return the sums with one more member."""
    if not in_place:
        sums = Sums(sums.total.copy(), {role: each.copy() for role, each in sums.soft.items()})
    soft = [(watch[role], each) for role, each in sums.soft.items() if len(each)]
    learner.add_probabilities(member, part.table, sums.total, soft)
    return sums


def scores_of_fold(part: Part, watch: dict, learner, member, fold: int, role: str) -> np.ndarray:
    """Return a member's probabilities, by soft leaves, of the watched rows of a fold."""
    assert part.folds is not None
    rows = np.arange(part.n_rows)[watch[role]]
    rows = rows[part.folds[rows] == fold]
    proba = np.zeros(len(rows) if learner.n_classes == 2 else (len(rows), learner.n_classes))
    if len(rows):
        learner.add_scores(member, take_rows(part.table, rows), proba)
    return proba


def watched_sums(part: Part, watch: dict, sums: Sums, role: str, soft: bool) -> np.ndarray:
    """Return the sums of the watched rows of a role."""
    return sums.soft[role] if soft else sums.total[watch[role]]


def class_errors(sums: Sums, rows: np.ndarray, k: int, n_members: int) -> np.ndarray:
    """Return 1 - p(true class) of rows of one class, as a new array."""
    if sums.total.ndim == 1:
        errors = sums.total[rows]
        if k == 1:
            # Sums before the division: they are exact where leaves are pure.
            np.subtract(n_members, errors, out=errors)
    else:
        errors = n_members - sums.total[rows, k]
    errors /= n_members
    return errors


# ---------------------------------------------------------------------- draws


def all_keys(part: Part, key: np.ndarray, number: int) -> np.ndarray:
    """Return the random keys of all rows."""
    return race_keys(key, number, part.start, part.start + part.n_rows)


def class_keys(part: Part, sums, whole, request: Request, adjust=None, args=()) -> np.ndarray:
    """Return the keys of the rows of a request; ``adjust`` changes them by the errors."""
    rows = part.rows_of(request.k, request.fold, request.role)
    keys = part.race(rows, request.key, request.number) if whole is None else whole[rows]
    if part.weights is not None and request.weighted:
        keys -= np.log(part.weights[rows])
    if adjust is not None and len(rows):
        keys = adjust(keys, class_errors(sums, rows, request.k, request.n_members), *args)
    return keys


def least_of(part: Part, sums: Sums, request: Request, function, args) -> float:
    """Return the smallest value of a function of the errors."""
    rows = part.rows_of(request.k, request.fold, request.role)
    errors = class_errors(sums, rows, request.k, request.n_members)
    return float(function(errors, *args).min(initial=np.inf))


# Bins of keys have this width, from -64 to 64: a bin holds about a 64th of what is drawn.
_BINS_A_UNIT, _FARTHEST = 64, 64


def _bins(keys: np.ndarray) -> np.ndarray:
    bounded = np.clip(keys, -_FARTHEST, np.nextafter(_FARTHEST, 0))
    return ((bounded + _FARTHEST) * _BINS_A_UNIT).astype(np.int16)


def count_keys(part: Part, keys: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the number of keys in each bin, from the first bin that has any."""
    if not len(keys):
        return 0, np.zeros(0, dtype=np.int64)
    bins = _bins(keys)
    first = int(bins.min())
    return first, np.bincount(bins - first)


def keys_in_bin(part: Part, keys: np.ndarray, request: Request, which: int) -> tuple:
    """Return the keys in one bin and the numbers of their rows."""
    near = np.flatnonzero(_bins(keys) == which)
    rows = part.rows_of(request.k, request.fold, request.role)
    return keys[near], rows[near] + part.start


def up_to(part: Part, keys: np.ndarray, request: Request, last: float, last_row: int) -> np.ndarray:
    """Return the positions of rows with keys up to the last one, of equal ones by their number."""
    rows = part.rows_of(request.k, request.fold, request.role)
    chosen = keys < last
    chosen |= (keys == last) & (rows + part.start <= last_row)
    return rows[chosen]


def smallest_of(part: Part, keys: np.ndarray, request: Request, size: int) -> np.ndarray:
    """Return the positions of the rows with the smallest keys of this part."""
    return part.rows_of(request.k, request.fold, request.role)[draw_rows(keys, size)]


def all_of(part: Part, request: Request) -> np.ndarray:
    """Return the positions of all rows of a request."""
    return part.rows_of(request.k, request.fold, request.role)


def pick_of(part: Part, sums, whole, request: Request, pick, args) -> np.ndarray:
    """Return the positions that ``pick(rows, keys, errors)`` chooses of the only part."""
    rows = part.rows_of(request.k, request.fold, request.role)
    keys = class_keys(part, sums, whole, request)
    errors = None if sums is None else class_errors(sums, rows, request.k, request.n_members)
    return rows[pick(rows, keys, errors, *args)]


def join_rows(part: Part, *chosen: np.ndarray) -> np.ndarray:
    """Return the chosen rows of all classes, in ascending order."""
    rows = np.concatenate(chosen)
    rows.sort()
    return rows


def numbers_of(part: Part, rows: np.ndarray) -> np.ndarray:
    """Return the numbers of rows among all that the user passed, given their positions."""
    if part.original is not None:
        return part.original[rows]
    return rows + part.start if part.start else rows


# ---------------------------------------------------------------------- what a member is fitted on


class Piece(NamedTuple):
    """What one part gives to a member: rows to train on, and rows to stop by."""

    table: Any
    codes: np.ndarray
    #: Positions in table and codes; None for all of them, in copies.
    rows: np.ndarray | None
    weights: np.ndarray | None
    unseen: np.ndarray | None = None
    unseen_weights: np.ndarray | None = None


def make_piece(
    part: Part, rows: np.ndarray, watch: dict, means: dict, stop_by, scales, copied: bool
) -> Piece:
    """Return what a member gets of one part.

    Parameters
    ----------
    part : Part
    rows : ndarray of int
        The positions of the rows it is trained on.
    watch : dict
        The watched rows of each role.
    means : dict of int to float
        The mean weight of each class that is drawn: the weights of its rows have done their work
        in the draw, and each row stands for rows of that weight.
    stop_by : tuple or None
        Role and fold of the rows to stop by.
    scales : ndarray or None
        How many rows each watched row of a class stands for.
    copied : bool
        Whether the piece holds copies of its rows, and no more.
    """
    codes = part.codes[rows]
    weights = None
    if part.weights is not None:
        weights = member_weights(part.weights[rows], codes, means)
    unseen = unseen_weights = None
    if stop_by is not None:
        role, fold = stop_by
        unseen = np.arange(part.n_rows)[watch.get(role, slice(0))]
        if fold is not None:
            assert part.folds is not None
            unseen = unseen[part.folds[unseen] == fold]
        unseen_weights = weights_at(part, unseen, scales)
    if not copied:
        return Piece(part.table, part.codes, rows, weights, unseen, unseen_weights)
    n_trained = len(rows)
    if unseen is not None:
        rows = np.concatenate([rows, unseen])
        unseen = np.arange(n_trained, len(rows))
    table = take_rows(part.table, rows)
    return Piece(table, part.codes[rows], np.arange(n_trained), weights, unseen, unseen_weights)


def member_weights(weights: np.ndarray, codes: np.ndarray, means: dict) -> np.ndarray:
    """Return the weights of rows, and of classes that are drawn their mean weights."""
    weights = weights.astype(float)
    for k, mean in means.items():
        weights[codes == k] = mean
    return weights


def weights_at(part: Part, rows: np.ndarray, scales: np.ndarray | None) -> np.ndarray | None:
    """Return the weights of rows, times what each stands for; None if all count the same."""
    weights = None if part.weights is None else part.weights[rows]
    if scales is None:
        return weights
    factors = scales[part.codes[rows]]
    return factors if weights is None else weights * factors


# ---------------------------------------------------------------------- looks at rows


def count_classes(part: Part, n_classes: int, role: str) -> np.ndarray:
    """Return the number of rows of each class in a role."""
    which = slice(None) if role == "all" else part.roles.get(role, slice(0))
    return np.bincount(part.codes[which], minlength=n_classes)


def role_rows(part: Part, role: str) -> Selector:
    """Return the positions of the rows in a role."""
    if role == "all" or isinstance(part.roles.get(role), slice):
        return slice(None)
    return part.rows_of(None, None, role)


def add_watch(watch: dict, rows: Selector, role: str) -> dict:
    """Return the watched rows with those of one more role."""
    return {**watch, role: rows}


def weights_of_class(part: Part, k: int) -> np.ndarray:
    """Return the weights of the training rows of a class."""
    assert part.weights is not None
    return part.weights[part.rows_of(k)]


def exact_sum_of(part: Part, function, *args) -> Fraction:
    """Return the exact sum of the numbers that a question is answered with."""
    return exact_sum(function(part, *args))


def count_folds(part: Part, n_classes: int, n_folds: int) -> np.ndarray:
    """Return the number of rows of each class and fold."""
    assert part.folds is not None
    pairs = part.codes.astype(np.intp) * n_folds + part.folds
    return np.bincount(pairs, minlength=n_classes * n_folds).reshape(n_classes, n_folds)


def look_at(part: Part, rows: Selector) -> tuple:
    """Return numbers, classes, weights and folds of rows."""
    numbers = np.arange(part.start, part.start + part.n_rows)[rows]
    weights = None if part.weights is None else part.weights[rows]
    return numbers, part.codes[rows], weights, None if part.folds is None else part.folds[rows]


def lowest_values(part: Part) -> np.ndarray:
    """Return the lowest number of each column; infinity if it has none."""
    blocks = (slice(start, start + _FEW) for start in range(0, max(part.n_rows, 1), _FEW))
    return np.min([tables.lowest_values(take_rows(part.table, rows)) for rows in blocks], axis=0)


def take_part_rows(part: Part, rows: np.ndarray):
    """Return rows of the table."""
    return take_rows(part.table, rows)
