"""The service of the examples, asked by FastAPI's own client."""

import math
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from metasampler import MesaClassifier, save_model
from metasampler.datasets import make_claims
from metasampler.explain import explain_rows
from metasampler.tables import TableCleaner

testclient = pytest.importorskip("fastapi.testclient", reason="no FastAPI: make test-tools")

SERVICE = Path(__file__).parents[2] / "examples" / "run_service.py"


@pytest.fixture(scope="module")
def claims():
    return make_claims(3000)


@pytest.fixture(scope="module", params=["a pipeline", "a classifier"])
def served(request, claims, tmp_path_factory):
    """A fitted model, its rows, and a client of the service that has loaded it."""
    X, y = claims.drop(columns="fraud"), claims["fraud"]
    model = MesaClassifier(recipe="fast", threshold=("recall", 0.8), random_state=0)
    if request.param == "a pipeline":
        model = make_pipeline(TableCleaner(), model)
        # As a file has them.
        X = X.assign(opened=X["opened"].dt.strftime("%Y-%m-%d"))
    else:
        X = X.drop(columns="opened")
    model.fit(X[:2000], y[:2000])
    path = tmp_path_factory.mktemp("service") / "claims.mesa"
    save_model(model, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODEL", str(path))
        app = runpy.run_path(str(SERVICE))["app"]
    return model, X[2000:], testclient.TestClient(app)


def as_json(frame):
    """Return rows as a caller sends them: without keys for what is missing."""
    return [
        {key: value for key, value in row.items() if not pd.isna(value)}
        for row in frame.to_dict("records")
    ]


def test_answers_are_those_of_the_model(served):
    model, X, client = served
    answer = client.post("/score", json=as_json(X[:50]))
    assert answer.status_code == 200, answer.text
    np.testing.assert_array_equal(
        [row["probability"] for row in answer.json()], model.predict_proba(X[:50])[:, 1]
    )
    np.testing.assert_array_equal(
        [row["alarm"] for row in answer.json()], model.predict(X[:50]) == "yes"
    )


def test_alarms_have_their_reasons(served):
    model, X, client = served
    answers = client.post("/score", params={"reasons": 2}, json=as_json(X[:40])).json()
    assert any(row["alarm"] for row in answers)
    for row in answers:
        assert len(row.get("reasons", [])) == 2 * row["alarm"]
    alarms = X[:40][[row["alarm"] for row in answers]]
    told = [row["reasons"] for row in answers if row["alarm"]]
    # The columns are those of the caller.
    for reasons in told:
        for reason in reasons:
            assert reason.partition("=")[0] in X.columns
    of_model = explain_rows(model, alarms).order(2)
    columns = explain_rows(model, alarms).columns
    assert [[r.partition("=")[0] for r in reasons] for reasons in told] == [
        [columns[k] for k in row] for row in of_model
    ]


def test_one_row_a_row_of_gaps_and_no_row(served):
    _, X, client = served
    assert len(client.post("/score", json=as_json(X[:1])).json()) == 1
    (alone,) = client.post("/score", json=[{"amount": 9000.0}]).json()
    assert math.isfinite(alone["probability"])
    assert client.post("/score", json=[]).json() == []


def test_what_cannot_be_scored_is_refused_with_the_reason(served):
    _, X, client = served
    row = as_json(X[:1])[0]
    for bad in ({**row, "amount": "a lot"}, {**row, "amount": [1, 2]}):
        answer = client.post("/score", json=[bad])
        assert answer.status_code == 422, answer.text
        assert "amount" in answer.text
        assert "missing" not in answer.text
    # A slip of the pen in a name would otherwise be a missing value.
    answer = client.post("/score", json=[row, {"amont": 3.0}])
    assert answer.status_code == 422
    assert "['amont']" in answer.text
    # What is not known is missing: a service may be sent it.
    assert client.post("/score", json=[{**row, "amount": None}]).status_code == 200


def test_drift_is_told_of_all_rows(served):
    _, X, client = served
    before = client.get("/drift").json()["rows"]
    client.post("/score", json=as_json(X.assign(amount=40 * X["amount"])))
    told = client.get("/drift").json()
    assert told["rows"] == before + len(X)
    assert "amount" in told["columns"]
