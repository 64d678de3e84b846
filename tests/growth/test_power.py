"""Draws by a power of errors; where test rows are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from metasampler.growth import (
    Candidates,
    GaussianDraw,
    Growth,
    PowerDraw,
    RandomStreams,
    Stream,
    make_draw,
    make_growth_data,
    spread_action,
)
from metasampler.growth._draw import race_keys


def drawn(errors, power, size=500):
    rows = np.arange(len(errors))
    keys = race_keys(np.array([1, 2], dtype=np.uint64), 0, 0, len(errors))
    return PowerDraw(power)(Candidates(0, rows, keys, np.array(errors)), size)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.0, 6.0))
def test_errors_count_by_their_factor(power):
    errors = np.random.default_rng(0).uniform(0.1, 1.0, 2000)
    larger = 2 * errors + 0.1
    np.testing.assert_array_equal(drawn(errors, power), drawn(larger, power))


def test_a_power_close_to_zero_is_a_uniform_draw():
    # It needs no errors, so no row is scored for it.
    assert make_draw(0.05, "power", 0.2, None) is None
    assert make_draw(0.2, "power", 0.2, None) == PowerDraw(0.2)
    assert make_draw(0.0, "mu", 0.2, None) == GaussianDraw(0.0, 0.2)


def test_larger_powers_draw_harder_rows():
    errors = np.random.default_rng(0).uniform(size=5000)
    means = [errors[drawn(errors, power)].mean() for power in (0, 0.5, 1, 2, 6)]
    assert means == sorted(means)
    assert abs(means[0] - 0.5) < 0.05
    assert means[-1] > 0.8


def test_rows_without_error_are_drawn_last():
    errors = np.r_[np.zeros(1000), np.full(100, 0.5)]
    assert set(range(1000, 1100)) <= set(drawn(errors, 6.0, 200))


def test_actions_reach_from_uniform_to_the_hardest():
    assert spread_action(0.0, 0.4, "power") == 0
    assert spread_action(1.0, 0.4, "power") == 6
    assert make_draw(0.0, "power", 0.2, None) is None
    assert make_draw(1.5, "power", 0.2, None) == PowerDraw(1.5)
    assert make_draw(0.5, "mu", 0.3, None) == GaussianDraw(0.5, 0.3)


def make_scouts(X, y, **options):
    from lightgbm import LGBMClassifier

    from metasampler.growth import make_adapters

    estimator = LGBMClassifier(n_estimators=30, verbose=-1, early_stopping_round=5)
    data = make_growth_data(
        X, y, estimator=estimator, validation_fraction=0.1, sampling_ratio=1.0,
        scoring="average_precision", streams=RandomStreams(0), rotate=True, **options,
    )  # fmt: skip
    adapter = make_adapters(estimator, data.tables[:1], 2)
    growth = Growth(data.for_team(np.inf), adapter, RandomStreams(0))
    for _ in growth.grow(None, 2):
        pass
    return growth


def test_test_rows_stay_test_rows_where_members_rotate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.repeat([0, 1], [350, 50])
    growth = make_scouts(X, y, X_test=X[:90:2], y_test=y[:90:2] | (np.arange(45) < 3))
    assert len(np.arange(445)[growth.data.rows["test"]]) == 45
    assert growth.data.n_folds == 10
    assert len(growth.data.tables) == 2
    # Validation rows of their own join the first table; test rows do not.
    data = make_growth_data(
        X, y, X[300:], y[300:], X[320:], y[320:], estimator=growth.adapters.estimator,
        validation_fraction=None, sampling_ratio=1.0, scoring="average_precision",
        streams=RandomStreams(0).child(Stream.SPLIT, 0), rotate=True,
    )  # fmt: skip
    assert [table.shape[0] for table in data.tables] == [500, 80]
    assert data.rows["valid"].tolist() == list(range(400, 500))
    assert np.arange(580)[data.rows["test"]].tolist() == list(range(500, 580))
