"""The training recipe of the authors' code."""

from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from metasampler.policy import ConstantPolicy, Drawn
from metasampler_bench import METHODS, AuthorsMesaClassifier, Runner, load_spec
from metasampler_bench._authors_trainer import (
    AuthorsTrainer,
    RangeHistograms,
    hand_made_transitions,
)

SHORT = {"n_random_steps": 18, "n_updates": 18}


@parametrize_with_checks([AuthorsMesaClassifier(n_estimators=2, meta_sampler=ConstantPolicy(0.9))])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def halves(imbalanced):
    X, y = imbalanced
    return X[::2], y[::2], X[1::2], y[1::2]


class Watched(AuthorsTrainer):
    """A trainer that tells what it remembers and how it updates."""

    def _remember(self, state, action, reward, following, is_last):
        super()._remember(state, action, reward, following, is_last)
        memory = self._agent.memory
        self.rows = [*getattr(self, "rows", []), memory.rows[(memory.n_added - 1) % 1000].copy()]
        self.lasts = [*getattr(self, "lasts", []), is_last]

    def _update(self):
        # The same update with one rate for all.
        twin, before = deepcopy(self._agent), self.actor_.parameters.copy()
        twin.update()
        super()._update()
        agent, steps = self._agent, getattr(self, "steps", [])
        np.testing.assert_array_equal(agent.critics.parameters, twin.critics.parameters)
        own, usual = (each.policy.parameters - before for each in (agent, twin))
        self.steps = [*steps, np.abs(own).max() / np.abs(usual).max()]


def test_states_count_majority_rows_in_bins_over_their_range(halves):
    encoder = RangeHistograms()
    assert encoder.size == 10
    clf = AuthorsMesaClassifier(n_estimators=3, meta_sampler=ConstantPolicy(0.9), random_state=0)
    seen = []

    def choose(growth):
        seen.append((encoder(growth), *(growth.errors(r, "majority") for r in ("train", "valid"))))
        return ConstantPolicy(0.9)(growth)

    X, y, X_val, y_val = halves
    clf.set_params(meta_sampler=choose).fit(X, y, X_val=X_val, y_val=y_val)
    assert len(seen) == 2
    for state, train, valid in seen:
        assert len(train) == np.sum(y == 0)
        assert len(valid) == np.sum(y_val == 0)
        for half, errors in ((state[:5], train), (state[5:], valid)):
            edges = np.linspace(errors.min(), errors.max(), 6)
            assert half.sum() == pytest.approx(5)
            assert half[0] == pytest.approx(5 * np.mean(errors < edges[1]))
            assert half[-1] == pytest.approx(5 * np.mean(errors >= edges[4]))


def test_hand_made_transitions_say_what_is_right():
    transitions = hand_made_transitions(5, np.random.default_rng(0))
    # A third each, one kind after the other.
    assert [mu for _, mu, _ in transitions] == [0.9] * 333 + [0.5] * 333 + [0.1] * 333
    assert {reward for *_, reward in transitions} == {0.05}
    states = {mu: np.array([s for s, m, _ in transitions if m == mu]) for mu in (0.9, 0.5, 0.1)}
    for rows in states.values():
        # Up to .5 in each bin is random.
        np.testing.assert_allclose(np.ptp(rows, axis=0), 0.5, atol=0.02)
        assert rows.min(axis=0).sum() == pytest.approx(10, abs=0.1)
    # The authors' formulas give these: most errors are large where mu .9 is good.
    rising, middle = [0.26, 0.36, 0.87, 2.01, 2.75], [0.68, 1.46, 1.97, 1.46, 0.68]
    falling, wide = [2.28, 1.69, 0.76, 0.34, 0.26], [0.76, 1.69, 2.28, 1.69, 0.76]
    expected = {0.9: (rising, rising), 0.5: (middle, middle), 0.1: (falling, wide)}
    for mu, halves in expected.items():
        np.testing.assert_allclose(states[mu].mean(axis=0), np.concatenate(halves), atol=0.04)


def test_hand_made_states_point_as_real_ones_do():
    encoder, errors = RangeHistograms(), np.linspace(0, 1, 101)
    underfitted = np.random.default_rng(0).choice(errors, 999, p=errors / errors.sum())
    states = {mu: state for state, mu, _ in hand_made_transitions(5, np.random.default_rng(0))}

    def likeness(mu, errors):
        return np.corrcoef(states[mu][:5], encoder.histogram(errors))[0, 1]

    assert likeness(0.9, underfitted) > 0.8
    assert likeness(0.1, 1 - underfitted) > 0.8
    assert likeness(0.9, 1 - underfitted) < 0
    assert likeness(0.1, underfitted) < 0


def test_what_is_hand_made_is_half_gone_before_the_first_update(halves):
    class AtFirst(AuthorsTrainer):
        def _update(self):
            memory = self._agent.memory
            self.actions = memory.rows[: len(memory), 10].copy()
            super()._update()

    trainer = AtFirst(0, n_random_steps=500, n_updates=1).fit(*halves)
    # Float32 tells hand-made actions apart from those that are drawn from everything.
    counts = [int(np.sum(trainer.actions == np.float32(mu))) for mu in (0.9, 0.5, 0.1)]
    assert counts == [0, 166, 333]


def test_recipe_differs_from_the_text_as_it_says(halves):
    trainer = Watched(0, **SHORT).fit(*halves)
    # Nine actions an episode: two of random steps and two of updates.
    assert trainer.n_episodes_ == 4
    hand_made, played = trainer.rows[:999], trainer.rows[999:]
    assert len(played) == 36
    done = [row[-1] for row in played]
    # The flag is inverted: a future counts after the last action alone.
    assert done == [0.0 if number % 9 == 8 else 1.0 for number in range(36)]
    assert {row[-1] for row in hand_made} == {1.0}
    # What follows is the next state.
    for row, following in pairwise(played[:9]):
        np.testing.assert_array_equal(row[12:22], following[:10])
    # Rewards are changes of the score, times 100.
    assert len(trainer.steps) == 18


def test_only_the_rate_of_the_critics_decays(halves):
    trainer = Watched(0, n_random_steps=9, n_updates=100).fit(*halves)
    # The usual rate falls by a hundredth every ten updates; the policy's steps do not.
    expected = 0.99 ** -(np.arange(100) // 10)
    np.testing.assert_allclose(trainer.steps, expected, rtol=1e-3)


def test_same_seed_gives_same_policy(halves):
    first, second, other = (AuthorsTrainer(seed, **SHORT).fit(*halves) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.actor_.parameters, second.actor_.parameters)
    assert not np.array_equal(first.actor_.parameters, other.actor_.parameters)
    state = np.full(10, 1.0)
    assert first.policy().choose(state) == second.policy().choose(state)


def test_classifier_trains_on_its_rows_and_acts_by_mean_or_draws(imbalanced):
    X, y = imbalanced
    plain = AuthorsMesaClassifier(n_estimators=3, random_state=0, **SHORT).fit(X, y)
    named = np.where(y == 1, "yes", "no")
    same = AuthorsMesaClassifier(n_estimators=3, random_state=0, **SHORT).fit(X, named)
    np.testing.assert_array_equal(plain.actions_, same.actions_)
    assert set(same.predict(X)) == {"no", "yes"}
    drawn = AuthorsMesaClassifier(n_estimators=3, random_state=0, draws=True, **SHORT).fit(X, y)
    assert not np.array_equal(plain.actions_, drawn.actions_)
    assert isinstance(drawn.estimator_.meta_sampler, Drawn)
    assert len(list(plain.staged_predict_proba(X))) == 3


def test_runner_trains_once_and_keeps_the_sampler(tmp_path):
    spec = load_spec("authors-recipe")
    runner = Runner(tmp_path)
    runner.run(spec, quick=True, methods=("mesa-as-coded", "constant-0.9"))
    rows = runner.store(spec).rows()
    own = [row for row in rows if row["cell"]["method"] == "mesa-as-coded"]
    assert sorted(row["cell"]["k"] for row in own) == [5, 10]
    assert all(row["meta_cpu"] > 0 for row in own)
    (path,) = (tmp_path / "samplers").glob("*.npz")
    assert METHODS["mesa-as-coded"].trainer == "code"
    before = path.read_bytes()
    again = Runner(tmp_path)
    again.store(spec).path.unlink()
    again.run(spec, quick=True, methods=("mesa-as-coded",))
    assert path.read_bytes() == before
    assert [row["score"] for row in again.store(spec).rows()] == [row["score"] for row in own]
