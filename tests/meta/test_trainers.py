"""Trainers as objects: parameters of their own, and what soft actor-critic does with episodes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import ParameterGrid

from metasampler import MesaClassifier, MetaSampler
from metasampler._sklearn_compat import check_parameters
from metasampler.meta import Assignment, Episode, FitToConstants, Problem, SoftActorCritic
from metasampler.policy import TRAINER_SETTINGS


@pytest.mark.parametrize("Trainer", [SoftActorCritic, FitToConstants])
def test_parameters_are_those_of_the_schema(Trainer):
    trainer = Trainer()
    assert trainer.get_params().keys() == TRAINER_SETTINGS[Trainer.__name__].keys()
    check_parameters(trainer)
    assert clone(trainer).get_params() == trainer.get_params()
    assert repr(trainer) == f"{Trainer.__name__}()"


def test_a_sampler_has_at_most_sixteen_parameters():
    assert len(MetaSampler().get_params(deep=False)) <= 16


def test_nested_parameters():
    sampler = MetaSampler(trainer=SoftActorCritic(alpha=0.3))
    assert sampler.get_params()["trainer__alpha"] == 0.3
    twin = clone(sampler).set_params(trainer__alpha=0.5, trainer__n_updates=7)
    assert (twin.trainer.alpha, twin.trainer.n_updates) == (0.5, 7)
    assert (sampler.trainer.alpha, sampler.trainer.n_updates) == (0.3, 1000)
    clf = MesaClassifier(meta_sampler=sampler).set_params(meta_sampler__trainer__gamma=0.5)
    assert clf.meta_sampler.trainer.gamma == 0.5


def test_a_search_goes_over_trainers_and_their_parameters():
    X, y = make_classification(200, weights=[0.8], random_state=0)
    short = {"trainer__n_random_steps": [2], "trainer__n_updates": [2, 4]}
    grid = [
        {"trainer": [SoftActorCritic()], **short},
        {"trainer": [FitToConstants(n_sweeps=1, n_constants=3)]},
    ]
    found = [
        clone(MetaSampler(n_estimators=3, random_state=0)).set_params(**settings).fit(X, y)
        for settings in ParameterGrid(grid)
    ]
    assert [sampler.n_updates_ for sampler in found] == [2, 4, 1]


def test_the_trainer_that_was_passed_stays_as_it_was():
    X, y = make_classification(200, weights=[0.8], random_state=0)
    trainer = SoftActorCritic(n_random_steps=2, n_updates=4)
    before = dict(vars(trainer))
    first = MetaSampler(n_estimators=3, trainer=trainer, random_state=0).fit(X, y)
    assert vars(trainer) == before
    second = MetaSampler(n_estimators=3, trainer=trainer, random_state=0).fit(X, y)
    np.testing.assert_array_equal(first.policy_.parameters, second.policy_.parameters)


def test_the_default_trainer_is_soft_actor_critic():
    X, y = make_classification(200, weights=[0.8], random_state=0)
    default, named = (
        MetaSampler(n_estimators=60, trainer=trainer, random_state=0).fit(
            X, y, callback=lambda progress: progress.stop()
        )
        for trainer in (None, SoftActorCritic())
    )
    assert default.history_ == named.history_
    assert default.summary_["trainer"] == "SoftActorCritic"


def _episode(rewards):
    n = len(rewards)
    return Episode(np.arange(n * 2.0).reshape(n, 2), np.full(n, 0.5), np.array(rewards), {})


def _trainer(n_tasks=1, n_actions=2, **options):
    trainer = SoftActorCritic(n_updates=0, reward_scale=10.0, **options)
    rng = np.random.default_rng(0)
    trainer.begin(Problem(2, (), n_tasks=n_tasks, n_actions=n_actions, rng=rng))
    return trainer


def _learn(trainer, *rewards, first=0):
    assignments = [Assignment(task, first + task, None) for task in range(len(rewards))]
    trainer.learn(assignments, [_episode(r) for r in rewards])
    memory = trainer.agent.memory
    return memory.rows[: len(memory)]


def test_transitions_end_truly_at_the_last_member():
    rows = _learn(_trainer(n_actions=3, n_random_steps=3), [0.1, -0.2, 0.3])
    np.testing.assert_array_equal(rows[:, -1], [0, 0, 1])
    np.testing.assert_allclose(rows[:, 3], [1, -2, 3], rtol=1e-6)
    np.testing.assert_array_equal(rows[:2, 4:6], rows[1:, :2])


def test_episodes_wait_for_the_end_of_the_random_actions():
    trainer = _trainer(n_random_steps=4)
    assert len(_learn(trainer, [0.1, -0.2])) == 0
    rows = _learn(trainer, [0.3, 0.4], first=1)
    np.testing.assert_allclose(rows[:, 3], [1, -2, 3, 4], rtol=1e-6)
    assert not trainer._waiting


def test_tasks_on_one_scale():
    trainer = _trainer(n_tasks=3, n_random_steps=6, scale_tasks=True)
    rewards = _learn(trainer, [0.3, -0.3], [0.1, -0.1], [0.0, 0.0])[:, 3]
    # Equal size, and on the whole as large as before: the mean of .3 and .1, times ten.
    np.testing.assert_allclose(rewards, [2, -2, 2, -2, 0, 0], rtol=1e-6)
