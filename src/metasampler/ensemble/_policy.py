"""From what a user passes as meta-sampler to what chooses mu."""

import os
from numbers import Real

from sklearn.base import clone

from metasampler.meta._fixed import ConstantPolicy, UniformPolicy
from metasampler.meta._sampler import MetaSampler

__all__ = ["resolve_sampler"]

# The constant that does best on average over imbalanced-learn's 27 data sets, until a
# pretrained sampler is shipped.
_DEFAULT_MU = 0.9


def resolve_sampler(given, verbose: int) -> tuple:
    """What chooses mu, and whether it has to be meta-trained on the data first."""
    if isinstance(given, MetaSampler):
        fitted = given.__sklearn_is_fitted__()
        if fitted:
            given._check_unchanged()
        # A copy, so that a later fit of the one given leaves the classifier alone.
        return clone(given), not fitted
    if isinstance(given, (ConstantPolicy, UniformPolicy)):
        return given, False
    if isinstance(given, Real) and not isinstance(given, bool):
        if not 0 <= float(given) <= 1:
            raise ValueError(f"meta_sampler as a number must be in [0, 1], got {given!r}.")
        return ConstantPolicy(float(given)), False
    if isinstance(given, str) and given == "default":
        return ConstantPolicy(_DEFAULT_MU), False
    if isinstance(given, str) and given == "random":
        return UniformPolicy(), False
    if isinstance(given, str) and given == "fit":
        return MetaSampler(verbose=verbose), True
    if isinstance(given, (str, os.PathLike)):
        return MetaSampler.load(given), False
    raise TypeError(
        "meta_sampler must be a MetaSampler, a number in [0, 1], 'default', 'random', 'fit', "
        f"or the name or path of a sampler; got {given!r}."
    )
