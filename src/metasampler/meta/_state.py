"""The meta-state: what the meta-sampler sees of an ensemble (Eq. 1-2)."""

from dataclasses import dataclass

import numpy as np

__all__ = ["STATE_KINDS", "StateEncoder", "error_histogram"]

# An ensemble of trees with pure leaves has errors that are multiples of 1/k and so fall right
# on the edges of the bins; rounding must not move them to the bin below.
_EDGE_TOLERANCE = 1e-12

# Rows counted at once: what a histogram takes in memory does not grow with the data.
_CHUNK = 1 << 16

#: What each kind of state counts, in the order of its blocks of `n_bins` numbers.
STATE_KINDS: dict[str, tuple[tuple[str, str], ...]] = {
    "all": (("train", "all"), ("valid", "all")),
    "majority": (("train", "majority"), ("valid", "majority")),
    "class-wise": (
        ("train", "minority"),
        ("train", "majority"),
        ("valid", "minority"),
        ("valid", "majority"),
    ),
}


def error_histogram(
    errors: np.ndarray, n_bins: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Fraction of the errors in each of ``n_bins`` equal bins on [0, 1] (Eq. 1).

    Bins are closed on the left and open on the right, except the last, which includes 1.

    Parameters
    ----------
    errors : ndarray of shape (n_rows,)
        Errors in [0, 1].
    n_bins : int
        Number of bins.
    weights : ndarray of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    fractions : ndarray of shape (n_bins,)

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.meta import error_histogram
    >>> error_histogram(np.array([0.0, 0.2, 0.5, 1.0]), n_bins=5)
    array([0.25, 0.25, 0.25, 0.  , 0.25])
    """
    # By hand because numpy.histogram takes ten times as long on these sizes.
    counts = np.zeros(n_bins + 1)
    for start in range(0, len(errors), _CHUNK):
        rows = slice(start, start + _CHUNK)
        scaled = errors[rows] * n_bins
        scaled += _EDGE_TOLERANCE
        chunk_weights = None if weights is None else weights[rows]
        counts += np.bincount(scaled.astype(np.intp), chunk_weights, minlength=n_bins + 1)
    counts[n_bins - 1] += counts[n_bins]
    return counts[:n_bins] / (len(errors) if weights is None else weights.sum())


@dataclass(frozen=True)
class StateEncoder:
    """Turns the errors of a growing ensemble into a meta-state.

    Parameters
    ----------
    kind : {"all", "majority", "class-wise"}, default="all"
        Which rows the histograms count. ``"all"`` is the paper's reading: all training rows,
        then all validation rows. ``"majority"`` leaves the minority class out. ``"class-wise"``
        has one histogram for the minority and one for the other rows.
    n_bins : int, default=5
        Bins in each histogram.

    Examples
    --------
    >>> from metasampler.meta import StateEncoder
    >>> StateEncoder("class-wise", n_bins=5).size
    20
    """

    kind: str = "all"
    n_bins: int = 5

    def __post_init__(self):
        if self.kind not in STATE_KINDS:
            raise ValueError(
                f"The state kind must be one of {sorted(STATE_KINDS)}, got {self.kind!r}."
            )
        if self.n_bins < 1:
            raise ValueError(f"n_bins must be at least 1, got {self.n_bins!r}.")

    @property
    def size(self) -> int:
        """Length of a state."""
        return self.n_bins * len(STATE_KINDS[self.kind])

    def __call__(self, growth) -> np.ndarray:
        """State of a growing ensemble.

        Parameters
        ----------
        growth : Growth
            An ensemble with at least one member.

        Returns
        -------
        state : ndarray of shape (size,)
        """
        blocks = [
            error_histogram(growth.errors(role, part), self.n_bins, growth.weights(role, part))
            for role, part in STATE_KINDS[self.kind]
        ]
        return np.concatenate(blocks)
