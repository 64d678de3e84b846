"""What scouts, members on all rows that stop early, find out about a table."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from metasampler.growth._loop import Growth

__all__ = ["Scouted", "learned_share"]

# Log-loss of a row that a member was sure of, and wrong.
_LEAST = 1e-6


class Scouted(NamedTuple):
    """What is known of a table before rows are drawn from it.

    Attributes
    ----------
    signal : float
        Rounds of boosting that pay, at a learning rate of 0.1.
    learned : float
        Part of the entropy of the classes that scouts explain, on rows they leave out: 0 where
        they know no more than how frequent the classes are, 1 where they are sure and right.
    """

    signal: float
    learned: float


def learned_share(growth: "Growth") -> float:
    """Return which part of the entropy of the classes a growth explains on its left-out rows."""
    rows, proba, codes, _ = growth.held_out()
    weights = growth.weights("valid")
    said = proba[np.arange(len(rows)), codes.astype(np.intp)]
    loss = -np.average(np.log(np.maximum(said, _LEAST)), weights=weights)
    shares = np.bincount(codes, weights, growth.data.n_classes)
    shares = shares[shares > 0] / shares.sum()
    entropy = -np.sum(shares * np.log(shares))
    return float(1 - loss / entropy) if entropy > 0 else 0.0
