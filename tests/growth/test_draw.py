from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from metasampler.growth import RandomStreams, draw_rows, hardest_rows
from metasampler.growth._draw import race_keys, race_keys_of
from metasampler.growth._rules import gaussian_log_weights

KEY = np.array([123, 456], dtype=np.uint64)


@given(
    n=st.integers(1, 300), cuts=st.lists(st.integers(0, 300), max_size=4), draw=st.integers(0, 9)
)
def test_keys_do_not_depend_on_chunks(n, cuts, draw):
    whole = race_keys(KEY, draw, 0, n)
    edges = sorted({0, n, *(cut for cut in cuts if cut < n)})
    pieces = [race_keys(KEY, draw, a, b) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(whole, np.concatenate(pieces))


@given(
    rows=st.sets(st.integers(0, 500), max_size=60).map(sorted), chunk=st.sampled_from([7, 64, 1000])
)
def test_keys_of_some_rows(rows, chunk):
    rows = np.array(rows, dtype=int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metasampler.growth._draw._CHUNK", chunk)
        keys = race_keys_of(KEY, 3, rows)
    np.testing.assert_array_equal(keys, race_keys(KEY, 3, 0, 501)[rows])


def test_keys_differ_between_draws_and_keys():
    other = np.array([123, 457], dtype=np.uint64)
    a, b, c = race_keys(KEY, 0, 0, 50), race_keys(KEY, 1, 0, 50), race_keys(other, 0, 0, 50)
    assert not np.any(a == b)
    assert not np.any(a == c)


def test_keys_are_logarithms_of_standard_exponentials():
    sample = np.exp(race_keys(KEY, 0, 0, 20_000))
    assert stats.kstest(sample, "expon").pvalue > 1e-3


@given(
    keys=arrays(float, st.integers(1, 60), elements=st.floats(-5, 5), unique=True),
    size=st.integers(1, 80),
)
def test_draw_takes_the_smallest_keys_in_order(keys, size):
    drawn = draw_rows(keys, size)
    assert len(drawn) == min(size, len(keys))
    np.testing.assert_array_equal(drawn, np.sort(np.argsort(keys)[:size]))


def test_weighted_draw_follows_the_weights():
    # One row out of four: the probability of each is its normalised weight.
    errors = np.array([0.0, 0.3, 0.6, 1.0])
    log_weights = gaussian_log_weights(errors, mu=0.6, sigma=0.4)
    n = 20_000
    counts = np.zeros(4)
    for draw in range(n):
        counts[draw_rows(race_keys(KEY, draw, 0, 4) - log_weights, 1)] += 1
    expected = np.exp(log_weights) / np.exp(log_weights).sum()
    assert stats.chisquare(counts, n * expected).pvalue > 1e-3


def test_gaussian_weights_are_those_of_equation_3():
    errors = np.linspace(0, 1, 11)
    ours = gaussian_log_weights(errors, 0.3, 0.2)
    density = stats.norm(0.3, 0.2).logpdf(errors)
    np.testing.assert_allclose(ours - ours[0], density - density[0])


@pytest.mark.parametrize("sigma", [1e-3, 1e-8])
def test_weights_that_underflow_do_not_break_the_draw(sigma):
    # All weights are zero in floating point; the rows nearest to mu must still come first.
    errors = np.linspace(0.0, 0.5, 100)
    with np.errstate(under="raise", over="raise", invalid="raise"):
        log_weights = gaussian_log_weights(errors, 1.0, sigma)
        drawn = draw_rows(race_keys(KEY, 0, 0, 100) - log_weights, 10)
    np.testing.assert_array_equal(drawn, np.arange(90, 100))


@pytest.mark.parametrize("sigma", [1e-200, 1e-9, 1e200])
def test_any_width_leaves_equal_rows_equal(sigma):
    errors = np.full(50, 0.3)
    log_weights = gaussian_log_weights(errors, 0.9, sigma)
    assert not log_weights.any()
    draws = {tuple(draw_rows(race_keys(KEY, d, 0, 50) - log_weights, 5)) for d in range(5)}
    assert len(draws) == 5


def test_gaussian_weights_leave_the_errors_alone():
    errors = np.array([0.1, 0.9])
    gaussian_log_weights(errors, 0.5, 0.2)
    np.testing.assert_array_equal(errors, [0.1, 0.9])


@settings(deadline=None)
@given(
    errors=arrays(
        float,
        st.integers(2, 60),
        elements=st.sampled_from([-1e-7, 0.0, 0.25, 0.25 + 2**-50, 0.5, 1.0]) | st.floats(0, 1),
    ),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_the_hardest_rows(errors, seed, data):
    size = data.draw(st.integers(1, len(errors)))
    ties = race_keys(RandomStreams(seed).row_key(0), 0, 0, len(errors))
    expected = np.sort(np.lexsort([ties, -errors])[:size])
    np.testing.assert_array_equal(hardest_rows(errors, ties, size), expected)
