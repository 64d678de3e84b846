"""Thresholds for many classes on the command line."""

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from metasampler.cli._app import app
from metasampler.cli._threshold_option import parse_threshold, with_classes
from metasampler.persistence import load_model


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("macro_f1", "macro_f1"),
        ("recall:2=0.9", ("recall", {"2": 0.9})),
        ("recall: big cat = 80%,dog=0.5", ("recall", {"big cat": 0.8, "dog": 0.5})),
        ("cost:a=b=5", ("cost", {"a=b": 5.0})),
        ("cost:a=5,b=0.5", ("cost", {"a": 5.0, "b": 0.5})),
    ],
)
def test_texts(text, rule):
    assert parse_threshold(text) == rule


@pytest.mark.parametrize("text", ["recall:a", "recall:a=2", "cost:a=0", "cost:a=x", "recall:=,"])
def test_texts_that_mean_nothing(text):
    with pytest.raises(typer.BadParameter, match=r"recall:CLASS=0\.9"):
        parse_threshold(text)


def test_classes_are_those_of_the_model():
    assert with_classes(("cost", {"2": 5.0}), [1, 2, 3]) == ("cost", {2: 5.0})
    assert with_classes("macro_f1", [1, 2]) == "macro_f1"
    with pytest.raises(typer.BadParameter, match=r"no class .4.\. Classes: 1, 2, 3"):
        with_classes(("cost", {"4": 5.0}), [1, 2, 3])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file with ten classes of different sizes, labelled by numbers."""
    rng = np.random.default_rng(0)
    sizes = [120, 80, 60, 40, 30, 20, 15, 12, 10, 8]
    codes = np.repeat(np.arange(10), sizes)
    X = rng.normal(0, 2, (10, 4))[codes] + rng.normal(size=(len(codes), 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=codes)
    path = tmp_path_factory.mktemp("classes") / "rows.csv"
    frame.sample(frac=1, random_state=0).to_csv(path, index=False)
    return path


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, " ".join(result.output.split())


def test_ten_classes_from_fit_to_predict(table, tmp_path):
    model, scores = tmp_path / "model.mesa", tmp_path / "scores.csv"
    settings = ["--target", "kind", "--preset", "fast", "--folds", "2", "--output", model]
    code, said = run("fit", table, *settings, "--threshold", "macro_f1")
    assert code == 0, said
    assert "predict returns the class that gives the best mean F1" in said
    assert load_model(model)[-1].threshold == "macro_f1"
    code, said = run("predict", model, table, "--output", scores, "--threshold", "recall:9=0.9")
    assert code == 0, said
    assert "90% of class 9 should be found" in said
    frame = pd.read_csv(scores)
    assert [name for name in frame if name.startswith("probability")] == [
        f"probability_{k}" for k in range(10)
    ]
    truth = pd.read_csv(table)["kind"]
    assert np.mean(frame["decision"][truth == 9] == 9) >= 0.9


def test_ten_classes_in_a_report_and_a_comparison(table, tmp_path):
    model, page = tmp_path / "model.mesa", tmp_path / "report.html"
    settings = ["--target", "kind", "--preset", "fast", "--folds", "2", "--output", model]
    code, said = run("fit", table, *settings)
    assert code == 0, said
    code, said = run("report", model, table, "--target", "kind", "--repeats", "0", "--output", page)
    assert code == 0, said
    html = page.read_text(encoding="utf-8")
    assert "The model has 10 classes; this looks at one of them against the rest." in html
    assert "True classes (rows) and predicted classes (columns)" in html
    assert "Model expects" in html
    assert "The largest confusions" in html
    chosen = ["--method", "mesa-fast", "--method", "tree", "--folds", "2"]
    code, said = run("compare", table, "--target", "kind", *chosen, "--output", tmp_path / "c.png")
    assert code == 0, said
    assert "macro" in said
    # One class against the rest.
    code, said = run("compare", table, "--target", "kind", "--positive", "9", *chosen)
    assert code == 0, said


def test_rules_for_the_other_number_of_classes_are_refused(table):
    code, said = run("fit", table, "--target", "kind", "--threshold", "recall=0.9")
    assert code == 2
    assert "recall:CLASS=0.9" in said
    settings = ["--target", "kind", "--positive", "9"]
    code, said = run("fit", table, *settings, "--threshold", "macro_f1")
    assert code == 2
    assert "is for more than two classes" in said
