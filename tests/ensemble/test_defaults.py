"""What MESA does if nothing is said, and the presets."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from tree_mesa import first_release_trees, tree_mesa

from metasampler import MesaClassifier, MetaSampler
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.ensemble._recipes import RECIPES
from metasampler.policy import ConstantPolicy, WithRivals, load_policy


def test_the_default_grows_three_teams(for_teams):
    X, y = for_teams
    clf = MesaClassifier(random_state=0).fit(X, y)
    scaled = RECIPES["default"]
    kinds = [type(member).__name__ for member in clf.estimators_]
    n_boosted = scaled.n_scouts + scaled.n_boosters
    assert kinds[:n_boosted] == ["BoostedMember"] * n_boosted
    assert kinds[n_boosted:] == ["DecisionTreeClassifier", "ExtraTreeClassifier"] * (
        scaled.n_trees // 2
    )
    # Every row is used, none is held out from all members, and none is given back.
    assert not clf.refit_
    assert_array_equal(np.unique(np.concatenate(clf.estimators_samples_)), np.arange(len(y)))
    assert clf.calibration_.name == "sigmoid"
    assert clf.leaf_smoothing_ == 1
    spelled = MesaClassifier(
        None, None, meta_sampler="universal", validation_fraction=0.1, refit=False, random_state=0
    )
    assert_array_equal(spelled.fit(X, y).predict_proba(X), clf.predict_proba(X))


def test_members_of_your_own_as_in_the_first_release(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(random_state=0).fit(X, y)
    assert len(clf.estimators_) == 50
    assert (clf.leaf_smoothing_, clf.refit_, clf.signal_) == (1.0, True, None)
    spelled = MesaClassifier(
        first_release_trees(),
        meta_sampler=WithRivals(load_policy("universal"), rivals=(0.5, 1.0)),
        validation_fraction=0.2,
        leaf_smoothing=1,
        refit=True,
        random_state=0,
    ).fit(X, y)
    assert_array_equal(clf.predict_proba(X), spelled.predict_proba(X))
    assert_array_equal(clf.actions_, spelled.actions_)
    # All rows of the smallest class, held out before or not.
    assert np.sum(y[clf.estimators_samples_[0]] == 1) == np.sum(y == 1)


def test_the_published_methods_keep_plain_trees_and_leaves(imbalanced):
    for Ensemble in (UnderBaggingClassifier, SelfPacedEnsembleClassifier, BalanceCascadeClassifier):
        clf = Ensemble(random_state=0).fit(*imbalanced)
        assert len(clf.estimators_) == 10
        assert (clf.leaf_smoothing_, clf.refit_) == (0, False)
        tree = clf.estimators_[0]
        assert (tree.criterion, tree.max_features) == ("gini", None)


# The universal sampler


def test_every_fit_has_a_copy_of_the_universal_sampler(imbalanced):
    a, b = (tree_mesa(n_estimators=3, random_state=0).fit(*imbalanced) for _ in range(2))
    before = b.meta_sampler_.actor.parameters.copy()
    a.meta_sampler_.actor.parameters[:] = 0
    assert_array_equal(b.meta_sampler_.actor.parameters, before)
    assert_array_equal(load_policy("universal").actor.parameters, before)


def test_nothing_held_out_means_a_constant(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=3, validation_fraction=None, random_state=0).fit(X, y)
    assert clf.meta_sampler_ == ConstantPolicy(0.9)
    assert_array_equal(clf.actions_, [0.9, 0.9])
    assert not clf.refit_
    # One that was passed must not be replaced in silence.
    with pytest.raises(ValueError, match="reads errors of validation rows"):
        clf.set_params(meta_sampler=MetaSampler.load("universal")).fit(X, y)


def test_a_class_of_one_row(imbalanced):
    X, y = imbalanced
    y = np.where(np.arange(len(y)) == 3, 2, y)
    clf = tree_mesa(n_estimators=3, random_state=0)
    with pytest.warns(UserWarning, match=r"Class 2 has .* 1 row.*: there are none"):
        clf.fit(X, y)
    assert clf.meta_sampler_ == ConstantPolicy(0.9)
    assert clf.calibration_.name == "prior"
    # Samples grow with the root of their class.
    n_drawn = np.sqrt(np.bincount(y)).round().sum()
    assert [len(rows) for rows in clf.estimators_samples_] == [n_drawn] * 3


# "auto"


@pytest.mark.parametrize(
    ("estimator", "smoothing"),
    [
        (DecisionTreeClassifier(), 1.0),
        (ExtraTreeClassifier(), 1.0),
        (RandomForestClassifier(3), 1.0),
        (ExtraTreesClassifier(3), 1.0),
        (AdaBoostClassifier(n_estimators=3), 0.0),
        (HistGradientBoostingClassifier(max_iter=3), 0.0),
        (LogisticRegression(), 0.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_leaves_are_smoothed_where_there_are_any(imbalanced, estimator, smoothing):
    X, y = imbalanced
    fits = [
        tree_mesa(estimator, n_estimators=2, leaf_smoothing=s, random_state=0).fit(X, y)
        for s in ("auto", smoothing)
    ]
    assert fits[0].leaf_smoothing_ == smoothing
    assert_array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))


def test_auto_in_a_baseline(imbalanced):
    options = {"n_estimators": 3, "validation_fraction": 0.3, "random_state": 0}
    clf = UnderBaggingClassifier(leaf_smoothing="auto", refit="auto", **options).fit(*imbalanced)
    assert (clf.leaf_smoothing_, clf.refit_) == (1.0, True)


def test_auto_refits_rows_that_were_taken_from_X_only(imbalanced):
    X, y = imbalanced
    options = {"n_estimators": 2, "random_state": 0}
    assert tree_mesa(**options).fit(X, y).refit_
    assert not tree_mesa(**options).fit(X, y, X_val=X[::3], y_val=y[::3]).refit_
    assert not tree_mesa(warm_start=True, **options).fit(X, y).refit_
    assert not tree_mesa(validation_fraction=None, **options).fit(X, y).refit_


def test_a_refitted_default_cannot_be_grown_on(imbalanced):
    clf = tree_mesa(n_estimators=2, random_state=0).fit(*imbalanced)
    with pytest.raises(ValueError, match="the members were refitted on all rows"):
        clf.set_params(warm_start=True, n_estimators=4).fit(*imbalanced)
    assert clf.refit_


# Presets


@pytest.mark.parametrize("name", ["default", "fast", "best", "paper"])
def test_presets(name, imbalanced, short_sampler):
    X, y = imbalanced
    clf = MesaClassifier.from_preset(name, n_jobs=2, random_state=0)
    assert clf.n_jobs == 2
    twin = clone(clf)
    assert repr(twin.get_params()) == repr(clf.get_params())
    twin.set_params(n_estimators=5)
    if name == "paper":
        twin.set_params(meta_sampler=short_sampler())
    assert twin.fit(X, y).predict_proba(X).shape == (600, 2)


def test_what_the_presets_are():
    assert MesaClassifier.from_preset("default").get_params() == MesaClassifier().get_params()
    paper = MesaClassifier.from_preset("paper", random_state=7)
    assert repr(paper.estimator) == "DecisionTreeClassifier()"
    settings = paper.get_params(deep=False)
    assert (
        settings.items()
        >= {
            "n_estimators": 10,
            "leaf_smoothing": 0,
            "refit": False,
            "calibration": None,
            "threshold": 0.5,
            "sampling_ratio": 1.0,
            "random_state": 7,
        }.items()
    )
    # Algorithm 2 draws its actions; all else of the sampler is as "fit" has it.
    assert repr(paper.meta_sampler) == "Drawn(policy='fit')"
    for name in ("fast", "best"):
        settings = MesaClassifier.from_preset(name, n_estimators=5).get_params()
        assert settings == MesaClassifier(n_estimators=5, recipe=name).get_params()
    # No two share a base estimator.
    a, b = (MesaClassifier.from_preset("paper").estimator for _ in range(2))
    assert a is not b


def test_unknown_presets_and_parameters():
    with pytest.raises(ValueError, match=r"no preset 'quick'; the names are 'default', 'fast', "):
        MesaClassifier.from_preset("quick")
    with pytest.raises(TypeError, match="n_trees"):
        MesaClassifier(recipe="fast", n_trees=5)


def test_an_interrupt_of_meta_training_ends_the_fit(imbalanced, short_sampler, monkeypatch):
    from metasampler.meta._sac import SAC

    def interrupted(agent):
        raise KeyboardInterrupt

    monkeypatch.setattr(SAC, "update", interrupted)
    clf = tree_mesa(n_estimators=3, meta_sampler=short_sampler(9, 9), random_state=0)
    with pytest.warns(UserWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        clf.fit(*imbalanced)


def test_how_many_parameters_there_are():
    # HistGradientBoostingClassifier has 21.
    assert len(MesaClassifier().get_params(deep=False)) <= 18
    assert len(MetaSampler().get_params(deep=False)) <= 16
