"""shap explains tree members, and any fit by its probabilities."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.explain import shap_explanation

shap = pytest.importorskip("shap", reason="shap is not installed: make test-tools")

TREES = {
    "plain trees": DecisionTreeClassifier(),
    "the default": None,
}


@pytest.fixture(scope="module")
def task():
    return make_classification(
        600, n_features=6, n_informative=4, weights=[0.9], flip_y=0.02, random_state=0
    )


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_values_of_the_members_add_up_to_the_raw_mean(task, tree, refit):
    X, y = task
    clf = tree_mesa(tree, 8, leaf_smoothing=0, calibration=None, refit=refit, random_state=0).fit(
        X, y
    )
    # Trees are grown on float32; other rows could fall on the other side of a split.
    rows = X[:50].astype(np.float32)
    explained = [shap.TreeExplainer(member)(rows) for member in clf.estimators_]
    values = np.mean([part.values[..., 1] for part in explained], axis=0)
    base = np.mean([part.base_values[..., 1] for part in explained], axis=0)
    assert values.shape == rows.shape
    np.testing.assert_allclose(base + values.sum(axis=1), clf.predict_proba(rows)[:, 1], atol=1e-6)


def test_many_classes_add_up_too(three_classes):
    X, y = three_classes
    clf = tree_mesa(n_estimators=4, leaf_smoothing=0, calibration=None, random_state=0)
    clf.fit(X, y)
    rows = X[:20].astype(np.float32)
    explained = [shap.TreeExplainer(member)(rows) for member in clf.estimators_]
    total = np.mean([part.base_values + part.values.sum(axis=1) for part in explained], axis=0)
    np.testing.assert_allclose(total, clf.predict_proba(rows), atol=1e-6)


def test_the_whole_ensemble_is_explained_as_shap_has_it(task):
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    X, y = task
    clf = MesaClassifier(random_state=0).fit(X, y)
    explained = shap_explanation(clf, X[:60])
    assert explained.shape == (60, X.shape[1])
    assert explained.feature_names == [f"x{k}" for k in range(X.shape[1])]
    proba = clf.predict_proba(X[:60])[:, 1]
    sums = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(sums, np.log(proba / (1 - proba)), atol=1e-6)
    for draw, shown in (
        (shap.plots.waterfall, explained[0]),
        (shap.plots.bar, explained),
        (shap.plots.beeswarm, explained),
    ):
        draw(shown, show=False)
        plt.close("all")


def test_trees_are_explained_as_shap_explains_them(task):
    X, y = task
    rows = X[:40].astype(np.float32)
    clf = tree_mesa(DecisionTreeClassifier(), 5, leaf_smoothing=0, calibration="sigmoid")
    clf.set_params(validation_fraction=0.3, random_state=0).fit(X, y)
    explained = [shap.TreeExplainer(member)(rows) for member in clf.estimators_]
    of_mean = np.mean([part.values[..., 1] for part in explained], axis=0)
    # A sigmoid of the mean has log-odds that are linear in it.
    (sigmoid,) = clf.calibration_.functions
    np.testing.assert_allclose(
        shap_explanation(clf, rows).values, sigmoid.slope * of_mean, atol=1e-8
    )


def test_shap_itself_names_the_ensemble_that_it_does_not_know(task):
    X, y = task
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    # It looks at the names of classes: no attribute of ours could help.
    with pytest.raises(shap.utils._exceptions.InvalidModelError, match="MesaClassifier"):
        shap.TreeExplainer(clf)
    with pytest.raises(TypeError, match="not callable"):
        shap.Explainer(clf, X[:40])


def test_calibrated_probabilities_are_explained_as_a_function(task):
    X, y = task
    clf = tree_mesa(n_estimators=8, random_state=0).fit(X, y)
    explainer = shap.Explainer(clf.predict_proba, X[:40], seed=0)
    explained = explainer(X[:5])
    assert explained.values.shape == (5, X.shape[1], 2)
    np.testing.assert_allclose(
        explained.base_values + explained.values.sum(axis=1), clf.predict_proba(X[:5]), atol=1e-6
    )
    # What makes one class more probable makes the other less so.
    np.testing.assert_allclose(explained.values[..., 0], -explained.values[..., 1], atol=1e-9)
