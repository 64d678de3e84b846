"""Scores of policies on tasks they have not seen."""

import numpy as np
import pytest
from metasampler.meta._unseen import UnseenTasks
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from metasampler import MesaClassifier, MetaSampler
from metasampler.meta import ConstantPolicy


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
    sampler = MetaSampler(n_random_steps=6, n_updates=6, **options).fit(X, y)
    unseen = UnseenTasks({"task": (X, y)}, seeds=(7,), n_estimators=4, scoring="roc_auc")
    score = unseen.score(sampler.policy_, sampler.encoder_)["task"]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=7
    )
    clf = MesaClassifier.from_preset(
        "paper", meta_sampler=sampler, n_estimators=4, random_state=7
    ).fit(X_train, y_train)
    assert score == pytest.approx(roc_auc_score(y_test, clf.predict_proba(X_test)[:, 1]))


def test_a_task_that_cannot_be_split(imbalanced):
    X, y = imbalanced
    y = np.zeros(len(y), dtype=int)
    y[0] = 1
    with pytest.raises(ValueError, match="least populated"):
        UnseenTasks({"bad": (X, y)})
