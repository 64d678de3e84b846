"""Folds of groups: no group is cut, classes are spread evenly, and order does not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold

from metasampler.growth._groups import (
    GroupCounts,
    count_groups,
    folds_of_groups,
    folds_of_rows,
    group_keys,
)

KEY = np.array([1, 2], dtype=np.uint64)


def folds_of(groups, codes, n_folds, n_parts=1):
    """Return the fold of each row, by counts that are merged over parts of the rows."""
    keys, n_classes = group_keys(groups), int(codes.max()) + 1
    parts = np.array_split(np.arange(len(codes)), n_parts)
    counts = GroupCounts.joined([count_groups(keys[p], codes[p], n_classes) for p in parts])
    return folds_of_rows(counts, folds_of_groups(counts, n_folds, KEY), keys)


@st.composite
def tables(draw):
    n_rows = draw(st.integers(4, 120))
    groups = np.array(draw(st.lists(st.integers(0, 30), min_size=n_rows, max_size=n_rows)))
    codes = np.array(draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows)))
    # Each class is in two groups.
    groups[:4], codes[:4] = [90, 91, 92, 93], [0, 0, 1, 1]
    return groups, codes


@given(table=tables(), n_folds=st.integers(2, 6), n_parts=st.integers(1, 4), seed=st.integers(0, 9))
def test_no_group_is_cut_and_order_does_not_matter(table, n_folds, n_parts, seed):
    groups, codes = table
    folds = folds_of(groups, codes, n_folds)
    for group in np.unique(groups):
        assert len(np.unique(folds[groups == group])) == 1
    order = np.random.default_rng(seed).permutation(len(codes))
    np.testing.assert_array_equal(
        folds_of(groups[order], codes[order], n_folds, n_parts), folds[order]
    )
    # Each class stays when a fold is left out, and each is in some fold.
    for k in (0, 1):
        assert len(np.unique(folds[codes == k])) >= 2


@given(table=tables(), n_folds=st.integers(2, 6))
def test_folds_are_not_empty(table, n_folds):
    groups, codes = table
    folds = folds_of(groups, codes, n_folds)
    n_made = min(n_folds, *(len(np.unique(groups[codes == k])) for k in (0, 1)))
    np.testing.assert_array_equal(np.unique(folds), np.arange(n_made))


def uneven(folds, codes):
    """Return the spread of each class's shares over the folds."""
    shares = [np.bincount(folds[codes == k], minlength=folds.max() + 1) for k in (0, 1)]
    return max(np.std(each / each.sum()) for each in shares)


@pytest.mark.parametrize("sizes", ["equal", "skewed", "huge"])
def test_classes_are_spread_as_evenly_as_by_scikit_learn(sizes):
    rng = np.random.default_rng(0)
    if sizes == "equal":
        groups = np.repeat(np.arange(300), 8)
    elif sizes == "skewed":
        groups = np.repeat(np.arange(300), rng.geometric(0.1, 300))
    else:
        groups = np.repeat(np.arange(40), rng.geometric(0.005, 40))
    risk = rng.beta(0.3, 3, groups.max() + 1)
    codes = (rng.random(len(groups)) < risk[groups]).astype(int)
    ours = uneven(folds_of(groups, codes, 10), codes)
    folds = np.empty(len(codes), dtype=int)
    splits = StratifiedGroupKFold(10).split(codes, codes, groups)
    for number, (_, test) in enumerate(splits):
        folds[test] = number
    assert ours <= uneven(folds, codes) + 0.01


def test_many_groups_are_quick():
    import time

    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(200_000), rng.integers(1, 5, 200_000))
    codes = (rng.random(len(groups)) < 0.05).astype(int)
    keys = group_keys(groups)
    start = time.process_time()
    counts = count_groups(keys, codes, 2)
    folds = folds_of_rows(counts, folds_of_groups(counts, 10, KEY), keys)
    assert time.process_time() - start < 3
    assert uneven(folds, codes) < 0.001


def test_a_key_follows_from_the_value_alone():
    numbers = np.array([3, 1, 2, 3])
    keys = group_keys(numbers)
    for same in (numbers.astype(float), numbers.astype(object), numbers.astype(str), [3, 1, 2, 3]):
        np.testing.assert_array_equal(group_keys(same), keys)
    assert len(np.unique(group_keys(np.array(["a", None, "b", 1.5], dtype=object)))) == 4


def test_another_key_gives_other_folds():
    groups, codes = np.repeat(np.arange(100), 3), np.tile([0, 0, 1], 100)
    counts = count_groups(group_keys(groups), codes, 2)
    one, other = (folds_of_groups(counts, 5, KEY, number) for number in (0, 1))
    assert np.mean(one == other) < 0.5
