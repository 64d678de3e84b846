"""Draws: the rows with the smallest keys, and the subset of a member.

The rows of a member (Algorithm 1) are drawn class by class, from `Candidates`. Who draws never sees
the rows themselves, which may be in several parts, in files or on other machines; `_merging` has
what only several parts need.
"""

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metasampler.growth._merging import (
    SmallKeys,
    groups_of_all,
    last_of_smallest,
    least_of_all,
    up_to,
)
from metasampler.growth._streams import race_keys, race_keys_of

if TYPE_CHECKING:
    from metasampler.growth._data import GrowthData, Part

#: Width of the Gaussian over errors that the paper recommends.
DEFAULT_SIGMA = 0.2

# Above so many keys the smallest are looked for among those below a bound, which the keys of some
# rows give.
_MANY, _SOME = 1 << 16, 1 << 12


def draw_rows(keys: np.ndarray, size: int) -> np.ndarray:
    """Return the positions of the ``size`` smallest keys, in ascending order.

    With keys ``race_keys(...) - log_weights`` this is a weighted draw without replacement: every
    row runs for an exponential time whose rate is its weight, and the first to arrive are drawn. It
    takes linear time and no normalised weights. Of equal keys the first count.
    """
    if size >= len(keys):
        return np.arange(len(keys))
    if size < 1:
        return np.empty(0, dtype=np.intp)
    if len(keys) > _MANY and size < len(keys) // 4:
        # Most keys are far from being drawn: a bound on the last one leaves few to look at.
        some = np.sort(keys[:: len(keys) // _SOME])
        rank = int(1.3 * size * len(some) / len(keys)) + 50
        near = np.flatnonzero(keys <= some[min(rank, len(some) - 1)])
        if size < len(near):
            return near[_smallest(keys[near], size)]
    return _smallest(keys, size)


def _smallest(keys: np.ndarray, size: int) -> np.ndarray:
    parted = np.argpartition(keys, size)
    positions = parted[:size]
    last = keys[positions].max()
    if keys[parted[size]] == last:
        # Of equal keys any could have been found: the first ones count.
        positions = np.flatnonzero(keys < last)
        tied = np.flatnonzero(keys == last)
        positions = np.concatenate([positions, tied[: size - len(positions)]])
    # A fixed order makes the member independent of how the smallest keys were found.
    positions.sort()
    return positions


# ---------------------------------------------------------------------- the subset of a member


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
    #: How many rows these are, if that is known.
    n_rows: int | None = None


class Choice(NamedTuple):
    """Rows that were chosen: how each part finds them, once it needs them.

    So the rows of a draw are found in the same task that takes them for a member.
    """

    #: What is needed of each part, as the place keeps it.
    cells: tuple[list, ...]
    #: Functions, how many of the cells each takes, and its arguments besides:
    #: ``find(part, *cells, *args)`` returns positions of rows. None: the cell holds them.
    finds: tuple[tuple[Callable | None, int, tuple], ...]

    @classmethod
    def of(cls, rows: list) -> "Choice":
        """Return the choice of rows that have been found, given their positions in each part."""
        return cls((rows,), ((None, 1, ()),))


def join_choices(choices: Sequence[Choice]) -> Choice:
    """Return several choices as one."""
    cells, finds = zip(*choices, strict=True)
    return Choice(sum(cells, ()), sum(finds, ()))


def join_arrays(arrays: Sequence) -> Any:
    """Return the arrays of all parts as one; None if there are none."""
    arrays = [each for each in arrays if each is not None]
    if len(arrays) < 2:
        return arrays[0] if arrays else None
    return np.concatenate(arrays)


def draw_subset(data: "GrowthData", key: np.ndarray, number: int, rule=None, growth=None) -> Choice:
    """Draw the smallest class and as many rows of each larger one (Algorithm 1).

    ``key`` and ``number`` are those of the random numbers. ``rule(growth, candidates, size)``
    chooses rows of one larger class; None draws uniformly. Without a growth, whose member the rows
    are for, rules know no errors.
    """
    place, parts = data.place, data.drawn_parts
    counts, fold = data.counts, None
    if data.fold_counts is not None:
        fold = number % data.n_folds
        counts = counts - data.fold_counts[:, fold]
    # With many classes all rows are needed in the end: their keys are computed once.
    whole = place.make(_all_keys, parts, args=(key, number)) if data.n_classes > 2 else None
    n_members, sums = (0, None) if growth is None else (growth.n_members, growth.sums)
    chosen = []
    for k, (count, limit) in enumerate(zip(counts, data.limits(counts), strict=True)):
        request = Request(k, fold, "train", key, number, n_members, n_rows=int(count))
        candidates = Candidates(place, parts, request, sums, whole)
        if count <= limit:
            chosen.append(candidates.all())
        elif rule is None or k == data.minority:
            chosen.append(candidates.smallest(int(limit)))
        else:
            chosen.append(rule(growth, candidates, int(limit)))
    return join_choices(chosen)


class Candidates:
    """The rows of one class that a draw may take.

    A request says which rows, and where their random keys come from. ``sums()`` returns the sums
    over the members of each part, by which errors are computed; ``whole`` are the random keys of
    all rows of each part, if they are known.
    """

    def __init__(self, place, parts: list, request: Request, sums=None, whole=None):
        self.place = place
        self.parts = parts
        self.request = request
        self._sums = sums
        self._whole = [None] * len(parts) if whole is None else whole
        #: The class.
        self.k = request.k
        #: Whether they are in several parts: then what a rule compares rows with must be merged.
        self.are_parted = len(parts) > 1

    def all(self) -> Choice:
        """Choose all rows."""
        k, fold, role, *_ = self.request
        return Choice((), ((methodcaller("rows_of", k, fold, role), 0, ()),))

    def among(self, parts: list) -> "Candidates":
        """Return those candidates that are training rows of other parts, cut as these are."""
        request = self.request._replace(n_rows=None)
        return Candidates(self.place, parts, request, self._sums, self._whole)

    def sums(self) -> list:
        """Return the sums over the members, of each part."""
        # Parts that hold no training rows come last.
        return self._sums()[: len(self.parts)]

    def least(self, function: Callable, *args) -> float:
        """Return the smallest value of ``function(errors, *args)`` over all rows."""
        return least_of_all(self.place, self.parts, self.sums(), self.request, function, args)

    def groups(self, function: Callable, n_groups: int, *args) -> tuple[np.ndarray, np.ndarray]:
        """Return how many rows each group has, and the sums of their numbers.

        ``function(errors, *args)`` returns the group and the number of each row.
        """
        place, parts, sums = self.place, self.parts, self.sums()
        return groups_of_all(place, parts, sums, self.request, function, n_groups, args)

    def smallest(self, size: int, adjust: Callable | None = None, *args) -> Choice:
        """Choose the rows with the smallest keys, of equal ones those with the smallest numbers.

        ``size`` is less than there are. ``adjust(keys, errors, *args)`` returns the keys that
        count; None takes the random ones.
        """
        place, parts, request = self.place, self.parts, self.request
        sums = [None] * len(parts) if adjust is None else self._sums()[: len(parts)]
        arguments = (request, adjust, args)
        cells = (parts, sums, self._whole)
        if not self.are_parted:
            return Choice.of(place.make(_smallest_of, *cells, args=(size, *arguments)))
        smallest = place.make(_smallest_keys, *cells, args=(size, *arguments))
        last = last_of_smallest(place, smallest, size, request.n_rows)
        return Choice((smallest,), ((up_to, 1, last),))

    def pick(self, pick: Callable, *args) -> Choice:
        """Choose the rows that ``pick(rows, keys, errors, *args)`` chooses by their positions.

        Only for rows that are all in one part.
        """
        if self.are_parted:
            raise ValueError("This way to draw rows needs all of them in one part, in memory.")
        sums = [None] if self._sums is None else self.sums()
        arguments = (self.request, pick, args)
        # Now, not later: who picks may count how often it was asked.
        found = self.place.make(_pick_of, self.parts, sums, self._whole, args=arguments)
        return Choice.of(found)


# The questions that candidates ask.


def _all_keys(part: "Part", key: np.ndarray, number: int) -> np.ndarray:
    """Return the random keys of all rows."""
    return race_keys(key, number, part.start, part.start + part.n_rows)


def _class_keys(part: "Part", sums, whole, request: Request, adjust=None, args=()) -> tuple:
    """Return the rows of a request and their keys; ``adjust`` changes these by the errors."""
    rows = part.rows_of(request.k, request.fold, request.role)
    if whole is None:
        numbers = rows + part.start if part.start else rows
        keys = race_keys_of(request.key, request.number, numbers)
    else:
        keys = whole[rows]
    if part.weights is not None and request.weighted:
        keys -= np.log(part.weights[rows])
    if adjust is not None and len(rows):
        keys = adjust(keys, sums.class_errors(rows, request.k, request.n_members), *args)
    return rows, keys


def _smallest_of(part: "Part", sums, whole, size: int, request: Request, *how) -> np.ndarray:
    """Return the positions of the rows with the smallest keys of the only part."""
    rows, keys = _class_keys(part, sums, whole, request, *how)
    return rows[draw_rows(keys, size)]


def _smallest_keys(part: "Part", sums, whole, size: int, request: Request, *how) -> SmallKeys:
    """Return the smallest keys of one of several parts; no others can be among those of all."""
    rows, keys = _class_keys(part, sums, whole, request, *how)
    few = draw_rows(keys, size)
    return SmallKeys(part.start, rows[few], keys[few], len(keys))


def _pick_of(part: "Part", sums, whole, request: Request, pick, args) -> np.ndarray:
    """Return the positions that ``pick(rows, keys, errors)`` chooses of the only part."""
    rows, keys = _class_keys(part, sums, whole, request)
    errors = None if sums is None else sums.class_errors(rows, request.k, request.n_members)
    return rows[pick(rows, keys, errors, *args)]
