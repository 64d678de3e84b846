"""The trainer that reads off how constants do."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler.meta import FitToConstants
from metasampler.meta._trainers import Episode, Problem


def settings(**options):
    """Settings of a short training, with options of the trainer."""
    return {
        "n_estimators": 5,
        "trainer": FitToConstants(**{"n_sweeps": 2, "n_constants": 4, **options}),
        "state": "summary",
        "hidden_layer_sizes": (),
        "random_state": 0,
    }


def make_trainer(n_tasks, hidden=(), seed=0, **options):
    trainer = FitToConstants(**{"n_sweeps": 1, "penalty": 0.0, **options})
    rng = np.random.default_rng(seed)
    trainer.begin(Problem(3, hidden, n_tasks=n_tasks, n_actions=4, rng=rng))
    return trainer


def play(assignments, states, worth):
    """Episodes in which a task shows its own states, and a mu is worth what a function says."""
    none = np.zeros(0)
    return [
        Episode(states[a.task], none, none, {}, mean_score=worth(a.task, a.actor.choose(None)))
        for a in assignments
    ]


def learn(trainer, states, worth, n_rounds=None):
    tasks = list(range(len(states)))
    for number in range(n_rounds or trainer.n_rounds):
        assignments = trainer.plan(number, tasks)
        trainer.learn(assignments, play(assignments, states, worth))
    return trainer.policy


def test_scores_that_rise_and_then_stay_level():
    """As they do on imbalanced tasks; the top of a parabola through them lies too low."""
    states = np.zeros((1, 4, 3))

    def worth(task, action):
        return 0.5 - 0.1 * np.exp(-4 * action)

    trainer = make_trainer(1)
    found = learn(trainer, states, worth).choose(states[0, 0])
    actions = np.linspace(0, 1, 7)
    tops = {}
    fine = np.linspace(0, 1, 1001)
    for degree in (2, 3):
        fit = np.polynomial.Polynomial.fit(actions, [worth(0, a) for a in actions], degree)
        tops[degree] = fine[np.argmax(fit(fine))]
    assert found == pytest.approx(tops[3], abs=0.02)
    assert tops[2] < tops[3] - 0.1


@pytest.mark.parametrize("n_constants", [2, 3])
def test_few_constants_are_enough_for_a_lower_degree(n_constants):
    states = np.zeros((1, 4, 3))
    trainer = make_trainer(1, n_constants=n_constants)
    policy = learn(trainer, states, lambda task, action: 0.5 - 0.1 * (action - 0.4) ** 2)
    # A line says "down" or "up", a parabola where the top is.
    expected = 0.4 if n_constants == 3 else 0.0
    assert policy.choose(states[0, 0]) == pytest.approx(expected, abs=0.05)


# Real curves are flat: mu may matter by a thousandth.
@pytest.mark.parametrize("scale", [0.1, 0.001])
@pytest.mark.parametrize("hidden", [(), (8,)])
def test_the_mu_that_is_worth_most_is_learned_for_each_state(hidden, scale):
    rng = np.random.default_rng(1)
    states = rng.normal([[[2.0, -1.0, 5.0]]], [[[1.0, 0.1, 10.0]]], size=(40, 1, 3))
    states = np.repeat(states, 4, axis=1)
    best = 1 / (1 + np.exp(-(states[:, 0, 0] - 2)))  # depends on the first entry alone

    def worth(task, action):
        return 0.7 - scale * (action - best[task]) ** 2

    policy = learn(make_trainer(40, hidden), states, worth)
    found = np.array([policy.choose(parts[0]) for parts in states])
    np.testing.assert_allclose(found, best, atol=0.02)


def test_constants_reach_from_one_end_to_the_other_with_the_same_random_numbers():
    trainer = make_trainer(5, tasks_per_round=2, n_sweeps=3, n_constants=4)
    assert (trainer.n_rounds, trainer.n_episodes) == (8, 15)
    assignments = trainer.plan(1, [4, 2])
    assert [a.task for a in assignments] == [4] * 4 + [2] * 4
    assert [a.number for a in assignments] == [2] * 4 + [3] * 4
    played = [a.actor.choose(None) for a in assignments[:4]]
    np.testing.assert_allclose(played, [0, 1 / 3, 2 / 3, 1])
    # The last round ends with the last sweep.
    assert [a.number for a in trainer.plan(7, [0, 1])] == [14] * 4


def test_tasks_weigh_alike_however_often_they_were_played():
    states = np.ones((2, 3, 3))
    worths = [lambda action: -((action - 0.2) ** 2), lambda action: -((action - 0.6) ** 2)]

    def worth(task, action):
        return worths[task](action)

    trainer = make_trainer(2, n_sweeps=3)
    trainer.round_size = 3
    assignments = trainer.plan(0, [0, 0, 1])
    trainer.learn(assignments, play(assignments, states, worth))
    assert trainer.policy.choose(states[0, 0]) == pytest.approx(0.4, abs=1e-3)


def test_a_penalty_holds_weights_at_zero():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(20, 3, 3))

    def worth(task, action):
        return -0.1 * (action - (0.3, 0.7)[task % 2]) ** 2

    def spread(policy):
        return np.ptp([policy.choose(state) for state in states[:, 0]])

    loose, tight = (
        learn(make_trainer(20, penalty=penalty), states, worth) for penalty in (1e-6, 1e3)
    )
    assert spread(tight) < 1e-4 < spread(loose)


def test_goes_on_from_a_stored_state():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(6, 2, 3))

    def worth(task, action):
        return -((action - task / 6) ** 2)

    whole = make_trainer(6, n_sweeps=2, penalty=1e-4)
    learn(whole, states, worth)
    first, second = (make_trainer(6, n_sweeps=2, penalty=1e-4) for _ in range(2))
    learn(first, states, worth, n_rounds=1)
    second.set_state(*first.get_state())
    np.testing.assert_array_equal(second.policy.parameters, first.policy.parameters)
    assignments = second.plan(1, list(range(6)))
    second.learn(assignments, play(assignments, states, worth))
    assert second.n_updates_done == whole.n_updates_done == 2
    np.testing.assert_array_equal(second.policy.parameters, whole.policy.parameters)
    # Before the first round there is nothing to go on from.
    third = make_trainer(6)
    third.set_state(*make_trainer(6).get_state())
    assert third.n_updates_done == 0


def test_meta_training_with_constants(tmp_path):
    tasks = {
        str(seed): make_classification(300, weights=[0.9], flip_y=0, random_state=seed)
        for seed in range(3)
    }
    sampler = MetaSampler(**settings(), mu_min=0.4).fit_tasks(tasks)
    again = MetaSampler(**settings(), mu_min=0.4, n_jobs=2).fit_tasks(tasks)
    np.testing.assert_array_equal(again.policy_.parameters, sampler.policy_.parameters)
    assert [entry["task"] for entry in sampler.history_] == ["0", "1", "2"] * 2
    # An entry has the means of what was played: here of four constants.
    assert sampler.history_[0]["actions"] == pytest.approx([0.7] * 4)
    assert sampler.n_updates_ == 2
    X, y = tasks["0"]
    clf = MesaClassifier(
        DecisionTreeClassifier(), meta_sampler=sampler, n_estimators=6, random_state=0
    ).fit(X, y)
    assert all(0.4 <= mu <= 1 for mu in clf.actions_)
    sampler.save(tmp_path / "sampler.npz")
    loaded = MetaSampler.load(tmp_path / "sampler.npz")
    assert repr(loaded.trainer) == repr(sampler.trainer)


def test_the_score_is_that_of_rows_which_states_do_not_tell_of(monkeypatch):
    X, y = make_classification(400, weights=[0.9], flip_y=0, random_state=0)
    seen = []
    learn = FitToConstants.learn

    def spy(self, assignments, episodes):
        seen.extend(episodes)
        learn(self, assignments, episodes)

    monkeypatch.setattr(FitToConstants, "learn", spy)
    rows = (X[:200], y[:200], X[200:300], y[200:300], X[300:], y[300:])
    MetaSampler(**settings(n_sweeps=1, score_on="test")).fit_tasks([rows])
    tested = seen.pop(0)
    seen.clear()
    MetaSampler(**settings(n_sweeps=1)).fit_tasks([rows])
    validated = seen.pop(0)
    # Test rows are learned from only if that is asked for; the ensembles are the same.
    np.testing.assert_array_equal(tested.states, validated.states)
    assert tested.mean_score != validated.mean_score
    # Rewards are the changes of the score from step to step.
    still_to_come = np.append(np.cumsum(validated.rewards[::-1])[::-1][1:], 0.0)
    by_step = validated.scores["valid"] - still_to_come
    assert validated.mean_score == pytest.approx(by_step.mean())
    with pytest.raises(ValueError, match="score_on='test' needs X_test and y_test of every task"):
        MetaSampler(**settings(score_on="test")).fit_tasks([rows[:4]])


def test_hidden_layers_do_not_stay_at_a_constant():
    # From a single random start this network may find nothing better than one mu for all.
    rng = np.random.default_rng(3)
    states = np.repeat(rng.normal(size=(30, 1, 3)), 2, axis=1)

    def worth(task, action):
        return -0.01 * (action - (0.2 if states[task, 0, 1] > 0 else 0.9)) ** 2

    trainer = make_trainer(30, (50,), n_constants=5, penalty=1e-6, seed=3)
    policy = learn(trainer, states, worth)
    found = np.array([policy.choose(parts[0]) for parts in states])
    right = np.where(states[:, 0, 1] > 0, 0.2, 0.9)
    assert np.abs(found - right).mean() < 0.1
