"""Data frames with columns of any kind go straight in, and the library does not matter."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
    _mesa,
)

ENSEMBLES = {
    "default": lambda: MesaClassifier(n_estimators=6, random_state=0),
    "fast": lambda: MesaClassifier(recipe="fast", random_state=0),
    "teams": lambda: MesaClassifier(n_estimators=6, random_state=0),
    "fast teams": lambda: MesaClassifier(recipe="fast", random_state=0),
    "trees": lambda: tree_mesa(n_estimators=4, random_state=0),
    "under-bagging": lambda: UnderBaggingClassifier(n_estimators=3, random_state=0),
    "self-paced": lambda: SelfPacedEnsembleClassifier(n_estimators=3, random_state=0),
    "cascade": lambda: BalanceCascadeClassifier(n_estimators=3, random_state=0),
    "easy": lambda: EasyEnsembleClassifier(n_estimators=2, random_state=0),
    "forests": lambda: UnderBaggingClassifier(
        RandomForestClassifier(5), n_estimators=2, random_state=0
    ),
}


@pytest.fixture(autouse=True)
def _few_rows_are_enough_for_teams(request, monkeypatch):
    """Let the teams grow on the few rows of these tests."""
    name = getattr(request.node, "callspec", None) and request.node.callspec.params.get("name", "")
    if name and "teams" in name:
        monkeypatch.setattr(_mesa, "ENOUGH_ROWS", 0)


@pytest.fixture(scope="module")
def tables():
    """The same 400 rows in pandas and in polars, and their labels."""
    rng = np.random.default_rng(0)
    n_rows = 400
    y = np.where(rng.random(n_rows) < 0.15, "churn", "stay")
    hit = (y == "churn") & (rng.random(n_rows) < 0.8)
    day = datetime(2024, 1, 1)
    columns = {
        "number": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows) + hit),
        "count": rng.integers(0, 5, n_rows),
        "{text}": np.where(hit, "gone", rng.choice(["a", "b", "c"], n_rows)).tolist(),
        "identifier": [f"customer {number}" for number in range(n_rows)],
        "flag": rng.random(n_rows) < 0.5,
        "since": [day + timedelta(days=int(d)) for d in rng.integers(0, 900, n_rows)],
        "größe": [None if u < 0.1 else int(10 * u) for u in rng.random(n_rows)],
        "nothing": [None] * n_rows,
        "constant": ["k"] * n_rows,
    }
    columns["{text}"][3] = columns["{text}"][50] = None
    kinds = {
        "{text}": "category",
        "größe": "Int64",
        "identifier": "string",
        "nothing": object,
    }
    of_pandas = pd.DataFrame(columns).astype(kinds)
    of_polars = pl.DataFrame(columns).with_columns(pl.col("{text}").cast(pl.Categorical))
    return of_pandas, of_polars, y


@pytest.mark.parametrize("name", ENSEMBLES)
def test_both_libraries_give_the_same(tables, name):
    of_pandas, of_polars, y = tables
    clf = ENSEMBLES[name]().fit(of_pandas[:300], y[:300])
    proba = clf.predict_proba(of_pandas[300:])
    assert roc_auc_score(y[300:] == "churn", proba[:, 0]) > 0.75
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    twin = ENSEMBLES[name]().fit(of_polars[:300], y[:300].tolist())
    assert_array_equal(twin.predict_proba(of_polars[300:]), proba)
    # A fit in one library answers in the other, and finds the columns by their names.
    turned = of_polars[300:].select(reversed(of_polars.columns))
    assert_array_equal(clf.predict_proba(turned), proba)
    assert_array_equal(clf.predict(turned), twin.predict(of_polars[300:]))
    assert set(clf.predict(turned)) <= {"churn", "stay"}
    assert clf.n_features_in_ == 9
    assert list(clf.feature_names_in_) == list(of_pandas.columns)


@pytest.mark.parametrize("name", ["default", "fast", "teams", "fast teams", "trees", "self-paced"])
def test_validation_rows_as_frames(tables, name):
    of_pandas, of_polars, y = tables
    clf, twin, crossed = (
        ENSEMBLES[name]().fit(table[:250], y[:250], X_val=valid, y_val=y[250:350])
        for table, valid in (
            (of_pandas, of_pandas[250:350]),
            (of_polars, of_polars[250:350]),
            (of_pandas, of_polars[250:350].select(reversed(of_polars.columns))),
        )
    )
    proba = clf.predict_proba(of_pandas[350:])
    assert_array_equal(twin.predict_proba(of_polars[350:]), proba)
    assert_array_equal(crossed.predict_proba(of_pandas[350:]), proba)


@pytest.mark.parametrize("name", ["default", "teams", "trees"])
def test_levels_come_from_training_rows_that_count(tables, name):
    of_pandas, _, y = tables
    options = [
        (of_pandas[:250], y[:250], None),
        (of_pandas[:300], y[:300], np.r_[np.ones(250), np.zeros(50)]),
    ]
    # A level that only rows without weight have is an unknown one.
    text = of_pandas["{text}"].cat.add_categories("new").where(np.arange(400) < 260, "new")
    results = [
        ENSEMBLES[name]()
        .fit(X.assign(**{"{text}": text[: len(X)]}), labels, sample_weight=weights)
        .predict_proba(of_pandas[300:].assign(**{"{text}": text[300:]}))
        for X, labels, weights in options
    ]
    assert_array_equal(*results)


def test_unseen_levels_and_missing_columns(tables):
    of_pandas, _, y = tables
    clf = ENSEMBLES["fast"]().fit(of_pandas, y)
    rare = of_pandas.assign(**{"{text}": "seen once", "identifier": "customer 1"})
    rarer = of_pandas.assign(**{"{text}": "never seen", "identifier": None})
    changed = [clf.predict_proba(frame) for frame in (rare, rarer)]
    assert np.isfinite(changed).all()
    with pytest.raises(ValueError, match=r"lacks the columns \['flag'\]"):
        clf.predict(of_pandas.drop(columns="flag"))
    with pytest.raises(TypeError, match=r"must be a data frame.*'\{text\}'"):
        clf.predict(np.zeros((2, 9)))


@pytest.mark.parametrize("name", ["default", "teams", "under-bagging"])
def test_what_cannot_be_used_is_named(tables, name):
    of_pandas, _, y = tables
    with pytest.raises(ValueError, match=r"Column 'pairs' holds values that are neither.*drop it"):
        ENSEMBLES[name]().fit(of_pandas.assign(pairs=[(1, 2)] * 400), y)
    twice = pd.concat([of_pandas, of_pandas[["flag"]]], axis=1)
    with pytest.raises(ValueError, match=r"\['flag'\] occur more than once"):
        ENSEMBLES[name]().fit(twice, y)


def test_frames_reach_other_members_as_they_are(tables):
    of_pandas, _, y = tables
    seen = []

    def look(X):
        seen.append(type(X))
        return X[["count", "flag"]].to_numpy(dtype=float)

    members = make_pipeline(FunctionTransformer(look), LogisticRegression())
    UnderBaggingClassifier(members, n_estimators=2, random_state=0).fit(of_pandas, y)
    assert set(seen) == {pd.DataFrame}


def test_numbers_in_a_frame_are_those_of_an_array(imbalanced):
    X, y = imbalanced
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    clf = ENSEMBLES["fast"]().fit(frame, y)
    assert_array_equal(clf.predict_proba(frame), ENSEMBLES["fast"]().fit(X, y).predict_proba(X))
    assert_array_equal(clf.predict_proba(pl.from_pandas(frame)), clf.predict_proba(frame))
