import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from tree_mesa import tree_mesa

from metasampler.growth._adapters import Adapter, _seed_parameters, make_adapters
from metasampler.growth._tree_adapter import LeafAdapter, TreeAdapter

TREES = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_depth=4),
    DecisionTreeClassifier(max_features="sqrt", splitter="random"),
    DecisionTreeClassifier(max_features="log2", min_samples_leaf=0.02),
    DecisionTreeClassifier(max_features=0.4, min_samples_split=0.1),
    DecisionTreeClassifier(max_features=3, min_samples_leaf=5, min_impurity_decrease=0.01),
    DecisionTreeClassifier(max_leaf_nodes=7),
    DecisionTreeClassifier(ccp_alpha=0.01),
    DecisionTreeClassifier(class_weight="balanced", min_weight_fraction_leaf=0.05),
    DecisionTreeClassifier(class_weight={0: 1, 1: 5, 2: 2}),
    ExtraTreeClassifier(),
    ExtraTreeClassifier(max_features="sqrt", min_samples_leaf=3),
]


def _same_tree(a, b):
    np.testing.assert_array_equal(a.tree_.feature, b.tree_.feature)
    np.testing.assert_array_equal(a.tree_.threshold, b.tree_.threshold)
    np.testing.assert_array_equal(a.tree_.value, b.tree_.value)
    np.testing.assert_array_equal(a.classes_, b.classes_)
    assert set(vars(a)) == set(vars(b))
    for name in ("n_features_in_", "n_outputs_", "n_classes_", "max_features_"):
        assert getattr(a, name) == getattr(b, name)
    assert a.get_params() == b.get_params()


@pytest.mark.parametrize("estimator", TREES, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_checked_once_give_the_trees_of_a_plain_fit(estimator, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 7)).astype(np.float32)
    codes = rng.integers(0, n_classes, 300).astype(np.uint8)
    if isinstance(estimator.class_weight, dict) and n_classes == 2:
        estimator = clone(estimator).set_params(class_weight={0: 1, 1: 5})
    fast = make_adapters(estimator, [X], n_classes).of(0)
    assert type(fast) is TreeAdapter
    plain = Adapter(estimator, n_classes)
    for seed in range(3):
        rows = np.sort(rng.choice(300, 80, replace=False))
        ours, theirs = (adapter.fit(X, codes, rows, seed) for adapter in (fast, plain))
        _same_tree(ours, theirs)
        np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
        np.testing.assert_array_equal(fast.probabilities(ours, X), plain.probabilities(theirs, X))


def test_a_fit_is_the_same_if_each_tree_checks_its_rows(imbalanced, monkeypatch):
    X, y = imbalanced
    fast = tree_mesa(n_estimators=10, random_state=0).fit(X, y)
    proba = fast.predict_proba(X)
    monkeypatch.setattr("metasampler.growth._tree_adapter.TreeAdapter", LeafAdapter)
    plain = tree_mesa(n_estimators=10, random_state=0).fit(X, y)
    for a, b in zip(fast.estimators_, plain.estimators_, strict=True):
        _same_tree(a, b)
    np.testing.assert_array_equal(proba, plain.predict_proba(X))
    np.testing.assert_array_equal(fast.scores_, plain.scores_)


def test_bad_tree_parameters_are_reported(imbalanced):
    X, y = imbalanced
    with pytest.raises(ValueError, match="max_depth"):
        tree_mesa(DecisionTreeClassifier(max_depth=-3)).fit(X, y)


def test_rows_with_missing_values_are_checked_by_each_tree():
    X = np.zeros((4, 2), dtype=np.float32)
    assert type(make_adapters(DecisionTreeClassifier(), [X], 2).of(0)) is TreeAdapter
    X[1, 1] = np.nan
    assert type(make_adapters(DecisionTreeClassifier(), [X], 2).of(0)) is Adapter


def test_subclasses_check_their_rows():
    class Tree(DecisionTreeClassifier):
        pass

    members = make_adapters(Tree(), [np.zeros((4, 2), dtype=np.float32)], 2)
    assert type(members.of(0)) is Adapter


def test_every_random_state_is_seeded():
    pipeline = make_pipeline(StandardScaler(), AdaBoostClassifier(DecisionTreeClassifier()))
    seeds = _seed_parameters(pipeline, 7)
    assert sorted(seeds) == [
        "adaboostclassifier__estimator__random_state",
        "adaboostclassifier__random_state",
    ]
    assert len(set(seeds.values())) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scoring_in_chunks_adds_up(monkeypatch, n_jobs, n_classes):
    monkeypatch.setattr("metasampler.growth._adapters._CHUNK", 64)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)).astype(np.float32)
    codes = rng.integers(0, n_classes, 500)
    adapter = make_adapters(DecisionTreeClassifier(max_depth=3), [X], n_classes, n_jobs).of(0)
    member = adapter.fit(X, codes, np.arange(500), 0)
    total = np.ones((500,) if n_classes == 2 else (500, n_classes))
    adapter.add(member, X, [(slice(None), total, 0.0)])
    proba = member.predict_proba(X)
    np.testing.assert_array_equal(total, 1 + (proba[:, 1] if n_classes == 2 else proba))


@pytest.mark.parametrize("bad", [np.nan, -0.5, 1.5])
def test_probabilities_that_are_none(imbalanced, bad):
    class Odd(DecisionTreeClassifier):
        def predict_proba(self, X):
            proba = super().predict_proba(X)
            proba[0, 1] = bad
            return proba

    with pytest.raises(ValueError, match=r"Odd\(.*gives probabilities that are not in \[0, 1\]"):
        tree_mesa(Odd(), n_estimators=1).fit(*imbalanced)


def test_a_member_that_lost_a_class_is_reported():
    class Forgetful(DecisionTreeClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X)[:, :1]

    X, codes = np.arange(10.0).reshape(-1, 1), np.repeat([0, 1], 5)
    adapter = Adapter(Forgetful(), 2)
    member = adapter.fit(X, codes, np.arange(10), 0)
    with pytest.raises(ValueError, match="gives 1 probabilities per row; the data has 2 classes"):
        adapter.probabilities(member, X)
