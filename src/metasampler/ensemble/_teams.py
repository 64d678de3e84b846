"""What a fit is going to do, and the teams that it grows."""

from typing import TYPE_CHECKING, Any, NamedTuple

from metasampler.ensemble._monotonic import constrained
from metasampler.growth import (
    Adapters,
    Growth,
    GrowthData,
    Policy,
    make_adapters,
    resolve_leaf_smoothing,
)

if TYPE_CHECKING:
    from metasampler.ensemble._recipes import Recipe

__all__ = ["Growing", "Plan", "Team", "make_own_team"]


class Plan(NamedTuple):
    """What a fit is going to do. Parameters and the sizes of the classes decide it."""

    #: The base estimator of the members, or a list of those that take turns.
    estimators: Any
    #: How many members there are to be, over all teams.
    n_members: int
    #: The fraction of each class that members do not see.
    held_out_fraction: float | None
    #: What the teams are made of; None for one team of the base estimators.
    recipe: "Recipe | None" = None
    #: Whether rows are drawn by the samplers that come with the package, which also work where a
    #: class has a single row, which cannot be held out.
    universal: bool = False
    #: The policies of teams that are known before any row is looked at, by the names of the teams.
    policies: dict[str, Any] = {}

    @property
    def rotates(self) -> bool:
        """Whether members leave out folds in rotation, instead of the same rows."""
        return self.recipe is not None

    def smoothing(self, leaf_smoothing, n_classes: int) -> float:
        """Return by how much leaves of trees are smoothed."""
        if self.recipe is None:
            return resolve_leaf_smoothing(leaf_smoothing, self.estimators)
        return self.recipe.smoothing(leaf_smoothing, self, n_classes)


class Team(NamedTuple):
    """One share of an ensemble: what grows, how, and how far."""

    name: str
    growth: Growth
    policy: Policy | None
    n_members: int
    #: How often its answer counts.
    n_votes: int = 1


class Growing(NamedTuple):
    """The settings that all teams of a fit have in common."""

    n_jobs: Any
    smoothing: float
    sampling_ratio: float
    #: The monotonic constraint of each number that members see.
    signs: list[int] | None = None

    def constrained(self, estimators):
        """Return base estimators that keep the monotonic constraints."""
        return constrained(estimators, self.signs)

    def adapters(self, estimators, rows: GrowthData, category_sizes=None) -> Adapters:
        """Return the adapters of members on some rows."""
        kinds = self.constrained(estimators)
        return make_adapters(
            kinds, rows.tables, rows.n_classes, self.n_jobs, self.smoothing, category_sizes
        )


def make_own_team(plan: Plan, data: GrowthData, policy: Policy | None, growing: Growing) -> Team:
    """Return the one team of an ensemble without a recipe."""
    adapters = growing.adapters(plan.estimators, data, data.form.category_sizes)
    return Team("members", Growth(data, adapters, data.streams), policy, plan.n_members)
