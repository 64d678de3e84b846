"""What matters: how much worse the model ranks rows when one column is shuffled."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from metasampler._sklearn_compat import take_rows
from metasampler.report._model import score_rows

#: Rows that are shuffled and scored, at most, over all columns and repeats together.
_MOST_SCORED = 300_000
_FEWEST_ROWS, _MOST_ROWS = 1000, 10_000


def n_steps(X: Any, n_repeats: int) -> int:
    """Return how often `importances` will advance."""
    return X.shape[1] if n_repeats else 0


def importances(model, X, positive, weights, column: int, n_repeats: int, rng, advance) -> dict:
    """Return the loss of average precision when the values of one column are shuffled.

    The result has ``base`` (average precision as it is), ``mean`` and ``spread`` (arrays by column)
    and the ``rows`` that were used. ``column`` is the position of the class to find in the scores;
    ``advance`` is called after each column.
    """
    rows, row_weights = _sample(positive, weights, X.shape[1] * n_repeats, rng)
    table, truth = take_rows(X, rows), positive[rows]

    def score(shown) -> float:
        scores = score_rows(model, shown).each[:, column]
        return float(average_precision_score(truth, scores, sample_weight=row_weights))

    base = score(table)
    losses = np.empty((table.shape[1], n_repeats))
    for place in range(table.shape[1]):
        for repeat in range(n_repeats):
            losses[place, repeat] = base - score(_shuffled(table, place, rng))
        advance("shuffling columns")
    spread = losses.std(axis=1, ddof=1) if n_repeats > 1 else np.full(len(losses), np.nan)
    return {"base": base, "mean": losses.mean(axis=1), "spread": spread, "rows": len(rows)}


def _sample(positive, weights, n_tables: int, rng):
    """Return some rows, and weights with which they stand for all.

    Half of them are of the class to find, if there are enough: a plain sample of a rare class
    would hold few of them.
    """
    most = int(np.clip(_MOST_SCORED // n_tables, _FEWEST_ROWS, _MOST_ROWS))
    if len(positive) <= most:
        return np.arange(len(positive)), weights
    chosen, stands_for = [], []
    wanted = most // 2
    for mask in (positive, ~positive):
        of_class = np.flatnonzero(mask)
        drawn = of_class
        if len(of_class) > wanted:
            drawn = rng.choice(of_class, wanted, replace=False)
        chosen.append(drawn)
        stands_for.append(np.full(len(drawn), len(of_class) / len(drawn)))
        wanted = most - len(drawn)
    rows, factors = np.concatenate(chosen), np.concatenate(stands_for)
    return rows, factors if weights is None else factors * weights[rows]


def _shuffled(table, place: int, rng):
    """Return a table with the values of one column in another order."""
    order = rng.permutation(table.shape[0])
    if type(table).__module__.startswith("polars"):
        return table.with_columns(table[:, place].gather(order))
    if hasattr(table, "iloc"):
        copy = table.copy()
        copy.isetitem(place, table.iloc[order, place].array)
        return copy
    if hasattr(table, "tocsc"):
        copy = table.tolil(copy=True)
        copy[:, place] = table.tocsc()[order, place]
        return copy.tocsr()
    copy = np.array(table)
    copy[:, place] = copy[order, place]
    return copy
