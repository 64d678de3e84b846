"""Policies for draws: what is measured, and how they are judged."""

import numpy as np
import pytest

from metasampler_bench import _draw_summaries, load_spec
from metasampler_bench._draw_measure import CHOICES, POWERS, SELECTABLE, measure_draws
from metasampler_bench._draw_policies import (
    ACTIONS,
    Cases,
    best_constant,
    by_signal,
    cross_validated,
    fit_sampler,
    learned,
    mean_by_table,
    one_threshold,
    random_search,
    selected,
)
from metasampler_bench._draw_summaries import DRAW_SUMMARIES
from metasampler_bench._samplers import SamplerCache
from metasampler_bench._spec import Job
from metasampler_bench.datasets import REAL_FAMILIES, REAL_NAMES

TABLES = REAL_NAMES[:12]
NUMBERS = (
    *("scout_information", "hard_auc", "gap_minority", "error_valid_majority"),
    *("spread_train_minority", "booster_ap_gain", "agreement"),
)


def make_rows(tables=TABLES, runs=2, noise=0.0):
    """Rows of a world in which hard draws pay where the signal is large, and cost where not."""
    rng = np.random.default_rng(0)
    rows = []
    for place, name in enumerate(tables):
        signal = 10.0 * 1.35**place
        slope = 0.1 * np.log(signal / 60)
        state = {"signal": signal, "ratio": 10.0, "n_minority": 1000.0}
        state |= {number: float(rng.random()) for number in NUMBERS}
        for run in range(runs):
            for group in CHOICES:
                draws = CHOICES[group]
                hardness = np.linspace(0, 1, len(draws) + (group != "mu"))[-len(draws) :]
                score = 0.5 + slope * hardness
                test = {draw: float(s) for draw, s in zip(draws, score, strict=True)}
                cell = {"dataset": name, "run": run, "fold": 0, "draws": group}
                row = {"cell": cell | ({"noise": noise} if noise else {}), "test": test}
                row["state"] = state
                if group == "more":
                    row["held_test"] = dict.fromkeys(SELECTABLE, 0.45)
                    row["valid"] = {draw: float(rng.random()) for draw in SELECTABLE}
                rows.append(row)
    return rows


@pytest.fixture(scope="module")
def cases():
    return Cases.of(make_rows())


def test_groups_of_a_split_are_put_together(cases):
    assert len(cases) == 24
    assert cases.test.keys() >= {*CHOICES["mu"], *CHOICES["power"], *CHOICES["more"]}
    best = np.max([list(mean_by_table(cases.tables, s).values()) for s in cases.test.values()], 0)
    np.testing.assert_allclose(best, 1.0)
    lacking = [row for row in make_rows() if row["cell"]["draws"] != "power"]
    assert len(Cases.of(lacking)) == 0


def test_scores_between_two_powers_are_interpolated(cases):
    first = cases.where(np.arange(24) == 0)
    low, high = first.test[ACTIONS[0]][0], first.test[ACTIONS[1]][0]
    assert first.scores_of(np.array([0.125]))[0] == pytest.approx((low + high) / 2)
    assert POWERS[0] == 0
    assert POWERS[-1] == 6


def test_a_policy_learns_from_other_families_what_the_signal_says(cases):
    best = max(cases.weights @ cases.test[draw] for draw in CHOICES["mu"])
    own = cases.weights @ cross_validated(cases, learned())
    assert own > best + 0.005
    assert own > cases.weights @ cross_validated(cases, best_constant(CHOICES["mu"]))
    policy = fit_sampler(cases)
    assert policy.choose(np.array([-0.5])) < 0.2 < 0.8 < policy.choose(np.array([0.5]))


def test_what_is_tested_was_not_learned_from(cases):
    seen = []

    def fit(known):
        return lambda new: (
            seen.append((set(known.families), set(new.families))) or np.zeros(len(new))
        )

    cross_validated(cases, fit)
    assert all(not (known & new) for known, new in seen)
    assert set.union(*(new for _, new in seen)) == {REAL_FAMILIES[name] for name in TABLES}


def test_rules_without_a_learner(cases):
    signal = cases.numbers["signal"]
    by_hand = by_signal(cases)
    np.testing.assert_array_equal(by_hand[signal < 36], cases.test["uniform"][signal < 36])
    np.testing.assert_array_equal(by_hand[signal > 50], cases.test["0.9"][signal > 50])
    chosen = one_threshold(cases)(cases)
    assert cases.weights @ chosen >= max(cases.weights @ cases.test[d] for d in ("uniform", "1"))
    assert selected(cases).shape == (24,)
    scores = cross_validated(cases, random_search(0))
    np.testing.assert_array_equal(scores, cross_validated(cases, random_search(0)))


def test_reports_are_made_of_rows(monkeypatch):
    monkeypatch.setattr(_draw_summaries, "_SEEDS", range(1))
    spec, rows = load_spec("policies-tables"), make_rows(TABLES[::2], runs=1)
    table = DRAW_SUMMARIES["draw-policies"](spec, rows, {})
    names = [line[0].text for line in table.rows]
    hindsight = table.rows[names.index("hindsight: the best constant of each table")]
    assert hindsight[1].text == table.rows[0][1].text == "1.0000"
    assert any(name.startswith("learned: power by the signal") for name in names)
    assert any(name.startswith("selected on validation rows, 6 fits") for name in names)
    for kind in ("draw-groups", "draw-tables"):
        assert len(DRAW_SUMMARIES[kind](spec, rows, {}).rows) >= 6
    noisy = DRAW_SUMMARIES["draw-groups"](spec, make_rows(noise=0.2), {"noise": 0.2})
    assert noisy.rows


def test_a_split_is_measured(data_home, tmp_path):
    cache = SamplerCache(tmp_path, 0, str(data_home))
    rows = {
        group: measure_draws(
            Job("draws", {"dataset": "iranian_churn", "run": 0, "fold": 0, "draws": group}), cache
        )[0]
        for group in ("mu", "power")
    }
    # Both groups stand on the same scouts and the same first member.
    assert rows["mu"]["state"] == rows["power"]["state"]
    assert rows["mu"]["test"].keys() == CHOICES["mu"].keys()
    assert rows["power"]["test"].keys() == CHOICES["power"].keys()
    assert all(0.8 < score < 1 for row in rows.values() for score in row["test"].values())
