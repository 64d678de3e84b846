"""Synthetic rows, and SMOTEBagging."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from metasampler_bench.ensemble import (
    RAMOBoostClassifier,
    SMOTEBaggingClassifier,
    SMOTEBoostClassifier,
)
from metasampler_bench.ensemble._smote import Smote, others_nearby

ENSEMBLES = [RAMOBoostClassifier, SMOTEBaggingClassifier, SMOTEBoostClassifier]


# One neighbour is what the small sets of these checks leave for SMOTE.
@parametrize_with_checks(
    [SMOTEBaggingClassifier(LogisticRegression(), n_estimators=3, k_neighbors=1)]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_smote(X, k_neighbors):
    data = SimpleNamespace(tables=[X], class_rows=[np.arange(len(X))], classes=np.array(["rare"]))
    return Smote(data, [0], k_neighbors)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n_rows=st.integers(3, 30),
    n_features=st.integers(1, 4),
    k_neighbors=st.integers(1, 5),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_synthetic_rows_lie_between_neighbours(seed, n_rows, n_features, k_neighbors, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(dtype)
    k_neighbors = min(k_neighbors, n_rows - 1)
    drawn = make_smote(X, k_neighbors).draw(0, 40, rng)
    assert drawn.shape == (40, n_features)
    assert drawn.dtype == dtype
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    neighbors = np.argsort(distances, axis=1)[:, :k_neighbors]
    starts = np.repeat(X, k_neighbors, axis=0).astype(float)
    steps = X[neighbors.ravel()].astype(float) - starts
    lengths = np.maximum(np.sum(steps**2, axis=1), 1e-30)
    for row in drawn.astype(float):
        # The nearest point of every segment; one of the segments has the row itself.
        along = np.clip(np.sum((row - starts) * steps, axis=1) / lengths, 0, 1)
        gaps = np.linalg.norm(starts + along[:, np.newaxis] * steps - row, axis=1)
        assert gaps.min() < 1e-5


def test_weights_decide_where_rows_start():
    # Two far-off pairs: a synthetic row lies in the pair that it was started from.
    X = np.array([[0.0], [1.0], [100.0], [101.0]])
    smote = make_smote(X, 1)
    rng = np.random.default_rng(0)
    assert np.all(smote.draw(0, 200, rng, np.array([0, 0, 1.0, 3.0])) >= 100)
    share = np.mean(smote.draw(0, 4000, rng, np.array([1.0, 1, 3, 3])) >= 100)
    assert share == pytest.approx(0.75, abs=0.03)
    assert np.mean(smote.draw(0, 4000, rng) >= 100) == pytest.approx(0.5, abs=0.03)


def test_neighbours_of_other_classes_are_counted():
    X = np.array([[0.0], [0.1], [0.3], [10.0], [10.1], [10.3], [10.6]])
    codes = np.array([1, 1, 0, 1, 0, 0, 0])
    counts = others_nearby(X, np.array([0, 1, 3]), codes, 2)
    assert counts.tolist() == [1, 1, 2]
    # A row's doubles are its neighbours, the row itself never is.
    X[:] = 1.0
    doubles = others_nearby(X, np.array([0, 1, 3]), np.array([1, 1, 1, 1, 1, 1, 0]), 6)
    assert doubles.tolist() == [1, 1, 1]
    # Never more neighbours than there are rows.
    assert others_nearby(X, np.array([6]), codes, 50).tolist() == [3]


def test_ramo_starts_more_often_near_other_classes(monkeypatch):
    rng = np.random.default_rng(0)
    # Half of the rare rows among the frequent ones, half far away from them.
    X = np.concatenate(
        [rng.normal(size=(300, 2)), rng.normal(size=(10, 2)), rng.normal(50, 1, (10, 2))]
    )
    y = np.repeat([0, 1], [300, 20])
    shares = []
    draw = Smote.draw

    def spy(self, k, size, rng, weights=None):
        shares.append(weights / weights.sum())
        return draw(self, k, size, rng, weights)

    monkeypatch.setattr(Smote, "draw", spy)
    RAMOBoostClassifier(n_estimators=1, alpha=0.3).fit(X, y)
    counts = others_nearby(X, np.arange(300, 320), y, 5)
    expected = 1 / (1 + np.exp(-0.3 * counts))
    np.testing.assert_allclose(shares[0], expected / expected.sum())
    assert shares[0][:10].min() > shares[0][10:].max()
    shares.clear()
    RAMOBoostClassifier(n_estimators=1, alpha=0.0).fit(X, y)
    np.testing.assert_allclose(shares[0], 1 / 20)


@pytest.mark.parametrize("Booster", [SMOTEBoostClassifier, RAMOBoostClassifier])
def test_the_graph_is_computed_once(Booster, imbalanced, monkeypatch):
    made = []
    init = Smote.__init__
    monkeypatch.setattr(Smote, "__init__", lambda *a, **k: (made.append(1), init(*a, **k))[1])
    Booster(n_estimators=4).fit(*imbalanced)
    assert made == [1]


@pytest.mark.parametrize("Ensemble", ENSEMBLES)
def test_too_few_rows_of_a_class_are_explained(Ensemble, three_classes):
    X, y = three_classes
    rows = np.concatenate([np.flatnonzero(y == "one")[:4], np.flatnonzero(y == "two")])
    name = "k_neighbors_2" if Ensemble is RAMOBoostClassifier else "k_neighbors"
    message = rf"Class 'one' has n_samples = 4, too few for {name}=5: each row has 3 neighbours"
    with pytest.warns(UserWarning, match=message):
        few = Ensemble(n_estimators=2, random_state=0).fit(X[rows], y[rows])
    exact = Ensemble(n_estimators=2, random_state=0, **{name: 3}).fit(X[rows], y[rows])
    np.testing.assert_array_equal(few.predict_proba(X), exact.predict_proba(X))
    with pytest.raises(ValueError, match=r"has n_samples = 1, .* Pass more rows"):
        Ensemble().fit(X[rows[3:]], y[rows[3:]])


@pytest.mark.parametrize("Ensemble", ENSEMBLES)
def test_columns_must_hold_numbers(Ensemble, imbalanced):
    pd = pytest.importorskip("pandas")
    X, y = imbalanced
    frame = pd.DataFrame(X).rename(columns=str)
    numbers = Ensemble(n_estimators=2, random_state=0).fit(frame, y)
    array = Ensemble(n_estimators=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(numbers.predict_proba(frame), array.predict_proba(X))
    assert list(numbers.feature_names_in_) == list(frame.columns)
    frame["colour"] = "red"
    with pytest.raises(ValueError, match=r"every column must hold numbers; \['colour'\] do not"):
        Ensemble().fit(frame, y)


@pytest.mark.parametrize("Ensemble", ENSEMBLES)
def test_sparse_rows_are_made_dense(Ensemble, imbalanced):
    X, y = imbalanced
    sparse = Ensemble(n_estimators=2, random_state=0).fit(csr_array(X), y)
    dense = Ensemble(n_estimators=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(sparse.predict_proba(csr_array(X)), dense.predict_proba(X))


# --- SMOTEBagging -----------------------------------------------------------------------------


def test_bagging_balances_by_varying_rates(three_classes):
    X, y = three_classes
    seen = []

    class Spy(KNeighborsClassifier):
        def fit(self, X, codes):
            seen.append((X, codes))
            return super().fit(X, codes)

    clf = SMOTEBaggingClassifier(Spy(), 12, random_state=0).fit(X, y)
    np.testing.assert_allclose(clf.resampling_rates_, [*np.arange(1, 11) / 10, 0.1, 0.2])
    for rate, rows, (X_fit, codes) in zip(
        clf.resampling_rates_, clf.estimators_samples_, seen, strict=True
    ):
        assert np.bincount(codes).tolist() == [170, 170, 170]
        counts = dict(zip(*np.unique(y[rows], return_counts=True), strict=True))
        assert counts == {"one": round(rate * 170), "two": 170, "zero": round(rate * 170)}
        np.testing.assert_array_equal(X_fit[: len(rows)], X[rows])
        if rate == 1:
            assert len(X_fit) == len(rows)
    assert clf.n_training_rows_ == [3 * 170] * 12


def test_counts_give_the_tree_of_repeated_rows(imbalanced):
    X, y = imbalanced
    counted = SMOTEBaggingClassifier(n_estimators=3, random_state=0).fit(X, y)
    # The same trees, but a parameter that has the rows repeated.
    tree = DecisionTreeClassifier(min_samples_split=1.0 / len(X) ** 2)
    repeated = SMOTEBaggingClassifier(tree, n_estimators=3, random_state=0).fit(X, y)
    for one, other in zip(counted.estimators_, repeated.estimators_, strict=True):
        assert one.tree_.node_count == other.tree_.node_count
        np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    np.testing.assert_array_equal(counted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("base", [None, LogisticRegression()])
def test_bagging_is_the_same_for_any_n_jobs(imbalanced, base):
    X, y = imbalanced
    one, two, other = (
        SMOTEBaggingClassifier(base, 4, random_state=seed, n_jobs=n_jobs).fit(X, y)
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    )
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))


def test_longer_bagging_starts_with_the_shorter(imbalanced):
    X, y = imbalanced
    short = SMOTEBaggingClassifier(n_estimators=2, random_state=0).fit(X, y)
    long = SMOTEBaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    stages = list(long.staged_predict_proba(X))
    np.testing.assert_array_equal(stages[1], short.predict_proba(X))
