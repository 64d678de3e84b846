"""Data that several tests share."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits, make_classification

from metasampler.datasets import load_mesa_mammography

# Machines differ: no test fails for the time it takes.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def imbalanced():
    """Two overlapping classes, 1 : 9."""
    return make_classification(
        600, n_features=8, n_informative=5, weights=[0.9], flip_y=0.02, random_state=0
    )


@pytest.fixture(scope="session")
def three_classes():
    """Real data, three classes of 60, 20 and 170 rows; by name the smallest comes first."""
    X, y = load_digits(return_X_y=True)
    sizes = {0: 60, 1: 20, 2: 170}
    rows = np.concatenate([np.flatnonzero(y == label)[:n] for label, n in sizes.items()])
    return X[rows], np.array(["zero", "one", "two"])[y[rows]]


@pytest.fixture(scope="session")
def data_home():
    """The folder with the real data sets; tests that need it are skipped without it."""
    folder = os.environ.get("METASAMPLER_DATA_HOME")
    if not folder or not Path(folder).is_dir():
        pytest.skip("METASAMPLER_DATA_HOME names no folder with the real data sets")
    return Path(folder)


@pytest.fixture(scope="session")
def mammography(data_home):
    """The split of mammography that the authors of MESA used: training, validation, test."""
    return load_mesa_mammography(data_home)
