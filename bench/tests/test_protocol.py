import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metasampler_bench import split_rows
from metasampler_bench._protocol import N_FOLDS, fit_seed, n_folds_of, take_parts
from metasampler_bench.datasets import load


def make_labels(n_majority, n_minority, seed):
    return np.random.default_rng(seed).permutation(np.repeat([0, 1], [n_majority, n_minority]))


labels = st.builds(make_labels, st.integers(40, 300), st.integers(10, 40), st.integers(0, 99))


@settings(max_examples=25)
@given(y=labels, run=st.integers(0, 5), seed=st.integers(0, 3))
def test_sizes_are_60_20_20_in_every_class(y, run, seed):
    for fold in range(N_FOLDS):
        parts = split_rows(y, run, fold, seed)
        for label in (0, 1):
            counts = np.array([np.sum(y[rows] == label) for rows in parts])
            n = np.sum(y == label)
            assert counts.sum() == n
            # Two cuts, each of which rounds.
            assert np.all(np.abs(counts - n * np.array([0.6, 0.2, 0.2])) < 2)


def test_sizes_are_exact_where_they_can_be():
    y = np.repeat([0, 1], [100, 20])
    for fold in range(N_FOLDS):
        sizes = [np.bincount(y[rows]).tolist() for rows in split_rows(y, 0, fold)]
        assert sizes == [[60, 12], [20, 4], [20, 4]]


@settings(max_examples=25)
@given(y=labels, run=st.integers(0, 5), seed=st.integers(0, 3))
def test_folds_of_a_run_share_their_validation_rows_and_partition_the_rest(y, run, seed):
    folds = [split_rows(y, run, fold, seed) for fold in range(N_FOLDS)]
    valid = folds[0][1]
    for train, own_valid, test in folds:
        np.testing.assert_array_equal(own_valid, valid)
        # Every row in exactly one part.
        np.testing.assert_array_equal(
            np.sort(np.concatenate([train, valid, test])), np.arange(len(y))
        )
        for rows in (train, test):
            assert np.all(np.diff(rows) > 0)
    tested = np.concatenate([test for *_, test in folds])
    np.testing.assert_array_equal(
        np.sort(tested), np.setdiff1d(np.arange(len(y)), valid, assume_unique=True)
    )


def test_runs_are_different_and_can_be_repeated():
    y = make_labels(200, 40, 0)
    by_run = [split_rows(y, run, 0) for run in range(4)]
    for part in range(3):
        assert len({rows[part].tobytes() for rows in by_run}) == 4
    for run, parts in enumerate(by_run):
        for one, two in zip(parts, split_rows(y, run, 0), strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("fold", [-1, 4, 0.5])
def test_only_four_folds(fold):
    with pytest.raises(ValueError, match="fold must be 0 to 3"):
        split_rows(make_labels(80, 20, 0), 0, fold)


def test_seeds_of_fits_are_distinct():
    seeds = {fit_seed(run, fold) for run in range(10) for fold in range(N_FOLDS)}
    assert len(seeds) == 40


def test_parts_are_the_rows_that_the_split_names():
    data = load("digits-8")
    train, valid, test = split_rows(data.target, 2, 3, seed=1)
    parts = take_parts("digits-8", 2, 3, seed=1)
    for (X, y), rows in zip((parts[:2], parts[2:4], parts[4:]), (train, valid, test), strict=True):
        np.testing.assert_array_equal(X, data.data[rows])
        np.testing.assert_array_equal(y, data.target[rows])


@pytest.mark.parametrize("noise", [0.1, 0.4])
def test_noise_flips_training_labels_only_and_keeps_the_counts(noise):
    clean, noisy = take_parts("digits-8", 0, 1), take_parts("digits-8", 0, 1, noise=noise)
    for part in ("X_train", "X_valid", "y_valid", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(clean, part), getattr(noisy, part))
    n_minority = int(clean.y_train.sum())
    assert noisy.y_train.sum() == n_minority
    flipped = clean.y_train != noisy.y_train
    assert flipped.sum() == 2 * round(noise * n_minority)
    assert flipped[clean.y_train == 1].sum() == round(noise * n_minority)
    # Other folds and runs have other wrong labels.
    again = take_parts("digits-8", 0, 1, noise=noise)
    np.testing.assert_array_equal(noisy.y_train, again.y_train)


def test_noise_leaves_the_cached_data_alone():
    before = load("digits-8").target
    take_parts("digits-8", 0, 0, noise=0.4)
    parts = take_parts("digits-8", 0, 0)
    np.testing.assert_array_equal(parts.y_train, before[split_rows(before, 0, 0)[0]])


@pytest.mark.parametrize("fraction", [0.5, 0.1])
def test_a_fraction_keeps_the_shares_of_the_classes(fraction):
    whole, part = take_parts("arch-mid", 1, 2), take_parts("arch-mid", 1, 2, fraction=fraction)
    np.testing.assert_array_equal(whole.X_test, part.X_test)
    np.testing.assert_array_equal(whole.X_valid, part.X_valid)
    for label in (0, 1):
        wanted = fraction * np.sum(whole.y_train == label)
        assert abs(np.sum(part.y_train == label) - wanted) <= 1
    # Rows of the whole, none of them twice.
    kept = {row.tobytes() for row in part.X_train}
    assert len(kept) == len(part.X_train)
    assert kept <= {row.tobytes() for row in whole.X_train}


def test_noise_comes_after_the_fraction():
    parts = take_parts("arch-mid", 0, 0, fraction=0.5, noise=0.25)
    clean = take_parts("arch-mid", 0, 0, fraction=0.5)
    np.testing.assert_array_equal(parts.X_train, clean.X_train)
    assert np.sum(parts.y_train != clean.y_train) == 2 * round(0.25 * clean.y_train.sum())


def test_more_than_two_classes_are_refused():
    with pytest.raises(ValueError, match="'digits' has 10 classes; the benchmark is for two"):
        take_parts("digits", 0, 0)


def test_the_fixed_split_is_the_same_in_every_run(data_home):
    name = "mammography-authors"
    assert n_folds_of(name) == 1
    assert n_folds_of("mammography") == N_FOLDS
    first, second = (take_parts(name, run, 0, data_home=str(data_home)) for run in (0, 3))
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)
    assert [len(y) for y in first[1::2]] == [6709, 2237, 2237]
    whole = load("mammography", data_home=data_home, download=False)
    assert sum(int(y.sum()) for y in first[1::2]) == whole.target.sum() == 260
