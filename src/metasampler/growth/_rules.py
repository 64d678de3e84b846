"""How the rows of a member are drawn (Algorithm 1): the candidates, and the rules that draw them.

A rule is what a policy returns: ``rule(growth, candidates, size)`` is called once for every larger
class. It asks the candidates and never sees the rows themselves, which may be in several parts, in
files or on other machines; `_merging` has what only several parts need.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metasampler.growth._draw import DEFAULT_SIGMA, draw_rows, race_keys, race_keys_of
from metasampler.growth._merging import (
    groups_of_all,
    last_of_largest,
    last_of_smallest,
    least_of_all,
    up_to,
)
from metasampler.growth._parts import Part

if TYPE_CHECKING:
    from metasampler.growth._data import GrowthData
    from metasampler.growth._loop import Growth

__all__ = [
    "Candidates",
    "Choice",
    "GaussianDraw",
    "PowerDraw",
    "Request",
    "Rule",
    "Sums",
    "draw_subset",
    "gaussian_log_weights",
    "join_choices",
    "make_draw",
    "spread_action",
]

#: The power of action 1; action 0 draws uniformly.
_MAX_POWER = 6.0

# Nobody can tell such a draw from a uniform one, which needs no errors.
_LEAST_POWER = 0.1

# Added to errors: among rows that are easy anyway nothing depends on how easy they are.
_FLOOR = 0.1


# ---------------------------------------------------------------------- the subset of a member


class Choice(NamedTuple):
    """Rows that were chosen: how each part finds them, once it needs them.

    So the rows of a draw are found in the same task that takes them for a member.

    Attributes
    ----------
    find : callable
        ``find(part, *cells, *args)`` returns the positions of the rows.
    cells : tuple of list
        What it needs of each part, as the place keeps it.
    args : tuple
        What it needs besides.
    """

    find: Callable
    cells: tuple[list, ...]
    args: tuple

    @classmethod
    def of(cls, rows: list) -> "Choice":
        """Return the choice of rows that have been found."""
        return cls(_as_found, (rows,), ())

    def found(self, place, parts: list) -> list:
        """Return the positions of the rows in each part, as the place keeps them."""
        return place.make(self.find, parts, *self.cells, args=self.args)


def join_choices(choices: "list[Choice]") -> Choice:
    """Return several choices as one, which finds rows in ascending order."""
    cells = tuple(cell for choice in choices for cell in choice.cells)
    each = tuple((choice.find, len(choice.cells), choice.args) for choice in choices)
    return Choice(_find_all, cells, (each,))


def _find_all(part: Part, *given) -> np.ndarray:
    *cells, choices = given
    found, start = [], 0
    for find, n_cells, args in choices:
        found.append(find(part, *cells[start : start + n_cells], *args))
        start += n_cells
    rows = np.concatenate(found)
    rows.sort()
    return rows


def _as_found(part: Part, rows: np.ndarray) -> np.ndarray:
    return rows


def draw_subset(data: "GrowthData", key: np.ndarray, number: int, rule=None, growth=None) -> Choice:
    """Draw the smallest class and as many rows of each larger one (Algorithm 1).

    Parameters
    ----------
    data : GrowthData
        The rows.
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
    choice : Choice
        How each part finds its rows, in ascending order.
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
        request = Request(k, fold, "train", key, number, n_members)
        candidates = Candidates(place, parts, request, sums, whole)
        if count <= limit:
            chosen.append(candidates.all())
        elif rule is None or k == data.minority:
            chosen.append(candidates.smallest(int(limit)))
        else:
            chosen.append(rule(growth, candidates, int(limit)))
    return join_choices(chosen)


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

    def class_errors(self, rows: np.ndarray, k: int, n_members: int) -> np.ndarray:
        """Return 1 - p(true class) of rows of one class, as a new array."""
        if self.total.ndim == 1:
            errors = self.total[rows]
            if k == 1:
                # Sums before the division: they are exact where leaves are pure.
                np.subtract(n_members, errors, out=errors)
        else:
            errors = n_members - self.total[rows, k]
        errors /= n_members
        return errors


class Candidates:
    """The rows of one class that a draw may take.

    Parameters
    ----------
    place : Memory or alike
        Where the parts are.
    parts : list
        The parts, as the place knows them.
    request : Request
        Which rows, and the source of their random keys.
    sums : callable, default=None
        Returns the sums over the members of each part, by which errors are computed.
    whole : list, default=None
        The random keys of all rows of each part, if they are known.
    """

    def __init__(self, place, parts: list, request: Request, sums=None, whole=None):
        self.place = place
        self.parts = parts
        self.request = request
        self._sums = sums
        self._whole = [None] * len(parts) if whole is None else whole

    @property
    def k(self) -> int:
        """The class."""
        return self.request.k

    def all(self) -> Choice:
        """Choose all rows."""
        return Choice(_all_of, (), (self.request,))

    def least(self, function: Callable, *args) -> float | None:
        """Return the smallest value of ``function(errors, *args)`` over all rows.

        None if one part holds all rows: whoever draws from it sees them all.
        """
        if len(self.parts) == 1:
            return None
        sums = self._sums()[: len(self.parts)]
        return least_of_all(self.place, self.parts, sums, self.request, function, args)

    def groups(self, function: Callable, n_groups: int, *args) -> tuple[np.ndarray, np.ndarray]:
        """Return how many rows each group has, and the sums of their numbers.

        ``function(errors, *args)`` returns the group and the number of each row.
        """
        sums = self._sums()[: len(self.parts)]
        return groups_of_all(self.place, self.parts, sums, self.request, function, n_groups, args)

    def smallest(self, size: int, adjust: Callable | None = None, *args) -> Choice:
        """Choose the rows with the smallest keys, of equal ones those with the smallest numbers.

        Parameters
        ----------
        size : int
            How many, fewer than there are.
        adjust : callable, default=None
            ``adjust(keys, errors, *args)`` returns the keys that count; None takes the random ones.

        Returns
        -------
        choice : Choice
        """
        place, parts, request = self.place, self.parts, self.request
        # Parts that hold no training rows come last.
        sums = [None] * len(parts) if adjust is None else self._sums()[: len(parts)]
        arguments = (request, adjust, args)
        keys = place.make(_class_keys, parts, sums, self._whole, args=arguments)
        if len(parts) == 1:
            return Choice(_smallest_of, (keys,), (request, size))
        last = last_of_smallest(place, parts, keys, request, size)
        return Choice(up_to, (keys,), (request, *last))

    def hardest(self, size: int, key: np.ndarray) -> "Candidates":
        """Return the rows with the largest errors as candidates for themselves.

        Parameters
        ----------
        size : int
            How many, at most as many as there are.
        key : ndarray
            Of rows with equal errors those with the smallest random keys count; this is where
            these keys come from.

        Returns
        -------
        candidates : Candidates
            Their parts hold no tables, only which rows they are.
        """
        place, parts, request = self.place, self.parts, self.request
        sums = self._sums()[: len(parts)]
        limit, n_larger = last_of_largest(place, parts, sums, request, size)
        by_lot = request._replace(key=key, number=0, weighted=False)
        tied = Candidates(place, parts, by_lot, self._sums)
        chosen = tied.smallest(size - n_larger, _keys_at, limit).found(place, parts)
        return self.among(place.make(_harder_rows, parts, sums, chosen, args=(request, limit)))

    def among(self, parts: list) -> "Candidates":
        """Return those candidates that are training rows of other parts, cut as these are."""
        return Candidates(self.place, parts, self.request, self._sums, self._whole)

    def pick(self, pick: Callable, *args) -> Choice:
        """Choose the rows that ``pick(rows, keys, errors, *args)`` chooses by their positions.

        Only for rows that are all in one part.
        """
        if len(self.parts) > 1:
            raise ValueError("This way to draw rows needs all of them in one part, in memory.")
        sums = [None] if self._sums is None else self._sums()[:1]
        arguments = (self.request, pick, args)
        # Now, not later: who picks may count how often it was asked.
        found = self.place.make(_pick_of, self.parts, sums, self._whole, args=arguments)
        return Choice.of(found)


# The questions that candidates ask.


def _all_of(part: Part, request: Request) -> np.ndarray:
    """Return the positions of all rows of a request."""
    return part.rows_of(request.k, request.fold, request.role)


def _all_keys(part: Part, key: np.ndarray, number: int) -> np.ndarray:
    """Return the random keys of all rows."""
    return race_keys(key, number, part.start, part.start + part.n_rows)


def _class_keys(part: Part, sums, whole, request: Request, adjust=None, args=()) -> np.ndarray:
    """Return the keys of the rows of a request; ``adjust`` changes them by the errors."""
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
    return keys


def _keys_at(keys: np.ndarray, errors: np.ndarray, error: float) -> np.ndarray:
    """Return the keys of rows with one error; those of others come last."""
    keys[errors != error] = np.inf
    return keys


def _harder_rows(part: Part, sums, chosen: np.ndarray, request: Request, limit: float) -> Part:
    """Return which rows of a request have larger errors, and those that are chosen besides."""
    rows = part.rows_of(request.k, request.fold, request.role)
    harder = rows[sums.class_errors(rows, request.k, request.n_members) > limit]
    return part.with_(table=None, roles={"train": np.sort(np.concatenate([harder, chosen]))})


def _smallest_of(part: Part, keys: np.ndarray, request: Request, size: int) -> np.ndarray:
    """Return the positions of the rows with the smallest keys of this part."""
    return part.rows_of(request.k, request.fold, request.role)[draw_rows(keys, size)]


def _pick_of(part: Part, sums, whole, request: Request, pick, args) -> np.ndarray:
    """Return the positions that ``pick(rows, keys, errors)`` chooses of the only part."""
    rows = part.rows_of(request.k, request.fold, request.role)
    keys = _class_keys(part, sums, whole, request)
    errors = None if sums is None else sums.class_errors(rows, request.k, request.n_members)
    return rows[pick(rows, keys, errors, *args)]


# ---------------------------------------------------------------------- rules

#: Chooses rows of one larger class: ``rule(growth, candidates, size)``; see `GaussianDraw`.
Rule = Callable[["Growth", Candidates, int], Choice]


class GaussianDraw(NamedTuple):
    """Draw rows of the larger classes whose error is close to mu (Eq. 3).

    This is the rule that a policy returns: a growth calls it once for every larger class.

    Parameters
    ----------
    mu : float
        The error that the draw favours, in [0, 1].
    sigma : float, default=0.2
        Width of the Gaussian.
    state : ndarray, default=None
        What the policy saw when it chose mu.

    Examples
    --------
    >>> from metasampler.growth import GaussianDraw
    >>> GaussianDraw(0.9).sigma
    0.2
    """

    mu: float
    sigma: float = DEFAULT_SIGMA
    state: np.ndarray | None = None

    def __call__(self, growth: "Growth", candidates: Candidates, size: int) -> Choice:
        """Return which of the candidates are drawn."""
        # Weights are relative to the best row of all, wherever it is.
        least = candidates.least(_squared_distance, self.mu)
        return candidates.smallest(size, _gaussian_keys, self.mu, self.sigma, least)


def _squared_distance(errors: np.ndarray, mu: float) -> np.ndarray:
    errors -= mu
    errors *= errors
    return errors


def _gaussian_keys(keys, errors, mu: float, sigma: float, least: float | None) -> np.ndarray:
    keys -= gaussian_log_weights(errors, mu, sigma, out=errors, least=least)
    return keys


def gaussian_log_weights(
    errors: np.ndarray,
    mu: float,
    sigma: float,
    out: np.ndarray | None = None,
    least: float | None = None,
) -> np.ndarray:
    """Return the logarithm of the sampling weight of each row, relative to the largest.

    The weight is a Gaussian over the row's error with centre ``mu`` and width ``sigma``
    (Eq. 3). Its logarithm cannot underflow, however narrow the Gaussian, and the draw needs
    nothing else.

    Parameters
    ----------
    errors : ndarray of shape (n_rows,)
        Errors in [0, 1].
    mu : float
        The error that the draw favours.
    sigma : float
        Width of the Gaussian.
    out : ndarray of shape (n_rows,), default=None
        Where to put the result; it may be `errors`. None makes a new array.
    least : float, default=None
        The smallest squared distance to ``mu``, if these are not all rows.

    Returns
    -------
    log_weights : ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.growth import gaussian_log_weights
    >>> np.exp(gaussian_log_weights(np.array([0.5, 0.0, 0.5]), mu=1.0, sigma=0.5)).round(3)
    array([1.   , 0.223, 1.   ])
    """
    log_weights = np.subtract(errors, mu, out=out)
    log_weights *= log_weights
    # Relative to the best row: equal rows then have weight 1, whatever the width.
    log_weights -= log_weights.min() if least is None else least
    # Divided twice, and bounded: the square of the width may be too small or large for a float.
    log_weights *= -min(0.5 / sigma / sigma, 1e300)
    return log_weights


class PowerDraw(NamedTuple):
    """Draw rows of the larger classes with weights ``(error + 0.1) ** power``.

    One number says how hard a draw is. At 0 it is uniform; at 1 rows count by the size of their
    gradient in boosting, as far as they are not easy anyway; at 6 nearly all rows that are drawn
    are the hardest ones.

    Parameters
    ----------
    power : float
        At least 0.
    state : ndarray, default=None
        What the policy saw when it chose the power.

    Examples
    --------
    >>> from metasampler.growth import PowerDraw
    >>> PowerDraw(2.0).power
    2.0
    """

    power: float
    state: np.ndarray | None = None

    def __call__(self, growth: "Growth", candidates: Candidates, size: int) -> Choice:
        """Return which of the candidates are drawn."""
        return candidates.smallest(size, _power_keys, self.power)


def _power_keys(keys: np.ndarray, errors: np.ndarray, power: float) -> np.ndarray:
    errors += _FLOOR
    np.log(errors, out=errors)
    errors *= power
    keys -= errors
    return keys


def spread_action(action, mu_min: float, kind: str = "mu"):
    """Return what an action in [0, 1] means: a mu in [mu_min, 1], or a power from 0 to 6."""
    if kind == "power":
        return (1 + _MAX_POWER) ** action - 1
    return mu_min + (1 - mu_min) * action


def make_draw(
    value: float, kind: str, sigma: float, state: np.ndarray | None
) -> GaussianDraw | PowerDraw | None:
    """Return the rule of a mu or power, as `spread_action` gives it; None is a uniform draw."""
    if kind == "mu":
        return GaussianDraw(value, sigma, state)
    return PowerDraw(value, state) if value >= _LEAST_POWER else None
