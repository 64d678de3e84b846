import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import trapezoid

from metasampler.meta._sac import Actor, squashed_log_prob
from metasampler.policy import LOG_STD_RANGE, GaussianPolicy
from metasampler.policy._network import layer_sizes


def random_policy(seed=0, state_size=10, hidden=(50,), dtype=np.float32):
    return GaussianPolicy(state_size, hidden, rng=np.random.default_rng(seed), dtype=dtype)


def reference_heads(policy, states):
    x = states
    for weights, biases in policy.layers[:-1]:
        x = np.maximum(x @ weights + biases, 0)
    weights, biases = policy.layers[-1]
    return (x @ weights + biases).T


def test_layers_are_views_into_the_flat_vector():
    policy = random_policy(hidden=(7, 5))
    assert [w.shape for w, _ in policy.layers] == [(10, 7), (7, 5), (5, 2)]
    assert policy.parameters.shape == (10 * 7 + 7 + 7 * 5 + 5 + 5 * 2 + 2,)
    policy.parameters[:] = 3.0
    assert all((w == 3.0).all() and (b == 3.0).all() for w, b in policy.layers)


def test_attributes():
    policy = random_policy(hidden=(7, 5), dtype=np.float64)
    assert (policy.state_size, policy.hidden, policy.parameters.dtype) == (10, (7, 5), np.float64)


def test_same_seed_same_weights_and_no_seed_works():
    np.testing.assert_array_equal(random_policy(3).parameters, random_policy(3).parameters)
    assert not np.array_equal(GaussianPolicy(4).parameters, GaussianPolicy(4).parameters)


def test_untrained_policy_explores_the_whole_interval():
    policy = random_policy()
    rng = np.random.default_rng(0)
    state = np.full(10, 0.2)
    actions = [policy.sample(state, rng) for _ in range(500)]
    assert min(actions) < 0.1
    assert max(actions) > 0.9


@settings(max_examples=50, deadline=None)
@given(
    state=hnp.arrays(np.float64, 10, elements=st.floats(-1e3, 1e3)),
    seed=st.integers(0, 2**32 - 1),
)
def test_actions_stay_in_the_unit_interval(state, seed):
    policy = random_policy(seed)
    policy.parameters[:] *= 10
    assert 0.0 <= policy.choose(state) <= 1.0
    assert 0.0 <= policy.sample(state, np.random.default_rng(seed)) <= 1.0


@pytest.mark.parametrize("hidden", [(), (50,), (5, 5, 5)])
def test_predict_and_sample_agree_with_the_batch(hidden):
    policy = random_policy(hidden=hidden)
    states = np.random.default_rng(1).random((6, 10), dtype=np.float32)
    noise = np.array([np.random.default_rng(i).standard_normal() for i in range(6)], np.float32)
    mean, log_std = reference_heads(policy, states)
    actor = Actor(policy)
    at_mean = actor.draw(states, np.zeros(6, np.float32)).action
    drawn = actor.draw(states, noise).action.copy()
    np.testing.assert_allclose(at_mean, (np.tanh(mean) + 1) / 2, rtol=1e-5)
    u = mean + np.exp(log_std) * noise
    np.testing.assert_allclose(drawn, (np.tanh(u) + 1) / 2, rtol=1e-5)
    for i, state in enumerate(states):
        assert policy.choose(state) == pytest.approx(at_mean[i], rel=1e-5)
        assert policy.sample(state, np.random.default_rng(i)) == pytest.approx(drawn[i], rel=1e-5)


@pytest.mark.parametrize(("mean", "log_std"), [(0.0, 0.0), (1.0, -1.0), (-0.7, 0.5), (2.0, -3.0)])
def test_density_integrates_to_one(mean, log_std):
    # The density may have poles at 0 and 1, so the grid is even in u and not in the action.
    noise = np.linspace(-9, 9, 200_001)
    u = mean + np.exp(log_std) * noise
    density = np.exp(squashed_log_prob(u, noise, np.full_like(u, log_std)))
    slope = 0.5 / np.cosh(u) ** 2
    assert trapezoid(density * slope, u) == pytest.approx(1.0, abs=1e-9)
    # The same mass, counted with steps of the action itself.
    action = 0.5 * (np.tanh(u) + 1)
    assert trapezoid(density, action) == pytest.approx(1.0, abs=1e-3)


def test_log_prob_is_finite_and_accurate_in_float32():
    u = np.linspace(-50, 50, 2001)
    noise = np.linspace(-3, 3, u.size)
    exact = squashed_log_prob(u, noise, np.zeros_like(u))
    single = squashed_log_prob(*(a.astype(np.float32) for a in (u, noise, np.zeros_like(u))))
    assert single.dtype == np.float32
    assert np.isfinite(single).all()
    np.testing.assert_allclose(single, exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("log_std", [-40.0, 40.0])
def test_log_std_is_clipped(log_std):
    policy = GaussianPolicy.from_layers([np.zeros((3, 2))], [np.array([0.0, log_std])])
    actor = Actor(policy)
    draw = actor.draw(np.zeros((1, 3)), np.ones(1))
    bound = np.clip(log_std, *LOG_STD_RANGE)
    expected = (np.tanh(np.exp(bound)) + 1) / 2
    assert draw.action[0] == pytest.approx(expected)
    assert np.isfinite(draw.log_prob).all()
    actor.backward(draw, np.ones(1), 1.0)
    # A clipped log-std has no gradient: the second head's bias is the last parameter.
    assert actor.network.gradient[-1] == 0.0


def test_from_layers_round_trip():
    policy = random_policy(hidden=(7, 5))
    weights, biases = zip(*policy.layers, strict=True)
    again = GaussianPolicy.from_layers(weights, biases)
    np.testing.assert_array_equal(again.parameters, policy.parameters)
    assert again.parameters.dtype == np.float32
    assert not np.shares_memory(again.parameters, policy.parameters)
    state = np.full(10, 0.3)
    assert again.choose(state) == policy.choose(state)


@pytest.mark.parametrize(
    ("weights", "biases", "match"),
    [
        ([], [], "at least one layer"),
        ([np.ones((3, 2))], [], "one bias per weight matrix"),
        ([np.ones(3)], [np.ones(2)], "must be a matrix"),
        ([np.ones((0, 2))], [np.ones(2)], "must be a matrix"),
        ([np.ones((3, 2))], [np.ones(3)], "Biases of layer 0"),
        ([np.ones((3, 4)), np.ones((5, 2))], [np.ones(4), np.ones(2)], "takes 5 inputs"),
        ([np.ones((3, 4))], [np.ones(4)], "2 outputs"),
        ([np.full((3, 2), np.nan)], [np.ones(2)], "not finite"),
        ([np.ones((3, 2), complex)], [np.ones(2)], "real numbers, got complex128"),
        ([np.ones((3, 2))], [np.array(["a", "b"])], "real numbers"),
        ([np.ones((3, 2), object)], [np.ones(2)], "real numbers"),
    ],
)
def test_from_layers_rejects(weights, biases, match):
    with pytest.raises(ValueError, match=match):
        GaussianPolicy.from_layers(weights, biases)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_keep_layers_tied_to_their_own_vector(clone):
    policy = random_policy()
    twin = clone(policy)
    state = np.full(10, 0.3)
    assert twin.choose(state) == policy.choose(state)
    before = policy.choose(state)
    twin.parameters[:] = 0.0
    assert twin.choose(state) == 0.5
    assert policy.choose(state) == before


def test_widths_of_layers():
    assert layer_sizes([np.int64(3), 4]) == (3, 4)
    assert layer_sizes(np.array([5])) == (5,)
    assert layer_sizes(()) == ()


@pytest.mark.parametrize(
    "bad", ["abc", (0,), (2.5,), (True,), (10**12,), 50, None, {5: 1}, (5,) * 11, [[3]]], ids=repr
)
def test_no_widths_of_layers(bad):
    with pytest.raises(ValueError, match="critics must hold"):
        layer_sizes(bad, "critics")
