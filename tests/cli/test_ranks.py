"""Ranks in little memory are the ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metasampler.cli._ranks import rank_scores


def ranks_of(scores, folder, at_once):
    np.asarray(scores, "<f8").tofile(folder / "scores")
    rank_scores(folder / "scores", folder / "ranks", at_once=at_once)
    assert sorted(path.name for path in folder.iterdir()) == ["ranks", "scores"]
    return np.fromfile(folder / "ranks", "<i8")


def expected(scores):
    ranks = np.empty(len(scores), int)
    ranks[np.argsort(-np.asarray(scores, float), kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


@given(
    scores=st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])), min_size=1),
    at_once=st.integers(1, 40),
)
def test_any_scores(scores, at_once, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    np.testing.assert_array_equal(ranks_of(scores, folder, at_once), expected(scores))


@pytest.mark.parametrize("levels", [1, 2, 50, None])
def test_many_rows(levels, tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.random(30_000) if levels is None else rng.integers(0, levels, 30_000) / 50
    np.testing.assert_array_equal(ranks_of(scores, tmp_path, 1000), expected(scores))
