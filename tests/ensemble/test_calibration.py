"""Probabilities of the real world, from members that live in a balanced one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize, root
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score, brier_score_loss
from sklearn.model_selection import train_test_split
from tree_mesa import tree_mesa

from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
    _calibration,
)
from metasampler.ensemble._calibration import PriorCalibration, fit_sigmoid, make_calibration

ENSEMBLES = [
    tree_mesa,
    UnderBaggingClassifier,
    SelfPacedEnsembleClassifier,
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
]
PRIOR = np.array([0.95, 0.05])
BALANCED = np.array([0.5, 0.5])


@given(
    proba=arrays(float, st.integers(1, 30), elements=st.floats(0, 1)), rare=st.floats(0.001, 0.5)
)
def test_prior_is_bayes_rule(proba, rare):
    matrix = np.column_stack([1 - proba, proba])
    calibrated = PriorCalibration(np.array([1 - rare, rare]), BALANCED)(matrix)
    np.testing.assert_allclose(calibrated.sum(axis=1), 1)
    # Odds in the balanced world times the odds of the classes are the odds in the real one.
    np.testing.assert_allclose(
        calibrated[:, 1] * (1 - proba) * (1 - rare),
        calibrated[:, 0] * proba * rare,
        atol=1e-12,
    )


@pytest.mark.parametrize("method", ["prior", "sigmoid", "auto", None])
@given(data=st.data())
def test_calibration_is_monotone(method, data):
    n = data.draw(st.integers(12, 60))
    proba = data.draw(arrays(float, n, elements=st.floats(0, 1)))
    codes = np.arange(n) % 3 == 0
    new = np.sort(data.draw(arrays(float, 20, elements=st.floats(0, 1))))
    calibration = make_calibration(
        method,
        prior=PRIOR,
        drawn=BALANCED,
        proba=np.column_stack([1 - proba, proba]),
        codes=codes.astype(int),
    )
    calibrated = calibration(np.column_stack([1 - new, new]))
    assert np.all((calibrated >= 0) & (calibrated <= 1))
    np.testing.assert_allclose(calibrated.sum(axis=1), 1)
    assert np.all(np.diff(calibrated[:, 1]) >= -1e-12)


@pytest.fixture(scope="module")
def split():
    from sklearn.datasets import make_classification

    X, y = make_classification(
        6000, n_informative=5, weights=[0.95], flip_y=0.02, class_sep=0.8, random_state=0
    )
    return train_test_split(X, y, stratify=y, random_state=0)


@pytest.mark.parametrize("Ensemble", ENSEMBLES)
@pytest.mark.parametrize("method", ["prior", "sigmoid"])
def test_order_is_kept_and_the_level_is_right(split, Ensemble, method):
    X, X_test, y, y_test = split
    options = {"n_estimators": 5, "validation_fraction": 0.2, "random_state": 0}
    raw = Ensemble(calibration=None, **options).fit(X, y).predict_proba(X_test)[:, 1]
    calibrated = Ensemble(calibration=method, **options).fit(X, y).predict_proba(X_test)[:, 1]
    assert average_precision_score(y_test, calibrated) == pytest.approx(
        average_precision_score(y_test, raw), abs=1e-9
    )
    assert brier_score_loss(y_test, calibrated) < 0.7 * brier_score_loss(y_test, raw)
    if method == "sigmoid":
        assert calibrated.mean() == pytest.approx(y_test.mean(), abs=0.02)


def test_auto_takes_what_the_validation_rows_allow(split):
    X, _, y, _ = split
    clf = tree_mesa(n_estimators=10, refit=False, random_state=0)
    assert clf.fit(X, y).calibration_.name == "sigmoid"
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:20]])
    assert clf.fit(X[few], y[few]).calibration_.name == "prior"
    # Four rows are few, but with a refit all twenty are held out in turn.
    assert clf.set_params(refit=True).fit(X[few], y[few]).calibration_.name == "sigmoid"
    assert UnderBaggingClassifier(random_state=0).fit(X, y).calibration_.name == "prior"


def test_no_held_out_rows(split):
    X, _, y, _ = split
    with pytest.raises(ValueError, match="calibration='sigmoid' is fitted on validation rows"):
        UnderBaggingClassifier(calibration="sigmoid").fit(X, y)


@pytest.mark.parametrize("method", ["isotonic", "cross-fitted", "platt"])
def test_unknown_methods(split, method):
    X, _, y, _ = split
    with pytest.raises(ValueError, match=f"'calibration' parameter .* Got '{method}'"):
        UnderBaggingClassifier(calibration=method).fit(X, y)


def test_sampling_ratio_is_corrected_for(split):
    X, X_test, y, y_test = split
    for ratio in (1.0, 4.0):
        clf = UnderBaggingClassifier(sampling_ratio=ratio, n_estimators=20, random_state=0)
        proba = clf.fit(X, y).predict_proba(X_test)[:, 1]
        assert clf.calibration_.drawn[1] == pytest.approx(1 / (1 + ratio), abs=0.01)
        assert proba.mean() == pytest.approx(y_test.mean(), abs=0.03)


@pytest.mark.parametrize("method", ["prior", "sigmoid"])
def test_many_classes(three_classes, method):
    X, y = three_classes
    clf = tree_mesa(calibration=method, validation_fraction=0.4, random_state=0).fit(X, y)
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    frequencies = np.array([np.mean(y == label) for label in clf.classes_])
    np.testing.assert_allclose(proba.mean(axis=0), frequencies, atol=0.1)


def test_stages_end_where_the_ensemble_does(split):
    X, X_test, y, _ = split
    clf = tree_mesa(n_estimators=3, random_state=0).fit(X, y)
    *_, last = clf.staged_predict_proba(X_test)
    np.testing.assert_array_equal(last, clf.predict_proba(X_test))


def test_inside_calibrated_classifier_cv(split):
    X, X_test, y, y_test = split
    clf = tree_mesa(calibration=None, random_state=0).fit(X[:3000], y[:3000])
    outer = CalibratedClassifierCV(FrozenEstimator(clf), method="sigmoid").fit(X[3000:], y[3000:])
    raw = brier_score_loss(y_test, clf.predict_proba(X_test)[:, 1])
    assert brier_score_loss(y_test, outer.predict_proba(X_test)[:, 1]) < raw


def cross_entropy(scores, is_class, weights, added):
    """Platt's loss of slope and intercept, and its gradient."""
    n_in, n_out = weights[is_class].sum(), weights[~is_class].sum()
    more = 2 * added
    targets = np.where(is_class, (n_in + added) / (n_in + more), added / (n_out + more))

    def loss(parameters):
        logits = parameters[0] * scores + parameters[1]
        residuals = weights * (expit(logits) - targets)
        value = np.sum(weights * (np.logaddexp(0, logits) - targets * logits))
        return value, np.array([np.sum(residuals * scores), residuals.sum()])

    return loss


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(10, 800),
    scale=st.sampled_from([1e-3, 1.0, 300.0]),
    gap=st.floats(-2, 6),
    decimals=st.sampled_from([0, 12]),
    weighted=st.booleans(),
    added=st.sampled_from([0.2, 1.0]),
)
@settings(max_examples=200, deadline=None)
def test_the_sigmoid_is_the_best_within_its_bounds(
    seed, n_rows, scale, gap, decimals, weighted, added
):
    rng = np.random.default_rng(seed)
    is_class = rng.random(n_rows) < rng.choice([0.02, 0.2, 0.5])
    is_class[:2] = True, False
    scores = scale * np.round(rng.normal(size=n_rows) + gap * is_class, decimals)
    weights = rng.exponential(size=n_rows) if weighted else np.ones(n_rows)
    slope, intercept = fit_sigmoid(scores, is_class, weights if weighted else None, added)
    loss = cross_entropy(scores, is_class, weights / weights.mean(), added)
    value, gradient = loss((slope, intercept))
    assert 1e-3 <= slope <= 60
    # No way leads down, but for one beyond a bound of the slope.
    down = -gradient[0]
    if np.isclose(slope, [1e-3, 60], rtol=1e-12).any():
        down = max(down, 0) if slope < 1 else min(down, 0)
    assert abs(down) < 1e-8 * n_rows * scale * (1 + abs(gap))
    assert abs(gradient[1]) < 1e-8 * n_rows
    # As scipy finds it, begun again until it is as exact.
    found = np.array([1.0, 0.0])
    for _ in range(5):
        options = {"ftol": 0, "gtol": 1e-13, "maxiter": 5000, "maxls": 60}
        bounds = [(1e-3, 60), (None, None)]
        found = minimize(loss, found, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    assert value <= loss(found)[0] * (1 + 1e-10)


def test_the_sigmoid_is_that_of_scipy():
    rng = np.random.default_rng(0)
    is_class = rng.random(1000) < 0.1
    scores = rng.normal(size=1000) + 2 * is_class
    loss = cross_entropy(scores, is_class, np.ones(1000), 1.0)
    found = root(lambda parameters: loss(parameters)[1], [1.0, 0.0], tol=1e-14).x
    np.testing.assert_allclose(fit_sigmoid(scores, is_class), found, rtol=1e-10)


@pytest.mark.parametrize("score", [0.0, 0.3, -1e6])
def test_the_sigmoid_of_equal_scores_is_the_share_of_the_class(score):
    is_class = np.arange(50) < 5
    fitted = fit_sigmoid(np.full(50, score), is_class)
    # Platt's rows are added.
    assert fitted(score) == pytest.approx((5 * 6 / 7 + 45 * 1 / 47) / 50, rel=1e-9)


def test_the_sigmoid_of_separated_classes_is_as_steep_as_it_may_be():
    scores = np.repeat([0.0, 1e-3], 5000)
    assert fit_sigmoid(scores, scores > 0).slope == pytest.approx(60, rel=1e-12)
    assert fit_sigmoid(scores, scores == 0).slope == 1e-3


def test_the_sigmoid_is_found_in_a_few_steps(monkeypatch):
    steps = []

    def counted(logits):
        steps.append(len(logits))
        return expit(logits)

    monkeypatch.setattr(_calibration, "expit", counted)
    rng = np.random.default_rng(0)
    for _ in range(100):
        scores = rng.normal(size=500)
        is_class = rng.random(500) < expit(2 * scores - 2)
        fit_sigmoid(scores, is_class)
    # Rounding of the loss must not be taken for a step that leads upwards.
    assert len(steps) < 100 * 12
