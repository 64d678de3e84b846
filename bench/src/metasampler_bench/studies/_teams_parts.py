"""Take the default ensemble to pieces: grow its teams one by one, with parts of them changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from metasampler.ensemble.teams import RECIPES, Blend, Recipe, SigmoidCalibration
from metasampler.growth import (
    Growth,
    MemoryRows,
    RandomStreams,
    Stream,
    make_adapters,
    make_growth_data,
    resolve_leaf_smoothing,
    running_mean,
)
from metasampler.policy import ConstantPolicy, load_policy

__all__ = ["LEARNED", "SCOUTS", "Grown", "Pieces", "alone", "best_of", "blended", "stacked"]

_RECIPE = RECIPES["default"]

#: The sampler that draws the rows of the default's boosters.
LEARNED = "boosters"

#: The default with scouts that stop earlier or later, or that learn in fewer rounds.
SCOUTS = {
    "patience 20": replace(_RECIPE, patience=20),
    "scouts of at most 60 rounds": replace(
        _RECIPE, max_scout_rounds=60, patience=8, doubles_after=60
    ),
    "scouts of rate .1": replace(
        _RECIPE, learning_rate=0.1, max_scout_rounds=120, patience=20, doubles_after=50
    ),
}

#: Part of the rows that is held out where members do not leave rows out in rotation.
_HELD_OUT_PART = 0.2


class Grown(NamedTuple):
    """A team and what it says of the test rows."""

    growth: Growth
    test: NDArray[Any]
    cpu: float
    n_votes: int = 1


class Pieces:
    """The rows of one fit, on which teams can be grown; the default's are the same, bit for bit.

    Parameters
    ----------
    X, y : frame and ndarray
        The training rows.
    X_test : frame
        Rows to answer for.
    seed : int
        What the default's ``random_state`` would be.
    rotate : bool, default=True
        Whether members leave rows out in rotation. Otherwise a part is held out from all.
    """

    def __init__(self, X: Any, y: Any, X_test: Any, seed: int, *, rotate: bool = True) -> None:
        streams = RandomStreams.from_random_state(seed)
        self.seeds = [streams.child(Stream.TEAM, number) for number in range(4)]
        self.data: MemoryRows = make_growth_data(
            X,
            y,
            estimator=[_RECIPE.scout(1), *_RECIPE.trees(1.0)],
            validation_fraction=0.1 if rotate else _HELD_OUT_PART,
            sampling_ratio=1.0,
            scoring="average_precision",
            streams=streams,
            rotate=rotate,
        )
        self.table = self.data.tables[0]
        self.X_test = self.data.form(X_test)
        self.adapter: Any = _RECIPE.scout_adapter(self.data, None)
        # Binned once for all teams, as in a fit.
        self.adapter.prepare(self.table, self.data.codes)

    def scouts(self, recipe: Recipe = _RECIPE, n_rounds: int | None = None) -> Grown:
        """Grow scouts; with ``n_rounds`` they are as long as that."""
        scout = recipe.scout(self.table.shape[1])
        if n_rounds is not None:
            scout.set_params(n_estimators=n_rounds)
        adapter = self.adapter.alike(scout, recipe.doubles_after)
        return self._grow(0, self.data.for_team(np.inf), adapter, None, recipe.n_scouts)

    def boosters(
        self,
        signal: float,
        mu: float | str | None = LEARNED,
        ratio: float = 3.0,
        recipe: Recipe = _RECIPE,
    ) -> Grown:
        """Grow boosters by the default's sampler or by a constant mu; None draws uniformly."""
        adapter = self.adapter.alike(recipe.booster(signal))
        adapter.signal = signal
        return self._grow(1, self.data.for_team(ratio), adapter, mu, recipe.n_boosters)

    def trees(self, signal: float, mu: float | None, recipe: Recipe = _RECIPE) -> Grown:
        """Grow trees by a constant mu; None draws uniformly."""
        return self._grow_trees(2, recipe.trees(signal), mu, recipe.n_trees)

    def _grow_trees(self, number: int, kinds: list[Any], mu: float | None, n_trees: int) -> Grown:
        data = self.data.for_team(1.0, trees=True)
        adapter = make_adapters(kinds, data.tables, 2, None, resolve_leaf_smoothing("auto", kinds))
        return self._grow(number, data, adapter, mu, n_trees)

    def default(self, recipe: Recipe = _RECIPE) -> list[Grown]:
        """Grow the teams as a fit does: sharp trees join them where positives are few."""
        scouts = self.scouts(recipe)
        signal = recipe.signal(scouts.growth)
        boosters = self.boosters(signal, recipe=recipe)
        trees = self.trees(signal, recipe.mu_of_trees(signal), recipe)
        return [scouts, boosters, trees, *self.sharp_trees(recipe)]

    def sharp_trees(self, recipe: Recipe = _RECIPE) -> list[Grown]:
        """Grow the team of sharp trees, if a fit would have one."""
        n_trees = recipe.sized(self.data.counts[self.data.minority]).n_sharp_trees
        if not n_trees:
            return []
        kinds, mu = recipe.trees(np.inf), recipe.mu_of_trees(np.inf)
        return [self._grow_trees(3, kinds, mu, n_trees)._replace(n_votes=3)]

    def refitted(self) -> NDArray[Any]:
        """Return what the teams say together if they are grown again on all rows.

        Held-out rows give the signal and the scales; a scout is then as long as those before it.
        """
        first = self.default()
        blend, held_out = _blend(first)
        signal = _RECIPE.signal(first[0].growth)
        # As long as on average, since every scout has another seed and no rows of its own now.
        lengths = [member.n_rounds_ for member in first[0].growth.members]
        whole = self._on(self.data.whole())
        again = [
            whole.scouts(n_rounds=round(float(np.mean(lengths)))),
            whole.boosters(signal),
            whole.trees(signal, _RECIPE.mu_of_trees(signal)),
            *whole.sharp_trees(),
        ]
        return _calibrated(held_out, blend([team.test for team in again])[:, 1])

    def _on(self, data: MemoryRows) -> Pieces:
        twin = object.__new__(Pieces)
        twin.__dict__.update(self.__dict__, data=data)
        return twin

    def _grow(
        self, number: int, data: MemoryRows, adapter: Any, mu: float | str | None, n_members: int
    ) -> Grown:
        start = time.process_time()
        growth = Growth(data, adapter, self.seeds[number])
        policy: Any = None
        if isinstance(mu, str):
            policy = load_policy(mu)
        elif mu is not None:
            policy = ConstantPolicy(mu, encoder=None)
        for _ in growth.grow(policy, n_members):
            pass
        cpu = time.process_time() - start
        X = self.X_test if data.table_maker is None else data.table_maker(self.X_test)
        total = np.zeros(X.shape[0])
        for k, member in enumerate(growth.members):
            adapter.of(k).add_scores(member, X, total)
        return Grown(growth, running_mean(total, n_members, adapter.leaf_smoothing), cpu)


def blended(teams: Sequence[Grown]) -> NDArray[Any]:
    """Return what teams say together, as the default joins and calibrates them."""
    blend, held_out = _blend(teams)
    return _calibrated(held_out, blend([team.test for team in teams])[:, 1])


def _blend(teams: Sequence[Grown]) -> tuple[Blend, Any]:
    judged = [team.growth.judged() for team in teams]
    shares = [team.growth.sampled_shares() for team in teams]
    return Blend.of(teams[0].growth.data, judged, shares, [team.n_votes for team in teams])


def alone(team: Grown) -> NDArray[Any]:
    """Return what one team says, calibrated on the rows it left out."""
    return _calibrated(team.growth.judged(), team.test)


def best_of(teams: Sequence[Grown]) -> NDArray[Any]:
    """Return what the team says that is best on the rows it left out."""

    def score(team: Grown) -> float:
        _, proba, codes, *_ = team.growth.judged()
        return float(average_precision_score(codes, proba[:, 1]))

    return alone(max(teams, key=score))


def _calibrated(left_out: tuple[Any, ...] | None, test: NDArray[Any]) -> NDArray[Any]:
    """Return the probabilities of a fit: a sigmoid of the log-odds, fitted on left-out rows.

    The fit's own sigmoid never falls. One without bounds does so where positives are few, and
    turns the order of the test rows round.
    """
    assert left_out is not None  # some rows are always left out here
    _, proba, codes, weights, *_ = left_out
    prior = np.bincount(codes, minlength=2) / len(codes)
    calibrate = SigmoidCalibration(prior, proba, codes, weights, of_log_odds=True)
    return calibrate(np.column_stack([1 - test, test]))[:, 1]


def stacked(teams: Sequence[Grown]) -> NDArray[Any]:
    """Return what a logistic regression of the teams' log-odds says, learned on left-out rows."""
    judged = [team.growth.judged() for team in teams]
    common = judged[0][0]
    for rows, *_ in judged[1:]:
        common = np.intersect1d(common, rows, assume_unique=True)
    left_out = [proba[np.searchsorted(rows, common), 1] for rows, proba, *_ in judged]
    codes = judged[0][2][np.searchsorted(judged[0][0], common)]
    learned = LogisticRegression().fit(_log_odds(left_out), codes)
    return learned.predict_proba(_log_odds([team.test for team in teams]))[:, 1]


def _log_odds(answers: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.column_stack([logit(np.clip(answer, 1e-9, 1 - 1e-9)) for answer in answers])
