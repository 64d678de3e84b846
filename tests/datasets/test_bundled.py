import numpy as np
import pytest
from sklearn.datasets import load_digits

from metasampler.datasets import make_imbalanced_digits


@pytest.mark.parametrize(("target", "ratio"), [(8, 30.0), (0, 15.0), (3, 100.0)])
def test_ratio_is_the_one_asked_for(target, ratio):
    X, y = make_imbalanced_digits(target, imbalance_ratio=ratio)
    n_positive = int(y.sum())
    n_negative = len(y) - n_positive
    assert X.shape == (len(y), 64)
    assert n_negative == np.sum(load_digits().target != target)
    assert n_positive == round(n_negative / ratio)


def test_rows_and_labels_belong_together():
    X, y = make_imbalanced_digits()
    digits = load_digits()
    eights = {row.tobytes() for row in digits.data[digits.target == 8]}
    assert [row.tobytes() in eights for row in X] == (y == 1).tolist()


def test_seed_decides_which_positives_stay():
    first, again = make_imbalanced_digits(), make_imbalanced_digits()
    other = make_imbalanced_digits(random_state=1)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_all_positives_can_stay():
    digits = load_digits()
    n_positive = int(np.sum(digits.target == 8))
    X, y = make_imbalanced_digits(imbalance_ratio=(len(digits.target) - n_positive) / n_positive)
    np.testing.assert_array_equal(X, digits.data)
    np.testing.assert_array_equal(y, digits.target == 8)


@pytest.mark.parametrize("ratio", [-1.0, 0.0, 2.0, 1e6])
def test_impossible_ratio_is_refused(ratio):
    with pytest.raises(ValueError, match="imbalance_ratio must lie between"):
        make_imbalanced_digits(imbalance_ratio=ratio)


@pytest.mark.parametrize("target", [-1, 10, 2.5])
def test_target_must_be_a_digit(target):
    with pytest.raises(ValueError, match="digit from 0 to 9"):
        make_imbalanced_digits(target)
