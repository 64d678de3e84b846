"""The rows an ensemble grows on, their draws, and the same task with other rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metasampler.growth import RandomStreams, Stream
from metasampler.growth._draw import hold_out_rows


@settings(max_examples=50)
@given(
    sizes=st.lists(st.integers(2, 40), min_size=2, max_size=4),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 1000),
)
def test_held_out_rows_leave_every_class_on_both_sides(sizes, fraction, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    class_rows = [np.flatnonzero(codes == k) for k in range(len(sizes))]
    valid = hold_out_rows(class_rows, fraction, RandomStreams(seed))
    np.testing.assert_array_equal(valid, np.unique(valid))
    for k, size in enumerate(sizes):
        held_out = np.sum(codes[valid] == k)
        assert held_out == min(max(1, round(fraction * size)), size - 1)


def test_training_rows_are_those_that_are_not_held_out(imbalanced, make):
    data = make.data(*imbalanced)
    np.testing.assert_array_equal(np.flatnonzero(~data.rows["train"]), data.rows["valid"])


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
    data = data._with(folds=np.arange(len(data.codes)) % 3, table_maker=np.abs)
    assert all(value is not None for value in data._arguments.values())
    return data


def test_one_constructor_keeps_every_field(with_every_field):
    data = with_every_field
    fields = list(data._arguments)
    assert len(fields) == 14
    twin = data._with()
    assert type(twin) is type(data)
    for name in fields:
        assert getattr(twin, name) is getattr(data, name), name
    for name, value in {"minority": 0, "sampling_ratio": 0.5, "scoring": "f1"}.items():
        changed = data._with(**{name: value})
        kept = [other for other in fields if other != name]
        assert all(getattr(changed, other) is getattr(data, other) for other in kept)
        assert getattr(changed, name) == value != getattr(data, name)


@pytest.mark.parametrize("copied", ["thinned", "whole", "holding_out"])
def test_copies_are_of_the_same_task(with_every_field, copied):
    data = with_every_field
    twin = {
        "thinned": lambda: data.thinned(0.3, RandomStreams(1)),
        "whole": data.whole,
        "holding_out": lambda: data.whole().holding_out(np.arange(0, 300, 3)),
    }[copied]()
    for name in ("classes", "minority", "sampling_ratio", "scoring", "form", "table_maker"):
        assert getattr(twin, name) is getattr(data, name)
    # Rows that are in all members, or in none, are not left out in rotation.
    assert (twin.folds is None) == (copied != "thinned")
    assert copied != "thinned" or len(twin.folds) == len(twin.codes)
    assert len(twin.codes) == len(twin.weights) == sum(len(table) for table in twin.tables)
    # A row is where its class and its weight are.
    keys = [dict(zip(map(bytes, d.tables[0]), d.codes, strict=False)) for d in (data, twin)]
    assert keys[1].items() <= keys[0].items()
    keys = [dict(zip(map(bytes, d.tables[0]), d.weights, strict=False)) for d in (data, twin)]
    assert keys[1].items() <= keys[0].items()


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


def test_holding_out_takes_these_rows_aside(imbalanced, make):
    rows = np.arange(0, 600, 5)
    held = make.data(*imbalanced).whole().holding_out(rows)
    np.testing.assert_array_equal(held.rows["valid"], rows)
    np.testing.assert_array_equal(np.flatnonzero(~held.rows["train"]), rows)
    assert held.has_validation
    assert not held.validation_is_apart


def test_parts_of_training_share_out_every_class(three_classes, make):
    data = make.data(*three_classes)
    parts = data.parts_of_training(4, RandomStreams(0))
    assert len(parts) == 4
    np.testing.assert_array_equal(
        np.sort(np.concatenate(parts)), np.sort(np.concatenate(data.class_rows))
    )
    for part in parts:
        counts = np.bincount(data.codes[part])
        for k, rows in enumerate(data.class_rows):
            assert len(rows) // 4 <= counts[k] <= -(-len(rows) // 4)


def test_parts_do_not_depend_on_other_classes(imbalanced, make):
    # A row's part is decided by its own random number and those of its class.
    X, y = imbalanced
    rare = np.flatnonzero(y == 1)
    two = make.data(X, y, validation_fraction=None)
    three = make.data(X, np.where((y == 0) & (X[:, 0] > 0), 2, y), validation_fraction=None)
    ours, others = (data.parts_of_training(4, RandomStreams(0)) for data in (two, three))
    for mine, other in zip(ours, others, strict=True):
        np.testing.assert_array_equal(np.intersect1d(mine, rare), np.intersect1d(other, rare))
