"""Rivals: constants that take a sampler's place if they are clearly better on the validation rows.

A policy that was learned on other data may be wrong for this one, and where the validation rows
are many they show it after a few members. So ensembles of some constants are begun beside that of
the sampler, and one of them is grown on. This is no part of the paper.
"""

from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np

from metasampler.growth._data import GrowthData
from metasampler.growth._loop import Growth, GrowthStep, grow_by_policy

__all__ = ["Beginning", "best_beginning", "resolve_rivals"]

#: What "auto" lets the universal sampler compete with: a gentle draw and the hardest. The number of
#: members and the margin below were chosen with these (`benchmarks/rivals.py`).
_AUTO = (0.5, 1.0)

# With fewer validation rows of a class "auto" has no rivals: their scores say more of these rows
# than of the draws.
_FEWEST_ROWS = 30

# Members after which the best is chosen.
_N_MEMBERS = 10

# By how many standard errors of a score a rival has to be ahead: what is learned is worth more than
# a difference that may be chance.
_MARGIN = 0.5


def resolve_rivals(
    rivals: str | Sequence[float] | None, data: GrowthData, *, is_universal: bool
) -> tuple[float, ...]:
    """The constants to compete with, which may be none."""
    if rivals is None:
        return ()
    if isinstance(rivals, str):
        if not is_universal or not data.has_validation:
            return ()
        counts = np.bincount(data.codes[data.rows["valid"]], minlength=data.n_classes)
        return _AUTO if counts.min() >= _FEWEST_ROWS else ()
    for mu in rivals:
        if not isinstance(mu, Real) or isinstance(mu, bool) or not 0 <= mu <= 1:
            raise ValueError(f"rivals must be numbers in [0, 1], got {mu!r} among {rivals!r}.")
    if len(rivals) and not data.has_validation:
        raise ValueError(
            f"rivals={rivals!r} needs validation rows to choose by: pass X_val and y_val, or a "
            "validation_fraction."
        )
    return tuple(float(mu) for mu in rivals)


class Beginning(NamedTuple):
    """The first members of an ensemble, and how they came about."""

    rival: float | None
    members: list
    subsets: list[np.ndarray]
    candidates: list[int]
    steps: list[GrowthStep]

    def repeat(self, growth: Growth) -> Iterator[GrowthStep]:
        """Add the members to another ensemble, as if they were grown there."""
        columns = (self.members, self.subsets, self.candidates, self.steps)
        for member, subset, candidate, step in zip(*columns, strict=True):
            growth.candidate = candidate
            growth.add(member, subset)
            yield step


def best_beginning(
    growth: Growth,
    encoder,
    choose_mu: Callable[[np.ndarray | None, int], float],
    rivals: Sequence[float],
    sigma: float,
) -> Beginning:
    """Begin an ensemble by the sampler and by each rival, and choose one.

    A rival is chosen if it is ahead of the sampler by more than half of the standard error that a
    share of the positives would have; of several the best.

    Parameters
    ----------
    growth : Growth
        The empty ensemble; it stays empty.
    encoder, choose_mu, sigma
        As in `grow_by_policy`.
    rivals : sequence of float
        The constants.

    Returns
    -------
    beginning : Beginning
        What to grow on from.
    """
    own = _begin(growth, encoder, choose_mu, sigma, None)
    others = [_begin(growth, encoder, lambda *_, mu=mu: mu, sigma, mu, own) for mu in rivals]
    best = max(others, key=lambda begun: begun.steps[-1].score)
    lead = best.steps[-1].score - own.steps[-1].score
    return best if lead > _MARGIN * _standard_error(own.steps[-1].score, growth.data) else own


def _standard_error(score: float, data: GrowthData) -> float:
    """That of a share of the positives among the validation rows; 0 outside of [0, 1]."""
    codes = data.codes[data.rows["valid"]]
    n_positives = np.count_nonzero(codes == data.minority)
    return float(np.sqrt(max(score * (1 - score), 0.0) / max(n_positives, 1)))


def _begin(growth, encoder, choose_mu, sigma, rival, known: Beginning | None = None) -> Beginning:
    twin = Growth(growth.data, growth.learner, growth.streams, n_candidates=growth.n_candidates)
    candidates, steps = [], []
    if known is not None:
        # The first member depends on no mu.
        twin.candidate = known.candidates[0]
        twin.add(known.members[0], known.subsets[0])
        candidates.append(twin.candidate)
        steps.append(known.steps[0])
    for step in grow_by_policy(twin, _N_MEMBERS, encoder, choose_mu, sigma):
        candidates.append(twin.candidate)
        steps.append(step)
    return Beginning(rival, twin.members, twin.subsets, candidates, steps)
