"""scikit-learn's configuration and its metadata routing reach the members."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, MetaSampler
from metasampler._running import side_by_side
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.meta import FitToConstants


class Asking(LogisticRegression):
    """A classifier that keeps how scikit-learn is configured where it is fitted."""

    def fit(self, X, y, sample_weight=None):
        self.assumes_finite_ = sklearn.get_config()["assume_finite"]
        return super().fit(X, y, sample_weight)


class Strict(DecisionTreeClassifier):
    """A tree that is fitted only where finite numbers are assumed."""

    def fit(self, X, y, sample_weight=None):
        if not sklearn.get_config()["assume_finite"]:
            raise RuntimeError("the configuration is lost")
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("assumed", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_configuration_reaches_worker_processes(imbalanced, n_jobs, assumed):
    with sklearn.config_context(assume_finite=assumed):
        clf = UnderBaggingClassifier(Asking(), 4, n_jobs=n_jobs, random_state=0).fit(*imbalanced)
    assert [member.assumes_finite_ for member in clf.estimators_] == [assumed] * 4


def test_the_configuration_reaches_meta_training(imbalanced):
    trainer = FitToConstants(n_sweeps=1, n_constants=3)
    sampler = MetaSampler(Strict(), 2, trainer=trainer, n_jobs=2, random_state=0)
    with sklearn.config_context(assume_finite=True):
        sampler.fit(*imbalanced)
    with pytest.raises(RuntimeError, match="the configuration is lost"):
        sampler.fit(*imbalanced)


def test_the_configuration_reaches_threads():
    def ask():
        return sklearn.get_config()["assume_finite"]

    with sklearn.config_context(assume_finite=True):
        assert side_by_side([ask] * 5, 3) == [True] * 5
    assert side_by_side([ask] * 5, 3) == [False] * 5


# ---------------------------------------------------------------------- metadata routing

PIPELINES = {
    "nothing is said": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "nested": lambda: make_pipeline(
        FunctionTransformer(), make_pipeline(StandardScaler(), LogisticRegression())
    ),
    "the classifier": lambda: make_pipeline(
        StandardScaler(), LogisticRegression().set_fit_request(sample_weight=True)
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_passes_weights_on_with_and_without_routing(name, imbalanced):
    X, y = imbalanced
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = MesaClassifier(PIPELINES[name](), 3, meta_sampler=0.8, random_state=0)
        proba = clf.fit(X, y, sample_weight=weights).predict_proba(X)
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    expected = MesaClassifier(plain, 3, meta_sampler=0.8, random_state=0)
    expected.fit(X, y, sample_weight=weights)
    if name == "nested":
        # Seeds are given by position.
        np.testing.assert_allclose(proba, expected.predict_proba(X), rtol=1e-6)
    else:
        np.testing.assert_array_equal(proba, expected.predict_proba(X))
    unweighted = MesaClassifier(plain, 3, meta_sampler=0.8, random_state=0).fit(X, y)
    assert not np.allclose(proba, unweighted.predict_proba(X))


def test_what_the_user_requests_is_kept(imbalanced):
    X, y = imbalanced
    weights = np.arange(len(y)) % 3 + 1.0
    with sklearn.config_context(enable_metadata_routing=True):
        scaled = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=True), LogisticRegression()
        )
        clf = UnderBaggingClassifier(scaled, 1, random_state=0).fit(X, y, weights)
        rows = clf.estimators_samples_[0]
        assert clf.estimators_[0][0].n_samples_seen_ == pytest.approx(
            _weights_in_member(weights, y, rows).sum(), rel=1e-9
        )
        refused = make_pipeline(
            StandardScaler(), LogisticRegression().set_fit_request(sample_weight=False)
        )
        with pytest.warns(UserWarning, match="takes no sample_weight"):
            UnderBaggingClassifier(refused, 2, random_state=0).fit(X, y, weights)
        neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier())
        with pytest.warns(UserWarning, match="takes no sample_weight"):
            UnderBaggingClassifier(neighbours, 2, random_state=0).fit(X, y, weights)


def _weights_in_member(weights, y, rows):
    """Rows that are drawn get the mean weight of their class."""
    weights = weights / weights.mean()
    means = np.array([weights[y == k].mean() for k in (0, 1)])
    return np.where(y[rows] == 0, means[y[rows]], weights[rows])
