from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metasampler.meta import StateEncoder, error_histogram


@given(
    errors=arrays(float, st.integers(1, 50), elements=st.floats(0, 1)),
    n_bins=st.integers(1, 20),
)
def test_histogram_is_numpys_but_for_rounding_at_the_edges(errors, n_bins):
    ours = error_histogram(errors, n_bins)
    assert ours.shape == (n_bins,)
    assert ours.sum() == pytest.approx(1)
    distance = np.abs(errors * n_bins - np.round(errors * n_bins))
    clear = errors[(distance > 1e-9) | (errors == 1) | (errors == 0)]
    if len(clear):
        expected = np.histogram(clear, n_bins, range=(0, 1))[0] / len(clear)
        np.testing.assert_allclose(error_histogram(clear, n_bins), expected)


@given(k=st.integers(1, 60), n_bins=st.integers(1, 20))
def test_errors_on_an_edge_fall_into_the_upper_bin(k, n_bins):
    # Pure leaves give errors i/k, computed as here from the sum of the probabilities.
    i = np.arange(k + 1)
    for errors in (i / k, (k - (k - i)) / k, 1 - (k - i) / k):
        expected = np.bincount(np.minimum(i * n_bins // k, n_bins - 1), minlength=n_bins) / (k + 1)
        np.testing.assert_allclose(error_histogram(errors, n_bins), expected)


def test_last_bin_is_closed():
    np.testing.assert_array_equal(error_histogram(np.array([1.0, 0.8]), 5), [0, 0, 0, 0, 1])


def _growth():
    errors = {
        ("train", "minority"): np.array([0.9, 1.0]),
        ("train", "majority"): np.array([0.0, 0.1, 0.3]),
        ("valid", "minority"): np.array([0.5]),
        ("valid", "majority"): np.array([0.0, 0.0]),
    }
    for role in ("train", "valid"):
        parts = [errors[role, "minority"], errors[role, "majority"]]
        errors[role, "all"] = np.concatenate(parts)
    return SimpleNamespace(
        errors=lambda role, part: errors[role, part], weights=lambda role, part: None
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("all", [0.6, 0.4, 2 / 3, 1 / 3]),
        ("majority", [1, 0, 1, 0]),
        ("class-wise", [0, 1, 1, 0, 0, 1, 1, 0]),
    ],
)
def test_kinds(kind, expected):
    encoder = StateEncoder(kind, n_bins=2)
    state = encoder(_growth())
    np.testing.assert_allclose(state, expected)
    assert len(state) == encoder.size


def test_the_paper_reads_ten_numbers():
    assert StateEncoder().size == 10


@pytest.mark.parametrize("options", [{"kind": "minority"}, {"n_bins": 0}])
def test_bad_settings(options):
    with pytest.raises(ValueError, match=next(iter(map(str, options.values())))):
        StateEncoder(**options)
