import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from metasampler.growth import Growth, RandomStreams, Stream, grow_by_policy
from metasampler.growth._data import split_rows
from metasampler.growth._learner import make_learner
from metasampler.growth._validation import make_growth_data
from metasampler.meta import StateEncoder


def make_data(X, y, *args, seed=0, **options):
    options = {
        "validation_fraction": 0.2,
        "sampling_ratio": 1.0,
        "scoring": "average_precision",
        **options,
    }
    return make_growth_data(
        X, y, *args, estimator=DecisionTreeClassifier(), streams=RandomStreams(seed), **options
    )


def make_growth(data, seed=0, **options):
    learner = make_learner(DecisionTreeClassifier(), data.tables, data.n_classes)
    return Growth(data, learner, RandomStreams(seed), **options)


@settings(max_examples=50)
@given(
    sizes=st.lists(st.integers(2, 40), min_size=2, max_size=4),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 1000),
)
def test_split_leaves_every_class_on_both_sides(sizes, fraction, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    train, valid = split_rows(codes, len(sizes), fraction, RandomStreams(seed))
    np.testing.assert_array_equal(np.flatnonzero(~train), valid)
    for k, size in enumerate(sizes):
        held_out = np.sum(codes[valid] == k)
        assert held_out == min(max(1, round(fraction * size)), size - 1)


@settings(max_examples=50)
@given(
    sizes=st.lists(st.integers(2, 60), min_size=2, max_size=4),
    ratio=st.floats(0.2, 1.0),
    seed=st.integers(0, 1000),
)
def test_draw_is_balanced(sizes, ratio, seed):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    X = np.zeros((len(codes), 1))
    data = make_data(X, codes, sampling_ratio=ratio, validation_fraction=None)
    key = RandomStreams(seed).row_key(Stream.DRAW)
    subset = data.draw(key, 0)
    assert len(np.unique(subset)) == len(subset)
    smallest = min(sizes)
    asked = max(1, round(ratio * smallest))
    for k, size in enumerate(sizes):
        drawn = np.sum(codes[subset] == k)
        assert drawn == (size if k == data.minority else min(size, asked))


def test_minority_is_found_by_count(three_classes):
    data = make_data(*three_classes)
    assert data.classes[data.minority] == "one"


def test_minority_is_counted_before_the_split():
    # 12 and 13 rows: after the split there are ten of each.
    y = np.array(["fewer"] * 12 + ["more"] * 13)
    data = make_data(np.arange(25.0).reshape(-1, 1), y)
    assert data.classes[data.minority] == "fewer"


def test_errors_and_scores_are_those_of_the_members(imbalanced):
    X, y = imbalanced
    data = make_data(X, y)
    growth = make_growth(data)
    growth.grow()
    for mu in (0.3, 0.9):
        growth.grow_at(mu, 0.2)
    proba = np.mean([member.predict_proba(X) for member in growth.members], axis=0)
    errors = 1 - proba[np.arange(len(y)), y]
    for role in ("train", "valid"):
        rows = data.rows[role]
        np.testing.assert_allclose(growth.errors(role), errors[rows], atol=1e-12)
        expected = average_precision_score(y[rows], proba[rows, 1])
        assert growth.score(role) == pytest.approx(expected, abs=1e-12)
    minority = growth.errors("train", "minority")
    majority = growth.errors("train", "majority")
    assert len(minority) + len(majority) == len(growth.errors("train"))
    assert minority.sum() + majority.sum() == pytest.approx(growth.errors("train").sum())


def test_errors_of_many_classes(three_classes):
    X, y = three_classes
    data = make_data(X, y)
    growth = make_growth(data)
    growth.grow()
    growth.grow_at(0.8, 0.2)
    proba = np.mean([member.predict_proba(X) for member in growth.members], axis=0)
    expected = 1 - proba[np.arange(len(y)), data.codes]
    np.testing.assert_allclose(growth.errors_of(np.arange(len(y))), expected, atol=1e-12)


def test_draws_favour_rows_whose_error_is_near_mu(imbalanced):
    X, y = imbalanced
    data = make_data(X, y)
    mean_error = {}
    for mu in (0.0, 1.0):
        growth = make_growth(data)
        for _ in range(4):
            growth.grow()
        before = growth.errors_of(np.arange(len(y)))
        growth.grow_at(mu, 0.2)
        drawn = growth.subsets[-1]
        mean_error[mu] = before[drawn[y[drawn] == 0]].mean()
    assert mean_error[0.0] < 0.1 < mean_error[1.0]


def test_no_member_sees_a_validation_row(imbalanced):
    data = make_data(*imbalanced)
    growth = make_growth(data)
    list(grow_by_policy(growth, 6, StateEncoder(), lambda state, k: 0.9, 0.2))
    drawn = np.concatenate(growth.subsets)
    assert data.rows["train"][drawn].all()
    assert not np.isin(drawn, data.rows["valid"]).any()


def test_loop_feeds_states_to_the_policy(imbalanced):
    growth = make_growth(make_data(*imbalanced))
    seen = []

    def choose(state, n_members):
        seen.append((state, n_members))
        return 0.5

    steps = list(grow_by_policy(growth, 4, StateEncoder(n_bins=3), choose, 0.2))
    assert [step.mu for step in steps] == [None, 0.5, 0.5, 0.5]
    assert [n for _, n in seen] == [1, 2, 3]
    for step, (state, _) in zip(steps[1:], seen, strict=True):
        np.testing.assert_array_equal(step.state, state)
        np.testing.assert_allclose(step.state.reshape(2, 3).sum(axis=1), 1)


def test_thinned_data_keeps_classes_and_validation(imbalanced):
    X, y = imbalanced
    data = make_data(X, y)
    thin = data.thinned(0.25, RandomStreams(0))
    for k in range(2):
        assert len(thin.class_rows[k]) == round(0.25 * len(data.class_rows[k]))
    valid, thin_valid = data.rows["valid"], thin.rows["valid"]
    np.testing.assert_array_equal(data.tables[0][valid], thin.tables[0][thin_valid])
    np.testing.assert_array_equal(data.codes[valid], thin.codes[thin_valid])
    assert np.isin(thin.tables[0][thin.rows["train"]], data.tables[0][data.rows["train"]]).all()


def test_thinned_data_with_validation_rows_of_their_own(imbalanced):
    X, y = imbalanced
    thin = make_data(X, y, X[:50], y[:50]).thinned(0.1, RandomStreams(0))
    assert thin.tables[0].shape[0] == len(thin.codes[thin.rows["train"]])
    np.testing.assert_array_equal(thin.codes[thin.rows["valid"]], y[:50])


def test_test_rows_beside_a_hold_out(imbalanced):
    X, y = imbalanced
    data = make_data(X[:400], y[:400], None, None, X[400:], y[400:])
    growth = make_growth(data)
    growth.grow()
    assert len(growth.errors("train")) + len(growth.errors("valid")) == 400
    proba = growth.members[0].predict_proba(X[400:])[:, 1]
    assert growth.score("test") == pytest.approx(average_precision_score(y[400:], proba))


def test_no_scoring_where_nobody_asks(imbalanced):
    growth = make_growth(make_data(*imbalanced, validation_fraction=None), track=False)
    growth.grow()
    assert growth.n_members == 1
    assert not growth._total.any()


def test_streams_are_independent_and_named():
    streams = RandomStreams(3)
    again = RandomStreams(3)
    assert streams.integer(Stream.MEMBER, 1) == again.integer(Stream.MEMBER, 1)
    assert streams.integer(Stream.MEMBER, 1) != streams.integer(Stream.MEMBER, 2)
    assert streams.integer(Stream.MEMBER, 1) != streams.integer(Stream.POLICY, 1)
    child = streams.child(Stream.EPISODE, 0)
    assert child.integer(Stream.MEMBER, 1) != streams.integer(Stream.MEMBER, 1)
    assert len({int(member) for member in Stream}) == len(Stream)
