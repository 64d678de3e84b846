"""How much each row of a batch counts: fixed rules, and rules that are learned on other rows."""

from __future__ import annotations

from typing import Any, NamedTuple

from metasampler_bench.deep._network import (
    Tensors,
    forward,
    import_torch,
    initialise,
    logistic_losses,
)

__all__ = [
    "GradientHarmonising",
    "MetaWeightNet",
    "balanced",
    "focal",
    "hardest",
    "learned_by_validation",
]

#: From the paper of the focal loss: how fast easy rows fade, and the weight of the positives.
_FOCAL_GAMMA, _FOCAL_ALPHA = 2.0, 0.25
#: Fraction of a batch that online hard example mining keeps.
_HARD_PART = 0.25
#: In gradient harmonising: regions of the gradient norm, and how much of their counts is kept.
_N_REGIONS, _KEPT_COUNTS = 30, 0.75
#: Hidden units of the weighting network, its step and its decay, as in the code of its authors (and
#: so is its start, flat enough that no loss begins without weight).
_N_HIDDEN, _META_RATE, _META_DECAY = 100, 1e-3, 1e-4


class Batch(NamedTuple):
    """Rows and labels."""

    X: Any
    y: Any


def balanced(y: Any) -> Any:
    """Return weights by which both classes count the same, with a mean of one."""
    share = y.mean()
    return import_torch().where(y == 1, 0.5 / share, 0.5 / (1 - share))


def focal(losses: Any, y: Any) -> Any:
    """Return the focal loss of each row (Lin et al. 2017)."""
    right = (-losses).exp()
    alpha = import_torch().where(y == 1, _FOCAL_ALPHA, 1 - _FOCAL_ALPHA)
    return alpha * (1 - right) ** _FOCAL_GAMMA * losses


def hardest(losses: Any) -> Any:
    """Return weights that keep the hardest quarter of a batch (OHEM, Shrivastava et al. 2016)."""
    n_kept = max(1, round(_HARD_PART * len(losses)))
    weights = import_torch().zeros_like(losses)
    weights[losses.detach().topk(n_kept).indices] = 1 / n_kept
    return weights


class GradientHarmonising:
    """Weights by which all gradient norms count the same (GHM-C, Li et al. 2019).

    The norm of a row's gradient is 1 - p(true class). Rows in a region of norms share one weight,
    so the many easy rows of a large class count no more than the few of any other region. Counts
    of regions are averages over the batches so far.

    Examples
    --------
    >>> from importlib.util import find_spec
    >>> from metasampler_bench.deep._weightings import GradientHarmonising
    >>> if find_spec("torch") is not None:
    ...     import torch
    ...     weights = GradientHarmonising()(torch.tensor([0.01, 0.01, 0.01, 2.0]))
    ...     assert weights[0] * 3 == weights[3]
    """

    def __init__(self) -> None:
        self._counts: Any = None

    def __call__(self, losses: Any) -> Any:
        """Return the weights of a batch, by its logistic losses; they add up to 1 at first."""
        torch = import_torch()
        norms = 1 - (-losses.detach()).exp()
        regions = (norms * _N_REGIONS).long().clamp(max=_N_REGIONS - 1)
        counts = torch.bincount(regions, minlength=_N_REGIONS).to(losses.dtype)
        if self._counts is None:
            self._counts = counts
        else:
            self._counts = _KEPT_COUNTS * self._counts + (1 - _KEPT_COUNTS) * counts
        return 1 / (self._counts[regions] * (counts > 0).sum())


def learned_by_validation(parameters: Tensors, batch: Batch, meta: Batch, rate: float) -> Any:
    """Return the weights of L2RW for a batch (Ren et al. 2018, Algorithm 1).

    A row counts as much as a small step on it would lower the loss of the meta rows, and not at all
    if it would raise it.

    Parameters
    ----------
    parameters : list of Tensor
        The network.
    batch, meta : Batch
        Rows to weigh, and clean rows to weigh them by.
    rate : float
        The step that is looked ahead.

    Returns
    -------
    weights : Tensor
        At least 0, with a sum of 1; all 0 if no row would help.
    """
    torch = import_torch()
    epsilon = torch.zeros(len(batch.y), dtype=batch.X.dtype, requires_grad=True)
    (gradient,) = torch.autograd.grad(look_ahead(parameters, batch, meta, epsilon, rate), epsilon)
    weights = (-gradient).clamp(min=0)
    total = weights.sum()
    return weights / total if total > 0 else weights


def look_ahead(parameters: Tensors, batch: Batch, meta: Batch, weights: Any, rate: float) -> Any:
    """Return the loss of the meta rows after one step on the weighted rows of a batch.

    It is a function of the weights, and of all that they were computed from.
    """
    torch = import_torch()
    loss = (weights * logistic_losses(parameters, *batch)).sum()
    gradients = torch.autograd.grad(loss, parameters, create_graph=True)
    moved = [value - rate * step for value, step in zip(parameters, gradients, strict=True)]
    return logistic_losses(moved, *meta).mean()


class MetaWeightNet:
    """A small network that turns a row's loss into its weight (Shu et al. 2019).

    Parameters
    ----------
    generator : torch.Generator
        Source of randomness.
    dtype : torch dtype, default=None
        None means float32.
    """

    def __init__(self, generator: Any, dtype: Any = None):
        self.parameters = initialise((1, _N_HIDDEN, 1), generator, dtype, flat=True)
        self._optimiser = import_torch().optim.Adam(
            self.parameters, lr=_META_RATE, weight_decay=_META_DECAY
        )

    def __call__(self, losses: Any) -> Any:
        """Return weights in (0, 1) for losses, through which nothing flows back to the rows."""
        return forward(self.parameters, losses.detach()[:, None]).sigmoid()

    def meta_loss(self, parameters: Tensors, batch: Batch, meta: Batch, rate: float) -> Any:
        """Return the loss of the meta rows after one step with the weights of this network."""
        weights = self(logistic_losses(parameters, *batch)) / len(batch.y)
        return look_ahead(parameters, batch, meta, weights, rate)

    def improve(self, parameters: Tensors, batch: Batch, meta: Batch, rate: float) -> None:
        """Take one meta-step: weights under which the meta rows would have fared better."""
        torch = import_torch()
        loss = self.meta_loss(parameters, batch, meta, rate)
        gradients = torch.autograd.grad(loss, self.parameters)
        for value, gradient in zip(self.parameters, gradients, strict=True):
            value.grad = gradient
        self._optimiser.step()
