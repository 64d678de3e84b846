"""The rows an ensemble grows on, their draws, and the same task with other rows."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metasampler.growth import RandomStreams, Stream, find_minority, group_keys


@settings(max_examples=50)
@given(
    sizes=st.lists(st.integers(2, 40), min_size=2, max_size=4),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 1000),
)
def test_held_out_rows_leave_every_class_on_both_sides(make, sizes, fraction, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = np.zeros((len(codes), 1))
    valid = make.data(X, codes, validation_fraction=fraction, seed=seed).rows["valid"]
    np.testing.assert_array_equal(valid, np.unique(valid))
    for k, size in enumerate(sizes):
        held_out = np.sum(codes[valid] == k)
        assert held_out == min(max(1, round(fraction * size)), size - 1)


def test_training_rows_are_those_that_are_not_held_out(imbalanced, make):
    data = make.data(*imbalanced)
    rows = np.concatenate([data.rows["train"], data.rows["valid"]])
    np.testing.assert_array_equal(np.sort(rows), np.arange(data.n_rows))


@settings(max_examples=50)
@given(
    sizes=st.lists(st.integers(2, 60), min_size=2, max_size=4),
    ratio=st.floats(0.2, 1.0),
    seed=st.integers(0, 1000),
)
def test_draw_is_balanced(make, sizes, ratio, seed):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    X = np.zeros((len(codes), 1))
    data = make.data(X, codes, sampling_ratio=ratio, validation_fraction=None)
    subset = data.draw(RandomStreams(seed).row_key(Stream.DRAW), 0)
    assert len(np.unique(subset)) == len(subset)
    asked = max(1, round(ratio * min(sizes)))
    for k, size in enumerate(sizes):
        drawn = np.sum(codes[subset] == k)
        assert drawn == (size if k == data.minority else min(size, asked))


def test_minority_is_found_by_count(three_classes, make):
    data = make.data(*three_classes)
    assert data.classes[data.minority] == "one"


def test_minority_is_counted_before_the_split(make):
    # 12 and 13 rows: after the split there are ten of each.
    y = np.array(["fewer"] * 12 + ["more"] * 13)
    data = make.data(np.arange(25.0).reshape(-1, 1), y)
    assert data.classes[data.minority] == "fewer"


# --------------------------------------------------------------------------- other rows, same task


@pytest.fixture
def with_every_field(imbalanced, make):
    """Rows of which no field has its default: some of weight zero, and their own test rows."""
    X, y = imbalanced
    weights = np.arange(500) % 4 * 0.5
    options = {
        "sampling_ratio": 0.7,
        "scoring": "roc_auc",
        "sample_weight": weights,
        "max_rows": 1000,
    }
    data = make.data(X[:500], y[:500], None, None, X[500:], y[500:], **options)
    changes = {"table_maker": np.abs, "class_factors": np.array([1.0, 2.0])}
    groups = group_keys(np.arange(data.n_first) // 5)
    data = replace(data, folds=np.arange(data.n_first) % 3, groups=groups, **changes)
    assert [field.name for field in fields(data) if getattr(data, field.name) is None] == []
    return data


@pytest.mark.parametrize("copied", ["thinned", "whole", "held out in turn"])
def test_copies_are_of_the_same_task(with_every_field, copied):
    data = with_every_field
    twin = {
        "thinned": lambda: data.thinned(0.3, RandomStreams(1)),
        "whole": data.whole,
        "held out in turn": lambda: next(data.held_out_in_turn(4, RandomStreams(1))),
    }[copied]()
    names = (
        "classes",
        "minority",
        "sampling_ratio",
        "scoring",
        "form",
        "table_maker",
        "max_rows",
        "class_factors",
    )
    for name in names:
        assert getattr(twin, name) is getattr(data, name)
    # Rows that are in all members, or in none, are not left out in rotation.
    assert (twin.folds is None) == (copied != "thinned")
    assert copied != "thinned" or len(twin.folds) == twin.n_first
    assert len(twin.codes) == len(twin.weights) == sum(len(table) for table in twin.tables)
    # A row is where its class and its weight are.
    keys = [dict(zip(map(bytes, d.tables[0]), d.codes, strict=False)) for d in (data, twin)]
    assert keys[1].items() <= keys[0].items()
    keys = [dict(zip(map(bytes, d.tables[0]), d.weights, strict=False)) for d in (data, twin)]
    assert keys[1].items() <= keys[0].items()
    # And its group.
    keys = [dict(zip(map(bytes, d.tables[0]), d.groups, strict=True)) for d in (data, twin)]
    assert keys[1].items() <= keys[0].items()
    if copied == "held out in turn":
        held_out = np.isin(np.arange(twin.n_first), twin.rows["valid"])
        assert not np.isin(twin.groups[held_out], twin.groups[~held_out]).any()


@settings(max_examples=100)
@given(
    n_rare=st.integers(4, 30),
    more=st.integers(0, 4),
    n_other=st.sampled_from([None, 0, 25]),
    ratio=st.floats(0.05, 0.99),
    rare=st.sampled_from([0, 1]),
    seed=st.integers(0, 1000),
)
def test_a_part_of_the_rows_swaps_no_classes(make, n_rare, more, n_other, ratio, rare, seed):
    """Of nearly balanced classes a part can hold as many, or more, of the smallest."""
    sizes = [n_rare + more, n_rare + more]
    sizes[rare] = n_rare
    if n_other is not None:
        sizes.append(n_rare + more + n_other)
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    data = make.data(np.arange(float(len(codes))).reshape(-1, 1), codes, seed=seed)
    assert len(data.class_rows[data.minority]) <= min(len(rows) for rows in data.class_rows) + 1
    thin = data.thinned(ratio, RandomStreams(seed))
    assert thin.minority == data.minority == (rare if more else data.minority)
    for k in range(len(sizes)):
        expected = max(1, round(ratio * len(data.class_rows[k])))
        assert len(thin.class_rows[k]) == expected
    subset = thin.draw(RandomStreams(seed).row_key(Stream.DRAW), 0)
    assert np.isin(thin.class_rows[data.minority], subset).all()


def test_thinned_rows_keep_classes_and_validation(imbalanced, make):
    data = make.data(*imbalanced)
    thin = data.thinned(0.25, RandomStreams(0))
    for k in range(2):
        assert len(thin.class_rows[k]) == round(0.25 * len(data.class_rows[k]))
    valid, thin_valid = data.rows["valid"], thin.rows["valid"]
    np.testing.assert_array_equal(data.tables[0][valid], thin.tables[0][thin_valid])
    np.testing.assert_array_equal(data.codes[valid], thin.codes[thin_valid])
    assert np.isin(thin.tables[0][thin.rows["train"]], data.tables[0][data.rows["train"]]).all()


def test_thinned_rows_with_validation_rows_of_their_own(imbalanced, make):
    X, y = imbalanced
    thin = make.data(X, y, X[:50], y[:50]).thinned(0.1, RandomStreams(0))
    assert thin.tables[0].shape[0] == len(thin.codes[thin.rows["train"]])
    np.testing.assert_array_equal(thin.codes[thin.rows["valid"]], y[:50])


@pytest.mark.parametrize("own", [False, True], ids=["held out", "own rows"])
def test_whole_has_all_rows_and_their_numbers(imbalanced, make, own):
    X, y = imbalanced
    given_rows = (X[:400], y[:400], X[400:], y[400:]) if own else (X, y)
    data = make.data(*given_rows)
    assert data.validation_is_apart == own
    whole = data.whole()
    assert not whole.has_validation
    np.testing.assert_array_equal(whole.tables[0], X.astype(np.float32))
    np.testing.assert_array_equal(whole.codes[whole.rows["train"]], y)


@pytest.mark.parametrize("own", [False, True], ids=["held out", "own rows"])
def test_rows_are_held_out_in_turn(three_classes, make, own):
    X, y = three_classes
    given_rows = (X[::2], y[::2], X[1::2], y[1::2]) if own else (X, y)
    data = make.data(*given_rows)
    turns = list(data.held_out_in_turn(4, RandomStreams(0)))
    assert len(turns) == 4
    parts = [turn.rows["valid"] for turn in turns]
    # Validation rows are held out in none of them.
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), data.rows["train"])
    for turn, part in zip(turns, parts, strict=True):
        assert turn.has_validation
        assert not turn.validation_is_apart
        others = np.setdiff1d(np.arange(len(y)), part)
        np.testing.assert_array_equal(turn.rows["train"], others)
        counts = np.bincount(data.codes[part])
        for k, rows in enumerate(data.class_rows):
            assert len(rows) // 4 <= counts[k] <= -(-len(rows) // 4)


def test_turns_do_not_depend_on_other_classes(imbalanced, make):
    # A row's turn is decided by its own random number and those of its class.
    X, y = imbalanced
    rare = np.flatnonzero(y == 1)
    two = make.data(X, y, validation_fraction=None)
    three = make.data(X, np.where((y == 0) & (X[:, 0] > 0), 2, y), validation_fraction=None)
    ours, others = (data.held_out_in_turn(4, RandomStreams(0)) for data in (two, three))
    for mine, other in zip(ours, others, strict=True):
        held_out = (np.intersect1d(turn.rows["valid"], rare) for turn in (mine, other))
        np.testing.assert_array_equal(*held_out)


# --------------------------------------------------------------------------- evaluation rows


@pytest.mark.parametrize("weighted", [False, True])
def test_sampled_evaluation_rows_stand_for_all(imbalanced, make, weighted, monkeypatch):
    """Scores, states and errors by a sample are unbiased: each row counts for those left out."""
    for module in ("_data", "_memory"):
        monkeypatch.setattr(f"metasampler.growth.{module}.MAX_EVALUATION_ROWS", 60)
    X, y = imbalanced
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    data = make.data(X, y, sample_weight=weights)
    for role in ("train", "valid"):
        rows, counts = data.evaluation_rows(role), data.role_counts(role)
        n_sampled = np.bincount(rows.codes)
        np.testing.assert_array_equal(n_sampled, np.minimum(counts, 60))
        if counts.max() <= 60:
            assert rows.scales is None
            continue
        np.testing.assert_allclose(rows.scales * n_sampled, counts)
        own = np.ones(len(rows.rows)) if weights is None else data.weights[rows.rows]
        np.testing.assert_allclose(rows.weights, own * (counts / n_sampled)[rows.codes])
    assert data.evaluation_rows("train").scales is not None


def test_sampled_evaluation_rows_give_the_class_ratio_of_all(imbalanced, make, monkeypatch):
    for module in ("_data", "_memory"):
        monkeypatch.setattr(f"metasampler.growth.{module}.MAX_EVALUATION_ROWS", 60)
    growth = make.growth(make.data(*imbalanced))
    growth.step()
    codes, weights = growth.data.evaluation_rows("train").codes, growth.weights("train")
    shares = np.bincount(codes, weights) / weights.sum()
    np.testing.assert_allclose(shares, growth.data.counts / growth.data.counts.sum())


def test_the_last_of_equally_small_classes_is_the_minority():
    assert find_minority(np.array([0, 1]), np.array([5, 5])) == 1
    assert find_minority(np.array(["a", "b", "c", "d"]), np.array([2, 9, 2, 5])) == 2
