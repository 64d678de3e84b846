"""Policies that choose the draw of a table with many classes."""

import numpy as np
import pytest

from metasampler_bench.studies._class_policies import (
    FAMILIES,
    LEARNED,
    STATE,
    choices,
    macro_ap,
    state_of,
)

N_TABLES, N_SPLITS, N_DRAWS = 24, 3, 4


def made_up(seed=0, told=1.0):
    """Tables on which the first fact of the state tells whether draw 0 or draw 3 is good."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(N_TABLES, 1, len(STATE)))
    states = states + 0.01 * rng.normal(size=(N_TABLES, N_SPLITS, len(STATE)))
    scores = 0.5 + 0.02 * rng.normal(size=(N_TABLES, N_SPLITS, N_DRAWS))
    scores[:, :, 0] += 0.1 * told * states[:, :, 0]
    scores[:, :, 3] -= 0.1 * told * states[:, :, 0]
    return [f"table {number}" for number in range(N_TABLES)], states, scores


def test_what_the_state_tells_is_learned():
    tables, states, scores = made_up()
    chosen = choices(tables, states, scores, scores)
    hindsight = chosen["best on the same test rows"].mean()
    constant = chosen["best on other families"].mean()
    for name in LEARNED:
        assert chosen[name].mean() > constant + 0.7 * (hindsight - constant)
    assert all(
        (chosen[name] <= chosen["best on the same test rows"] + 1e-12).all() for name in chosen
    )


def test_what_a_policy_learns_is_of_other_families_and_splits():
    tables, states, scores = made_up()
    tables[:2] = FAMILIES["weather"]
    names = ["best on other families", *LEARNED]
    before = choices(tables, states, scores, scores)
    # The family's own scores change, but for the order of draws nothing else does.
    other = scores.copy()
    other[:2] = 1 - other[:2]
    after = choices(tables, states, other, other)
    for name in names:
        assert after[name][:2] == pytest.approx(1 - before[name][:2])
    # What is judged on a split of a single one decides nothing there.
    single = choices(tables, states[:, :1], scores[:, :1], scores[:, :1])
    assert "best on the table's other splits" not in single


def test_with_few_tables_the_best_constant_is_taken():
    tables, states, scores = made_up()
    chosen = choices(tables[:2], states[:2, :2], scores[:2, :2], scores[:2, :2])
    for name in LEARNED:
        assert (chosen[name] == chosen["best on other families"]).all()


def test_the_state_of_a_table():
    y = np.repeat([0, 1, 2], [60, 30, 10])
    left_out = np.full((100, 3), 0.1)
    left_out[np.arange(100), y] = np.repeat([0.8, 0.5, 0.2], [60, 30, 10])
    state = state_of(y, left_out)
    assert list(state) == list(STATE)
    assert state["log imbalance"] == pytest.approx(np.log(6))
    assert [state[f"{part} error"] for part in ("head", "middle", "tail")] == pytest.approx(
        [0.2, 0.5, 0.8]
    )
    assert state["signal"] == macro_ap(y, left_out) == 1
