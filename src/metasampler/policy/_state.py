"""What a policy reads and answers: the meta-state of an ensemble (Eq. 1-2), and mu."""

from dataclasses import dataclass

import numpy as np

__all__ = ["STATE_KINDS", "StateEncoder", "error_histogram", "signal_state"]

# An ensemble of trees with pure leaves has errors that are multiples of 1/k and so fall right
# on the edges of the bins; rounding must not move them to the bin below.
_EDGE_TOLERANCE = 1e-12

# Rows counted at once: what a histogram takes in memory does not grow with the data.
_CHUNK = 1 << 16

#: What the histograms of a state count, in the order of their blocks of `n_bins` numbers.
_HISTOGRAMS: dict[str, tuple[tuple[str, str], ...]] = {
    "all": (("train", "all"), ("valid", "all")),
    "majority": (("train", "majority"), ("valid", "majority")),
    "class-wise": (
        ("train", "minority"),
        ("train", "majority"),
        ("valid", "minority"),
        ("valid", "majority"),
    ),
}

STATE_KINDS = (*_HISTOGRAMS, "summary", "signal")

_SIZES = {"summary": 15, "signal": 1}
# Where the logarithms of a summary reach 1: a ratio of 1000 : 1, and 100,000 minority rows.
_LOG10_RATIO, _LOG10_MINORITY = 3.0, 5.0
# A signal of 40 rounds is 0, one of 640 is 1, and one of 2.5 is -1.
_MIDDLE_SIGNAL, _LOG2_SIGNAL = 40.0, 4.0


def error_histogram(
    errors: np.ndarray, n_bins: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the fraction of the errors in each of ``n_bins`` equal bins on [0, 1] (Eq. 1).

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
    >>> from metasampler.policy import error_histogram
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


def _summary(growth) -> np.ndarray:
    """Return moments of the errors by class, and the size of the task, each in [-1, 1]."""
    means, spreads, wrong = {}, {}, {}
    for role in ("train", "valid"):
        for part in ("minority", "majority"):
            errors, weights = growth.errors(role, part), growth.weights(role, part)
            mean = np.average(errors, weights=weights)
            means[role, part] = mean
            # Rounding may leave a hair below zero.
            variance = max(np.average(errors * errors, weights=weights) - mean * mean, 0.0)
            spreads[role, part] = np.sqrt(variance)
            wrong[role, part] = np.average(errors > 0.5, weights=weights)
    counts = growth.data.class_weights
    minority = counts[growth.data.minority]
    ratio = (counts.sum() - minority) / minority
    state = [
        *(2 * mean - 1 for mean in means.values()),
        # Errors in [0, 1] spread by 1/2 at most.
        *(2 * spread for spread in spreads.values()),
        *(means["valid", part] - means["train", part] for part in ("minority", "majority")),
        *(2 * wrong[role, "majority"] - 1 for role in ("train", "valid")),
        np.log10(ratio) / _LOG10_RATIO,
        np.log10(minority) / _LOG10_MINORITY,
        1 / growth.n_members,
    ]
    return np.clip(state, -1.0, 1.0)


def signal_state(signal: float) -> np.ndarray:
    """Return the state of kind "signal".

    Parameters
    ----------
    signal : float
        Rounds after which scouts stop.

    Returns
    -------
    state : ndarray of shape (1,)
        In [-1, 1].

    Examples
    --------
    >>> from metasampler.policy import signal_state
    >>> signal_state(80.0)
    array([0.25])
    """
    return np.clip([np.log2(signal / _MIDDLE_SIGNAL) / _LOG2_SIGNAL], -1.0, 1.0)


def _signal(growth) -> np.ndarray:
    """Return the signal that scouts found."""
    if growth.learner.signal is None:
        raise ValueError(
            "A state of kind 'signal' is of members that scouts went before: the boosters of "
            "MesaClassifier's recipes, for tables with 20 rows of the smallest class. For other "
            "members take another sampler."
        )
    return signal_state(growth.learner.signal)


@dataclass(frozen=True)
class StateEncoder:
    """Turn the errors of a growing ensemble into a meta-state.

    Parameters
    ----------
    kind : {"all", "majority", "class-wise", "summary", "signal"}, default="all"
        What a state holds. Three kinds hold histograms of errors, first of the training rows, then
        of the validation rows. ``"all"`` counts all rows, as in the paper. ``"majority"`` leaves
        the minority class out. ``"class-wise"`` has one histogram for the minority and one for the
        other rows. ``"summary"`` holds 15 numbers in [-1, 1]: the mean and the standard deviation
        of the errors, of minority and other rows, in training and validation; for both classes
        how much larger the mean is in validation; the part of the majority rows with errors above
        0.5, in training and validation; the logarithms of the class ratio and of the number of
        minority rows; and 1 / (members so far). ``"signal"`` holds one number in [-1, 1], which is
        known before any row is drawn: the logarithm of the rounds after which scouts stop.
    n_bins : int, default=5
        Bins of each histogram; the other kinds have none.

    Examples
    --------
    >>> from metasampler.policy import StateEncoder
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

    def __str__(self):
        bins = f" with {self.n_bins} bins" if self.kind in _HISTOGRAMS else ""
        return f"states of kind {self.kind!r}{bins}"

    @property
    def size(self) -> int:
        """Return the length of a state."""
        if self.kind in _SIZES:
            return _SIZES[self.kind]
        return self.n_bins * len(_HISTOGRAMS[self.kind])

    @property
    def action(self) -> str:
        """Return what a policy on such states chooses: mu, or by the signal a power."""
        return "power" if self.kind == "signal" else "mu"

    @property
    def low(self) -> float:
        """Return the lower bound of the entries of a state; the upper bound is 1."""
        return -1.0 if self.kind in _SIZES else 0.0

    def __call__(self, growth) -> np.ndarray:
        """Return the state of a growing ensemble.

        Parameters
        ----------
        growth : Growth
            An ensemble with at least one member.

        Returns
        -------
        state : ndarray of shape (size,)
        """
        if self.kind == "summary":
            return _summary(growth)
        if self.kind == "signal":
            return _signal(growth)
        blocks = [
            error_histogram(growth.errors(role, part), self.n_bins, growth.weights(role, part))
            for role, part in _HISTOGRAMS[self.kind]
        ]
        return np.concatenate(blocks)
