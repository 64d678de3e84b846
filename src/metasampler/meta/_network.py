"""Networks that learn: gradients by hand, and the steps of Adam.

Networks this small spend their time in calls, so each pass is a few of them.
"""

from __future__ import annotations

from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np

from metasampler.policy import LOG_STD_RANGE, GaussianPolicy, Layers


class MLP(Layers):
    """Evaluate a fully connected ReLU network with a linear output, or a stack of equal ones.

    A stack is evaluated on the same rows with one ``np.matmul`` per layer. ``gradient`` is what the
    last :meth:`backward` computed, in the layout of ``parameters``.
    """

    def _connect(self) -> None:
        super()._connect()
        self.gradient = np.zeros_like(self.parameters)
        self._gradients = self._views(self.gradient)
        self._transposed = [layer.swapaxes(-1, -2) for layer in self.layers]
        self._inputs: list[np.ndarray] = []

    def forward(self, *blocks: np.ndarray) -> np.ndarray:
        """Evaluate the network on blocks of columns; keep layer inputs for the backward pass."""
        n = len(blocks[0])
        if not self._inputs or len(self._inputs[0]) != n:
            self._allocate(n)
        x = self._inputs[0]
        start = 0
        for block in blocks:
            stop = start + block.shape[1]
            x[:, start:stop] = block
            start = stop
        for layer, (hidden, units, zeros) in zip(self.layers, self._hidden, strict=False):
            np.matmul(x, layer, out=units)
            x = np.maximum(hidden, zeros, out=hidden)
        return np.matmul(x, self.layers[-1])

    def _allocate(self, n: int) -> None:
        # The last column stays 1 for ever and meets the bias row: no bias is ever added or summed.
        # ReLU leaves it alone, so each elementwise step may run over the whole contiguous block.
        dtype = self.parameters.dtype
        self._inputs = [np.ones((n, self.sizes[0] + 1), dtype)]
        self._inputs += [np.ones((*self._lead, n, size + 1), dtype) for size in self.sizes[1:-1]]
        self._input_gradients = [np.empty_like(h) for h in self._inputs[1:]]
        # NumPy's maximum is three times as fast against an array of zeros as against a scalar.
        self._hidden = [(h, h[..., :-1], np.zeros_like(h)) for h in self._inputs[1:]]

    def backward(self, output_gradient: np.ndarray, rows: int | None = None) -> np.ndarray:
        """Carry a loss gradient from the output of the last forward pass back to its input.

        If the forward pass had more rows than ``output_gradient``, only its first ones count; the
        first ``rows`` of these, or all, enter ``gradient``. What is returned is the gradient at the
        output of the first layer, for :meth:`input_gradient`.
        """
        by_output = output_gradient
        n = by_output.shape[-2]
        for i in range(len(self.layers) - 1, -1, -1):
            inputs = self._inputs[i][..., :n, :]
            np.matmul(
                inputs[..., :rows, :].swapaxes(-1, -2),
                by_output[..., :rows, :],
                out=self._gradients[i],
            )
            if i:
                # From a single output the product is an outer one, and BLAS is slow at those.
                product = np.multiply if by_output.shape[-1] == 1 else np.matmul
                by_input = self._input_gradients[i - 1][..., :n, :]
                product(by_output, self._transposed[i], out=by_input)
                by_input *= inputs > 0
                by_output = by_input[..., :-1]
        return by_output

    def input_gradient(self, first_gradient: np.ndarray, column: int) -> np.ndarray:
        """Return the gradient by one input column, from what :meth:`backward` returned."""
        return np.matmul(first_gradient, self.layers[0][..., column, :, None])[..., 0]


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
    """Hold a batch of actions drawn with given noise, and what their gradient needs."""

    action: np.ndarray
    log_prob: np.ndarray
    squashed: np.ndarray
    spread: np.ndarray
    unclipped: np.ndarray


class Actor:
    """Draw actions of a policy in batches, and carry gradients back to its parameters."""

    def __init__(self, policy: GaussianPolicy) -> None:
        # The parameters are looked at where they are, so that both change together.
        self.network = MLP(policy.network.sizes, parameters=policy.network.parameters)

    def draw(self, states: np.ndarray, noise: np.ndarray) -> Draw:
        """Return actions and log densities for n states and as many standard normal numbers."""
        mean, raw = np.ascontiguousarray(self.network.forward(states).T)
        log_std = np.minimum(np.maximum(raw, LOG_STD_RANGE[0]), LOG_STD_RANGE[1])
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

        The noise is held fixed (the reparametrisation trick), so the loss depends on the parameters
        through the action and through the log density. It is given by its derivatives by the first
        actions, of which the rest do not count, and by each of their log densities.
        """
        m = len(action_gradient)
        squashed = draw.squashed[:m]
        # d action / du = (1 - tanh^2) / 2, and d log_prob / du = 2 tanh at fixed noise.
        by_u = 0.5 * action_gradient * (1.0 - squashed * squashed)
        by_u += (2.0 * log_prob_gradient) * squashed
        by_heads = np.empty((m, 2), self.network.parameters.dtype)
        by_heads[:, 0] = by_u
        by_u *= draw.spread[:m]
        by_u -= log_prob_gradient
        np.multiply(by_u, draw.unclipped[:m], out=by_heads[:, 1])
        self.network.backward(by_heads)


class Adam:
    """Make the steps of Adam (Kingma and Ba, 2015) on one flat vector."""

    beta1, beta2, eps = 0.9, 0.999, 1e-8

    def __init__(self, size: int, dtype) -> None:
        self.moments = np.zeros((2, size), dtype)
        self._scratch = np.empty(size, dtype)

    def step(self, gradient: np.ndarray, learning_rate: float, number: int) -> np.ndarray:
        """Return what to subtract from the parameters; the next call overwrites it.

        The number of the first step is 1.
        """
        total, total_square = self.moments
        total *= self.beta1
        total += gradient
        work = np.multiply(gradient, gradient, out=self._scratch)
        total_square *= self.beta2
        total_square += work
        # The moments are kept as decayed sums. What makes them unbiased means is a division by the
        # sum of the weights, a scalar, which moves into the step size and eps.
        weight = (1.0 - self.beta1**number) / (1.0 - self.beta1)
        root = sqrt((1.0 - self.beta2**number) / (1.0 - self.beta2))
        np.sqrt(total_square, out=work)
        work += self.eps * root
        np.divide(total, work, out=work)
        work *= learning_rate * root / weight
        return work
