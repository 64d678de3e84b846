"""Transactions of three months, fitted by customer and by time, and used on the month after."""

import os
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from metasampler import load_facts, load_model
from metasampler.cli import app
from metasampler.cli._per_day import DailyRows, alarms_per_day, top_of_each


def make_transactions(first_day, n_days, seed, per_day=60, amount=1.0, shop="shop", known=True):
    """Return transactions of customers: each has habits, and some are defrauded."""
    rng = np.random.default_rng(seed)
    habits = np.random.default_rng(99 if known else 98).normal(size=(400, 3))
    n_rows = n_days * per_day
    customer = rng.integers(0, 400, n_rows)
    day = np.sort(rng.integers(0, n_days, n_rows))
    risk = habits[customer, 0] + rng.normal(size=n_rows)
    when = pd.Timestamp(first_day) + pd.to_timedelta(day, "D")
    when += pd.to_timedelta(rng.integers(0, 24 * 60, n_rows), "min")
    frame = pd.DataFrame(
        {
            "customer": [f"c{number:03}" for number in customer],
            "when": when.strftime("%Y-%m-%d %H:%M"),
            "amount": amount * rng.lognormal(3, 1, n_rows) * np.exp(0.4 * (risk > 2)),
            "habit": habits[customer, 1] + 0.05 * rng.normal(size=n_rows),
            "signal": risk + rng.normal(size=n_rows),
            "place": rng.choice(["web", shop, "phone"], n_rows),
        }
    )
    return frame.assign(fraud=np.where(risk > 2.2, "yes", "no"))


def invoke(folder, *arguments, code=0):
    before = os.getcwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    finally:
        os.chdir(before)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return re.sub(r"[│╭╮╰╯─\s]+", " ", result.output)


FIT = ("--target", "fraud", "--preset", "fast", "--group", "customer", "--time", "when")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tomorrow")
    make_transactions("2024-01-01", 91, 0).to_csv(folder / "quarter.csv", index=False)
    make_transactions("2024-04-01", 30, 1).to_csv(folder / "april.csv", index=False)
    new = make_transactions("2024-04-01", 90, 1, known=False)
    new.to_csv(folder / "new.csv", index=False)
    moved = make_transactions("2024-05-01", 31, 2, amount=4.0, shop="kiosk")
    moved.to_csv(folder / "may.csv", index=False)
    text = invoke(folder, "fit", "quarter.csv", *FIT, "--threshold", "top=5/day", "--folds", "3")
    (folder / "fit.txt").write_text(text)
    return folder


def test_fit_judges_new_customers_on_later_days(folder):
    text = (folder / "fit.txt").read_text()
    assert "3 folds, no group in two of them, older rows before newer ones" in text
    assert "`metasampler predict` raises alarms for the 5 most probable rows of each day." in text
    assert re.search(r"On \d+ days that were held out \d+% of these \(\d+% to \d+%\)", text)
    facts = load_facts(folder / "model.mesa")
    assert (facts["n_called"], facts["per_day"], facts["time"]) == (5, True, "when")
    assert "customer" not in facts["column_kinds"]
    assert "when" not in facts["column_kinds"]


@pytest.mark.parametrize("chunk_rows", [100_000, 137])
def test_predict_calls_as_many_rows_each_day(folder, chunk_rows):
    text = invoke(folder, "predict", "model.mesa", "april.csv", "--chunk-rows", chunk_rows)
    assert "150 of them alarms ('yes')" in text
    assert "Alarms per day, over 30 days: 5 in the middle, 5 at least, 5 at most." in text
    scores = pd.read_csv(folder / "scores.csv")
    april = pd.read_csv(folder / "april.csv")
    day = april["when"].str[:10]
    for _, rows in scores.groupby(day):
        called = rows["decision"] == "yes"
        assert called.sum() == 5
        assert rows["probability"][called].min() >= rows["probability"][~called].max()
    # What the fit expected of five rows a day is kept in the month after.
    right = (april["fraud"] == "yes")[scores["decision"] == "yes"].mean()
    said = re.search(r"held out (\d+)% of these", (folder / "fit.txt").read_text())
    assert right == pytest.approx(int(said[1]) / 100, abs=0.12)


def test_another_threshold_still_counts_alarms_per_day(folder):
    text = invoke(folder, "predict", "model.mesa", "april.csv", "--threshold", "recall=0.8")
    assert re.search(r"Alarms per day, over 30 days: \d+ in the middle", text)
    text = invoke(folder, "predict", "model.mesa", "april.csv", "--threshold", "top=200/day")
    assert "30 of the days have fewer than 200 rows" in text


def test_what_it_expects_is_kept_for_new_customers(folder):
    options = ("--threshold", "recall=0.8", "--folds", "3", "--output", "recall.mesa")
    invoke(folder, "fit", "quarter.csv", *FIT, *options)
    clf = load_model(folder / "recall.mesa")[-1]
    invoke(folder, "predict", "recall.mesa", "new.csv", "--output", "new-scores.csv")
    truth = pd.read_csv(folder / "new.csv")["fraud"] == "yes"
    called = pd.read_csv(folder / "new-scores.csv")["decision"] == "yes"
    assert called[truth].mean() == pytest.approx(clf.expected_recall_, abs=0.08)
    assert truth[called].mean() == pytest.approx(clf.expected_precision_, abs=0.08)


def test_drift_and_report(folder):
    text = invoke(folder, "drift", "model.mesa", "may.csv", "--check", code=3)
    assert "amount" in text
    assert "'kiosk'" in text
    invoke(folder, "drift", "model.mesa", "april.csv", "--check")
    options = ("--target", "fraud", "--repeats", "0", "--output", "page.html")
    invoke(folder, "report", "model.mesa", "may.csv", *options)
    page = (folder / "page.html").read_text()
    assert "Since the fit" in page
    assert "kiosk" in page


def test_without_folds_the_fit_itself_splits(folder):
    options = ("--folds", "0", "--output", "none.mesa", "--threshold", "recall=0.7")
    text = invoke(folder, "fit", "quarter.csv", *FIT, *options)
    assert "expect a recall of" in text


def test_a_folder_of_parts_is_fitted_by_group_and_time_as_a_file_is(folder):
    parts = folder / "parts"
    parts.mkdir()
    frame = pd.read_csv(folder / "quarter.csv")
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[rows].to_parquet(parts / f"part-{number}.parquet", row_group_size=500)
    options = (*FIT, "--threshold", "top=5/day", "--folds", "0")
    in_parts = invoke(folder, "fit", "parts", *options, "--output", "parts.mesa")
    whole = invoke(folder, "fit", "quarter.csv", *options, "--output", "whole.mesa")
    promise = r"In Python predict returns .* 95% intervals"
    assert re.search(promise, in_parts)[0] == re.search(promise, whole)[0]
    for model in ("parts", "whole"):
        invoke(folder, "predict", f"{model}.mesa", "april.csv", "--output", f"{model}.csv")
    one, other = (pd.read_csv(folder / f"{model}.csv") for model in ("parts", "whole"))
    pd.testing.assert_frame_equal(one, other)
    assert (one["decision"] == "yes").sum() == 150


def test_compare_splits_alike(folder):
    options = ("--target", "fraud", "--method", "mesa-fast", "--method", "lightgbm")
    text = invoke(folder, "compare", "quarter.csv", *options, "--time", "when", "--folds", "3")
    assert "3 folds, older rows before newer ones" in text
    text = invoke(folder, "compare", "quarter.csv", *options, "--group", "customer", "--folds", "2")
    assert "2 folds, no group in two of them" in text


def test_what_is_missing_is_said(folder):
    fit = ("fit", "quarter.csv", "--target", "fraud")
    text = invoke(folder, *fit, "--threshold", "top=5/day", code=2)
    assert "top=5/day needs --time" in text
    text = invoke(folder, *fit, "--threshold", "top=5/week", code=2)
    assert "must be balanced, f1" in text
    text = invoke(folder, *fit, "--group", "custome", code=2)
    assert "no column 'custome'. Did you mean 'customer'" in text
    text = invoke(folder, *fit, "--time", "place", code=2)
    assert "column 'place' must hold numbers or dates" in text
    text = invoke(folder, *fit, "--time", "when", "--threshold", "top=900/day", code=2)
    assert "would raise an alarm for every row" in text
    pd.read_csv(folder / "april.csv").drop(columns="when").to_csv(folder / "no.csv", index=False)
    text = invoke(folder, "predict", "model.mesa", "no.csv", code=2)
    assert "no.csv lacks 'when', that of the fit" in text
    text = invoke(folder, "predict", "model.mesa", "no.csv", "--time", "wen", code=2)
    assert "no.csv has no column 'wen'" in text


# ---------------------------------------------------------------------------- days


def test_rows_of_each_day():
    scores, days = np.array([3.0, 1.0, 2.0, 2.0, 5.0]), np.array([7, 7, 7, 7, 9])
    np.testing.assert_array_equal(top_of_each(scores, days, 2), [True, False, True, False, True])
    daily = DailyRows(2)
    for start, stop in ((0, 2), (2, 5)):
        part = slice(start, stop)
        daily.add(scores[part], np.zeros(stop - start, dtype=bool), days[part], start)
    np.testing.assert_array_equal(daily.called, [0, 2, 4])
    assert "1 of the days have fewer than 2 rows" in str(daily)


def test_what_alarms_a_day_find():
    rng = np.random.default_rng(0)
    days, positive = np.repeat(np.arange(40), 50), rng.random(2000) < 0.1
    scores = positive + rng.normal(size=2000)
    found = alarms_per_day(scores, positive, days, 5)
    assert found.n_days == 40
    assert found.precision_interval[0] < found.precision < found.precision_interval[1]
    assert found.recall_interval[0] < found.recall < found.recall_interval[1]
