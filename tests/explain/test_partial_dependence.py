"""scikit-learn's partial dependence and permutation importance on columns of any kind."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance

from metasampler import MesaClassifier

plt = pytest.importorskip("matplotlib.pyplot")

N = 800


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 200, N)
    X = pd.DataFrame(
        {
            "amount": rng.normal(size=N),
            "count": rng.integers(0, 90, N),
            "level": rng.integers(0, 4, N),
            "new": rng.random(N) < 0.5,
            "shop": rng.choice(["x", "y", "z"], N),
            "kind": pd.Categorical(rng.choice(["p", "q"], N)),
            "ordered": pd.Timestamp("2026-01-01") + pd.to_timedelta(days, "D"),
            "waited": pd.to_timedelta(rng.integers(0, 200, N), "h"),
        }
    )
    score = X["amount"] + (X["shop"] == "x") + X["new"] + days / 100 + X["count"] / 50
    y = (score > np.quantile(score, 0.85)).astype(int)
    return MesaClassifier(recipe="fast", random_state=0).fit(X, y), X, y


def values_for(X, name):
    """Return some values of a column, as a user would name them."""
    low, high = X[name].min(), X[name].max()
    if name == "ordered":
        return pd.date_range(low, high, 5).to_numpy()
    return pd.timedelta_range(low, high, 5).to_numpy()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("amount", {}),
        ("new", {}),
        ("shop", {"categorical_features": ["shop"]}),
        ("kind", {"categorical_features": ["kind"]}),
        ("level", {"categorical_features": ["level"]}),
    ],
)
def test_numbers_booleans_and_categories_are_drawn(fitted, name, options):
    clf, X, _ = fitted
    shown = PartialDependenceDisplay.from_estimator(clf, X, [name], grid_resolution=8, **options)
    (found,) = shown.pd_results
    # The mean probability, with the column set to each value.
    for value, average in zip(found["grid_values"][0], found["average"][0], strict=True):
        there = X.assign(**{name: value}).astype({name: X[name].dtype})
        assert clf.predict_proba(there)[:, 1].mean() == pytest.approx(average)
    plt.close("all")


def test_whole_numbers_are_drawn_once_they_are_floats(fitted):
    clf, X, _ = fitted
    # scikit-learn's own rule for every classifier, from 1.7 on.
    floats = X.astype({"count": float})
    shown = PartialDependenceDisplay.from_estimator(clf, floats, ["count"], grid_resolution=8)
    average = shown.pd_results[0]["average"][0]
    assert average[-1] > 1.5 * average[0]
    plt.close("all")


@pytest.mark.parametrize("name", ["ordered", "waited"])
def test_dates_and_durations_need_their_values(fitted, name):
    clf, X, _ = fitted
    # scikit-learn multiplies dates by shares to find quantiles, which dates do not know.
    with pytest.raises(TypeError):
        partial_dependence(clf, X, [name], grid_resolution=8)
    if "custom_values" not in inspect.signature(partial_dependence).parameters:
        pytest.skip("this scikit-learn takes no values")
    values = values_for(X, name)
    found = partial_dependence(clf, X, [name], custom_values={name: values})
    average = found["average"][0]
    there = clf.predict_proba(X.assign(**{name: values[2]}))[:, 1].mean()
    assert average[2] == pytest.approx(there)
    if name == "ordered":
        assert average[-1] > 1.5 * average[0]


def test_permutation_importance_takes_a_frame_as_it_is(fitted):
    clf, X, y = fitted
    found = permutation_importance(
        clf, X, y, scoring="average_precision", n_repeats=2, random_state=0
    )
    mean = dict(zip(X.columns, found.importances_mean, strict=True))
    assert min(mean["amount"], mean["ordered"], mean["shop"]) > 0.05
    assert abs(mean["kind"]) < 0.02


def test_importances_have_names(fitted):
    clf, *_ = fitted
    named = pd.Series(clf.feature_importances_, clf.member_features_)
    assert named.index[:4].tolist() == ["amount", "count", "level", "new"]
    assert named["ordered (days since 1970)"] > 5 * named["kind"]
