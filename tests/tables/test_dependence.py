"""Rows that depend on each other are found, from a column or from features alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from metasampler import MesaClassifier
from metasampler.persistence import load_model, save_model
from metasampler.tables import find_dependence, inspect_columns


def make_patients(noise, n_patients=300, seed=0):
    """Return rows of patients, ten each and shuffled, their class, and their patient."""
    rng = np.random.default_rng(seed)
    patient = rng.permutation(np.repeat(np.arange(n_patients), 10))
    base = rng.normal(size=(n_patients, 6))
    risk = base[:, :2].sum(axis=1) + 2 * rng.normal(size=n_patients)
    X = base[patient] + noise * rng.normal(size=(len(patient), 6))
    return X, (risk > np.quantile(risk, 0.9))[patient].astype(int), patient


def kinds(columns, y, **options):
    return [(each.kind, each.column) for each in find_dependence(list(columns.T), y, **options)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.3])
def test_rows_of_patients_are_found_by_features_alone(noise, seed):
    X, y, _ = make_patients(noise, seed=seed)
    assert kinds(X, y) == [("alike", None)]


@pytest.mark.parametrize("noise", [0.05, 0.3, 0.6, 1.0])
def test_a_column_of_patients_is_found(noise):
    X, y, patient = make_patients(noise)
    assert ("entity", 6) in kinds(np.column_stack([X, patient]), y)
    # Names, in any order, of which none is in the neighbourhood of another.
    names = np.random.default_rng(0).permutation(300)[patient]
    assert ("entity", 6) in kinds(np.column_stack([X, names]), y, categories=[6])


@pytest.mark.parametrize("n_rows", [500, 4000, 30_000])
@pytest.mark.parametrize("seed", range(3))
def test_independent_rows_raise_no_alarm(n_rows, seed):
    rng = np.random.default_rng(seed)
    X, y = make_classification(n_rows, 8, n_informative=5, weights=[0.93], random_state=seed)
    ages, towns = rng.integers(18, 90, n_rows), rng.integers(0, 60, n_rows)
    days = rng.uniform(0, 365, n_rows)
    table = np.column_stack([X.round(1), ages, towns, days])
    assert kinds(table, y, categories=[9], dates=[10]) == []


def test_a_date_that_orders_the_classes_is_found():
    rng = np.random.default_rng(0)
    days = rng.uniform(0, 365, 3000)
    y = (rng.random(3000) < np.where(days > 280, 0.2, 0.05)).astype(int)
    assert kinds(days[:, np.newaxis], y, dates=[0]) == [("time", 0)]
    steady = (rng.random(3000) < 0.1).astype(int)
    assert kinds(days[:, np.newaxis], steady, dates=[0]) == []


def test_many_rows_of_few_entities_are_judged_by_whole_entities():
    X, y, patient = make_patients(1.0, n_patients=6000)
    assert kinds(np.column_stack([X, patient]), y) == [("entity", 6)]


@pytest.mark.parametrize(
    "columns",
    [
        np.full((400, 3), np.nan),
        np.zeros((400, 3)),
        np.empty((400, 0)),
        np.tile([[1e308, -1e308, 0.0]], (400, 1)),
    ],
    ids=["missing", "constant", "no columns", "huge"],
)
def test_columns_that_say_nothing(columns):
    y = np.arange(400) % 5 == 0
    assert kinds(columns, y.astype(int)) == []


def test_few_rows_of_a_class_say_nothing():
    X, y, _ = make_patients(0.0, n_patients=30)
    assert kinds(X, y) == []


def frame_of_patients():
    X, y, patient = make_patients(0.3)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    return frame.assign(patient=[f"P{number}" for number in patient]), y, patient


def test_inspect_columns_names_the_option():
    frame, y, _ = frame_of_patients()
    report = inspect_columns(frame, y)
    assert list(report.warned) == ["patient"]
    assert "--group" in report.warned["patient"]
    assert "groups=" in report.repeats
    assert "Rows repeat" in str(report)
    known = report.with_groups_known()
    assert known.warned == {}
    assert "Rows repeat" not in str(known)
    assert inspect_columns(frame, y, keep=["patient"]).warned == {}
    assert inspect_columns(frame).repeats == ""


def test_a_fit_says_so_and_groups_are_the_answer(tmp_path):
    frame, y, patient = frame_of_patients()
    clf = MesaClassifier(recipe="fast", random_state=0).fit(frame, y)
    assert [each.split(":")[0] for each in clf.findings_] == ["Column 'patient'", "Rows repeat"]
    assert "fit with groups=" in str(clf.summary())
    path = tmp_path / "model.mesa"
    save_model(clf, path)
    assert load_model(path).findings_ == clf.findings_
    clf.fit(frame.drop(columns="patient"), y, groups=patient)
    assert clf.findings_ == []
    assert "Look at this" not in str(clf.summary())


def test_a_fit_by_time_knows_that_classes_change():
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 365, 3000), "D")
    y = (rng.random(3000) < np.where(when > "2026-10-10", 0.2, 0.05)).astype(int)
    frame = pd.DataFrame({"when": when, "x": rng.normal(size=3000) + y})
    clf = MesaClassifier(recipe="fast", random_state=0)
    assert "time= (--time)" in clf.fit(frame, y).findings_[0]
    assert clf.fit(frame, y, time=when).findings_ == []


@pytest.mark.parametrize("n_visits", [4, 12])
def test_numbers_of_patients_are_found_wherever_they_are(n_visits):
    rng = np.random.default_rng(0)
    names = rng.choice(10_000_000, 300, replace=False)
    patient = np.repeat(np.arange(300), n_visits)
    codes = (rng.normal(size=300) > 1.2).astype(int)[patient]
    columns = list(rng.normal(size=(90, len(patient))))
    found = find_dependence([*columns, names[patient].astype(float)], codes)
    assert [(each.kind, each.column) for each in found] == [("entity", 90)]


@pytest.mark.parametrize("seed", range(4))
def test_whole_numbers_that_measure_something_are_no_names(seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.lognormal(10, 0.6, 4000), -2)
    codes = (np.sin(values / 9000) + 0.3 * rng.normal(size=4000) > 0.9).astype(int)
    assert find_dependence([values, np.round(rng.normal(size=4000) * 40)], codes) == []
