"""LightGBM members on a table that is binned once."""

import pickle

import lightgbm
import numpy as np
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.growth import (
    Adapter,
    RandomStreams,
    make_adapters,
    make_growth_data,
)
from metasampler.growth._base_estimators import is_plain_booster
from metasampler.growth._lightgbm_adapter import BoostedMember, LightGBMAdapter

QUICK = {"n_estimators": 8, "num_leaves": 7, "min_child_samples": 5, "verbose": -1}


@pytest.fixture
def n_binned(monkeypatch):
    """Count how often a table is binned."""
    tables = []

    class Counted(lightgbm.Dataset):
        def __init__(self, data, *args, **options):
            if data is not None:
                tables.append(data)
            super().__init__(data, *args, **options)

    monkeypatch.setattr(lightgbm, "Dataset", Counted)
    return lambda: len(tables)


def some_rows(X, seed=0, size=200):
    return np.sort(np.random.default_rng(seed).choice(len(X), size, replace=False))


@pytest.mark.parametrize("settings", [{}, {"learning_rate": 0.3, "colsample_bytree": 0.5}])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_member_is_what_lightgbm_makes_of_the_binned_rows(imbalanced, settings, weighted):
    X, y = imbalanced
    rows = some_rows(X)
    weights = np.random.default_rng(1).random(len(rows)) + 0.5 if weighted else None
    adapter = LightGBMAdapter(LGBMClassifier(**QUICK, **settings), 2)
    member = adapter.fit(X, y, rows, 5, weights)
    params = {
        "objective": "binary",
        "num_leaves": 7,
        "min_child_samples": 5,
        "seed": 5,
        "verbose": -1,
        "num_threads": 1,
        "force_row_wise": True,
        "feature_pre_filter": False,
        # What LGBMClassifier says of its own.
        "subsample_for_bin": 200000,
        "min_child_weight": 1e-3,
        **settings,
    }
    part = lightgbm.Dataset(X, y, params=params).subset(list(rows))
    part.construct()
    if weighted:
        part.set_weight(weights)
    expected = lightgbm.train(params, part, 8).predict(X)
    assert_allclose(member.predict_proba(X)[:, 1], expected, rtol=1e-12)
    assert_array_equal(adapter.probabilities(member, X), member.predict_proba(X)[:, 1])


def test_a_member_on_all_rows_is_that_of_the_classifier(imbalanced):
    X, y = imbalanced
    base = LGBMClassifier(**QUICK, random_state=3, n_jobs=1, force_row_wise=True)
    expected = base.fit(X, y).predict_proba(X)
    member = LightGBMAdapter(base, 2).fit(X, y, None, 3)
    assert_allclose(member.predict_proba(X), expected, rtol=1e-12)
    assert member.n_rounds_ == 8
    gains = base.booster_.feature_importance("gain")
    assert_allclose(member.feature_importances_, gains / gains.sum(), rtol=1e-5)


def test_the_settings_of_the_bins_count(imbalanced):
    X, y = imbalanced
    base = LGBMClassifier(**QUICK, max_bin=5, random_state=3, n_jobs=1, force_row_wise=True)
    member = LightGBMAdapter(base, 2).fit(X, y, None, 3)
    assert_allclose(member.predict_proba(X), base.fit(X, y).predict_proba(X), rtol=1e-12)


def test_many_classes(three_classes):
    X, y = three_classes
    codes = np.unique(y, return_inverse=True)[1]
    base = LGBMClassifier(**QUICK, random_state=3, n_jobs=1, force_col_wise=True)
    member = LightGBMAdapter(base, 3).fit(X, codes, None, 3)
    proba = member.predict_proba(X)
    assert_allclose(proba, base.fit(X, codes).predict_proba(X), rtol=1e-9)
    assert_allclose(proba.sum(axis=1), 1)


def test_categories_are_split_as_categories():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 2000), rng.normal(size=2000)]).astype(float)
    y = (X[:, 0] % 2).astype(int)
    few = LGBMClassifier(n_estimators=1, num_leaves=2, cat_smooth=1, verbose=-1)
    auc = []
    for categories in ([], [0]):
        proba = (
            LightGBMAdapter(few, 2, categorical_features=categories)
            .fit(X, y, None, 0)
            .predict_proba(X)[:, 1]
        )
        auc.append(np.mean(proba[y == 1]) - np.mean(proba[y == 0]))
    assert auc[1] > auc[0] + 0.05


# ---------------------------------------------------------------------- binned once


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("recipe", ["default", "fast"])
def test_one_fit_bins_once(for_teams, n_binned, recipe, n_jobs):
    MesaClassifier(None, 5, recipe=recipe, n_jobs=n_jobs, random_state=0).fit(*for_teams)
    assert n_binned() == 1


def test_members_of_your_own_bin_once(imbalanced, n_binned):
    clf = UnderBaggingClassifier(LGBMClassifier(**QUICK), n_estimators=4, random_state=0)
    clf.fit(*imbalanced)
    assert n_binned() == 1
    assert all(isinstance(member, BoostedMember) for member in clf.estimators_)


def test_another_table_is_binned_anew(imbalanced, n_binned):
    X, y = imbalanced
    adapter = LightGBMAdapter(LGBMClassifier(**QUICK), 2)
    adapter.fit(X, y, None, 0)
    twin = adapter.alike(LGBMClassifier(**QUICK))
    twin.fit(X, y, some_rows(X), 1)
    adapter.own_copy().fit(X, y, some_rows(X), 1)
    assert n_binned() == 1
    twin.fit(X.copy(), y, None, 0)
    assert n_binned() == 2


# ---------------------------------------------------------------------- early stopping


@pytest.mark.parametrize("name", ["early_stopping_round", "early_stopping_rounds"])
def test_members_stop_by_exactly_the_rows_they_must_not_see(imbalanced, name):
    X, y = imbalanced
    unseen = some_rows(X, 1, 150)
    rows = np.setdiff1d(np.arange(len(X)), unseen)
    settings = {**QUICK, "n_estimators": 200, "learning_rate": 0.3}
    adapter = LightGBMAdapter(LGBMClassifier(**settings, **{name: 5}), 2)
    assert adapter.stops_early
    member = adapter.fit(X, y, rows, 0, None, unseen)
    whole = LightGBMAdapter(LGBMClassifier(**settings), 2).fit(X, y, rows, 0)
    losses = []
    for n_rounds in range(1, member.n_rounds_ + 6):
        proba = whole.booster_.predict(X[unseen], num_iteration=n_rounds)
        losses.append(-np.mean(np.log(np.where(y[unseen] == 1, proba, 1 - proba))))
    assert np.argmin(losses) == member.n_rounds_ - 1
    assert 1 < member.n_rounds_ < 200
    assert_allclose(
        member.predict_proba(X)[:, 1],
        whole.booster_.predict(X, num_iteration=member.n_rounds_),
        rtol=1e-12,
    )
    # Their weights count: those of weight zero do not.
    counts = np.where(np.arange(150) < 40, 0.0, 1.0)
    part = adapter.fit(X, y, rows, 0, None, unseen, counts)
    assert part.n_rounds_ == adapter.fit(X, y, rows, 0, None, unseen[40:]).n_rounds_
    # Without such rows there is nothing to stop by.
    assert adapter.fit(X, y, rows, 0).n_rounds_ == 200


def test_the_pace_doubles_where_it_is_asked_for(imbalanced):
    X, y = imbalanced
    adapter = LightGBMAdapter(LGBMClassifier(**QUICK), 2)
    plain = adapter.fit(X, y, None, 0)
    adapter.doubles_after = 3
    doubled = adapter.fit(X, y, None, 0)
    before = [m.booster_.predict(X, raw_score=True, num_iteration=3) for m in (plain, doubled)]
    assert_allclose(*before)
    after = [m.booster_.predict(X, raw_score=True, num_iteration=4) for m in (plain, doubled)]
    assert_allclose(after[1] - before[1], 2 * (after[0] - before[0]), atol=1e-12)


# ---------------------------------------------------------------------- what else a fit needs


def test_pickles_hold_the_trees_and_nothing_of_the_rows(imbalanced):
    X, y = imbalanced
    adapter = LightGBMAdapter(LGBMClassifier(**QUICK), 2)
    member = adapter.fit(X, y, None, 0)
    again = pickle.loads(pickle.dumps(member))
    assert_array_equal(again.predict_proba(X), member.predict_proba(X))
    assert again.n_rounds_ == member.n_rounds_
    # Nor does that of a adapter: another process bins its own table.
    stored = pickle.dumps(adapter)
    assert len(stored) < X.nbytes / 4
    twin = pickle.loads(stored).fit(X, y, None, 0)
    assert_array_equal(twin.predict_proba(X), member.predict_proba(X))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows(imbalanced, form):
    X, y = imbalanced
    X = np.where(np.abs(X) < 1, 0, X)
    adapter = LightGBMAdapter(LGBMClassifier(**QUICK), 2)
    dense = adapter.fit(X, y, some_rows(X), 0).predict_proba(X)
    member = adapter.fit(form(X), y, some_rows(X), 0)
    assert_allclose(member.predict_proba(form(X)), dense, rtol=1e-9)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_same_for_any_number_of_jobs(imbalanced, n_jobs):
    X, y = imbalanced
    one, many = (
        UnderBaggingClassifier(LGBMClassifier(**QUICK), 5, n_jobs=n, random_state=0).fit(X, y)
        for n in (1, n_jobs)
    )
    assert_array_equal(one.predict_proba(X), many.predict_proba(X))


def test_an_objective_that_is_the_usual_one_changes_nothing(imbalanced):
    X, y = imbalanced
    given = LGBMClassifier(**QUICK, objective="binary")
    clf = UnderBaggingClassifier(given, 2, random_state=0).fit(X, y)
    usual = UnderBaggingClassifier(LGBMClassifier(**QUICK), 2, random_state=0).fit(X, y)
    assert_array_equal(clf.predict_proba(X), usual.predict_proba(X))


def test_members_with_another_sigmoid_answer_as_lightgbm_does(imbalanced):
    X, y = imbalanced
    adapter = make_adapters(LGBMClassifier(**QUICK, sigmoid=2.0), [X], 2).of(0)
    adapter.prepare(X, y)
    member = adapter.fit(X, y, None, 0)
    own = clone(adapter.estimator).set_params(random_state=0, n_jobs=1).fit(X, y)
    assert_allclose(member.predict_proba(X), own.predict_proba(X))


def test_which_boosters_are_fitted_here(imbalanced):
    X, y = imbalanced

    class Own(LGBMClassifier):
        pass

    for plain in ({"subsample": 0.5}, {"objective": "binary"}, {"objective": "multiclass"}):
        assert is_plain_booster(LGBMClassifier(**plain))
    others = [
        LGBMClassifier(class_weight="balanced"),
        LGBMClassifier(objective="cross_entropy"),
        LGBMClassifier(linear_tree=True),
        # LightGBM has other names for these settings.
        LGBMClassifier(linear_trees=True),
        LGBMClassifier(app="cross_entropy"),
        LGBMClassifier(boosting="goss"),
        LGBMClassifier(sigmoid=2.0),
        Own(),
    ]
    for other in others:
        assert not is_plain_booster(other)
        assert type(make_adapters(other, [X], 2).of(0)) is Adapter
    frame_like = make_growth_data(
        X,
        y,
        estimator=LGBMClassifier(),
        validation_fraction=None,
        sampling_ratio=1.0,
        scoring="roc_auc",
        streams=RandomStreams(0),
    )
    assert isinstance(frame_like.tables[0], np.ndarray)
    assert type(make_adapters(LGBMClassifier(), frame_like.tables, 2).of(0)) is LightGBMAdapter
