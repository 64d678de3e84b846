"""Many classes: how teams are pooled, and how their joint answer is calibrated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import log_loss

from metasampler.ensemble._pool import (
    ENOUGH_ROWS,
    Pool,
    SoftmaxCalibration,
    largest_within,
    thin_out,
)


def made_up(seed, n_rows=400, n_classes=4, n_teams=3, noise=1.0):
    """Return a prior, classes of rows, and answers of teams that know something of them."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(n_classes, 3.0))
    codes = rng.choice(n_classes, n_rows, p=prior)
    known = 2 * np.eye(n_classes)[codes]
    answers = [
        softmax(np.log(prior) + known + rng.normal(0, noise, (n_rows, n_classes)), axis=1)
        for _ in range(n_teams)
    ]
    return prior, codes, answers


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), n_teams=st.integers(1, 4), n_classes=st.integers(3, 6))
def test_a_pool_gives_probabilities_and_does_not_depend_on_the_order_of_classes(
    seed, n_teams, n_classes
):
    prior, codes, answers = made_up(seed, n_classes=n_classes, n_teams=n_teams)
    shares = [np.sqrt(prior) / np.sqrt(prior).sum()] * n_teams
    proba = Pool(prior, shares, answers, codes)(answers)
    assert (proba > 0).all()
    assert_allclose(proba.sum(axis=1), 1)
    order = np.random.default_rng(seed).permutation(n_classes)
    mixed = [answer[:, order] for answer in answers]
    turned = Pool(prior[order], [share[order] for share in shares], mixed, np.argsort(order)[codes])
    assert_allclose(turned(mixed), proba[:, order], atol=2e-3)


def test_a_team_that_knows_nothing_says_the_prior():
    prior = np.array([0.7, 0.2, 0.1])
    shares = [np.array([0.5, 0.3, 0.2]), np.full(3, 1 / 3)]
    answers = [np.tile(share, (5, 1)) for share in shares]
    assert_allclose(Pool(prior, shares)(answers), np.tile(prior, (5, 1)))


def test_teams_without_members_do_not_count():
    prior, codes, answers = made_up(0, n_teams=2)
    pool = Pool(prior, [prior, prior], answers, codes)
    # What is left has the weight of all.
    alone = Pool(prior, [prior])
    alone.weights = np.array([pool.weights.sum()])
    assert_allclose(pool([answers[0], None]), alone(answers[:1]))


def test_the_better_team_has_the_larger_weight_and_no_team_none():
    prior, codes, answers = made_up(1, n_rows=3000, n_teams=1, noise=0.3)
    noise = np.random.default_rng(0).dirichlet(np.ones(4), len(codes))
    pool = Pool(prior, [prior, np.full(4, 0.25)], [answers[0], noise], codes)
    assert pool.weights[0] > 2 * pool.weights[1] > 0
    # Too few rows to tell: all alike.
    few = slice(ENOUGH_ROWS - 1)
    pool = Pool(prior, [prior] * 2, [answers[0][few], noise[few]], codes[few])
    assert_array_equal(pool.weights, [0.5, 0.5])


def test_rows_count_by_their_weights():
    prior, codes, answers = made_up(2, n_rows=300)
    weights = np.random.default_rng(0).integers(1, 4, len(codes))
    repeated = np.repeat(np.arange(len(codes)), weights)
    weighted = Pool(prior, [prior] * 3, answers, codes, weights)
    plain = Pool(prior, [prior] * 3, [answer[repeated] for answer in answers], codes[repeated])
    assert_allclose(weighted.weights, plain.weights, rtol=0.02)


def test_the_softmax_finds_how_probabilities_were_bent():
    prior, codes, answers = made_up(3, n_rows=20_000, n_teams=1, noise=0.0)
    # With this noise-free table the truth is the softmax of its own log-odds.
    truth = answers[0]
    rng = np.random.default_rng(0)
    codes = (truth.cumsum(axis=1) > rng.random((len(truth), 1))).argmax(axis=1)
    bent = softmax(2.5 * np.log(truth) + [0.0, 1.0, -1.0, 0.5], axis=1)
    calibrate = SoftmaxCalibration(prior, prior, bent, codes, floor=1e-12)
    assert calibrate.slope == pytest.approx(1 / 2.5, abs=0.05)
    assert_allclose(calibrate(bent), truth, atol=0.03)
    assert log_loss(codes, calibrate(bent)) < log_loss(codes, bent) - 0.1


def test_a_class_without_held_out_rows_keeps_a_probability():
    prior, codes, answers = made_up(4, n_classes=5)
    kept = codes != 2
    codes, proba = codes[kept], answers[0][kept]
    calibrated = SoftmaxCalibration(prior, prior, proba, codes, floor=1e-12)(proba)
    assert (calibrated > 0).all()
    assert np.isfinite(calibrated).all()


@settings(max_examples=50)
@given(
    counts=st.lists(st.integers(0, 500), min_size=3, max_size=8).filter(lambda c: sum(c) > 10),
    most=st.integers(30, 2000),
)
def test_thinned_rows_stand_for_all(counts, most):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    rows, scales = thin_out(codes, len(counts), most)
    assert (np.diff(rows) > 0).all()
    limit = max(most // len(counts), len(counts))
    assert len(rows) <= max(limit, len(counts))
    totals = np.bincount(codes[rows], scales, len(counts))
    assert_allclose(totals, counts)


@given(counts=st.lists(st.integers(1, 1000), min_size=1, max_size=8), total=st.integers(8, 5000))
def test_only_the_large_classes_are_cut(counts, total):
    counts = np.array(counts)
    sizes = largest_within(counts, total)
    assert sizes.sum() <= total
    cut = sizes < counts
    assert len(set(sizes[cut])) <= 1
    # One row more of each large class would be too many.
    if cut.any():
        assert np.minimum(counts, sizes.max() + 1).sum() > total
