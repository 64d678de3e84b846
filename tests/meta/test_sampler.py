"""Meta-training: what is learned, what is recorded, and that it comes out the same again."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler.growth import RandomStreams, Stream, make_growth_data
from metasampler.meta import FitToConstants, SoftActorCritic, Task
from metasampler.meta._sac import SAC
from metasampler.policy import GaussianPolicy

TRAINER = {"n_random_steps": 12, "n_updates": 12}
SHORT = {"n_estimators": 4, "trainer": SoftActorCritic(**TRAINER), "random_state": 0}


def learning(**options):
    """Short settings with other options of the trainer."""
    return {**SHORT, "trainer": SoftActorCritic(**{**TRAINER, **options})}


@pytest.fixture(scope="module")
def tasks(imbalanced, three_classes):
    X, y = load_breast_cancer(return_X_y=True)
    return {"synthetic": imbalanced, "digits": three_classes, "cancer": (X, y)}


def assert_same_policy(a, b):
    np.testing.assert_array_equal(a.policy_.parameters, b.policy_.parameters)


def test_history_has_an_entry_for_each_episode(imbalanced):
    X, y = imbalanced
    sampler = MetaSampler(**SHORT).fit(
        X, y, X_val=X[:200], y_val=y[:200], X_test=X[200:], y_test=y[200:]
    )
    assert [entry["episode"] for entry in sampler.history_] == list(range(8))
    assert [entry["n_random_actions"] for entry in sampler.history_] == [3] * 4 + [0] * 4
    for entry in sampler.history_:
        assert entry["task"] == "task 0"
        assert len(entry["actions"]) == 3
        assert all(0 <= mu <= 1 for mu in entry["actions"])
        assert all(0 < entry[f"{role}_score"] <= 1 for role in ("train", "valid", "test"))
    assert sampler.n_updates_ == 12
    assert sampler.summary_["n_episodes"] == 8


def test_no_test_rows_no_test_score(imbalanced):
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    assert {entry["test_score"] for entry in sampler.history_} == {None}


def test_random_actions_may_end_within_an_episode(imbalanced):
    sampler = MetaSampler(**learning(n_random_steps=4)).fit(*imbalanced)
    assert [entry["n_random_actions"] for entry in sampler.history_][:3] == [3, 1, 0]


def test_same_seed_same_sampler(imbalanced):
    a, b = (MetaSampler(**SHORT).fit(*imbalanced) for _ in range(2))
    assert_same_policy(a, b)
    assert a.history_ == b.history_
    c = MetaSampler(**{**SHORT, "random_state": 1}).fit(*imbalanced)
    assert not np.array_equal(a.policy_.parameters, c.policy_.parameters)


def test_several_tasks_take_turns(tasks):
    sampler = MetaSampler(**SHORT).fit_tasks(tasks)
    names = [entry["task"] for entry in sampler.history_]
    assert names == ["synthetic", "digits", "cancer"] * 2 + ["synthetic", "digits"]
    assert [task["name"] for task in sampler.summary_["tasks"]] == list(tasks)


@pytest.mark.parametrize("scale_tasks", [False, True])
def test_same_result_for_any_n_jobs(tasks, scale_tasks):
    one, two = (
        MetaSampler(**learning(scale_tasks=scale_tasks), n_jobs=n_jobs).fit_tasks(tasks)
        for n_jobs in (1, 2)
    )
    assert_same_policy(one, two)
    assert one.history_ == two.history_


def test_forms_of_tasks(imbalanced):
    X, y = imbalanced
    results = [
        MetaSampler(**SHORT).fit_tasks(form)
        for form in ([(X, y)], [Task(X, y)], {"task 0": (X, y)}, {"task 0": Task(X, y)})
    ]
    results.append(MetaSampler(**SHORT).fit(X, y))
    for other in results[1:]:
        assert_same_policy(results[0], other)
        assert results[0].history_ == other.history_


@pytest.mark.parametrize(
    ("tasks", "error", "words"),
    [
        ([], ValueError, "at least one task"),
        ([(1, 2, 3)], TypeError, "tuple of 2, 4 or 6"),
        ({"good": None}, TypeError, "NoneType"),
    ],
)
def test_bad_tasks(tasks, error, words):
    with pytest.raises(error, match=words):
        MetaSampler().fit_tasks(tasks)


def test_columns_of_validation_and_test_frames(imbalanced):
    X, y = imbalanced
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    turned = frame[frame.columns[::-1]]
    same, other = (
        MetaSampler(**SHORT).fit(frame, y, X_val=rows, y_val=y, X_test=rows, y_test=y)
        for rows in (frame.copy(), turned)
    )
    assert same.history_ == other.history_
    lacking = frame.drop(columns="b")
    with pytest.raises(ValueError, match=r"X_val lacks columns that X has: \['b'\]"):
        MetaSampler(**SHORT).fit(frame, y, X_val=lacking, y_val=y)
    with pytest.raises(ValueError, match=r"X_test lacks columns that X has: \['b'\]"):
        MetaSampler(**SHORT).fit(frame, y, X_test=lacking, y_test=y)
    with pytest.raises(ValueError, match="X_test and y_test must be passed together"):
        MetaSampler(**SHORT).fit(frame, y, y_test=y)
    with pytest.raises(TypeError, match="got one Task"):
        MetaSampler(**SHORT).fit_tasks(Task(X, y))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hidden_layer_sizes", (7,)),
        ("gamma", 0.5),
        ("alpha", 0.7),
        ("learning_rate", 0.1),
        ("lr_decay", 0.5),
        ("memory_size", 11),
    ],
)
def test_the_trainer_gets_each_setting(imbalanced, monkeypatch, name, value):
    agents = []

    def spy(settings, policy, rng):
        agents.append(SAC(settings, policy, rng))
        return agents[-1]

    monkeypatch.setattr("metasampler.meta._trainers.SAC", spy)
    if name == "hidden_layer_sizes":
        sampler = MetaSampler(**SHORT, **{name: value}).fit(*imbalanced)
    else:
        sampler = MetaSampler(**learning(**{name: value})).fit(*imbalanced)
    (agent,) = agents
    rates = []
    for agent.n_updates_ in (0, 10):
        rates.append(agent.current_learning_rate)
    seen = {
        "hidden_layer_sizes": agent.policy.hidden,
        "alpha": agent.alpha,
        "memory_size": len(agent.memory.rows),
        "learning_rate": rates[0],
        "lr_decay": rates[1] / rates[0],
    }
    if name in seen:
        assert seen[name] == pytest.approx(value)
    # Every setting makes another policy.
    plain = MetaSampler(**SHORT).fit(*imbalanced)
    if name not in ("hidden_layer_sizes", "memory_size", "lr_decay"):
        assert not np.array_equal(sampler.policy_.parameters, plain.policy_.parameters)


@pytest.mark.parametrize(
    "options",
    [
        {"trainer": SoftActorCritic(**TRAINER, reward_scale=5.0)},
        {"sigma": 0.9},
        {"sampling_ratio": 3.0},
        {"validation_fraction": 0.4},
        {"scoring": "roc_auc"},
        {"train_ratio": 0.5},
        {"n_bins": 4},
        {"estimator": GaussianNB()},
    ],
    ids=str,
)
def test_each_setting_makes_a_difference(imbalanced, options):
    usual = MetaSampler(**SHORT).fit(*imbalanced)
    other = MetaSampler(**{**SHORT, **options}).fit(*imbalanced)
    assert not np.array_equal(usual.policy_.parameters, other.policy_.parameters)


def test_episodes_differ(imbalanced):
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    actions = {tuple(entry["actions"]) for entry in sampler.history_}
    scores = {entry["train_score"] for entry in sampler.history_}
    assert len(actions) == len(sampler.history_)
    assert len(scores) > 1


def test_settings_changed_after_the_fit_are_refused(imbalanced):
    X, y = imbalanced
    sampler = MetaSampler(**SHORT).fit(X, y)
    MesaClassifier(
        DecisionTreeClassifier(), meta_sampler=clone(sampler).set_params(verbose=1, sigma=0.3)
    ).fit(X, y)
    clf = MesaClassifier(DecisionTreeClassifier(), meta_sampler=clone(sampler))
    clf.set_params(meta_sampler__trainer__n_updates=50)
    with pytest.raises(ValueError, match="with trainer__n_updates=12 and then set to 50"):
        clf.fit(X, y)
    # The one that was cloned has a trainer of its own.
    sampler.as_policy()
    for options, words in (
        ({"trainer": None}, "trainer__n_random_steps=12 and then set to 500"),
        ({"mu_min": 0.3}, "mu_min=0.0 and then set to 0.3"),
        ({"hidden_layer_sizes": (3,)}, r"hidden_layer_sizes=\[50\] and then set to \[3\]"),
        ({"trainer": FitToConstants()}, "trainer='SoftActorCritic' and then set to 'FitTo"),
    ):
        with pytest.raises(ValueError, match=words):
            clone(sampler).set_params(**options).as_policy()


def test_a_sampler_is_a_policy(imbalanced):
    X, y = imbalanced
    sampler = MetaSampler(**SHORT, mu_min=0.5).fit(X, y)
    options = {"n_estimators": 5, "random_state": 0}
    as_sampler = MesaClassifier(DecisionTreeClassifier(), meta_sampler=sampler, **options).fit(X, y)
    policy = sampler.as_policy()
    # A copy: later changes of the sampler leave it alone.
    sampler.policy_.parameters[:] = 0
    as_policy = MesaClassifier(DecisionTreeClassifier(), meta_sampler=policy, **options).fit(X, y)
    np.testing.assert_array_equal(as_sampler.actions_, as_policy.actions_)
    np.testing.assert_array_equal(as_sampler.states_, as_policy.states_)
    assert policy.summary == sampler.summary_
    assert np.all(as_policy.actions_ >= 0.5)


def test_rows_that_a_classifier_has_prepared(imbalanced):
    X, y = imbalanced
    streams = RandomStreams(0).child(Stream.SPLIT, 0)
    data = make_growth_data(
        X,
        y,
        estimator=DecisionTreeClassifier(),
        validation_fraction=0.2,
        sampling_ratio=1.0,
        scoring="average_precision",
        streams=streams,
    )
    prepared = MetaSampler(**SHORT).fit_growth_data([data])
    whole = MetaSampler(**SHORT).fit(X, y)
    assert_same_policy(prepared, whole)
    assert prepared.history_ == whole.history_


def test_a_bad_task_is_named(imbalanced):
    X, y = imbalanced
    with pytest.raises(ValueError, match="Task 'bad': y has only one class"):
        MetaSampler().fit_tasks({"good": (X, y), "bad": (X, np.zeros(len(y)))})


def test_train_ratio_trains_on_a_part(imbalanced):
    X, y = imbalanced
    sampler = MetaSampler(**SHORT, train_ratio=0.25).fit(X, y)
    whole = MetaSampler(**SHORT).fit(X, y)
    part, all_rows = (s.summary_["tasks"][0]["train_rows"] for s in (sampler, whole))
    assert part == [round(0.25 * n) for n in all_rows]


@pytest.mark.parametrize("hidden", [(), (50,), (100,), (25, 25), (10, 10, 10), (50, 50, 50)])
def test_network_sizes(imbalanced, hidden):
    sampler = MetaSampler(**SHORT, hidden_layer_sizes=hidden).fit(*imbalanced)
    assert sampler.policy_.hidden == hidden
    assert sampler.policy_.state_size == 10


@pytest.mark.parametrize(
    ("state", "size"), [("all", 6), ("majority", 6), ("class-wise", 12), ("summary", 15)]
)
def test_kinds_of_state(imbalanced, state, size):
    X, y = imbalanced
    sampler = MetaSampler(**SHORT, state=state, n_bins=3).fit(X, y)
    clf = MesaClassifier(
        DecisionTreeClassifier(), meta_sampler=sampler, n_estimators=3, random_state=0
    ).fit(X, y)
    assert clf.states_.shape == (2, size)
    np.testing.assert_allclose(
        clf.actions_, [sampler.choose(state) for state in clf.states_], rtol=1e-6
    )


def test_options_of_the_trainer(imbalanced):
    sampler = MetaSampler(
        GaussianNB(), **learning(alpha=0.2), scoring="roc_auc", sampling_ratio=2.0
    ).fit(*imbalanced)
    assert sampler.summary_["estimator"] == "GaussianNB()"
    assert sampler.summary_["scoring"] == "roc_auc"
    assert sampler.summary_["trainer"] == "SoftActorCritic"


def test_no_updates_leave_a_random_policy(imbalanced):
    trainer = SoftActorCritic(n_random_steps=0, n_updates=0)
    sampler = MetaSampler(trainer=trainer, random_state=0).fit(*imbalanced)
    assert sampler.history_ == []
    assert 0 < sampler.choose(np.full(10, 0.2)) < 1


def test_choose_is_deterministic_and_sample_is_not(imbalanced):
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    state = np.full(10, 0.2)
    assert sampler.choose(state) == sampler.choose(list(state))
    rng = np.random.default_rng(0)
    drawn = [sampler.sample(state, rng) for _ in range(50)]
    assert len(set(drawn)) == 50
    assert all(0 <= mu <= 1 for mu in drawn)
    with pytest.raises(ValueError, match="finite numbers"):
        sampler.choose(np.full(10, np.nan))


def test_a_state_of_another_size(imbalanced):
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    for method in (sampler.choose, lambda state: sampler.sample(state, np.random.default_rng(0))):
        with pytest.raises(ValueError, match=r"kind 'all' with 5 bins, .* length 10; got shape"):
            method(np.zeros(20))


def test_unfitted():
    with pytest.raises(NotFittedError):
        MetaSampler().choose(np.zeros(10))
    with pytest.raises(NotFittedError):
        MetaSampler().save("never-written.npz")


def test_clone_and_pickle_keep_what_was_learned(imbalanced):
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    for twin in (clone(sampler), pickle.loads(pickle.dumps(sampler))):
        assert twin is not sampler
        assert str(twin.get_params()) == str(sampler.get_params())
        assert_same_policy(sampler, twin)
        # What one does to its policy is nothing to the other.
        before = sampler.policy_.parameters.copy()
        twin.policy_.parameters[:] = 0
        twin.history_.clear()
        np.testing.assert_array_equal(sampler.policy_.parameters, before)
        assert sampler.history_
    # fit starts anew, whatever was there.
    assert_same_policy(sampler, clone(sampler).fit(*imbalanced))


def test_an_interrupt_leaves_a_usable_sampler(imbalanced, monkeypatch, tmp_path):
    X, y = imbalanced
    updates = SAC.update

    def interrupted(agent):
        if agent.n_updates_ == 7:
            raise KeyboardInterrupt
        updates(agent)

    monkeypatch.setattr(SAC, "update", interrupted)
    with pytest.warns(UserWarning, match="interrupted after 7 of 8 episodes and 7 of 12 updates"):
        sampler = MetaSampler(**SHORT).fit(X, y)
    assert sampler.n_updates_ == 7
    assert sampler.summary_["interrupted"]
    MesaClassifier(
        DecisionTreeClassifier(), meta_sampler=sampler, n_estimators=3, random_state=0
    ).fit(X, y)
    sampler.save(tmp_path / "part.npz")
    assert_same_policy(sampler, MetaSampler.load(tmp_path / "part.npz"))


def test_progress_shows_the_score(imbalanced, capsys):
    MetaSampler(**SHORT).fit(*imbalanced)
    assert capsys.readouterr().out == ""
    MetaSampler(**SHORT, verbose=1).fit(*imbalanced)
    shown = capsys.readouterr().out
    assert "Meta-training" in shown
    assert "validation score 0." in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sigma": 0.0}, "sigma"),
        ({"n_estimators": 1}, "n_estimators"),
        ({"state": "minority"}, "state"),
        ({"train_ratio": 0.0}, "train_ratio"),
        ({"trainer": SoftActorCritic(alpha="fixed")}, "'alpha' parameter of SoftActorCritic"),
        ({"trainer": FitToConstants(n_constants=2)}, "'n_constants' parameter of FitToConstants"),
        ({"trainer": "sac"}, "'trainer' parameter of MetaSampler"),
        ({"hidden_layer_sizes": (10**12,)}, "at most 10000"),
        ({"hidden_layer_sizes": (50, 0)}, "hidden_layer_sizes must hold positive integers"),
    ],
)
def test_bad_parameters(imbalanced, options, words):
    with pytest.raises(ValueError, match=words):
        MetaSampler(**options).fit(*imbalanced)


def test_from_policy_wants_a_policy():
    with pytest.raises(TypeError, match="GaussianPolicy"):
        MetaSampler.from_policy("policy")
    policy = GaussianPolicy(20, hidden=(7, 3), rng=np.random.default_rng(0))
    sampler = MetaSampler.from_policy(policy, state="class-wise", sigma=0.3)
    assert sampler.hidden_layer_sizes == (7, 3)
    assert sampler.choose(np.full(20, 0.1)) == policy.choose(np.full(20, 0.1))


def test_meta_training_finds_that_hard_rows_help_on_mammography(mammography):
    (X, y), (X_val, y_val) = mammography["train"], mammography["valid"]
    sampler = MetaSampler(random_state=0).fit(X, y, X_val=X_val, y_val=y_val)
    assert sampler.n_updates_ == 1000
    # Random actions score .50 on the validation rows, the best constant .60.
    assert sampler.summary_["first_valid_score"] < 0.53
    assert sampler.summary_["last_valid_score"] > 0.57
    late = [mu for entry in sampler.history_[-20:] for mu in entry["actions"]]
    assert np.mean(late) > 0.8


def test_features_are_those_of_the_one_task(imbalanced):
    X, y = imbalanced
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    sampler = MetaSampler(**SHORT).fit(frame, y)
    assert sampler.n_features_in_ == X.shape[1]
    assert list(clone(sampler).feature_names_in_) == list(frame)
    assert not hasattr(sampler.fit(X, y), "feature_names_in_")
    assert not hasattr(sampler.fit_tasks([(X, y), (X[:, :2], y)]), "n_features_in_")


def test_a_sampler_is_no_predictor():
    # scikit-learn would hand rows to a method of this name.
    assert not hasattr(MetaSampler.load("universal"), "predict")


def test_rows_without_weight_are_not_learned_from(imbalanced):
    X, y = imbalanced
    weights = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    other = X.copy()
    other[weights == 0] += 100
    first, again = (MetaSampler(**SHORT).fit(table, y, weights) for table in (X, other))
    assert_same_policy(first, again)
    assert first.history_ == again.history_
    everything = MetaSampler(**SHORT).fit(X, y)
    assert first.history_ != everything.history_
    # Only ratios of weights count.
    assert_same_policy(everything, MetaSampler(**SHORT).fit(X, y, np.full(len(y), 3.0)))
