"""Numbers in texts: prices, percentages, separators, several currencies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metasampler.tables._numbers import (
    Separators,
    currencies_of_texts,
    find_number_format,
    numbers_of_texts,
    unit_of_texts,
)
from metasampler.tables._unread import Slips


@pytest.mark.parametrize(
    ("texts", "name", "first"),
    [
        (["$1,200", "$35.5"], "1,234.5", 1200),
        (["1.200,50 €", "3 €"], "1.234,5", 1200.5),
        (["1,5", "12,75"], "1.234,5", 1.5),
        (["1,500", "2,250"], "1,234.5", 1500),
        (["USD 12", "USD 13,000.5"], "1,234.5", 12),
        (["12 EUR", "3 EUR"], "1,234.5", 12),
        (["3.5%", "12%"], "1,234.5", 3.5),
        (["1 200", "1'300"], "1,234.5", 1200),
        (["(1,200)", "-3", "+4"], "1,234.5", -1200),
        (["-$1,200", "($3.5)", "$-4"], "1,234.5", -1200),
        # A currency has no three decimals; a share may have.
        (["1.000 €", "950 €", "12.500 €"], "1.234,5", 1000),
        (["1.250%", "12.345%"], "1,234.5", 1.25),
        # Other currencies, and signs that look like those of a keyboard.
        (["USD1,200", "USD35.5"], "1,234.5", 1200),
        (["1,200USD", "35.5usd"], "1,234.5", 1200),
        (["US$1,200", "$35.5"], "1,234.5", 1200),
        (["R$ 1.200,50", "R$ 3"], "1.234,5", 1200.5),
        (["1 200,50 kr", "3,5 kr."], "1.234,5", 1200.5),
        (["1 200,50 zł", "3,5 zl"], "1.234,5", 1200.5),
        (["₽1,200", "RUB 3.5", "SGD 4", "HKD 5"], "1,234.5", 1200),
        (["Rs. 1,200", "Rs 3.5"], "1,234.5", 1200),
        (["Fr. 1\u2019234.50", "Fr. 2"], "1,234.5", 1234.5),
        (["\u22125", "3,000"], "1,234.5", -5),
        (["$(1,200)", "$3"], "1,234.5", -1200),
        (["3.5%", "3.5"], "1,234.5", 3.5),
        (["$-", "$1,200"], None, None),
        # These cannot be plain, and no thousands begin with a zero.
        (["12.500", "1.250.000"], "1.234,5", 12500),
        (["0,123", "1,955"], "1.234,5", 0.123),
        (["0.500 €", "1.250 €"], "1,234.5", 0.5),
        (["12 ft", "3 ft"], None, None),
        # Names of something.
        (["94110", "10001"], None, None),
        (["007", "1,000"], None, None),
        (["1.0", "2.5"], None, None),
        (["1.2.3", "1,000"], None, None),
        (["ABC 123", "$5"], None, None),
        (["EUR", "USD"], None, None),
        (["5%-10%"], None, None),
        (["1$2", "10% 200"], None, None),
        (["879 971 9273", "879 971 927"], None, None),
        (["6592 1055 4293 7489"], None, None),
        # Below zero, and signs on either side.
        (["5.00-", "$12-", "€-3", "+2 EUR"], "1,234.5", -5),
        # A dash in place of the cents is not a sign.
        (["€ 5,-", "-6,-"], "1,234.5", 5),
        (["Fr. 1'200.-", "Fr. 6.\u2013"], "1,234.5", 1200),
        (["1.200,\u2014 €", "2,50 €"], "1.234,5", 1200),
        # Lakhs, signs with a blank, and currencies of Asia.
        (["₹1,50,000", "₹2,000", "₹12,34,567.5"], "1,234.5", 150_000),
        (["US $ 5", "US$7.5"], "1,234.5", 5),
        (["1,200\u5186", "980\u5186"], "1,234.5", 1200),
        (["\u0e3f12.50", "\u0e3f3"], "1,234.5", 12.5),
        (["Rp 5.000", "Rp 15.000"], "1.234,5", 5000),
        (["RP 5", "RP 15"], None, None),
        # Libraries know the digits of ASCII only.
        (["\u0661\u0662", "\u0663"], "1,234.5", 12),
        # Each number in a style of its own.
        (["1,200.50", "1.200,50", "3,5", "1.234", "7.25"], "1,234.5 and 1.234,5", 1200.5),
        # Numbers of different things.
        (["5%", "0.05"], None, None),
        (["", "3,5"], None, None),
        ([], None, None),
    ],
)
def test_numbers_in_texts(texts, name, first):
    levels = np.array(texts, dtype=object)
    found = find_number_format(levels)
    assert (found and found.name) == name
    if name:
        numbers = numbers_of_texts(np.append(levels, "none"), np.array([0, -1, len(levels)]), name)
        np.testing.assert_allclose(numbers, [first, np.nan, np.nan])


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1), st.sampled_from(["$", "€ ", "GBP "]))
def test_every_written_price_is_read_again(cents, unit):
    prices = [cent / 100 for cent in cents]
    levels = np.array([f"{unit}{price:,.2f}" for price in prices], dtype=object)
    assert find_number_format(levels).name == "1,234.5"
    read = numbers_of_texts(levels, np.arange(len(levels)), "1,234.5")
    np.testing.assert_array_equal(read, prices)


@pytest.mark.parametrize(
    ("made", "unit"),
    [
        (lambda n: f"{n / 8:.1f} kg", "kg"),
        (lambda n: f"{n}kg", "kg"),
        (lambda n: f"{n / 8:.1f} {'mg' if n % 3 else 'g'}", "mg"),
        (lambda n: f"about {n / 8:.1f}", "about"),
        (lambda n: f"{n / 8:.2f}" if n > 9 else "<1.3", ""),
        # Names: codes, addresses, versions, pairs.
        (lambda n: f"T{n}", None),
        (lambda n: f"{n}{'ABCDEFGH'[n % 8]}", None),
        (lambda n: f"10.{n}.1.{n}", None),
        (lambda n: f"{n / 8:.3f},{n / 7:.3f}", None),
        (lambda n: f"{n}/{n + 3}", None),
        (lambda n: f"0{n} kg", None),
        (lambda n: f"V{n}" if n % 4 == 0 else f"{n / 8:.1f}", None),
        (lambda n: f"{n % 9} kg", None),
    ],
)
def test_numbers_with_units_that_are_not_known(made, unit):
    texts = np.array([made(n) for n in range(100, 400)], dtype=object)
    assert unit_of_texts(texts) == unit


def test_several_currencies():
    texts = np.array(["$1.20", "3.10 EUR", "1200.00", "-£5", "USD 7", "(2 €)"], dtype=object)
    found = find_number_format(texts)
    assert found == ("1,234.5", ("EUR", "GBP", "USD"))
    codes = np.array([0, 1, 2, 3, 4, 5, -1])
    read = numbers_of_texts(texts, codes, found.name)
    np.testing.assert_array_equal(read, [1.2, 3.1, 1200, -5, 7, -2, np.nan])
    units = currencies_of_texts(texts, codes).tolist()
    assert units == ["USD", "EUR", None, "GBP", "USD", "EUR", None]


def test_each_number_in_its_own_style():
    texts = np.array(["1,200.50", "1.200,50", "3,5", "1.234", "1,234", "7.25", "8"], dtype=object)
    read = numbers_of_texts(texts, np.arange(len(texts)), find_number_format(texts).name)
    np.testing.assert_array_equal(read, [1200.5, 1200.5, 3.5, 1234, 1234, 7.25, 8])


@pytest.mark.parametrize(
    ("odd", "n_odd", "is_number"),
    [
        *[("unknown", 10, True), ("unknown", 20, False), ("V57", 1, False), ("K1A 0B1", 3, False)],
        # A slip of the pen has no letters; a placeholder may stand in any number of rows.
        *[("12.3.4", 1, True), ("12.3.4", 20, False), ("-", 90, True), ("?", 900, True)],
    ],
)
def test_plain_numbers_beside_words(odd, n_odd, is_number):
    # A library reads all of a column as texts because of one cell.
    levels = np.array([*(str(n / 2) for n in range(110)), odd], dtype=object)
    codes = np.concatenate([np.arange(110), np.full(n_odd, 110)])
    found = find_number_format(levels, slips=Slips(levels, codes))
    assert (found is not None) == is_number
    # Fractions that nearly all differ are numbers even if no cell is odd.
    for made in (lambda n: str(n / 4), lambda n: f"{n / 7:.3f}", lambda n: f"{n / 7:.2f}"):
        texts = np.array([made(n) for n in range(110)], dtype=object)
        assert find_number_format(texts, slips=Slips(texts, np.arange(110))).name == "1,234.5"
    # Codes of diseases and numbers of sections differ, too.
    for made in (
        lambda n: f"{n + 520}.{n % 10}0",
        lambda n: f"{n + 520}.{n % 10}",
        lambda n: f"{1 + n // 11}.{1 + n % 11}",
    ):
        codes = np.array([made(n) for n in range(110)], dtype=object)
        assert find_number_format(codes, slips=Slips(codes, np.arange(110))) is None
    assert find_number_format(texts, slips=Slips(texts, np.repeat(np.arange(110), 3))) is None
    # Few levels may be names of classes.
    few = np.array(["1", "2", "3", "other"], dtype=object)
    codes = np.repeat(np.arange(4), [100, 100, 100, 2])
    assert find_number_format(few, slips=Slips(few, codes)) is None


@pytest.mark.parametrize(
    ("texts", "name", "is_clear"),
    [
        (["1.955", "2"], None, True),
        (["1,95", "2,5"], "1.234,5", True),
        (["1,955", "0,123"], "1.234,5", True),
        (["1,955", "2,123"], None, False),
        (["1,955", "12"], None, True),
        (["1,955.5", "1.5"], None, True),
        # Plain numbers beside a slip stay what they are.
        (["1.955", "1.25", "7.125", "2,50"], None, True),
    ],
)
def test_commas_in_a_column_of_plain_numbers(texts, name, is_clear):
    levels = np.array(texts, dtype=object)
    found = Separators().add(levels, np.arange(len(levels)))
    assert (found.format, found.is_clear) == (name, is_clear)
    # In chunks, too.
    parts = Separators()
    for place in range(len(levels)):
        parts.add(levels, np.array([place, -1]))
    assert parts == found


def test_numbers_as_python_reads_them():
    levels = np.array(["1e-5", "inf", "1,955", "2,50", "True", "x"], dtype=object)
    read = numbers_of_texts(levels, np.arange(6), None, truths=True)
    np.testing.assert_array_equal(read, [1e-5, np.inf, 1955, 2.5, 1, np.nan])
