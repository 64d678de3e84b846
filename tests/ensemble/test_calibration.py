"""Probabilities of the real world, from members that live in a balanced one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score, brier_score_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits
from tree_mesa import tree_mesa

from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.ensemble._calibration import PriorCalibration, _dot, make_calibration

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


@given(st.integers(1, 40_000))
@settings(max_examples=20)
def test_sums_of_products_do_not_depend_on_threads(size):
    rng = np.random.default_rng(size)
    a, b = rng.random((2, size))
    with threadpool_limits(1, user_api="blas"):
        alone = _dot(a, b)
        if size <= 1 << 13:
            assert alone == a @ b
    assert _dot(a, b) == alone
    assert alone == pytest.approx(a @ b)
