"""Stable-Baselines3's SAC learns on our environment, and its actor serves as a meta-sampler."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from tree_mesa import tree_mesa

from metasampler import MetaSampler
from metasampler.meta import EnsembleTrainingEnv

torch = pytest.importorskip("torch")
sb3 = pytest.importorskip("stable_baselines3")


@pytest.fixture(scope="module")
def model():
    X, y = make_classification(600, weights=[0.9], flip_y=0.02, random_state=0)
    env = EnsembleTrainingEnv(X, y, n_estimators=5, random_state=0)
    model = sb3.SAC(
        "MlpPolicy",
        env,
        policy_kwargs={"net_arch": {"pi": [50], "qf": [50, 50]}},
        learning_starts=40,
        buffer_size=1000,
        seed=0,
        device="cpu",
    )
    before = [parameter.clone() for parameter in model.policy.actor.parameters()]
    model.learn(120)
    after = model.policy.actor.parameters()
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
    return model


def test_the_actor_acts_the_same_in_numpy(model):
    sampler = MetaSampler.from_actor(model.policy.actor, state="all", n_bins=5)
    rng = np.random.default_rng(0)
    for _ in range(20):
        state = rng.dirichlet(np.ones(5), size=2).reshape(10)
        expected, _ = model.predict(state.astype(np.float32), deterministic=True)
        assert sampler.choose(state) == pytest.approx(float(expected[0]), abs=1e-5)


def test_its_draws_are_distributed_the_same(model):
    sampler = MetaSampler.from_actor(model.policy.actor)
    state = np.full(10, 0.2)
    rng = np.random.default_rng(0)
    ours = [sampler.sample(state, rng) for _ in range(3000)]
    batch = torch.full((3000, 10), 0.2)
    with torch.no_grad():
        theirs = (model.policy.actor(batch).numpy()[:, 0] + 1) / 2
    assert np.mean(ours) == pytest.approx(theirs.mean(), abs=0.02)
    assert np.std(ours) == pytest.approx(theirs.std(), abs=0.02)


def test_a_classifier_takes_it(model, tmp_path):
    X, y = make_classification(600, weights=[0.9], flip_y=0.02, random_state=1)
    sampler = MetaSampler.from_actor(model.policy.actor)
    sampler.save(tmp_path / "sb3.npz")
    clf = tree_mesa(meta_sampler=tmp_path / "sb3.npz", random_state=0).fit(X, y)
    direct = tree_mesa(meta_sampler=sampler, random_state=0).fit(X, y)
    np.testing.assert_array_equal(clf.actions_, direct.actions_)


def test_other_activations_are_refused():
    X, y = make_classification(200, weights=[0.8], random_state=0)
    env = EnsembleTrainingEnv(X, y, n_estimators=3, random_state=0)
    model = sb3.SAC("MlpPolicy", env, policy_kwargs={"activation_fn": torch.nn.Tanh})
    with pytest.raises(ValueError, match="must be ReLU, got \\['Tanh'\\]"):
        MetaSampler.from_actor(model.policy.actor)


def test_the_example_runs(capsys):
    example = Path(__file__).parents[2] / "examples" / "run_stable_baselines.py"
    runpy.run_path(str(example))
    assert "mu of each member" in capsys.readouterr().out
