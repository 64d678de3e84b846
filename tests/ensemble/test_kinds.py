"""Kinds of members that alternate: `estimator` as a list."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils import get_tags
from tree_mesa import tree_mesa

from metasampler import MetaSampler
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)

UNDER_SAMPLING = [
    tree_mesa,
    UnderBaggingClassifier,
    SelfPacedEnsembleClassifier,
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
]


def mix():
    """A kind with leaves and one without."""
    return [DecisionTreeClassifier(), GaussianNB()]


def boosting(**options):
    return HistGradientBoostingClassifier(max_iter=3, **options)


def types_of(clf):
    return [type(member) for member in clf.estimators_]


def assert_same(a, b, X):
    for mine, other in zip(a.estimators_samples_, b.estimators_samples_, strict=True):
        assert_array_equal(mine, other)
    assert_array_equal(a.scores_, b.scores_)
    assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert_array_equal(a.predict(X), b.predict(X))


# --------------------------------------------------------------------------- order


@pytest.mark.parametrize("n_members", [1, 2, 7])
def test_members_alternate(imbalanced, Ensemble, n_members):
    X, y = imbalanced
    kinds = [GaussianNB(), DecisionTreeClassifier(), make_pipeline(StandardScaler(), GaussianNB())]
    clf = Ensemble(kinds, n_estimators=n_members, random_state=0).fit(X, y)
    assert types_of(clf) == [type(kinds[i % 3]) for i in range(n_members)]
    assert clf.estimator_ == kinds
    assert clf.estimator is kinds
    stages = list(clf.staged_predict_proba(X))
    assert len(stages) == n_members
    assert_array_equal(stages[-1], clf.predict_proba(X))


@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_whole_fit_by_hand(data, weighted, by_hand, request):
    X, y = request.getfixturevalue(data)
    _, codes = np.unique(y, return_inverse=True)
    kinds = [*mix(), ExtraTreeClassifier(max_depth=4)]
    mus = [None, 0.8, 0.8, 0.8, 0.8]
    # Of mean 1, as the fit makes them.
    weights = np.tile([0.5, 1.5], len(y))[: len(y)] if weighted else None
    clf = tree_mesa(
        kinds,
        n_estimators=5,
        meta_sampler=0.8,
        validation_fraction=None,
        calibration=None,
        leaf_smoothing=0,
        random_state=3,
    ).fit(X, y, sample_weight=weights)
    members, subsets = by_hand.grow(
        X, codes, np.arange(len(y)), mus, seed=3, weights=weights, kinds=kinds
    )
    assert types_of(clf) == [type(member) for member in members]
    for mine, other in zip(clf.estimators_samples_, subsets, strict=True):
        assert_array_equal(mine, other)
    proba = np.mean([member.predict_proba(X) for member in members], axis=0)
    assert_allclose(clf.predict_proba(X), proba, atol=1e-12)


# --------------------------------------------------------------------------- laws


@pytest.mark.parametrize("Ensemble", UNDER_SAMPLING)
@settings(max_examples=8)
@given(
    kind=st.sampled_from(
        [
            DecisionTreeClassifier(),
            DecisionTreeClassifier(max_depth=3, max_features="sqrt"),
            RandomForestClassifier(2, max_depth=3),
            GaussianNB(),
        ]
    ),
    n_kinds=st.integers(1, 3),
    refit=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 100),
)
def test_equal_kinds_are_one_base_estimator(
    imbalanced, Ensemble, kind, n_kinds, refit, weighted, seed
):
    X, y = imbalanced
    weights = np.random.default_rng(seed).uniform(0.5, 2, len(y)) if weighted else None
    options = {
        "n_estimators": 4,
        "validation_fraction": 0.3,
        "leaf_smoothing": "auto",
        "refit": refit,
        "random_state": seed,
    }
    one, several = (
        Ensemble(estimator, **options).fit(X, y, sample_weight=weights)
        for estimator in (kind, [clone(kind) for _ in range(n_kinds)])
    )
    assert_same(one, several, X)
    assert one.leaf_smoothing_ == several.leaf_smoothing_
    assert_array_equal(one.calibration_.prior, several.calibration_.prior)
    if hasattr(one, "feature_importances_"):
        assert_array_equal(one.feature_importances_, several.feature_importances_)


def test_equal_kinds_of_many_classes(three_classes, Ensemble):
    X, y = three_classes
    tree = DecisionTreeClassifier(max_depth=5)
    options = {"n_estimators": 5, "leaf_smoothing": 1, "random_state": 0}
    one = Ensemble(tree, **options).fit(X, y)
    for kinds in ([tree], [tree, clone(tree)]):
        assert_same(one, Ensemble(kinds, **options).fit(X, y), X)


@pytest.mark.parametrize(
    "kinds", [mix(), [DecisionTreeClassifier(), ExtraTreeClassifier()]], ids=["mix", "trees"]
)
def test_same_result_for_any_n_jobs(imbalanced, Ensemble, kinds, monkeypatch):
    # Small chunks, so that threads score rows too.
    monkeypatch.setattr("metasampler.growth._adapters._CHUNK", 128)
    X, y = imbalanced
    options = {
        "n_estimators": 5,
        "validation_fraction": 0.3,
        "leaf_smoothing": "auto",
        "refit": True,
        "random_state": 0,
    }
    one, two = (Ensemble(kinds, n_jobs=n, **options).fit(X, y) for n in (1, 2))
    assert types_of(two) == [type(kinds[i % 2]) for i in range(5)]
    assert_same(one, two, X)


@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("Ensemble", [tree_mesa, UnderBaggingClassifier])
def test_a_warm_start_goes_on_with_the_next_kind(imbalanced, Ensemble, first):
    X, y = imbalanced
    kinds = [*mix(), LogisticRegression()]
    options = {"validation_fraction": 0.3, "random_state": 0}
    longer = Ensemble(kinds, n_estimators=5, warm_start=True, **options).fit(X, y)
    warm = Ensemble(kinds, n_estimators=first, warm_start=True, **options).fit(X, y)
    warm.set_params(n_estimators=5).fit(X, y)
    assert types_of(warm) == [type(kinds[i % 3]) for i in range(5)]
    assert_same(longer, warm, X)


def test_a_warm_start_refuses_other_kinds(imbalanced):
    clf = UnderBaggingClassifier(mix(), 3, warm_start=True, random_state=0).fit(*imbalanced)
    clf.set_params(n_estimators=4, estimator=mix()[::-1])
    words = r"estimator\[0\] was a DecisionTreeClassifier and is now a GaussianNB"
    with pytest.raises(ValueError, match=words):
        clf.fit(*imbalanced)
    clf.set_params(estimator=GaussianNB())
    with pytest.raises(ValueError, match=r"estimator was .* and is now a GaussianNB"):
        clf.fit(*imbalanced)


@pytest.mark.parametrize("own_rows", [False, True], ids=["held out", "own rows"])
def test_a_refit_is_the_fit_without_held_out_rows(imbalanced, own_rows):
    X, y = imbalanced
    options = {"n_estimators": 5, "meta_sampler": 0.7, "random_state": 0}
    kinds = mix()
    given_rows = {"X_val": X[400:], "y_val": y[400:]} if own_rows else {}
    X_fit, y_fit = (X[:400], y[:400]) if own_rows else (X, y)
    refitted = tree_mesa(kinds, refit=True, **options).fit(X_fit, y_fit, **given_rows)
    whole = tree_mesa(kinds, validation_fraction=None, **options).fit(X, y)
    assert types_of(refitted) == types_of(whole) == [type(kinds[i % 2]) for i in range(5)]
    for mine, other in zip(refitted.estimators_samples_, whole.estimators_samples_, strict=True):
        assert_array_equal(mine, other)


# --------------------------------------------------------------------------- leaves


@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
@pytest.mark.parametrize("smoothing", ["auto", 2])
def test_smoothed_leaves_beside_members_without_any(data, smoothing, request):
    X, y = request.getfixturevalue(data)
    clf = tree_mesa(
        mix(), n_estimators=5, leaf_smoothing=smoothing, calibration=None, random_state=0
    ).fit(X, y)
    s = clf.leaf_smoothing_
    assert s == (1 if smoothing == "auto" else 2)
    parts = []
    for member in clf.estimators_:
        proba = member.predict_proba(X)
        if isinstance(member, DecisionTreeClassifier):
            sizes = member.tree_.weighted_n_node_samples[member.apply(X)][:, np.newaxis]
            proba = (proba * sizes + s) / (sizes + s * proba.shape[1])
        parts.append(proba)
    assert_allclose(clf.predict_proba(X), np.mean(parts, axis=0), atol=1e-11)


def test_scores_are_those_of_the_predictions(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(mix(), n_estimators=5, leaf_smoothing=2, random_state=0)
    clf.fit(X, y, X_val=X[::3], y_val=y[::3])
    for score, proba in zip(clf.scores_, clf.staged_predict_proba(X[::3]), strict=True):
        assert score == pytest.approx(average_precision_score(y[::3], proba[:, 1]), abs=1e-12)


def test_kinds_without_leaves(imbalanced, Ensemble):
    kinds = [GaussianNB(), LogisticRegression()]
    clf = Ensemble(kinds, n_estimators=2, leaf_smoothing="auto", random_state=0).fit(*imbalanced)
    assert clf.leaf_smoothing_ == 0
    with pytest.raises(ValueError, match=r"leaf_smoothing=2 needs members with leaves.*Gaussian"):
        Ensemble(kinds, leaf_smoothing=2).fit(None, None)


@pytest.mark.parametrize("calibration", ["prior", "sigmoid"])
def test_calibrations(imbalanced, calibration):
    X, y = imbalanced
    clf = UnderBaggingClassifier(
        mix(),
        n_estimators=3,
        validation_fraction=0.3,
        calibration=calibration,
        leaf_smoothing="auto",
        random_state=0,
    ).fit(X, y)
    assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
    assert clf.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.1)


# --------------------------------------------------------------------------- weights and rows


def test_kinds_that_take_no_weights_are_named(imbalanced, Ensemble):
    X, y = imbalanced
    weights = np.where(y == 1, 3.0, 1.0)
    kinds = [GaussianNB(), KNeighborsClassifier(3), KNeighborsClassifier(3), LogisticRegression()]
    clf = Ensemble(kinds, n_estimators=5, calibration="prior", random_state=0)
    with pytest.warns(UserWarning, match="takes no sample_weight") as caught:
        clf.fit(X, y, sample_weight=weights)
    assert len(caught) == 1
    assert str(caught[0].message).startswith("The fit of KNeighborsClassifier(n_neighbors=3) takes")
    # Members 0, 3 and 4 saw the rare class three times as heavy.
    assert_allclose(clf.calibration_.drawn, 0.6 * np.array([0.25, 0.75]) + 0.4 * 0.5)
    # No weights, no warning.
    Ensemble(kinds, n_estimators=2, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    "as_table",
    [
        np.asarray,
        lambda X: pd.DataFrame(X, columns=list("abcdefgh")),
        lambda X: pl.DataFrame(X, schema=list("abcdefgh")),
    ],
    ids=["array", "pandas", "polars"],
)
def test_missing_values_for_kinds_that_allow_them(imbalanced, as_table):
    X, y = imbalanced
    X = X.copy()
    X[::7, 2] = np.nan
    table = as_table(X)
    kinds = [DecisionTreeClassifier(max_depth=4), boosting()]
    clf = tree_mesa(kinds, n_estimators=4, random_state=0).fit(table, y)
    plain = tree_mesa(kinds, n_estimators=4, random_state=0).fit(X, y)
    assert_array_equal(clf.predict_proba(table), plain.predict_proba(X))
    assert get_tags(clf).input_tags.allow_nan
    trees = tree_mesa([DecisionTreeClassifier(), ExtraTreeClassifier()], n_estimators=2)
    assert trees.fit(table, y).predict_proba(table).shape == (len(y), 2)
    with pytest.raises(ValueError, match="NaN"):
        tree_mesa(mix(), n_estimators=2).fit(table, y)


def test_categories_reach_the_kinds_that_know_them(imbalanced):
    X, y = imbalanced
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    frame["colour"] = pd.Categorical(np.where(X[:, 0] > 0, "red", "blue"))
    kinds = [
        boosting(categorical_features="from_dtype"),
        LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1),
    ]
    clf = tree_mesa(kinds, n_estimators=3, random_state=0).fit(frame, y)
    assert clf.feature_names_in_.tolist() == ["a", "b", "c", "colour"]
    assert clf.predict_proba(frame).shape == (len(y), 2)


def test_sparse_rows(imbalanced):
    X, y = imbalanced
    kinds = [DecisionTreeClassifier(max_depth=4), LogisticRegression()]
    dense, thin = (
        tree_mesa(kinds, n_estimators=4, random_state=0).fit(table, y)
        for table in (X, sparse.csr_array(X))
    )
    assert_allclose(dense.predict_proba(X), thin.predict_proba(sparse.csr_array(X)), atol=1e-4)


@pytest.mark.parametrize(
    ("kinds", "allow_nan", "takes_sparse"),
    [
        ([DecisionTreeClassifier(), ExtraTreeClassifier()], True, True),
        ([DecisionTreeClassifier(), LogisticRegression()], False, True),
        ([DecisionTreeClassifier(), boosting()], True, False),
        (mix(), False, False),
    ],
)
def test_tags_say_what_all_kinds_take(kinds, allow_nan, takes_sparse):
    for estimator in (tree_mesa(kinds), UnderBaggingClassifier(kinds), MetaSampler(kinds)):
        tags = get_tags(estimator).input_tags
        assert (tags.allow_nan, tags.sparse) == (allow_nan, takes_sparse)


# --------------------------------------------------------------------------- importances


def test_importances_of_different_kinds_have_one_scale(imbalanced):
    X, y = imbalanced
    kinds = [DecisionTreeClassifier(), LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1)]
    clf = UnderBaggingClassifier(kinds, 4, random_state=0).fit(X, y)
    parts = [m.feature_importances_ / m.feature_importances_.sum() for m in clf.estimators_]
    assert_allclose(clf.feature_importances_, np.mean(parts, axis=0))
    assert clf.feature_importances_.sum() == pytest.approx(1)


def test_importances_that_some_kinds_do_not_have(imbalanced):
    clf = UnderBaggingClassifier(mix(), 2, random_state=0).fit(*imbalanced)
    assert not hasattr(clf, "feature_importances_")
    with pytest.raises(AttributeError, match="of type GaussianNB have no feature_importances_"):
        _ = clf.feature_importances_


# --------------------------------------------------------------------------- as a parameter


def test_scikit_learn_knows_the_list(imbalanced, Ensemble):
    X, y = imbalanced
    kinds = mix()
    clf = Ensemble(kinds, n_estimators=3, random_state=0)
    assert clf.get_params()["estimator"] is kinds
    assert "[DecisionTreeClassifier(), GaussianNB()]" in " ".join(repr(clf).split())
    twin = clone(clf)
    assert [type(kind) for kind in twin.estimator] == [type(kind) for kind in kinds]
    assert twin.estimator[0] is not kinds[0]
    proba = clf.fit(X, y).predict_proba(X)
    assert not hasattr(kinds[0], "tree_")
    assert_array_equal(twin.fit(X, y).predict_proba(X), proba)
    assert_array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), proba)
    other = clone(clf).set_params(estimator=kinds[::-1])
    assert types_of(other.fit(X, y)) == [GaussianNB, DecisionTreeClassifier, GaussianNB]


def test_a_search_over_lists(imbalanced):
    grid = {"estimator": [GaussianNB(), mix()]}
    search = GridSearchCV(UnderBaggingClassifier(n_estimators=2, random_state=0), grid, cv=2)
    assert len(search.fit(*imbalanced).cv_results_["params"]) == 2


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        ([], ValueError, r"estimator=\[\] is an empty list"),
        ([GaussianNB(), SVC()], TypeError, r"estimator\[1\]=SVC\(\) must have fit and predict_"),
        ([GaussianNB(), "tree"], TypeError, r"estimator\[1\]='tree' must have fit and predict_"),
        ([GaussianNB], TypeError, r"estimator\[0\] must be an instance"),
        ((GaussianNB(),), TypeError, "or a list of them; got a tuple"),
    ],
    ids=repr,
)
def test_lists_that_cannot_be_used(Ensemble, estimator, error, words):
    # No rows: what is wrong is said before anything is looked at.
    with pytest.raises(error, match=words):
        Ensemble(estimator).fit(None, None)


# --------------------------------------------------------------------------- meta-training


@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
def test_meta_training_inside_fit_alternates_too(data, short_sampler, request):
    X, y = request.getfixturevalue(data)
    sampler = short_sampler(4, 4)
    kinds = mix()
    clf, again = (
        tree_mesa(kinds, n_estimators=5, meta_sampler=sampler, random_state=0).fit(X, y)
        for _ in range(2)
    )
    assert types_of(clf) == [type(kinds[i % 2]) for i in range(5)]
    learned = clf.meta_sampler_
    assert [type(kind) for kind in learned.estimator] == [type(kind) for kind in kinds]
    assert learned.estimator[0] is not kinds[0]
    assert learned.summary_["estimator"] == "[DecisionTreeClassifier(), GaussianNB()]"
    assert_same(clf, again, X)


def test_meta_training_on_equal_kinds(imbalanced, short_sampler):
    X, y = imbalanced
    sampler = short_sampler(4, 4)
    tree = DecisionTreeClassifier(max_depth=3)
    one, two = (
        tree_mesa(estimator, 4, meta_sampler=sampler, random_state=0).fit(X, y)
        for estimator in (tree, [tree, clone(tree)])
    )
    assert_array_equal(one.actions_, two.actions_)
    assert_same(one, two, X)


def test_the_universal_sampler(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(mix(), n_estimators=4, random_state=0).fit(X, y)
    assert types_of(clf) == [DecisionTreeClassifier, GaussianNB] * 2
    assert clf.actions_.shape == (3,)
