"""A second growth on all rows: `refit`."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    UnderBaggingClassifier,
)


def same_members(a, b, X):
    for mine, other in zip(a.estimators_, b.estimators_, strict=True):
        assert_array_equal(mine.predict_proba(X), other.predict_proba(X))
    for mine, other in zip(a.estimators_samples_, b.estimators_samples_, strict=True):
        assert_array_equal(mine, other)


@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_members_are_those_of_a_fit_without_hold_out(Ensemble, data, weighted, request):
    X, y = request.getfixturevalue(data)
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float) if weighted else None
    options = {"estimator": DecisionTreeClassifier(), "n_estimators": 5, "random_state": 0}
    if Ensemble is tree_mesa:
        options["meta_sampler"] = 0.9
    # "auto" would hold the training rows out in turn, since the others are few.
    split = {"validation_fraction": 0.25, "calibration": "sigmoid"}
    held = Ensemble(refit=False, **split, **options).fit(X, y, sample_weight=weights)
    clf = Ensemble(refit=True, **split, **options).fit(X, y, sample_weight=weights)
    whole = Ensemble(validation_fraction=None, **options).fit(X, y, sample_weight=weights)
    same_members(clf, whole, X)
    # All of the smallest class, the held-out rows too.
    smallest = y == clf.minority_class_
    known = smallest if weights is None else smallest & (weights > 0)
    for rows in clf.estimators_samples_:
        assert_array_equal(rows[smallest[rows]], np.flatnonzero(known))
    # Everything else is what the held-out rows have said.
    assert_array_equal(clf.scores_, held.scores_)
    proba = np.full((1, len(clf.classes_)), 1 / len(clf.classes_))
    assert_array_equal(clf.calibration_(proba), held.calibration_(proba))
    assert clf.summary().rows == held.summary().rows
    assert "before the refit" in str(clf.summary())
    if data == "imbalanced":
        assert clf.threshold_ == held.threshold_
        assert clf.expected_recall_ == held.expected_recall_
    if Ensemble is tree_mesa:
        assert_array_equal(clf.actions_, held.actions_)
        assert_array_equal(clf.states_, held.states_)
    if Ensemble is BalanceCascadeClassifier:
        assert_array_equal(clf.pool_sizes_, whole.pool_sizes_)


@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
@pytest.mark.parametrize("own", [False, True], ids=["held out", "own rows"])
def test_the_same_mus_by_hand(data, own, by_hand, request):
    X, y = request.getfixturevalue(data)
    X = X.astype(np.float32)
    codes = np.unique(y, return_inverse=True)[1]
    rows = np.arange(len(y))
    if own:
        # The validation rows last, as their positions are.
        rows = np.concatenate([rows[rows % 3 != 0], rows[rows % 3 == 0]])
        n_train = np.sum(rows % 3 != 0)
        given = X[rows[:n_train]], y[rows[:n_train]]
        apart = {"X_val": X[rows[n_train:]], "y_val": y[rows[n_train:]]}
    else:
        given, apart = (X, y), {}
    options = {"n_estimators": 5, "threshold": None, "refit": True, "random_state": 2}
    clf = MesaClassifier.from_preset("paper", meta_sampler="random", **options).fit(*given, **apart)
    assert len(np.unique(clf.actions_)) == 4
    members, subsets = by_hand.grow(
        X[rows], codes[rows], np.arange(len(y)), [None, *clf.actions_], seed=2
    )
    for mine, other in zip(clf.estimators_samples_, subsets, strict=True):
        assert_array_equal(mine, other)
    proba = np.mean([member.predict_proba(X) for member in members], axis=0)
    np.testing.assert_allclose(clf.predict_proba(X), proba, atol=1e-12)


def test_positions_where_a_row_has_no_weight(imbalanced):
    X, y = imbalanced
    weights = np.ones(400)
    weights[::5] = 0
    clf = UnderBaggingClassifier(n_estimators=3, refit=True, random_state=0)
    clf.fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:], sample_weight=weights)
    used = np.concatenate([weights > 0, np.ones(200, dtype=bool)])
    for rows in clf.estimators_samples_:
        assert used[rows].all()
        assert_array_equal(rows[y[rows] == 1], np.flatnonzero(used & (y == 1)))
        assert np.sum(y[rows] == 0) == np.sum(y[rows] == 1)


def test_the_smallest_class_stays_the_same(imbalanced):
    X, y = imbalanced
    # With its rows of the validation part the smallest class is no longer the smallest.
    rare, usual = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    train = np.concatenate([rare[:20], usual[:30]])
    valid = np.concatenate([rare[20:], usual[30:40]])
    clf = UnderBaggingClassifier(n_estimators=2, refit=True, random_state=0)
    clf.fit(X[train], y[train], X_val=X[valid], y_val=y[valid])
    assert clf.minority_class_ == 1
    assert len(clf.estimators_samples_[0]) == len(train) + len(valid)


def test_same_result_for_any_n_jobs(imbalanced, Ensemble):
    X, y = imbalanced
    options = {"n_estimators": 4, "refit": True, "random_state": 0}
    one, two = (
        Ensemble(GaussianNB(), n_jobs=n, validation_fraction=0.3, **options).fit(X, y)
        for n in (1, 2)
    )
    same_members(one, two, X)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_everything_together(three_classes, Ensemble):
    X, y = three_classes
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    clf = Ensemble(
        DecisionTreeClassifier(max_depth=4),
        n_estimators=4,
        leaf_smoothing=1,
        refit=True,
        random_state=0,
    ).fit(X, y, X_val=X.copy(), y_val=y, sample_weight=weights)
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert np.mean(clf.predict(X) == y) > 0.8
    assert_array_equal(pickle.loads(pickle.dumps(clf)).predict_proba(X), proba)
    assert clone(clf).refit


def test_a_learned_policy(imbalanced, short_sampler):
    X, y = imbalanced
    sampler = short_sampler().fit(X, y)
    clf = tree_mesa(n_estimators=3, meta_sampler=sampler, refit=True, random_state=0)
    assert len(clf.fit(X, y).actions_) == 2


# Tables


def _frame(make):
    return lambda X: make({f"x{j}": X[:, j] for j in range(X.shape[1])})


@pytest.mark.parametrize(
    ("estimator", "container"),
    [
        (None, sparse.csr_matrix),
        (None, sparse.csr_array),
        (None, _frame(pd.DataFrame)),
        (None, _frame(pl.DataFrame)),
        (GaussianNB(), np.asarray),
        (GaussianNB(), _frame(pd.DataFrame)),
        (GaussianNB(), _frame(pl.DataFrame)),
    ],
)
def test_validation_rows_of_any_kind(imbalanced, estimator, container):
    X, y = imbalanced
    options = {"n_estimators": 3, "refit": True, "random_state": 0}
    apart = {"X_val": X[400:], "y_val": y[400:]}
    expected = tree_mesa(estimator, **options).fit(X[:400], y[:400], **apart)
    clf = tree_mesa(estimator, **options)
    clf.fit(container(X[:400]), y[:400], X_val=container(X[400:]), y_val=y[400:])
    for mine, other in zip(clf.estimators_samples_, expected.estimators_samples_, strict=True):
        assert_array_equal(mine, other)
    np.testing.assert_allclose(clf.predict_proba(container(X)), expected.predict_proba(X))


def test_categories(imbalanced):
    X, y = imbalanced
    words = np.where(X[:, 0] > 0, "up", "down")
    frame = pd.DataFrame({"x": X[:, 1], "c": pd.Categorical(words)})
    estimator = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    clf = tree_mesa(estimator, n_estimators=2, refit=True, random_state=0)
    clf.fit(frame[:400], y[:400], X_val=frame[400:], y_val=y[400:])
    assert clf.predict(frame).shape == (600,)
    other = frame[400:].copy()
    other["c"] = other["c"].cat.add_categories("sideways")
    expected = clf.predict_proba(frame)
    clf.fit(frame[:400], y[:400], X_val=other, y_val=y[400:])
    assert_array_equal(clf.predict_proba(frame), expected)


def test_tables_of_two_kinds(imbalanced):
    X, y = imbalanced
    fits = []

    class Spy(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            fits.append(len(X))
            return super().fit(X, y, sample_weight)

    clf = tree_mesa(Spy(), n_estimators=2, refit=True)
    with pytest.raises(ValueError, match="X is a DataFrame and X_val a ndarray"):
        clf.fit(pd.DataFrame(X[:400]).rename(columns=str), y[:400], X_val=X[400:], y_val=y[400:])
    assert fits == []


# What cannot be


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"validation_fraction": None}, "refit=True gives back validation rows: pass X_val"),
        ({"refit": "yes"}, "refit"),
    ],
)
def test_refusals(imbalanced, Ensemble, options, words):
    clf = Ensemble(GaussianNB(), **{"refit": True, **options})
    with pytest.raises(ValueError, match=words):
        clf.fit(*imbalanced)


@pytest.mark.parametrize("Ensemble", [tree_mesa, UnderBaggingClassifier])
def test_a_warm_start_cannot_go_on_from_a_refit(imbalanced, Ensemble):
    X, y = imbalanced
    options = {"n_estimators": 2, "validation_fraction": 0.2, "random_state": 0}
    with pytest.raises(
        ValueError, match="refit=True replaces the members that warm_start=True keeps"
    ):
        Ensemble(refit=True, warm_start=True, **options).fit(X, y)
    clf = Ensemble(refit=True, **options).fit(X, y)
    with pytest.raises(ValueError, match="the members were refitted on all rows"):
        clf.set_params(refit=False, warm_start=True, n_estimators=4).fit(X, y)


def test_verbose_shows_both_growths(imbalanced, capsys):
    clf = tree_mesa(n_estimators=2, refit=True, verbose=1, random_state=0)
    clf.fit(*imbalanced)
    out = capsys.readouterr().out
    assert "Growing members" in out
    assert "Refitting on all rows" in out


def test_all_rows_order_better(imbalanced):
    X, y = imbalanced
    means = [
        np.mean(
            [
                cross_val_score(
                    tree_mesa(
                        n_estimators=10, validation_fraction=0.4, refit=refit, random_state=seed
                    ),
                    X,
                    y,
                    scoring="average_precision",
                    cv=3,
                )
                for seed in range(5)
            ]
        )
        for refit in (False, True)
    ]
    assert means[1] > means[0]


def test_linear_members(imbalanced):
    X, y = imbalanced
    options = {"n_estimators": 3, "meta_sampler": 0.9, "random_state": 0}
    clf = tree_mesa(LogisticRegression(), refit=True, **options)
    whole = tree_mesa(LogisticRegression(), validation_fraction=None, **options)
    same_members(clf.fit(X, y), whole.fit(X, y), X)
