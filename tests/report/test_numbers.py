"""The numbers of a report are scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from metasampler.report import make_report
from metasampler.report._cuts import MOST_CUTS, make_cuts
from metasampler.report._measures import calibration, first_rows, judge, per_class


def draw(n, seed=0, rate=0.1, decimals=None):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < rate
    scores = 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * positive - 2)))
    scores = scores if decimals is None else scores.round(decimals)
    return scores, positive, rng.gamma(1, size=n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "decimals"), [(300, None), (300, 1), (4000, None), (4000, 2)])
def test_every_cut_point_has_the_counts_of_scikit_learn(n, decimals, weighted):
    scores, positive, weights = draw(n, decimals=decimals)
    weights = weights if weighted else None
    cuts = make_cuts(scores, 0.3, positive, weights)
    assert len(cuts.threshold) <= MOST_CUTS
    assert cuts.threshold[cuts.start] == 0.3
    options = {"sample_weight": weights}
    # scikit-learn takes milliseconds for each: some of them, the first and the last always.
    for place in {0, cuts.start, *range(0, len(cuts.threshold), 83), len(cuts.threshold) - 1}:
        called = scores >= cuts.threshold[place]
        (rest, false), (misses, hits) = confusion_matrix(
            positive, called, labels=[False, True], **options
        )
        assert cuts.hits[place] == pytest.approx(hits)
        assert cuts.false_alarms[place] == pytest.approx(false)
        assert cuts.n_positive - cuts.hits[place] == pytest.approx(misses)
        assert cuts.n_rows - cuts.n_positive - cuts.false_alarms[place] == pytest.approx(rest)
        if called.any():
            assert cuts.precision[place] == pytest.approx(
                precision_score(positive, called, **options)
            )
        else:
            assert np.isnan(cuts.precision[place])
        assert cuts.recall[place] == pytest.approx(recall_score(positive, called, **options))
        assert cuts.f1[place] == pytest.approx(
            f1_score(positive, called, zero_division=0, **options)
        )


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.floats(0, 5)), min_size=1, max_size=60),
    st.floats(0, 1),
    st.integers(3, 12),
)
def test_cut_points_are_exact_and_few_for_any_scores(rows, threshold, most):
    scores, positive, weights = (np.array(part) for part in zip(*rows, strict=True))
    cuts = make_cuts(scores, threshold, positive, weights, most=most)
    assert len(cuts.threshold) <= most
    assert np.all(np.diff(cuts.threshold) > 0)
    assert cuts.threshold[cuts.start] == threshold
    for place, cut in enumerate(cuts.threshold):
        assert cuts.alarms[place] == pytest.approx(weights[scores >= cut].sum())
        assert cuts.hits[place] == pytest.approx(weights[(scores >= cut) & positive].sum())
    # Somewhere everybody is called, and somewhere nobody.
    assert cuts.alarms[-1] == 0
    assert len(np.unique(scores)) > most - 2 or cuts.alarms[0] == pytest.approx(weights.sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_are_those_of_scikit_learn(weighted):
    scores, positive, weights = draw(3000)
    weights = weights if weighted else None
    quality = judge(
        scores,
        positive,
        weights,
        make_cuts(scores, 0.5, positive, weights),
        are_proba=True,
        n_resamples=200,
        rng=np.random.default_rng(0),
    )
    options = {"sample_weight": weights}
    for measure, score in (
        (quality.average_precision, average_precision_score(positive, scores, **options)),
        (quality.roc_auc, roc_auc_score(positive, scores, **options)),
        (quality.brier, brier_score_loss(positive, scores, **options)),
    ):
        assert measure.value == pytest.approx(score)
        assert measure.low < score < measure.high


@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_are_those_of_a_bootstrap_over_rows(weighted):
    scores, positive, weights = draw(1000, seed=3)
    weights = weights if weighted else None
    cuts = make_cuts(scores, 0.3, positive, weights)
    quality = judge(
        scores,
        positive,
        weights,
        cuts,
        are_proba=True,
        n_resamples=400,
        rng=np.random.default_rng(0),
    )
    rng = np.random.default_rng(1)
    plain = []
    for _ in range(150):
        drawn = rng.integers(len(scores), size=len(scores))
        truth, score = positive[drawn], scores[drawn]
        options = {"sample_weight": _of(weights, drawn)}
        called = score >= 0.3
        plain.append(
            (
                average_precision_score(truth, score, **options),
                roc_auc_score(truth, score, **options),
                brier_score_loss(truth, score, **options),
                np.average(truth[called], weights=_of(weights, drawn[called])),
                np.average(called[truth], weights=_of(weights, drawn[truth])),
            )
        )
    wanted = np.percentile(plain, [2.5, 97.5], axis=0).T
    got = [
        (measure.low, measure.high)
        for measure in (quality.average_precision, quality.roc_auc, quality.brier)
    ]
    got += [quality.precision[:, cuts.start], quality.recall[:, cuts.start]]
    for mine, plain_ends in zip(got, wanted, strict=True):
        width = plain_ends[1] - plain_ends[0]
        assert np.abs(np.array(mine) - plain_ends).max() < 0.25 * width


def _of(weights, rows):
    return None if weights is None else weights[rows]


def test_the_interval_covers_as_often_as_it_says():
    # The precision at a threshold is known where scores are honest probabilities.
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(60):
        scores = rng.beta(0.6, 3, size=800).round(2)
        positive = rng.random(800) < scores
        cuts = make_cuts(scores, 0.4, positive)
        quality = judge(scores, positive, None, cuts, are_proba=True, n_resamples=200, rng=rng)
        low, high = quality.precision[:, cuts.start]
        covered += low <= TRUE_PRECISION <= high
    assert 51 <= covered <= 60


#: Mean of such scores above the threshold, by a large sample.
_LARGE = np.random.default_rng(0).beta(0.6, 3, size=1_000_000).round(2)
TRUE_PRECISION = _LARGE[_LARGE >= 0.4].mean()


def test_calibration_groups_expect_equal_numbers_and_hold_every_row():
    scores, positive, weights = draw(5000)
    made = calibration(scores, positive, None)
    assert made.rows.sum() == 5000
    expected = made.said * made.rows
    assert expected.max() / expected.min() < 1.05
    assert np.sum(made.came * made.rows) == pytest.approx(positive.sum())
    assert np.all((made.low <= made.came) & (made.came <= made.high))
    weighted = calibration(scores, positive, weights)
    assert np.sum(weighted.came * weighted.rows) == pytest.approx(np.sum(weights * positive))


def test_calibration_with_equal_groups_agrees_with_scikit_learn():
    # Two scores make two groups, whoever makes them.
    rng = np.random.default_rng(0)
    scores = rng.choice([0.2, 0.8], size=1000)
    positive = rng.random(1000) < scores
    made = calibration(scores, positive, None)
    came, said = calibration_curve(positive, scores, n_bins=2)
    assert made.said == pytest.approx(said)
    assert made.came == pytest.approx(came)


@pytest.mark.parametrize("n_rows", [1, 2, 4, 5, 7, 10, 21])
def test_first_rows_of_a_few_rows(n_rows):
    bands = first_rows(np.linspace(0, 1, n_rows), np.arange(n_rows) % 2 == 0, None, are_proba=True)
    sizes = [band["rows"] for band in bands]
    assert all(1 <= size <= n_rows for size in sizes)
    assert sizes == sorted(set(sizes))


def test_first_rows_are_the_highest_scores():
    scores, positive, _ = draw(1000)
    order = np.argsort(-scores)
    for band in first_rows(scores, positive, None, are_proba=True):
        rows = order[: band["rows"]]
        assert band["precision"] == pytest.approx(positive[rows].mean())
        assert band["found"] == pytest.approx(positive[rows].sum() / positive.sum())
        assert band["expected"] == pytest.approx(scores[rows].sum())
        assert band["lowest"] == scores[rows].min()


def test_many_classes_are_counted_as_scikit_learn_counts():
    rng = np.random.default_rng(0)
    codes, predicted = rng.integers(4, size=(2, 500))
    proba = rng.dirichlet(np.ones(4), size=500)
    weights = rng.random(500)
    made = per_class(codes, predicted, proba, weights)
    options = {"sample_weight": weights}
    assert np.allclose(made["matrix"], confusion_matrix(codes, predicted, **options))
    assert made["precision"] == pytest.approx(
        precision_score(codes, predicted, average=None, **options)
    )
    assert made["recall"] == pytest.approx(recall_score(codes, predicted, average=None, **options))
    assert made["expected"] == pytest.approx((proba * weights[:, np.newaxis]).sum(axis=0))
    assert made["average_precision"][2] == pytest.approx(
        average_precision_score(codes == 2, proba[:, 2], **options)
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_the_page_holds_these_numbers(numbers, embedded, weighted):
    clf, X, y = numbers
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    report = make_report(clf, X, y, sample_weight=weights, n_repeats=0, n_resamples=50)
    held = embedded(report.html)
    assert held == report.numbers
    scores = clf.predict_proba(X)[:, 1]
    place = held["start"]
    called = scores >= held["threshold"][place]
    assert np.array_equal(called, clf.predict(X) == 1)
    (_, false), (_, hits) = confusion_matrix(y, called, sample_weight=weights)
    assert held["hits"][place] == pytest.approx(hits)
    assert held["alarms"][place] == pytest.approx(hits + false)
