import numpy as np
from sklearn.datasets import load_digits

from metasampler.datasets import make_imbalanced_digits


def test_eights_among_the_others():
    X, y = make_imbalanced_digits()
    digits = load_digits()
    images = {row.tobytes(): target for row, target in zip(digits.data, digits.target, strict=True)}
    assert [images[row.tobytes()] == 8 for row in X] == y.astype(bool).tolist()
    assert np.bincount(y).tolist() == [1623, 54]


def test_the_same_rows_in_every_call():
    first, again = make_imbalanced_digits(), make_imbalanced_digits()
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])


def test_the_order_of_rows_does_not_give_the_class_away():
    _, y = make_imbalanced_digits()
    assert np.flatnonzero(y)[0] < 100
    assert np.flatnonzero(y)[-1] > len(y) - 100
