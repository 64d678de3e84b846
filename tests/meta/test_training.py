"""Rounds of meta-training: what a callback sees, how tasks are drawn, where it starts."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler.meta import FitToConstants, SoftActorCritic

TRAINER = {"n_random_steps": 12, "n_updates": 12}
SHORT = {"n_estimators": 4, "trainer": SoftActorCritic(**TRAINER), "random_state": 0}
CONSTANTS = {**SHORT, "trainer": FitToConstants(3, 3), "hidden_layer_sizes": ()}


@pytest.fixture(scope="module")
def tasks(imbalanced):
    X, y = imbalanced
    return {"whole": (X, y), "half": (X[::2], y[::2]), "end": (X[300:], y[300:])}


def test_soft_actor_critic_gives_what_it_gave_before_there_was_a_second_trainer(imbalanced):
    # Values of the release before; not compared bit by bit, as other machines round otherwise.
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    some = sampler.policy_.parameters[[0, 100, 300, 500, -1]]
    expected = [-0.18924375, 0.10689506, -0.29065347, 0.0, 0.00923938]
    np.testing.assert_allclose(some, expected, atol=1e-6)
    last = sampler.history_[-1]
    np.testing.assert_allclose(last["actions"], [0.07070017, 0.07913854, 0.06926841], atol=1e-5)
    assert last["valid_score"] == pytest.approx(0.3282424812)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (SHORT, [(1, 3, 0), (2, 6, 6), (3, 8, 12)]),
        (CONSTANTS, [(1, 3, 1), (2, 6, 2), (3, 9, 3)]),
    ],
)
def test_a_callback_after_every_round(tasks, settings, expected):
    seen = []

    def look(progress):
        seen.append((progress.n_rounds_done, progress.n_episodes_done, progress.n_updates_done))
        assert len(progress.history) == progress.n_episodes_done
        assert progress.last_round == progress.history[-3:][-len(progress.last_round) :]
        assert progress.policy.state_size == 10
        assert (progress.n_rounds, progress.n_episodes) == expected[-1][:2]

    watched = MetaSampler(**settings).fit_tasks(tasks, callback=look)
    assert seen == expected
    plain = MetaSampler(**settings).fit_tasks(tasks)
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
    MesaClassifier(
        DecisionTreeClassifier(), meta_sampler=taken[4], n_estimators=3, random_state=0
    ).fit(X, y)
    taken[4].save(tmp_path / "fifth.npz")
    assert MetaSampler.load(tmp_path / "fifth.npz").n_updates_ == 3


def test_tasks_are_dealt_to_the_rounds(tasks):
    trainer = SoftActorCritic(n_random_steps=12, n_updates=60, tasks_per_round=2)
    settings = {**SHORT, "trainer": trainer}
    sampler = MetaSampler(**settings).fit_tasks(tasks)
    names = [entry["task"] for entry in sampler.history_]
    deals = [names[start : start + len(tasks)] for start in range(0, len(names), len(tasks))]
    # Every task has its turn before one comes again, in another order each time.
    assert all(set(deal) == set(tasks) for deal in deals[:-1])
    assert len({tuple(deal) for deal in deals}) > 3
    again = MetaSampler(**settings, n_jobs=2).fit_tasks(tasks)
    assert again.history_ == sampler.history_
    np.testing.assert_array_equal(again.policy_.parameters, sampler.policy_.parameters)


def test_more_tasks_per_round_than_tasks_are_all(tasks):
    all_tasks, more = (
        MetaSampler(**SHORT).set_params(trainer__tasks_per_round=number).fit_tasks(tasks)
        for number in (None, 9)
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
            n_estimators=3,
            trainer=SoftActorCritic(n_random_steps=2, n_updates=4),
            random_state=0,
            n_jobs=n_jobs,
        ).fit_tasks(tasks)
        for n_jobs in (1, 2)
    )
    assert one.history_ == two.history_
    np.testing.assert_array_equal(one.policy_.parameters, two.policy_.parameters)
