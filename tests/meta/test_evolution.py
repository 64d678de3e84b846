"""Evolution of the policy: what is searched, how candidates are compared."""

import sys

import numpy as np
import pytest
from metasampler.meta._episode import Episode
from metasampler.meta._evolution import EvolutionLearner
from tree_mesa import tree_mesa

from metasampler import MetaSampler
from metasampler.meta import GaussianPolicy

SHORT = {"n_estimators": 4, "learner": "cma-es", "n_generations": 3, "random_state": 0}


def make_learner(hidden=(), **options):
    policy = GaussianPolicy(3, hidden, rng=np.random.default_rng(0))
    usual = {"n_generations": 5, "population_size": 8, "step_size": 0.5, "round_size": 2, "seed": 0}
    return EvolutionLearner(policy, **{**usual, **options})


def play(assignments, score):
    """Episodes whose score is a function of task and policy."""
    none = np.zeros(0)
    return [
        Episode(none, none, none, {"valid": score(assignment.task, assignment.policy)})
        for assignment in assignments
    ]


@pytest.mark.parametrize("hidden", [(), (4,), (40, 40)])
def test_all_that_decides_the_mean_is_searched_and_nothing_else(hidden):
    learner = make_learner(hidden)
    before = [(w.copy(), b.copy()) for w, b in learner.policy.layers]
    assignments = learner.plan(0, [0, 1])
    learner.learn(assignments, play(assignments, lambda task, policy: policy.parameters.sum()))
    for number, (weights, biases) in enumerate(learner.policy.layers):
        changed = weights != before[number][0]
        is_last = number == len(before) - 1
        assert changed[:, :1].all() if is_last else changed.all()
        assert (biases != before[number][1])[:1].all()
        if is_last:
            assert not changed[:, 1].any()
            assert biases[1] == before[number][1][1]


def test_candidates_of_a_generation_share_tasks_and_random_numbers():
    learner = make_learner()
    assignments = learner.plan(3, [5, 2])
    assert [a.task for a in assignments] == [5] * 8 + [2] * 8
    assert [a.number for a in assignments] == [6] * 8 + [7] * 8
    assert not any(a.explores or a.n_random for a in assignments)
    for one, other in zip(assignments[:8], assignments[8:], strict=True):
        assert one.policy is other.policy


def test_tasks_weigh_alike_whatever_the_range_of_their_scores():
    def first(task, policy):
        return policy.predict(np.array([1.0, 0.0, 0.0])) * (1.0, 1e-4)[task]

    def distorted(task, policy):
        return first(task, policy) ** 3 * 50

    results = []
    for score in (first, distorted):
        learner = make_learner()
        for number in range(3):
            assignments = learner.plan(number, [0, 1])
            learner.learn(assignments, play(assignments, score))
        results.append(learner.policy.parameters)
    np.testing.assert_array_equal(*results)


def test_it_finds_what_is_rewarded():
    # The best policy says .8 in one state and .1 in another.
    wanted = {0: 0.8, 1: 0.1}
    states = np.eye(3)
    learner = make_learner(n_generations=60)

    def score(task, policy):
        return -abs(policy.predict(states[task]) - wanted[task])

    for number in range(60):
        assignments = learner.plan(number, [0, 1])
        learner.learn(assignments, play(assignments, score))
    for task, mu in wanted.items():
        assert learner.policy.predict(states[task]) == pytest.approx(mu, abs=0.05)
    assert learner.n_updates == 60


def test_a_sampler_that_evolved(imbalanced, tmp_path):
    X, y = imbalanced
    sampler = MetaSampler(**SHORT, hidden_layer_sizes=(), population_size=5).fit(X, y)
    assert sampler.n_updates_ == 3
    assert sampler.summary_["learner"] == "cma-es"
    # One entry for the five candidates of a generation, with their means.
    assert [entry["episode"] for entry in sampler.history_] == [0, 1, 2]
    assert [len(entry["actions"]) for entry in sampler.history_] == [3, 3, 3]
    assert sampler.policy_.hidden == ()
    sampler.save(tmp_path / "evolved.npz")
    loaded = MetaSampler.load(tmp_path / "evolved.npz")
    assert loaded.get_params() == sampler.get_params()
    clf = tree_mesa(meta_sampler=loaded, n_estimators=4, random_state=0).fit(X, y)
    np.testing.assert_allclose(clf.actions_, [sampler.predict(s) for s in clf.states_], rtol=1e-6)


def test_same_result_for_any_n_jobs(imbalanced):
    # One task is enough: its candidates are played side by side.
    one, two = (MetaSampler(**SHORT, n_jobs=n_jobs).fit(*imbalanced) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.policy_.parameters, two.policy_.parameters)
    assert one.history_ == two.history_


@pytest.mark.parametrize(
    "options", [{"population_size": 6}, {"step_size": 2.0}, {"n_generations": 4}], ids=str
)
def test_each_setting_makes_a_difference(imbalanced, options):
    usual = MetaSampler(**SHORT).fit(*imbalanced)
    other = MetaSampler(**{**SHORT, **options}).fit(*imbalanced)
    assert not np.array_equal(usual.policy_.parameters, other.policy_.parameters)


def test_an_interrupt_leaves_a_usable_sampler(imbalanced, monkeypatch):
    learn = EvolutionLearner.learn

    def interrupted(learner, *round_):
        if learner.n_updates == 2:
            raise KeyboardInterrupt
        learn(learner, *round_)

    monkeypatch.setattr(EvolutionLearner, "learn", interrupted)
    with pytest.warns(UserWarning, match="interrupted after 3 of 3 episodes and 2 of 3 updates"):
        sampler = MetaSampler(**SHORT).fit(*imbalanced)
    assert sampler.n_updates_ == 2
    tree_mesa(meta_sampler=sampler, n_estimators=3).fit(*imbalanced)


def test_without_the_package(imbalanced, monkeypatch):
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(ImportError, match=r"pip install 'metasampler\[evolution\]'"):
        MetaSampler(learner="cma-es").fit(*imbalanced)


@pytest.mark.parametrize(
    "options", [{"population_size": 3}, {"step_size": 0.0}, {"learner": "ppo"}], ids=str
)
def test_bad_settings(imbalanced, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        MetaSampler(**{**SHORT, **options}).fit(*imbalanced)
