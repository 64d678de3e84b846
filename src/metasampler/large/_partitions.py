"""What a member is fitted on: a piece of every part, put together where the member is fitted."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.growth._data import GrowthData, Part, join_arrays
from metasampler.growth._draw import Choice
from metasampler.growth._stacked import StackedRows, TakenRows

if TYPE_CHECKING:
    from metasampler.growth._members import MemberLearner

__all__ = [
    "Drawn",
    "Piece",
    "find_rows",
    "fit_on_rows",
    "make_pieces",
    "member_weights",
]


class Drawn(NamedTuple):
    """The rows that a member was fitted on.

    Attributes
    ----------
    rows : ndarray of int or None
        Their numbers among the rows the user passed; None where they are too many to be brought
        here.
    totals : tuple of ndarray
        How many of each class there are, and their total weights.
    """

    rows: np.ndarray | None
    totals: tuple[np.ndarray, np.ndarray]


class Piece(NamedTuple):
    """What one part gives to a member: rows to train on, and rows to stop by."""

    table: Any
    codes: np.ndarray
    #: Positions in table and codes.
    rows: np.ndarray
    weights: np.ndarray | None
    unseen: np.ndarray | None = None
    unseen_weights: np.ndarray | None = None
    #: The numbers of the rows among all that the user passed, if somebody wants to know.
    numbers: np.ndarray | None = None


def fit_on_rows(
    data: GrowthData, chosen: Choice, number: int, learner: "MemberLearner", seed: int
) -> tuple:
    """Fit the member with this number on drawn rows, as `draw_subset` returns them.

    Return the member, and what is known of its rows (`Drawn`).
    """
    pieces = make_pieces(data, chosen, number, learner.stops_early)
    # All pieces go to one place, as one cell.
    (fitted,) = data.place.ask(_fit_on_pieces, [pieces], args=(learner, seed))
    return fitted


def make_pieces(data: GrowthData, chosen: Choice, number: int, stops_early: bool) -> list:
    """Return what a member is fitted on, part by part."""
    stop_by: tuple | None = None
    scales = None
    if stops_early and data.n_folds:
        stop_by = ("valid", number % data.n_folds)
    elif stops_early and data.has_validation and not data.validation_is_apart:
        stop_by = ("valid", None)
    if stop_by is not None:
        scales = data.watched("valid").scales
    place = data.place
    order = Order(
        chosen.finds,
        data.mean_weights,
        stop_by,
        scales,
        place.copies_rows,
        place.knows_rows,
    )
    watches = data.watches[: len(data.drawn_parts)]
    return place.make(_make_piece, data.drawn_parts, watches, *chosen.cells, args=(order,))


class Order(NamedTuple):
    """What a member wants of every part.

    Attributes
    ----------
    finds : tuple
        How rows to train on are found, see `Choice`.
    means : dict of int to float
        The mean weight of each class that is drawn.
    stop_by : tuple or None
        Role and fold of the rows to stop by.
    scales : ndarray or None
        How many rows each watched row of a class stands for.
    copied : bool
        Whether the piece holds copies of its rows, and no more; of a table in a file it says which
        they are.
    numbered : bool
        Whether it tells their numbers.
    """

    finds: tuple
    means: dict
    stop_by: tuple | None
    scales: np.ndarray | None
    copied: bool
    numbered: bool


def _make_piece(part: Part, watch: dict, *given) -> Piece:
    """Return what a member gets of one part; the order comes last, the cells it needs before."""
    *cells, order = given
    rows = _find_in(part, *cells, order.finds)
    numbers = _numbers_of(part, rows) if order.numbered else None
    scales = order.scales
    weights = unseen = unseen_weights = None
    if part.weights is not None:
        weights = member_weights(part.weights[rows], part.codes[rows], order.means)
    if order.stop_by is not None:
        role, fold = order.stop_by
        unseen = np.arange(part.n_rows)[watch.get(role, slice(0))]
        if fold is not None:
            assert part.folds is not None
            unseen = unseen[part.folds[unseen] == fold]
        unseen_weights = None if part.weights is None else part.weights[unseen]
        if scales is not None:
            factors = scales[part.codes[unseen]]
            unseen_weights = factors if unseen_weights is None else unseen_weights * factors
    if not order.copied:
        return Piece(part.table, part.codes, rows, weights, unseen, unseen_weights, numbers)
    n_trained = len(rows)
    if unseen is not None:
        rows = np.concatenate([rows, unseen])
        unseen = np.arange(n_trained, len(rows))
    # A file can be read wherever the member is fitted.
    in_file = hasattr(part.table, "is_in_file")
    table = TakenRows(part.table, rows) if in_file else take_rows(part.table, rows)
    codes, rows = part.codes[rows], np.arange(n_trained)
    return Piece(table, codes, rows, weights, unseen, unseen_weights, numbers)


def find_rows(place, parts: list, choice: Choice) -> list:
    """Return the positions of chosen rows in each part, in ascending order, as the place does."""
    return place.make(_find_in, parts, *choice.cells, args=(choice.finds,))


def _find_in(part: Part, *given) -> np.ndarray:
    """Return the positions of chosen rows in one part."""
    *cells, finds = given
    found, start = [], 0
    for find, n_cells, args in finds:
        own = cells[start : start + n_cells]
        found.append(own[0] if find is None else find(part, *own, *args))
        start += n_cells
    rows = np.concatenate(found)
    # The rows of each class ascend: a stable sort finds such runs, and only merges them.
    rows.sort(kind="stable")
    return rows


def member_weights(weights: np.ndarray, codes: np.ndarray, means: dict) -> np.ndarray:
    """Return the weights of rows, and of classes that are drawn their mean weights."""
    weights = weights.astype(float)
    for k, mean in means.items():
        weights[codes == k] = mean
    return weights


def _fit_on_pieces(pieces: list[Piece], learner: "MemberLearner", seed: int) -> tuple:
    """Return the member, and the rows it was fitted on."""
    table, codes, rows, weights, unseen, unseen_weights, numbers = pieces[0]
    if len(pieces) > 1:
        starts = np.cumsum([0, *(len(piece.codes) for piece in pieces[:-1])])
        table = StackedRows([piece.table for piece in pieces])
        codes = np.concatenate([piece.codes for piece in pieces])
        rows = _joined([piece.rows for piece in pieces], starts)
        weights = join_arrays([piece.weights for piece in pieces])
        unseen = None if unseen is None else _joined([piece.unseen for piece in pieces], starts)
        unseen_weights = join_arrays([piece.unseen_weights for piece in pieces])
        numbers = join_arrays([piece.numbers for piece in pieces])
    trained = codes[rows]
    plain = np.bincount(trained, minlength=learner.n_classes)
    totals = plain, plain if weights is None else np.bincount(trained, weights, learner.n_classes)
    options = {}
    if unseen is not None and learner.stops_early:
        options = {"unseen": unseen, "unseen_weight": unseen_weights}
    return learner.fit(table, codes, rows, seed, weights, **options), Drawn(numbers, totals)


def _joined(rows: list, starts: np.ndarray) -> np.ndarray:
    """Return the positions of all pieces, counted from where each starts."""
    return np.concatenate([of + start for of, start in zip(rows, starts, strict=True)])


def _numbers_of(part: Part, rows: np.ndarray) -> np.ndarray:
    """Return the numbers of rows among all that the user passed, given their positions."""
    if part.original is not None:
        return part.original[rows]
    return rows + part.start if part.start else rows
