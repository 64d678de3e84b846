"""The default ensemble: teams of members, set by how much there is to learn.

*Scouts* are LightGBM members on all rows. Each stops by the log-loss of rows it leaves out, and the
round at which it stops tells noise from signal: where labels are mostly noise it stops early. The
number of these rounds, at a learning rate of 0.1, is the *signal* of a table. It sets the other two
teams: *boosters* on drawn rows, three majority rows a minority row, and *trees* on balanced rows.
With much signal hard rows teach, members may be sharp and long; with little signal hard rows are
noise, draws are uniform, and members are blunt and short. The teams answer together by the mean of
their calibrated log-odds. `metasampler bench tables` has the figures.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler.ensemble._calibration import fit_sigmoid
from metasampler.growth import Growth, GrowthData, Policy, make_learners
from metasampler.tables import as_float32, values_for_missing

__all__ = [
    "RECIPES",
    "Blend",
    "FittedTeam",
    "Plan",
    "Recipe",
    "Team",
    "TreeTable",
    "has_few_rows",
    "signal_is_uncertain",
]

# With fewer rows of the smallest class trees take the place of teams. From a hundred on teams are
# ahead of them; at fifty they may be on tables, are not on small clean sets, and scouts stop by five
# rows (`metasampler study few-positives`).
_ENOUGH_ROWS = 75

# With fewer rows of the smallest class scouts may take signal for noise, and what they find makes
# trees too blunt: sharp ones join the teams.
_ENOUGH_FOR_SIGNAL = 200

# What takes the place of the signal where scouts have no rows to stop by.
_UNKNOWN_SIGNAL = 60.0

# From so many columns on scouts look at a part of them a tree.
_MANY_COLUMNS = 20

# Below this signal hard rows are noise.
_NOISY = 45.0

# With fewer left-out rows of a class a team's scale would be chance.
_ENOUGH_LEFT_OUT = 20

# Log-odds beyond these say nothing more.
_LEAST = 1e-12


def signal_is_uncertain(data: GrowthData) -> bool:
    """Return whether the smallest class has too few rows for scouts to be sure."""
    return bool(data.counts[data.minority] < _ENOUGH_FOR_SIGNAL)


def has_few_rows(y) -> bool:
    """Return whether the smallest class has too few rows for scouts."""
    try:
        _, counts = np.unique(np.asarray(y), return_counts=True)
    except TypeError:  # labels of several types; they are refused with a message later
        return False
    return len(counts) > 0 and int(counts.min()) < _ENOUGH_ROWS


class Plan(NamedTuple):
    """What a fit is going to do, decided before any row is looked at.

    Attributes
    ----------
    kinds : classifier or list of classifier
        The kinds of members.
    n_members : int
        How many there are to be, over all teams that draw.
    held_out_part : float or None
        Part of each class that members do not see.
    rotates : bool
        Whether members leave parts of the rows out in rotation, instead of the same rows.
    must_hold_out : bool
        Whether a class with a single row, of which none can be held out, is an error.
    recipe : Recipe or None
        What the teams are made of; None for one team of the given kinds.
    """

    kinds: object
    n_members: int
    held_out_part: float | None
    rotates: bool = False
    must_hold_out: bool = True
    recipe: "Recipe | None" = None


class Team(NamedTuple):
    """One part of an ensemble: what grows, how, and how far."""

    name: str
    growth: Growth
    policy: Policy | None
    n_members: int
    #: How often its answer counts.
    n_votes: int = 1


@dataclass(frozen=True)
class Recipe:
    """How many members of each team there are, and how long scouts and boosters may be.

    Parameters
    ----------
    n_scouts, n_boosters, n_trees : int
        Members of each team.
    learning_rate : float
        That of the scouts.
    max_scout_rounds, patience : int
        When a scout stops at the latest, and after how many rounds without gain.
    doubles_after : int
        The round after which a scout's learning rate doubles: by then there is much to learn.
    max_rounds : int
        The most rounds of a booster.
    max_passes : float
        How often a booster may go over as many rows as the table has: where it gets a large part of
        them, it has fewer rounds.
    penalty : float
        LightGBM's ``reg_lambda`` of scouts and boosters.
    round_counts : float
        What a scout's round counts in the signal, at a learning rate of 0.1: scouts with less of a
        penalty need fewer.
    n_few : int
        Trees that take the place of the teams where the smallest class has few rows.
    """

    n_scouts: int = 2
    n_boosters: int = 4
    n_trees: int = 24
    learning_rate: float = 0.1
    max_scout_rounds: int = 120
    patience: int = 20
    doubles_after: int = 50
    max_rounds: int = 75
    max_passes: float = np.inf
    penalty: float = 5.0
    round_counts: float = 1.0
    n_few: int = 50

    def scaled(self, n_estimators: int | None) -> "Recipe":
        """Return the recipe for a number of boosters and trees together."""
        if n_estimators is None:
            return self
        share = self.n_boosters / (self.n_boosters + self.n_trees)
        n_boosters = max(1, round(share * n_estimators))
        return replace(self, n_boosters=n_boosters, n_trees=n_estimators - n_boosters)

    def scout(self, n_columns: int, *, can_stop: bool = True):
        """Return the base learner of the scouts."""
        return _booster(
            n_estimators=self.max_scout_rounds if can_stop else min(self.max_scout_rounds, 60),
            learning_rate=self.learning_rate,
            reg_lambda=self.penalty,
            min_child_samples=20,
            colsample_bytree=0.6 if n_columns >= _MANY_COLUMNS else 0.9,
            early_stopping_round=self.patience,
        )

    @staticmethod
    def mu_of_trees(signal: float) -> float | None:
        """Return the mu of the trees; None draws uniformly."""
        return None if signal < _NOISY else 0.9

    def signal(self, scouts: Growth) -> float:
        """Return how much there is to learn, by the rounds that pay at a learning rate of 0.1."""
        if not scouts.data.has_validation:
            return _UNKNOWN_SIGNAL
        rounds = np.array([member.n_rounds_ for member in scouts.members], dtype=float)
        # A round at twice the learning rate counts twice.
        rounds += np.maximum(rounds - self.doubles_after, 0)
        return float(np.exp(np.mean(np.log(rounds)))) * self.round_counts * self.learning_rate / 0.1

    def scout_learner(self, data: GrowthData, n_jobs):
        """Return what fits scouts."""
        table = data.tables[0]
        scout = self.scout(table.shape[1], can_stop=data.has_validation)
        categories = data.form.categorical_features
        learner: Any = make_learners(scout, [table], data.n_classes, n_jobs, 0.0, categories)
        learner.doubles_after = self.doubles_after
        return learner

    def booster_learner(self, learner, scouts: Growth, rows: GrowthData):
        """Return what fits boosters, given that of the scouts, with whom they share the bins."""
        signal = self.signal(scouts)
        twin = learner.alike(self.booster(signal, rows.drawn_part()))
        twin.signal = signal
        return twin

    def booster(self, signal: float, part: float = 0.0):
        """Return the base learner of the boosters, which get a part of all rows."""
        rate, n_rounds = (0.1, signal) if signal < _NOISY else (0.2, signal / 2)
        least, most = min(20, self.max_rounds), self.max_rounds
        if part:
            most = max(least, min(most, self.max_passes / part))
        n_rounds = int(np.clip(round(n_rounds), least, most))
        return _booster(
            n_estimators=n_rounds, learning_rate=rate, reg_lambda=self.penalty, min_child_samples=5
        )

    def n_sharp_trees(self, data: GrowthData) -> int:
        """Return how many sharp trees join the teams."""
        return 2 * self.n_trees if signal_is_uncertain(data) else 0

    @staticmethod
    def trees(signal: float) -> list:
        """Return the kinds of trees that alternate."""
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
        learning_rate=0.2,
        max_scout_rounds=80,
        patience=8,
        doubles_after=80,
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
        max_rounds=100,
        n_few=200,
    ),
}


def _booster(**settings):
    """Return a LightGBM base learner; what all have in common is chosen for drawn rows."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(cat_smooth=20, verbose=-1, **settings)


class TreeTable:
    """Bring a table of numbers into the form that trees take fastest: float32, nothing missing.

    A missing value becomes a number below all others of its column, which a tree can split off.

    Parameters
    ----------
    lowest : ndarray of shape (n_features,)
        The lowest number of each column; of a sparse table that of all.
    """

    def __init__(self, lowest: np.ndarray):
        self.fill = as_float32(values_for_missing(lowest))

    def __call__(self, X):
        """Return a table in this form; it may be the same one."""
        is_plain = isinstance(X, np.ndarray) and X.dtype == np.float32 and X.flags.c_contiguous
        if is_plain and not np.isnan(np.min(X, initial=0)):
            return X
        X = as_float32(X)
        if issparse(X):
            X.data[np.isnan(X.data)] = self.fill
            return X
        rows, columns = np.nonzero(np.isnan(X))
        X[rows, columns] = self.fill[columns]
        return np.ascontiguousarray(X)


class FittedTeam(NamedTuple):
    """What prediction needs of a team."""

    estimator: object
    n_members: int
    leaf_smoothing: float
    #: Brings tables into the form that the members take, if it is another than that of the rest.
    table: TreeTable | None = None
    n_votes: int = 1

    def staged_totals(self, members: list, X, n_classes: int, n_jobs) -> Iterator[np.ndarray]:
        """Yield the sum over the first members of the team; the array is the same in each step."""
        X = X if self.table is None else self.table(X)
        learner = make_learners(self.estimator, [X], n_classes, n_jobs, self.leaf_smoothing)
        total = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        for number, member in enumerate(members):
            learner.of(number).add_scores(member, X, total)
            yield total


class Blend:
    """Join the answers of several teams: the mean of their calibrated log-odds.

    Each team's log-odds are scaled by what left-out rows say of them, because a team that is too
    sure of itself would drown the others. The teams then count alike, but for sharp trees, which
    have as many votes as the others together: weights that were learned from left-out rows did no
    better.

    Parameters
    ----------
    answers : sequence of ndarray
        For each team the mean probabilities of some rows: of class 1 only, if there are two
        classes.
    codes : ndarray of int, default=None
        The classes of the rows, if members have not seen them.
    shares : sequence of ndarray, default=None
        For each team the share of each class in what it was trained on: log-odds are counted from
        there, so that the joint answer is that of a balanced world. None counts from their mean.
    votes : sequence of int, default=None
        How often each team counts; None counts all alike.
    """

    def __init__(
        self,
        answers: Sequence[np.ndarray],
        codes: np.ndarray | None = None,
        shares: Sequence[np.ndarray] | None = None,
        votes: Sequence[int] | None = None,
    ):
        self.votes = [1] * len(answers) if votes is None else list(votes)
        self.centres, self.scales = [], []
        for number, answer in enumerate(answers):
            odds = _log_odds(answer)
            if shares is None:
                self.centres.append(odds.mean(axis=0))
            else:
                share = shares[number]
                self.centres.append(
                    _log_odds(share[1:] if len(share) == 2 else share[np.newaxis])[0]
                )
            self.scales.append(_scale(odds, codes, 1.0 if shares is not None else None))
        self._left_out: tuple | None = None
        self._each: list[np.ndarray] = []

    @classmethod
    def of(cls, growths: Sequence[Growth], votes: Sequence[int] | None = None) -> "Blend":
        """Return the blend of grown teams, by the rows that all can judge."""
        data = growths[0].data
        shares = [growth.drawn_shares() for growth in growths]
        if not data.has_validation:
            answers = [_vector(growth.proba("train")) for growth in growths]
            return cls(answers, shares=shares, votes=votes)
        rows, answers, codes, weights = _left_out_answers(growths)
        blend = cls(answers, codes, shares, votes)
        blend._left_out = rows, blend(answers), codes, weights
        blend._each = answers
        return blend

    def held_out(self) -> tuple:
        """Return the rows that all teams can judge: numbers, joint answers, classes, weights."""
        assert self._left_out is not None
        return self._left_out

    def drawn_shares(self) -> np.ndarray:
        """Return equal shares of the classes: calibrated log-odds have no prior of their own."""
        n_classes = max(2, np.size(self.centres[0]))
        return np.full(n_classes, 1 / n_classes)

    def without_rows(self) -> "Blend":
        """Return a blend that holds nothing of the rows."""
        twin = copy(self)
        twin._left_out, twin._each = None, []
        return twin

    def scores(self, data: GrowthData) -> list[float]:
        """Return the score of each team on the rows that all can judge; the joint one is last."""
        _, joint, codes, weights = self.held_out()
        if np.bincount(codes, minlength=data.n_classes).min() == 0:
            return []  # no score speaks of a class that has no rows
        score = data.score_function(codes, weights)
        return [score(answer) for answer in (*self._each, _vector(joint))]

    def __call__(self, answers: Sequence[np.ndarray | None]) -> np.ndarray:
        """Return the joint probability of each class; teams without an answer do not count."""
        given = [
            (n_votes * (_log_odds(answer) - centre) * scale, n_votes * (scale > 0))
            for answer, centre, scale, n_votes in zip(
                answers, self.centres, self.scales, self.votes, strict=True
            )
            if answer is not None
        ]
        # A team that says the same of all rows adds nothing, and must not water down the rest.
        mean = sum(part for part, _ in given) / max(1, sum(counts for _, counts in given))
        if mean.ndim == 1:
            return np.column_stack([expit(-mean), expit(mean)])
        return softmax(mean, axis=1)


def _scale(odds: np.ndarray, codes: np.ndarray | None, usual: float | None) -> float:
    """Return what a team's log-odds are multiplied by; ``usual`` where rows cannot tell."""
    spread = float(odds.std())
    if spread < 1e-9:
        return 0.0  # a team that says the same of all rows says nothing
    if codes is None or np.bincount(codes, minlength=2).min() < _ENOUGH_LEFT_OUT:
        return 1 / spread if usual is None else usual
    if odds.ndim > 1:
        return 1 / spread
    # At least a little, whatever the rows say: a team is never ignored or turned round.
    return max(fit_sigmoid(odds / spread, codes == 1).slope, 0.05) / spread


def _vector(proba: np.ndarray) -> np.ndarray:
    """Return the probabilities of class 1 only, if there are two classes."""
    return proba[:, 1] if proba.shape[1] == 2 else proba


def _left_out_answers(growths: Sequence[Growth]) -> tuple:
    """Return the rows that all teams can judge, what each says of them, classes and weights."""
    judged = [growth.held_out() for growth in growths]
    common, _, codes, weights = judged[0]
    for rows, *_ in judged[1:]:
        common = np.intersect1d(common, rows, assume_unique=True)
    answers = [_vector(proba[np.searchsorted(rows, common)]) for rows, proba, *_ in judged]
    of_first = np.searchsorted(judged[0][0], common)
    return common, answers, codes[of_first], None if weights is None else weights[of_first]


def _log_odds(proba: np.ndarray) -> np.ndarray:
    """Return log-odds of class 1, or for many classes the logarithms less their mean."""
    if proba.ndim == 1:
        return np.log(np.maximum(proba, _LEAST)) - np.log(np.maximum(1 - proba, _LEAST))
    logs = np.log(np.maximum(proba, _LEAST))
    return logs - logs.mean(axis=1, keepdims=True)
