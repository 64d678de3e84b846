"""Kinds of members that alternate, as the growth loop sees them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from metasampler.growth import (
    Adapter,
    Adapters,
    GaussianDraw,
    Growth,
    RandomStreams,
    estimators_of,
    make_adapters,
    make_growth_data,
    resolve_estimator,
    resolve_estimators,
    resolve_leaf_smoothing,
)
from metasampler.growth._base_estimators import unfitted_form
from metasampler.growth._tree_adapter import TreeAdapter

TREE, BAYES = DecisionTreeClassifier(), GaussianNB()


def start(X, y, estimator, *, leaf_smoothing=0.0, weights=None, **options):
    streams = RandomStreams(0)
    data = make_growth_data(
        X,
        y,
        sample_weight=weights,
        estimator=estimator,
        validation_fraction=0.3,
        sampling_ratio=1.0,
        scoring="average_precision",
        streams=streams,
    )
    adapter = make_adapters(estimator, data.tables, data.n_classes, leaf_smoothing=leaf_smoothing)
    return Growth(data, adapter, streams, **options)


@given(n_kinds=st.integers(1, 5), number=st.integers(0, 30))
def test_kinds_alternate(n_kinds, number):
    kinds = [DecisionTreeClassifier(max_depth=depth + 1) for depth in range(n_kinds)]
    adapter = make_adapters(kinds, [np.zeros((4, 2))], 2)
    assert type(adapter) is Adapters
    assert adapter.estimator == kinds
    assert adapter.of(number).estimator is kinds[number % n_kinds]


def test_one_base_estimator_is_that_of_all_members():
    adapter = make_adapters(BAYES, [np.zeros((4, 2))], 2)
    assert type(adapter.of(0)) is Adapter
    assert adapter.of(0) is adapter.of(7)
    assert adapter.estimator is BAYES


def test_trees_are_quick_where_all_kinds_are_trees():
    X = np.zeros((4, 2), dtype=np.float32)
    adapter = make_adapters([TREE, ExtraTreeClassifier()], [X], 2)
    assert [type(part) for part in adapter.adapters] == [TreeAdapter, TreeAdapter]
    assert adapter.fits_in_threads
    # Beside others nobody has looked for infinite numbers in the rows.
    adapter = make_adapters([TREE, BAYES], [X], 2)
    assert [type(part) for part in adapter.adapters] == [Adapter, Adapter]
    assert not adapter.fits_in_threads


def test_copies_have_the_same_settings():
    X = np.zeros((4, 2), dtype=np.float32)
    adapter = make_adapters([TREE, ExtraTreeClassifier()], [X], 2, 1, 2.0)
    for mine in adapter.adapters:
        other = mine.own_copy()
        assert mine is not other
        assert mine.estimator is other.estimator
        assert (other.n_jobs, other.leaf_smoothing) == (1, 2.0)


@pytest.mark.parametrize(
    ("kinds", "auto"),
    [
        ([TREE, BAYES], 1.0),
        ([BAYES, RandomForestClassifier()], 1.0),
        ([TREE, ExtraTreeClassifier()], 1.0),
        ([BAYES, KNeighborsClassifier()], 0.0),
    ],
)
def test_leaves_are_smoothed_where_a_kind_has_them(kinds, auto):
    assert resolve_leaf_smoothing("auto", kinds) == auto
    assert resolve_leaf_smoothing(0, kinds) == 0
    if auto:
        assert resolve_leaf_smoothing(2, kinds) == 2
    else:
        with pytest.raises(ValueError, match=r"leaf_smoothing=2 needs.*\[GaussianNB\(\), KNei"):
            resolve_leaf_smoothing(2, kinds)


def test_only_kinds_with_leaves_smooth():
    adapter = make_adapters([TREE, BAYES], [np.zeros((4, 2))], 2, leaf_smoothing=2.0)
    assert [part.leaf_smoothing for part in adapter.adapters] == [2.0, 0.0]
    assert adapter.leaf_smoothing == 2.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_members_without_leaves_add_the_same_to_both_sums(n_classes):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(90, 3)), np.arange(90) % n_classes
    adapter = make_adapters([TREE, BAYES], [X], n_classes, leaf_smoothing=1.0)
    member = adapter.of(1).fit(X, codes, None, 0)
    total, smooth, scores = np.zeros((3, 90) if n_classes == 2 else (3, 90, n_classes))
    adapter.of(1).add(member, X, [(slice(None), total, 0.0), (slice(None), smooth, 1.0)])
    adapter.of(1).add_scores(member, X, scores)
    proba = member.predict_proba(X)
    for added in (total, smooth, scores):
        np.testing.assert_array_equal(added, proba[:, 1] if n_classes == 2 else proba)


@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
@pytest.mark.parametrize("smoothing", [0.0, 2.0])
def test_errors_and_scores_are_those_of_the_members(data, smoothing, request):
    X, y = request.getfixturevalue(data)
    growth = start(X, y, [TREE, BAYES], leaf_smoothing=smoothing)
    growth.step()
    for mu in (0.3, 0.9, 0.5):
        growth.step(GaussianDraw(mu))
    assert [type(member) for member in growth.members] == [type(TREE), type(BAYES)] * 2
    codes = growth.data.codes
    # Draws and states look at plain leaves.
    proba = np.mean([member.predict_proba(X) for member in growth.members], axis=0)
    errors = 1 - proba[np.arange(len(y)), codes]
    for role, rows in growth.data.rows.items():
        np.testing.assert_allclose(growth.errors(role), errors[rows], atol=1e-12)
    if smoothing:
        soft = []
        for member in growth.members:
            plain = member.predict_proba(X)
            if isinstance(member, DecisionTreeClassifier):
                sizes = member.tree_.weighted_n_node_samples[member.apply(X)][:, np.newaxis]
                n_classes = plain.shape[1]
                plain = (plain * sizes + smoothing) / (sizes + smoothing * n_classes)
            soft.append(plain)
        proba = np.mean(soft, axis=0)
    valid = growth.data.rows["valid"]
    np.testing.assert_allclose(growth.proba("valid"), proba[valid], atol=1e-11)


@pytest.mark.filterwarnings("ignore:The fit of:UserWarning")
def test_only_kinds_that_take_weights_get_them(imbalanced):
    X, y = imbalanced
    seen = []

    class Noting(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append("no weights")
            return super().fit(X, y)

    class Weighing(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append("none" if sample_weight is None else "weights")
            return super().fit(X, y, sample_weight)

    weights = np.where(y == 1, 3.0, 1.0)
    with pytest.warns(UserWarning, match="Noting.* takes no sample_weight"):
        growth = start(X, y, [Weighing(), Noting(), Weighing()], weights=weights)
    for _ in range(5):
        growth.step()
    assert seen == ["weights", "no weights", "weights", "weights", "no weights"]
    # Three of five members saw the rare class three times as heavy, the others did not.
    np.testing.assert_allclose(growth.sampled_shares(), 0.6 * np.array([0.25, 0.75]) + 0.4 * 0.5)


@settings(max_examples=20)
@given(weighted=st.booleans(), n_members=st.integers(1, 9))
def test_shares_of_kinds_that_all_take_weights_are_exact(imbalanced, weighted, n_members):
    X, y = imbalanced
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    growth = start(X, y, [TREE, BAYES], weights=weights)
    for _ in range(n_members):
        growth.step()
    subset, data = growth.samples[0], growth.data
    totals = np.bincount(data.codes[subset], data.weights_in_member(subset))
    np.testing.assert_array_equal(growth.sampled_shares(), totals / totals.sum())


def test_tables_are_converted_only_where_all_kinds_are_trees():
    X = np.arange(8.0).reshape(4, 2)
    assert unfitted_form([TREE, ExtraTreeClassifier()]).fit(X)(X).dtype == np.float32
    assert unfitted_form([TREE, BAYES]).fit(X)(X) is X
    X[0, 0] = np.nan
    assert np.isnan(unfitted_form([TREE, ExtraTreeClassifier()]).fit(X)(X)[0, 0])


def test_kinds():
    tree, bayes = DecisionTreeClassifier(), GaussianNB()
    given_kinds = [tree, bayes]
    resolved = resolve_estimators(given_kinds)
    assert resolved == given_kinds
    assert resolved is not given_kinds
    assert estimators_of(resolved) == given_kinds
    assert resolve_estimators(tree) is resolve_estimator(tree) is tree
    assert estimators_of(tree) == [tree]
    assert type(resolve_estimators(None)) is type(resolve_estimator(None)) is DecisionTreeClassifier


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        ([], ValueError, r"estimator=\[\] is an empty list; .* at least one classifier"),
        ([BAYES, SVC()], TypeError, r"estimator\[1\]=SVC\(\) must have fit and predict_proba"),
        ([None], TypeError, r"estimator\[0\]=None must have fit and predict_proba"),
        ([BAYES, [TREE]], TypeError, r"estimator\[1\]=\[Dec.*\] must have fit and predict_proba"),
        ([GaussianNB], TypeError, r"estimator\[0\] must be an instance, got the class Gauss"),
        ((TREE, BAYES), TypeError, r"estimator=\(Dec.* or a list of them; got a tuple"),
        (SVC(), TypeError, r"estimator=SVC\(\) must have fit and predict_proba"),
    ],
    ids=repr,
)
def test_kinds_that_cannot_be_members(estimator, error, words):
    with pytest.raises(error, match=words):
        resolve_estimators(estimator)


@pytest.mark.parametrize("estimator", [[TREE], [], (TREE, BAYES)], ids=repr)
def test_a_list_where_one_is_needed(estimator):
    with pytest.raises(TypeError, match=r"^estimator=[\[(].*must be one classifier"):
        resolve_estimator(estimator)
