"""Soft leaves: `leaf_smoothing`."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from tree_mesa import tree_mesa

from metasampler.ensemble import (
    EasyEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.growth import make_adapters
from metasampler.growth._tree_adapter import LeafAdapter, leaf_values

LEARNERS = [
    DecisionTreeClassifier(),
    ExtraTreeClassifier(max_depth=4),
    RandomForestClassifier(4),
    ExtraTreesClassifier(4, bootstrap=True),
]


def by_hand(member, X, smoothing, n_classes):
    """Smoothed probabilities of a member, row by row, from the rows counted in the leaves."""
    trees = getattr(member, "estimators_", [member])
    X = np.asarray(X, dtype=np.float32)
    proba = np.zeros((len(X), n_classes))
    for tree in trees:
        inner = tree.tree_
        for row, leaf in enumerate(inner.apply(X)):
            n = inner.weighted_n_node_samples[leaf]
            counts = inner.value[leaf, 0] * n
            proba[row] += (counts + smoothing) / (n + smoothing * n_classes)
    return proba / len(trees)


@st.composite
def trees(draw):
    """A tree on random, weighted rows of up to four classes."""
    n_classes = draw(st.integers(2, 4))
    n_rows = draw(st.integers(n_classes, 40))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    depth = draw(st.sampled_from([1, 3, None]))
    weights = rng.uniform(0.1, 3, n_rows) if draw(st.booleans()) else None
    X = rng.integers(0, 5, (n_rows, 2)).astype(np.float32)
    return DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, codes, weights)


@settings(max_examples=60)
@given(tree=trees(), smoothing=st.floats(1e-3, 100))
def test_leaves_are_distributions_between_the_plain_and_the_uniform(tree, smoothing):
    nodes = np.arange(tree.tree_.node_count)
    soft, plain = leaf_values(tree, nodes, smoothing), leaf_values(tree, nodes, 0)
    n_classes = int(tree.n_classes_)
    if n_classes > 2:
        np.testing.assert_allclose(soft.sum(axis=1), 1)
    assert np.all((soft > 0) & (soft < 1))
    middle = 1 / n_classes
    assert np.all((soft - middle) * (plain - middle) >= -1e-12)
    assert np.all(np.abs(soft - middle) <= np.abs(plain - middle) + 1e-12)
    # None is what the plain leaf says, and little is little.
    np.testing.assert_array_equal(
        plain, tree.tree_.value[:, 0, 1] if n_classes == 2 else tree.tree_.value[:, 0]
    )
    np.testing.assert_allclose(leaf_values(tree, nodes, 1e-9), plain, atol=1e-7)
    # One at a time they say the same.
    alone = [leaf_values(tree, nodes[k : k + 1], smoothing)[0] for k in nodes]
    np.testing.assert_array_equal(alone, soft)


@settings(max_examples=60)
@given(n=st.integers(2, 40), smoothing=st.floats(0.01, 50))
def test_more_rows_of_a_class_make_it_more_probable(n, smoothing):
    values = []
    for n_1 in range(1, n):
        codes = np.repeat([0, 1], [n - n_1, n_1])
        stump = DecisionTreeClassifier().fit(np.zeros((n, 1)), codes)  # the root is a leaf
        values.append(leaf_values(stump, np.array([0]), smoothing)[0])
        expected = (n_1 + smoothing) / (n + 2 * smoothing)
        assert values[-1] == pytest.approx(expected, rel=1e-12)
    assert np.all(np.diff(values) > 0)


def test_the_rule_of_two():
    tree = DecisionTreeClassifier().fit(np.zeros((7, 1)), [0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(leaf_values(tree, np.array([0]), 2), [(3 + 2) / (7 + 4)])


@pytest.mark.parametrize("estimator", LEARNERS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
def test_probability_is_the_mean_of_the_smoothed_leaves(data, estimator, request):
    X, y = request.getfixturevalue(data)
    clf = tree_mesa(
        estimator, n_estimators=3, leaf_smoothing=1.5, calibration=None, random_state=0
    ).fit(X, y)
    n_classes = len(clf.classes_)
    members = np.array([by_hand(m, X, 1.5, n_classes) for m in clf.estimators_])
    np.testing.assert_allclose(clf.predict_proba(X), members.mean(axis=0), atol=1e-11)
    for k, stage in enumerate(clf.staged_predict_proba(X), start=1):
        np.testing.assert_allclose(stage, members[:k].mean(axis=0), atol=1e-11)


@pytest.mark.parametrize("estimator", LEARNERS[::2], ids=["tree", "forest"])
def test_draws_are_those_of_the_plain_leaves(imbalanced, Ensemble, estimator):
    X, y = imbalanced
    options = {"n_estimators": 4, "validation_fraction": 0.3, "random_state": 0}
    plain = Ensemble(estimator, leaf_smoothing=0, **options).fit(X, y)
    soft = Ensemble(estimator, leaf_smoothing=2, **options).fit(X, y)
    for a, b in zip(plain.estimators_samples_, soft.estimators_samples_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(
        [row["error of 1"] for row in plain.summary().rows],
        [row["error of 1"] for row in soft.summary().rows],
    )
    if Ensemble is tree_mesa:
        np.testing.assert_array_equal(plain.states_, soft.states_)
    assert not np.array_equal(plain.scores_, soft.scores_)
    assert not np.array_equal(plain.predict_proba(X), soft.predict_proba(X))


def test_scores_calibration_and_threshold_are_those_of_the_smoothed_leaves(imbalanced):
    X, y = imbalanced
    X_val, y_val = X[::3], y[::3]
    options = {"leaf_smoothing": 2, "threshold": "f1", "random_state": 0}
    clf = tree_mesa(**options).fit(X, y, X_val=X_val, y_val=y_val)
    stages = [stage[:, 1] for stage in clf.staged_predict_proba(X_val)]
    np.testing.assert_allclose(
        clf.scores_, [average_precision_score(y_val, stage) for stage in stages], atol=1e-12
    )
    assert clf.threshold_ in stages[-1]
    called = stages[-1] >= clf.threshold_
    found = clf._cuts.hits[clf._cuts.last_called(clf.threshold_)] / clf._cuts.n_positive
    assert found == pytest.approx(called[y_val == 1].mean())
    np.testing.assert_array_equal(clf.predict(X_val), called)


def test_smoothed_scores_are_many(imbalanced):
    X, y = imbalanced
    options = {"n_estimators": 3, "calibration": None, "random_state": 0}
    options["estimator"] = DecisionTreeClassifier()  # with pure leaves
    counts = [
        len(np.unique(tree_mesa(leaf_smoothing=s, **options).fit(X, y).predict_proba(X)[:, 1]))
        for s in (0, 2)
    ]
    assert counts[0] == 4
    assert counts[1] > 20


@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
def test_weights_smooth_by_weight(data, request):
    X, y = request.getfixturevalue(data)
    weights = np.random.default_rng(0).uniform(0.2, 3, len(y))
    options = {"n_estimators": 3, "leaf_smoothing": 1, "calibration": None, "random_state": 0}
    clf = UnderBaggingClassifier(**options).fit(X, y, sample_weight=weights)
    members = [by_hand(m, X, 1, len(clf.classes_)) for m in clf.estimators_]
    np.testing.assert_allclose(clf.predict_proba(X), np.mean(members, axis=0), atol=1e-11)


def test_sparse_missing_and_checked_rows_are_smoothed_too(imbalanced, monkeypatch):
    X, y = imbalanced
    options = {"n_estimators": 3, "leaf_smoothing": 2, "random_state": 0}
    expected = tree_mesa(**options).fit(X, y).predict_proba(X)
    for table in (sparse.csr_matrix(X), sparse.csr_array(X)):
        proba = tree_mesa(**options).fit(table, y).predict_proba(table)
        np.testing.assert_allclose(proba, expected, atol=1e-11)
    holes = X.copy()
    holes[::7, 2] = np.nan
    assert tree_mesa(**options).fit(holes, y).predict_proba(holes).shape == (600, 2)
    monkeypatch.setattr("metasampler.growth._tree_adapter.TreeAdapter", LeafAdapter)
    checked = tree_mesa(**options).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(checked, expected)


@pytest.mark.parametrize("estimator", LEARNERS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_traversal_gives_the_plain_probabilities_to_the_last_bit(estimator, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    codes = rng.integers(0, n_classes, 200)
    width = () if n_classes == 2 else (n_classes,)
    for made in (
        make_adapters(estimator, [X], n_classes, leaf_smoothing=2.0).of(0),
        LeafAdapter(estimator, n_classes, leaf_smoothing=2.0),
    ):
        member = made.fit(X, codes, np.arange(100), 0)
        plain, smooth, scores = (np.zeros((200, *width)) for _ in range(3))
        made.add(member, X, [(slice(None), plain, 0.0), (slice(None), smooth, 2.0)])
        made.add_scores(member, X, scores)
        np.testing.assert_array_equal(plain, made.probabilities(member, X))
        np.testing.assert_array_equal(smooth, scores)
        full = by_hand(member, X, 2.0, n_classes)
        np.testing.assert_allclose(smooth, full[:, 1] if n_classes == 2 else full, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_chunks_and_threads_change_nothing(imbalanced, n_jobs, monkeypatch):
    X, y = imbalanced
    options = {"n_estimators": 10, "leaf_smoothing": 2, "random_state": 0}
    expected = tree_mesa(**options).fit(X, y)
    monkeypatch.setattr("metasampler.growth._adapters._CHUNK", 64)
    clf = tree_mesa(n_jobs=n_jobs, **options).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(clf.scores_, expected.scores_)


def test_without_held_out_rows(imbalanced):
    X, y = imbalanced
    clf = UnderBaggingClassifier(leaf_smoothing=2, random_state=0)
    proba = clf.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert len(np.unique(proba)) > 50


def test_stored_and_cloned(imbalanced):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=10, leaf_smoothing=2, random_state=0).fit(X, y)
    proba = clf.predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), proba)
    assert clone(clf).leaf_smoothing == 2
    # A fitted ensemble answers as it was fitted.
    clf.set_params(leaf_smoothing=0)
    np.testing.assert_array_equal(clf.predict_proba(X), proba)


def test_warm_start(imbalanced):
    X, y = imbalanced
    options = {"leaf_smoothing": 2, "refit": False, "random_state": 0}
    whole = tree_mesa(n_estimators=6, **options).fit(X, y)
    warm = tree_mesa(n_estimators=3, warm_start=True, **options).fit(X, y)
    warm.set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(whole.scores_, warm.scores_)
    np.testing.assert_array_equal(whole.predict_proba(X), warm.predict_proba(X))
    with pytest.raises(ValueError, match="leaf_smoothing was 2 and is now 1"):
        warm.set_params(leaf_smoothing=1).fit(X, y)


def test_a_sampler_trained_inside(imbalanced, short_sampler):
    X, y = imbalanced
    sampler = short_sampler()
    clf = tree_mesa(n_estimators=3, meta_sampler=sampler, leaf_smoothing=2, random_state=0)
    assert clf.fit(X, y).scores_.shape == (3,)


class Pruned(DecisionTreeClassifier):
    """A subclass, which may answer otherwise than by its leaves."""


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        AdaBoostClassifier(),
        make_pipeline(StandardScaler(), DecisionTreeClassifier()),
        Pruned(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_members_without_leaves(Ensemble, estimator):
    with pytest.raises(ValueError, match="leaf_smoothing=2 needs members with leaves"):
        # Before any work: not even the rows are looked at.
        Ensemble(estimator, leaf_smoothing=2).fit(None, None)
    assert Ensemble(estimator).leaf_smoothing == ("auto" if Ensemble is tree_mesa else 0)


def test_the_default_of_easy_ensemble_has_no_leaves(imbalanced):
    with pytest.raises(ValueError, match=r"leaf_smoothing.*AdaBoostClassifier"):
        EasyEnsembleClassifier(leaf_smoothing=1).fit(*imbalanced)


@pytest.mark.parametrize("bad", [-0.1, np.inf, np.nan, "2"])
def test_bad_values(imbalanced, bad):
    with pytest.raises(ValueError, match="leaf_smoothing"):
        tree_mesa(leaf_smoothing=bad).fit(*imbalanced)
