import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metasampler_bench.datasets import flip_labels


@given(
    n_rare=st.integers(1, 60),
    n_more=st.integers(1, 60),
    ratio=st.floats(0, 1, exclude_max=True),
    labels=st.sampled_from([(0, 1), (1, -1), ("b", "a"), (2.0, 7.0), (False, True)]),
    seed=st.integers(0, 1000),
)
def test_counts_stay_and_the_number_of_flips_is_exact(n_rare, n_more, ratio, labels, seed):
    common, rare = labels
    y = np.repeat([common, rare], [n_rare + n_more, n_rare])
    np.random.default_rng(seed).shuffle(y)
    before = y.copy()
    noisy = flip_labels(y, ratio, random_state=seed)
    assert noisy.dtype == y.dtype
    assert np.sum(noisy == rare) == n_rare
    assert np.sum(noisy == common) == n_rare + n_more
    assert np.sum((y == rare) & (noisy == common)) == round(ratio * n_rare)
    assert np.sum((y == common) & (noisy == rare)) == round(ratio * n_rare)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(noisy, flip_labels(y, ratio, random_state=seed))


def test_the_seed_decides_which_rows():
    y = np.repeat([0, 1], [500, 100])
    assert not np.array_equal(
        flip_labels(y, 0.5, random_state=0), flip_labels(y, 0.5, random_state=1)
    )


def test_a_column_of_strings_is_taken():
    noisy = flip_labels(pd.Series(["no"] * 30 + ["yes"] * 10), 0.5, random_state=0)
    assert np.sum(noisy == "yes") == 10
    assert np.sum(noisy[:30] == "yes") == 5


@pytest.mark.parametrize("ratio", [-0.1, 1, 1.5, np.nan, "0.1", None])
def test_impossible_ratio_is_refused(ratio):
    with pytest.raises(ValueError, match="ratio must be at least 0"):
        flip_labels([0, 0, 1], ratio)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2], "two classes, got 3"),
        ([1, 1], "two classes, got 1"),
        ([], "at least one row"),
        ([[0, 1], [1, 0]], "one label per row"),
        ([0.0, 1.0, np.nan], "no label in 1 of 3 rows"),
    ],
)
def test_other_targets_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        flip_labels(y, 0.1)
