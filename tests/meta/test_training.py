"""Rounds of meta-training: what a callback sees, how tasks are drawn, where it starts."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import NotFittedError
from tree_mesa import tree_mesa

from metasampler import MetaSampler
from metasampler.meta import GaussianPolicy

SHORT = {"n_estimators": 4, "n_random_steps": 12, "n_updates": 12, "random_state": 0}


@pytest.fixture(scope="module")
def tasks(imbalanced):
    X, y = imbalanced
    return {"whole": (X, y), "half": (X[::2], y[::2]), "end": (X[300:], y[300:])}


def test_soft_actor_critic_gives_what_it_gave_before_there_was_a_second_learner(imbalanced):
    # Values of the release before; not compared bit by bit, as other machines round otherwise.
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    some = sampler.policy_.parameters[[0, 100, 300, 500, -1]]
    expected = [-0.18924375, 0.10689506, -0.29065347, 0.0, 0.00923938]
    np.testing.assert_allclose(some, expected, atol=1e-6)
    last = sampler.history_[-1]
    np.testing.assert_allclose(last["actions"], [0.07070017, 0.07913854, 0.06926841], atol=1e-5)
    assert last["valid_score"] == pytest.approx(0.3282424812)


@pytest.mark.parametrize("learner", ["sac", "cma-es"])
def test_a_callback_after_every_round(tasks, learner):
    seen = []

    def look(progress):
        seen.append((progress.n_rounds_done, progress.n_episodes_done, progress.n_updates_done))
        assert len(progress.history) == progress.n_episodes_done
        assert progress.last_round == progress.history[-3:][-len(progress.last_round) :]
        assert progress.encoder.size == progress.policy.state_size == 10
        assert (progress.n_rounds, progress.n_episodes) == (3, {"sac": 8, "cma-es": 9}[learner])

    options = {"learner": learner, "n_generations": 3, "hidden_layer_sizes": ()}
    watched = MetaSampler(**SHORT, **options).fit_tasks(tasks, callback=look)
    expected = {
        "sac": [(1, 3, 0), (2, 6, 6), (3, 8, 12)],
        "cma-es": [(1, 3, 1), (2, 6, 2), (3, 9, 3)],
    }
    assert seen == expected[learner]
    plain = MetaSampler(**SHORT, **options).fit_tasks(tasks)
    np.testing.assert_array_equal(watched.policy_.parameters, plain.policy_.parameters)


def test_a_callback_may_stop_and_take_samplers_along(imbalanced, tmp_path):
    X, y = imbalanced
    taken = []

    def stop_after_six(progress):
        taken.append(progress.sampler())
        progress.notes["rounds"] = progress.n_rounds_done
        if progress.n_rounds_done == 6:
            progress.stop()

    sampler = MetaSampler(**SHORT).fit(X, y, callback=stop_after_six)
    assert len(sampler.history_) == 6
    assert sampler.n_updates_ == 6
    assert sampler.summary_["stopped"]
    assert sampler.summary_["notes"] == {"rounds": 6}
    np.testing.assert_array_equal(taken[-1].policy_.parameters, sampler.policy_.parameters)
    # A sampler that was taken along stays as it was then.
    assert not np.array_equal(taken[-2].policy_.parameters, sampler.policy_.parameters)
    assert [len(s.history_) for s in taken] == [1, 2, 3, 4, 5, 6]
    tree_mesa(meta_sampler=taken[4], n_estimators=3, random_state=0).fit(X, y)
    taken[4].save(tmp_path / "fifth.npz")
    assert MetaSampler.load(tmp_path / "fifth.npz").n_updates_ == 3


def test_tasks_are_dealt_to_the_rounds(tasks):
    sampler = MetaSampler(**{**SHORT, "n_updates": 60}, tasks_per_round=2).fit_tasks(tasks)
    names = [entry["task"] for entry in sampler.history_]
    deals = [names[start : start + len(tasks)] for start in range(0, len(names), len(tasks))]
    # Every task has its turn before one comes again, in another order each time.
    assert all(set(deal) == set(tasks) for deal in deals[:-1])
    assert len({tuple(deal) for deal in deals}) > 3
    again = MetaSampler(**{**SHORT, "n_updates": 60}, tasks_per_round=2, n_jobs=2).fit_tasks(tasks)
    assert again.history_ == sampler.history_
    np.testing.assert_array_equal(again.policy_.parameters, sampler.policy_.parameters)


def test_more_tasks_per_round_than_tasks_are_all(tasks):
    all_tasks, more = (
        MetaSampler(**SHORT, tasks_per_round=number).fit_tasks(tasks) for number in (None, 9)
    )
    assert all_tasks.history_ == more.history_


def test_same_result_in_processes_for_tables_that_are_shared():
    # Tables of more than a megabyte reach the processes as read-only maps of a file.
    tasks = [
        make_classification(14_000, n_features=20, weights=[0.99], random_state=seed)
        for seed in range(2)
    ]
    one, two = (
        MetaSampler(
            n_estimators=3, n_random_steps=2, n_updates=4, random_state=0, n_jobs=n_jobs
        ).fit_tasks(tasks)
        for n_jobs in (1, 2)
    )
    assert one.history_ == two.history_
    np.testing.assert_array_equal(one.policy_.parameters, two.policy_.parameters)


@pytest.mark.parametrize("learner", ["sac", "cma-es"])
def test_adapting_starts_from_the_policy(imbalanced, learner):
    sampler = MetaSampler(**SHORT, learner=learner, n_generations=2).fit(*imbalanced)
    before = sampler.policy_.parameters.copy()
    X, y = load_breast_cancer(return_X_y=True)
    same = sampler.adapt(X, y, n_updates=0, n_generations=0)
    np.testing.assert_array_equal(same.policy_.parameters, before)
    adapted = sampler.adapt(X, y, n_updates=30, n_generations=2)
    assert not np.array_equal(adapted.policy_.parameters, before)
    np.testing.assert_array_equal(sampler.policy_.parameters, before)
    assert {entry["n_random_actions"] for entry in adapted.history_} == {0}
    assert adapted.summary_["started_from"] == sampler.summary_
    # Nearer to where it started than a policy that starts anew.
    anew = clone(sampler).set_params(random_state=1).fit(X, y)
    near, far = (np.abs(s.policy_.parameters - before).mean() for s in (adapted, anew))
    assert near < far / 3


def test_the_policy_waits_for_the_critics(imbalanced):
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    options = {"n_updates": 12, "policy_delay": 12}
    waited = sampler.adapt(*imbalanced, **options)
    np.testing.assert_array_equal(waited.policy_.parameters, sampler.policy_.parameters)
    moved = sampler.adapt(*imbalanced, **{**options, "policy_delay": 11})
    step = np.abs(moved.policy_.parameters - sampler.policy_.parameters)
    # One step of Adam, which is at most the learning rate.
    assert 0 < step.max() <= 1.001e-3


def test_warm_start_with_several_tasks_and_without_a_policy(tasks):
    cold = MetaSampler(**SHORT).fit_tasks(tasks)
    unfitted = MetaSampler(**SHORT, warm_start=True).fit_tasks(tasks)
    np.testing.assert_array_equal(cold.policy_.parameters, unfitted.policy_.parameters)
    assert "started_from" not in unfitted.summary_
    again = clone(unfitted).fit_tasks(tasks)
    assert "started_from" in again.summary_
    assert not np.array_equal(again.policy_.parameters, cold.policy_.parameters)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"state": "class-wise"}, "states of kind 'all' with 5 bins; this sampler is set to"),
        ({"n_bins": 4}, "states of kind 'all' with 5 bins"),
        ({"hidden_layer_sizes": (7,)}, r"hidden_layer_sizes of the policy, \(50,\)"),
        ({"n_updates": "many"}, "n_updates"),
    ],
)
def test_a_warm_start_that_cannot_be(imbalanced, options, words):
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    with pytest.raises(ValueError, match=words):
        sampler.adapt(*imbalanced, **options)


def test_nothing_to_adapt(imbalanced):
    with pytest.raises(NotFittedError):
        MetaSampler().adapt(*imbalanced)


def test_an_adapted_policy_of_another_precision(imbalanced):
    policy = GaussianPolicy(10, hidden=(), rng=np.random.default_rng(0), dtype=np.float64)
    sampler = MetaSampler.from_policy(policy, n_estimators=4, random_state=0)
    adapted = sampler.adapt(*imbalanced, n_updates=9)
    assert adapted.policy_.dtype == np.float64
