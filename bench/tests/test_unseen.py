"""Scores of policies on tasks they have not seen."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler.meta import SoftActorCritic
from metasampler.policy import ConstantPolicy
from metasampler_bench._unseen import UnseenTasks


@pytest.fixture(scope="module")
def tasks(imbalanced, three_classes):
    return {"synthetic": imbalanced, "digits": three_classes}


def test_the_same_score_for_any_n_jobs_and_in_every_call(tasks):
    unseen = UnseenTasks(tasks, n_estimators=3)
    first = unseen.score(ConstantPolicy(0.9))
    assert set(first) == set(tasks)
    assert unseen.score(ConstantPolicy(0.9)) == first
    assert UnseenTasks(tasks, n_estimators=3, n_jobs=2).score(ConstantPolicy(0.9)) == first
    assert unseen.score(ConstantPolicy(0.0)) != first
    assert UnseenTasks(tasks, n_estimators=3, seeds=(5,)).score(ConstantPolicy(0.9)) != first


def test_it_is_the_ensemble_that_a_classifier_grows(imbalanced):
    X, y = imbalanced
    options = {"n_estimators": 4, "random_state": 0}
    trainer = SoftActorCritic(n_random_steps=6, n_updates=6)
    sampler = MetaSampler(trainer=trainer, **options).fit(X, y)
    unseen = UnseenTasks({"task": (X, y)}, seeds=(7,), n_estimators=4)
    score = unseen.score(sampler)["task"]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=7
    )
    clf = MesaClassifier.from_preset(
        "paper", meta_sampler=sampler, n_estimators=4, random_state=7
    ).fit(X_train, y_train)
    assert score == pytest.approx(average_precision_score(y_test, clf.predict_proba(X_test)[:, 1]))


def test_members_that_take_turns(imbalanced):
    tree, bayes = DecisionTreeClassifier(), GaussianNB()
    kinds = {"tree": tree, "one": [tree], "bayes": bayes, "both": [tree, bayes]}
    scores = {
        name: UnseenTasks({"task": imbalanced}, seeds=(0,), n_estimators=3, estimator=kind).score(
            ConstantPolicy(0.8)
        )["task"]
        for name, kind in kinds.items()
    }
    assert scores["one"] == scores["tree"]
    assert len(set(scores.values())) == 3


def test_a_task_that_cannot_be_split(imbalanced):
    X, y = imbalanced
    y = np.zeros(len(y), dtype=int)
    y[0] = 1
    with pytest.raises(ValueError, match="least populated"):
        UnseenTasks({"bad": (X, y)})
