"""From a file to a model to scores, as a user would."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import typer
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from metasampler import MesaClassifier, load_facts, load_model, save_model
from metasampler.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command line in an empty directory; give its text without boxes."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)

    return invoke


def make_messy(frame, target, rng):
    """Return a table as exports have it: an ID, a date, texts, gaps, a copy of the target."""
    frame = frame.copy()
    n = len(frame)
    frame.insert(0, "record id", rng.permutation(10 * n)[:n] + 10 * n)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D")
    frame["entered"] = days.strftime("%d.%m.%Y")
    frame["note"] = [f"case {number:x}" for number in rng.integers(0, 2**40, n)]
    frame["clerk"] = rng.choice(["Ann", "Bob", "Cy", None], n)
    frame["outcome, final"] = np.where(frame[target] == 1, "positive", "negative")
    frame[target] = np.where(frame[target] == 1, "yes", "no")
    numbers = frame.select_dtypes("number").columns[1:3]
    for name in numbers:
        frame[name] = frame[name].astype(float).mask(rng.random(n) < 0.1)
    return frame


@pytest.fixture(scope="module")
def claims():
    """A small table with a rare class, as exports have it."""
    rng = np.random.default_rng(0)
    n = 900
    bad = rng.random(n) < 0.12
    frame = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, n) * (1 + bad),
            "age": rng.integers(18, 90, n),
            "channel": np.where(
                bad & (rng.random(n) < 0.5), "phone", rng.choice(["web", "shop"], n)
            ),
            "zip": rng.choice(["01067", "01069", "80331", "none"], n),
            "bad": bad.astype(int),
        }
    )
    return make_messy(frame, "bad", rng)


FAST = ("--preset", "fast", "--folds", "2")


# ---------------------------------------------------------------------- the whole way


TABLES = (
    "telco_mlc_churn",
    "compas_violent",
    "email_spam_openintro",
    "bank_card_churn",
    "travel_insurance_claim",
)


@pytest.mark.parametrize("name", TABLES)
def test_real_tables_from_file_to_decision(name, data_home, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.read_parquet(data_home / "real" / f"{name}.parquet")
    positives, others = (frame[frame["target"] == code] for code in (1, 0))
    rows = pd.concat([positives.head(400), others.head(1200)]).sample(frac=1, random_state=0)
    messy = make_messy(rows, "target", rng)
    train, new = messy.iloc[:1100], messy.iloc[1100:]
    train.to_csv(tmp_path / "train.csv", index=False)
    new.drop(columns=["target", "outcome, final"]).to_csv(tmp_path / "new.csv.gz", index=False)
    # In processes of their own, where nothing is left of the fit but its file.
    for command in (
        ["fit", "train.csv", "--target", "target", *FAST, "--threshold", "f1"],
        ["predict", "model.mesa", "new.csv.gz", "--columns", "record id", "--chunk-rows", "130"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "metasampler", *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if command[0] == "fit":
            for left_out in ("record id", "note", "outcome, final"):
                assert re.search(rf"{left_out} .*left out", done.stdout), done.stdout
            assert re.search(r"entered .*date .*encoded", done.stdout)
    scores = pd.read_csv(tmp_path / "scores.csv")
    model, metadata = load_model(tmp_path / "model.mesa"), load_facts(tmp_path / "model.mesa")
    again = pd.read_csv(tmp_path / "new.csv.gz")
    proba = model.predict_proba(again)[:, list(model.classes_).index("yes")]
    np.testing.assert_array_equal(scores["decision"], model.predict(again))
    np.testing.assert_allclose(scores["probability"], proba, rtol=1e-12)
    np.testing.assert_array_equal(scores["record id"], new["record id"])
    np.testing.assert_array_equal(np.argsort(scores["rank"]), np.argsort(-proba, kind="stable"))
    assert metadata["left_out"].keys() >= {"record id", "note", "outcome, final"}
    assert metadata["class_counts"]["yes"] == (train["target"] == "yes").sum()


# ---------------------------------------------------------------------- fit


def test_what_fit_prints_and_keeps(run, claims, tmp_path):
    claims.to_csv(tmp_path / "claims.csv", index=False)
    text = run(
        "fit", "claims.csv", "--target", "bad", *FAST, "--drop", "clerk", "--threshold", "f1"
    )
    n_bad = int((claims["bad"] == "yes").sum())
    assert f"'no' {900 - n_bad}, 'yes' {n_bad}" in text
    assert "Dropped, as asked: clerk" in text
    assert "record id number identifier left out" in text
    assert "MESA" in text
    assert "LightGBM" in text
    assert "Threshold: predict returns 'yes' if its probability is" in text
    assert "model.mesa" in text
    model, metadata = load_model("model.mesa"), load_facts("model.mesa")
    assert metadata["target"] == "bad"
    assert metadata["positive"] == "yes"
    assert metadata["class_counts"] == {"no": 900 - n_bad, "yes": n_bad}
    assert metadata["left_out"]["clerk"] == "As asked."
    assert metadata["column_kinds"]["entered"] == "date"
    assert metadata["cross_validation"].keys() == {"MESA", "LightGBM"}
    assert metadata["n_rows"] == 900
    assert "Threshold" in metadata["promise"]
    # It takes rows as the file has them.
    frame = pd.read_csv("claims.csv")
    assert set(model.predict(frame)) == {"no", "yes"}


@pytest.mark.parametrize("positive", [(), ("--positive", "yes")])
def test_a_folder_is_read_part_by_part(run, claims, tmp_path, positive):
    (tmp_path / "rows").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(claims)), 3)):
        part = claims.iloc[rows].reset_index(drop=True)
        part.to_parquet(tmp_path / "rows" / f"{number}.parquet", row_group_size=200)
    claims.to_parquet(tmp_path / "claims.parquet")
    options = ("--target", "bad", "--preset", "fast", *positive)
    said = run("fit", "rows", *options, "--memory", "1 MB", "--output", "parts.mesa")
    assert f"{len(claims):,} rows" in said
    assert "cross-validated" not in said
    run("fit", "claims.parquet", *options, "--folds", "0", "--output", "whole.mesa")
    table = claims.drop(columns="bad")
    by_parts, by_whole = (load_model(f"{name}.mesa") for name in ("parts", "whole"))
    np.testing.assert_array_equal(by_parts.predict_proba(table), by_whole.predict_proba(table))
    np.testing.assert_array_equal(by_parts.classes_, by_whole.classes_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rows", "--target", "bad", "--folds", "3"), "needs all rows in memory"),
        (("rows", "--target", "ba"), "no column 'ba'"),
        (("rows",), "name the column of the classes"),
        (("rows", "--target", "bad", "--memory", "much"), "must be a number of bytes"),
        (("empty", "--target", "bad"), "holds no file that ends in .parquet"),
        (("claims.csv", "--target", "bad", "--memory", "1 GB"), "is not a Parquet file"),
    ],
)
def test_bad_requests_for_parts(run, claims, tmp_path, arguments, message):
    (tmp_path / "rows").mkdir()
    (tmp_path / "empty").mkdir()
    claims.to_parquet(tmp_path / "rows" / "0.parquet")
    claims.to_csv(tmp_path / "claims.csv", index=False)
    assert message in run("fit", *arguments, code=2)


def test_keep_overrides(run, claims, tmp_path):
    claims.to_csv(tmp_path / "claims.csv", index=False)
    file = ("fit", "claims.csv", "--target", "bad", "--preset", "fast", "--folds", "0")
    run(*file, "--keep", "outcome, final", "--keep", "record id,note")
    metadata = load_facts("model.mesa")
    assert metadata["left_out"] == {}
    run(*file, "--drop", "outcome, final", "--drop", "note")
    metadata = load_facts("model.mesa")
    assert metadata["left_out"].keys() == {"outcome, final", "note", "record id"}


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("balanced", "balanced"),
        ("f1", "f1"),
        ("MCC", "mcc"),
        ("0.3", 0.3),
        ("recall=0.9", ("recall", 0.9)),
        ("recall=90%", ("recall", 0.9)),
        ("precision=.5", ("precision", 0.5)),
        ("top=200", ("top", 200)),
        ("top=1%", ("top", 0.01)),
        ("top=0.02", ("top", 0.02)),
        ("cost=50:1", ("cost", 50.0, 1.0)),
        ("cost=50", ("cost", 50.0, 1.0)),
    ],
)
def test_thresholds(written, rule):
    from metasampler.cli._threshold_option import parse_threshold

    assert parse_threshold(written) == rule


@pytest.mark.parametrize(
    "written",
    [
        *("", "best", "2", "0", "recall", "recall=2", "recall=x", "top=0", "top=1.5", "cost=0:1"),
        *("cost=1:inf", "f1=3", "nan", "precision=nan", "cost=:"),
    ],
)
def test_thresholds_that_mean_nothing(written, run, claims, tmp_path):
    claims.to_csv(tmp_path / "claims.csv", index=False)
    text = run("fit", "claims.csv", "--target", "bad", "--threshold", written, code=2)
    assert "must be" in text
    assert not (tmp_path / "model.mesa").exists()


@pytest.mark.parametrize(
    ("written", "meant"), [("ballanced", "balanced"), ("recal=0.9", "recall"), ("costs=5", "cost")]
)
def test_a_threshold_that_is_misspelt(written, meant):
    from metasampler.cli._threshold_option import parse_threshold

    with pytest.raises(typer.BadParameter, match=f"Did you mean '{meant}'") as caught:
        parse_threshold(written)
    assert "cost=50:1" in str(caught.value)
    with pytest.raises(typer.BadParameter, match="must be") as caught:
        parse_threshold("recall=2")
    assert "Did you mean" not in str(caught.value)


def test_few_positives_are_warned_of(run, claims, tmp_path):
    few = pd.concat(
        [claims[claims["bad"] == "no"].head(90), claims[claims["bad"] == "yes"].head(8)]
    )
    few.to_csv(tmp_path / "few.csv", index=False)
    text = run("fit", "few.csv", "--target", "bad", *FAST)
    assert "Note: The smallest class, 'yes', has 8 rows. With fewer than 10" in text


def test_several_classes(run, claims, tmp_path):
    frame = claims.assign(kind=np.where(claims["age"] < 30, "young", claims["bad"]))
    frame = frame.drop(columns=["bad", "outcome, final", "age"])
    frame.to_csv(tmp_path / "kinds.csv", index=False)
    text = run("fit", "kinds.csv", "--target", "kind", *FAST)
    assert "F1" in text
    run("predict", "model.mesa", "kinds.csv")
    scores = pd.read_csv("scores.csv")
    assert list(scores) == ["probability_no", "probability_yes", "probability_young", "decision"]
    model = load_model("model.mesa")
    np.testing.assert_array_equal(model.predict(pd.read_csv("kinds.csv")), scores["decision"])
    text = run("fit", "kinds.csv", "--target", "kind", "--threshold", "f1", code=2)
    assert "is for two classes, and there are 3" in text
    text = run("fit", "kinds.csv", "--target", "kind", "--positive", "yes", *FAST)
    run("predict", "model.mesa", "kinds.csv")
    assert set(pd.read_csv("scores.csv")["decision"]) == {"all others", "yes"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.csv", "--target", "bad"], "no file 'gone.csv'"),
        (["claims.csv"], "the column of claims.csv to predict"),
        (["claims.csv", "--target", "worse"], "no column 'worse'"),
        (["claims.csv", "--target", "bad", "--positive", "no"], "class 'no' is the larger one"),
        (["claims.csv", "--target", "bad", "--preset", "huge"], "'huge' must be one of default"),
        (["claims.csv", "--target", "bad", "--folds", "1"], "must be 0, or 2 or more"),
        (["claims.csv", "--target", "bad", "--jobs", "0"], "must not be 0"),
        (["claims.csv", "--target", "bad", "--drop", "agee"], "Did you mean 'age'?"),
        (["claims.csv", "--target", "bad", "--output", "m.pkl"], "must end in .mesa"),
        (["claims.csv", "--target", "bad", "--output", "no/m.mesa"], "no directory 'no'"),
        (["claims.csv", "--target", "bad", "--output", "folder.mesa"], "is a directory"),
        (["claims.csv", "--target", "bad", "--output", "/proc/m.mesa"], "cannot be written"),
    ],
)
def test_bad_requests_end_before_any_work(arguments, message, run, claims, tmp_path, monkeypatch):
    claims.to_csv(tmp_path / "claims.csv", index=False)
    (tmp_path / "folder.mesa").mkdir()
    monkeypatch.setattr(MesaClassifier, "fit", None)  # what is called would fail
    # An option of the program itself may object first, in the same words or not.
    assert message in run("fit", *arguments, code=2).replace("' is a dir", " is a dir")


# ---------------------------------------------------------------------- predict


@pytest.fixture(scope="module")
def model(claims, tmp_path_factory):
    """A model of the claims, by the command line's own pipeline."""
    folder = tmp_path_factory.mktemp("model")
    claims.to_csv(folder / "claims.csv", index=False)
    path = folder / "model.mesa"
    result = CliRunner().invoke(
        app,
        [
            *("fit", str(folder / "claims.csv"), "--target", "bad", "--preset", "fast"),
            *("--folds", "0", "--threshold", "top=40", "--output", str(path)),
        ],
    )
    assert result.exit_code == 0, result.output
    return path


@pytest.mark.parametrize("source", [".csv", ".csv.gz", ".tsv", ".parquet"])
@pytest.mark.parametrize("output", [".csv", ".csv.gz", ".parquet"])
def test_every_kind_of_file(source, output, run, model, claims, tmp_path):
    path = tmp_path / f"new{source}"
    if source == ".parquet":
        claims.to_parquet(path, row_group_size=100)
    else:
        claims.to_csv(path, index=False, sep="\t" if source == ".tsv" else ",")
    text = run(
        "predict", model, path, "--output", f"out{output}", "--columns", "all", "--chunk-rows", 128
    )
    assert f"out{output}: 900 rows, 40 of them alarms ('yes')." in text
    read = pd.read_parquet if output == ".parquet" else pd.read_csv
    scores = read(f"out{output}")
    assert list(scores) == [*claims, "probability", "decision", "rank"]
    fitted = load_model(model)
    rows = fitted[-1].top_rows(fitted[:-1].transform(claims), 40)
    assert scores["rank"].to_numpy()[rows].tolist() == list(range(1, 41))
    assert sorted(scores["rank"]) == list(range(1, 901))
    assert set(scores.loc[scores["decision"] == "yes", "rank"]) == set(range(1, 41))
    # Texts of the input stay what they were.
    assert scores["zip"].astype(str).str.zfill(5).tolist() == claims["zip"].str.zfill(5).tolist()
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_cells_that_cannot_be_read_are_named_once(run, model, claims, tmp_path):
    other = claims.drop(columns="bad").astype({"age": object})
    claims.to_csv(tmp_path / "claims.csv", index=False)
    run("predict", model, "claims.csv", "--output", "before.csv")
    # Dates with the year first are clear in any column.
    days = pd.to_datetime(other["entered"], format="%d.%m.%Y").dt.strftime("%Y-%m-%d")
    other["entered"] = days
    other.loc[[450, 451, 899], "age"] = "n. k."
    other.to_csv(tmp_path / "other.csv", index=False)
    said = run("predict", model, "other.csv", "--chunk-rows", 300)
    n_known = other["age"].notna().sum()
    assert f"3 of {n_known} cells are not numbers, for instance 'n. k.' in row 451." in said
    assert said.count("Note:") == 1
    assert "UserWarning" not in said
    before, after = pd.read_csv("before.csv"), pd.read_csv("scores.csv")
    same = np.delete(np.arange(900), [450, 451, 899])
    assert before["probability"][same].equals(after["probability"][same])
    other.loc[:200, "age"] = "x7"
    other.to_csv(tmp_path / "other.csv", index=False)
    said = run("predict", model, "other.csv", "--chunk-rows", 300, code=2)
    assert "More than 10% cannot be read" in said
    # A sign that stands for no value may be in any number of rows.
    other.loc[:200, "age"] = "?"
    other.to_csv(tmp_path / "other.csv", index=False)
    said = run("predict", model, "other.csv", "--chunk-rows", 300)
    assert "cells are not numbers, for instance 'n. k.' in row 451. They count as missing" in said


def test_codes_with_zeros_in_front_keep_them(run, model, claims, tmp_path):
    # In the first chunk the column holds nothing but digits.
    new = claims[claims["zip"] != "none"]
    new = pd.concat([new, claims[claims["zip"] == "none"]])
    new.to_csv(tmp_path / "new.csv", index=False)
    run("predict", model, "new.csv", "--chunk-rows", 50, "--columns", "zip")
    parts = pd.read_csv("scores.csv", dtype={"zip": str}, keep_default_na=False)
    assert parts["zip"].tolist() == new["zip"].tolist()
    run("predict", model, "new.csv", "--output", "whole.csv")
    whole = pd.read_csv("whole.csv")
    np.testing.assert_array_equal(parts["probability"], whole["probability"])
    np.testing.assert_array_equal(parts["rank"], whole["rank"])


def test_models_made_in_python(run, claims, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.random(400) < 0.2
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    save_model(clf, tmp_path / "plain.mesa")
    pd.DataFrame(X, columns=list("abc")).to_csv(tmp_path / "rows.csv", index=False)
    run("predict", "plain.mesa", "rows.csv")
    scores = pd.read_csv("scores.csv")
    np.testing.assert_array_equal(scores["decision"], clf.predict(X))
    text = run("predict", "plain.mesa", "scores.csv", "--output", "other.csv", code=0)
    assert "400 rows" in text  # three columns of numbers and truths will do
    pd.DataFrame(X[:, :2]).to_csv(tmp_path / "two.csv", index=False)
    assert "takes 3 columns of numbers" in run("predict", "plain.mesa", "two.csv", code=2)
    frame = pd.DataFrame(X, columns=list("abc"))
    save_model(clf.fit(frame, y), tmp_path / "named.mesa")
    frame[["c", "a", "b"]].assign(more="x").to_csv(tmp_path / "mixed.csv", index=False)
    run("predict", "named.mesa", "mixed.csv")
    np.testing.assert_array_equal(pd.read_csv("scores.csv")["decision"], clf.predict(frame))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.mesa", "new.csv"], "There is no file"),
        (["new.csv", "new.csv"], "is damaged, or not a model file"),
        (["MODEL", "gone.csv"], "no file 'gone.csv'"),
        (
            ["MODEL", "short.csv"],
            "short.csv lacks 'age', which the model needs. Did you mean 'Age'",
        ),
        (["MODEL", "empty.csv"], "empty.csv has no rows"),
        (["MODEL", "words.csv"], "'age' was read as numbers by the fit"),
        (["MODEL", "twice.csv"], "several columns 'age'"),
        (["MODEL", "new.csv", "--columns", "agee"], "no column 'agee'. Did you mean 'age'"),
        (["MODEL", "ranked.csv", "--columns", "all"], "has a column 'rank', and so has the output"),
        (["MODEL", "new.csv", "--output", "scores.xlsx"], "must end in .csv, .csv.gz, .parquet"),
        (["MODEL", "new.csv", "--output", "new.csv"], "would overwrite the file it is made from"),
        (["MODEL", "new.csv", "--output", "no/s.csv"], "no directory 'no'"),
        (["MODEL", "broken.csv.gz"], "broken.csv.gz"),
        (["MODEL", "new.csv", "--chunk-rows", "0"], "--chunk-rows"),
    ],
)
def test_bad_requests_leave_no_output(arguments, message, run, model, claims, tmp_path):
    claims.to_csv(tmp_path / "new.csv", index=False)
    claims.rename(columns={"age": "Age"}).to_csv(tmp_path / "short.csv", index=False)
    claims.head(0).to_csv(tmp_path / "empty.csv", index=False)
    claims.assign(age="old").to_csv(tmp_path / "words.csv", index=False)
    claims.assign(rank=1).to_csv(tmp_path / "ranked.csv", index=False)
    (tmp_path / "twice.csv").write_text("age,age\n1,2\n")
    claims.to_csv(tmp_path / "whole.csv.gz", index=False)
    (tmp_path / "broken.csv.gz").write_bytes((tmp_path / "whole.csv.gz").read_bytes()[:9000])
    before = sorted(entry.name for entry in tmp_path.iterdir())
    arguments = [str(model) if part == "MODEL" else part for part in arguments]
    assert message in run("predict", *arguments, code=2)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["fit", "predict", "compare"])
def test_help_has_an_example(command, run):
    assert f"Example: metasampler {command} " in run(command, "--help")


def test_a_model_that_lacks_what_this_version_needs(run, model, claims, tmp_path, monkeypatch):
    claims.to_csv(tmp_path / "new.csv", index=False)

    def older(self, X):
        raise AttributeError("no attribute 'votes'")

    monkeypatch.setattr(MesaClassifier, "predict_proba", older)
    text = run("predict", model, "new.csv", code=1)
    assert "model.mesa cannot score rows here (no attribute 'votes'); it was made with" in text
    assert not (tmp_path / "scores.csv").exists()


def test_predict_decides_by_another_threshold(run, model, claims):
    claims.to_csv("new.csv", index=False)
    called = {}
    for rule in ("top=40", "recall=0.9", "0.5"):
        text = run("predict", model, "new.csv", "--threshold", rule)
        promise = re.search(
            "Threshold: predict returns 'yes' if its prob.*expect a recall of", text
        )
        assert bool(promise) == (rule != "top=40")
        scores = pd.read_csv("scores.csv")
        called[rule] = (scores["decision"] == "yes").sum()
        assert f"{called[rule]:,} of them alarms ('yes')" in text
        if rule == "0.5":
            assert ((scores["probability"] >= 0.5) == (scores["decision"] == "yes")).all()
    assert called["top=40"] == 40
    assert called["recall=0.9"] > 60
    text = run("predict", model, "new.csv", "--threshold", "recal=0.9", code=2)
    assert "Did you mean 'recall'" in text


def test_predict_keeps_a_threshold_that_another_package_chose(run, claims):
    X, y = claims[["amount", "age"]], claims["bad"]
    save_model(DecisionTreeClassifier(max_depth=2).fit(X, y), "tree.mesa")
    claims.to_csv("new.csv", index=False)
    text = run("predict", "tree.mesa", "new.csv", "--threshold", "f1", code=2)
    assert "the threshold of a DecisionTreeClassifier" in text
    run("predict", "tree.mesa", "new.csv", "--threshold", "top=30")
    scores = pd.read_csv("scores.csv")
    assert set(scores.loc[scores["decision"] == "yes", "rank"]) == set(range(1, 31))


def test_more_rows_than_there_are_cannot_be_called(run, claims):
    claims.to_csv("claims.csv", index=False)
    text = run("fit", "claims.csv", "--target", "bad", "--threshold", "top=900", code=2)
    assert "top=900 would raise an alarm for every row: there are 900" in text


def test_fit_says_what_to_expect(run, imbalanced, claims):
    from metasampler.cli._fitting import _promise

    X, y = imbalanced
    clf = MesaClassifier(n_estimators=4, threshold=("recall", 0.8), random_state=0).fit(X, y)
    low, high = clf.expected_recall_interval_
    expected = f"expect a recall of {clf.expected_recall_:.0%} ({low:.0%} to {high:.0%})"
    assert expected in _promise(clf, None, None, per_day=False)
    # Nothing is expected where no rows were held out.
    clf.set_params(validation_fraction=None, threshold="balanced").fit(X, y)
    assert "expect" not in _promise(clf, None, None, per_day=False)


def test_classes_may_be_numbers_that_no_integer_holds(run, tmp_path):
    bad = np.arange(80) % 4 == 0
    frame = pd.DataFrame({"a": np.arange(80) % 7 + 3.0 * bad, "b": np.arange(80) % 5})
    frame["y"] = [str(10**30 + int(each)) for each in bad]
    frame.to_csv("huge.csv", index=False)
    run("fit", "huge.csv", "--target", "y", "--preset", "fast", "--folds", "0")
    run("predict", "model.mesa", "huge.csv")
    decided = pd.read_csv("scores.csv", dtype=str)["decision"]
    assert set(decided) <= {str(10**30), str(10**30 + 1)}
    assert f"y = {10**30 + 1} are found" in run(
        "report", "model.mesa", "huge.csv", "--repeats", "0"
    )
