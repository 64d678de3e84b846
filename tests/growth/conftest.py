"""How tests of the loop make rows and growths."""

from types import SimpleNamespace

import pytest
from sklearn.tree import DecisionTreeClassifier

from metasampler.growth import Growth, RandomStreams, make_adapters, make_growth_data


def make_data(X, y, *args, seed=0, **options):
    options = {
        "estimator": DecisionTreeClassifier(),
        "validation_fraction": 0.2,
        "sampling_ratio": 1.0,
        "scoring": "average_precision",
        **options,
    }
    return make_growth_data(X, y, *args, streams=RandomStreams(seed), **options)


def make_growth(data, seed=0, *, n_jobs=None, leaf_smoothing=0.0, **options):
    adapter = make_adapters(
        DecisionTreeClassifier(), data.tables, data.n_classes, n_jobs, leaf_smoothing
    )
    return Growth(data, adapter, RandomStreams(seed), **options)


@pytest.fixture(scope="session")
def make():
    """Rows (`make.data`) and an ensemble without members on them (`make.growth`)."""
    return SimpleNamespace(data=make_data, growth=make_growth)
