"""Samplers know the kind of members that they were meta-trained with."""

import warnings

import pytest
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler.ensemble.teams import Boosters
from metasampler.policy import ConstantPolicy, warn_of_other_members
from metasampler.policy._trained_members import type_of_members


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (DecisionTreeClassifier(max_depth=3), "trees"),
        ([DecisionTreeClassifier(), ExtraTreeClassifier(criterion="entropy")], "trees"),
        (LGBMClassifier(), "boosters"),
        (Boosters("best"), "boosters"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "LogisticRegression"),
        ([LGBMClassifier(), DecisionTreeClassifier()], "boosters and trees"),
        ("no classifier", "no classifier"),
    ],
)
def test_kinds(estimator, kind):
    assert type_of_members(estimator) == kind


def test_another_kind_warns_once(for_teams):
    sampler = MetaSampler.load("mammography")
    with pytest.warns(UserWarning, match="meta-trained with trees, and the members") as caught:
        MesaClassifier(recipe="fast", meta_sampler=sampler, random_state=0).fit(*for_teams)
    assert len(caught) == 1


def test_the_same_kind_does_not(imbalanced):
    tree = DecisionTreeClassifier(max_depth=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MesaClassifier(tree, 3, meta_sampler="mammography", random_state=0).fit(*imbalanced)
        # Of a constant nobody can say what it was trained with.
        warn_of_other_members(ConstantPolicy(0.5), LogisticRegression())
