import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from sklearn.naive_bayes import GaussianNB

from metasampler.meta import EnsembleTrainingEnv, MetaSampler, SoftActorCritic


@pytest.fixture
def env(imbalanced):
    return EnsembleTrainingEnv(*imbalanced, n_estimators=4, random_state=0)


# The checker wants environments made by gymnasium.make to look at other render modes.
@pytest.mark.filterwarnings("ignore:.*render modes:UserWarning")
@pytest.mark.parametrize("state", ["all", "class-wise"])
def test_gymnasium_accepts_it(imbalanced, state):
    check_env(EnsembleTrainingEnv(*imbalanced, n_estimators=4, state=state, random_state=0))


def test_settings_of_the_training_are_refused(imbalanced):
    with pytest.raises(TypeError, match="has no setting 'nope', 'train_ratio'"):
        EnsembleTrainingEnv(*imbalanced, train_ratio=0.5, nope=1)


def test_spaces(env):
    assert env.action_space == gymnasium.spaces.Box(0, 1, (1,), np.float32)
    assert env.observation_space.shape == (10,)


def test_an_episode_ends_when_the_ensemble_is_finished(env):
    _, info = env.reset(seed=1)
    assert info["n_members"] == 1
    first, rewards, ends = info["valid_score"], [], []
    for _ in range(3):
        state, reward, terminated, truncated, info = env.step(np.array([0.8]))
        assert env.observation_space.contains(state)
        assert not truncated
        rewards.append(reward)
        ends.append(terminated)
    assert ends == [False, False, True]
    assert sum(rewards) == pytest.approx(info["valid_score"] - first)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(np.array([0.8]))


def test_seeds(env):
    def play(seed):
        states = [env.reset(seed=seed)[0]]
        states += [env.step(np.array([0.8]))[0] for _ in range(3)]
        return np.array(states)

    np.testing.assert_array_equal(play(7), play(7))
    assert not np.array_equal(play(7), play(8))
    # Without a seed the next episode is another one.
    first = play(7)
    assert not np.array_equal(first, play(None))


def test_an_action_that_is_no_number(env):
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action must be a number"):
        env.step(np.array([np.nan]))


@pytest.mark.parametrize(
    "options",
    [{"sampling_ratio": 3.0}, {"sigma": 5.0}, {"estimator": GaussianNB()}, {"scoring": "roc_auc"}],
    ids=str,
)
def test_each_option_makes_a_difference(imbalanced, env, options):
    other = EnsembleTrainingEnv(*imbalanced, n_estimators=4, random_state=0, **options)
    scores = []
    for each in (env, other):
        each.reset(seed=0)
        scores.append([each.step([0.9])[4]["valid_score"] for _ in range(3)])
    assert scores[0] != scores[1]


def test_test_rows_are_scored_for_information_only(imbalanced):
    X, y = imbalanced
    env = EnsembleTrainingEnv(X[::2], y[::2], X_test=X[1::2], y_test=y[1::2], random_state=0)
    assert sorted(env.reset()[1]) == ["n_members", "test_score", "train_score", "valid_score"]


def test_summaries_are_in_the_observation_space(imbalanced):
    env = EnsembleTrainingEnv(*imbalanced, n_estimators=3, state="summary", random_state=0)
    assert env.observation_space.contains(env.reset()[0])
    assert env.observation_space.contains(env.step([0.5])[0])


def test_the_environment_is_the_loop_of_meta_training(imbalanced):
    # The same seeds and actions give the same scores, whoever drives the loop.
    X, y = imbalanced
    options = {"n_estimators": 4, "random_state": 0}
    trainer = SoftActorCritic(n_random_steps=3, n_updates=0)
    sampler = MetaSampler(trainer=trainer, **options).fit(X, y, X_val=X[:200], y_val=y[:200])
    env = EnsembleTrainingEnv(X, y, X[:200], y[:200], **options)
    env.reset(seed=0)
    for mu in sampler.history_[0]["actions"]:
        *_, info = env.step([mu])
    assert info["valid_score"] == sampler.history_[0]["valid_score"]
    assert info["train_score"] == sampler.history_[0]["train_score"]


def test_actions_are_spread_as_those_of_a_sampler(imbalanced, env):
    spread = EnsembleTrainingEnv(*imbalanced, n_estimators=4, mu_min=0.5, random_state=0)
    env.reset(seed=0)
    spread.reset(seed=0)
    for action in (0.0, 0.5, 1.0):
        expected, given = env.step([0.5 + 0.5 * action]), spread.step([action])
        assert expected[1:] == given[1:]
        np.testing.assert_array_equal(expected[0], given[0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_estimators": 1}, "n_estimators"),
        ({"n_estimators": 2.5}, "n_estimators"),
        ({"sigma": 0}, "sigma"),
        ({"state": "x"}, "state"),
        ({"sampling_ratio": 0}, "sampling_ratio"),
        ({"validation_fraction": 2.0}, "validation_fraction"),
        ({"validation_fraction": None}, "validation_fraction"),
    ],
)
def test_bad_options(imbalanced, options, words):
    with pytest.raises(ValueError, match=words):
        EnsembleTrainingEnv(*imbalanced, **options)
