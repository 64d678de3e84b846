import hashlib
import json
import re

import numpy as np
import pandas as pd
import pytest
from full_disk import full_disk
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from metasampler import MesaClassifier, load_model, save_model
from metasampler.cli import app
from metasampler.datasets import make_claims
from metasampler.report import make_report


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, and files with rows that it has not seen."""
    folder = tmp_path_factory.mktemp("report")
    claims = make_claims(2500).drop(columns="opened")
    X, y = claims.drop(columns="fraud"), claims["fraud"]
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X[:1500], y[:1500])
    save_model(
        clf,
        folder / "model.mesa",
        target="fraud",
        n_rows=1500,
        left_out={"claim_id": "an identifier"},
        cross_validation={"MESA": {"ROC AUC": [0.7, 0.8]}, "LightGBM": {"ROC AUC": [0.6, 0.7]}},
    )
    claims[1500:].to_csv(folder / "labelled.csv", index=False)
    X[1500:].to_parquet(folder / "rows.parquet")
    claims[1500:].assign(weight=np.linspace(0.5, 2, 1000)).to_csv(folder / "weights.csv")
    return folder


@pytest.fixture
def run(folder, tmp_path):
    """Run the command with an output in an empty directory; return the page and what it said."""

    def invoke(file, *arguments, code=0, model="model.mesa"):
        output = tmp_path / "report.html"
        words = ["report", folder / model, folder / file, "--output", output, *arguments]
        result = CliRunner().invoke(app, [str(word) for word in words])
        text = re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        assert output.exists() == (code == 0)
        return output.read_text(encoding="utf-8") if code == 0 else "", text

    return invoke


QUICK = ("--repeats", "0")


def body(html):
    return re.sub(r"<bdi>[^<]*</bdi>|\d+-\d+-\d+ \d+:\d+ UTC", "", html.split("<nav")[1])


def test_the_report_of_a_file_is_that_of_its_rows(run, folder):
    html, said = run("labelled.csv", "--target", "fraud", *QUICK)
    from metasampler import load_model

    model = load_model(folder / "model.mesa")
    frame = pd.read_csv(folder / "labelled.csv")
    made = make_report(
        model, frame.drop(columns="fraud"), frame["fraud"], target="fraud", n_repeats=0
    )
    assert made.headline in said
    assert f'"hits":{str(made.numbers["hits"]).replace(" ", "")}' in html


def test_the_target_of_the_fit_is_taken_if_the_file_has_it(run):
    html, said = run("labelled.csv", *QUICK)
    assert "rows with fraud = yes are found" in said
    assert "What a threshold does" in html
    without, said = run("rows.parquet", *QUICK)
    assert "rows raise an alarm" in said
    assert "how many alarms are right is not known" in without


def test_an_auditor_finds_file_and_model_again(run, folder):
    html, _ = run("labelled.csv", *QUICK)
    for name in ("labelled.csv", "model.mesa"):
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() in html
        assert name in html


def test_what_the_fit_stored_is_told(run):
    html, _ = run("labelled.csv", *QUICK)
    for words in ("0.750 ± 0.050", "0.650 ± 0.050", "claim_id", "1,500"):
        assert words in html


def test_rows_that_look_like_those_of_the_fit_are_warned_of(run, folder):
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.3).astype(int)
    X = pd.DataFrame({"x": rng.normal(size=300) + y})
    save_model(LogisticRegression().fit(X, y), folder / "own.mesa", source="own.csv", n_rows=300)
    X.assign(y=y).to_csv(folder / "own.csv", index=False)
    X.assign(y=y)[:200].to_csv(folder / "part.csv", index=False)
    options = ("--target", "y", *QUICK)
    assert "all figures are too good" in run("own.csv", *options, model="own.mesa")[0]
    assert "all figures are too good" not in run("part.csv", *options, model="own.mesa")[0]


def test_the_report_decides_as_predict_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    claims = make_claims(1600)
    claims.insert(0, "claim_id", np.arange(1600))
    claims[:1000].to_csv("old.csv", index=False)
    claims[1000:].to_csv("new.csv", index=False)
    for words in (
        "fit old.csv --target fraud --preset fast --folds 0 --output model.mesa",
        "predict model.mesa new.csv --output scores.csv",
        "report model.mesa new.csv --repeats 0 --output report.html",
    ):
        result = CliRunner().invoke(app, words.split())
        assert result.exit_code == 0, result.output
    numbers = json.loads(
        re.search(r'id="numbers">(.*?)</script>', (tmp_path / "report.html").read_text())[1]
    )
    called = (pd.read_csv("scores.csv")["decision"] == "yes").sum()
    assert numbers["alarms"][numbers["start"]] == called > 0


def test_labels_that_a_fit_against_the_rest_has_no_names_for_are_others(run, folder):
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], p=[0.2, 0.3, 0.5], size=300)
    X = pd.DataFrame({"x": rng.normal(size=300) + (y == "a")})
    clf = LogisticRegression().fit(X, np.where(y == "a", "a", "all others"))
    save_model(clf, folder / "rest.mesa")
    X.assign(y=y).to_csv(folder / "rest.csv", index=False)
    options = ("--target", "y", "--positive", "a", *QUICK)
    html, _ = run("rest.csv", *options, model="rest.mesa")
    assert f'"positive":{(y == "a").sum()},' in html


def test_boxes_rows_and_weights_are_as_asked_for(run):
    html, _ = run("weights.csv", "--weight", "weight", "--cost", "70:3", "--top", "2", *QUICK)
    assert 'value="70"' in html
    assert 'value="3"' in html
    assert "numbers and scores of 2 rows" in html
    assert "by weight" in html


def test_listed_rows_are_named_by_a_column_as_it_is_written(run, folder):
    claims = pd.read_csv(folder / "labelled.csv")
    claims.insert(0, "claim", [f"{row:07}" for row in range(len(claims))])
    claims.loc[::50, "fraud"] = None  # rows without a class are left out, with their names
    claims.to_csv(folder / "named.csv", index=False)
    html, _ = run("named.csv", "--top", "3", "--id", "claim", *QUICK)
    listed = re.findall(r"<bdi>(\d{7})</bdi>", html)
    assert len(listed) == 3
    known = claims.dropna(subset=["fraud"])
    scores = load_model(folder / "model.mesa").predict_proba(known[claims.columns[1:-1]])[:, 1]
    assert listed == known["claim"].iloc[np.argsort(-scores, kind="stable")[:3]].tolist()
    # A column that the model reads serves as well.
    assert "hour" in run("named.csv", "--top", "3", "--id", "hour", *QUICK)[0]


def test_a_label_may_be_written_as_text_or_number(run, folder):
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.2).astype(int)
    X = pd.DataFrame({"a": rng.normal(size=400) + y})
    save_model(LogisticRegression().fit(X, y), folder / "numbers.mesa")
    X.assign(y=y.astype(float)).to_parquet(folder / "floats.parquet")
    X.assign(y=y.astype(str)).to_parquet(folder / "texts.parquet")
    options = ("--target", "y", *QUICK)
    first, _ = run("floats.parquet", *options, model="numbers.mesa")
    second, _ = run("texts.parquet", *options, model="numbers.mesa")
    assert body(first) == body(second)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["labelled.csv", "--target", "frau"], "has no column 'frau'. Did you mean 'fraud'?"),
        (["labelled.csv", "--target", "cover"], "'cover' holds"),
        (["labelled.csv", "--positive", "maybe"], "no class 'maybe'. Classes: 'no', 'yes'."),
        (["labelled.csv", "--cost", "5"], "'5' must be two amounts, such as 50:1"),
        (["labelled.csv", "--cost", "5:-1"], "'5:-1' must be two amounts"),
        (["labelled.csv", "--top", "5000"], "top_rows must be at most 1000"),
        (["labelled.csv", "--id", "hour"], "set --top"),
        (["labelled.csv", "--top", "3", "--id", "hours"], "Did you mean 'hour'?"),
        (["nothing.csv"], "There is no file"),
        (["labelled.csv", "--output", "report.pdf"], "'report.pdf' must end in .html, .htm."),
        (["labelled.csv", "--output", "no/where.html"], "no directory 'no'"),
        (["short.csv"], "amount"),
    ],
)
def test_mistakes_are_named_without_a_traceback(run, folder, arguments, message):
    pd.read_csv(folder / "labelled.csv").drop(columns="amount").to_csv(folder / "short.csv")
    _, said = run(*arguments, *QUICK, code=2)
    assert message in said


def test_a_file_that_is_no_model_is_refused(run, folder):
    (folder / "broken.mesa").write_bytes(b"nothing")
    _, said = run("labelled.csv", model="broken.mesa", code=2)
    assert "broken.mesa" in said
    _, said = run("labelled.csv", model="absent.mesa", code=2)
    assert "There is no file" in said


def test_a_disk_that_fills_up_is_said_without_a_traceback(folder, tmp_path):
    output = tmp_path / "report.html"
    words = ["report", folder / "model.mesa", folder / "labelled.csv", "--output", output, *QUICK]
    with full_disk(5000):
        result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "report.html cannot be written: File too large" in result.output
