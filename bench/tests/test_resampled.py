import sys

import numpy as np
import pandas as pd
import pytest
from imblearn.combine import SMOTEENN
from imblearn.over_sampling import ADASYN, SMOTE, BorderlineSMOTE, RandomOverSampler
from imblearn.pipeline import make_pipeline
from imblearn.under_sampling import (
    EditedNearestNeighbours,
    NeighbourhoodCleaningRule,
    RandomUnderSampler,
)
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from metasampler_bench import (
    BASE_CLASSIFIERS,
    ResampledClassifier,
    WeightedClassifier,
)

ESTIMATORS = [
    ResampledClassifier(),
    ResampledClassifier(RandomUnderSampler(), GaussianNB()),
    ResampledClassifier(RandomOverSampler()),
    # Weights only count in a tree whose leaves need some.
    WeightedClassifier(DecisionTreeClassifier(min_weight_fraction_leaf=0.01, random_state=0)),
    WeightedClassifier(GaussianNB()),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("base", BASE_CLASSIFIERS)
@pytest.mark.parametrize(
    "sampler",
    [
        RandomUnderSampler(random_state=3),
        SMOTE(random_state=3),
        EditedNearestNeighbours(),
        SMOTEENN(random_state=3),
    ],
    ids=lambda sampler: type(sampler).__name__,
)
def test_agrees_with_the_pipeline_of_imbalanced_learn(sampler, base, imbalanced):
    X, y = imbalanced
    estimator = clone(BASE_CLASSIFIERS[base])
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    pipeline = make_pipeline(sampler, estimator).fit(X, y)
    ours = ResampledClassifier(sampler, estimator).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), pipeline.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), pipeline.predict(X))
    assert ours.n_training_rows_ == len(clone(sampler).fit_resample(X, y)[1])
    assert ours.resampling_time_ > 0


def test_base_classifiers_of_the_paper():
    assert list(BASE_CLASSIFIERS) == ["KNN", "GNB", "DT", "AdaBoost", "GBM"]
    assert BASE_CLASSIFIERS["AdaBoost"].n_estimators == 10
    assert BASE_CLASSIFIERS["GBM"].n_estimators == 10


def test_without_sampler(imbalanced):
    X, y = imbalanced
    clf = ResampledClassifier(random_state=0).fit(X, y)
    assert clf.n_training_rows_ == 600
    assert clf.sampler_ is None
    assert clf.resampling_time_ < 0.1
    assert isinstance(clf.estimator_, DecisionTreeClassifier)


def test_random_state_reaches_both(imbalanced):
    X, y = imbalanced
    clf = ResampledClassifier(RandomUnderSampler(), random_state=0)
    first, second = (clone(clf).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.sampler_.sample_indices_, second.sampler_.sample_indices_)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    other = clone(clf).set_params(random_state=1).fit(X, y)
    assert set(other.sampler_.sample_indices_) != set(first.sampler_.sample_indices_)
    assert clf.sampler.random_state is None


def test_labels_of_any_kind(three_classes):
    # Two of imbalanced-learn's samplers take no labels but numbers.
    X, y = three_classes
    clf = ResampledClassifier(NeighbourhoodCleaningRule(), random_state=0).fit(X, y)
    assert clf.classes_.tolist() == ["one", "two", "zero"]
    assert set(clf.predict(X)) == {"one", "two", "zero"}
    for strategy, n_rows in (({"one": 50}, 280), (["one", "zero"], None)):
        if isinstance(strategy, dict):
            sampler = RandomOverSampler(sampling_strategy=strategy)
        else:
            sampler, n_rows = EditedNearestNeighbours(sampling_strategy=strategy), 250
        clf = ResampledClassifier(sampler, random_state=0).fit(X, y)
        assert 230 < clf.n_training_rows_ <= n_rows
        assert sampler.sampling_strategy == strategy
    with pytest.raises(ValueError, match="names classes that y does not have: \\['four'\\]"):
        ResampledClassifier(RandomOverSampler(sampling_strategy={"four": 9})).fit(X, y)


def test_tables_of_any_kind(imbalanced):
    X, y = imbalanced
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    plain = ResampledClassifier(SMOTE(), random_state=0).fit(X, y).predict_proba(X)
    named = ResampledClassifier(SMOTE(), random_state=0).fit(frame, y)
    np.testing.assert_allclose(named.predict_proba(frame), plain)
    assert named.feature_names_in_.tolist() == list(frame.columns)
    assert named.estimator_.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame[frame.columns[::-1]])
    sparse = ResampledClassifier(RandomUnderSampler(), random_state=0).fit(csr_array(X), y)
    assert sparse.predict_proba(csr_array(X)).shape == (600, 2)


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (SMOTE(), "SMOTE with k_neighbors=5: .* Set k_neighbors to 3 or less."),
        (ADASYN(), "ADASYN with n_neighbors=5: .* Set n_neighbors to 3 or less."),
        (BorderlineSMOTE(), "Set k_neighbors to 3 or less."),
        (SMOTEENN(), r"SMOTEENN with 5 neighbours: .* Set smote=SMOTE\(k_neighbors=3\)."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_too_few_rows_for_the_neighbours(sampler, message, imbalanced):
    X, y = imbalanced
    rows = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:4]])
    labels = np.where(y == 1, "rare", "often")[rows]
    with pytest.raises(ValueError, match=f"Class 'rare' has n_samples = 4 rows, .*{message}"):
        ResampledClassifier(sampler).fit(X[rows], labels)


def test_other_errors_of_a_sampler_are_left_alone(imbalanced):
    X, y = imbalanced
    with pytest.raises(ValueError, match="less or equal to the original number of samples"):
        ResampledClassifier(RandomUnderSampler(sampling_strategy={0: 10_000})).fit(X, y)


@pytest.mark.parametrize("Wrapper", [ResampledClassifier, WeightedClassifier])
def test_one_base_estimator_only(Wrapper, imbalanced):
    with pytest.raises(TypeError, match=r"estimator=\[Gauss.*must be one classifier"):
        Wrapper(estimator=[GaussianNB(), GaussianNB()]).fit(*imbalanced)
    with pytest.raises(TypeError, match="must have fit_resample"):
        ResampledClassifier(GaussianNB()).fit(*imbalanced)


def test_class_that_the_sampler_drops(imbalanced):
    X, y = imbalanced

    class Drops(BaseEstimator):
        def fit_resample(self, X, y):
            return X[y == 0], y[y == 0]

    with pytest.raises(ValueError, match=r"Drops\(\) left no row of class \[1\]"):
        ResampledClassifier(Drops(), DecisionTreeClassifier()).fit(X, y)


def test_balanced_weights_are_uniform_priors(three_classes):
    X, y = three_classes
    X = X + np.random.default_rng(0).normal(scale=0.1, size=X.shape)
    ours = WeightedClassifier(GaussianNB()).fit(X, y)
    priors = GaussianNB(priors=[1 / 3] * 3).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), priors.predict_proba(X))
    unweighted = WeightedClassifier(GaussianNB(), class_weight=None).fit(X, y)
    np.testing.assert_allclose(unweighted.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X))


def test_balanced_weights_are_scale_pos_weight(imbalanced):
    xgboost = pytest.importorskip("xgboost")
    X, y = imbalanced
    # Exact splits, and nothing that depends on the scale of the weights.
    options = {"n_estimators": 5, "max_depth": 3, "reg_lambda": 0, "min_child_weight": 0}
    options |= {"tree_method": "exact", "base_score": 0.5, "n_jobs": 1}
    ours = WeightedClassifier(xgboost.XGBClassifier(**options)).fit(X, y)
    theirs = xgboost.XGBClassifier(scale_pos_weight=534 / 66, **options).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_registry_needs_no_imbalanced_learn_to_be_listed():
    import subprocess

    script = "import sys, metasampler_bench; print('imblearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
