"""Meta-training with base estimators that take turns."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler.meta import EnsembleTrainingEnv, SoftActorCritic

SHORT = {
    "n_estimators": 4,
    "trainer": SoftActorCritic(n_random_steps=6, n_updates=6),
    "random_state": 0,
}


def mix():
    return [DecisionTreeClassifier(), GaussianNB()]


def test_a_list_of_one_or_of_equals_is_the_base_estimator(imbalanced):
    tree = DecisionTreeClassifier(max_depth=3)
    first, *others = (
        MetaSampler(estimator, **SHORT).fit(*imbalanced)
        for estimator in (tree, [tree], [tree, clone(tree)])
    )
    for other in others:
        assert other.history_ == first.history_
        np.testing.assert_array_equal(other.policy_.parameters, first.policy_.parameters)


def test_episodes_rotate(imbalanced):
    fitted = MetaSampler(mix(), **SHORT).fit(*imbalanced)
    for kind in mix():
        assert fitted.history_ != MetaSampler(kind, **SHORT).fit(*imbalanced).history_
    assert fitted.summary_["estimator"] == "[DecisionTreeClassifier(), GaussianNB()]"
    assert fitted.history_ == MetaSampler(mix(), n_jobs=2, **SHORT).fit(*imbalanced).history_


def test_files_and_clones(imbalanced, tmp_path):
    fitted = MetaSampler(mix(), **SHORT).fit(*imbalanced)
    assert [type(kind) for kind in clone(fitted).estimator] == [type(kind) for kind in mix()]
    fitted.save(tmp_path / "sampler.npz")
    loaded = MetaSampler.load(tmp_path / "sampler.npz")
    assert loaded.estimator is None
    assert loaded.summary_ == fitted.summary_


def test_checkpoints_know_the_kinds_by_what_they_are_called(imbalanced, tmp_path):
    path, task = tmp_path / "state.npz", [imbalanced]
    whole = MetaSampler(mix(), **SHORT).fit_tasks(task, checkpoint=path)
    again = MetaSampler(mix(), **SHORT).fit_tasks(task, checkpoint=path)
    assert again.history_ == whole.history_
    with pytest.raises(ValueError, match=r"estimator was '\[Dec.*\]' and is '\[Gauss.*\]'"):
        MetaSampler(mix()[::-1], **SHORT).fit_tasks(task, checkpoint=path)


def test_the_environment_grows_the_ensemble_of_a_fit(imbalanced):
    X, y = imbalanced
    given = (X, y, X[::3], y[::3])
    env = EnsembleTrainingEnv(*given, estimator=mix(), n_estimators=4)
    env.reset(seed=0)
    while not env.step(np.array([0.8]))[2]:
        pass
    growth = env._growth
    assert [type(member) for member in growth.members] == [type(kind) for kind in mix()] * 2


@pytest.mark.parametrize("estimator", [[], [GaussianNB(), SVC()]], ids=repr)
def test_lists_that_cannot_be_used(imbalanced, estimator):
    with pytest.raises((TypeError, ValueError), match=r"^estimator(=\[\]|\[1\]=SVC)"):
        MetaSampler(estimator).fit(*imbalanced)
    with pytest.raises((TypeError, ValueError), match=r"^estimator(=\[\]|\[1\]=SVC)"):
        EnsembleTrainingEnv(*imbalanced, estimator=estimator)


def test_a_sampler_of_one_kind_serves_a_rotation(imbalanced):
    sampler = MetaSampler(**SHORT).fit(*imbalanced)
    clf = MesaClassifier(mix(), n_estimators=3, meta_sampler=sampler, random_state=0)
    with pytest.warns(UserWarning, match="meta-trained with trees, and the members are trees and"):
        assert clf.fit(*imbalanced).actions_.shape == (2,)
