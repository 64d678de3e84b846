"""
A service that scores rows
==========================

A model file and FastAPI. `Put a model to work <../guide/production.html>`__ makes the
file ``claims.mesa``. This site does not run the service; ``make test-tools`` does::

    pip install fastapi uvicorn
    MODEL=claims.mesa uvicorn run_service:app --app-dir examples
    curl "localhost:8000/score?reasons=2" --json '[{"amount": 9000.0, "cover": "full", "hour": 3}]'
"""

import os
import warnings
from threading import Lock

import pandas as pd
from fastapi import FastAPI, HTTPException

from metasampler import load_facts, load_model
from metasampler.drift import DriftMonitor
from metasampler.explain import explain_rows

path = os.environ["MODEL"]
model, facts = load_model(path), load_facts(path)
*cleaning, classifier = model if hasattr(model, "steps") else [model]
monitor, lock = DriftMonitor(classifier), Lock()
app = FastAPI(title=facts["model"])
# In a file such a cell counts as missing. Here the caller can still be told.
warnings.filterwarnings("error", r"Column .* was read as")


@app.post("/score")
def score(rows: list[dict], reasons: int = 0) -> list[dict]:
    """Return the probability of the rare class for each row, and the reasons of its alarms."""
    if not rows:
        return []
    unknown = {key for row in rows for key in row} - set(facts["columns"])
    if unknown:
        raise HTTPException(422, f"The model has no columns {sorted(unknown)[:10]}.")
    # A key that a row lacks is a missing value; columns come in the order of the fit.
    frame = pd.DataFrame(rows, columns=facts["columns"])
    try:
        for step in cleaning:
            frame = step.transform(frame)
        proba = classifier.predict_proba(frame)
    except UserWarning as warning:
        what = str(warning).rpartition(". ")[0]
        raise HTTPException(422, f"{what}. For what is not known, send null.") from warning
    except (TypeError, ValueError) as error:
        raise HTTPException(422, str(error)) from error
    with lock:
        monitor.add(frame, proba)
    rare = list(classifier.classes_).index(classifier.minority_class_)
    alarms = classifier.decide(proba) == classifier.minority_class_
    answers: list[dict] = [
        {"probability": float(p), "alarm": bool(alarm)}
        for p, alarm in zip(proba[:, rare], alarms, strict=True)
    ]
    if reasons > 0 and alarms.any():
        texts = explain_rows(classifier, frame[alarms]).texts(reasons)
        for place, text in zip(alarms.nonzero()[0], texts, strict=True):
            answers[place]["reasons"] = text
    return answers


@app.get("/drift")
def drift() -> dict:
    """Return what has moved in all rows that were scored."""
    with lock:
        report = monitor.report()
    moved = [column.name for column in report.moved]
    return {"rows": report.n_rows, "columns": moved, "scores_moved": bool(report.scores_moved)}
