"""Policies that learn nothing: what a learned meta-sampler has to beat."""

from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from metasampler.meta._state import StateEncoder

__all__ = ["DEFAULT_SIGMA", "ConstantPolicy", "UniformPolicy"]

#: Width of the Gaussian over errors that the paper recommends.
DEFAULT_SIGMA = 0.2


@dataclass(frozen=True)
class ConstantPolicy:
    """Choose the same mu in every state.

    Parameters
    ----------
    mu : float
        In [0, 1].
    sigma : float, default=0.2
        Width of the Gaussian.

    Examples
    --------
    >>> from metasampler.meta import ConstantPolicy
    >>> ConstantPolicy(0.9).sample(None, None)
    0.9
    """

    mu: float
    sigma: float = DEFAULT_SIGMA
    encoder_: StateEncoder = field(default_factory=StateEncoder)

    def __post_init__(self):
        if not isinstance(self.mu, Real) or not 0 <= self.mu <= 1:
            raise ValueError(f"A constant mu must be a number in [0, 1], got {self.mu!r}.")

    def predict(self, state) -> float:
        """Return mu."""
        return float(self.mu)

    def sample(self, state, rng: np.random.Generator) -> float:
        """Return mu."""
        return float(self.mu)


@dataclass(frozen=True)
class UniformPolicy:
    """Choose mu uniformly from [0, 1], whatever the state.

    Parameters
    ----------
    sigma : float, default=0.2
        Width of the Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.meta import UniformPolicy
    >>> 0 <= UniformPolicy().sample(None, np.random.default_rng(0)) <= 1
    True
    """

    sigma: float = DEFAULT_SIGMA
    encoder_: StateEncoder = field(default_factory=StateEncoder)

    def predict(self, state) -> float:
        """Return the mean of the uniform distribution."""
        return 0.5

    def sample(self, state, rng: np.random.Generator) -> float:
        """Draw mu."""
        return float(rng.random())
