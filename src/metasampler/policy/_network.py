"""The actor: a small ReLU network and a squashed Gaussian over mu. How it learns is in `meta`.

The meta-sampler (Algorithms 2 and 3) maps the meta-state to mu, the centre of the Gaussian weights
of Eq. 3. As in soft actor-critic (Haarnoja et al., 2018) the action is a Gaussian draw u squashed
by tanh, here moved to the unit interval: mu = (tanh(u) + 1) / 2.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, prod, sqrt, tanh
from numbers import Integral
from typing import Any

import numpy as np

#: Limits of the logarithm of the standard deviation.
LOG_STD_RANGE = (-20.0, 2.0)

# Networks beyond this are a mistake, and one that takes all memory.
_MOST_LAYERS, _WIDEST_LAYER = 10, 10_000


def layer_sizes(sizes: Any, name: str = "hidden_layer_sizes") -> tuple[int, ...]:
    """Return the widths of hidden layers as a tuple of int, or raise a ValueError."""
    listed: list[Any] = list(sizes) if isinstance(sizes, (tuple, list, np.ndarray)) else [None]
    whole = all(isinstance(size, Integral) and not isinstance(size, bool) for size in listed)
    fits = whole and all(1 <= size <= _WIDEST_LAYER for size in listed)
    if not fits or len(listed) > _MOST_LAYERS:
        raise ValueError(
            f"{name} must hold positive integers of at most {_WIDEST_LAYER}, and at most "
            f"{_MOST_LAYERS} of them, got {sizes!r}."
        )
    return tuple(int(size) for size in listed)


class Layers:
    """Hold the parameters of a fully connected ReLU network, or of a stack of ``copies``.

    Every layer is one matrix of shape ``(n_in + 1, n_out)`` whose last row is the bias. It is a
    view into ``parameters``, which may be those of another network; without ``rng`` they are zero.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        copies: int | None = None,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float32,
        parameters: np.ndarray | None = None,
    ) -> None:
        self.sizes = tuple(int(size) for size in sizes)
        self.copies = copies
        if parameters is None:
            parameters = np.zeros(sum(map(prod, self._shapes())), dtype=dtype)
        self.parameters = parameters
        self._connect()
        if rng is not None:
            for layer in self.layers:
                # Glorot's range keeps the first outputs small: a policy that starts near mean 0 and
                # log-std 0 tries the whole of [0, 1], and critics that start near 0 favour nothing.
                limit = sqrt(6.0 / (layer.shape[-2] - 1 + layer.shape[-1]))
                weights = layer[..., :-1, :]
                weights[...] = rng.uniform(-limit, limit, size=weights.shape)

    @property
    def _lead(self) -> tuple[int, ...]:
        # A stack lies along a leading axis.
        return () if self.copies is None else (self.copies,)

    def _shapes(self) -> list[tuple[int, ...]]:
        return [(*self._lead, n_in + 1, n_out) for n_in, n_out in pairwise(self.sizes)]

    def _views(self, flat: np.ndarray) -> list[np.ndarray]:
        shapes = self._shapes()
        ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
        return [
            part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)
        ]

    def _connect(self) -> None:
        self.layers = self._views(self.parameters)

    def __getstate__(self) -> dict[str, Any]:
        # Pickle would store each view as an array of its own and cut it from the flat vector.
        return {"sizes": self.sizes, "copies": self.copies, "parameters": self.parameters}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connect()


class GaussianPolicy:
    """Choose actions in [0, 1] by a Gaussian that is squashed: the actor.

    A ReLU network with layers of the widths ``hidden`` gives the mean and the log standard
    deviation of a Gaussian. The action is a draw u of it, or its mean, mapped by (tanh(u) + 1) / 2.
    It starts with mean and log-std near 0, so that its draws cover [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.policy import GaussianPolicy
    >>> policy = GaussianPolicy(10, rng=np.random.default_rng(0))
    >>> 0.0 <= policy.choose(np.full(10, 0.2)) <= 1.0
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
        rng = np.random.default_rng(rng)
        # The heads share one matrix of two columns (mean, log-std): one matmul serves both.
        self.network = Layers((state_size, *layer_sizes(hidden), 2), rng=rng, dtype=dtype)

    @classmethod
    def from_layers(
        cls, weights: Sequence[np.ndarray], biases: Sequence[np.ndarray]
    ) -> "GaussianPolicy":
        """Build a policy from copies of its layers' arrays, in their common floating type.

        The last matrix has the two columns mean and log-std. Shapes that form no network, and
        values that are not finite, are a ValueError.
        """
        weights = [np.asarray(w) for w in weights]
        biases = [np.asarray(b) for b in biases]
        if not weights or len(weights) != len(biases):
            raise ValueError(
                "A policy needs at least one layer and one bias per weight matrix, got "
                f"{len(weights)} weight matrices and {len(biases)} biases."
            )
        for i, (w, b) in enumerate(zip(weights, biases, strict=True)):
            if w.dtype.kind not in "fiu" or b.dtype.kind not in "fiu":
                raise ValueError(f"Layer {i} must hold real numbers, got {w.dtype} and {b.dtype}.")
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
        policy.network = Layers(sizes, dtype=dtype)
        for (own_w, own_b), w, b in zip(policy.layers, weights, biases, strict=True):
            own_w[...] = w
            own_b[...] = b
        return policy

    @property
    def state_size(self) -> int:
        """Return the length of a state."""
        return self.network.sizes[0]

    @property
    def hidden(self) -> tuple[int, ...]:
        """Return the widths of the hidden layers."""
        return self.network.sizes[1:-1]

    @property
    def parameters(self) -> np.ndarray:
        """Return all weights and biases, as one vector that may be written in place."""
        return self.network.parameters

    @property
    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return weights (n_in, n_out) and biases (n_out,) of each layer, as views."""
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

    def choose(self, state: np.ndarray) -> float:
        """Return the action at the mean of the Gaussian; the state is not validated."""
        return 0.5 * tanh(self._heads(state)[0]) + 0.5

    def sample(self, state: np.ndarray, rng: np.random.Generator) -> float:
        """Return a random action, to explore with; the state is not validated."""
        mean, log_std = self._heads(state).tolist()
        std = exp(min(max(log_std, LOG_STD_RANGE[0]), LOG_STD_RANGE[1]))
        return 0.5 * tanh(mean + std * rng.standard_normal()) + 0.5
