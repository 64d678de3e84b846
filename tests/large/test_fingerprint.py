"""Fingerprints of rows: independent of the cut, and other for other rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metasampler.growth import group_keys
from metasampler.large._fingerprint import fingerprint_rows


def make_rows(dtype=np.float32):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    groups = group_keys(np.arange(60) // 4)
    return X, rng.integers(0, 2, 60).astype(np.uint8), rng.random(60), groups


@settings(max_examples=30)
@given(st.lists(st.integers(0, 60), max_size=5), st.sampled_from([np.float32, np.float64]))
def test_it_does_not_depend_on_parts(cuts, dtype):
    X, y, weights, groups = make_rows(dtype)
    edges = [0, *sorted(cuts), 60]
    parts = [
        fingerprint_rows(X[a:b], y[a:b], weights[a:b], a, groups[a:b])
        for a, b in itertools.pairwise(edges)
    ]
    assert sum(parts) % 2**64 == fingerprint_rows(X, y, weights, 0, groups)


@pytest.mark.parametrize(
    "changed", ["value", "label", "weight", "group", "order", "columns", "start"]
)
def test_other_rows_have_another_one(changed):
    X, y, weights, groups = make_rows()
    before = fingerprint_rows(X, y, weights, 0, groups)
    start = 0
    if changed == "value":
        X[17, 1] = np.nextafter(X[17, 1], np.float32(9), dtype=np.float32)
    elif changed == "label":
        y[17] = 1 - y[17]
    elif changed == "weight":
        weights[17] += 1e-9
    elif changed == "group":
        groups[17] = groups[0]
    elif changed == "order":
        X, y, weights, groups = (each[::-1].copy() for each in (X, y, weights, groups))
    elif changed == "columns":
        X = X[:, ::-1].copy()
    else:
        start = 1
    assert fingerprint_rows(X, y, weights, start, groups) != before
