"""The default for more than two classes: all rows, three teams, and decisions about classes."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.ensemble._many_classes import (
    MANY_CLASS_RECIPES,
    class_factors,
    many_class_trees,
)
from metasampler.growth._draw import sample_sizes
from metasampler.persistence import load_model, save_model


def long_tail(seed=0, sizes=(300, 120, 50, 20, 8, 3, 1)):
    """Return rows of classes with a long tail, labelled so that sizes do not follow the order."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    centres = np.random.default_rng(99).normal(0, 2.5, (len(sizes), 6))
    X = centres[codes] + rng.normal(size=(len(codes), 6))
    X[rng.random(X.shape) < 0.02] = np.nan
    names = np.array(["f", "b", "d", "a", "g", "c", "e"])[: len(sizes)]
    order = rng.permutation(len(codes))
    return X[order], names[codes][order]


def mesa(preset="fast", **options):
    return MesaClassifier.from_preset(preset, **{"random_state": 0, **options})


@pytest.fixture(scope="module")
def fitted():
    X, y = long_tail()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mesa().fit(X, y)


@pytest.mark.parametrize("preset", ["default", "fast", "best"])
def test_every_preset_grows_three_teams_on_all_rows(preset):
    X, y = long_tail()
    clf = mesa(preset, n_estimators=14).fit(X, y)
    teams = clf.summary().teams
    assert [team["team"] for team in teams] == ["scouts", "trees", "extra trees", "together"]
    # Members leave out a fifth of every class, but never the only row of one.
    lone = int(np.flatnonzero(y == "e")[0])
    assert all(lone in rows for rows in clf.estimators_samples_)
    assert all(0.75 * len(y) < len(rows) < 0.85 * len(y) for rows in clf.estimators_samples_)
    proba = clf.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert (proba > 0).all()


def test_rare_classes_are_found():
    X, y = long_tail(sizes=(600, 300, 100, 50, 30))
    X_new, y_new = long_tail(1, sizes=(600, 300, 100, 50, 30))
    clf = mesa("default").fit(X, y)
    proba = clf.predict_proba(X_new)
    assert balanced_accuracy_score(y_new, clf.decide(proba)) > 0.85
    by_f1 = clf.set_threshold("macro_f1").decide(proba)
    most_probable = clf.set_threshold(None).decide(proba)
    assert f1_score(y_new, by_f1, average="macro") > 0.85
    assert np.mean(most_probable == y_new) > 0.88
    # What to expect of a class is about what new rows show.
    shown = recall_score(y_new, most_probable, average=None)
    assert_allclose(clf.expected_recall_, shown, atol=0.17)


def test_the_same_bits_for_any_number_of_threads(fitted):
    X, y = long_tail()
    again = mesa(n_jobs=3).fit(X, y)
    assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_the_same_bits_from_files(fitted, tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    from metasampler.datasets import ParquetRows

    X, y = long_tail()
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(label=y)
    # Some parts hold a few of the classes only.
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    in_parts = mesa().fit(ParquetRows(tmp_path / "rows.parquet", "label", memory=200_000))
    X_frame = frame.drop(columns="label")
    assert_array_equal(in_parts.predict_proba(X_frame), fitted.predict_proba(X))
    assert_array_equal(in_parts.expected_recall_, fitted.expected_recall_)


def test_a_stored_model_decides_by_other_goals(fitted, tmp_path):
    X, _ = long_tail()
    save_model(fitted, tmp_path / "model.mesa")
    loaded = load_model(tmp_path / "model.mesa")
    for twin in (loaded, pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(twin.predict_proba(X), fitted.predict_proba(X))
        goal = ("recall", {"a": 0.9})
        expected = pickle.loads(pickle.dumps(fitted)).set_threshold(goal)
        twin.set_threshold(goal)
        assert_array_equal(twin.class_thresholds_, expected.class_thresholds_)
        assert_array_equal(twin.predict(X), expected.predict(X))
        twin.set_params(threshold="macro_f1")
        assert str(twin.summary()).count("mean F1") == 1


def test_a_warm_start_is_one_longer_fit():
    X, y = long_tail()
    grown = mesa(n_estimators=11, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=14).fit(X, y)
    whole = mesa(n_estimators=14).fit(X, y)
    assert_array_equal(grown.predict_proba(X), whole.predict_proba(X))


def test_stages_end_with_the_whole(fitted):
    X, _ = long_tail()
    stages = list(fitted.staged_predict_proba(X))
    assert len(stages) == len(fitted.estimators_)
    assert_array_equal(stages[-1], fitted.predict_proba(X))
    assert all(np.isfinite(stage).all() for stage in stages)


@pytest.mark.parametrize("calibration", ["prior", None, "sigmoid"])
def test_calibrations(calibration):
    X, y = long_tail()
    clf = mesa(calibration=calibration).fit(X, y)
    assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
    names = {"prior": "prior", None: "none", "sigmoid": "softmax"}
    assert clf.calibration_.name == names[calibration]


def test_without_held_out_rows():
    X, y = long_tail()
    clf = mesa(validation_fraction=None).fit(X, y)
    assert clf.expected_recall_ is None
    assert clf.calibration_.name == "prior"
    assert np.mean(clf.predict(X) == y) > 0.9
    with pytest.raises(ValueError, match="threshold='macro_f1' is tuned on validation rows"):
        clf.set_threshold("macro_f1")
    clf.set_threshold(("cost", {"a": 3}))


def test_validation_rows_of_the_user():
    X, y = long_tail(sizes=(300, 120, 50, 20, 8))
    X_val, y_val = long_tail(2, sizes=(150, 60, 25, 10, 4))
    clf = mesa(threshold="macro_f1").fit(X, y, X_val=X_val, y_val=y_val)
    assert clf.calibration_.name == "softmax"
    assert np.isfinite(clf.expected_recall_).all()
    with pytest.raises(ValueError, match="y_val has no row of class"):
        mesa().fit(X, y, X_val=X_val[y_val != "a"], y_val=y_val[y_val != "a"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: mesa(n_estimators=9, meta_sampler=0.6),
        lambda: MesaClassifier(DecisionTreeClassifier(), 5, meta_sampler=0.6, refit=False),
    ],
    ids=["a sampler", "an estimator"],
)
def test_samples_that_are_drawn_grow_with_the_root_of_their_class(make):
    X, y = long_tail(sizes=(1000, 360, 90, 40, 10))
    clf = make().fit(X, y)
    assert_array_equal(clf.actions_, np.full(4, 0.6))
    for rows in clf.estimators_samples_[-5:]:
        counts = np.unique(y[rows], return_counts=True)[1]
        sizes = np.sort(counts)
        # A fifth is held out, of the smallest class too.
        assert sizes[0] == 8
        assert_allclose(sizes / sizes[0], np.sqrt([1, 4, 9, 36, 100]), atol=0.2)
    # As published they draw down to the smallest class.
    published = UnderBaggingClassifier(n_estimators=2).fit(X, y)
    assert len(published.estimators_samples_[0]) == 5 * 10


def test_sizes_of_samples():
    counts = np.array([900, 400, 100, 9])
    assert sample_sizes(counts, 3, 1.0, None, 0.5).tolist() == [90, 60, 30, 9]
    assert sample_sizes(counts, 3, 2.0, None, 0.5).tolist() == [180, 120, 60, 9]
    assert sample_sizes(counts, 3, 20.0, 500, 0.5).tolist() == [500, 400, 100, 9]
    assert sample_sizes(counts, 3, 1.0, None, 0.0).tolist() == [9, 9, 9, 9]
    # Sizes are rounded to the nearest number: ten times the root of 6.6 is 25.7.
    assert sample_sizes(np.array([1000, 66, 10]), 2, 1.0, None, 0.5).tolist() == [100, 26, 10]
    assert sample_sizes(counts, 3, np.inf, None, 0.5).tolist() == [900, 400, 100, 9]
    assert sample_sizes(np.array([5, 0]), 1, 1.0, None, 0.5).tolist() == [2, 0]


def test_all_classes_with_one_row():
    X = np.arange(24.0).reshape(12, 2)
    with pytest.warns(UserWarning, match="at least 2 are needed to hold out"):
        clf = mesa().fit(X, np.arange(12))
    assert_allclose(clf.predict_proba(X).sum(axis=1), 1)


def test_weights_of_rows_count():
    X, y = long_tail(sizes=(300, 120, 50, 20))
    X = X[:, :1]
    weights = np.where(y == "a", 10.0, 1.0)
    plain, weighted = (mesa().fit(X, y, sample_weight=w).predict_proba(X) for w in (None, weights))
    k = sorted(set(y)).index("a")
    assert weighted[:, k].mean() > 1.5 * plain[:, k].mean()


def test_a_class_counts_by_the_root_of_its_frequency():
    counts, weights = np.array([400, 100, 9]), np.array([400.0, 150.0, 9.0])
    sizes = np.array([200, 100, 9])
    factors = class_factors(counts, weights, sizes)
    in_member = sizes * weights / counts * factors
    assert_allclose(in_member / in_member[0], np.sqrt(weights / 400))
    assert in_member.sum() == pytest.approx(sizes.sum())


def test_leaves_are_larger_where_trees_would_take_too_much_memory():
    small, large = (
        many_class_trees(n, k, 120)[1].min_samples_leaf for n, k in ((6000, 8), (50_000, 300))
    )
    assert small == 1
    assert large > 10


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows_of_every_class_are_enough(n_rows):
    X, y = long_tail(sizes=(n_rows,) * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for clf in (mesa(), MesaClassifier(DecisionTreeClassifier(), 5, random_state=0)):
            assert_allclose(clf.fit(X, y).predict_proba(X).sum(axis=1), 1)
            assert np.mean(clf.predict(X) == y) > 0.5


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier()])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": None}, "Input y contains NaN: 20 of 502 labels are missing"),
        ({"y": np.nan}, "Input y contains NaN: 20 of 502 labels are missing"),
        ({"X_val": "a"}, r"y_val has no row of class \['a'\]"),
        ({"y_val": "zebra"}, r"y_val has classes that y does not have: \['zebra'\]"),
        ({"groups": True}, "All rows of class 'e' are in one group"),
        ({"time": True}, "must each hold at least 5 rows of every class"),
        ({"threshold": ("recall", {"zebra": 0.5})}, "'zebra' is not one of"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_any_work(monkeypatch, estimator, options, message):
    def never(*arguments, **options):
        raise AssertionError("work was started")

    monkeypatch.setattr("metasampler.growth._loop.Growth.run", never)
    X, y = long_tail()
    given = {}
    if "y" in options:
        y = np.where(y == "a", options["y"], y.astype(object))
    if "X_val" in options:
        given = {"X_val": X[y != "a"], "y_val": y[y != "a"]}
    if "y_val" in options:
        given = {"X_val": X, "y_val": np.where(y == "a", "zebra", y)}
    for name in ("groups", "time"):
        if name in options:
            given[name] = np.arange(len(y)) // 4
    clf = MesaClassifier(estimator, threshold=options.get("threshold", "balanced"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=message):
            clf.fit(X, y, **given)


def test_hundreds_of_classes_have_short_scouts():
    n_rounds = [
        MANY_CLASS_RECIPES["default"].sized_for(np.full(k, 20)).max_scout_rounds
        for k in (10, 300, 600, 5000)
    ]
    assert n_rounds == [80, 80, 40, 20]


def test_small_tables_have_half_of_the_trees():
    X, y = long_tail(sizes=(200, 100, 50))
    assert len(MesaClassifier(random_state=0).fit(X, y).estimators_) == 5 + 50
