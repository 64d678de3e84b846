"""The teams of a fit: what grows, how, and how far."""

from typing import Any, NamedTuple

import numpy as np

from metasampler.ensemble._recipes import Recipe
from metasampler.growth import Growth, GrowthData, Policy, Stream, make_adapters

__all__ = ["Plan", "Team", "make_followers", "make_own_team", "make_scouts"]

# Boosters get this many rows of a larger class for each row that trees get.
_ROWS_OF_BOOSTERS = 3

# Sharp trees are asked where the others may be wrong, and have as many votes.
_VOTES_OF_SHARP_TREES = 3


class Plan(NamedTuple):
    """What a fit is going to do. Parameters and the sizes of the classes decide it."""

    #: The base estimator of the members, or a list of those that take turns.
    estimators: Any
    #: How many members there are to be, over all teams.
    n_members: int
    #: The fraction of each class that members do not see.
    held_out_fraction: float | None
    #: What the teams are made of; None for one team of the base estimators.
    recipe: Recipe | None = None
    #: Whether rows are drawn by the samplers that come with the package, which also work where a
    #: class has a single row, which cannot be held out.
    universal: bool = False
    #: The policies of teams that are known before any row is looked at, by the names of the teams.
    policies: dict[str, Any] = {}

    @property
    def rotates(self) -> bool:
        """Whether members leave out folds in rotation, instead of the same rows."""
        return self.recipe is not None


class Team(NamedTuple):
    """One share of an ensemble: what grows, how, and how far."""

    name: str
    growth: Growth
    policy: Policy | None
    n_members: int
    #: How often its answer counts.
    n_votes: int = 1


def make_own_team(plan: Plan, data: GrowthData, policy, n_jobs, smoothing: float) -> Team:
    """Return the one team of an ensemble without a recipe."""
    categories = data.form.categorical_features
    estimators = plan.estimators
    adapters = make_adapters(estimators, data.tables, data.n_classes, n_jobs, smoothing, categories)
    return Team("members", Growth(data, adapters, data.streams), policy, plan.n_members)


def make_scouts(recipe: Recipe, data: GrowthData, n_jobs) -> Team:
    """Return the team that goes first: each member sees all rows but a fold."""
    adapter = recipe.scout_adapter(data, n_jobs)
    growth = Growth(data.for_team(np.inf), adapter, data.streams.child(Stream.TEAM, 0))
    return Team("scouts", growth, None, recipe.n_scouts)


def make_followers(
    recipe: Recipe,
    scouts: Team,
    data: GrowthData,
    policies: dict[str, Policy | None],
    *,
    sampling_ratio: float,
    n_jobs,
    smoothing: float,
) -> list[Team]:
    """Return boosters and trees; the signal that scouts have found sets them."""
    signal, streams = recipe.signal(scouts.growth), data.streams
    rows = data.for_team(_ROWS_OF_BOOSTERS * sampling_ratio)
    scout_adapter: Any = scouts.growth.adapters
    adapter = scout_adapter.alike(recipe.booster(signal, rows.sampled_share))
    adapter.signal = signal
    boosters = Growth(rows, adapter, streams.child(Stream.TEAM, 1))
    teams = [Team("boosters", boosters, policies["boosters"], recipe.n_boosters)]
    if not recipe.n_trees:
        return teams
    rows = data.for_team(sampling_ratio, trees=True)
    of_trees = [
        ("trees", signal, recipe.n_trees, 1),
        # Sharp as if there were no end to what can be learned.
        ("sharp trees", np.inf, recipe.n_sharp_trees, _VOTES_OF_SHARP_TREES),
    ]
    for number, (name, assumed, n_trees, n_votes) in enumerate(of_trees, start=2):
        if n_trees:
            trees = recipe.trees(assumed)
            adapters = make_adapters(trees, rows.tables, data.n_classes, n_jobs, smoothing)
            growth = Growth(rows, adapters, streams.child(Stream.TEAM, number))
            teams.append(Team(name, growth, policies[name], n_trees, n_votes))
    return teams
