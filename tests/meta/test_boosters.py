"""Meta-training with the boosters of a recipe."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from metasampler import MesaClassifier, MetaSampler
from metasampler.ensemble.teams import Boosters
from metasampler.growth import PowerDraw
from metasampler.meta import FitToConstants, SoftActorCritic
from metasampler.policy import load_policy, signal_state


@pytest.fixture(scope="module")
def tasks():
    made = {}
    for number, flip in enumerate((0.0, 0.3)):
        X, y = make_classification(
            2500, 6, n_informative=4, weights=[0.85], flip_y=flip, random_state=number
        )
        made[f"flipped {flip}"] = (X[:2000], y[:2000], None, None, X[2000:], y[2000:])
    return made


def make_sampler(trainer=None, **options):
    default = FitToConstants(2, 3, score_on="test", relative=True)
    settings = {"n_estimators": 3, "state": "signal", "random_state": 0}
    return MetaSampler(
        Boosters("fast"), trainer=trainer or default, hidden_layer_sizes=(), **settings | options
    )


@pytest.fixture(scope="module")
def sampler(tasks):
    return make_sampler().fit_tasks(tasks)


def test_a_sampler_learns_powers_from_the_signal(sampler, tasks):
    assert sampler.encoder_.size == 1
    assert [entry["task"] for entry in sampler.history_] == 2 * list(tasks)
    assert "Boosters" in sampler.summary_["estimator"]
    actions = np.concatenate([entry["actions"] for entry in sampler.history_])
    # The mean of the actions 0, 1/2 and 1 is the power of 1/2.
    np.testing.assert_allclose(actions, 7**0.5 - 1)


def test_it_is_stored_with_what_its_actions_mean(sampler, tmp_path):
    sampler.save(tmp_path / "sampler.npz")
    state = np.array([0.1])
    loaded = MetaSampler.load(tmp_path / "sampler.npz")
    assert loaded.as_policy().encoder.action == "power"
    assert loaded.choose(state) == sampler.choose(state)
    policy = load_policy(tmp_path / "sampler.npz")
    assert repr(policy) == "LearnedPolicy(states of kind 'signal')"
    assert policy.choose(state) == sampler.choose(state)


def test_an_interrupted_training_goes_on(sampler, tasks, tmp_path):
    def stop(progress):
        if progress.n_rounds_done == 1:
            progress.stop()

    checkpoint = tmp_path / "training.npz"
    make_sampler().fit_tasks(tasks, checkpoint=checkpoint, checkpoint_every=1, callback=stop)
    resumed = make_sampler().fit_tasks(tasks, checkpoint=checkpoint, checkpoint_every=1)
    state = np.array([0.1])
    assert resumed.choose(state) == sampler.choose(state)


def test_soft_actor_critic_learns_powers_too(tasks):
    trainer = SoftActorCritic(n_random_steps=4, n_updates=4)
    sampler = make_sampler(trainer).fit(*next(iter(tasks.values()))[:2])
    assert 0 <= sampler.choose(np.zeros(1)) <= 6


def test_a_classifier_draws_by_it(sampler, tasks):
    X, y, *_ = tasks["flipped 0.0"]
    for chosen in (sampler, MetaSampler.load("boosters")):
        clf = MesaClassifier(recipe="fast", meta_sampler=chosen, random_state=0).fit(X, y)
        power = chosen.choose(signal_state(clf.signal_))
        # A power of next to nothing is a uniform draw.
        assert clf.actions_.tolist() == pytest.approx([power if power >= 0.1 else 0.0])
    assert power > 0.1
    assert "power" in clf.summary().rows[-1]
    np.testing.assert_array_equal(clf.states_, [signal_state(clf.signal_)])


class ConstantPower:
    """A policy of one's own."""

    def __init__(self, power):
        self.power = power

    def __call__(self, growth):
        return PowerDraw(self.power)


def test_constant_powers_are_policies(tasks):
    X, y, *_ = tasks["flipped 0.3"]
    policy = ConstantPower(2.0)
    clf = MesaClassifier(recipe="fast", meta_sampler=policy, random_state=0).fit(X, y)
    assert clf.actions_.tolist() == [2.0]


def test_scouts_are_needed(sampler, imbalanced):
    from sklearn.tree import DecisionTreeClassifier

    clf = MesaClassifier(DecisionTreeClassifier(), 3, meta_sampler=sampler, random_state=0)
    with (
        pytest.warns(UserWarning, match="meta-trained with boosters, and the members are trees"),
        pytest.raises(ValueError, match="reads the signal, and only the boosters"),
    ):
        clf.fit(*imbalanced)


def test_what_boosters_refuse(tasks):
    with pytest.raises(ValueError, match="recipe='none' must be one of 'default', 'fast'"):
        make_sampler().set_params(estimator=Boosters("none")).fit_tasks(tasks)
    with pytest.raises(ValueError, match=r"train_ratio=0\.5 is not for Boosters"):
        make_sampler(train_ratio=0.5).fit_tasks(tasks)


def test_the_signal_is_asked_for_before_any_member_is_fitted(imbalanced, monkeypatch):
    def fit(*arguments, **options):
        raise AssertionError("a member was fitted")

    monkeypatch.setattr("metasampler.growth._tree_adapter.TreeAdapter.fit", fit)
    with pytest.raises(ValueError, match=r"state='signal' is for boosters only"):
        MetaSampler(state="signal").fit(*imbalanced)
