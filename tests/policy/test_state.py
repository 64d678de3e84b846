from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.tree import DecisionTreeClassifier

from metasampler.growth import Growth, RandomStreams, make_adapters, make_growth_data
from metasampler.policy import StateEncoder, error_histogram


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


def _grown(X, y, weights=None, n_members=1):
    streams = RandomStreams(0)
    tree = DecisionTreeClassifier(max_depth=2)
    data = make_growth_data(
        X,
        y,
        sample_weight=weights,
        estimator=tree,
        validation_fraction=0.3,
        sampling_ratio=1.0,
        scoring="average_precision",
        streams=streams,
    )
    growth = Growth(data, make_adapters(tree, data.tables, data.n_classes), streams)
    for _ in range(n_members):
        growth.step()
    return growth


def test_a_summary_says_what_it_says(imbalanced):
    X, y = imbalanced
    growth = _grown(X, y, n_members=4)
    state = StateEncoder("summary")(growth)
    parts = [(r, p) for r in ("train", "valid") for p in ("minority", "majority")]
    errors = {part: growth.errors(*part) for part in parts}
    means = {part: e.mean() for part, e in errors.items()}
    np.testing.assert_allclose(state[:4], [2 * means[part] - 1 for part in parts])
    np.testing.assert_allclose(state[4:8], [2 * errors[part].std() for part in parts])
    np.testing.assert_allclose(
        state[8:10],
        [means["valid", p] - means["train", p] for p in ("minority", "majority")],
        atol=1e-12,
    )
    wrong = [2 * (errors[r, "majority"] > 0.5).mean() - 1 for r in ("train", "valid")]
    np.testing.assert_allclose(state[10:12], wrong)
    majority, minority = map(len, growth.data.class_rows)
    sizes = [np.log10(majority / minority) / 3, np.log10(minority) / 5, 1 / 4]
    np.testing.assert_allclose(state[12:], sizes)


@pytest.mark.parametrize("rows", ["imbalanced", "three_classes"])
def test_a_summary_is_bounded_and_has_its_size(rows, request):
    encoder = StateEncoder("summary", n_bins=3)
    X, y = request.getfixturevalue(rows)
    for n_members in (1, 5):
        state = encoder(_grown(X, y, n_members=n_members))
        assert state.shape == (encoder.size,)
        assert np.abs(state).max() <= 1
        assert encoder.low == -1


def test_a_summary_counts_weights(imbalanced):
    X, y = imbalanced
    plain = StateEncoder("summary")(_grown(X, y))
    np.testing.assert_allclose(StateEncoder("summary")(_grown(X, y, np.full(len(y), 3.0))), plain)
    weights = np.where(y == 1, 5.0, 1.0)
    weighted = StateEncoder("summary")(_grown(X, y, weights))
    # Minority rows count five times, so the classes are nearer to each other.
    assert weighted[12] == pytest.approx(plain[12] - np.log10(5) / 3)


def test_what_states_are_called():
    assert str(StateEncoder("all", 4)) == "states of kind 'all' with 4 bins"
    assert str(StateEncoder("summary")) == "states of kind 'summary'"


@pytest.mark.parametrize("options", [{"kind": "minority"}, {"n_bins": 0}])
def test_bad_settings(options):
    with pytest.raises(ValueError, match=next(iter(map(str, options.values())))):
        StateEncoder(**options)
