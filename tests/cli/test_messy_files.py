"""Files as they come: from `fit` to `predict` on next month's export."""

import re

import numpy as np
import pandas as pd
import pytest
from messy_transactions import write_months
from sklearn.metrics import average_precision_score
from typer.testing import CliRunner

from metasampler import MesaClassifier
from metasampler.cli import app


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the command line in a folder of its own; return all that it prints."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)

    return invoke


FAST = ("--preset", "fast", "--folds", 0)


def test_next_months_file_is_scored_as_well_as_if_it_were_cleaned_by_hand(run, tmp_path):
    months = write_months(tmp_path)
    said = run("fit", "march.csv.zip", "--target", "fraud", *FAST, "--dates", "month-first")
    assert "Note: 60 of 6,000 rows have no class in 'fraud', and are left out." in said
    assert "reference text identifier left out" in said or "reference category identifier" in said
    assert "Amounts in several currencies (EUR" in said
    assert "amount (currency)" in said
    assert "hour, weekday, day of month (from month/day/year)" in said
    assert "fee number number as text" in said
    assert "free text" in said
    run("predict", "model.mesa", "april.csv", code=2)
    said = run(
        *("predict", "model.mesa", "april.csv", "--missing-columns", "as-missing"),
        *("--columns", "reference", "--escape-formulas", "--chunk-rows", 2500),
    )
    assert "april.csv is not in UTF-8, and is read as Windows-1252" in said
    assert "april.csv lacks 'branch'; all their values count as missing" in said
    assert "2 of 6,000 cells are not numbers, for instance 'n. k.' in row 11." in said
    scores = pd.read_csv("scores.csv")
    assert scores["reference"].str.startswith("'=TX-").all()
    # By hand, and without the command line.
    march, april = months["march"], months["april"]
    clf = MesaClassifier.from_preset("fast", random_state=0)
    clf.fit(march.drop(columns="fraud"), march["fraud"])
    by_hand = clf.predict_proba(april.drop(columns="fraud"))[:, 1]
    truth = april["fraud"] == "yes"
    reached = average_precision_score(truth, scores["probability"])
    wanted = average_precision_score(truth, by_hand)
    assert wanted > 0.25
    assert abs(reached - wanted) < 0.01


def test_what_a_plain_reading_of_the_same_file_costs(run, tmp_path):
    # What the test above is worth: without hours, amounts and words the ranking is far worse.
    months = write_months(tmp_path)
    march, april = months["march"], months["april"]
    kept = ["shop", "age"]
    clf = MesaClassifier.from_preset("fast", random_state=0).fit(march[kept], march["fraud"])
    score = average_precision_score(april["fraud"] == "yes", clf.predict_proba(april[kept])[:, 1])
    assert score < 0.15


@pytest.fixture
def small(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "amount": rng.lognormal(size=600).round(3),
            "zip": rng.choice(["01067", "80331", "x"], 600),
            "bad": np.where(rng.random(600) < 0.15, "yes", "no"),
        }
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return frame


def test_missing_columns(run, small, tmp_path):
    run("fit", "rows.csv", "--target", "bad", *FAST)
    small.drop(columns="zip").to_csv(tmp_path / "less.csv", index=False)
    small.assign(zip=None).to_csv(tmp_path / "empty.csv", index=False)
    said = run("predict", "model.mesa", "less.csv", code=2)
    assert "lacks 'zip', which the model needs." in said
    assert "--missing-columns as-missing" in said
    said = run("predict", "model.mesa", "less.csv", "--missing-columns", "as-missing")
    assert "Note: less.csv lacks 'zip'" in said
    run("predict", "model.mesa", "empty.csv", "--output", "empty-scores.csv")
    assert (tmp_path / "scores.csv").read_text() == (tmp_path / "empty-scores.csv").read_text()
    run("report", "model.mesa", "less.csv", "--target", "bad", "--repeats", 0, code=2)
    options = ("--repeats", 0, "--missing-columns", "as-missing")
    said = run("report", "model.mesa", "less.csv", "--target", "bad", *options)
    assert "Note: less.csv lacks 'zip'" in said
    said = run("predict", "model.mesa", "less.csv", "--missing-columns", "zero", code=2)
    assert "'zero' must be one of error, as-missing" in said
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    run("predict", "model.mesa", "other.csv", "--missing-columns", "as-missing", code=2)


def test_rows_without_a_class(run, small, tmp_path):
    small.loc[::10, "bad"] = None
    small.to_csv(tmp_path / "gaps.csv", index=False)
    small.dropna(subset="bad").to_csv(tmp_path / "known.csv", index=False)
    said = run("fit", "gaps.csv", "--target", "bad", *FAST)
    assert "Note: 60 of 600 rows have no class in 'bad', and are left out." in said
    run("fit", "known.csv", "--target", "bad", *FAST, "--output", "known.mesa")
    # In parts, too.
    small.to_parquet(tmp_path / "gaps.parquet", row_group_size=130)
    options = ("--target", "bad", "--preset", "fast", "--memory", "1 MB", "--output", "parts.mesa")
    assert "60 of 600 rows have no class" in run("fit", "gaps.parquet", *options)
    for name in ("model", "known", "parts"):
        run("predict", f"{name}.mesa", "rows.csv", "--output", f"{name}.csv")
    known = pd.read_csv("known.csv")["probability"]
    assert pd.read_csv("model.csv")["probability"].equals(known)
    assert pd.read_csv("parts.csv")["probability"].equals(known)
    assert "60 of 600 rows have no class" in run(
        "report", "model.mesa", "gaps.csv", "--target", "bad", "--repeats", 0
    )
    small.assign(bad=None).to_csv(tmp_path / "none.csv", index=False)
    assert "has no value in any of 600 rows" in run("fit", "none.csv", "--target", "bad", code=2)


def test_blanks_are_no_class(run, small, tmp_path):
    small["bad"] = (small["bad"] == "yes").astype(object)
    small.loc[::100, "bad"] = "  "
    small.to_csv(tmp_path / "blank.csv", index=False)
    said = run("fit", "blank.csv", "--target", "bad", *FAST)
    assert "6 of 600 rows have no class in 'bad', and are left out. None, NA and null are" in said
    assert "Target 'bad': 'False'" in said
    small.astype({"bad": str}).to_parquet(tmp_path / "blank.parquet", row_group_size=130)
    options = ("--target", "bad", "--preset", "fast", "--memory", "1 MB", "--output", "parts.mesa")
    assert "6 of 600 rows have no class" in run("fit", "blank.parquet", *options)


def test_options_that_mean_nothing(run, small):
    for option, value in (
        *(("--dates", "us"), ("--text", "no"), ("--encoding", "klingon")),
        *(("--encoding", "base64"), ("--encoding", "hex")),
    ):
        said = run("fit", "rows.csv", "--target", "bad", option, value, code=2)
        assert value in said


def test_formulas_are_quoted_on_request(run, small, tmp_path):
    run("fit", "rows.csv", "--target", "bad", *FAST)
    texts = ["=HYPERLINK(1)", "+1+1", "-2", "@x", "-a", " =1", "\n=1", "plain", "1e-5", ""]
    rows = small.head(len(texts)).assign(note=texts, bad=0, **{"=1": 0})
    rows.to_csv(tmp_path / "notes.csv", index=False)
    run("predict", "model.mesa", "notes.csv", "--columns", "note")
    assert pd.read_csv("scores.csv", keep_default_na=False)["note"].tolist() == texts
    run("predict", "model.mesa", "notes.csv", "--columns", "note,=1", "--escape-formulas")
    quoted = ["'=HYPERLINK(1)", "'+1+1", "-2", "'@x", "'-a", "' =1", "'\n=1", "plain", "1e-5", ""]
    scores = pd.read_csv("scores.csv", keep_default_na=False)
    assert scores["note"].tolist() == quoted
    assert list(scores)[:2] == ["note", "'=1"]


# ---------------------------------------------------------------------- bad cells


def test_labels_that_are_true_false_or_missing(run, small, tmp_path):
    rows = small.assign(bad=np.where(np.arange(600) % 100, small["bad"] == "yes", None))
    rows.to_csv(tmp_path / "truths.csv", index=False)
    rows.to_parquet(tmp_path / "truths.parquet")
    for name in ("truths.csv", "truths.parquet"):
        said = run("fit", name, "--target", "bad", *FAST, "--output", f"{name}.mesa")
        assert "6 of 600 rows have no class in 'bad', and are left out" in said
    options = ("--preset", "fast", "--memory", "1 MB", "--output", "parts.mesa")
    run("fit", "truths.parquet", "--target", "bad", *options)


def test_a_cell_of_a_row_without_a_class_changes_nothing(run, small, tmp_path):
    small["paid"] = np.arange(600) % 2 == 0
    small.to_csv(tmp_path / "known.csv", index=False)
    total = {"amount": "Total", "zip": "x", "bad": None, "paid": "all"}
    pd.concat([small.astype(object), pd.DataFrame([total])]).to_csv("total.csv", index=False)
    for name in ("known", "total"):
        run("fit", f"{name}.csv", "--target", "bad", *FAST, "--output", f"{name}.mesa")
        run("predict", f"{name}.mesa", "known.csv", "--output", f"{name}-scores.csv")
    scores = [(tmp_path / f"{name}-scores.csv").read_text() for name in ("known", "total")]
    assert scores[0] == scores[1]


def test_one_bad_cell_among_true_and_false(run, small, tmp_path):
    small["paid"] = np.arange(600) % 2 == 0
    small.to_csv(tmp_path / "rows.csv", index=False)
    run("fit", "rows.csv", "--target", "bad", *FAST)
    run("predict", "model.mesa", "rows.csv", "--output", "before.csv")
    small.astype({"paid": object}).assign(paid=[*small["paid"][:599], "x1"]).to_csv("x.csv")
    said = run("predict", "model.mesa", "x.csv", "--chunk-rows", 250)
    assert "1 of 600 cells is not a number, for instance 'x1' in row 600. It counts as" in said
    before, after = pd.read_csv("before.csv"), pd.read_csv("scores.csv")
    assert before["probability"][:599].equals(after["probability"][:599])
    for said in (
        run("drift", "model.mesa", "x.csv"),
        run("report", "model.mesa", "x.csv", "--target", "bad", "--repeats", 2),
    ):
        assert said.count("1 of 600 cells is not a number") == said.count("Note:") == 1
        assert "UserWarning" not in said


def as_booked(small, month, days=12):
    hours = pd.to_timedelta(np.arange(len(small)) * days * 24 / len(small), "h")
    return (pd.Timestamp(f"2026-{month}-01") + hours).strftime("%m/%d/%Y %H:%M")


def test_a_model_of_the_first_days_of_a_month_reads_the_next_one(run, small, tmp_path):
    small.assign(booked=as_booked(small, "03")).to_csv(tmp_path / "march.csv", index=False)
    small.assign(booked=as_booked(small, "04", 30)).to_csv(tmp_path / "april.csv", index=False)
    said = run("fit", "march.csv", "--target", "bad", *FAST)
    assert "date, order unclear" in said
    run("fit", "march.csv", "--target", "bad", *FAST, "--dates", "month-first")
    run("predict", "model.mesa", "april.csv")
    options = ("--time", "booked", "--dates", "month-first")
    run("fit", "march.csv", "--target", "bad", *FAST, *options)
    said = run("predict", "model.mesa", "april.csv")
    assert "over 30 days" in said


@pytest.mark.parametrize("threshold", ["recall=0.5", "top=3/day"])
def test_bad_times_belong_to_no_day(run, small, tmp_path, threshold):
    rows = small.assign(when=as_booked(small, "03", 20))
    rows.to_csv(tmp_path / "march.csv", index=False)
    options = ("--time", "when", "--dates", "month-first", "--threshold", threshold)
    run("fit", "march.csv", "--target", "bad", *FAST, *options)
    rows.loc[[3, 400], "when"] = ["soon", None]
    rows.to_csv(tmp_path / "april.csv", index=False)
    said = run("predict", "model.mesa", "april.csv", "--chunk-rows", 250)
    assert "2 of 600 rows have no time in 'when', for instance 'soon' in row 4" in said
    assert "over 20 days" in said
    scores = pd.read_csv("scores.csv")
    if threshold == "top=3/day":
        assert "They are of no day, and not called." in said
        assert (scores["decision"] == "yes").sum() == 60
        assert (scores["decision"][[3, 400]] == "no").all()
    # In a fit all rows need a time.
    said = run("fit", "april.csv", "--target", "bad", *FAST, *options, code=2)
    assert "no value that can be read, for instance 'soon' in row 4, in 2 of 600 rows" in said


def test_a_model_of_counted_seconds_and_times_of_day(run, small, tmp_path):
    moments = pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(600) * 73, "min")
    rows = small.assign(
        booked_at=(moments - pd.Timestamp("1970-01-01")) // pd.Timedelta("1s"),
        clock=moments.strftime("%H:%M"),
    )
    rows.to_csv(tmp_path / "march.csv", index=False)
    said = run("fit", "march.csv", "--target", "bad", *FAST, "--keep", "booked_at,clock")
    assert "(from seconds since 1970)" in said
    assert "Read as times of day, for instance '00:00'" in said
    run("predict", "model.mesa", "march.csv")
    run("predict", "model.mesa", "march.csv", "--chunk-rows", 7, "--output", "parts.csv")
    assert (tmp_path / "scores.csv").read_text() == (tmp_path / "parts.csv").read_text()
    run("fit", "march.csv", "--target", "bad", *FAST, "--time", "booked_at")
    assert "over 31 days" in run("predict", "model.mesa", "march.csv")


# ---------------------------------------------------------------------- commas


def predicted(run, path, *options):
    """Return what a model says of a file, which must not depend on the size of a chunk."""
    said = run("predict", "model.mesa", path, "--output", "whole.csv", *options)
    for n_rows in (1, 7):
        run("predict", "model.mesa", path, "--output", "parts.csv", "--chunk-rows", n_rows)
        assert pd.read_csv("parts.csv").equals(pd.read_csv("whole.csv"))
    return said, pd.read_csv("whole.csv")["probability"]


def with_commas(small, path, rows=slice(0, 40)):
    rows = small[rows].assign(amount=[f"{amount:.3f}" for amount in small["amount"][rows]])
    rows["amount"] = rows["amount"].str.replace(".", ",")
    rows.to_csv(path, index=False, sep=";")
    return rows


def test_an_export_with_decimal_commas_is_read_as_one_with_points(run, small, tmp_path):
    run("fit", "rows.csv", "--target", "bad", *FAST)
    run("predict", "model.mesa", "rows.csv")
    wanted = pd.read_csv("scores.csv")["probability"]
    with_commas(small, tmp_path / "commas.csv")
    said, found = predicted(run, "commas.csv")
    assert found.equals(wanted[:40])
    assert "commas" not in said
    run("drift", "model.mesa", "commas.csv", "--chunk-rows", 3)
    # Where all could be thousands, it is said.
    few = small[(small["amount"] >= 1)][:40]
    with_commas(few, tmp_path / "few.csv")
    assert "Note: Column 'amount' held plain numbers" in predicted(run, "few.csv")[0]


def test_a_model_of_an_export_with_decimal_commas(run, small, tmp_path):
    run("fit", "rows.csv", "--target", "bad", *FAST)
    run("predict", "model.mesa", "rows.csv")
    wanted = pd.read_csv("scores.csv")["probability"]
    with_commas(small, tmp_path / "commas.csv", slice(None))
    said = run("fit", "commas.csv", "--target", "bad", *FAST)
    assert "Read as numbers like 1.234,5" in said
    assert predicted(run, "commas.csv")[1].equals(wanted)
    # Points stand between thousands in every file, however few rows it has.
    rows = small[:3].assign(amount=["2.000", "1.500", "9.750"])
    rows.to_csv(tmp_path / "points.csv", index=False, sep=";")
    rows.assign(amount=["2000,0", "1500", "9750"]).to_csv(
        tmp_path / "same.csv", index=False, sep=";"
    )
    assert predicted(run, "points.csv")[1].equals(predicted(run, "same.csv")[1])
