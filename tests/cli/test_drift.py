"""The command line says what has moved since the fit."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from metasampler import save_model
from metasampler.cli import app


def make_claims(n_rows, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, n_rows),
            "age": rng.integers(18, 90, n_rows),
            "channel": rng.choice(["web", "shop", "phone"], n_rows),
            "score": rng.normal(shift, 1, n_rows),
        }
    )
    bad = frame["score"] + 0.5 * (frame["channel"] == "phone") + rng.normal(size=n_rows) > 2 + shift
    return frame.assign(bad=np.where(bad, "yes", "no"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drift")
    make_claims(2000, 0).to_csv(folder / "claims.csv", index=False)
    options = ("--target", "bad", "--preset", "fast", "--folds", "0")
    invoke(folder, "fit", "claims.csv", *options)
    make_claims(800, 1).to_csv(folder / "same.csv", index=False)
    moved = make_claims(800, 2, shift=1.5).assign(age=40)
    moved.loc[:99, "channel"] = "mail"
    moved.to_csv(folder / "moved.csv", index=False)
    return folder


def invoke(folder, *arguments, code=0):
    import os

    before = os.getcwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    finally:
        os.chdir(before)
    assert result.exit_code == code, result.output
    return re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)


def test_rows_like_those_of_the_fit(folder):
    text = invoke(folder, "drift", "model.mesa", "same.csv", "--check")
    assert "Drift in 800 rows: 0 of 4 columns have changed; scores have not moved" in text


def test_rows_that_have_moved(folder):
    text = invoke(folder, "drift", "model.mesa", "moved.csv", "--chunk-rows", "300")
    assert "Drift in 800 rows: 3 of 4 columns have changed; scores have moved" in text
    assert "age constant" in text
    assert "channel new levels" in text
    assert "'mail'" in text
    assert "score moved a lot" in text or "score outside" in text
    assert text == invoke(folder, "drift", "model.mesa", "moved.csv", "--check", code=3)


def test_predict_says_it_too(folder):
    text = invoke(folder, "predict", "model.mesa", "moved.csv")
    assert "scores have moved" in text
    assert "channel new levels" in text


def test_the_report_says_it_too(folder):
    options = ("--target", "bad", "--repeats", "0", "--output", "page.html")
    invoke(folder, "report", "model.mesa", "moved.csv", *options)
    page = (folder / "page.html").read_text()
    assert "Since the fit" in page
    assert "Expected by the fit" in page
    assert "channel" in page
    assert "&#x27;mail&#x27;" in page


def test_a_model_that_knows_nothing_of_its_rows(folder):
    claims = make_claims(200, 3)
    tree = DecisionTreeClassifier(max_depth=2).fit(claims[["amount", "age"]], claims["bad"])
    save_model(tree, folder / "tree.mesa")
    text = invoke(folder, "drift", "tree.mesa", "same.csv", code=2)
    assert "describes the rows of its fit" in text
    invoke(folder, "predict", "tree.mesa", "same.csv")
