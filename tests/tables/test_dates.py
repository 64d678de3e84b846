"""Dates in texts, the order of day and month, and the parts of a moment."""

from datetime import datetime
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from metasampler.tables._columns import first_value
from metasampler.tables._dates import (
    PARTS,
    are_clocks,
    days_of_clocks,
    days_of_counts,
    days_of_texts,
    find_count_format,
    find_date_format,
    find_packed_format,
    parts_of,
)
from metasampler.tables._unread import Slips


@pytest.mark.parametrize(
    ("texts", "name", "first"),
    [
        (["2024-02-01", "2024-2-29"], "year-month-day", 19754),
        (["2024-02-01 06:00", "2024-02-29T12:30:15.5Z"], "year-month-day", 19754.25),
        (["2024-02-01T06:00:00+06:00"], "year-month-day", 19754),
        (["2024/02/01", "2024.12.31 23:59"], "year/month/day", 19754),
        (["01/02/2024", "31.12.2024"], "day/month/year", 19754),
        (["02/01/2024 18:00", "12/31/2024"], "month/day/year", 19754.75),
        (["02/01/2024 6:00 PM", "12/31/2024 12:05 am"], "month/day/year", 19754.75),
        # Months by name, years of two digits, zones, hours without a zero.
        (["01-Feb-2024 06:00", "24-Jan-2026 10:14"], "month by name", 19754.25),
        (["Feb 1, 2024 6:00 PM", "January 24, 2026"], "month by name", 19754.75),
        (["Thu, 1 Feb 2024 06:00:00 +0600", "01FEB24:12:00:00"], "month by name", 19754),
        (["1. Februar 2024", "2. Mai 2024"], "month by name", 19754),
        (["02/01/24 10:14", "12/31/26 10:14"], "month/day/year", 19754 + 614 / 1440),
        (["01.02.24 10:14", "31.12.26 10:14"], "day/month/year", 19754 + 614 / 1440),
        (["2024-02-01 06:00:00 UTC", "2024-02-01 6:00 GMT"], "year-month-day", 19754.25),
        (["2024-02-01 8:30"], "year-month-day", 19754 + 510 / 1440),
        (["20240201T060000"], "year-month-day", 19754.25),
        (["2024-02-01 06:00:00 PM"], "year-month-day", 19754.75),
        (["2024-02-01 06:00 CET", "2024-02-01 06:00 EST"], "year-month-day", 19754 + 5 / 24),
        (["2024-02-01 06:00:00 +0000 UTC"], "year-month-day", 19754.25),
        (["2024-02-01T06:00:00+01:00[Europe/Berlin]"], "year-month-day", 19754 + 5 / 24),
        (["2024-01-31 24:00", "2016-12-31 23:59:60"], "year-month-day", 19754),
        # Years of two digits stand last if this fits.
        (["24-02-01", "24-02-02", "24-03-12"], "day/month/year", 11377),
        (["24.02.01 06:00", "24.02.02", "32.12.31"], "short year-month-day", 19754.25),
        (["01-02-24", "02-02-24", "12-03-24"], "day/month/year", 19754),
        # Versions, fractions and names.
        (["1.2.13", "1.10.12"], None, None),
        (["24-Xyz-2026"], None, None),
        (["2024-02-01 25:00"], None, None),
        (["2024-02-01 24:01"], None, None),
        (["2024-02-01 06:00 Mars"], None, None),
        (["20240201"], None, None),
        (["2024", "1999"], None, None),
        (["01/31/2024 13:00 PM"], None, None),
        (["2024-02-30"], None, None),
        (["A-2024-02-01"], None, None),
        (["12/31/2024", "31/12/2024"], None, None),
        ([], None, None),
    ],
)
def test_dates_in_texts(texts, name, first):
    levels = np.array(texts, dtype=object)
    found = find_date_format(levels)
    assert (found and found.name) == name
    if name:
        days = days_of_texts(levels, np.array([0, -1]), name)
        np.testing.assert_allclose(days, [first, np.nan])


@given(st.datetimes(min_value=pd.Timestamp("1900-01-01"), max_value=pd.Timestamp("2200-01-01")))
def test_every_written_moment_is_read_again(moment):
    truth = (moment - pd.Timestamp("1970-01-01").to_pydatetime()).total_seconds() / 86400
    for text in (
        moment.isoformat(),
        moment.isoformat(" "),
        moment.strftime("%Y/%m/%d %H:%M:%S.%f"),
    ):
        levels = np.array([text], dtype=object)
        days = days_of_texts(levels, np.array([0]), find_date_format(levels).name)
        assert abs(days[0] - truth) < 1e-8


# ---------------------------------------------------------------------- day and month


@pytest.mark.parametrize(
    ("texts", "order", "name", "is_clear"),
    [
        # One value decides, wherever it stands.
        (["01/02/2024"] * 900 + ["12/31/2024"], "auto", "month/day/year", True),
        (["01/02/2024"] * 900 + ["31/12/2024"], "month-first", "day/month/year", True),
        # Months: the part with one value is the day.
        ([f"{month:02}/01/2024" for month in range(1, 13)], "auto", "month/day/year", True),
        ([f"01/{month:02}/2024" for month in range(1, 13)], "auto", "day/month/year", True),
        # Days of one month, and times, are not months.
        ([f"03/{day:02}/2026" for day in range(1, 13)], "auto", "day/month/year", False),
        ([f"01/{day:02}/2026 14:00" for day in range(1, 13)], "auto", "day/month/year", False),
        # What is asked for wins wherever it fits.
        ([f"03/{d:02}/2026 14:00" for d in range(1, 13)], "month-first", "month/day/year", True),
        ([f"{d:02}.03.2026 14:00" for d in range(1, 13)], "day-first", "day/month/year", True),
        ([f"{month:02}/01/2024" for month in range(1, 13)], "day-first", "day/month/year", True),
        # Both fit.
        (["01/02/2024", "03/04/2024"], "auto", "day/month/year", False),
        (["01/02/2024", "03/04/2024"], "day-first", "day/month/year", True),
        (["01/02/2024", "03/04/2024"], "month-first", "month/day/year", True),
        # Both are the same.
        (["01/01/2024", "03/03/2024"], "auto", "day/month/year", True),
    ],
)
def test_the_order_of_day_and_month(texts, order, name, is_clear):
    found = find_date_format(np.array(texts, dtype=object), order)
    assert (found.name, found.is_clear) == (name, is_clear)


@pytest.mark.parametrize("gap", [".", "-", "/"])
@pytest.mark.parametrize("order", ["auto", "day-first", "month-first"])
@pytest.mark.parametrize("often", ["QE", "ME", "MS", "YE", "D"])
def test_years_of_two_digits_that_stand_last(often, order, gap):
    for parts, years in product(("dmy", "mdy"), [(2001, 2024), (2012, 2024), (2000, 2031)]):
        truth = pd.date_range(f"{years[0]}-01-31", f"{years[1]}-12-31", freq=often)
        name = "day/month/year" if parts == "dmy" else "month/day/year"
        if often == "MS" and order != "auto":
            # Both orders fit, and the one that is asked for wins.
            name = "day/month/year" if order == "day-first" else "month/day/year"
        texts = np.unique(truth.strftime(gap.join(f"%{part}" for part in parts)))
        found = find_date_format(texts, order)
        assert found.name == name
        assert found.is_clear or gap == "-"
        if len(texts) < 100:
            continue
        # A slip, which is a date if the year stands first, changes nothing.
        slip = gap.join(["31", "06", "12"] if parts == "dmy" else ["06", "31", "12"])
        texts = np.append(texts, slip)
        found = find_date_format(texts, order, slips=Slips(texts, np.arange(len(texts))))
        assert found.name == name


@pytest.mark.parametrize(("first", "last"), [("2024-01-01", "2024-12-31"), ("2018", "2025-06-30")])
def test_years_of_two_digits_that_stand_first(first, last):
    truth = pd.date_range(first, last)
    texts = np.array(truth.strftime("%y-%m-%d"), dtype=object)
    assert find_date_format(texts) == ("short year-month-day", True, False)
    assert find_date_format(texts, "day-first").name == "day/month/year"
    # With slashes years stand last, but it is said that this may be wrong.
    slashed = np.array(truth.strftime("%y/%m/%d"), dtype=object)
    assert find_date_format(slashed) == ("day/month/year", False, True)


@pytest.mark.parametrize(
    ("odd", "n_odd", "is_date"),
    [("unknown", 10, True), ("unknown", 20, False), ("32.13.2024", 1, True), ("13 h", 3, False)],
)
def test_texts_that_are_not_dates(odd, n_odd, is_date):
    days = pd.date_range("2024-01-01", periods=110).strftime("%d.%m.%Y")
    levels = np.array([*days, odd], dtype=object)
    codes = np.concatenate([np.arange(110), np.full(n_odd, 110)])
    found = find_date_format(levels, slips=Slips(levels, codes))
    assert (found is not None) == is_date


@pytest.mark.parametrize("odd", ["0000-00-00 00:00:00", "00/00/0000", "-", "?", "null"])
def test_placeholders_are_missing_in_any_number_of_rows(odd):
    days = pd.date_range("2024-01-01", periods=110).strftime("%d.%m.%Y")
    levels = np.array([*days, odd], dtype=object)
    codes = np.concatenate([np.arange(110), np.full(500, 110)])
    assert find_date_format(levels, slips=Slips(levels, codes)).name == "day/month/year"


# ---------------------------------------------------------------------- times and counts


def test_times_of_day():
    texts = ["10:14:24", "6:00", "6:00 pm", "2 days 03:00:00", "24:00", "100:30:00", "soon"]
    levels, codes = np.array(texts, dtype=object), np.arange(7)
    days = days_of_clocks(levels, codes)
    of_hours = [1, 4 + 4.5 / 24]
    np.testing.assert_allclose(days, [36864 / 86400, 0.25, 0.75, 2.125, *of_hours, np.nan])
    assert are_clocks(levels[:6], Slips(levels[:6], codes[:6]))
    assert not are_clocks(levels, Slips(levels, codes))
    verses = np.array([f"{n}:{n % 60:02}" for n in range(60, 150)], dtype=object)
    slips = Slips(verses, np.arange(90))
    assert not are_clocks(verses, slips)
    assert are_clocks(verses, slips, is_named=True)
    assert are_clocks(verses[:41], Slips(verses[:41], np.arange(41)))
    for texts in (["16:9", "4:3"], ["25:00 PM"], ["10:14:70"], ["12"], []):
        few = np.array(texts, dtype=object)
        assert not are_clocks(few, Slips(few, np.arange(len(few))))


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("seconds", 1), ("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9)],
)
def test_counted_seconds(unit, factor):
    numbers = np.array([1_706_767_200, 1_769_249_664, np.nan]) * factor
    name = find_count_format(numbers)
    assert name == f"{unit} since 1970"
    np.testing.assert_allclose(days_of_counts(numbers, name)[[0, 2]], [19754.25, np.nan])
    levels = np.array(["1706767200" + "0" * round(np.log10(factor)), "soon"], dtype=object)
    days = days_of_texts(levels, np.array([0, 1, -1]), name)
    np.testing.assert_allclose(days, [19754.25, np.nan, np.nan])
    assert find_count_format(np.array([20240201.0])) is None


def test_dates_that_are_written_as_one_number():
    days = pd.date_range("2024-02-01", periods=60)
    numbers = np.append(days.strftime("%Y%m%d").astype(float), [0, 99991231, np.nan])
    name = find_packed_format(numbers, is_named=False)
    assert name == "yyyymmdd"
    assert_array_equal(days_of_counts(numbers, name), [*range(19754, 19814), *[np.nan] * 3])
    read = days_of_texts(np.array(["20240201", "soon"], dtype=object), np.array([0, 1, -1]), name)
    assert_array_equal(read, [19754, np.nan, np.nan])
    # Few numbers need a name, and none of them may be another number.
    assert find_packed_format(numbers[:9], is_named=False) is None
    assert find_packed_format(numbers[:9], is_named=True) == name
    for odd in (20240230, 20241301, 20240200, 20240201.5, 7, 2024):
        assert find_packed_format(np.append(numbers, odd), is_named=True) is None
        assert np.isnan(days_of_counts(np.array([odd], dtype=float), name)).all()
    assert find_count_format(np.array([1_706_767_200, 3.0])) is None
    assert find_count_format(np.array([np.nan])) is None


# ---------------------------------------------------------------------- parts


@given(st.lists(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), min_size=1))
def test_the_parts_of_every_moment(moments):
    moments = [moment.replace(microsecond=0) for moment in moments]
    days = np.array([(moment - datetime(1970, 1, 1)).total_seconds() / 86400 for moment in moments])
    parts = parts_of(days)
    assert list(parts) == list(PARTS)
    assert_array_equal(parts["days since 1970"], days)
    hours = [moment.hour + moment.minute / 60 + moment.second / 3600 for moment in moments]
    np.testing.assert_allclose(parts["hour"], hours, atol=1e-9)
    assert_array_equal(parts["weekday"], [moment.weekday() for moment in moments])
    assert_array_equal(parts["month"], [moment.month for moment in moments])
    assert_array_equal(parts["day of month"], [moment.day for moment in moments])


def test_the_parts_of_no_moment():
    for values in parts_of(np.array([np.nan, np.inf])).values():
        assert np.isnan(values[0])


class FewAtATime(pd.Series):
    """A column that refuses to turn all of its values into Python objects at once."""

    @property
    def _constructor(self):
        return FewAtATime

    def __iter__(self):
        assert len(self) < 1000
        return super().__iter__()


def test_the_first_moment_is_found_without_making_all_of_them():
    moments = FewAtATime(pd.date_range("2024-01-01", periods=5000, freq="h"))
    moments.iloc[:300] = pd.NaT
    assert first_value(moments) == pd.Timestamp("2024-01-13 12:00")
