"""From the errors of an ensemble to the next draw: meta-states (Eq. 1-2), and policies on them.

A policy is called with a growth and returns a rule: `policy(growth) -> rule`.
"""

import copy
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from metasampler.growth import (
    DEFAULT_SIGMA,
    GaussianDraw,
    Growth,
    PowerDraw,
    Stream,
    make_draw,
    spread_action,
)
from metasampler.policy._network import GaussianPolicy

# ---------------------------------------------------------------------- states

# An ensemble of trees with pure leaves has errors that are multiples of 1/k and so fall right
# on the edges of the bins; rounding must not move them to the bin below.
_EDGE_TOLERANCE = 1e-12

# Rows counted at once: what a histogram takes in memory does not grow with the data.
_CHUNK = 1 << 16

#: Which rows the histograms of a state count: first in training, then in validation.
_HISTOGRAMS = {
    "all": ("all",),
    "majority": ("majority",),
    "class-wise": ("minority", "majority"),
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
    moments = []
    for role in ("train", "valid"):
        for part in ("minority", "majority"):
            errors, weights = growth.errors(role, part), growth.weights(role, part)
            mean = np.average(errors, weights=weights)
            # Rounding may leave a hair below zero.
            variance = max(np.average(errors * errors, weights=weights) - mean * mean, 0.0)
            wrong = np.average(errors > 0.5, weights=weights)
            moments.append((mean, np.sqrt(variance), wrong))
    means, spreads, wrongs = np.transpose(moments)
    counts = growth.data.class_weights
    minority = counts[growth.data.minority]
    ratio = (counts.sum() - minority) / minority
    state = [
        *(2 * means - 1),
        # Errors in [0, 1] spread by 1/2 at most.
        *(2 * spreads),
        # How much larger the means are in validation.
        *(means[2:] - means[:2]),
        # The majority's only.
        *(2 * wrongs[1::2] - 1),
        np.log10(ratio) / _LOG10_RATIO,
        np.log10(minority) / _LOG10_MINORITY,
        1 / growth.n_members,
    ]
    return np.clip(state, -1.0, 1.0)


def signal_state(signal: float) -> np.ndarray:
    """Return the state of kind "signal": one number in [-1, 1] of the rounds that scouts take."""
    return np.clip([np.log2(signal / _MIDDLE_SIGNAL) / _LOG2_SIGNAL], -1.0, 1.0)


def _signal(growth) -> np.ndarray:
    """Return the signal that scouts found."""
    if growth.adapters.signal is None:
        raise ValueError(
            "This sampler reads the signal, and only the boosters of MesaClassifier's presets have "
            "one. They grow if the smallest class has at least 25 rows. For other members take "
            "another sampler."
        )
    return signal_state(growth.adapters.signal)


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
        how much larger the mean is in validation; the share of the majority rows with errors above
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
        return _SIZES.get(self.kind) or 2 * self.n_bins * len(_HISTOGRAMS[self.kind])

    @property
    def action(self) -> str:
        """Return what a policy chooses from these states: mu, or a power if it reads the signal."""
        return "power" if self.kind == "signal" else "mu"

    @property
    def low(self) -> float:
        """Return the lower bound of the entries of a state; the upper bound is 1."""
        return -1.0 if self.kind in _SIZES else 0.0

    def __call__(self, growth) -> np.ndarray:
        """Return the state of a growing ensemble with at least one member, of length `size`."""
        if self.kind == "summary":
            return _summary(growth)
        if self.kind == "signal":
            return _signal(growth)
        blocks = [
            error_histogram(growth.errors(role, part), self.n_bins, growth.weights(role, part))
            for role in ("train", "valid")
            for part in _HISTOGRAMS[self.kind]
        ]
        return np.concatenate(blocks)


def observe(encoder: StateEncoder | None, growth: Growth) -> np.ndarray | None:
    """Return the state of an ensemble, or None without validation rows or encoder."""
    if encoder is None or not (growth.data.has_validation or encoder.kind == "signal"):
        return None
    return encoder(growth)


# ---------------------------------------------------------------------- policies


@dataclass(frozen=True)
class ConstantPolicy:
    """Choose the same mu in every state.

    Parameters
    ----------
    mu : float
        In [0, 1].
    sigma : float, default=0.2
        Width of the Gaussian.
    encoder : StateEncoder or None
        Makes the states that are recorded; they decide nothing. None records none.

    Examples
    --------
    >>> from metasampler.policy import ConstantPolicy
    >>> ConstantPolicy(0.9).choose(None)
    0.9
    """

    mu: float
    sigma: float = DEFAULT_SIGMA
    encoder: StateEncoder | None = field(default_factory=StateEncoder, repr=False)

    def __post_init__(self):
        check_mu(self.mu, "A constant mu must be a number in [0, 1]")

    def choose(self, state) -> float:
        """Return mu."""
        return float(self.mu)

    def __call__(self, growth: Growth) -> GaussianDraw:
        """Return the draw of the next member."""
        return GaussianDraw(float(self.mu), self.sigma, observe(self.encoder, growth))


@dataclass(frozen=True)
class UniformPolicy:
    """Choose mu uniformly from [0, 1], whatever the state.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.policy import UniformPolicy
    >>> 0 <= UniformPolicy().sample(None, np.random.default_rng(0)) <= 1
    True
    """

    sigma, encoder = DEFAULT_SIGMA, StateEncoder()

    def sample(self, state, rng: np.random.Generator) -> float:
        """Draw mu."""
        return float(rng.random())

    def __call__(self, growth: Growth) -> GaussianDraw:
        """Return the draw of the next member; mu depends on its number alone."""
        mu = self.sample(None, growth.streams.generator(Stream.POLICY, growth.n_members))
        return GaussianDraw(mu, self.sigma, observe(self.encoder, growth))


class LearnedPolicy:
    """Choose how to draw by an actor that reads the state of the ensemble.

    It acts by the mean of the actor. The mean gives the same result each time, and scores the same
    as draws. For draws see :class:`Drawn`.

    Parameters
    ----------
    actor : GaussianPolicy
        The network; it is copied, so that nothing outside changes what this policy does.
    encoder : StateEncoder
        What the actor reads: the kind of state it was trained on.
    mu_min : float, default=0.0
        The mu of action 0; that of action 1 is 1.
    sigma : float, default=0.2
        Width of the Gaussian.
    summary : dict, default=None
        How the actor was trained.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.policy import GaussianPolicy, LearnedPolicy, StateEncoder
    >>> actor = GaussianPolicy(10, rng=np.random.default_rng(0))
    >>> policy = LearnedPolicy(actor, StateEncoder("all", n_bins=5), mu_min=0.4)
    >>> 0.4 <= policy.choose(np.full(10, 0.2)) <= 1
    True
    """

    def __init__(
        self,
        actor: GaussianPolicy,
        encoder: StateEncoder,
        mu_min: float = 0.0,
        sigma: float = DEFAULT_SIGMA,
        summary: dict[str, Any] | None = None,
    ):
        if not isinstance(actor, GaussianPolicy):
            raise TypeError(f"The actor must be a GaussianPolicy, got {actor!r}.")
        state_size = actor.network.sizes[0]
        if state_size != encoder.size:
            raise ValueError(
                f"The policy reads states of length {state_size}, but {encoder} have length "
                f"{encoder.size}."
            )
        # A copy of all arrays.
        self.actor = GaussianPolicy.from_layers(*zip(*actor.layers, strict=True))
        self.encoder = encoder
        self.mu_min = mu_min
        self.sigma = sigma
        self._summary = {} if summary is None else summary

    def __repr__(self):
        if self.encoder.action == "power":
            return f"LearnedPolicy({self.encoder})"
        return f"LearnedPolicy({self.encoder}, mu_min={self.mu_min}, sigma={self.sigma})"

    @property
    def reads_validation_rows(self) -> bool:
        """Return whether it needs validation rows; of the signal scouts make a guess without."""
        return self.encoder.kind != "signal"

    @property
    def summary(self) -> dict[str, Any]:
        """Return how the actor was trained, as a copy."""
        return copy.deepcopy(self._summary)

    def choose(self, state) -> float:
        """Return the mu in [mu_min, 1], or the power in [0, 6], for a state of `encoder`."""
        action = self.actor.choose(self._check_state(state))
        return spread_action(action, self.mu_min, self.encoder.action)

    def sample(self, state, rng: np.random.Generator) -> float:
        """Draw mu, or the power, for a state of `encoder`, by a `numpy.random.Generator`."""
        action = self.actor.sample(self._check_state(state), rng)
        return spread_action(action, self.mu_min, self.encoder.action)

    def __call__(self, growth: Growth) -> GaussianDraw | PowerDraw | None:
        """Return the draw of the next member."""
        state = observe(self.encoder, growth)
        if state is None:
            raise ValueError(
                "A learned policy reads errors of validation rows: pass X_val and y_val, or a "
                "validation_fraction."
            )
        kind = self.encoder.action
        return make_draw(self.choose(state), kind, self.sigma, state)

    def _check_state(self, state) -> np.ndarray:
        state = np.asarray(state, dtype=float)
        if not np.isfinite(state).all():
            raise ValueError(f"A meta-state must hold finite numbers, got {state}.")
        if state.shape != (self.encoder.size,):
            raise ValueError(
                f"This sampler reads {self.encoder}, vectors of length {self.encoder.size}; got "
                f"shape {state.shape}."
            )
        return state


def check_mu(value: Any, rule: str) -> None:
    """Raise a ValueError that begins with the rule if this is not a number in [0, 1]."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
        raise ValueError(f"{rule}, got {value!r}.")
