"""Numbers in texts: prices, percentages, separators, several currencies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metasampler.tables._numbers import (
    currencies_of_texts,
    find_number_format,
    numbers_of_texts,
)
from metasampler.tables._unread import may_be_unread


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
    [("unknown", 10, True), ("unknown", 20, False), ("V57", 1, False), ("K1A 0B1", 3, False)],
)
def test_plain_numbers_beside_words(odd, n_odd, is_number):
    # A library reads all of a column as texts because of one cell.
    levels = np.array([*(str(n / 2) for n in range(110)), odd], dtype=object)
    codes = np.concatenate([np.arange(110), np.full(n_odd, 110)])
    found = find_number_format(levels, may_miss=may_be_unread(levels, codes))
    assert (found is not None) == is_number
    # Few levels may be names of classes.
    few = np.array(["1", "2", "3", "other"], dtype=object)
    codes = np.repeat(np.arange(4), [100, 100, 100, 2])
    assert find_number_format(few, may_miss=may_be_unread(few, codes)) is None
