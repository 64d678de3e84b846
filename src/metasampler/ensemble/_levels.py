"""The answers of clones of an ensemble, brought to the level of the ensemble itself.

Clones that were fitted without some rows judge these rows in the place of the ensemble. Each has
learned by how much the answers of its teams count, so log-odds of one clone may lie higher than
those of another, or further apart. A threshold means nothing to both until they are on one level.
The rows that each was trained on give it: their log-odds have a mean and a spread.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from metasampler.drift import some_rows

__all__ = ["Level", "rows_of_level"]

# Rows by which a level is found.
_MOST_ROWS = 20_000

# Probabilities below this one have its logarithm.
_LEAST = np.finfo(float).tiny

# Log-odds that spread less are all the same.
_SAME = 1e-9


class Level(NamedTuple):
    """The mean and the standard deviation of the log-odds of rows that members were trained on."""

    mean: float
    spread: float

    @classmethod
    def of(cls, proba: np.ndarray) -> "Level":
        """Return the level of answers about two classes."""
        odds = _log_odds(proba)
        return cls(float(odds.mean()), float(odds.std()))

    def take(self, proba: np.ndarray, other: "Level") -> np.ndarray:
        """Return answers of an ensemble of another level as if they were given at this one."""
        if min(self.spread, other.spread) < _SAME:
            return proba
        odds = self.mean + (_log_odds(proba) - other.mean) * (self.spread / other.spread)
        return np.column_stack([expit(-odds), expit(odds)])


def rows_of_level(rows: np.ndarray) -> np.ndarray:
    """Return some of the rows that an ensemble was trained on, evenly spread."""
    return rows[some_rows(len(rows), _MOST_ROWS)]


def _log_odds(proba: np.ndarray) -> np.ndarray:
    logs = np.log(np.maximum(proba, _LEAST))
    return logs[:, 1] - logs[:, 0]
