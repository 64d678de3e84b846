"""Draws from partitions: what they answer is merged exactly."""

import math

import numpy as np
import pytest
from parted import uneven

from metasampler.growth import RandomStreams, Sums, exact_sum, race_keys
from metasampler.large._backends import Backend
from metasampler.large._merging import SmallKeys, last_of_smallest
from metasampler.large._partitioned import find_smallest, positions_of
from metasampler.large._partitions import Partition, WhichRows


def cut(codes, n_partitions, seed):
    return [
        Partition(np.zeros((len(codes), 1))[rows], codes[rows], rows.start)
        for rows in uneven(len(codes), n_partitions, seed)
    ]


@pytest.mark.parametrize("n_partitions", [2, 7, 40])
@pytest.mark.parametrize("spread", [0.0, 1.0, 300.0])
@pytest.mark.parametrize("size", [1, 37, 499])
@pytest.mark.parametrize("alike", [True, False])
def test_the_smallest_keys_of_all_partitions(n_partitions, spread, size, alike):
    """Also where keys are tied, equal in all partitions, or beyond the bins."""
    rng = np.random.default_rng(n_partitions)
    codes = rng.integers(0, 2, 1200)
    key = RandomStreams(0).row_key(0)
    which = WhichRows(1, None, "train", key, 3)
    own = np.round(rng.normal(0, spread, len(codes)))
    if not alike:
        own.sort()
    backend, partitions = Backend(), cut(codes, n_partitions, 1)

    def adjust(keys, errors, tied):
        return np.round(errors * 1e6) if tied else keys + errors * 1e6

    for tied in (False, True):
        sums = [
            Sums(1 - own[each.start : each.start + each.n_rows] / 1e6, {}, 1) for each in partitions
        ]
        options = {"sums": sums, "adjust": adjust, "args": (tied,)}
        found_by = find_smallest(backend, partitions, which, size, int(codes.sum()), **options)
        chosen = positions_of(backend, partitions, [found_by])
        found = np.concatenate(
            [each.numbers_of(rows) for each, rows in zip(partitions, chosen, strict=True)]
        )
        rows = np.flatnonzero(codes == 1)
        errors = 1 - (1 - own[rows] / 1e6)
        keys = adjust(race_keys(key, 3, 0, len(codes))[rows], errors, tied)
        expected = rows[np.sort(np.argsort(keys, kind="stable")[:size])]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("alike", "n_calls"), [(True, 1), (False, 3)])
def test_one_call_finds_the_last_key_if_partitions_are_alike(alike, n_calls):
    asked = []

    class Counting(Backend):
        def ask(self, function, *cells, args=()):
            asked.append(function.__name__)
            return super().ask(function, *cells, args=args)

    codes = np.zeros(40_000, dtype=int)
    partitions = cut(codes, 4, 0)
    rows = np.arange(len(codes))
    sums = [Sums(rows[each.start :][: each.n_rows] / len(rows), {}, 1) for each in partitions]
    which = WhichRows(0, None, "train", RandomStreams(0).row_key(0), 0)
    power = 0.0 if alike else 20.0
    options = {"sums": sums, "adjust": lambda keys, errors: keys - power * errors}
    find_smallest(Counting(), partitions, which, 2000, len(codes), **options)
    assert len(asked) == n_calls


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_last_key_may_be_the_last_of_its_bin(size):
    keys, rows = np.arange(4.0), np.arange(2)
    smallest = [SmallKeys(0, rows, keys[:2], 2), SmallKeys(2, rows, keys[2:], 2)]
    assert last_of_smallest(Backend(), smallest, size, None) == (keys[size - 1], size - 1)


def test_exact_sums_do_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    numbers = rng.lognormal(0, 12, 5000)
    assert float(exact_sum(numbers)) == float(exact_sum(rng.permutation(numbers)))
    assert float(exact_sum(numbers)) == math.fsum(numbers)
    each = [exact_sum(numbers[rows]) for rows in uneven(5000, 9)]
    assert sum(each) == exact_sum(numbers)
