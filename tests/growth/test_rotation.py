"""Members leave folds of the rows out in rotation."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeClassifier

from metasampler.growth import GaussianDraw, Growth, RandomStreams, make_adapters
from metasampler.growth._tree_adapter import leaf_probabilities


def grown(make, X, y, n_members=7, *, fraction=0.25, smoothing=0.0, rule=None, **options):
    """An ensemble of trees that leaves a part of the rows out in rotation."""
    data = make.data(X, y, validation_fraction=fraction, rotate=True, **options)
    adapter = make_adapters(DecisionTreeClassifier(), data.tables, data.n_classes, None, smoothing)
    growth = Growth(data, adapter, RandomStreams(1))
    for number in range(n_members):
        growth.step(rule if number else None)
    return growth


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(2, 60), min_size=2, max_size=4),
    n_folds=st.integers(2, 12),
    seed=st.integers(0, 1000),
)
def test_folds_keep_the_shares_of_the_classes(make, sizes, n_folds, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    n_folds = min(n_folds, len(codes))
    options = {"validation_fraction": 1 / n_folds, "rotate": True, "seed": seed}
    data = make.data(np.zeros((len(codes), 1)), codes, **options)
    folds = data.folds
    for rows in data.class_rows:
        counts = np.bincount(folds[rows], minlength=n_folds)
        assert counts.max() - counts.min() <= 1
        # The first fold has rows of every class, so that the first member can be judged.
        assert counts[0] == counts.max()


@pytest.mark.parametrize("rule", [None, GaussianDraw(0.9)])
def test_no_member_sees_its_fold(make, imbalanced, rule):
    growth = grown(make, *imbalanced, rule=rule)
    data = growth.data
    assert data.n_folds == 4
    for number, subset in enumerate(growth.samples):
        assert not np.any(data.folds[subset] == number % 4)
        minority = data.class_rows[data.minority]
        visible = minority[data.folds[minority] != number % 4]
        counts = np.bincount(data.codes[subset])
        assert counts.tolist() == [len(visible)] * 2
        unseen = rows_to_stop_by(data, subset, number)
        assert_array_equal(unseen, np.flatnonzero(data.folds == number % 4))


def rows_to_stop_by(data, sample, number):
    """The rows that a member which stops early gets besides its sample."""

    class Stopping:
        stops_early = True

        def fit(self, X, codes, rows, seed, weights, unseen, unseen_weight):
            return unseen

    return data.fit_member(sample, number, Stopping(), 0)[0]


def brute_force(growth, smoothing):
    """For each row the mean over the members that have not seen its fold; NaN if there is none."""
    data, means = growth.data, []
    X = data.tables[0]
    for row, fold in enumerate(data.folds):
        said = [
            leaf_probabilities(member, member.tree_.apply(X[row : row + 1]), smoothing)[0]
            for number, member in enumerate(growth.members)
            if number % data.n_folds == fold
        ]
        means.append(
            np.mean(said, axis=0) if said else np.full_like(growth._unseen_total[0], np.nan)
        )
    return np.array(means)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("n_members", [3, 4, 7])
def test_left_out_answers_come_from_members_that_did_not_see_the_row(
    make, imbalanced, smoothing, n_members
):
    X, y = (part[:200] for part in imbalanced)
    growth = grown(make, X, y, n_members, smoothing=smoothing)
    expected = brute_force(growth, smoothing)
    rows, proba, *_ = growth.judged()
    assert_array_equal(rows, np.flatnonzero(~np.isnan(expected)))
    assert len(rows) == 200 if n_members >= 4 else len(rows) < 200
    assert_allclose(proba[:, 1], expected[rows], atol=1e-12)
    errors = growth.errors("valid")
    assert_allclose(errors, np.abs(growth.data.codes[rows] - expected[rows]), atol=1e-12)
    minority = rows[growth.data.codes[rows] == 1]
    assert_allclose(growth.errors("valid", "minority"), 1 - expected[minority], atol=1e-12)


def test_left_out_answers_of_many_classes(make, three_classes):
    growth = grown(make, *three_classes, n_members=5)
    rows, proba, *_ = growth.judged()
    assert_allclose(proba, brute_force(growth, 0.0)[rows], atol=1e-12)


def test_the_score_waits_until_every_row_was_left_out(make, imbalanced):
    growth = grown(make, *imbalanced, n_members=6)
    scores = [step.score for step in growth.steps]
    assert scores[:3] == [None] * 3
    assert [step.class_errors is None for step in growth.steps] == [True] * 3 + [False] * 3
    rows, proba, *_ = growth.judged()
    expected = average_precision_score(growth.data.codes[rows], proba[:, 1])
    assert scores[5] == pytest.approx(expected, abs=1e-12)
    codes = growth.data.codes
    errors = np.abs(codes - proba[:, 1])
    means = [errors[codes == k].mean() for k in (0, 1)]
    assert_allclose(growth.steps[5].class_errors, means, atol=1e-12)


def test_weights_of_left_out_rows_count(make, imbalanced):
    X, y = imbalanced
    # Whole numbers, which no rounding of the weights touches.
    weights = np.random.default_rng(0).integers(1, 100, len(y))
    growth = grown(make, X, y, n_members=4, sample_weight=weights)
    rows, proba, *_ = growth.judged()
    expected = average_precision_score(y[rows], proba[:, 1], sample_weight=weights[rows])
    assert growth.steps[3].score == pytest.approx(expected, abs=1e-12)


def test_a_fork_has_no_step_that_waits(make, imbalanced):
    X, y = imbalanced
    tree = DecisionTreeClassifier()
    data = make.data(X, y, estimator=tree, validation_fraction=0.25, rotate=True)
    growth = Growth(data, make_adapters(tree, data.tables, 2, 2), RandomStreams(1))
    growth.step()
    twin = growth.fork()
    twin.step()
    assert (len(growth.steps), len(twin.steps)) == (1, 2)


def test_forks_have_waiting_steps_of_their_own(make, imbalanced):
    X, y = imbalanced
    tree = DecisionTreeClassifier()
    data = make.data(X, y, estimator=tree, validation_fraction=0.25, rotate=True)
    steps = {}
    for n_jobs in (1, 2):
        growth = Growth(data, make_adapters(tree, data.tables, 2, n_jobs), RandomStreams(1))
        growth.step()
        twins = [growth.fork(), growth.fork()]
        for number in range(1, 7):
            for twin, mu in zip(twins, (0.2, 0.9), strict=True):
                rule = GaussianDraw(mu)
                # With two threads these steps wait until somebody asks for them.
                twin.add(*twin.fit_member(number, rule), rule)
        steps[n_jobs] = [[(step.mu, step.score) for step in twin.steps] for twin in twins]
    assert steps[1] == steps[2]
    assert [len(of_twin) for of_twin in steps[2]] == [7, 7]


def test_forks_and_warm_starts_keep_the_left_out_answers(make, imbalanced):
    growth = grown(make, *imbalanced, n_members=5)
    twin = growth.fork()
    twin.step()
    assert growth.n_members == 5
    resumed = Growth(growth.data, growth.adapters, RandomStreams(1))
    resumed.resume(growth.members, growth.samples, growth.steps)
    resumed.step()
    for one, other in zip(resumed.judged(), twin.judged(), strict=True):
        assert_array_equal(one, other)


def test_members_that_stop_early_stop_by_their_fold(make, imbalanced, monkeypatch):
    X, y = imbalanced
    base = LGBMClassifier(n_estimators=5, early_stopping_round=2, verbose=-1)
    options = {"validation_fraction": 0.25, "rotate": True, "sample_weight": np.arange(600) + 1}
    data = make.data(X, y, estimator=base, **options)
    adapter = make_adapters(base, data.tables, 2).of(0)
    seen = []

    def fit(X, codes, rows, seed, weights, unseen, unseen_weight):
        seen.append((rows, unseen, unseen_weight))
        return copy(base)

    monkeypatch.setattr(adapter, "fit", fit)
    growth = Growth(data, adapter, RandomStreams(0))
    for number in range(5):
        growth.fit_member(number)
    for number, (rows, unseen, weights) in enumerate(seen):
        assert_array_equal(unseen, np.flatnonzero(data.folds == number % 4))
        assert_array_equal(weights, data.weights[unseen])
        assert not np.isin(rows, unseen).any()


def test_validation_rows_of_ones_own_are_not_rotated(make, imbalanced):
    X, y = imbalanced
    data = make.data(X[:400], y[:400], X[400:], y[400:], rotate=True)
    assert data.n_folds == 0
    assert len(data.tables) == 1
    subset = data.draw(RandomStreams(0).row_key(1), 0)
    assert_array_equal(rows_to_stop_by(data, subset, 3), np.arange(400, 600))
    assert subset.max() < 400


def test_one_fold_can_be_held_out_from_all(make, imbalanced):
    data = make.data(*imbalanced, validation_fraction=0.25, rotate=True)
    held = data.holding_out_a_fold()
    assert held.n_folds == 0
    assert_array_equal(held.rows["valid"], np.flatnonzero(data.folds == 0))
    assert_array_equal(held.rows["train"], np.flatnonzero(data.folds != 0))
