"""Randomness and draws: named streams, a key for every row, the rows with the smallest keys.

A stream is found by *what it serves* and *which step it serves*, never by how much randomness was
used before it. So a result does not depend on ``n_jobs``, a warm start continues as one longer fit,
and a row's random number does not depend on how the rows are split into chunks.

The rows of a member (Algorithm 1) are drawn class by class, from `Candidates`. Who draws never sees
the rows themselves, which may be in several parts, in files or on other machines; `_merging` has
what only several parts need.
"""

import warnings
from collections.abc import Callable, Sequence
from enum import IntEnum
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from metasampler.growth._merging import (
    SmallKeys,
    groups_of_all,
    last_of_smallest,
    least_of_all,
    up_to,
)

if TYPE_CHECKING:
    from metasampler.growth._data import GrowthData, Part

#: Width of the Gaussian over errors that the paper recommends.
DEFAULT_SIGMA = 0.2

# Above so many keys the smallest are looked for among those below a bound, which the keys of some
# rows give.
_MANY, _SOME = 1 << 16, 1 << 12

# Philox yields four 64-bit words per value of its counter.
_WORDS_PER_COUNT = 4

# Rows whose keys are computed at once: they stay in the processor's cache.
_CHUNK = 1 << 15

#: Rows of a class that are dealt to folds like cards, so that folds are equally large. In a larger
#: class they nearly are without that.
MAX_DEALT = 300_000


class Stream(IntEnum):
    """What a random stream serves. The numbers are part of every result: never reuse one."""

    SPLIT = 0
    DRAW = 1
    MEMBER = 2
    POLICY = 3
    SUBSET = 4
    EPISODE = 5
    LEARNER = 6
    TIES = 7
    CANDIDATE = 8
    TEAM = 9
    WATCH = 10
    EDGES = 11


class RandomStreams(NamedTuple):
    """The random streams of one fit or one meta-training episode, at a path below the entropy."""

    entropy: int
    path: tuple[int, ...] = ()

    @classmethod
    def from_random_state(cls, random_state) -> "RandomStreams":
        """Take the entropy from a ``random_state``; streams stay what they are."""
        if isinstance(random_state, cls):
            return random_state
        if not isinstance(random_state, (int, np.integer)):
            random_state = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        return cls(int(random_state))

    def child(self, stream: Stream, index: int) -> "RandomStreams":
        """Return streams for one part of the work, for instance one episode."""
        return RandomStreams(self.entropy, (*self.path, int(stream), int(index)))

    def _sequence(self, stream: Stream, index: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.entropy, spawn_key=(*self.path, int(stream), index))

    def integer(self, stream: Stream, index: int) -> int:
        """Return a seed for code that wants an integer ``random_state``."""
        return int(self._sequence(stream, index).generate_state(1)[0] >> 1)

    def generator(self, stream: Stream, index: int = 0) -> np.random.Generator:
        """Return an ordinary generator for one purpose."""
        return np.random.default_rng(self._sequence(stream, index))

    def row_key(self, stream: Stream) -> np.ndarray:
        """Return the key of a counter-based generator whose numbers are addressed by row."""
        return self._sequence(stream, 0).generate_state(2, np.uint64)


def race_keys(key: np.ndarray, draw: int, start: int, stop: int) -> np.ndarray:
    """Return logarithms of the exponential variates of the rows ``start`` to ``stop``.

    Each row's variate is addressed by ``(key, draw, row)`` in a counter-based generator, so
    it does not matter in which chunks, or on which machine, they are computed.
    """
    offset = start % _WORDS_PER_COUNT
    generator = np.random.Generator(
        np.random.Philox(key=key, counter=[start // _WORDS_PER_COUNT, draw, 0, 0])
    )
    # `random` takes exactly one word per number; `standard_exponential` would not.
    keys = generator.random(stop - start + offset)[offset:]
    # Zero has no logarithm; 2**-54 stands for it, below every other value the generator gives.
    np.maximum(keys, 2.0**-54, out=keys)
    np.log(keys, out=keys)
    np.negative(keys, out=keys)
    return np.log(keys, out=keys)


def race_keys_of(key: np.ndarray, draw: int, rows: np.ndarray) -> np.ndarray:
    """Return the numbers of `race_keys` for some rows, given in ascending order.

    They are computed in chunks, so that the rows in between take no memory.
    """
    keys = np.empty(len(rows))
    if not len(rows):
        return keys
    n_rows = int(rows[-1]) + 1
    for start in range(int(rows[0]) // _CHUNK * _CHUNK, n_rows, _CHUNK):
        stop = min(start + _CHUNK, n_rows)
        first, last = np.searchsorted(rows, (start, stop))
        if first < last:
            chunk = race_keys(key, draw, start, stop)
            keys[first:last] = chunk[rows[first:last] - start]
    return keys


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
    last = np.partition(keys, size - 1)[size - 1]
    positions = np.flatnonzero(keys <= last)
    n_spare = len(positions) - size
    if n_spare:
        # Of equal keys any could be taken: the first ones count.
        tied = np.flatnonzero(keys[positions] == last)
        positions = np.delete(positions, tied[-n_spare:])
    return positions


def find_minority(classes: np.ndarray, counts: np.ndarray) -> int:
    """Return the position of the smallest class, if there are at least two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}; a classifier needs rows of at least "
            "2 classes."
        )
    # Of equally small classes the last is the minority, as 1 is of 0 and 1.
    return len(classes) - 1 - int(np.argmin(counts[::-1]))


def can_hold_out(classes: np.ndarray, counts: np.ndarray, must_hold_out: bool) -> bool:
    """Return whether validation rows can be held out: of a class with a single row none can.

    Then there is an error, or without ``must_hold_out`` a warning.
    """
    if counts.min() >= 2:
        return True
    rare = repr(classes.tolist()[int(np.argmin(counts))])
    lone = f"Class {rare} has n_samples = 1 row; at least 2 are needed to hold out validation rows"
    if must_hold_out:
        raise ValueError(f"{lone}. Pass X_val and y_val, or more rows of this class.")
    warnings.warn(f"{lone}: there are none.", UserWarning, stacklevel=4)
    return False


def split_rows(codes: np.ndarray, n_classes: int, n_folds: int, fraction: float, key: np.ndarray):
    """Return the fold of every row; without ``n_folds`` rows of fold 1 are those to hold out.

    These are a fraction of each class. By hand because scikit-learn's stratified split may leave a
    rare class without any validation row, and because rows are chosen by number, as in every other
    draw.
    """
    folds = np.zeros(len(codes), dtype=np.min_scalar_type(n_folds))
    for k in range(n_classes):
        rows = np.flatnonzero(codes == k)
        keys = race_keys_of(key, 0, rows)
        if n_folds:
            folds[rows] = deal(keys, n_folds)
        else:
            folds[rows[draw_rows(keys, hold_out_size(len(rows), fraction))]] = 1
    return folds


def hold_out_size(n_rows: int, fraction: float) -> int:
    """Return how many of a class's rows are held out: at least one, and not all."""
    return min(max(1, round(fraction * n_rows)), n_rows - 1)


def deal(keys: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold of each row of a class, given all of their keys.

    The rows of a small class are dealt like cards, by the order of their keys. In a large one each
    row's own key says where it goes: nobody has to know the other rows.
    """
    if len(keys) > MAX_DEALT:
        return deal_alone(keys, n_folds)
    folds = np.empty(len(keys), dtype=np.intp)
    folds[np.argsort(keys)] = np.arange(len(keys)) % n_folds
    return folds


def deal_alone(keys: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the fold that each row's own key says."""
    # A key is the logarithm of an exponential variate: this is uniform in [0, 1).
    uniform = -np.expm1(-np.exp(keys))
    return np.minimum((uniform * n_folds).astype(np.intp), n_folds - 1)


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
        place, arguments = self.place, (size, self.request, adjust, args)
        sums = [None] * len(self.parts) if adjust is None else self._sums()[: len(self.parts)]
        cells = (self.parts, sums, self._whole)
        if not self.are_parted:
            return Choice.of(place.make(_smallest_of, *cells, args=arguments))
        smallest = place.make(_smallest_keys, *cells, args=arguments)
        last = last_of_smallest(place, smallest, size, self.request.n_rows)
        return Choice((smallest,), ((up_to, 1, last),))

    def pick(self, pick: Callable, *args) -> Choice:
        """Choose the rows that ``pick(rows, keys, errors, *args)`` chooses by their positions.

        Only for rows that are all in one part.
        """
        if self.are_parted:
            raise ValueError("This way to draw rows needs all of them in one part, in memory.")
        sums = [None] if self._sums is None else self.sums()
        # Now, not later: who picks may count how often it was asked.
        cells = (self.parts, sums, self._whole)
        return Choice.of(self.place.make(_pick_of, *cells, args=(self.request, pick, args)))


# The questions that candidates ask.


def _all_keys(part: "Part", key: np.ndarray, number: int) -> np.ndarray:
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
    rows, keys = _class_keys(part, sums, whole, request, *how)
    return rows[draw_rows(keys, size)]


def _smallest_keys(part: "Part", sums, whole, size: int, request: Request, *how) -> SmallKeys:
    """Return the smallest keys of one of several parts; no others can be among those of all."""
    rows, keys = _class_keys(part, sums, whole, request, *how)
    few = draw_rows(keys, size)
    return SmallKeys(part.start, rows[few], keys[few], len(keys))


def _pick_of(part: "Part", sums, whole, request: Request, pick, args) -> np.ndarray:
    rows, keys = _class_keys(part, sums, whole, request)
    errors = None if sums is None else sums.class_errors(rows, request.k, request.n_members)
    return rows[pick(rows, keys, errors, *args)]
