"""Column sense: what is planted is found, and real columns raise no false alarm."""

import sys
from io import StringIO

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline

from metasampler import MesaClassifier
from metasampler.persistence import load_model, save_model
from metasampler.tables import TableCleaner, TableEncoder, inspect_columns

N = 600

SKEW = np.linspace(0, 1, 400) ** 3
PACKED = pd.date_range("2024-02-01", periods=400).strftime("%Y%m%d")


def make_frame(rng):
    bad = rng.random(N) < 0.08
    frame = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, N),
            "salary": rng.lognormal(10, 0.4, N).round(-2),
            "age": rng.integers(18, 90, N),
            "town": rng.choice(["Rome", "Oslo", "Lima", None], N),
            "zip": rng.integers(10000, 10400, N).astype(str),
            "flag": rng.random(N) < 0.3,
            "measured": rng.normal(size=N),
        }
    )
    frame.loc[::9, "age"] = np.nan
    return frame, bad


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def findings(report):
    return {each.name: (each.finding, each.action) for each in report.columns if each.finding}


def test_usual_columns_are_used(rng):
    frame, bad = make_frame(rng)
    report = inspect_columns(frame, bad)
    assert findings(report) == {}
    assert report.left_out == report.warned == {}
    assert "Nothing odd was found" in str(report)
    kinds = {each.name: each.kind for each in report.columns}
    assert kinds["town"] == "category"
    assert kinds["flag"] == "number"


def plant(name, rng, bad):
    days = pd.Timestamp("2023-02-03") + pd.to_timedelta(rng.integers(0, 400, N), "D")
    wrong = rng.random(N) < 0.005
    by_class = np.argsort(np.argsort(bad, kind="stable"))
    planted = {
        "counter": (np.arange(N) + 1, "identifier", "left out"),
        "by_class": (by_class, "identifier", "left out"),
        "shuffled": (rng.permutation(N) * 1.0, "identifier", "left out"),
        "spread": (rng.choice(10**8, N, replace=False) + 10**8, "identifier", "left out"),
        "customer_id": (rng.integers(0, 5 * N, N) ** 2, "identifier", "left out"),
        "CLIENTNUM": (rng.choice(10**4, N, replace=False) ** 2, "identifier", "left out"),
        "hash": ([f"{value:x}" for value in rng.integers(0, 2**60, N)], "identifier", "left out"),
        "userId": (rng.integers(0, N, N).astype(str), "identifier", "left out"),
        "one": (["EUR"] * N, "constant", "left out"),
        "nothing": ([None] * N, "empty", "left out"),
        "objects": ([[1, 2]] * N, "no table value", "left out"),
        "again": (np.where(bad, "yes", "no"), "repeats the target", "left out"),
        "again_with_gaps": (
            np.where(rng.random(N) < 0.4, np.nan, bad * 2.0 + 3),
            "repeats the target",
            "left out",
        ),
        "outcome": (np.where(wrong, ~bad, bad) * 1, "possible leak", "warned"),
        "repaid": (np.where(bad, np.nan, rng.random(N)), "possible leak", "warned"),
        "code": (
            np.where(bad, rng.choice(["x", "y"], N), rng.choice(["a", "b"], N)),
            "possible leak",
            "warned",
        ),
        "late_by": (np.where(bad, 30, 0) + rng.random(N), "possible leak", "warned"),
        "stamp": (days, "date", "encoded"),
        "day": (days.strftime("%Y-%m-%d"), "date", "encoded"),
        "us_day": (days.strftime("%m/%d/%Y"), "date", "encoded"),
    }
    return planted[name]


PLANTED = [
    *("counter", "by_class", "shuffled", "spread", "customer_id", "CLIENTNUM", "hash", "userId"),
    *("one", "nothing", "objects", "again", "again_with_gaps", "outcome", "repaid", "code"),
    *("late_by", "stamp", "day", "us_day"),
]


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_is_planted_is_found(name, library, rng):
    frame, bad = make_frame(rng)
    values, finding, action = plant(name, rng, bad)
    frame[name] = values
    if library == "polars":
        if name == "objects":
            pytest.skip("polars reads lists as a type of its own, tested with the encoder")
        frame = polars.from_pandas(frame)
    report = inspect_columns(frame, bad)
    assert findings(report) == {name: (finding, action)}
    assert name in str(report)
    if name == "objects":
        with pytest.raises(ValueError, match=r"keep names 'objects', which cannot be used"):
            inspect_columns(frame, bad, keep=[name])
        return
    kept = inspect_columns(frame, bad, keep=[name])
    assert kept.left_out == kept.warned == {}


def test_the_target_may_be_a_column_of_the_frame(rng):
    frame, bad = make_frame(rng)
    frame["bad"], frame["copy"] = bad, bad * 1
    report = inspect_columns(frame, "bad")
    assert list(report.left_out) == ["copy"]
    assert "bad" not in [each.name for each in report.columns]
    # Without a target a copy of it is a column like any other.
    assert inspect_columns(frame).left_out == {}


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_rows_without_a_class_are_not_looked_at(rng, missing):
    frame, bad = make_frame(rng)
    frame["copy"], frame["other"] = np.where(bad, "yes", "no"), rng.random(N)
    target = pd.Series(bad * 1.0, dtype=object).mask(rng.random(N) < 0.3, missing)
    # A third value that only rows without a class have is none of the target's.
    frame["copy"] = frame["copy"].mask(target.isna().to_numpy(), "open")
    if missing is np.nan:
        target = target.astype(float)
    for values in (target, target.to_numpy()):
        assert findings(inspect_columns(frame, values)) == {
            "copy": ("repeats the target", "left out")
        }


@pytest.mark.parametrize("target", [np.full(N, np.nan), [None] * N, pd.Series([pd.NA] * N)])
def test_a_target_without_any_class(rng, target):
    frame, _ = make_frame(rng)
    with pytest.raises(ValueError, match=f"target has no class in any of {N} rows"):
        inspect_columns(frame, target)


def test_targets_and_names_that_are_none(rng):
    frame, bad = make_frame(rng)
    with pytest.raises(ValueError, match="target must hold one class a row, got ndarray"):
        inspect_columns(frame, np.column_stack([bad, bad]))
    with pytest.raises(ValueError, match="keep must be a list of columns, got 'x0'"):
        inspect_columns(frame, bad, keep="x0")


def test_numbers_at_the_end_of_the_range(rng):
    frame, bad = make_frame(rng)
    frame["far"] = rng.choice([-1.7e308, 1.7e308, 0.0], N)
    frame["beyond"] = np.where(rng.random(N) < 0.5, np.inf, -np.inf)
    report = inspect_columns(frame, bad)
    assert findings(report) == {"beyond": ("empty", "left out")}
    cleaned = TableCleaner().fit(frame, bad).transform(frame)
    assert "far" in cleaned
    assert "beyond" not in cleaned


def test_a_column_without_values_may_be_kept(rng):
    frame, bad = make_frame(rng)
    frame["none"] = None
    model = make_pipeline(
        TableCleaner(keep=["none"]), MesaClassifier(recipe="fast", random_state=0)
    )
    model.fit(frame, bad)
    assert model[0].kinds_["none"] == "empty"
    # What it holds later is unknown to the model, whatever it is.
    later = [model.predict_proba(frame.assign(none=value)) for value in (None, 3.0, "text")]
    for proba in later[1:]:
        np.testing.assert_array_equal(proba, later[0])


def test_a_table_without_rows(rng):
    frame, _ = make_frame(rng)
    with pytest.raises(ValueError, match="X has no rows to learn from"):
        TableCleaner(keep=list(frame)).fit(frame[:0])


def test_columns_may_have_numbers_as_names(rng):
    frame, bad = make_frame(rng)
    frame = frame.assign(odd=np.where(rng.random(N) < 0.1, np.inf, rng.random(N)))
    frame.columns = range(frame.shape[1])
    left = TableCleaner().fit(frame, bad).transform(frame)
    assert list(left.columns) == list(frame.columns)
    assert not np.isinf(left[frame.shape[1] - 1]).any()


def test_levels_that_no_row_has_do_not_count(rng):
    frame, bad = make_frame(rng)
    frame["town"] = pd.Categorical(
        frame["town"], categories=["Rome", "Oslo", "Lima", *map(str, range(N))]
    )
    frame["drug"] = pd.Categorical(["no"] * N, categories=["no", "yes"])
    assert findings(inspect_columns(frame, bad)) == {"drug": ("constant", "left out")}


def test_few_rows_are_no_identifiers():
    frame = pd.DataFrame({"age": np.arange(20, 40), "name": [f"n{i}" for i in range(20)]})
    assert inspect_columns(frame).left_out == {}


def test_wrong_arguments_are_named(rng):
    frame, bad = make_frame(rng)
    with pytest.raises(TypeError, match="data frame; got ndarray"):
        inspect_columns(frame.to_numpy(), bad)
    with pytest.raises(ValueError, match="target='missing' is not a column"):
        inspect_columns(frame, "missing")
    with pytest.raises(ValueError, match="keep names columns that there are not: \\['no'\\]"):
        inspect_columns(frame, bad, keep=["no"])
    with pytest.raises(ValueError, match="target has 3 values"):
        inspect_columns(frame, [0, 1, 0])


def test_no_false_alarm_on_real_tables(data_home):
    # A part of the rows is the harder case: more values are different by chance.
    paths = [path for of in ("real", "classes") for path in (data_home / of).glob("*.parquet")]
    assert len(paths) == 70
    found, dependent = {}, set()
    for path in paths:
        frame = pd.read_parquet(path)
        if len(frame) > 2000:
            frame = frame.sample(2000, random_state=0)
        report = inspect_columns(frame, "target")
        for each in report.columns:
            if each.finding == "entity":
                dependent.add(path.stem)
            elif each.finding not in ("", "constant", "empty", "date"):
                found[path.stem, each.name] = each.why
        if report.repeats:
            dependent.add(path.stem)
    assert found == {}
    # Months of one employee, bookings and customers that are there twice, flows of one attack, and
    # bookings of one agent; of the others it is not known.
    assert dependent == {
        *("employee_attrition_monthly", "hotel_cancel_direct", "iranian_churn"),
        *("unsw_nb15_fuzzers", "unsw_nb15_attack_cat", "hotel_market_segment"),
        *("email_spam_openintro", "anneal_steel_class", "ctg_fhr_pattern", "hpc_job_time"),
    }


# ---------------------------------------------------------------------- the cleaner


def test_one_text_among_thousands_counts_as_missing():
    prices = pd.DataFrame({"price": [f"${n % 90}.50" for n in range(1, 3000)] + ["on request"]})
    (facts,) = inspect_columns(prices).columns
    assert facts.finding == "number as text"
    assert "1 cell is not a number, and counts as missing" in facts.why
    assert "'on request' in row 3,000" in facts.why


def test_numbers_that_differ_and_are_no_identifier(rng):
    frame, bad = make_frame(rng)
    frame["meter"] = 20_000 + rng.permutation(N)
    assert findings(inspect_columns(frame, bad)) == {}


def test_a_report_says_what_becomes_of_each_column(rng):
    frame, bad = make_frame(rng)
    text = str(inspect_columns(frame, bad))
    for name in frame:
        assert f" {name} " in text
    for each in inspect_columns(frame, bad).columns:
        assert each.why
    # Wide tables fit on a screen, too.
    wide = pd.concat([frame, *(frame[["age"]].add_suffix(str(n)) for n in range(400))], axis=1)
    lines = str(inspect_columns(wide, bad)).splitlines()
    assert len(lines) < 50
    assert "(405 columns)" in "".join(lines)


def test_both_orders_of_a_date_are_named(rng):
    frame, bad = make_frame(rng)
    day, month = rng.integers(1, 13, N), rng.integers(1, 13, N)
    frame["due"] = [f"{d:02}/{m:02}/2024" for d, m in zip(day, month, strict=True)]
    assert findings(inspect_columns(frame, bad)) == {"due": ("date, order unclear", "encoded")}
    assert "--dates month-first" in str(inspect_columns(frame, bad)).replace("\n", "")
    for dates, first in (("day-first", day), ("month-first", month)):
        cleaner = TableCleaner(dates=dates).fit(frame, bad)
        assert cleaner.report_.columns[-1].finding == "date"
        days = cleaner.transform(frame)["due"].dt
        np.testing.assert_array_equal(days.day, first)
    with pytest.raises(ValueError, match=r"dates='us' must be one of 'auto', 'day-first'"):
        TableCleaner(dates="us").fit(frame, bad)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_amounts_in_several_currencies(library, rng):
    texts = rng.choice(["$1.20", "3.10 EUR", "1200.00", "(7 €)"], N)
    frame = pd.DataFrame({"amount": texts, "x": rng.normal(size=N)})
    given = polars.from_pandas(frame) if library == "polars" else frame
    report = inspect_columns(given)
    assert findings(report) == {"amount": ("amounts", "encoded")}
    assert "EUR" in report.columns[0].why
    cleaner = TableCleaner().fit(given)
    clean = cleaner.transform(given)
    assert list(clean.columns) == ["amount", "amount (currency)", "x"]
    assert cleaner.get_feature_names_out().tolist() == list(clean.columns)
    read = dict(zip(texts, clean["amount"].to_list(), strict=True))
    assert read == {"$1.20": 1.2, "3.10 EUR": 3.1, "1200.00": 1200, "(7 €)": -7}
    units = {None if value != value else value for value in clean["amount (currency)"].to_list()}
    assert units == {None, "USD", "EUR"}
    # Later rows may hold numbers alone.
    later = cleaner.transform(pd.DataFrame({"amount": [1.5, 2.0], "x": [0.0, 1.0]}))
    assert later["amount (currency)"].isna().all()
    with pytest.raises(ValueError, match=r"X has a column 'amount \(currency\)'"):
        TableCleaner().fit(frame.assign(**{"amount (currency)": 1.5}), None)


def test_columns_with_sentences(rng):
    words = np.array(["bird", "struck", "left", "engine", "on", "final", "approach", "damage"])
    texts = [" ".join(rng.choice(words, 8)) for _ in range(N)]
    frame = pd.DataFrame({"remark": texts, "x": rng.normal(size=N)})
    report = inspect_columns(frame)
    assert findings(report) == {"remark": ("free text", "encoded")}
    assert TableCleaner().fit(frame).kinds_["remark"] == "text"
    cleaner = TableCleaner(text="ignore").fit(frame)
    assert cleaner.left_out_ == {"remark": "Free text, as asked."}
    assert TableCleaner(text="ignore", keep=["remark"]).fit(frame).left_out_ == {}
    with pytest.raises(ValueError, match="text='no' must be"):
        TableCleaner(text="no").fit(frame)


def test_numbers_of_orders_with_separators_are_identifiers():
    frame = pd.DataFrame({"order_id": [f"{n:,}" for n in range(10_000, 10_400)]})
    assert list(inspect_columns(frame).left_out) == ["order_id"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates_in_another_format_warn(library):
    days = pd.date_range("2025-01-01", periods=400)
    frame = pd.DataFrame({"opened": days.strftime("%m/%d/%Y"), "x": np.arange(400) % 7})
    given = polars.from_pandas(frame) if library == "polars" else frame
    cleaner = TableCleaner().fit(given)
    read = cleaner.transform(given)["opened"].to_numpy()
    np.testing.assert_array_equal(np.diff(read), np.timedelta64(1, "D"))
    other = pd.DataFrame(
        {"opened": ["01/02/2025"] * 30 + [None, "soon", "15.1.25", "2025-02-03"], "x": 1}
    )
    # A date with the year first is clear in any column.
    words = "2 of 33 cells are not dates, for instance 'soon' in row 32. They count as missing"
    with pytest.warns(UserWarning, match=words):
        read = cleaner.transform(other)["opened"]
    assert read.isna().tolist() == [False] * 30 + [True] * 3 + [False]
    with pytest.raises(
        ValueError, match=r"'opened' .* 3 of 23 cells are not dates.* More than 10%"
    ):
        cleaner.transform(pd.concat([other[11:], other[31:32]]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_cleaner_reads_prices(library, rng):
    amounts = np.round(rng.lognormal(5, 1, 400), 2)
    frame = pd.DataFrame({"price": [f"${amount:,.2f}" for amount in amounts]})
    frame.loc[3, "price"] = None
    given = polars.from_pandas(frame) if library == "polars" else frame
    cleaner = TableCleaner().fit(given)
    (facts,) = cleaner.report_.columns
    assert (facts.kind, facts.finding, facts.action) == ("number", "number as text", "encoded")
    read = cleaner.transform(given)["price"].to_numpy()
    np.testing.assert_array_equal(read, np.where(np.arange(400) == 3, np.nan, amounts))
    with pytest.raises(
        ValueError, match=r"'price' was read as numbers .* 20 of 20 cells are not numbers"
    ):
        cleaner.transform(pd.DataFrame({"price": ["1.200,50 €", "call"] * 10}))
    # A file of other rows may hold plain numbers there, which its library has read.
    numbers = (
        given[:5].with_columns(price=polars.Series([5.0, 1, 2, 3, 4]))["price"]
        if (library == "polars")
        else pd.Series([5.0, 1, 2, 3, 4], name="price")
    )
    assert cleaner.transform(numbers.to_frame())["price"][0] == 5.0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_cleaner_does_what_the_report_says(library, rng):
    frame, bad = make_frame(rng)
    frame["order"] = np.arange(N)
    frame["day"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) % 300, "D")).strftime(
        "%d.%m.%Y"
    )
    frame.loc[5, "amount"] = np.inf
    given = polars.from_pandas(frame) if library == "polars" else frame
    cleaner = TableCleaner(drop=["zip"]).fit(given, bad)
    assert cleaner.left_out_.keys() == {"zip", "order"}
    clean = cleaner.transform(given)
    assert type(clean) is type(given)
    names = [name for name in frame if name not in ("zip", "order")]
    assert list(clean.columns) == names == cleaner.get_feature_names_out().tolist()
    assert np.isnan(clean["amount"].to_numpy()[5])
    np.testing.assert_array_equal(
        clean["day"].to_numpy()[:2], np.array(["2024-01-01", "2024-01-02"], "datetime64[us]")
    )
    # Columns that were left out need not be there any more, and others may be.
    shorter = given[names]
    assert cleaner.transform(shorter).shape == (N, len(names))
    with pytest.raises(ValueError, match="lacks the columns \\['town'\\]"):
        cleaner.transform(given[[name for name in names if name != "town"]])


def test_the_cleaner_names_wrong_parameters(rng):
    frame, bad = make_frame(rng)
    with pytest.raises(ValueError, match="drop must be a list of columns of X; got \\['no'\\]"):
        TableCleaner(drop=["no"]).fit(frame, bad)
    with pytest.raises(ValueError, match="keep must be a list of columns of X"):
        TableCleaner(keep="age").fit(frame, bad)
    with pytest.raises(ValueError, match="keep and drop both name \\['age'\\]"):
        TableCleaner(keep=["age"], drop=["age"]).fit(frame, bad)
    with pytest.raises(ValueError, match="No column is left"):
        TableCleaner().fit(frame[[]].assign(one=1), bad)


# ---------------------------------------------------------------------- as files have them


def facts_of(values, name="x", **options):
    (facts,) = inspect_columns(pd.DataFrame({name: values}), **options).columns
    return facts


def test_the_first_days_of_a_month():
    booked = [f"03/{day:02d}/2026 14:{minute:02d}" for day in range(1, 13) for minute in range(60)]
    facts = facts_of(booked)
    assert (facts.finding, facts.date_format) == ("date, order unclear", "day/month/year")
    facts = facts_of(booked, dates="month-first")
    assert (facts.finding, facts.date_format) == ("date", "month/day/year")


@pytest.mark.parametrize(
    ("values", "name", "kind", "finding", "date_format"),
    [
        (
            [f"{h:02}:{m:02}" for h in range(20) for m in range(9)],
            "t",
            "duration",
            "time as text",
            1,
        ),
        (1_706_767_200 + 977 * np.arange(400), "booked_at", "date", "date", "seconds since 1970"),
        (1_706_767_200 + 977 * np.arange(400), "order", "number", "identifier", None),
        (
            1_706_767_200_000 + 977 * np.arange(400),
            "due_ms",
            "date",
            "date",
            "milliseconds since 1970",
        ),
        # Seconds and milliseconds alone name no time.
        ((1e9 + 7e8 * SKEW).astype(int), "size_s", "number", "", None),
        ((1e12 + 1e12 * SKEW).astype(int), "amount_ms", "number", "", None),
        # One odd cell makes a text of each.
        (
            [*map(str, 1_706_767_200 + 977 * np.arange(400)), "soon"],
            "ts",
            "date",
            "date",
            "seconds since 1970",
        ),
        (PACKED.astype(int), "n", "date", "date", "yyyymmdd"),
        (PACKED, "n", "date", "date", "yyyymmdd"),
        ([*PACKED, "soon"], "n", "date", "date", "yyyymmdd"),
    ],
)
def test_times_that_are_not_written_as_dates(values, name, kind, finding, date_format):
    facts = facts_of(values, name)
    written = "hour:minute" if date_format == 1 else date_format
    assert (facts.kind, facts.finding, facts.date_format) == (kind, finding, written)


@pytest.mark.parametrize("of", [int, str, " {} ".format])
def test_packed_dates_with_a_slip(of):
    slipped = [*PACKED, *PACKED[:100], "20241301"]
    facts = facts_of([of(cell) for cell in slipped], "n")
    assert (facts.kind, facts.date_format) == ("date", "yyyymmdd")
    assert facts.missing == 1 / 501
    assert "as missing, for instance" in facts.why
    assert "20241301" in facts.why
    many = [of(cell) for cell in [*PACKED, *["20241301"] * 20]]
    assert facts_of(many, "n").kind != "date"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_times_are_read_again(library, tmp_path):
    seconds = 1_706_767_200 + 977 * np.arange(400)
    clock = pd.to_datetime(seconds, unit="s").strftime("%H:%M:%S")
    frame = pd.DataFrame({"booked_at": seconds, "clock": clock})
    given = polars.from_pandas(frame) if library == "polars" else frame
    cleaner = TableCleaner().fit(given)
    assert cleaner.kinds_ == {"booked_at": "date", "clock": "duration"}
    numbers = TableEncoder().fit_transform(cleaner.transform(given))
    np.testing.assert_allclose(numbers[:, 0], seconds / 86400)
    np.testing.assert_allclose(numbers[:, -1], seconds / 86400 % 1, atol=1e-9)
    # As a file of texts has them, and after a round trip.
    texts = frame.astype({"booked_at": str})
    save_model(
        make_pipeline(cleaner, TableEncoder().fit(cleaner.transform(frame))), tmp_path / "m.mesa"
    )
    again = load_model(tmp_path / "m.mesa")[0].transform(texts)
    np.testing.assert_array_equal(TableEncoder().fit(again).transform(again), numbers)


def test_bad_cells_do_not_turn_numbers_into_names(rng):
    amounts = [f"{amount:.2f}" for amount in rng.lognormal(3, 1, 6000)]
    for bad, n_bad in (("12.3.4", 1), ("-", 1200), ("Total", 1)):
        cells = amounts.copy()
        cells[:n_bad] = [bad] * n_bad
        facts = facts_of(cells)
        assert (facts.kind, facts.finding) == ("number", "number as text"), bad
        assert f"for instance {bad!r} in row 1" in facts.why
        assert facts.missing == n_bad / 6000
    days = pd.date_range("2020-01-01", periods=6000, freq="7h").strftime("%Y-%m-%d %H:%M:%S")
    days = ["0000-00-00 00:00:00"] * 120 + list(days[120:])
    assert (facts_of(days).kind, facts_of(days).finding) == ("date", "date")


def test_columns_that_are_nearly_numbers_say_so(rng):
    amounts = [f"{amount:.2f}" for amount in rng.lognormal(3, 1, 6000)]
    facts = facts_of([*amounts[:5700], *["1.2.3"] * 300])
    assert (facts.kind, facts.finding) == ("category", "nearly numbers")
    assert "300 of 6,000 cells are not numbers, for instance '1.2.3' in row 5,701" in facts.why
    days = pd.date_range("2020-01-01", periods=570).strftime("%Y-%m-%d")
    facts = facts_of([*days, *["2020-02-30"] * 30])
    assert (facts.kind, facts.finding, facts.action) == ("category", "nearly dates", "left out")
    # Codes of diseases and codes with zeros in front are names.
    codes = [f"{code}.{n}" for code in range(250, 450) for n in range(10)]
    assert facts_of([*codes * 2, *["V57", "E812"] * 200]).finding == ""
    assert facts_of([f"{n:05d}" for n in range(300)] * 3 + ["none"] * 200).finding == ""


def test_texts_that_are_numbers_or_dates_and_more():
    facts = facts_of([f"{n / 8:.2f} kg" for n in range(100, 400)] * 3)
    assert (facts.kind, facts.finding, facts.action) == ("category", "nearly numbers", "used")
    assert "numbers with 'kg' beside them, for instance '12.50 kg'" in facts.why
    days = pd.date_range("2024-02-01", periods=300)
    facts = facts_of([f"{day:%Y-%m-%d} at noon" for day in days])
    assert (facts.finding, facts.action) == ("nearly dates", "left out")
    assert "begin with dates, for instance '2024-02-01 at noon', and cannot be read" in facts.why
    assert facts_of([f"10.{n}.1.{n}" for n in range(100, 300)] * 2).finding == ""


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("inr", False), ("casino", False), ("orderNo", True), ("orderno", True), ("bill_nr", True)],
)
def test_whole_numbers_with_the_name_of_an_identifier(name, is_one, rng):
    amounts = (rng.lognormal(12, 1, 500) * 100).astype(int)
    assert (facts_of(amounts, name).finding == "identifier") == is_one


def test_texts_without_blanks_between_words(rng):
    letters = [chr(0x4E00 + n) for n in range(40)]
    bad = rng.random(800) < 0.2
    texts = ["".join(rng.choice(letters[:20], 9)) + letters[30] * 2 * odd for odd in bad.tolist()]
    frame = pd.DataFrame({"remark": texts})
    assert inspect_columns(frame, bad).columns[0].finding == "free text"
    numbers = TableEncoder().fit(frame, bad).transform(frame)
    assert average_precision_score(bad, numbers[:, -1]) > 0.95
    # Names are shorter.
    names = pd.DataFrame({"name": ["".join(rng.choice(letters, 3)) for _ in range(400)] * 2})
    assert inspect_columns(names).columns[0].kind == "category"


def test_the_report_fits_a_narrow_screen(rng, monkeypatch):
    frame, bad = make_frame(rng)
    report = inspect_columns(frame.assign(price=[f"${n}.5" for n in range(N)], same=1), bad)
    monkeypatch.setenv("COLUMNS", "80")
    in_a_file = str(report)

    class Screen(StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Screen())
    lines = str(report).splitlines()
    assert max(map(len, lines[1:])) <= 80
    assert any("encoded: number as text" in line for line in lines)
    assert any("left out: constant" in line for line in lines)
    monkeypatch.setenv("COLUMNS", "200")
    assert str(report) == in_a_file
    assert max(map(len, in_a_file.splitlines()[1:])) > 80


def test_a_new_currency_is_named():
    frame = pd.DataFrame({"price": [f"${price}.50" for price in range(100, 200)]})
    cleaner = TableCleaner().fit(frame)
    assert cleaner.transform(pd.DataFrame({"price": ["US$3", "$4"]}))["price"].tolist() == [3, 4]
    with pytest.warns(UserWarning, match="'price' held amounts in USD .* now also in EUR"):
        read = cleaner.transform(pd.DataFrame({"price": ["€3", "$4"]}))
    assert read["price"].tolist() == [3, 4]


def test_true_and_false_beside_a_bad_cell():
    encoder = TableEncoder().fit(pd.DataFrame({"paid": [True, False]}))
    texts = ["True", "FALSE", "false", " true "] * 10 + ["perhaps"]
    with pytest.warns(UserWarning, match="1 of 41 cells is not a number, for instance 'perhaps'"):
        read = encoder.transform(pd.DataFrame({"paid": texts}))
    np.testing.assert_array_equal(read[:, 0], [1, 0, 0, 1] * 10 + [np.nan])
    objects = pd.Series([True, False, "?", None], dtype=object)
    with pytest.warns(UserWarning, match="1 of 3 cells is not a number, for instance '[?]'"):
        read = encoder.transform(pd.DataFrame({"paid": objects}))
    np.testing.assert_array_equal(read[:, 0], [1, 0, np.nan, np.nan])


@pytest.mark.parametrize("texts", [["1,95", "2,50"], ["1,955", "0,123"]])
def test_decimal_commas_in_a_column_of_plain_numbers(texts):
    encoder = TableEncoder().fit(pd.DataFrame({"x": [1.955, 0.123]}))
    read = encoder.transform(pd.DataFrame({"x": texts}))[:, 0]
    assert read.tolist() == [float(text.replace(",", ".")) for text in texts]
    with pytest.warns(UserWarning, match="'x' held plain numbers .* commas before three digits"):
        encoder.transform(pd.DataFrame({"x": ["1,955", "2,123"]}))


@pytest.mark.parametrize("kind", ["lazy frame", "table of Arrow", "batch of Arrow"])
def test_tables_of_other_kinds(kind, rng):
    frame, bad = make_frame(rng)
    given = {
        "lazy frame": lambda: polars.from_pandas(frame).lazy(),
        "table of Arrow": lambda: pyarrow.Table.from_pandas(frame),
        "batch of Arrow": lambda: pyarrow.RecordBatch.from_pandas(frame),
    }[kind]()
    kinds = [each.kind for each in inspect_columns(frame).columns]
    assert [each.kind for each in inspect_columns(given).columns] == kinds
    cleaner = TableCleaner().fit(given)
    encoder = TableEncoder().fit(given)
    np.testing.assert_array_equal(
        encoder.transform(given), TableEncoder().fit(frame).transform(frame)
    )
    assert list(cleaner.transform(given).columns) == list(frame.columns)
    model = make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0))
    proba = model.fit(frame, bad).predict_proba(frame)
    np.testing.assert_array_equal(model.fit(given, bad).predict_proba(given), proba)


def test_a_table_of_dask_is_named():
    dd = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")
    frame = dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0]}), npartitions=1)
    for call in (inspect_columns, TableCleaner().fit, TableEncoder().fit):
        with pytest.raises(TypeError, match=r"is a Dask DataFrame: .*pass \w+\.compute\(\)"):
            call(frame)
