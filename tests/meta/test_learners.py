"""Learners as objects: parameters of their own, and what soft actor-critic does with episodes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import ParameterGrid

from metasampler import MesaClassifier, MetaSampler
from metasampler._sklearn_compat import check_parameters
from metasampler.meta import Assignment, Episode, FitToConstants, Problem, SoftActorCritic
from metasampler.policy import LEARNER_SETTINGS


@pytest.mark.parametrize("Learner", [SoftActorCritic, FitToConstants])
def test_parameters_are_those_of_the_schema(Learner):
    learner = Learner()
    assert learner.get_params().keys() == LEARNER_SETTINGS[Learner.__name__].keys()
    check_parameters(learner)
    assert clone(learner).get_params() == learner.get_params()
    assert repr(learner) == f"{Learner.__name__}()"


def test_a_sampler_has_at_most_sixteen_parameters():
    assert len(MetaSampler().get_params(deep=False)) <= 16


def test_nested_parameters():
    sampler = MetaSampler(learner=SoftActorCritic(alpha=0.3))
    assert sampler.get_params()["learner__alpha"] == 0.3
    twin = clone(sampler).set_params(learner__alpha=0.5, learner__n_updates=7)
    assert (twin.learner.alpha, twin.learner.n_updates) == (0.5, 7)
    assert (sampler.learner.alpha, sampler.learner.n_updates) == (0.3, 1000)
    clf = MesaClassifier(meta_sampler=sampler).set_params(meta_sampler__learner__gamma=0.5)
    assert clf.meta_sampler.learner.gamma == 0.5


def test_a_search_goes_over_learners_and_their_parameters():
    X, y = make_classification(200, weights=[0.8], random_state=0)
    short = {"learner__n_random_steps": [2], "learner__n_updates": [2, 4]}
    grid = [
        {"learner": [SoftActorCritic()], **short},
        {"learner": [FitToConstants(n_sweeps=1, n_constants=3)]},
    ]
    found = [
        clone(MetaSampler(n_estimators=3, random_state=0)).set_params(**settings).fit(X, y)
        for settings in ParameterGrid(grid)
    ]
    assert [sampler.n_updates_ for sampler in found] == [2, 4, 1]


def test_the_learner_that_was_passed_stays_as_it_was():
    X, y = make_classification(200, weights=[0.8], random_state=0)
    learner = SoftActorCritic(n_random_steps=2, n_updates=4)
    before = dict(vars(learner))
    first = MetaSampler(n_estimators=3, learner=learner, random_state=0).fit(X, y)
    assert vars(learner) == before
    second = MetaSampler(n_estimators=3, learner=learner, random_state=0).fit(X, y)
    np.testing.assert_array_equal(first.policy_.parameters, second.policy_.parameters)


def test_the_default_learner_is_soft_actor_critic():
    X, y = make_classification(200, weights=[0.8], random_state=0)
    default, named = (
        MetaSampler(n_estimators=60, learner=learner, random_state=0).fit(
            X, y, callback=lambda progress: progress.stop()
        )
        for learner in (None, SoftActorCritic())
    )
    assert default.history_ == named.history_
    assert default.summary_["learner"] == "SoftActorCritic"


def _episode(rewards):
    n = len(rewards)
    return Episode(np.arange(n * 2.0).reshape(n, 2), np.full(n, 0.5), np.array(rewards), {})


def _learner(n_tasks=1, n_actions=2, **options):
    learner = SoftActorCritic(n_updates=0, reward_scale=10.0, **options)
    rng = np.random.default_rng(0)
    learner.begin(Problem(2, (), n_tasks=n_tasks, n_actions=n_actions, rng=rng))
    return learner


def _learn(learner, *rewards, first=0):
    assignments = [Assignment(task, first + task, None) for task in range(len(rewards))]
    learner.learn(assignments, [_episode(r) for r in rewards])
    memory = learner.agent.memory
    return memory.rows[: len(memory)]


def test_transitions_end_truly_at_the_last_member():
    rows = _learn(_learner(n_actions=3, n_random_steps=3), [0.1, -0.2, 0.3])
    np.testing.assert_array_equal(rows[:, -1], [0, 0, 1])
    np.testing.assert_allclose(rows[:, 3], [1, -2, 3], rtol=1e-6)
    np.testing.assert_array_equal(rows[:2, 4:6], rows[1:, :2])


def test_episodes_wait_for_the_end_of_the_random_actions():
    learner = _learner(n_random_steps=4)
    assert len(_learn(learner, [0.1, -0.2])) == 0
    rows = _learn(learner, [0.3, 0.4], first=1)
    np.testing.assert_allclose(rows[:, 3], [1, -2, 3, 4], rtol=1e-6)
    assert not learner._waiting


def test_tasks_on_one_scale():
    learner = _learner(n_tasks=3, n_random_steps=6, scale_tasks=True)
    rewards = _learn(learner, [0.3, -0.3], [0.1, -0.1], [0.0, 0.0])[:, 3]
    # Equal size, and on the whole as large as before: the mean of .3 and .1, times ten.
    np.testing.assert_allclose(rewards, [2, -2, 2, -2, 0, 0], rtol=1e-6)
