"""From what a user passes as meta-sampler to what chooses mu."""

import os
from functools import cache
from numbers import Real

from sklearn.base import clone

from metasampler.meta._fixed import ConstantPolicy, UniformPolicy
from metasampler.meta._sampler import MetaSampler

__all__ = ["UNIVERSAL", "blind_policy", "resolve_sampler"]

#: The sampler that comes with the package and is the default.
UNIVERSAL = "universal"

# What does without a state in its place: the constant that does best on average over
# imbalanced-learn's 27 data sets.
_BLIND_MU = 0.9


@cache
def _universal() -> MetaSampler:
    """The universal sampler, read once: a fit may take less time than its file."""
    sampler = MetaSampler.load(UNIVERSAL)
    # For those who load it themselves; every fitted classifier would have to carry it along.
    sampler.history_ = []
    return sampler


def blind_policy() -> ConstantPolicy:
    """What takes the universal sampler's place where there are no validation rows."""
    return ConstantPolicy(_BLIND_MU)


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
    if isinstance(given, str) and given == UNIVERSAL:
        return clone(_universal()), False
    if isinstance(given, str) and given == "adapt":
        return _adaptable(verbose), True
    if isinstance(given, str) and given == "random":
        return UniformPolicy(), False
    if isinstance(given, str) and given == "fit":
        return MetaSampler(verbose=verbose), True
    if isinstance(given, (str, os.PathLike)):
        return MetaSampler.load(given), False
    raise TypeError(
        "meta_sampler must be a MetaSampler, a number in [0, 1], 'universal', 'adapt', 'fit', "
        f"'random', or the name or path of a sampler; got {given!r}."
    )


def _adaptable(verbose: int) -> MetaSampler:
    """The universal sampler before its fine-tuning on the rows of a fit."""
    return _universal()._before_adapting(
        # However the sampler was learned: this takes fewest episodes, and can be held back.
        learner="constants",
        n_estimators=10,
        scale_tasks=False,
        tasks_per_round=None,
        train_ratio=1.0,
        n_jobs=None,
        verbose=verbose,
    )
