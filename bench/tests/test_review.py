"""What answers a reviewer: searches, views of the state, other noise, other validation rows."""

import numpy as np
import pytest

from metasampler import MesaClassifier
from metasampler.meta import MetaSampler
from metasampler_bench import METHODS, load_spec
from metasampler_bench._protocol import take_parts
from metasampler_bench._samplers import SamplerCache, make_meta_sampler
from metasampler_bench._search import SearchedPolicyClassifier, _search
from metasampler_bench._spread import spreads
from metasampler_bench._views import VIEWS, Viewed
from metasampler_bench.datasets import flip_labels


def test_a_search_keeps_the_best_and_halves_the_others():
    played = []

    def play(candidate, number):
        played.append((candidate, number))
        return candidate

    best, n_episodes = _search([1, 5, 3, 4], [(4, 2), (2, 3)], play)
    assert (best, n_episodes) == (5, 4 * 2 + 2 * 3)
    # The better half goes on, with random numbers that it has not met.
    assert {candidate for candidate, number in played if number >= 2} == {5, 4}


@pytest.mark.parametrize("over", ["policies", "constants"])
def test_searches_for_a_policy(imbalanced, over):
    X, y = imbalanced
    clf = SearchedPolicyClassifier(over=over, n_episodes=1, n_estimators=4, random_state=0)
    clf.fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert clf.n_episodes_ == {"policies": 33, "constants": 11 + 5 + 2}[over]
    assert clf.actions_.shape == (3,)
    if over == "constants":
        np.testing.assert_array_equal(clf.actions_, clf.policy_.mu)
    with pytest.raises(ValueError, match="over='mus' must be one of"):
        SearchedPolicyClassifier(over="mus").fit(X, y)


@pytest.mark.parametrize("view", VIEWS)
def test_views_show_something_else(imbalanced, view):
    X, y = imbalanced
    sampler = MetaSampler.load("mammography")
    clf = METHODS["mesa-fit"].build(n_estimators=4, random_state=0)
    shown = clf.set_params(meta_sampler=Viewed(sampler, view)).fit(X, y)
    policy, states = sampler.as_policy(), shown.states_
    assert isinstance(shown, MesaClassifier)
    halves = {
        "constant": [np.full(10, 0.2)] * 3,
        "of-another-step": [states[0]] * 3,
        "no-validation": [np.tile(state[:5], 2) for state in states],
    }
    if view in halves:
        expected = [policy.choose(state) for state in halves[view]]
        np.testing.assert_allclose(shown.actions_, expected)
    else:
        seen = Viewed(sampler, view).seen(states[0], np.random.default_rng(0))
        np.testing.assert_array_equal(np.sort(seen[:5]), np.sort(states[0][:5]))
        np.testing.assert_array_equal(np.sort(seen[5:]), np.sort(states[0][5:]))


def test_flips_of_one_class():
    y = np.repeat([0, 1], [90, 10])
    for classes, lost, won in (("both", 4, 4), ("minority", 4, 0), ("majority", 0, 4)):
        noisy = flip_labels(y, 0.4, classes=classes, random_state=0)
        assert (int(np.sum(noisy[90:] == 0)), int(np.sum(noisy[:90] == 1))) == (lost, won)
    with pytest.raises(ValueError, match="classes must be"):
        flip_labels(y, 0.4, classes="all")


def test_validation_rows_can_be_fewer_and_wrong():
    usual = take_parts("digits-8", 0, 0)
    fewer = take_parts("digits-8", 0, 0, valid_fraction=0.5)
    np.testing.assert_array_equal(fewer.X_train, usual.X_train)
    np.testing.assert_array_equal(fewer.X_test, usual.X_test)
    assert len(fewer.y_valid) == pytest.approx(len(usual.y_valid) / 2, abs=1)
    assert fewer.y_valid.sum() == pytest.approx(usual.y_valid.sum() / 2, abs=1)
    wrong = take_parts("digits-8", 0, 0, valid_noise=0.25)
    assert 0 < np.sum(wrong.y_valid != usual.y_valid) < len(usual.y_valid) / 4
    np.testing.assert_array_equal(wrong.y_train, usual.y_train)
    with pytest.raises(ValueError, match="flipped no labels of these rows"):
        take_parts("digits-8", 0, 0, noise=0.25, flips="authors")


def test_settings_of_meta_training_by_name(tmp_path):
    cell = {"dataset": "digits-8", "run": 0, "fold": 1}
    usual = make_meta_sampler(cell, 0)
    assert make_meta_sampler({**cell, "setting": "sigma=0.4"}, 0).sigma == 0.4
    assert make_meta_sampler({**cell, "setting": "gamma=0.5"}, 0).trainer.gamma == 0.5
    assert make_meta_sampler({**cell, "meta_seed": 3}, 0).random_state == (
        usual.random_state + 3 * 10**6
    )
    assert repr(make_meta_sampler({**cell, "meta_base": "GNB"}, 0).estimator) == "GaussianNB()"
    cache = SamplerCache(tmp_path)
    keys = [
        cache.key({**cell, **extra})
        for extra in ({}, {"setting": "gamma=0.5"}, {"meta_seed": 1}, {"valid_fraction": 0.5})
    ]
    assert len({str(key) for key in keys}) == 4
    # What a policy is shown is no part of its training.
    assert cache.key({**cell, "view": "constant"}) == cache.key(cell)


def test_spreads_over_meta_trainings_and_splits():
    def row(method, score, fold, **cell):
        cell = {"dataset": "spectrometer", "method": method, "k": 10, "run": 0, **cell}
        return {"spec": "seeds", "seed": 0, "score": score, "cell": {**cell, "fold": fold}}

    rows = []
    for fold, base in enumerate((0.5, 0.7)):
        rows += [row("random-mu", 0.45, fold), row("uniform-draws", 0.3, fold)]
        rows += [row("mesa-fit", base - 0.1 * seed, fold, meta_seed=seed) for seed in (1, 2)]
        rows.append({**row("mesa-fit", base, fold), "actions": [0.5 + 0.3 * fold, 0.7]})
    (found,) = spreads(load_spec("seeds"), rows)
    assert (found.n_splits, found.n_trainings) == (2, 6)
    assert found.within == pytest.approx(0.1)
    assert found.between == pytest.approx(np.std([0.4, 0.6], ddof=1))
    # 0.4 and 0.3 are below 0.45; none is below 0.3.
    assert (found.collapsed, found.below_uniform) == (2, 0)
    assert found.worst == pytest.approx(0.15)
    assert (found.lowest_mu, found.highest_mu) == pytest.approx((0.6, 0.75))
