"""Scores of LightGBM's members by tables: LightGBM's own, to the last bit."""

import pickle

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from scipy.sparse import csr_matrix
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.growth import BoostedMember, _booster_tables, scores_of_boosters


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """Let tables be made for the first rows that are asked for."""
    monkeypatch.setattr(_booster_tables, "_ENOUGH_IN_ALL", 1)


def boosters_of(clf) -> list:
    return [member for member in clf.estimators_ if isinstance(member, BoostedMember)]


def check(members, X, n_jobs=None) -> None:
    found = scores_of_boosters(members, X, n_jobs)
    assert found is not None
    for own, member in zip(found, members, strict=True):
        np.testing.assert_array_equal(own, member.raw_scores(X))


def table_of(seed, n=900, n_columns=5):
    """Return few different numbers, so that many are on the borders of splits, and gaps."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-20, 20, (n, n_columns)) / 10 + rng.choice([0, 1e-7, -1e-7], (n, n_columns))
    y = (np.nansum(X, axis=1) + rng.normal(size=n) > 2.5).astype(int)
    return X, y, rng


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"boosting_type": "dart"},
        {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
        {"extra_trees": True, "num_leaves": 7},
        {"min_child_samples": 800},
        {"use_missing": False},
    ],
    ids=["plain", "dart", "rf", "extra", "stumps", "missing is zero"],
)
@pytest.mark.parametrize("has_gaps", [False, True])
def test_scores_are_those_of_lightgbm(settings, has_gaps):
    X, y, rng = table_of(0)
    if has_gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
    estimator = LGBMClassifier(n_estimators=15, verbose=-1, **settings)
    clf = UnderBaggingClassifier(estimator, n_estimators=3, random_state=0).fit(X, y)
    check(clf.estimators_, X)
    # Other numbers than those of the fit.
    X[::7, 0], X[1::7, 1], X[2::7, 2], X[3::7, 3] = np.nan, 1e30, -np.inf, 0.0
    X[4::7, 4] = -0.0
    check(clf.estimators_, X)
    check(clf.estimators_, X[:65])
    check(clf.estimators_, np.asfortranarray(X.astype(np.float32)))


def test_many_classes_and_threads(three_classes, monkeypatch):
    X, y = three_classes
    monkeypatch.setattr(_booster_tables, "_ROWS_OF_THREAD", 512)
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    X = np.tile(X, (4, 1)) + np.repeat(np.arange(4) / 100, len(X))[:, np.newaxis]
    for n_jobs in (None, 2):
        check(boosters_of(clf), X, n_jobs)


def test_categories_and_those_that_are_read_as_numbers():
    X, y, rng = table_of(1, 1500)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["shop"] = rng.choice([f"shop {k}" for k in range(20)], 1500)
    frame["street"] = rng.choice([f"street {k}" for k in range(150)], 1500)
    frame.loc[::9, ["shop", "street", "a"]] = None
    clf = MesaClassifier(random_state=0).fit(frame, y | (frame["shop"] == "shop 3"))
    members = boosters_of(clf)
    assert any(member.recoding for member in members)
    table = clf._check_predict_table(frame)
    assert any(tree.tables is None for tree in members)
    check(members, table)
    # Codes that no fit gives.
    for place in map(list(clf.member_features_).index, ("shop", "street")):
        table[::5, place] = rng.choice([-1, -0.5, 0, 2.7, 19, 1e12, -1e12, np.nan], len(table[::5]))
    check([member for member in members if member.recoding is None], table)


def test_the_ensemble_answers_alike_with_and_without_tables(imbalanced, monkeypatch):
    X, y = imbalanced
    monkeypatch.setattr(_booster_tables, "_ENOUGH_IN_ALL", 20 * len(X))
    clf = MesaClassifier(random_state=0).fit(X, y)
    before, staged = clf.predict_proba(X), list(clf.staged_predict_proba(X))
    assert clf.estimators_[0].tables._groups is None
    monkeypatch.setattr(_booster_tables, "_ENOUGH_IN_ALL", 1)
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    np.testing.assert_array_equal(list(clf.staged_predict_proba(X)), staged)
    assert clf.estimators_[0].tables._groups is not None
    # They are no state: a model in a file is as small as before.
    again = pickle.loads(pickle.dumps(clf))
    assert again.estimators_[0].tables is None
    np.testing.assert_array_equal(again.predict_proba(X), before)


def test_tables_are_made_when_enough_rows_were_asked_for(imbalanced, monkeypatch):
    X, y = imbalanced
    monkeypatch.setattr(_booster_tables, "_ENOUGH_IN_ALL", 300)
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    members = boosters_of(pickle.loads(pickle.dumps(clf)))[1:]
    assert [scores_of_boosters(members, X[:100]) is None for _ in range(4)] == [
        True,
        True,
        False,
        False,
    ]
    # Other members have tables of their own.
    check(members[::-1], X)
    check(members[:1], X)


def test_where_lightgbm_is_the_better_way(imbalanced, monkeypatch):
    X, y = imbalanced
    clf = UnderBaggingClassifier(
        LGBMClassifier(n_estimators=4, verbose=-1), n_estimators=2, random_state=0
    ).fit(X, y)
    members = clf.estimators_
    assert scores_of_boosters(members, X[:10]) is None
    assert scores_of_boosters(members, csr_matrix(X)) is None
    assert scores_of_boosters([], X) is None
    assert scores_of_boosters([DecisionTreeClassifier().fit(X, y)], X) is None
    for setting in ({"num_leaves": 40, "min_child_samples": 1}, {"zero_as_missing": True}):
        settings = {"n_estimators": 4, "verbose": -1, **setting}
        other = UnderBaggingClassifier(
            LGBMClassifier(**settings), n_estimators=2, sampling_ratio=5.0, random_state=0
        ).fit(X.round(1), y)
        assert scores_of_boosters(other.estimators_, X) is None, setting
    for limit in ("_MOST_COLUMNS", "_MOST_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(_booster_tables, limit, 1)
            assert scores_of_boosters(members[:1], X) is None
            members[0].tables = None
    check(members, X)


def test_a_table_that_differs_is_not_used(imbalanced, monkeypatch):
    X, y = imbalanced
    members = boosters_of(MesaClassifier(recipe="fast", random_state=0).fit(X, y))
    own = BoostedMember.raw_scores
    monkeypatch.setattr(BoostedMember, "raw_scores", lambda self, rows: own(self, rows) + 1e-15)
    assert scores_of_boosters(members, X) is None
    monkeypatch.undo()
    assert scores_of_boosters(members, X) is None


def test_what_lightgbm_reads_as_zero_is_zero():
    # Its thresholds beside zero are as large as the largest number that it takes for zero.
    X, y, rng = table_of(3)
    X[:, 0] = np.where(y == 1, 1.0, rng.choice([0.0, -1.0], len(y)))
    clf = UnderBaggingClassifier(LGBMClassifier(verbose=-1), n_estimators=2, random_state=0)
    clf.fit(X, y)
    small = np.float32([1e-35, -1e-35, 1e-36, -1e-36, 1e-34, -1e-34, 0.0, -0.0])
    for dtype in (np.float32, np.float64):
        rows = X[:400].astype(dtype)
        rows[:, 0] = np.resize(small, 400)
        clf.estimators_[0].tables = None
        check(boosters_of(clf), rows)


def test_tables_of_members_that_have_changed_are_made_anew():
    X, y, _ = table_of(4)
    clf = UnderBaggingClassifier(LGBMClassifier(verbose=-1), n_estimators=2, random_state=0)
    members = boosters_of(clf.fit(X, y))
    check(members, X)
    made = members[0].tables
    check(members, X)
    assert members[0].tables is made
    members[0].n_rounds_ = 2
    check(members, X)
    members[0].booster_ = members[1].booster_
    check(members, X)


def test_few_scores_are_there_at_once(monkeypatch):
    X, y, _ = table_of(5)
    clf = UnderBaggingClassifier(LGBMClassifier(verbose=-1), n_estimators=2, random_state=0)
    members = boosters_of(clf.fit(X, y))
    check(members, X)
    monkeypatch.setattr(_booster_tables, "_MOST_SCORES", len(X))
    assert scores_of_boosters(members, X) is None
