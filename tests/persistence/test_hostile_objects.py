"""Objects of strangers whose numbers C code would follow without a look."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from model_files import ModelFile, array, booster_of, classifier_of, made, tree_of
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier, load_model, save_model

# ---------------------------------------------------------------------- trees


@pytest.mark.parametrize("right", [-1, -2, -5000, -(2**31)])
def test_a_node_with_one_child_is_refused(right, alone, refused):
    # The loop down a tree ends where there is no left child.
    tree = tree_of([1, -1], [right, -1], [0, -2], 5)
    assert "left has a wrong value" in refused(alone(classifier_of(tree)))


@pytest.mark.parametrize("right", [-1, -5000])
def test_a_member_has_no_node_with_one_child(right, changed, refused):
    states = changed.nodes("sklearn.tree.DecisionTreeClassifier")
    (member,) = (state for state in states if "tree_" in state)
    member["tree_"] = tree_of([1, -1], [right, -1], [0, -2], 20)
    assert "left has a wrong value" in refused(changed)


def test_names_alone_do_not_number_columns(alone, refused):
    # scikit-learn would compare a table of five columns with nothing.
    n_columns = 100_000
    tree = tree_of([1, -1, -1], [2, -1, -1], [n_columns - 1, -2, -2], n_columns)
    document = classifier_of(tree, feature_names_in_=array(["a"] * n_columns))
    del document["state"]["n_features_in_"]
    assert "n_features_in_" in refused(alone(document))
    del document["state"]["feature_names_in_"]
    assert "n_features_in_" in refused(alone(document))


def test_members_number_their_columns(changed, refused):
    n_columns = 100_000
    tree = tree_of([1, -1, -1], [2, -1, -1], [n_columns - 1, -2, -2], n_columns)
    states = changed.nodes("sklearn.tree.DecisionTreeClassifier")
    (member,) = (state for state in states if "tree_" in state)
    member |= {"tree_": tree, "feature_names_in_": array(["a"] * n_columns)}
    del member["n_features_in_"]
    assert "n_features_in_" in refused(changed)


def test_names_of_a_search_are_those_of_its_best_model(rows, tmp_path, refused):
    import pandas as pd

    X, y = rows
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    clf = MesaClassifier(DecisionTreeClassifier(max_depth=2), 1, meta_sampler=0.9, refit=False)
    search = GridSearchCV(clf, {"n_estimators": [1]}, cv=2).fit(frame, y)
    save_model(search, tmp_path / "search.mesa")
    again = load_model(tmp_path / "search.mesa")
    assert again.n_features_in_ == 4
    np.testing.assert_array_equal(again.feature_names_in_, list("abcd"))
    file = ModelFile(tmp_path / "search.mesa")
    file.document["state"]["feature_names_in_"] = array(["a"] * 7)
    assert "feature_names_in_" in refused(file)


# ---------------------------------------------------------------------- categories


def encoder_of(*categories):
    return made(
        "sklearn.preprocessing.OneHotEncoder",
        n_features_in_=len(categories),
        categories_=list(categories),
        _infrequent_enabled=False,
        drop_idx_=None,
        _drop_idx_after_grouping=None,
    )


@pytest.mark.parametrize(
    "levels",
    [
        array([0.0, -2.0, -1.0]),
        array([1, 1, 2]),
        array([np.nan, 1.0]),
        array([1.0, np.nan, np.nan]),
        array(["a", "b", "a"]),
        {"objects": [[2], ["a", "a"]]},
        {"objects": [[1], [["a"]]]},
    ],
)
def test_levels_are_different_and_in_order(levels, alone, refused):
    assert "categories_ has a wrong value" in refused(alone(encoder_of(levels)))


def test_levels_of_any_kind_are_read(alone, tmp_path):
    levels = [
        array([-1.0, 0.5, np.nan]),
        array(["b", "a"]),
        {"objects": [[3], ["b", "a", None]]},
        array([False, True]),
    ]
    encoder = load_model(alone(encoder_of(*levels)).write(tmp_path / "encoder.mesa"))
    assert [len(each) for each in encoder.categories_] == [3, 2, 3, 2]


def test_encoders_in_members_are_checked(rows, tmp_path, refused):
    X, y = rows
    X = X[:, :3].round()
    steps = OneHotEncoder(handle_unknown="ignore"), LogisticRegression()
    clf = MesaClassifier(make_pipeline(*steps), 1, meta_sampler=0.9, refit=False, random_state=0)
    save_model(clf.fit(X, y), tmp_path / "model.mesa")
    file = ModelFile(tmp_path / "model.mesa")
    states = file.nodes("sklearn.preprocessing.OneHotEncoder")
    (state,) = (each for each in states if "categories_" in each)
    levels = state["categories_"][0]["array"]
    state["categories_"][0]["array"] = levels[::-1].copy()
    assert "categories_ has a wrong value" in refused(file)


# ---------------------------------------------------------------------- arrays that are not arrays


def _masked(values, shown):
    return made("MaskedArray", data=array(values), mask=array(np.logical_not(shown)))


def test_masked_levels_are_not_taken_for_ordered_ones(rows, tmp_path, refused):
    # Comparisons skip what is masked; the search among levels would not.
    X, y = rows
    steps = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    clf = MesaClassifier(steps, 1, meta_sampler=0.9, refit=False, random_state=0)
    save_model(clf.fit(X[:, :4].round(), y), tmp_path / "onehot.mesa")
    file = ModelFile(tmp_path / "onehot.mesa")
    states = file.nodes("sklearn.preprocessing.OneHotEncoder")
    (encoder,) = (state for state in states if "categories_" in state)
    shown = [False, False, True, True]
    encoder["categories_"][-1] = _masked([2.0, 3.0, 0.0, 1.0], shown)
    assert "categories_" in refused(file)


def test_masked_rows_of_members_are_refused(changed, refused):
    changed.document["state"]["estimators_samples_"][0] = _masked([0, 1], [True, False])
    assert "estimators_samples_" in refused(changed)


def test_sums_of_small_integers_do_not_overflow(rows, tmp_path, refused):
    # As many edges as there are sets and one more: of 127 in one byte that is -128, and LightGBM
    # would read 128 edges from a text of 71.
    X, y = rows
    booster = LGBMClassifier(n_estimators=1, num_leaves=3, n_jobs=1, verbose=-1)
    save_model(booster.fit(X[:, :5], y), tmp_path / "booster.mesa")
    file = ModelFile(tmp_path / "booster.mesa")
    file.document["state"]["_Booster"] = booster_of(
        [3] * 4,
        num_cat=array([126, 127, 99, 99], np.int8),
        cat_boundaries=array(np.zeros(199, np.int32)),
        decision_type=array([0, 0, 1, 1, 0, 0, 0, 0], np.int8),
        threshold=array([0, 0, 126, 126, 0, 0, 0, 0], np.float64),
    )
    assert "cat_boundaries" in refused(file)
