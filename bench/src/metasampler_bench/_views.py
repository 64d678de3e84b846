"""Show a policy something else than its state, to find out whether it looks."""

from __future__ import annotations

from typing import Any

import numpy as np

from metasampler.growth import GaussianDraw, Growth, Stream

__all__ = ["VIEWS", "Viewed"]

#: What a policy can be shown, and what tables call it.
VIEWS = {
    "shuffled": "entries of the state in random order",
    "of-another-step": "state of the first step at every step",
    "constant": "flat histograms",
    "no-validation": "training half in place of the validation half",
}


class Viewed:
    """A fitted sampler that sees another state than the one there is.

    Parameters
    ----------
    sampler : MetaSampler
        Fitted, with states of kind "all": two histograms of equal length.
    view : str
        One of ``VIEWS``.

    Examples
    --------
    >>> from metasampler.meta import MetaSampler
    >>> from metasampler_bench._views import Viewed
    >>> policy = Viewed(MetaSampler.load("mammography"), "constant")
    >>> policy.seen([0.7, 0.1, 0.1, 0.1, 0, 0.5, 0.2, 0.2, 0.1, 0], None).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2]
    """

    reads_validation_rows = True

    def __init__(self, sampler: Any, view: str):
        self.policy = sampler.as_policy()
        self.view = view
        self._first: np.ndarray | None = None

    @property
    def sigma(self) -> float:
        """Return the width of the Gaussian."""
        return self.policy.sigma

    @property
    def encoder(self) -> Any:
        """Return what makes the states."""
        return self.policy.encoder

    def seen(self, state: Any, rng: Any) -> np.ndarray:
        """Return what the policy is shown in the place of a state."""
        state = np.asarray(state, dtype=float)
        half = len(state) // 2
        if self.view == "shuffled":
            return np.concatenate([rng.permutation(state[:half]), rng.permutation(state[half:])])
        if self.view == "constant":
            return np.full(len(state), 1 / half)
        if self.view == "no-validation":
            return np.concatenate([state[:half], state[:half]])
        return state if self._first is None else self._first

    def __call__(self, growth: Growth) -> GaussianDraw:
        """Return the draw of the next member."""
        state = self.encoder(growth)
        if growth.n_members == 1:
            self._first = state
        rng = growth.streams.generator(Stream.POLICY, growth.n_members)
        return GaussianDraw(self.policy.choose(self.seen(state, rng)), self.sigma, state)
