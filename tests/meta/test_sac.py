import pickle

import numpy as np
import pytest
from agents import make_agent

from metasampler.meta._sac import Batch, ReplayMemory, squashed_log_prob


def filled_sac(seed=0, n=40, state_size=4, **options):
    """Return a trainer whose memory holds random transitions."""
    rng = np.random.default_rng(seed)
    sac = make_agent(state_size, rng=rng, **options)
    for i in range(n):
        state, next_state = rng.random((2, state_size))
        sac.memory.add(state, rng.random(), rng.normal(), next_state, i % 5 == 4)
    return sac


def network(layers, x):
    for layer in layers[:-1]:
        x = np.maximum(x @ layer[:-1] + layer[-1], 0)
    return x @ layers[-1][:-1] + layers[-1][-1]


def values(critics, states, actions):
    x = np.column_stack((states, actions))
    return [network([layer[k] for layer in critics.layers], x)[:, 0] for k in range(2)]


def actions_and_log_prob(policy, states, noise):
    mean, log_std = network(policy.network.layers, states).T
    log_std = np.clip(log_std, -20, 2)
    u = mean + np.exp(log_std) * noise
    return (np.tanh(u) + 1) / 2, squashed_log_prob(u, noise, log_std)


def critic_loss(sac, batch, targets):
    return sum(((q - targets) ** 2).mean() for q in values(sac.critics, batch.state, batch.action))


def policy_loss(sac, batch, noise):
    actions, log_prob = actions_and_log_prob(sac.policy, batch.state, noise)
    smaller = np.minimum(*values(sac.critics, batch.state, actions))
    return (sac.alpha * log_prob - smaller).mean()


def finite_differences(loss, parameters, step=1e-6):
    result = np.empty_like(parameters)
    for i, value in enumerate(parameters):
        parameters[i] = value + step
        above = loss()
        parameters[i] = value - step
        below = loss()
        parameters[i] = value
        result[i] = (above - below) / (2 * step)
    return result


@pytest.mark.parametrize("hidden", [(50,), (7,), (5, 5, 5), ()])
@pytest.mark.parametrize("clipped", [False, True])
def test_gradients_match_finite_differences(hidden, clipped):
    critics = {"critic_hidden": hidden}
    sac = filled_sac(state_size=3, hidden=hidden, constants=critics, dtype=np.float64)
    if clipped:
        sac.policy.layers[-1][1][1] = 2.1  # some log-stds beyond the bound, some below
    n = 8
    batch = sac.memory.sample(n, sac.rng)
    noise = sac.rng.standard_normal(2 * n)
    next_action, next_log_prob = actions_and_log_prob(sac.policy, batch.next_state, noise[n:])
    smaller = np.minimum(*values(sac.target_critics, batch.next_state, next_action))
    future = sac.settings.gamma * (smaller - sac.alpha * next_log_prob)
    targets = np.where(batch.done == 1, batch.reward, batch.reward + future)

    sac.compute_gradients(batch, noise)
    np.testing.assert_allclose(
        sac.critics.gradient,
        finite_differences(lambda: critic_loss(sac, batch, targets), sac.critics.parameters),
        rtol=1e-6,
        atol=1e-8,
    )
    np.testing.assert_allclose(
        sac.actor.network.gradient,
        finite_differences(lambda: policy_loss(sac, batch, noise[:n]), sac.policy.parameters),
        rtol=1e-6,
        atol=1e-8,
    )


def test_update_changes_everything_it_should():
    sac = filled_sac()
    critics, targets = sac.critics.parameters.copy(), sac.target_critics.parameters.copy()
    policy = sac.policy.parameters.copy()
    np.testing.assert_array_equal(critics, targets)
    sac.update()
    assert sac.n_updates_ == 1
    assert not np.array_equal(sac.policy.parameters, policy)
    expected = 0.99 * targets + 0.01 * sac.critics.parameters
    np.testing.assert_allclose(sac.target_critics.parameters, expected, rtol=1e-6, atol=1e-8)
    for parameters in (sac.critics.parameters, sac.policy.parameters):
        assert parameters.dtype == np.float32


def test_learning_rate_decays_in_steps():
    sac = filled_sac(learning_rate=0.5, lr_decay=0.1)
    rates = []
    for _ in range(21):
        rates.append(sac.current_learning_rate)
        sac.update()
    np.testing.assert_allclose(rates, [0.5] * 10 + [0.05] * 10 + [0.005])


def test_first_adam_step_has_the_size_of_the_learning_rate():
    sac = filled_sac(learning_rate=1e-3, dtype=np.float64)
    before = sac.critics.parameters.copy()
    sac.update()
    moved = np.abs(sac.critics.parameters - before)[np.abs(sac.critics.gradient) > 1e-4]
    np.testing.assert_allclose(moved, 1e-3, rtol=1e-3)


def test_memory_overwrites_the_oldest():
    memory = ReplayMemory(4, 2)
    for i in range(6):
        memory.add([i, i], i / 10, i, [i + 1, i + 1], i == 5)
        assert len(memory) == min(i + 1, 4)
    assert sorted(memory.rows[:, 3]) == [2, 3, 4, 5]
    batch = memory.sample(100, np.random.default_rng(0))
    assert isinstance(batch, Batch)
    assert set(batch.reward) == {2, 3, 4, 5}
    np.testing.assert_array_equal(batch.state[:, 0], batch.reward)
    np.testing.assert_allclose(batch.action, batch.reward / 10, rtol=1e-6)
    np.testing.assert_array_equal(batch.next_state, batch.state + 1)
    np.testing.assert_array_equal(batch.done, batch.reward == 5)


def test_memory_samples_only_what_was_added():
    memory = ReplayMemory(100, 1)
    memory.add([1.0], 1.0, 1.0, [1.0], True)
    assert (memory.sample(64, np.random.default_rng(0)).reward == 1.0).all()


def test_same_seed_same_result():
    first, second, other = (filled_sac(seed) for seed in (0, 0, 1))
    for _ in range(20):
        for sac in (first, second, other):
            sac.update()
    np.testing.assert_array_equal(first.policy.parameters, second.policy.parameters)
    np.testing.assert_array_equal(first.critics.parameters, second.critics.parameters)
    assert not np.array_equal(first.policy.parameters, other.policy.parameters)


def test_training_continues_after_pickle():
    sac = filled_sac()
    for _ in range(15):
        sac.update()
    twin = pickle.loads(pickle.dumps(sac))
    for _ in range(15):
        sac.update()
        twin.update()
    assert twin.n_updates_ == 30
    for name in ("policy", "critics", "target_critics"):
        np.testing.assert_array_equal(getattr(twin, name).parameters, getattr(sac, name).parameters)


def test_solves_a_bandit_with_state_dependent_optimum():
    # One-step episodes whose best action is 0.2 or 0.8, told by the state.
    rng = np.random.default_rng(0)
    sac = make_agent(2, alpha=0.1, lr_decay=1.0, learning_rate=3e-3, rng=rng)
    states = np.eye(2)
    for i in range(2500):
        k = rng.integers(2)
        action = rng.random() if i < 200 else sac.policy.sample(states[k], rng)
        reward = -100.0 * (action - (0.2, 0.8)[k]) ** 2
        sac.memory.add(states[k], action, reward, states[k], True)
        if i >= 200:
            sac.update()
    assert sac.policy.choose(np.array([1.0, 0.0])) == pytest.approx(0.2, abs=0.05)
    assert sac.policy.choose(np.array([0.0, 1.0])) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("terminal", [True, False])
def test_end_of_a_chain_has_no_future(terminal):
    # Three steps with a reward of 1 each, whatever the action. With a true end the returns are
    # 1 + g + g^2, 1 + g and 1; if the end led back to the start, every one would be 1 / (1 - g).
    gamma = 0.8
    rng = np.random.default_rng(0)
    options = {"alpha": 0.0, "gamma": gamma, "lr_decay": 1.0, "learning_rate": 3e-3}
    sac = make_agent(3, rng=rng, constants={"tau": 0.05}, **options)
    states = np.eye(3)
    for i in range(600):
        k = i % 3
        sac.memory.add(states[k], rng.random(), 1.0, states[(k + 1) % 3], terminal and k == 2)
    for _ in range(2500):
        sac.update()
    learned = np.mean(values(sac.critics, states, np.full(3, 0.5)), axis=0)
    expected = [1 + gamma + gamma**2, 1 + gamma, 1] if terminal else [1 / (1 - gamma)] * 3
    np.testing.assert_allclose(learned, expected, rtol=0.04)
