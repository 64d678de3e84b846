"""What teams are like for more than two classes.

With a long tail of rare classes no sample may be drawn down to the smallest class: a member would
see a dozen rows of each. Here members learn from all rows, or from as many as a limit allows, and
classes count by the square root of their frequency. Three teams make up the ensemble: scouts,
decision trees and extra trees. Samples that are drawn by errors gain nothing on top of these, and
boosters gain nothing besides scouts (`metasampler study class-draws`).
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler.ensemble._pool import largest_within
from metasampler.ensemble._recipes import Recipe, scouts_among
from metasampler.ensemble._teams import Growing, Plan, Team
from metasampler.growth import Growth, GrowthData, Policy, Stream

# The weight of a class in a member is that of its rows to the power of 1 - this.
_BALANCE = 0.5

#: In samples that are drawn, a class that is n times as large as the smallest gives n to this power
#: as many rows: so it counts as it does in the members above.
SAMPLE_GROWTH = 0.5

#: Each member leaves out a fifth of the rows: a held-out row is judged by a fifth of all trees.
HELD_OUT = 0.2

# The most rows of one tree: trees on more are slow, and no better.
_MOST_ROWS_OF_A_TREE = 50_000

# With more rows than this, a few scouts leave out enough of them: on 13 tables of 12,000 rows three
# score as five do, in .78 of the CPU time. With more classes than this they take most of the time.
_MANY_ROWS, _MANY_CLASSES, _FEW_SCOUTS = 8_000, 100, 3

# LightGBM grows a tree per class in each round, and asks each of them for every row: with hundreds
# of classes there are fewer rounds.
_MOST_TREES_OF_A_SCOUT, _LEAST_ROUNDS = 24_000, 20

# With fewer rows than this a tree takes more time than its rows are worth; half of the trees do.
_FEW_ROWS = 500

# The most bytes of what trees say in their leaves, which have a number for each class.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class ManyClassRecipe(Recipe):
    """How many members of each team there are for many classes."""

    n_scouts: int = 5
    n_boosters: int = 0
    #: Half of them decision trees, half extra trees.
    n_trees: int = 100
    max_scout_rounds: int = 80
    min_child_samples: int = 5

    def sized_for(self, counts: np.ndarray, n_estimators: int | None = None) -> "ManyClassRecipe":
        """Return the recipe for classes of these sizes, with ``n_estimators`` members in all."""
        few = counts.sum() > _MANY_ROWS or len(counts) > _MANY_CLASSES
        n_scouts = min(self.n_scouts, _FEW_SCOUTS) if few else self.n_scouts
        n_rounds = max(_LEAST_ROUNDS, _MOST_TREES_OF_A_SCOUT // len(counts))
        sized = replace(
            self, n_scouts=n_scouts, max_scout_rounds=min(self.max_scout_rounds, n_rounds)
        )
        if n_estimators is None:
            n_trees = self.n_trees // 2 if counts.sum() < _FEW_ROWS else self.n_trees
            return replace(sized, n_trees=n_trees)
        n_scouts = scouts_among(n_estimators, n_scouts)
        return replace(sized, n_scouts=n_scouts, n_trees=n_estimators - n_scouts)

    def smoothing(self, leaf_smoothing, plan: Plan, n_classes: int) -> float:
        """Return by how much leaves of trees are smoothed."""
        if leaf_smoothing == "auto":
            # One row in all, not one of each class: leaves of few rows must be able to tell.
            return 1 / n_classes
        return super().smoothing(leaf_smoothing, plan, n_classes)

    def scouts(self, data: GrowthData, growing: Growing) -> Team:
        """Return the team that goes first: each member sees all rows but a fold."""
        factors = class_factors(data.counts, data.class_weights, data.counts)
        rows = data.for_team(np.inf, class_factors=factors)
        adapter, streams = self.scout_adapter(rows, growing.n_jobs), data.streams
        growth = Growth(rows, adapter, streams.child(Stream.TEAM, 0), score_steps=False)
        return Team("scouts", growth, None, self.n_scouts)

    def policies(self, signal: float) -> dict[str, Policy | None]:
        """Return what draws the rows of trees, by the names of their teams: nothing."""
        return {"trees": None, "extra trees": None}

    def trees_to_train_with(self, data: GrowthData, signal: float) -> list:
        """Return the base estimators that a sampler is meta-trained with."""
        sizes = largest_within(data.counts, _MOST_ROWS_OF_A_TREE)
        return many_class_trees(int(sizes.sum()), data.n_classes, self.n_trees)

    def followers(
        self, plan: Plan, scouts: Team, data: GrowthData, policies: dict, growing: Growing
    ) -> list[Team]:
        """Return decision trees and extra trees."""
        decision_tree, extra_tree = self.trees_to_train_with(data, 0.0)
        if plan.universal:
            sizes = largest_within(data.counts, _MOST_ROWS_OF_A_TREE)
            factors = class_factors(data.counts, data.class_weights, sizes)
            most = int(sizes.max())
            rows = data.for_team(np.inf, trees=True, max_rows=most, class_factors=factors)
        else:
            # A sampler of the user's own has rows to choose only in balanced samples.
            rows = data.for_team(growing.sampling_ratio, trees=True)
        n_extra = self.n_trees // 2
        teams = []
        for number, name, tree, n_trees in (
            (1, "trees", decision_tree, self.n_trees - n_extra),
            (2, "extra trees", extra_tree, n_extra),
        ):
            if n_trees:
                adapters, streams = growing.adapters(tree, rows), data.streams
                growth = Growth(
                    rows, adapters, streams.child(Stream.TEAM, number), score_steps=False
                )
                teams.append(Team(name, growth, policies[name], n_trees))
        return teams


def class_factors(counts: np.ndarray, weights: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return what the weights of the rows of each class are multiplied by in a member.

    Parameters
    ----------
    counts, weights : ndarray of shape (n_classes,)
        Training rows of each class, and their total weights.
    sizes : ndarray of shape (n_classes,)
        How many of them a member gets.
    """
    in_member = sizes * weights / counts
    factors = weights ** (1 - _BALANCE) / in_member
    return factors * (sizes.sum() / (factors * in_member).sum())


def many_class_trees(n_rows: int, n_classes: int, n_trees: int) -> list:
    """Return the base estimators of trees for this many rows.

    Leaves are larger where they would take too much memory.
    """
    # A tree has two nodes per leaf; three quarters of the rows are leaves, on average.
    n_bytes = 8.0 * n_classes * n_trees * 2 * n_rows * 0.75
    scale = ceil(n_bytes / _MOST_BYTES)
    return [
        DecisionTreeClassifier(max_features="sqrt", min_samples_leaf=2 * scale),
        ExtraTreeClassifier(criterion="entropy", max_features=0.5, min_samples_leaf=scale),
    ]


MANY_CLASS_RECIPES = {
    "default": ManyClassRecipe(),
    "fast": ManyClassRecipe(n_scouts=3, n_trees=40, max_scout_rounds=60),
    "best": ManyClassRecipe(
        n_scouts=10,
        n_trees=300,
        learning_rate=0.1,
        doubles_after=80,
        max_scout_rounds=200,
        patience=20,
    ),
}
