"""The actor: a squashed Gaussian policy over the sampling centre mu in [0, 1].

MESA's meta-sampler (Algorithms 2 and 3) maps the meta-state to mu, the centre of the Gaussian
weights of Eq. 3. As in soft actor-critic (Haarnoja et al., 2018) the action is a Gaussian draw u
squashed by tanh, here moved to the unit interval: mu = (tanh(u) + 1) / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, pi, tanh
from typing import Any, NamedTuple

import numpy as np

from metasampler.meta._mlp import MLP

LOG_STD_MIN, LOG_STD_MAX = -20.0, 2.0


def squashed_log_prob(u: np.ndarray, noise: np.ndarray, log_std: np.ndarray) -> np.ndarray:
    """Return the log density on [0, 1] of (tanh(u) + 1) / 2, where u = mean + std * noise.

    The change of variables needs log(1 - tanh(u)^2), which rounds to log(0) in float32 from
    |u| = 9 on. Written 2 (log 2 - u - softplus(-2u)) = 2 (log 2 - log(e^u + e^-u)) it is exact for
    any finite u. Halving the interval from (-1, 1) to (0, 1) adds log 2 to the density.
    """
    log_prob = np.logaddexp(u, -u)
    log_prob -= (0.25 * noise) * noise
    log_prob -= 0.25 * log(2.0 * pi) + 0.5 * log(2.0)
    log_prob += log_prob
    log_prob -= log_std
    return log_prob


class Draw(NamedTuple):
    """A batch of actions drawn with given noise, and what their gradient needs."""

    action: np.ndarray
    log_prob: np.ndarray
    squashed: np.ndarray
    spread: np.ndarray
    unclipped: np.ndarray


class GaussianPolicy:
    """Gaussian policy squashed to the action mu in [0, 1].

    A ReLU network gives the mean and the log standard deviation of a Gaussian; mu is a draw u of
    it, or its mean, mapped by (tanh(u) + 1) / 2.

    Parameters
    ----------
    state_size : int
        Length of the meta-state.
    hidden : tuple of int, default=(50,)
        Widths of the hidden layers.
    rng : numpy.random.Generator or None, default=None
        Source of the initial weights: Glorot uniform, with zero biases, so that the untrained
        policy has mean and log-std near 0 and its draws cover [0, 1].
    dtype : dtype, default=numpy.float32
        Type of the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.meta import GaussianPolicy
    >>> policy = GaussianPolicy(10, rng=np.random.default_rng(0))
    >>> 0.0 <= policy.predict(np.full(10, 0.2)) <= 1.0
    True
    >>> [weights.shape for weights, _ in policy.layers]
    [(10, 50), (50, 2)]
    """

    def __init__(
        self,
        state_size: int,
        hidden: Sequence[int] = (50,),
        *,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        if rng is None:
            rng = np.random.default_rng()
        # The heads share one matrix of two columns (mean, log-std): one matmul serves both.
        self.network = MLP((state_size, *hidden, 2), rng=rng, dtype=dtype)

    @classmethod
    def from_layers(
        cls, weights: Sequence[np.ndarray], biases: Sequence[np.ndarray]
    ) -> GaussianPolicy:
        """Build a policy from the arrays of its layers.

        Parameters
        ----------
        weights : sequence of array of shape (n_in, n_out)
            From the input layer to the output; the last has the two columns mean and log-std.
        biases : sequence of array of shape (n_out,)
            One per weight matrix.

        Returns
        -------
        GaussianPolicy
            With copies of the arrays, in their common floating type (at least float32).

        Raises
        ------
        ValueError
            If the shapes do not form a network, or a value is not finite.
        """
        weights = [np.asarray(w) for w in weights]
        biases = [np.asarray(b) for b in biases]
        if not weights or len(weights) != len(biases):
            raise ValueError(
                "A policy needs at least one layer and one bias per weight matrix, got "
                f"{len(weights)} weight matrices and {len(biases)} biases."
            )
        for i, (w, b) in enumerate(zip(weights, biases, strict=True)):
            if w.ndim != 2 or 0 in w.shape:
                raise ValueError(f"Weights of layer {i} must be a matrix, got shape {w.shape}.")
            if b.shape != w.shape[1:]:
                raise ValueError(
                    f"Biases of layer {i} must have shape {w.shape[1:]}, got {b.shape}."
                )
            if i and w.shape[0] != weights[i - 1].shape[1]:
                raise ValueError(
                    f"Layer {i} takes {w.shape[0]} inputs but layer {i - 1} has "
                    f"{weights[i - 1].shape[1]} outputs."
                )
            if not (np.isfinite(w).all() and np.isfinite(b).all()):
                raise ValueError(f"Layer {i} holds values that are not finite.")
        if weights[-1].shape[1] != 2:
            raise ValueError(
                f"The last layer must have 2 outputs (mean, log-std), got {weights[-1].shape[1]}."
            )
        policy = cls.__new__(cls)
        sizes = (weights[0].shape[0], *(w.shape[1] for w in weights))
        dtype = np.result_type(np.float32, *weights, *biases)
        policy.network = MLP(sizes, dtype=dtype)
        for (own_w, own_b), w, b in zip(policy.layers, weights, biases, strict=True):
            own_w[...] = w
            own_b[...] = b
        return policy

    @classmethod
    def from_actor(cls, actor: Any) -> GaussianPolicy:
        """Take over the weights of an actor of Stable-Baselines3's SAC.

        Parameters
        ----------
        actor : stable_baselines3.sac.policies.Actor
            With ReLU hidden layers and an action on [0, 1].

        Returns
        -------
        GaussianPolicy
            Acts as the actor does.
        """
        # Nothing of torch is imported: a layer is known by the arrays it has.
        if not hasattr(actor.log_std, "weight"):
            raise ValueError("The actor's log_std must be a layer; use_sde=True is not supported.")
        linear = [layer for layer in actor.latent_pi if hasattr(layer, "weight")]
        other = {type(layer).__name__ for layer in actor.latent_pi if layer not in linear}
        if other - {"ReLU"}:
            raise ValueError(f"The actor's hidden layers must be ReLU, got {sorted(other)}.")

        def arrays(layer):
            return layer.weight.detach().cpu().numpy().T, layer.bias.detach().cpu().numpy()

        weights, biases = map(list, zip(*map(arrays, linear), strict=True))
        heads = [arrays(actor.mu), arrays(actor.log_std)]
        weights.append(np.hstack([head[0] for head in heads]))
        biases.append(np.hstack([head[1] for head in heads]))
        return cls.from_layers(weights, biases)

    @property
    def state_size(self) -> int:
        """Length of the state."""
        return self.network.sizes[0]

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        return self.network.sizes[1:-1]

    @property
    def parameters(self) -> np.ndarray:
        """All weights and biases, as one vector that may be written in place."""
        return self.network.parameters

    @property
    def decides_mean(self) -> np.ndarray:
        """For each parameter, whether the mean action depends on it."""
        # The last layer has the columns mean and log-std; the second has no part in the mean.
        mask = np.ones(self.parameters.size, dtype=bool)
        mask[-2 * (self.network.sizes[-2] + 1) :][1::2] = False
        return mask

    @property
    def dtype(self) -> np.dtype:
        """Type of the parameters."""
        return self.network.parameters.dtype

    @property
    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weights (n_in, n_out) and biases (n_out,) of each layer, views into ``parameters``."""
        return [(layer[:-1], layer[-1]) for layer in self.network.layers]

    def _heads(self, state: np.ndarray) -> np.ndarray:
        # A single state skips the batch machinery: this runs once per ensemble member.
        layers = self.network.layers
        x = np.asarray(state, layers[0].dtype)
        for layer in layers[:-1]:
            x = x.dot(layer[:-1])
            x += layer[-1]
            np.maximum(x, 0, out=x)
        x = x.dot(layers[-1][:-1])
        x += layers[-1][-1]
        return x

    def predict(self, state: np.ndarray) -> float:
        """Return mu at the mean of the Gaussian, the action to use once training is over.

        Parameters
        ----------
        state : ndarray of shape (state_size,)
            Not validated.

        Returns
        -------
        float
            In [0, 1].
        """
        return 0.5 * tanh(self._heads(state)[0]) + 0.5

    def sample(self, state: np.ndarray, rng: np.random.Generator) -> float:
        """Return a random mu, the action to explore with.

        Parameters
        ----------
        state : ndarray of shape (state_size,)
            Not validated.
        rng : numpy.random.Generator
            Gives one standard normal number.

        Returns
        -------
        float
            In [0, 1].
        """
        mean, log_std = self._heads(state).tolist()
        std = exp(min(max(log_std, LOG_STD_MIN), LOG_STD_MAX))
        return 0.5 * tanh(mean + std * rng.standard_normal()) + 0.5

    def draw(self, states: np.ndarray, noise: np.ndarray) -> Draw:
        """Return actions and log densities for a batch of states and standard normal noise.

        Parameters
        ----------
        states : ndarray of shape (n, state_size)
        noise : ndarray of shape (n,)

        Returns
        -------
        Draw
        """
        mean, raw = np.ascontiguousarray(self.network.forward(states).T)
        log_std = np.minimum(np.maximum(raw, LOG_STD_MIN), LOG_STD_MAX)
        spread = np.exp(log_std)
        spread *= noise
        u = mean + spread
        squashed = np.tanh(u)
        action = 0.5 * squashed
        action += 0.5
        log_prob = squashed_log_prob(u, noise, log_std)
        return Draw(action, log_prob, squashed, spread, raw == log_std)

    def backward(self, draw: Draw, action_gradient: np.ndarray, log_prob_gradient: float) -> None:
        """Write into ``network.gradient`` the gradient of a loss over the last draw.

        The noise is held fixed (the reparametrisation trick), so the loss depends on the
        parameters through the action and through the log density.

        Parameters
        ----------
        draw : Draw
            Result of the last :meth:`draw`.
        action_gradient : ndarray of shape (m,)
            Derivative of the loss by each of the first ``m`` actions; the rest do not count.
        log_prob_gradient : float
            Derivative of the loss by each of their log densities.
        """
        m = len(action_gradient)
        squashed = draw.squashed[:m]
        # d action / du = (1 - tanh^2) / 2, and d log_prob / du = 2 tanh at fixed noise.
        by_u = 0.5 * action_gradient * (1.0 - squashed * squashed)
        by_u += (2.0 * log_prob_gradient) * squashed
        by_heads = np.empty((m, 2), self.dtype)
        by_heads[:, 0] = by_u
        by_u *= draw.spread[:m]
        by_u -= log_prob_gradient
        np.multiply(by_u, draw.unclipped[:m], out=by_heads[:, 1])
        self.network.backward(by_heads)
