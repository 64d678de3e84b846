"""Networks as lists of tensors: a step of training is then a function one can differentiate."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

__all__ = ["forward", "import_torch", "initialise", "logistic_losses"]

Tensors = list[Any]


def import_torch() -> Any:
    """Return PyTorch, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            'Deep networks need PyTorch: pip install "metasampler-bench[deep]"'
        ) from error
    return torch


def initialise(
    sizes: Sequence[int], generator: Any, dtype: Any = None, *, flat: bool = False
) -> Tensors:
    """Return weights and biases, layer by layer.

    Parameters
    ----------
    sizes : sequence of int
        Widths from the input to the output.
    generator : torch.Generator
        Source of randomness.
    dtype : torch dtype, default=None
        None means float32.
    flat : bool, default=False
        Whether to start as PyTorch's own layers do, evenly spread to 1 / sqrt(inputs), instead of
        with He's normal weights and zero biases. With one input the network is six times as flat.

    Returns
    -------
    parameters : list of Tensor
        W_1, b_1, W_2, b_2, ...; all of them require gradients.
    """
    torch = import_torch()
    options = {"generator": generator, "dtype": torch.float32 if dtype is None else dtype}
    parameters: Tensors = []
    for n_in, n_out in pairwise(sizes):
        if flat:
            layer = [torch.rand(*shape, **options) * 2 - 1 for shape in ((n_in, n_out), (n_out,))]
            layer = [values / n_in**0.5 for values in layer]
        else:
            weights = torch.randn(n_in, n_out, **options) * (2 / n_in) ** 0.5
            layer = [weights, torch.zeros(n_out, dtype=options["dtype"])]
        parameters += [values.requires_grad_() for values in layer]
    return parameters


def forward(parameters: Tensors, X: Any) -> Any:
    """Return the one output of a ReLU network for each row."""
    *hidden, weights, bias = parameters
    for W, b in zip(hidden[::2], hidden[1::2], strict=True):
        X = (X @ W + b).relu()
    return (X @ weights + bias)[:, 0]


def logistic_losses(parameters: Tensors, X: Any, y: Any) -> Any:
    """Return the cross-entropy of each row."""
    functional = import_torch().nn.functional
    logits = forward(parameters, X)
    return functional.binary_cross_entropy_with_logits(logits, y, reduction="none")
