"""The report says why alarms are raised, for models that can be explained."""

import re

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from metasampler import MesaClassifier
from metasampler.explain import explain_rows
from metasampler.report import make_report
from metasampler.report._row_reasons import reasons_of_alarms
from metasampler.tables import TableCleaner

QUICK = {"n_repeats": 0, "n_resamples": 20}


def made(n=1500):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"amount": rng.gamma(2, 50, n), "shop": rng.choice(["<a>", "b"], n)})
    X["order"] = np.arange(n)
    score = X["amount"] / 50 + 2 * (X["shop"] == "b") + rng.normal(size=n)
    return X, np.where(score > np.quantile(score, 0.9), "bad", "good")


def test_alarms_have_reasons_under_the_names_of_the_columns():
    X, y = made()
    model = make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0)).fit(X, y)
    proba = model.predict_proba(X)[:, 0]
    found = reasons_of_alarms(model, X, proba, 0.5, "bad")
    rows = np.flatnonzero(proba >= 0.5)
    assert found["rows"] == found["alarms"] == len(rows) < 500
    expected = explain_rows(model, X.iloc[rows], class_label="bad").contributions
    np.testing.assert_allclose(found["mean"], expected.mean(axis=0))
    assert found["names"] == ["amount", "shop"]
    assert found["first"].sum() == 1
    html = make_report(model, X, y, target="fraud", **QUICK).html
    assert "Why alarms are raised" in html
    assert re.search(r"log-odds of all \d+ rows with an alarm", html)
    assert 'href="#reasons"' in html


def test_many_alarms_are_sampled_and_no_alarm_has_no_reason():
    X, y = made()
    X = X.drop(columns="order")
    model = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    proba = model.predict_proba(X)[:, 0]
    found = reasons_of_alarms(model, X, proba, 0.0, "bad")
    assert (found["rows"], found["alarms"]) == (500, 1500)
    assert reasons_of_alarms(model, X, proba, 2.0, "bad") is None


def test_other_models_have_none():
    X, y = made()
    model = LogisticRegression().fit(X[["amount"]], y)
    assert "Why alarms are raised" not in make_report(model, X[["amount"]], y, **QUICK).html
