"""Policies for draws: what is measured, and how they are judged."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rounding import needs_same_rounding

from metasampler import MetaSampler
from metasampler.meta import SoftActorCritic
from metasampler_bench import (
    _draw_attempts,
    _draw_policies,
    _draw_summaries,
    _draw_training,
    load_spec,
)
from metasampler_bench._draw_cases import (
    ACTIONS,
    MORE_NUMBERS,
    Cases,
    cross_validated,
    mean_by_table,
)
from metasampler_bench._draw_ceiling import known_from_splits, perfect_knowledge
from metasampler_bench._draw_judge import SPLITS_OF_CHOICE, known_of
from metasampler_bench._draw_measure import CHOICES, POWERS, SELECTABLE, measure_draws
from metasampler_bench._draw_places import places
from metasampler_bench._draw_policies import (
    best_constant,
    by_signal,
    chosen_among,
    committee,
    fit_sampler,
    kernel_smoothed,
    learned,
    one_threshold,
    random_search,
    selected,
    shrunken,
)
from metasampler_bench._draw_summaries import DRAW_SUMMARIES, everywhere
from metasampler_bench._draw_trained import trained
from metasampler_bench._draw_training import (
    HALVES,
    SIGNALS,
    TRAINERS,
    half_of,
    measure_training,
)
from metasampler_bench._samplers import SamplerCache
from metasampler_bench._spec import Job
from metasampler_bench.datasets import REAL_FAMILIES, REAL_NAMES

TABLES = REAL_NAMES[:12]
NUMBERS = (
    *("scout_information", "hard_auc", "gap_minority", "error_valid_majority"),
    *("spread_train_minority", "booster_ap_gain", "agreement"),
)


def make_rows(tables=TABLES, runs=2, noise=0.0, chance=0.0):
    """Rows of a world in which hard draws pay where the signal is large, and cost where not.

    `chance` is the standard deviation of scores between splits.
    """
    rng, luck = np.random.default_rng(0), np.random.default_rng(1)
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
                score = 0.5 + slope * hardness + chance * luck.normal(size=len(draws))
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


def test_rules_without_a_trainer(cases):
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
    rows += training_rows((1.0, 2.0))
    (table,) = everywhere(spec, rows, {})
    names = [line[0].text for line in table.rows]
    hindsight = table.rows[names.index("hindsight: the best constant of each table")]
    assert hindsight[1].text == table.rows[0][1].text == "1.0000"
    assert "learned from clean tables alone" in names
    assert any(name.startswith("powers 0.627, 1.65, 3.3 in turn") for name in names)
    assert any(name.startswith("selected on validation rows, 6 fits") for name in names)
    for kind in ("draw-groups", "draw-tables"):
        assert len(DRAW_SUMMARIES[kind](spec, rows, {}).rows) >= 6
    assert "random search over linear policies" in names
    assert len(everywhere(spec, [*rows, *make_rows(TABLES[::2], runs=1, noise=0.2)], {})) == 2
    short = DRAW_SUMMARIES["draw-short"](spec, rows, {})
    assert short.rows[0][1].text == table.rows[names.index(short.rows[0][0].text)][1].text
    assert "soft actor-critic on ensembles, its seeds as one" in names
    noisy = DRAW_SUMMARIES["draw-groups"](spec, make_rows(noise=0.2), {"noise": 0.2})
    assert noisy.rows


def test_varieties_of_a_table_are_held_apart_together(cases):
    both = Cases.together({"": cases, " (flipped labels)": Cases.of(make_rows(noise=0.2))})
    assert len(both) == 48
    assert len(set(both.tables)) == 24
    assert set(both.families) == set(cases.families)
    short = both.averaged()
    assert len(short) == 24
    assert short.weights @ short.test["0.9"] == pytest.approx(both.weights @ both.test["0.9"])
    known = known_of([*make_rows(), *make_rows(noise=0.2)])
    np.testing.assert_array_equal(known.tables, both.tables)


def relative_scores(rows):
    """The column of each kind of data: what the shipped policy scores."""
    table = places(load_spec("policies-tables"), rows, {})
    line = next(line for line in table.rows if line[0].text == "the shipped policy")
    scores = [float(entry.text) for entry in line[1:]]
    return dict(zip(table.header[1:], scores, strict=True))


def test_later_splits_are_judged_by_what_the_first_ones_taught():
    assert list(relative_scores(make_rows(runs=5))) == [f"clean labels ({len(TABLES)})"]
    rows = make_rows(runs=7)
    assert len(known_of(rows, SPLITS_OF_CHOICE)) == 5 * len(TABLES)
    later = f"clean, later ({len(TABLES)})"
    assert relative_scores(rows)[later] > 0.99
    # Where later splits say the opposite, what the first ones taught must fail there.
    for row in rows:
        if row["cell"]["run"] not in SPLITS_OF_CHOICE:
            row["test"] = {draw: 1 - score for draw, score in row["test"].items()}
    assert relative_scores(rows)[later] < 0.99


def test_groups_of_families_can_be_held_apart(cases):
    seen = []

    def fit(known):
        seen.append(set(known.families))
        return lambda new: np.full(len(new), len(seen))

    n_families = len(set(cases.families))
    scores = cross_validated(cases, fit, n_groups=3)
    assert len(seen) == 3
    assert sum(n_families - len(known) for known in seen) == n_families
    assert set(scores) == {1, 2, 3}


def test_without_chance_other_splits_tell_all(cases):
    draws = [*CHOICES["mu"], *CHOICES["power"]]
    np.testing.assert_allclose(list(known_from_splits(cases, draws, 1).values()), 1.0)
    np.testing.assert_allclose(perfect_knowledge(cases, draws), 1.0)
    assert known_from_splits(cases, draws, 2) == {}


@pytest.mark.parametrize("between", [0.0, 0.01, 0.03, 0.1])
def test_perfect_knowledge_lies_between_the_limits(between):
    rng = np.random.default_rng(0)
    n_tables, n_splits, n_draws, chance = 200, 5, 12, 0.013
    # Smooth curves of hardness, as those of tables are.
    curves = np.vander(np.linspace(-1, 1, n_draws), 4)[:, :3]
    truth = 1 + between * rng.normal(size=(n_tables, 3)) @ curves.T
    scores = truth[:, np.newaxis] + chance * rng.normal(size=(n_tables, n_splits, n_draws))
    best = scores.mean(axis=1).max(axis=1)
    scores /= best[:, np.newaxis, np.newaxis]
    names = np.repeat(np.array([f"table {n}" for n in range(n_tables)], dtype=object), n_splits)
    draws = [f"draw {n}" for n in range(n_draws)]
    test = {draw: scores[..., n].ravel() for n, draw in enumerate(draws)}
    low, high = perfect_knowledge(Cases(names, names, {}, test, {}, {}), draws)
    # The mean of so many tables has an error of some ten-thousandths.
    assert low - 5e-4 <= np.mean(truth.max(axis=1) / best) <= high + 5e-4


def test_curves_of_noisy_tables_are_drawn_to_the_mean():
    rows = make_rows(TABLES[:6], runs=4)
    rng = np.random.default_rng(0)
    for row in rows:
        if row["cell"]["dataset"] == TABLES[0]:
            row["test"] = {draw: s + 0.2 * rng.normal() for draw, s in row["test"].items()}
    cases = Cases.of(rows)
    smooth = shrunken(cases)

    def spread(part, name):
        curve = np.stack([part.test[draw] for draw in ACTIONS], axis=1)[part.tables == name]
        return np.ptp(curve.mean(axis=0))

    kept = {n: spread(smooth, n) / spread(cases, n) for n in (TABLES[0], TABLES[5])}
    assert kept[TABLES[0]] < 0.7 < 0.95 < kept[TABLES[5]]


def test_what_is_chosen_is_chosen_within(cases):
    seen = []

    def spy(known):
        seen.append(set(known.families))
        return lambda new: np.zeros(len(new))

    fit = chosen_among({"zero": spy, "learned": learned()})
    scores = cross_validated(cases, fit)
    np.testing.assert_allclose(scores, cross_validated(cases, learned()))
    # Of six inner folds none has the family that is tested, nor is it larger than what is known.
    assert all(len(known) < len(set(cases.families)) - 1 for known in seen)


@pytest.mark.parametrize("fit", [committee(), kernel_smoothed(0.2), learned(prepared=shrunken)])
def test_other_ways_learn_what_the_signal_says(cases, fit):
    best = max(cases.weights @ cases.test[draw] for draw in CHOICES["mu"])
    assert cases.weights @ cross_validated(cases, fit) > best


def test_limits_and_attempts_are_reported(monkeypatch):
    # One more number in place of nine: they are tried in the same way.
    for module in (_draw_attempts, _draw_policies):
        monkeypatch.setattr(module, "MORE_NUMBERS", {"ratio": MORE_NUMBERS["ratio"]})
    spec = load_spec("policies-tables")
    rows = [*make_rows(TABLES[::3]), *make_rows(TABLES[::3], noise=0.2)]
    ceiling = DRAW_SUMMARIES["draw-ceiling"](spec, rows, {})
    assert [line[1].text for line in ceiling.rows[:3]] == ["1.0000"] * 3
    attempts = DRAW_SUMMARIES["draw-attempts"](spec, rows, {})
    assert len(attempts.rows) == 8
    assert float(attempts.rows[0][1].text) > 0.9


def training_rows(powers, parts=HALVES):
    """Rows of trainings that choose the same power at all signals, one run a power."""
    return [
        {
            "cell": {
                "setting": "learner=soft actor-critic",
                "families": part,
                "run": run,
                "fold": 0,
            },
            "powers": [power] * len(SIGNALS),
            "n_episodes": 10,
            "cpu": 36.0,
        }
        for part in parts
        for run, power in enumerate(powers)
    ]


def test_trainers_that_act_are_judged_on_the_other_half():
    spec, rows = load_spec("policies-tables"), make_rows(runs=1)
    rows += training_rows((POWERS[0], POWERS[-1]))
    table = DRAW_SUMMARIES["draw-training"](spec, rows, {})
    lines = {line[0].text: [cell.text for cell in line] for line in table.rows}
    cases = Cases.of(make_rows(runs=1))
    both = [cases.weights @ cases.test[draw] for draw in (ACTIONS[0], ACTIONS[-1])]
    alone = lines["soft actor-critic, mean of the seeds' scores"]
    assert float(alone[1]) == pytest.approx(np.mean(both), abs=1e-4)
    assert float(alone[-4]) == pytest.approx(min(both), abs=1e-4)
    assert alone[-8:-4] == ["-"] * 4
    assert alone[-3:] == ["2", "40", "0.04"]
    # The mean of the two is between them: the action in the middle.
    together = lines["soft actor-critic, as one policy"]
    middle = cases.weights @ cases.test[ACTIONS[2]]
    assert float(together[1]) == pytest.approx(middle, abs=1e-3)
    assert table.rows[-1][0].text == "from the stored rows of a half"


def test_a_half_is_judged_by_what_the_other_half_taught():
    cases = Cases.of(make_rows(runs=1))
    rows = [
        *training_rows((POWERS[0],), parts=HALVES[:1]),
        *training_rows((POWERS[-1],), parts=HALVES[1:]),
    ]
    (found,) = trained(rows, cases).values()
    first = np.array([half_of(family) == HALVES[0] for family in cases.families])
    hard, uniform = cases.test[ACTIONS[-1]], cases.test[ACTIONS[0]]
    np.testing.assert_allclose(found.each[0], np.where(first, hard, uniform), atol=1e-6)
    np.testing.assert_allclose(found.as_one, found.each[0], atol=1e-3)
    # A training on one half alone judges nothing.
    assert trained(rows[:1], cases) == {}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_policy_is_trained_on_ensembles(data_home, tmp_path, monkeypatch, trainer):
    tables = ("iranian_churn", "email_spam_openintro")
    monkeypatch.setattr(_draw_training, "REAL_NAMES", tables)
    half = half_of(REAL_FAMILIES[tables[1]])
    cell = {"setting": f"learner={trainer}", "families": half, "run": 0, "fold": 0, "quick": True}
    job = Job("draw-training", cell)
    (row,) = measure_training(job, SamplerCache(tmp_path, 0, str(data_home)))
    assert row["tasks"] == [n for n in tables if half_of(REAL_FAMILIES[n]) == half]
    assert row["n_episodes"] == 5 * len(row["tasks"])
    assert len(row["powers"]) == len(SIGNALS)
    assert all(0 <= power <= 6 for power in row["powers"])


def test_an_interrupted_training_leaves_no_row(data_home, tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_draw_training, "REAL_NAMES", ("iranian_churn",))
    monkeypatch.setattr(SoftActorCritic, "learn", interrupt)
    half = half_of(REAL_FAMILIES["iranian_churn"])
    cell = {"setting": "learner=soft actor-critic", "families": half, "run": 0, "fold": 0}
    job = Job("draw-training", cell | {"quick": True})
    with pytest.warns(UserWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        measure_training(job, SamplerCache(tmp_path, 0, str(data_home)))


@needs_same_rounding()
def test_the_sampler_that_comes_along_is_made_of_the_stored_rows(tmp_path):
    root, made = Path(__file__).parents[2], tmp_path / "boosters.npz"
    script = root / "bench" / "samplers" / "boosters.py"
    subprocess.run([sys.executable, script, root / "docs" / "results", made], check=True)
    ours, stored = MetaSampler.load(made), MetaSampler.load("boosters")
    assert ours.summary_ == stored.summary_
    assert repr(ours) == repr(stored)
    np.testing.assert_allclose(ours.policy_.parameters, stored.policy_.parameters, rtol=1e-5)


def test_positives_can_be_thinned(data_home, tmp_path):
    cell = {"dataset": "iranian_churn", "run": 0, "fold": 0, "draws": "turns"}
    cache = SamplerCache(tmp_path, 0, str(data_home))
    (whole,) = measure_draws(Job("draws", cell), cache)
    (thinned,) = measure_draws(Job("draws", cell | {"thinned": 0.25}), cache)
    assert whole["test"].keys() == thinned["test"].keys() == CHOICES["turns"].keys()
    assert thinned["n_positive"] == whole["n_positive"] // 4
    lost = whole["n_positive"] - thinned["n_positive"]
    assert thinned["n_rows"] == whole["n_rows"] - lost


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
