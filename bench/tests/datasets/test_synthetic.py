import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from metasampler_bench.datasets import make_arch


@pytest.mark.parametrize(
    ("overlap", "lowest", "highest"),
    [
        ("low", 0.98, 1.0),
        ("mid", 0.75, 0.85),
        ("high", 0.45, 0.58),
    ],
)
def test_the_three_levels_are_easy_middling_and_hard(overlap, lowest, highest):
    X, y = make_arch(overlap, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_predict(KNeighborsClassifier(25), X, y, cv=folds, method="predict_proba")[
        :, 1
    ]
    assert lowest <= average_precision_score(y, scores) <= highest


def test_without_noise_the_majority_is_an_arch():
    X, y = make_arch(0.0, n_majority=50, n_minority=7, random_state=0)
    assert X.shape == (57, 2)
    assert y.dtype == np.int64
    assert np.bincount(y).tolist() == [50, 7]
    np.testing.assert_allclose(np.hypot(*X[y == 0].T), 1.0)
    assert X[y == 0, 1].min() > -1e-12


def test_the_seed_decides():
    first, again, other = (make_arch(random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("overlap", ["lots", -0.1, np.nan, np.inf, None])
def test_impossible_overlap_is_refused(overlap):
    with pytest.raises(ValueError, match="overlap must be"):
        make_arch(overlap)


@pytest.mark.parametrize("sizes", [{"n_majority": 0}, {"n_minority": 2.5}])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match=f"{next(iter(sizes))} must be a whole number"):
        make_arch(**sizes)
