"""Rivals of today: budgets of CPU time, and boosters with published settings."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from metasampler_bench import find_method
from metasampler_bench._automl import CatBoostOnSample, TunedDefaults, cpu_clock
from metasampler_bench._table_methods import BUDGETS, for_frames, table_methods


@pytest.fixture(scope="module")
def frame():
    """Numbers, a category and gaps, with string labels."""
    X, y = make_classification(900, n_features=5, weights=[0.85], random_state=0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "up", "down"))
    frame.loc[::7, "b"] = np.nan
    return frame, np.where(y == 1, "rare", "common")


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_clock_counts_cpu_time():
    usual = time.time
    with cpu_clock():
        start = time.time()
        time.sleep(0.3)
        slept = time.time() - start
        burn(0.2)
        burnt = time.time() - start - slept
    assert slept < 0.15
    assert burnt == pytest.approx(0.2, abs=0.1)
    assert time.time is usual
    with pytest.raises(RuntimeError, match="in between"), cpu_clock():
        raise RuntimeError("in between")
    assert time.time is usual


def test_every_budget_has_a_method_that_takes_it():
    names = {method.name for method in table_methods()}
    assert set(BUDGETS) <= names
    for name, (owner, times) in BUDGETS.items():
        assert times in (1, 10)
        assert find_method(owner).name in ("mesa", "mesa-best")
        assert "seconds" in find_method(name).build(random_state=0).get_params()
    assert BUDGETS["autogluon-best-longest"] == ("mesa-best", 10)


@pytest.mark.parametrize("name", ["lightgbm-tuned-defaults", "catboost-tuned-defaults"])
def test_published_settings(name, frame):
    pytest.importorskip(name.partition("-")[0])
    X, y = frame
    models = [for_frames(name, find_method(name).build(random_state=0)).fit(X, y) for _ in "ab"]
    first, second = (model.predict_proba(X) for model in models)
    np.testing.assert_array_equal(first, second)
    assert first.shape == (900, 2)
    assert np.mean(models[0].predict(X) == y) > 0.85
    fitted = models[0].estimator_.estimator_
    settings = fitted.get_params()
    assert settings["n_estimators"] == 1000
    assert settings["learning_rate"] in (0.04, 0.08)


def test_settings_stop_early(frame):
    X, y = frame
    fitted = TunedDefaults(random_state=0).fit(X, y)
    assert 1 <= fitted.estimator_.best_iteration_ < 1000
    with pytest.raises(ValueError, match="booster='forest' must be one of"):
        TunedDefaults("forest").fit(X, y)


def test_catboost_on_a_sample(frame):
    pytest.importorskip("catboost")
    X, y = frame
    numbers = X.drop(columns="kind")
    one, two = (CatBoostOnSample(n, random_state=0).fit(numbers, y) for n in (200, 900))
    assert one.estimator_.get_params()["thread_count"] == 1
    assert not np.array_equal(one.predict_proba(numbers), two.predict_proba(numbers))
    assert set(one.predict(numbers)) == {"common", "rare"}


@pytest.mark.parametrize(
    ("package", "name"), [("flaml", "flaml"), ("autogluon.tabular", "autogluon-medium")]
)
def test_packages_keep_to_their_budget(package, name, frame):
    pytest.importorskip(package)
    X, y = frame
    model = find_method(name).build(random_state=0).set_params(seconds=3.0)
    start = time.process_time()
    fitted = for_frames(name, model).fit(X, y)
    # The last model may end later than it was expected to.
    assert 0.2 < time.process_time() - start < 8.0
    proba = fitted.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert fitted.classes_.tolist() == ["common", "rare"]
    assert np.mean(fitted.predict(X) == y) > 0.85


def test_a_package_that_is_not_installed_is_named(monkeypatch, frame):
    import sys

    monkeypatch.setitem(sys.modules, "flaml", None)
    X, y = frame
    with pytest.raises(ImportError, match="flaml"):
        find_method("flaml").build(random_state=0).fit(X, y)
