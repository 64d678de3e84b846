"""Recipes: how many members of each team there are, and what the signal makes of them.

The notes of `MesaClassifier` say what scouts, boosters and trees are. A scout stops by the log-loss
of rows it leaves out: early where labels are mostly noise. The number of its rounds, at a learning
rate of 0.1, is the *signal* of a table, which sets the other teams: with much signal hard rows
teach, with little they are noise. `metasampler bench tables` has the figures.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler.ensemble._monotonic import constrained
from metasampler.ensemble._teams import Growing, Plan, Team
from metasampler.growth import (
    Growth,
    GrowthData,
    Policy,
    Stream,
    make_adapters,
    resolve_leaf_smoothing,
)
from metasampler.policy import ConstantPolicy

__all__ = ["ENOUGH_ROWS", "RECIPES", "Recipe", "scouts_among"]

# With fewer rows of the smallest class trees take the place of teams. 25 is the smallest number
# that was measured, and there teams are ahead (`metasampler study few-positives`).
ENOUGH_ROWS = 25

# With fewer rows of the smallest class scouts may take signal for noise, and what they find makes
# trees too blunt: sharp ones join the teams, this many per tree.
_ENOUGH_FOR_SIGNAL = 200
_SHARP_TREES = 2

# What takes the place of the signal where scouts have no rows to stop by.
_UNKNOWN_SIGNAL = 60.0

# With at least this many columns scouts look at a share of them per tree.
_MANY_COLUMNS = 20

# Every second scout and booster reads categories with more than this many levels as numbers.
_MANY_LEVELS = 100

# Below this signal hard rows are noise.
_NOISY = 45.0

# The mu of trees where hard rows teach.
_MU_OF_TREES = 0.9

# The fewest rounds of a booster, at a learning rate of 1.
_LEAST_ROUNDS = 4

# Boosters get this many rows of a larger class for each row that trees get.
_ROWS_OF_BOOSTERS = 3

# Sharp trees are asked where the others may be wrong, and have as many votes.
_VOTES_OF_SHARP_TREES = 3


@dataclass(frozen=True)
class Recipe:
    """How many members of each team there are, and how long scouts and boosters may be."""

    n_scouts: int = 2
    n_boosters: int = 4
    n_trees: int = 24
    #: Set by the size of the smallest class, see `sized`.
    n_sharp_trees: int = 0
    #: That of the scouts. After a number of rounds it doubles: by then there is much to learn.
    learning_rate: float = 0.2
    doubles_after: int = 40
    #: When a scout stops at the latest, and after how many rounds without gain.
    max_scout_rounds: int = 160
    patience: int = 10
    #: The learning rate of boosters; where the signal is weak, half of it.
    booster_rate: float = 0.4
    #: The most rounds of a booster.
    max_rounds: int = 38
    #: How often a booster may go over as many rows as the table has: if it gets a large share of
    #: them, it has fewer rounds.
    max_passes: float = np.inf
    #: LightGBM's ``reg_lambda`` of scouts and boosters.
    penalty: float = 5.0
    #: What a scout's round counts in the signal, at a learning rate of 0.1: scouts with less of a
    #: penalty need fewer.
    round_counts: float = 1.0
    #: The fewest rows in a leaf of a scout.
    min_child_samples: int = 20
    #: Trees that take the place of the teams where the smallest class has few rows.
    n_few: int = 50

    # ------------------------------------------------------------------ teams

    def scouts(self, data: GrowthData, growing: Growing) -> Team:
        """Return the team that goes first: each member sees all rows but a fold."""
        adapter = self.scout_adapter(data, growing.n_jobs, growing.signs)
        growth = Growth(data.for_team(np.inf), adapter, data.streams.child(Stream.TEAM, 0))
        return Team("scouts", growth, None, self.n_scouts)

    def policies(self, signal: float) -> dict[str, Policy | None]:
        """Return what draws the rows of trees, by the names of their teams."""
        found: dict[str, Any] = {}
        for name, assumed in (("trees", signal), ("sharp trees", np.inf)):
            mu = self.mu_of_trees(assumed)
            found[name] = None if mu is None else ConstantPolicy(mu, encoder=None)
        return found

    def trees_to_train_with(self, data: GrowthData, signal: float) -> list:
        """Return the base estimators that a sampler is meta-trained with."""
        return self.trees(signal)

    def followers(
        self, plan: Plan, scouts: Team, data: GrowthData, policies: dict, growing: Growing
    ) -> list[Team]:
        """Return boosters and trees; the signal that scouts have found sets them."""
        if not self.n_boosters:
            return []
        signal, streams = self.signal(scouts.growth), data.streams
        rows = data.for_team(_ROWS_OF_BOOSTERS * growing.sampling_ratio)
        scout_adapter: Any = scouts.growth.adapters
        adapter = scout_adapter.alike(growing.constrained(self.booster(signal, rows.sampled_share)))
        adapter.signal = signal
        boosters = Growth(rows, adapter, streams.child(Stream.TEAM, 1))
        teams = [Team("boosters", boosters, policies["boosters"], self.n_boosters)]
        if not self.n_trees:
            return teams
        rows = data.for_team(growing.sampling_ratio, trees=True)
        of_trees = [
            ("trees", signal, self.n_trees, 1),
            # Sharp as if there were no end to what can be learned.
            ("sharp trees", np.inf, self.n_sharp_trees, _VOTES_OF_SHARP_TREES),
        ]
        for number, (name, assumed, n_trees, n_votes) in enumerate(of_trees, start=2):
            if n_trees:
                adapters = growing.adapters(self.trees(assumed), rows)
                growth = Growth(rows, adapters, streams.child(Stream.TEAM, number))
                teams.append(Team(name, growth, policies[name], n_trees, n_votes))
        return teams

    def smoothing(self, leaf_smoothing, plan: Plan, n_classes: int) -> float:
        """Return by how much leaves of trees are smoothed."""
        return resolve_leaf_smoothing(leaf_smoothing, plan.estimators)

    # ------------------------------------------------------------------ sizes and members

    @property
    def n_members(self) -> int:
        """How many members the ensemble will have."""
        return self.n_scouts + self.n_boosters + self.n_trees + self.n_sharp_trees

    def sized(self, n_smallest: float, n_estimators: int | None = None) -> "Recipe":
        """Return the recipe for a table, with ``n_estimators`` members in all.

        ``n_smallest`` is the number of rows of the smallest class. The number of scouts stays the
        same, unless that would leave no room for a booster.
        """
        sharp = _SHARP_TREES if n_smallest < _ENOUGH_FOR_SIGNAL else 0
        if n_estimators is None:
            return replace(self, n_sharp_trees=sharp * self.n_trees)
        n_scouts = scouts_among(n_estimators, self.n_scouts)
        n_others = n_estimators - n_scouts
        share = self.n_boosters / (self.n_boosters + (1 + sharp) * self.n_trees)
        n_boosters = min(n_others, max(1, round(share * n_others)))
        n_of_trees = n_others - n_boosters
        n_trees = -(-n_of_trees // (1 + sharp))
        return replace(
            self,
            n_scouts=n_scouts,
            n_boosters=n_boosters,
            n_trees=n_trees,
            n_sharp_trees=n_of_trees - n_trees,
        )

    def scout(self, n_columns: int, *, can_stop: bool = True):
        """Return the base estimator of the scouts."""
        # The unknown signal, as rounds of these scouts.
        unknown = _UNKNOWN_SIGNAL / self.round_counts * 0.1 / self.learning_rate
        n_rounds = self.max_scout_rounds if can_stop else unknown
        return _booster(
            n_estimators=round(n_rounds),
            learning_rate=self.learning_rate,
            reg_lambda=self.penalty,
            min_child_samples=self.min_child_samples,
            colsample_bytree=0.6 if n_columns >= _MANY_COLUMNS else 0.9,
            early_stopping_round=self.patience,
        )

    @staticmethod
    def mu_of_trees(signal: float) -> float | None:
        """Return the mu of the trees; None draws uniformly."""
        return None if signal < _NOISY else _MU_OF_TREES

    def signal(self, scouts: Growth) -> float:
        """Return how much there is to learn, by the rounds that pay at a learning rate of 0.1."""
        if not scouts.data.has_validation:
            return _UNKNOWN_SIGNAL
        rounds = np.array([member.n_rounds_ for member in scouts.members], dtype=float)
        # A round at twice the learning rate counts twice.
        rounds += np.maximum(rounds - self.doubles_after, 0)
        return float(np.exp(np.mean(np.log(rounds)))) * self.round_counts * self.learning_rate / 0.1

    def scout_adapter(self, data: GrowthData, n_jobs, signs: list[int] | None = None):
        """Return what fits scouts, with the monotonic constraints ``signs``."""
        table = data.tables[0]
        scout = constrained(self.scout(table.shape[1], can_stop=data.has_validation), signs)
        sizes = data.form.category_sizes
        members = make_adapters(scout, [table], data.n_classes, n_jobs, 0.0, sizes)
        adapter: Any = members.of(0)
        adapter.doubles_after = self.doubles_after
        # Code 0 is none of the levels.
        many = {k: size - 1 for k, size in sizes.items() if size - 1 > _MANY_LEVELS}
        if data.n_classes == 2 and many:
            adapter.recode_in_turn(many)
        return adapter

    def booster(self, signal: float, share: float = 1.0):
        """Return the base estimator of the boosters, each of which gets a share of all rows."""
        rate = self.booster_rate / 2 if signal < _NOISY else self.booster_rate
        least = min(round(_LEAST_ROUNDS / self.booster_rate), self.max_rounds)
        most = max(least, min(self.max_rounds, self.max_passes / share))
        # The signal counts rounds at a learning rate of 0.1.
        n_rounds = int(np.clip(round(signal * (0.1 / rate)), least, most))
        return _booster(
            n_estimators=n_rounds, learning_rate=rate, reg_lambda=self.penalty, min_child_samples=5
        )

    @staticmethod
    def trees(signal: float) -> list:
        """Return the base estimators of the trees, which take turns."""
        leaf = int(np.clip(round(300 / signal), 2, 15))
        return [
            DecisionTreeClassifier(criterion="entropy", max_features="sqrt", min_samples_leaf=leaf),
            ExtraTreeClassifier(
                criterion="entropy", max_features=0.5, min_samples_leaf=1 if leaf <= 2 else leaf
            ),
        ]


RECIPES = {
    "default": Recipe(),
    "fast": Recipe(
        n_scouts=1,
        n_boosters=2,
        n_trees=0,
        patience=8,
        doubles_after=80,
        max_scout_rounds=80,
        booster_rate=0.2,
        max_rounds=40,
        # A scout takes up to 72 of the 100 passes that LightGBM takes; two boosters get the rest.
        max_passes=12.5,
        penalty=1.0,
        round_counts=1.25,
        n_few=12,
    ),
    "best": Recipe(
        n_scouts=4,
        n_boosters=10,
        n_trees=80,
        learning_rate=0.06,
        max_scout_rounds=200,
        patience=30,
        doubles_after=100,
        max_rounds=50,
        n_few=200,
    ),
}


def scouts_among(n_estimators: int, n_scouts: int) -> int:
    """Return how many of a few members are scouts: all but one, and one that is alone."""
    return max(1, min(n_scouts, n_estimators - 1))


def _booster(**settings):
    """Return a LightGBM base estimator; what all have in common is chosen for drawn rows."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(cat_smooth=20, verbose=-1, **settings)
