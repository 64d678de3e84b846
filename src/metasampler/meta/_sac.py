"""Soft actor-critic in NumPy, the trainer of MESA's meta-sampler (Algorithm 3).

The algorithm is that of Haarnoja et al. (2018), "Soft Actor-Critic Algorithms and Applications":
two critics with target copies and no value network. The networks have a few thousand weights, so
calls cost more than arithmetic: both critics are one stack, each optimiser works on one flat
vector, each pass is a few calls, and the gradients are written by hand.
"""

from math import log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from metasampler.policy import LOG_STD_RANGE, GaussianPolicy, Layers

# ---------------------------------------------------------------------- networks that learn


class MLP(Layers):
    """Evaluate a fully connected ReLU network with a linear output, or a stack on the same rows."""

    def _connect(self) -> None:
        super()._connect()
        # What the last backward pass computed, in the layout of the parameters.
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
        np.concatenate(blocks, axis=1, out=x[:, :-1])
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
        """Carry the gradient of the last forward pass's first rows back to the first layer.

        The first ``rows`` of these, or all, enter ``gradient``; all are in what is returned.
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
        """Write ``network.gradient`` of a loss over the first actions of the last draw."""
        # The noise is held fixed (the reparametrisation trick), so the loss depends on the
        # parameters through the action and through the log density.
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
        """Return what to subtract in a step, counted from 1; the next call overwrites it."""
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


# ---------------------------------------------------------------------- the algorithm


class Batch(NamedTuple):
    """Hold transitions, one per row."""

    state: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_state: np.ndarray
    done: np.ndarray


class ReplayMemory:
    """Keep the last ``capacity`` transitions, as rows of one ring array."""

    def __init__(self, capacity: int, state_size: int, dtype: Any = np.float32) -> None:
        self.state_size = state_size
        self.rows = np.zeros((capacity, 2 * state_size + 3), dtype=dtype)
        self.n_added = 0

    def __len__(self) -> int:
        return min(self.n_added, len(self.rows))

    def add(self, state, action: float, reward: float, next_state, done: bool) -> None:
        """Store one transition; ``done`` says that the next state has no value."""
        row = (*state, action, reward, *next_state, done)
        self.rows[self.n_added % len(self.rows)] = row
        self.n_added += 1

    def sample(self, batch_size: int, rng: np.random.Generator) -> Batch:
        """Draw transitions with replacement, so that a batch is full when the memory is not."""
        # Scaled uniforms cost half of what rng.integers does; their bias is below 2**-40.
        indices = (rng.random(batch_size) * len(self)).astype(np.intp)
        rows = self.rows.take(indices, axis=0)
        s = self.state_size
        return Batch(rows[:, :s], rows[:, s], rows[:, s + 1], rows[:, s + 2 : -1], rows[:, -1])


class SAC:
    """Improve a policy, in place, by soft actor-critic with a `SoftActorCritic`'s settings."""

    # No settings: nothing that was measured varies them. Target critics move by tau in an update.
    critic_hidden, batch_size, tau, decay_steps = (50, 50), 64, 0.01, 10

    def __init__(self, settings, policy: GaussianPolicy, rng: np.random.Generator) -> None:
        self.settings = settings
        self.policy = policy
        self.rng = rng
        self.n_updates_ = 0
        self.alpha = float(settings.alpha)
        state_size, dtype = policy.network.sizes[0], policy.network.parameters.dtype
        self.memory = ReplayMemory(settings.memory_size, state_size, dtype)
        self.actor = Actor(policy)
        sizes = (state_size + 1, *self.critic_hidden, 1)
        self.critics = MLP(sizes, copies=2, rng=rng, dtype=dtype)
        self.target_critics = MLP(sizes, copies=2, dtype=dtype)
        self.target_critics.parameters[:] = self.critics.parameters
        # Adam treats each parameter alone, so one optimiser can serve both networks.
        n_parameters = self.critics.parameters.size + policy.network.parameters.size
        self._adam = Adam(n_parameters, dtype)

    @property
    def current_learning_rate(self) -> float:
        """Return the step size of the next update."""
        steps = self.n_updates_ // self.decay_steps
        return self.settings.learning_rate * self.settings.lr_decay**steps

    def update(self) -> None:
        """Do one gradient step on a random batch of the memory."""
        n, dtype = self.batch_size, self.memory.rows.dtype
        self.learn(self.memory.sample(n, self.rng), self.rng.standard_normal(2 * n, dtype=dtype))

    def learn(self, batch: Batch, noise: np.ndarray) -> None:
        """Do one gradient step on a batch, with noise for its states and then its next states."""
        self.compute_gradients(batch, noise)
        gradient = np.concatenate((self.critics.gradient, self.actor.network.gradient))
        step = self._adam.step(gradient, self.current_learning_rate, self.n_updates_ + 1)
        split = self.critics.parameters.size
        self.critics.parameters -= step[:split]
        self.policy.network.parameters -= step[split:]
        target = self.target_critics.parameters
        target *= 1.0 - self.tau
        target += self.tau * self.critics.parameters
        self.n_updates_ += 1

    def compute_gradients(self, batch: Batch, noise: np.ndarray) -> None:
        """Write the gradients of both losses.

        The critics' loss is the mean squared error against the soft Bellman targets, summed over
        the two; the policy's loss is the mean of alpha log pi - min Q.
        """
        # Both are taken at the same parameters, so one pass through each network serves both.
        n = len(batch.reward)
        draw = self.actor.draw(np.concatenate((batch.state, batch.next_state)), noise)
        # Soft Bellman targets: r + gamma (min Q' - alpha log pi), or r at an end.
        future = self.target_critics.forward(batch.next_state, draw.action[n:, None])[..., 0]
        targets = np.minimum(*future)
        targets -= self.alpha * draw.log_prob[n:]
        targets *= self.settings.gamma * (1.0 - batch.done)
        targets += batch.reward
        # The first n rows hold the remembered actions, for the critics' loss. The others hold the
        # drawn ones, for the policy's loss.
        states = np.concatenate((batch.state, batch.state))
        actions = np.concatenate((batch.action, draw.action[:n]))
        values = self.critics.forward(states, actions[:, None])
        by_value = np.empty_like(values)
        by_value[:, :n] = (values[:, :n] - targets[:, None]) * (2.0 / n)
        # The policy's loss has -min Q, so only the smaller of both values has a gradient.
        first_is_smaller = values[0, n:] <= values[1, n:]
        by_value[0, n:] = np.where(first_is_smaller, -1.0 / n, 0.0)
        by_value[1, n:] = np.where(first_is_smaller, 0.0, -1.0 / n)
        by_first = self.critics.backward(by_value, rows=n)
        by_action = self.critics.input_gradient(by_first[:, n:], column=-2)
        self.actor.backward(draw, by_action[0] + by_action[1], self.alpha / n)

    def get_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all that later updates depend on: plain facts, and the arrays themselves."""
        facts = {
            "n_updates": self.n_updates_,
            "n_remembered": self.memory.n_added,
            "rng": self.rng.bit_generator.state,
        }
        arrays = {
            "policy": self.policy.parameters,
            "critics": self.critics.parameters,
            "target_critics": self.target_critics.parameters,
            "adam": self._adam.moments,
            "memory": self.memory.rows[: len(self.memory)],
        }
        return facts, arrays

    def set_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Go on from what :meth:`get_state` gave, in an agent of the same settings."""
        self.n_updates_ = int(facts["n_updates"])
        self.memory.n_added = int(facts["n_remembered"])
        self.rng.bit_generator.state = facts["rng"]
        for name, own in self.get_state()[1].items():
            own[...] = arrays[name]
