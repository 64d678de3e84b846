"""Multilayer perceptrons over one flat parameter vector.

The actor and the critics of soft actor-critic (Algorithm 3) are small ReLU networks. This module
writes their forward and backward pass once; :mod:`metasampler.meta._policy` and
:mod:`metasampler.meta._sac` add the distribution and the losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

import numpy as np


class MLP:
    """Fully connected ReLU network with a linear output, or a stack of equal ones.

    Every layer is one matrix of shape ``(n_in + 1, n_out)`` whose last row is the bias, and every
    layer is a view into ``parameters``. A stack holds ``copies`` networks of one shape and
    evaluates them on the same rows with one ``np.matmul`` per layer.

    Parameters
    ----------
    sizes : sequence of int
        Widths of the layers, from the input to the output.
    copies : int or None, default=None
        Number of stacked networks. ``None`` is a single network without a leading axis.
    rng : numpy.random.Generator or None, default=None
        Source of the initial weights. ``None`` leaves all parameters at zero.
    dtype : dtype, default=numpy.float32
        Type of the parameters and of every computation.

    Attributes
    ----------
    parameters : ndarray of shape (n_parameters,)
        All weights and biases. Write into it, do not replace it: the layers are views.
    gradient : ndarray of shape (n_parameters,)
        What the last :meth:`backward` computed, in the layout of ``parameters``.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        copies: int | None = None,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.sizes = tuple(int(size) for size in sizes)
        self.copies = copies
        self.parameters = np.zeros(sum(map(prod, self._shapes())), dtype=dtype)
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
        return () if self.copies is None else (self.copies,)

    def _shapes(self) -> list[tuple[int, ...]]:
        return [
            (*self._lead, n_in + 1, n_out)
            for n_in, n_out in zip(self.sizes[:-1], self.sizes[1:], strict=True)
        ]

    def _views(self, flat: np.ndarray) -> list[np.ndarray]:
        shapes = self._shapes()
        ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
        return [
            part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)
        ]

    def _connect(self) -> None:
        self.gradient = np.zeros_like(self.parameters)
        self.layers = self._views(self.parameters)
        self._gradients = self._views(self.gradient)
        self._transposed = [layer.swapaxes(-1, -2) for layer in self.layers]
        self._inputs: list[np.ndarray] = []

    def __getstate__(self) -> dict[str, Any]:
        # Pickle would store each view as an array of its own and cut it from the flat vector.
        return {"sizes": self.sizes, "copies": self.copies, "parameters": self.parameters}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connect()

    def forward(self, *blocks: np.ndarray) -> np.ndarray:
        """Evaluate the network, and keep the layer inputs for the backward pass.

        Parameters
        ----------
        *blocks : ndarray of shape (n, width)
            The input columns, in order; their widths sum to ``sizes[0]``.

        Returns
        -------
        ndarray of shape (n, n_out) or (copies, n, n_out)
        """
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

        Parameters
        ----------
        output_gradient : ndarray of shape (n, n_out) or (copies, n, n_out)
            If the forward pass had more rows, only its first ``n`` count.
        rows : int or None, default=None
            How many of the first rows enter ``gradient``; ``None`` is all.

        Returns
        -------
        ndarray of shape (n, sizes[1]) or (copies, n, sizes[1])
            The gradient at the output of the first layer, for :meth:`input_gradient`.
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
