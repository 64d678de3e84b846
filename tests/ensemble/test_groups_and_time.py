"""Groups stay together, newer rows judge, and what a fit expects then holds on tomorrow's rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedGroupKFold,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.datasets import ParquetRows
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.ensemble._cut_points import CutPoints
from metasampler.ensemble._forward import forward_splits
from metasampler.ensemble._held_out import HeldOut, count_units
from metasampler.ensemble._threshold import choose_threshold


def make_patients(n_patients, seed, noise=0.3, n_visits=8):
    """Return visits of patients: rows of one patient are alike, and have the same class."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n_patients, 6))
    risk = base[:, :2].sum(axis=1) + 2 * rng.normal(size=n_patients)
    ill = (risk > np.quantile(risk, 0.88)).astype(int)
    groups = np.repeat(np.arange(n_patients), n_visits)
    X = base[groups] + noise * rng.normal(size=(len(groups), 6))
    return X, ill[groups], groups


def make_drifting(n_rows, seed, start=0.0, stop=1.0):
    """Return rows over time: what decides the class changes, and the class becomes rarer."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.uniform(start, stop, n_rows))
    X = rng.normal(size=(n_rows, 5))
    score = (1 - time) * X[:, 0] + time * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n_rows)
    return X, (score > 1.6 + time).astype(int), time


# ---------------------------------------------------------------------------- groups


def test_what_is_expected_holds_for_new_groups():
    clf = MesaClassifier(threshold=("recall", 0.8), random_state=0)
    X, y, groups = make_patients(300, 0)
    X_new, y_new, _ = make_patients(2000, 1)

    def kept():
        called = clf.predict(X_new) == 1
        return y_new[called].mean(), called[y_new == 1].mean()

    alone = clf.fit(X, y)
    assert alone.expected_precision_ > kept()[0] + 0.3
    assert alone.expected_recall_ > kept()[1] + 0.3
    clf.fit(X, y, groups=groups)
    precision, recall = kept()
    assert clf.expected_precision_ == pytest.approx(precision, abs=0.06)
    assert clf.expected_recall_interval_[0] <= recall <= clf.expected_recall_interval_[1]
    # Rows of a patient are alike: there are 36 patients, not 288 rows.
    low, high = clf.expected_recall_interval_
    assert high - low > 0.2


@pytest.mark.parametrize(
    ("n_patients", "settings", "n_fits"),
    [
        (300, {}, 4),
        (300, {"positive": 1}, 4),
        (300, {"refit": False}, 1),
        (300, {"warm_start": True}, 1),
        (2500, {}, 1),
        # Clones would have too few patients with the disease.
        (25, {}, 1),
    ],
    ids=lambda value: str(value),
)
def test_few_groups_are_judged_by_clones(n_patients, settings, n_fits, monkeypatch):
    fitted = []
    original = MesaClassifier._fit_once

    def watch(clf, X, y, sample_weight=None, *, groups=None, **others):
        fitted.append(np.unique(groups))
        return original(clf, X, y, sample_weight, groups=groups, **others)

    monkeypatch.setattr(MesaClassifier, "_fit_once", watch)
    X, y, groups = make_patients(n_patients, 0, n_visits=4)
    if n_patients == 25:
        y = (groups % 9 == 0).astype(int)
    MesaClassifier(recipe="fast", random_state=0, **settings).fit(X, y, groups=groups)
    assert len(fitted) == n_fits
    # Every patient is new to one of the clones.
    assert len(fitted[0]) == n_patients
    if n_fits > 1:
        seen = np.bincount(np.concatenate(fitted[1:]), minlength=n_patients)
        np.testing.assert_array_equal(seen, 2)


def test_few_groups_are_expected_to_be_ranked_as_new_ones_are():
    # Few members that score a row rank it worse than the ensemble does: of new rows more is kept.
    gaps = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        place = rng.integers(0, 160, 8000)
        X = rng.normal(size=(8000, 8)) + 0.3 * rng.normal(size=(160, 8))[place]
        y = (X[:, :4].sum(axis=1) + rng.normal(size=8000) > 4).astype(int)
        old = place < 40
        clf = MesaClassifier(threshold="f1", random_state=seed)
        clf.fit(X[old], y[old], groups=place[old])
        called, found = clf.predict(X[~old]) == 1, y[~old] == 1
        kept = found[called].mean(), called[found].mean()
        gaps.append(np.subtract(kept, (clf.expected_precision_, clf.expected_recall_)))
    # By the members that left a place out alone both are .15 and more.
    assert np.all(np.abs(np.mean(gaps, axis=0)) < 0.08)


def cases():
    return {
        "teams": MesaClassifier(random_state=0),
        "one team": tree_mesa(n_estimators=6, random_state=0),
        "few": MesaClassifier(DecisionTreeClassifier(max_depth=3), 4, random_state=0),
        "bagging": UnderBaggingClassifier(
            n_estimators=4, validation_fraction=0.25, refit=False, random_state=0
        ),
    }


@pytest.mark.parametrize("name", cases())
def test_no_member_that_scores_a_row_has_seen_its_group(name, monkeypatch):
    from metasampler.growth import Growth

    n_patients = 80 if name == "few" else 200
    X, y, groups = make_patients(n_patients, 0, n_visits=4)
    judged = []
    original = Growth.judged

    def watch(growth):
        found = original(growth)
        judged.append((growth, found[0]))
        return found

    monkeypatch.setattr(Growth, "judged", watch)
    cases()[name].fit(X, y, groups=groups)
    assert judged
    for growth, rows in judged:
        assert len(rows)
        for number, sample in enumerate(growth.samples):
            seen = np.isin(groups[rows], groups[sample])
            if not growth.data.n_folds:
                assert not seen.any()
                continue
            # With rotation a member scores the rows of its own fold.
            valid = growth.data.evaluation_rows("valid")
            own = valid.rows[valid.folds == number % growth.data.n_folds]
            assert not np.isin(groups[own], groups[sample]).any()


def test_the_order_of_rows_does_not_change_the_folds_of_groups():
    X, y, groups = make_patients(100, 0)
    names = np.array([f"patient {g}" for g in groups])
    first = tree_mesa(n_estimators=4, random_state=0).fit(X, y, groups=names)
    held = np.setdiff1d(names, names[np.concatenate(first.estimators_samples_[:1])])
    again = tree_mesa(n_estimators=4, random_state=0).fit(X, y, groups=list(names))
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    assert len(held) or first.refit_


def test_groups_that_help_nothing_are_refused():
    X, y, groups = make_patients(60, 0)
    clf = tree_mesa(n_estimators=2, random_state=0)
    with pytest.raises(ValueError, match="groups has 5 values, and X has 480 rows"):
        clf.fit(X, y, groups=groups[:5])
    with pytest.raises(ValueError, match="groups has no value in 1 of 480 rows"):
        clf.fit(X, y, groups=np.where(np.arange(480) == 7, np.nan, groups))
    with pytest.raises(ValueError, match="All rows of class 1 are in one group"):
        clf.fit(X, y, groups=np.where(y == 1, -1, groups))
    with pytest.raises(ValueError, match="choose the validation rows by group"):
        clf.fit(X, y, groups=groups, X_val=X[:99], y_val=y[:99])


def test_a_weight_of_zero_leaves_a_row_and_its_group_out():
    X, y, groups = make_patients(100, 0)
    weights = (groups % 10 != 3).astype(float)
    kept = weights > 0
    clf = tree_mesa(n_estimators=4, random_state=0)
    some = clf.fit(X, y, weights, groups=groups).predict_proba(X)
    only = clf.fit(X[kept], y[kept], weights[kept], groups=groups[kept]).predict_proba(X)
    np.testing.assert_allclose(some, only)


def test_groups_reach_the_fit_in_scikit_learns_tools():
    X, y, groups = make_patients(120, 0)
    seen = []

    class Watched(MesaClassifier):
        def fit(self, X, y=None, sample_weight=None, *, groups=None, time=None):
            seen.append(None if groups is None else len(groups))
            return super().fit(X, y, groups=groups)

    with config_context(enable_metadata_routing=True):
        clf = Watched(DecisionTreeClassifier(), 3, meta_sampler=0.9, random_state=0)
        clf.set_fit_request(groups=True)
        model = make_pipeline(StandardScaler(), clf)
        cross_validate(model, X, y, cv=GroupKFold(3), params={"groups": groups})
        assert seen == [640, 640, 640]
        search = GridSearchCV(model, {"watched__n_estimators": [2]}, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
        assert seen[-1] == len(y)


def test_rows_in_files_have_a_column_of_groups(tmp_path):
    X, y, groups = make_patients(150, 0)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(ill=y, patient=groups)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=97)
    clf = MesaClassifier.from_preset("fast", random_state=0, threshold=("recall", 0.8))
    X = frame[list("abcdef")]
    in_memory = clone(clf).fit(X, y, groups=groups)
    rows = ParquetRows(tmp_path / "rows.parquet", "ill", group="patient", memory="1 MB")
    in_files = clone(clf).fit(rows)
    np.testing.assert_array_equal(in_files.feature_names_in_, list("abcdef"))
    np.testing.assert_array_equal(in_files.predict_proba(X), in_memory.predict_proba(X))
    assert in_files.expected_recall_interval_ == in_memory.expected_recall_interval_
    np.testing.assert_array_equal(in_files.predict_proba(rows), in_memory.predict_proba(X))
    with pytest.raises(ValueError, match="name their column, as in ParquetRows"):
        clone(clf).fit(rows, groups=groups)
    with pytest.raises(ValueError, match="There is no column 'patients'"):
        clone(clf).fit(ParquetRows(tmp_path / "rows.parquet", "ill", group="patients"))
    frame.assign(patient=None).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="column 'patient' has no value in 1200 of 1200 rows"):
        clone(clf).fit(ParquetRows(tmp_path / "none.parquet", "ill", group="patient"))


# ---------------------------------------------------------------------------- time


def test_what_is_expected_holds_on_the_next_rows():
    X, y, time = make_drifting(6000, 0)
    X_new, y_new, _ = make_drifting(20_000, 1, 1.0, 1.1)
    clf = MesaClassifier(threshold=("recall", 0.8), random_state=0)

    def wrong():
        called = clf.predict(X_new) == 1
        kept = y_new[called].mean(), called[y_new == 1].mean()
        expected = clf.expected_precision_, clf.expected_recall_
        return np.abs(np.subtract(kept, expected)).max()

    clf.fit(X, y)
    without = wrong()
    clf.fit(X, y, time=time)
    assert wrong() < 0.06
    assert without > 0.12


@pytest.mark.parametrize(
    "make",
    [
        lambda days: days,
        lambda days: np.datetime64("2024-01-01") + days.astype("timedelta64[D]"),
        lambda days: pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(days, "D"),
        lambda days: pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(days, "D")).dt.strftime(
            "%Y-%m-%d"
        ),
    ],
    ids=["numbers", "dates", "zone", "texts"],
)
def test_times_of_any_kind_split_alike(make):
    rng = np.random.default_rng(0)
    days, y = rng.integers(0, 60, 900), (rng.random(900) < 0.3).astype(int)
    ((older, newer),) = forward_splits(make(days), y)
    ((older_days, newer_days),) = forward_splits(days, y)
    np.testing.assert_array_equal(older, older_days)
    np.testing.assert_array_equal(newer, newer_days)
    assert days[older].max() < days[newer].min()
    assert 0.15 < len(newer) / 900 < 0.25


def test_groups_do_not_cross_the_border():
    rng = np.random.default_rng(0)
    days, groups = rng.integers(0, 60, 900), rng.integers(0, 50, 900)
    y = (rng.random(900) < 0.3).astype(int)
    pairs = forward_splits(days, y, groups)
    assert len(pairs) == 3
    for older, newer in pairs:
        assert days[older].max() < days[newer].min()
        assert not np.isin(groups[newer], groups[older]).any()
    ((_, newest),) = forward_splits(days, y)
    np.testing.assert_array_equal(np.sort(np.concatenate([newer for _, newer in pairs])), newest)


def test_few_rare_rows_move_the_border():
    days, y = np.arange(1000), (np.arange(1000) % 20 == 0).astype(int)
    ((_, newer),) = forward_splits(days, y)
    assert y[newer].sum() >= 20
    with pytest.raises(ValueError, match="time cannot split the rows"):
        forward_splits(days, (days < 50).astype(int))
    with pytest.raises(ValueError, match="time cannot split the rows"):
        forward_splits(np.zeros(1000), y)


def test_all_rows_are_trained_on_unless_refit_is_false():
    X, y, time = make_drifting(2000, 0)
    own = MesaClassifier(DecisionTreeClassifier(), 4, meta_sampler=0.9, random_state=0)
    ((_, newest),) = forward_splits(time, y)
    trained = own.fit(X, y, time=time).estimators_samples_
    assert np.isin(newest, np.concatenate(trained)).any()
    assert own.class_counts_.sum() == 2000
    own.set_params(refit=False).fit(X, y, time=time)
    assert own.class_counts_.sum() == 2000 - len(newest)


@pytest.mark.parametrize("in_memory", [True, False], ids=["in memory", "Parquet"])
def test_a_warm_start_needs_the_same_groups(in_memory, tmp_path):
    # Members would be judged on rows that earlier ones were fitted on.
    X, y, groups = make_patients(100, 0)
    columns = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns).assign(label=y)

    def fit(clf, groups):
        if in_memory:
            return clf.fit(X, y, groups=groups)
        rows, path = frame, tmp_path / "rows.parquet"
        if groups is not None:
            rows = frame.assign(patient=groups)
        rows.to_parquet(path)
        return clf.fit(ParquetRows(path, "label", group=None if groups is None else "patient"))

    first, later = groups, groups[::-1] // 2
    for before, now in [(first, None), (None, first), (first, later)]:
        clf = tree_mesa(n_estimators=2, warm_start=True, random_state=0)
        fit(clf, before).set_params(n_estimators=3)
        with pytest.raises(ValueError, match="pass the same rows, or set warm_start=False"):
            fit(clf, now)
        assert len(fit(clf, before).estimators_) == 3


def test_times_that_help_nothing_are_refused():
    X, y, time = make_drifting(600, 0)
    clf = tree_mesa(n_estimators=2, random_state=0)
    with pytest.raises(ValueError, match="time has 5 values, and y has 600"):
        clf.fit(X, y, time=time[:5])
    with pytest.raises(ValueError, match="time has no value in 1 of 600 rows"):
        clf.fit(X, y, time=np.where(np.arange(600) == 3, np.nan, time))
    with pytest.raises(ValueError, match="time must hold numbers or dates"):
        clf.fit(X, y, time=["noon"] * 600)
    with pytest.raises(ValueError, match="leave time or X_val out"):
        clf.fit(X, y, time=time, X_val=X[:99], y_val=y[:99])
    with pytest.raises(ValueError, match="does not go with warm_start"):
        tree_mesa(n_estimators=2, warm_start=True).fit(X, y, time=time)
    with pytest.raises(ValueError, match="cannot be passed for rows outside of memory"):
        clf.fit("rows.parquet", "y", time=time)


def test_groups_and_time_together():
    X, y, groups = make_patients(300, 0)
    time = np.random.default_rng(0).integers(0, 100, len(y))
    clf = MesaClassifier.from_preset("fast", threshold=("recall", 0.8), random_state=0)
    clf.fit(X, y, groups=groups, time=time)
    X_new, y_new, _ = make_patients(2000, 1)
    called = clf.predict(X_new) == 1
    assert clf.expected_precision_ == pytest.approx(y_new[called].mean(), abs=0.08)


def test_a_fit_without_either_is_what_it_was():
    X, y = make_classification(800, weights=[0.9], random_state=0)
    clf = tree_mesa(n_estimators=3, random_state=0)
    one = clf.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(clf.fit(X, y, groups=None, time=None).predict_proba(X), one)


@pytest.mark.parametrize("refit", ["auto", False])
@pytest.mark.parametrize("by_group", [False, True], ids=["time", "groups and time"])
def test_rows_in_files_have_a_column_of_times(by_group, refit, tmp_path):
    X, y, time = make_drifting(2500, 0)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    X, y, time = X[order], y[order], time[order]
    groups = rng.integers(0, 300, len(y)) if by_group else None
    weights = rng.choice([0.5, 1.0, 2.0], len(y))
    frame = pd.DataFrame(X, columns=list("abcde"))
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(time * 1000, "h")
    clf = MesaClassifier(recipe="fast", threshold=("recall", 0.8), refit=refit, random_state=0)
    in_memory = clone(clf).fit(frame, y, weights, groups=groups, time=when)
    stored = frame.assign(rare=y, weight=weights, when=when)
    stored = stored if groups is None else stored.assign(who=groups)
    stored.to_parquet(tmp_path / "rows.parquet", row_group_size=333)
    rows = ParquetRows(
        tmp_path / "rows.parquet",
        "rare",
        weight="weight",
        group="who" if by_group else None,
        time="when",
        memory="1 MB",
    )
    in_files = clone(clf).fit(rows)
    np.testing.assert_array_equal(in_files.feature_names_in_, list("abcde"))
    np.testing.assert_array_equal(in_files.predict_proba(frame), in_memory.predict_proba(frame))
    assert in_files.threshold_ == in_memory.threshold_
    assert in_files.expected_recall_interval_ == in_memory.expected_recall_interval_
    np.testing.assert_array_equal(in_files.predict_proba(rows), in_memory.predict_proba(frame))
    with pytest.raises(ValueError, match="name their columns, as in ParquetRows"):
        clone(clf).fit(rows, time=when)
    with pytest.raises(ValueError, match="no column 'whenever'"):
        clone(clf).fit(ParquetRows(tmp_path / "rows.parquet", "rare", time="whenever"))


def test_groups_and_times_of_a_wrong_shape_are_named():
    X, y = make_classification(600, 5, weights=[0.8], random_state=0)
    clf = MesaClassifier(recipe="fast", random_state=0)
    time, groups = np.arange(600.0), np.arange(600) % 90
    # One of the two groups of the rare class begins late.
    rare = np.where(y == 0, groups, np.where((time >= 480) & (time % 2 == 0), 998, 999))
    for options, message in (
        ({"groups": np.c_[groups, groups]}, "groups must have one value for each row"),
        ({"groups": "patient"}, "groups must have one value for each row"),
        ({"time": np.c_[time, time]}, "time must have one number or date for each row"),
        ({"time": 5}, "time must have one number or date for each row"),
        ({"time": time, "groups": groups[1:]}, "groups has 599 values"),
        ({"time": time, "groups": np.where(groups == 3, np.nan, groups)}, "groups has no value in"),
        ({"time": time, "groups": np.zeros(600)}, "are in one group"),
        ({"time": time, "sample_weight": np.ones(3)}, "sample_weight has 3 values"),
        ({"time": time, "groups": rare}, "leave no older row"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.fit(X, y, **options)


# ---------------------------------------------------------------------------- how many rows tell


@pytest.mark.parametrize("by", ["fit", "clones", "groups and time"])
def test_intervals_hold_for_new_patients(by):
    inside, errors = [], []
    for seed in range(8):
        X, y, groups = make_patients(300, seed, noise=0.1)
        X_new, y_new, _ = make_patients(1500, 100 + seed, noise=0.1)
        clf = MesaClassifier(recipe="fast", random_state=seed)
        time = np.random.default_rng(seed).uniform(size=len(y)) if "time" in by else None
        clf.fit(X, y, groups=groups, time=time)
        if by == "clones":
            splits = StratifiedGroupKFold(5, shuffle=True, random_state=0).split(X, y, groups)
            pairs = [
                (clone(clf).fit(X[train], y[train], groups=groups[train]), test)
                for train, test in splits
            ]
            clf.recalibrate(X, y, groups=groups, fitted=pairs)
        scores = clf.predict_proba(X_new)[:, 1]
        for goal in ("balanced", ("recall", 0.8), ("cost", 10, 1), "f1"):
            clf.set_threshold(goal)
            kept = (scores >= clf.threshold_)[y_new == 1].mean()
            low, high = clf.expected_recall_interval_
            inside.append(low <= kept <= high)
            errors.append(clf.expected_recall_ - kept)
    assert np.mean(inside) >= 0.84
    assert abs(np.mean(errors)) < 0.08


def test_rows_of_few_groups_are_few():
    rows = np.arange(400)
    codes, groups = (rows < 100).astype(int), rows // 20
    held_out = HeldOut(rows, np.full((400, 2), 0.5), codes, None)
    assert not held_out.are_few(2)
    assert held_out._replace(groups=groups).are_few(2)
    np.testing.assert_array_equal(count_units(codes, 3, groups), [15, 5, 0])


def test_copies_of_a_row_tell_no_more_than_the_row():
    rng = np.random.default_rng(0)
    scores, positive = rng.random(60), np.arange(60) < 6
    alone = CutPoints.of(scores, positive)
    copies = np.repeat(np.arange(60), 50)
    many = CutPoints.of(scores[copies], positive[copies], groups=copies)
    of_rows, of_copies = (
        choose_threshold(0.5, cuts, prior=0.1).recall_interval for cuts in (alone, many)
    )
    assert of_copies == pytest.approx(of_rows, abs=0.02)
    # All rows of the class in one group tell as much as one row.
    one = CutPoints.of(
        scores[copies], positive[copies], groups=np.where(positive[copies], -1, copies)
    )
    low, high = choose_threshold(0.5, one, prior=0.1).recall_interval
    assert high - low > 0.7


def test_newer_rows_hold_enough_groups():
    # In each fifth of the time there are 12 groups of the rare class, with many rows.
    time = np.arange(3000.0)
    groups, y = np.arange(3000) // 10, (np.arange(3000) // 10 % 5 == 0).astype(int)
    pairs = forward_splits(time, y, groups)
    newer = np.concatenate([judged for _, judged in pairs])
    assert len(np.unique(groups[newer][y[newer] == 1])) >= 30


@pytest.mark.parametrize("by_group", [False, True], ids=["time", "groups and time"])
def test_rows_without_weight_neither_train_nor_judge(by_group):
    X, y, time = make_drifting(2400, 0)
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 300, len(y)) if by_group else None
    # The newest rows among them: others are then the newest.
    weights = rng.choice([0.0, 1.0, 2.0], len(y)) * (time < 0.8)
    kept = weights > 0
    clf = MesaClassifier(recipe="fast", random_state=0)
    some = clone(clf).fit(X, y, weights, groups=groups, time=time)
    of_kept = None if groups is None else groups[kept]
    only = clone(clf).fit(X[kept], y[kept], weights[kept], groups=of_kept, time=time[kept])
    np.testing.assert_array_equal(some.predict_proba(X), only.predict_proba(X))
    assert some.expected_recall_interval_ == only.expected_recall_interval_
