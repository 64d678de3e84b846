"""Target statistics: those of scikit-learn, without the row's own fold, the same by parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import TargetEncoder

from metasampler.tables import TargetStatistics, count_classes

N, LEVELS, FOLDS = 500, 12, 5


def make_rows(seed, n_classes=2):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, LEVELS + 1, N).astype(float)
    codes[rng.random(N) < 0.1] = np.nan
    return codes, rng.integers(0, n_classes, N), rng.integers(0, FOLDS, N)


@pytest.mark.parametrize("smoothing", [0.5, 20.0])
def test_they_are_those_of_scikit_learn(smoothing):
    codes, y, folds = make_rows(0)
    statistics = TargetStatistics(count_classes(codes, y, folds, LEVELS, 2, FOLDS), smoothing)
    column = np.nan_to_num(codes, nan=-1).astype(str)[:, None]
    theirs = TargetEncoder(smooth=smoothing, target_type="binary").fit(column, y)
    np.testing.assert_allclose(statistics(codes)[:, 1], theirs.transform(column)[:, 0])
    for fold in range(FOLDS):
        # Of training rows the other folds alone.
        inside = folds == fold
        theirs.fit(column[~inside], y[~inside])
        found = statistics(codes[inside], folds[inside])[:, 1]
        np.testing.assert_allclose(found, theirs.transform(column[inside])[:, 0])


@given(seed=st.integers(0, 1000), cut=st.integers(0, N), n_classes=st.integers(2, 4))
def test_parts_add_up(seed, cut, n_classes):
    codes, y, folds = make_rows(seed, n_classes)
    sizes = LEVELS, n_classes, FOLDS
    whole = count_classes(codes, y, folds, *sizes)
    parts = [
        count_classes(codes[of], y[of], folds[of], *sizes) for of in (slice(cut), slice(cut, N))
    ]
    np.testing.assert_array_equal(parts[0] + parts[1], whole)
    shares = TargetStatistics(whole)(codes, folds)
    assert shares.shape == (N, n_classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_a_row_does_not_know_its_own_class():
    # Each level has two rows, and classes are random: what is learned of them is nothing.
    rng = np.random.default_rng(0)
    codes, y = np.repeat(np.arange(1.0, 2001), 2), rng.integers(0, 2, 4000)
    folds = rng.integers(0, FOLDS, 4000)
    statistics = TargetStatistics(count_classes(codes, y, folds, 2000, 2, FOLDS), 1.0)
    assert roc_auc_score(y, statistics(codes)[:, 1]) > 0.8
    assert abs(roc_auc_score(y, statistics(codes, folds)[:, 1]) - 0.5) < 0.04


def test_new_levels_have_the_shares_of_all_rows():
    codes, y, folds = make_rows(1)
    codes[codes == 3] = 4
    statistics = TargetStatistics(count_classes(codes, y, folds, LEVELS, 2, FOLDS))
    np.testing.assert_allclose(statistics(np.array([3.0]))[0], [1 - y.mean(), y.mean()])
