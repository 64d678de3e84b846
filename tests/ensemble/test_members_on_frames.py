"""Members of every kind on a frame with texts, categories, dates and missing cells."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from metasampler import MesaClassifier
from metasampler.ensemble import BalanceCascadeClassifier, UnderBaggingClassifier
from metasampler.growth import unfitted_form

HIST = HistGradientBoostingClassifier(max_iter=5)
XGBOOST = XGBClassifier(n_estimators=5)
BALANCED = LGBMClassifier(n_estimators=5, class_weight="balanced", verbose=-1)
#: Its own encoder: the frame is its own business.
PIPELINE = make_pipeline(
    make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["city", "plan"])),
    LogisticRegression(),
)
NAMED = HistGradientBoostingClassifier(max_iter=5, categorical_features=["plan"])

MEMBERS = {
    "histograms": HIST,
    "histograms, no categories": HistGradientBoostingClassifier(
        max_iter=5, categorical_features=None
    ),
    "xgboost": XGBOOST,
    "xgboost, exact": XGBClassifier(n_estimators=5, tree_method="exact"),
    "xgboost, linear": XGBClassifier(n_estimators=5, booster="gblinear"),
    "lightgbm": LGBMClassifier(n_estimators=5, verbose=-1),
    "lightgbm, balanced": BALANCED,
    "forest": ExtraTreesClassifier(5),
    "boosting": GradientBoostingClassifier(n_estimators=5),
    "bayes": GaussianNB(),
    "neighbours": KNeighborsClassifier(),
    "bagging": BaggingClassifier(n_estimators=2),
    "calibrated": CalibratedClassifierCV(HIST, cv=2),
    "voting": VotingClassifier([("hist", HIST), ("bayes", GaussianNB())], voting="soft"),
    "tree": DecisionTreeClassifier(),
    "pipeline": PIPELINE,
    "in turn": [HIST, DecisionTreeClassifier(), BALANCED],
    "in turn, some lack nothing": [XGBOOST, GaussianNB()],
}

# What each takes: positions 0 and 2 of the encoded table are codes.
TOLD = {
    "histograms": {"categorical_features": [0, 2]},
    "histograms, no categories": {"categorical_features": None},
    "xgboost": {"feature_types": ["c", "q", "c", *"qqqq"], "enable_categorical": True},
    "xgboost, exact": {"feature_types": None},
    "xgboost, linear": {"feature_types": None},
}


@pytest.fixture(scope="module")
def claims():
    rng, n_rows = np.random.default_rng(0), 600
    city = rng.choice(["Rome", "Oslo", "Bonn", "Lima"], n_rows)
    y = (city == "Oslo") & (rng.random(n_rows) < 0.5) | (rng.random(n_rows) < 0.04)
    days = pd.to_timedelta(rng.integers(0, 300, n_rows), unit="D")
    frame = pd.DataFrame(
        {
            "city": city,
            "age": rng.normal(50, 10, n_rows),
            "plan": pd.Categorical(rng.choice(["a", "b"], n_rows)),
            "day": pd.Timestamp("2026-01-01") + days,
        }
    )
    frame.loc[::17, "city"], frame.loc[::11, "age"], frame.loc[::13, "plan"] = None, np.nan, None
    return frame, np.where(y, "yes", "no")


@pytest.fixture(scope="module")
def later(claims):
    """New rows: some of a city and a plan that the fit has not seen."""
    rows = claims[0].iloc[:60].copy()
    rows["plan"] = rows["plan"].astype(object)
    rows.iloc[:5, 0], rows.iloc[3:8, 2] = "Paris", "z"
    return rows


def fit(estimator, X, y, **settings):
    return MesaClassifier(estimator, 3, random_state=0, **settings).fit(X, y)


@pytest.mark.parametrize("name", MEMBERS)
def test_all_kinds_of_members(claims, later, name):
    X, y = claims
    estimator = MEMBERS[name]
    before = repr(estimator)
    clf = fit(estimator, X, y)
    assert repr(estimator) == before
    proba = clf.predict_proba(later)
    assert proba.shape == (60, 2)
    assert np.isfinite(proba).all()
    # Columns are found by their names.
    assert_array_equal(clf.predict_proba(later.iloc[:, ::-1].assign(other=1)), proba)
    assert_array_equal(fit(estimator, X, y, n_jobs=2).predict_proba(later), proba)
    settings = clf.estimators_[0].get_params() if name in TOLD else {}
    assert {key: settings[key] for key in TOLD.get(name, {})} == TOLD.get(name, {})


def test_catboost_gets_whole_numbers_for_categories(claims, later):
    catboost = pytest.importorskip("catboost")
    estimator = catboost.CatBoostClassifier(5, verbose=False, allow_writing_files=False)
    X, y = claims
    clf = fit([estimator, DecisionTreeClassifier()], X, y)
    assert clf.estimators_[0].get_cat_feature_indices() == [0, 2]
    assert "cat_features" not in estimator.get_params()
    assert np.isfinite(clf.predict_proba(later)).all()
    # Arrays are the estimator's own business.
    numbers = np.random.default_rng(0).normal(size=(len(y), 2))
    assert fit(estimator, numbers, y).estimators_[0].get_cat_feature_indices() == []


def test_codes_are_numbers_where_missing_values_are_filled(claims):
    clf = fit([XGBOOST, GaussianNB()], *claims)
    assert clf.estimators_[0].feature_types is None


def test_polars(claims, later):
    X, y = claims
    expected = fit(HIST, X, y).predict_proba(later)
    as_polars = fit(HIST, pl.from_pandas(X), y)
    assert_array_equal(as_polars.predict_proba(pl.from_pandas(later)), expected)


@pytest.mark.parametrize("kind", [UnderBaggingClassifier, BalanceCascadeClassifier])
def test_other_ensembles(claims, later, kind):
    X, y = claims
    clf = kind(XGBOOST, n_estimators=2, random_state=0).fit(X, y, sample_weight=np.ones(len(y)))
    assert clf.estimators_[0].get_params()["enable_categorical"]
    assert np.isfinite(clf.predict_proba(later)).all()


def test_categories_are_split_as_categories(claims):
    # Alternate levels, in the order of their codes: one split of categories, many of numbers.
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, 4000)
    X = pd.DataFrame({"level": [f"level {code:02}" for code in codes], "x": 0.0})
    y = (codes % 2 == 0) & (rng.random(4000) < 0.4)
    stump = HistGradientBoostingClassifier(max_iter=1, max_depth=1, learning_rate=1.0)
    told, as_numbers = (
        fit(clone(stump).set_params(categorical_features=categories), X, y).predict_proba(X)[:, 1]
        for categories in ("from_dtype", None)
    )
    odd = codes % 2 == 1
    assert told[odd].max() < told[~odd].min()
    assert as_numbers[odd].max() > as_numbers[~odd].min()


def test_more_levels_than_bins_are_numbers(claims):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"many": [f"{code:03}" for code in np.arange(3000) % 300], "few": "a"})
    X.loc[::2, "few"] = "b"
    y = rng.random(3000) < 0.1
    clf = fit(HIST, X, y)
    assert clf.estimators_[0].categorical_features == [1]
    assert fit(XGBOOST, X, y).estimators_[0].feature_types == ["c", "c"]


@pytest.mark.parametrize(
    "estimator",
    [
        PIPELINE,
        NAMED,
        VotingClassifier([("a", HIST), ("b", PIPELINE)]),
        XGBClassifier(feature_types=["c"]),
    ],
    ids=["pipeline", "columns named", "a pipeline inside", "types given"],
)
def test_members_that_know_the_columns_get_the_frame(claims, estimator):
    X, y = claims
    assert unfitted_form(estimator, X).fit(X, y)(X) is X


class OwnEncoder(HistGradientBoostingClassifier):
    """A subclass may do with a frame what it likes."""


def test_classes_of_users_get_the_frame(claims):
    X, y = claims
    assert unfitted_form(OwnEncoder(), X).fit(X, y)(X) is X


@pytest.mark.parametrize("name", ["histograms", "xgboost", "bayes", "in turn"])
def test_frames_of_numbers_stay_what_they_are(name):
    X = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [1, 2, 3]})
    assert unfitted_form(MEMBERS[name], X).fit(X)(X) is X
