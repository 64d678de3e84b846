"""How good a model is, with intervals: scores, calibration, gains, classes.

Intervals are those of a bootstrap over rows. Rows that no cut point tells apart are exchangeable,
so that without weights one draw from a multinomial distribution over the cells between cut points
is a resample of all rows: a thousand resamples of a million rows take less than a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from metasampler.report._cuts import Cuts

#: Rows times resamples of a bootstrap with weights, which has to look at every row.
_MOST_DRAWS = 200_000_000
_FEWEST_RESAMPLES = 100

_LEVEL = (2.5, 97.5)


class Measure(NamedTuple):
    """A number and its interval, which may be None."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Quality:
    """How good the scores are, over all thresholds and at each.

    Attributes
    ----------
    average_precision, roc_auc, brier : Measure or None
        Brier is None for scores that are not probabilities.
    precision, recall : ndarray of shape (2, n_cuts)
        The ends of the interval at each cut point; NaN without an alarm.
    n_resamples : int
        How many there were.
    """

    average_precision: Measure
    roc_auc: Measure
    brier: Measure | None
    precision: np.ndarray
    recall: np.ndarray
    n_resamples: int


def judge(scores, positive, weights, cuts: Cuts, *, are_proba: bool, n_resamples: int, rng):
    """Return how good scores are, which may be probabilities, with intervals by a bootstrap."""
    options = {"sample_weight": weights}
    average = float(average_precision_score(positive, scores, **options))
    area = float(roc_auc_score(positive, scores, **options))
    resamples = _resample(positive, weights, cuts, n_resamples, rng)
    # From the highest cell down: what is called from each cut point on.
    hits, false = (np.cumsum(part[:, ::-1], axis=1)[:, ::-1] for part in resamples)
    n_positive, n_negative = hits[:, :1], false[:, :1]
    hits, false = hits[:, 1:], false[:, 1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = hits / (hits + false), hits / n_positive
    return Quality(
        average_precision=_around(average, _areas_under_precision(precision, recall)),
        roc_auc=_around(area, _areas_under_roc(recall, false / n_negative)),
        brier=_brier(scores, positive, weights) if are_proba else None,
        precision=_ends(precision),
        recall=_ends(recall),
        n_resamples=len(hits),
    )


def _brier(scores, positive, weights) -> Measure:
    """Return the Brier score; a mean over rows has a standard error, and needs no resamples."""
    value = float(brier_score_loss(positive, scores, pos_label=True, sample_weight=weights))
    half = 1.96 * _spread_of_mean((scores - positive) ** 2, weights)
    return Measure(value, max(0.0, value - half), value + half)


def _resample(positive, weights, cuts: Cuts, n_resamples: int, rng):
    """Return the weight of each cell in each resample, of the class to find and of the rest."""
    n_cells = len(cuts.threshold) + 1
    # Rows of the class to find first, then the rest.
    cells = cuts.cells + n_cells * ~positive
    n_rows = len(cells)
    if weights is None:
        share = np.bincount(cells, minlength=2 * n_cells) / n_rows
        drawn = rng.multinomial(n_rows, share, size=n_resamples)
    else:
        n_resamples = int(np.clip(_MOST_DRAWS // n_rows, _FEWEST_RESAMPLES, n_resamples))
        drawn = np.empty((n_resamples, 2 * n_cells))
        for number in range(n_resamples):
            counts = np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows)
            drawn[number] = np.bincount(cells, counts * weights, 2 * n_cells)
    # A resample without one of the classes says nothing.
    both = (drawn[:, :n_cells].sum(axis=1) > 0) & (drawn[:, n_cells:].sum(axis=1) > 0)
    return drawn[both, :n_cells], drawn[both, n_cells:]


def _areas_under_precision(precision, recall):
    """Return the average precision of each resample, as far as the cut points tell."""
    steps = recall - np.append(recall[:, 1:], np.zeros((len(recall), 1)), axis=1)
    return np.sum(np.where(steps > 0, steps * np.nan_to_num(precision), 0), axis=1)


def _areas_under_roc(recall, false_rate):
    lowest = np.ones((len(recall), 1))
    recall, false_rate = (np.append(lowest, part, axis=1) for part in (recall, false_rate))
    return np.sum((recall[:, :-1] + recall[:, 1:]) / 2 * -np.diff(false_rate, axis=1), axis=1)


def _around(value: float, resampled) -> Measure:
    """Return a value with its interval.

    Cut points may be coarser than the rows, which moves all resamples alike: the interval is that
    of their differences to the middle one.
    """
    if not len(resampled):
        return Measure(value)
    low, middle, high = np.percentile(resampled, [_LEVEL[0], 50, _LEVEL[1]])
    low, high = np.clip([value + low - middle, value + high - middle], 0, 1)
    return Measure(value, float(low), float(high))


def _ends(resampled) -> np.ndarray:
    """Return both ends of the interval at each cut point, NaN where it is undefined."""
    n_resamples, n_cuts = resampled.shape
    ends = np.full((2, n_cuts), np.nan)
    if not n_resamples:
        return ends
    # NumPy's nanpercentile goes column by column in Python; sorting puts NaN last.
    ordered = np.sort(resampled, axis=0)
    n_known = np.isfinite(resampled).sum(axis=0)
    # Resamples without an alarm are left out, unless half of them have none.
    enough = np.flatnonzero(2 * n_known >= n_resamples)
    for end, level in zip(ends, _LEVEL, strict=True):
        place = (n_known[enough] - 1) * level / 100
        below = np.floor(place).astype(np.intp)
        above = np.minimum(below + 1, n_known[enough] - 1)
        low, high = ordered[below, enough], ordered[above, enough]
        end[enough] = low + (high - low) * (place - below)
    return ends


def _spread_of_mean(values, weights) -> float:
    """Return the standard error of a mean over rows."""
    weights = np.ones(len(values)) if weights is None else weights
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.sum((weights * (values - mean)) ** 2)) / weights.sum())


@dataclass(frozen=True)
class Calibration:
    """What the model says, and what came: groups of rows by their probability.

    Attributes
    ----------
    said, came : ndarray
        Mean probability, and share of the class to find, in each group.
    low, high : ndarray
        Interval of ``came`` (Wilson's, at 95%).
    rows : ndarray
        Weight of each group.
    """

    said: np.ndarray
    came: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray


def calibration(scores, positive, weights, most_groups: int = 10) -> Calibration:
    """Compare probabilities with what came, in up to ``most_groups`` groups of rows.

    Groups expect equal numbers of the class to find, about ten or more. Groups of equal size would
    all be next to zero but one, for a rare class.
    """
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(scores, kind="stable")
    scores, positive, weights = scores[order], positive[order], weights[order]
    expected = np.cumsum(weights * scores)
    n_groups = int(np.clip(min(expected[-1], positive.sum()) // 10, 1, most_groups))
    edges = np.searchsorted(expected, expected[-1] * np.arange(1, n_groups) / n_groups)
    # Rows with one score stay together.
    edges = np.unique(np.searchsorted(scores, scores[edges], side="left"))
    starts = np.unique(np.append(0, edges))
    rows = np.add.reduceat(weights, starts)
    kept = rows > 0
    said, came = (
        np.add.reduceat(weights * part, starts)[kept] / rows[kept] for part in (scores, positive)
    )
    # Weighted rows tell as much as this number of equal ones.
    effective = rows[kept] ** 2 / np.add.reduceat(weights**2, starts)[kept]
    low, high = _wilson(came, effective)
    return Calibration(said, came, low, high, rows[kept])


def _wilson(share, n_rows, z: float = 1.96):
    middle = (share + z**2 / (2 * n_rows)) / (1 + z**2 / n_rows)
    half = z / (1 + z**2 / n_rows) * np.sqrt(share * (1 - share) / n_rows + (z / n_rows) ** 2 / 4)
    return np.maximum(middle - half, 0), np.minimum(middle + half, 1)


def first_rows(scores, positive, weights, are_proba: bool) -> list[dict]:
    """Return what a team finds that looks at the first rows, for several numbers of rows.

    Each entry has ``rows``, ``lowest`` (score), ``right`` and their share ``precision``, ``found``
    and ``expected``, the sum of the scores where these are probabilities.
    """
    n_rows = len(scores)
    sizes = [size for size in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if size < n_rows / 2]
    parts = dict.fromkeys(round(n_rows * part) for part in (0.1, 0.2))
    sizes += [size for size in parts if size > max([0, *sizes])]
    order = np.argsort(-scores, kind="stable")[: max(sizes, default=0)]
    weight = np.ones(n_rows) if weights is None else weights
    bands = []
    for size in sizes:
        rows = order[:size]
        band = {"rows": size, "lowest": float(scores[rows[-1]])}
        if are_proba:
            band["expected"] = float(np.sum(weight[rows] * scores[rows]))
        if positive is not None:
            right = float(np.sum(weight[rows] * positive[rows]))
            total = weight[rows].sum()
            band["right"] = right
            band["precision"] = right / total if total else float("nan")
            band["found"] = right / float(np.sum(weight * positive))
        bands.append(band)
    return bands


def per_class(codes, predicted, proba, weights) -> dict:
    """Return the confusion matrix of many classes, and how well each is found.

    The result has ``matrix`` (rows are true classes), and lists by class: ``precision``,
    ``recall``, ``average_precision`` (against all others), None where it is not defined, and the
    sum of the probabilities, ``expected``.
    """
    n_classes = proba.shape[1]
    joint = np.bincount(codes * n_classes + predicted, weights, n_classes**2)
    matrix = joint.reshape(n_classes, n_classes)
    right, truth, called = matrix.diagonal(), matrix.sum(axis=1), matrix.sum(axis=0)
    return {
        "matrix": matrix.tolist(),
        "rows": truth.tolist(),
        "expected": (proba if weights is None else proba * weights[:, None]).sum(axis=0).tolist(),
        "precision": [hit / n if n else None for hit, n in zip(right, called, strict=True)],
        "recall": [hit / n if n else None for hit, n in zip(right, truth, strict=True)],
        "average_precision": [
            float(average_precision_score(codes == label, proba[:, label], sample_weight=weights))
            if truth[label]
            else None
            for label in range(n_classes)
        ],
    }
