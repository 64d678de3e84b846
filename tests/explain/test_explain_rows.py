"""Contributions of columns: exact for trees, and they add up to the log-odds of the ensemble."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier, load_model, save_model
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.explain import Reasons, explain_rows
from metasampler.explain._attribution import Attribution
from metasampler.explain._tree_shap import add_tree_values, expected_value
from metasampler.growth import BoostedMember, trees_of
from metasampler.tables import TableCleaner

#: The bound that the docstring of `explain_rows` states.
BOUND = 1e-6


def log_odds(model, X, label) -> np.ndarray:
    k = model.classes_.tolist().index(label)
    proba = model.predict_proba(X)
    both = proba[:, k], np.delete(proba, k, axis=1).sum(axis=1)
    own, rest = (np.log(np.maximum(of, 1e-300)) for of in both)
    return np.clip(own - rest, np.log(1e-12), -np.log(1e-12))


def check_sums(model, X, label=None) -> Reasons:
    reasons = explain_rows(model, X, class_label=label)
    expected = log_odds(model, X, reasons.class_label)
    np.testing.assert_allclose(reasons.log_odds, expected, atol=BOUND)
    sums = reasons.base + reasons.contributions.sum(axis=1)
    np.testing.assert_allclose(sums, expected, atol=BOUND)
    return reasons


# ---------------------------------------------------------------------- trees


def answer_of(tree, row, known, node=0):
    """Return what a tree expects of a row of which some columns are known."""
    if tree.left[node] < 0:
        return tree.value[node, -1]
    left, right = int(tree.left[node]), int(tree.right[node])
    column = int(tree.feature[node])
    if column in known:
        goes_left = tree.goes_left(node, row[column : column + 1])[0]
        return answer_of(tree, row, known, left if goes_left else right)
    whole = tree.cover[left] + tree.cover[right]
    return (
        tree.cover[left] * answer_of(tree, row, known, left)
        + tree.cover[right] * answer_of(tree, row, known, right)
    ) / whole


def shapley(game, n_columns):
    """Return the Shapley values of a game by their definition."""
    values = np.zeros(n_columns)
    for column in range(n_columns):
        others = [k for k in range(n_columns) if k != column]
        for size in range(n_columns):
            weight = factorial(size) * factorial(n_columns - size - 1) / factorial(n_columns)
            for known in combinations(others, size):
                values[column] += weight * (game({*known, column}) - game(set(known)))
    return values


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 5), st.booleans())
def test_values_of_a_tree_are_those_of_the_definition(seed, n_columns, missing):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, n_columns)).round(1).astype(np.float32)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X).sum(axis=1) + rng.normal(size=120) > 0).astype(int)
    y[:2] = 0, 1
    member = DecisionTreeClassifier(max_depth=6, random_state=seed).fit(X, y)
    (tree,) = trees_of(member, 2, smoothing=1.0)
    into = np.zeros((1, n_columns, 8))
    add_tree_values(tree, tree.value, np.ascontiguousarray(X[:8].T), into)
    for place, row in enumerate(X[:8]):
        expected = shapley(lambda known, row=row: answer_of(tree, row, known), n_columns)
        np.testing.assert_allclose(into[0, :, place], expected, atol=1e-12)
    np.testing.assert_allclose(expected_value(tree)[-1], answer_of(tree, X[0], set()), atol=1e-12)


@pytest.mark.parametrize(
    "settings_of",
    [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
    ],
    ids=["plain", "zeros are missing", "nothing is missing", "forest"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_of_a_booster_are_those_of_lightgbm(settings_of, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5)).round(1)
    X[:, 4] = rng.integers(0, 40, 800)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.1] = 0
    y = rng.integers(0, n_classes, 800)
    y[np.nan_to_num(X[:, 0]) > 0.5] = 1
    y[np.isin(X[:, 4], [3, 7, 33, 39])] = 0
    clf = LGBMClassifier(n_estimators=8, verbose=-1, min_child_samples=5, **settings_of)
    clf.fit(X, y, categorical_feature=[4])
    X[:5, 4] = [-1, 50, 1e12, np.nan, 33.7]
    member = BoostedMember(clf.booster_, n_classes)
    n_values = 1 if n_classes == 2 else n_classes
    into, base = np.zeros((n_values, 5, len(X))), np.zeros(n_values)
    for tree in trees_of(member, n_classes):
        at = tree.output or 0
        add_tree_values(tree, tree.value, np.ascontiguousarray(X.T), into[at : at + 1])
        base[at] += expected_value(tree)[0]
    raw = clf.booster_.predict(X, raw_score=True).reshape(len(X), n_values)
    np.testing.assert_allclose(base + into.sum(axis=1).T, raw, atol=1e-9)
    if "boosting_type" not in settings_of:
        expected = clf.booster_.predict(X, pred_contrib=True).reshape(len(X), n_values, 6)
        np.testing.assert_allclose(np.moveaxis(into, 2, 0), expected[..., :-1], atol=1e-9)


def test_a_path_may_have_more_columns_than_a_word_has_bits():
    # A chain: each column splits off the rows that have a one in it.
    X = np.vstack([np.eye(150, dtype=np.float32), np.zeros((150, 150), dtype=np.float32)])
    y = np.arange(300) < 150
    member = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert member.get_depth() > 130
    (tree,) = trees_of(member, 2)
    into = np.zeros((1, 150, 300))
    add_tree_values(tree, tree.value[:, -1:], np.ascontiguousarray(X.T), into)
    sums = expected_value(tree)[-1] + into[0].sum(axis=0)
    np.testing.assert_allclose(sums, member.predict_proba(X)[:, 1], atol=1e-9)


def test_parts_add_up_through_any_increasing_function():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, 4, 50))
    parts[:, :, :5] = 0  # nothing happens
    parts[:, 0, 5:10] = -parts[:, 1:, 5:10].sum(axis=1)  # it cancels out
    base = np.ones((3, 50))
    start = Attribution(base + parts.sum(axis=1), base, parts)
    for made in (start.through(np.exp), start.log_softmax(), start.log_softmax().through(np.exp)):
        np.testing.assert_allclose(made.value, made.base + made.parts.sum(axis=1), atol=1e-8)
    # What cancels out counts by the slope.
    np.testing.assert_allclose(
        start.through(np.exp).parts[..., 5:10], np.e * parts[..., 5:10], rtol=1e-6
    )


# ---------------------------------------------------------------------- ensembles

ENSEMBLES = {
    "the default": MesaClassifier(random_state=0),
    "few members": MesaClassifier(recipe="fast", random_state=0),
    "no calibration": MesaClassifier(recipe="fast", calibration=None, random_state=0),
    "the prior": MesaClassifier(recipe="fast", calibration="prior", random_state=0),
    "plain trees": tree_mesa(None, 6, calibration="prior", random_state=0),
    "hard leaves": tree_mesa(None, 4, leaf_smoothing=0, calibration=None, random_state=0),
    "a sigmoid": tree_mesa(None, 6, calibration="sigmoid", validation_fraction=0.3, random_state=0),
    "forests": UnderBaggingClassifier(
        RandomForestClassifier(5, max_depth=5), n_estimators=3, random_state=0
    ),
    "boosters and trees": UnderBaggingClassifier(
        [LGBMClassifier(n_estimators=9, verbose=-1), DecisionTreeClassifier(max_depth=5)],
        n_estimators=4,
        random_state=0,
    ),
    "a cascade": BalanceCascadeClassifier(n_estimators=4, random_state=0),
    "self-paced": SelfPacedEnsembleClassifier(n_estimators=4, random_state=0),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_contributions_add_up_to_the_log_odds(imbalanced, name):
    X, y = imbalanced
    clf = ENSEMBLES[name].fit(X, y)
    reasons = check_sums(clf, X)
    assert reasons.class_label == 1
    # LightGBM's own contributions serve few rows.
    few = explain_rows(clf, X[:7])
    np.testing.assert_allclose(few.contributions, reasons.contributions[:7], atol=1e-8)
    other = explain_rows(clf, X[:7], class_label=0)
    np.testing.assert_allclose(other.contributions, -few.contributions, atol=1e-12)


def test_where_the_smallest_class_has_few_rows_there_are_sharp_trees(for_teams):
    X, y = for_teams
    rows = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:60]])
    clf = MesaClassifier(random_state=0).fit(X[rows], y[rows])
    check_sums(clf, X)


@pytest.mark.parametrize("calibration", ["auto", "prior", None])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=5)])
def test_each_of_many_classes_is_explained_against_the_rest(three_classes, estimator, calibration):
    X, y = three_classes
    settings_of = {"recipe": "fast"} if estimator is None else {"estimator": estimator}
    clf = MesaClassifier(
        **settings_of, n_estimators=6, calibration=calibration, random_state=0
    ).fit(X, y)
    assert explain_rows(clf, X[:3]).class_label == clf.minority_class_
    for label in clf.classes_:
        check_sums(clf, X, label)


def test_values_are_near_those_of_the_whole_ensemble(imbalanced):
    """The multipliers of blend and calibration are an approximation: this is how good it is."""
    X, y = imbalanced
    X = X[:, :5]
    clf = MesaClassifier(random_state=0).fit(X, y)
    reasons = explain_rows(clf, X[:40])
    rng = np.random.default_rng(0)
    background = X[rng.choice(len(X), 60, replace=False)]

    def game(row):
        known_sets = [set(c) for size in range(6) for c in combinations(range(5), size)]
        tables = np.repeat(background[np.newaxis], len(known_sets), axis=0)
        for table, known in zip(tables, known_sets, strict=True):
            table[:, sorted(known)] = row[sorted(known)]
        proba = clf.predict_proba(tables.reshape(-1, 5))[:, 1].reshape(len(known_sets), -1)
        found = np.log(proba / (1 - proba)).mean(axis=1)
        return {frozenset(known): value for known, value in zip(known_sets, found, strict=True)}

    games = map(game, X[:40])
    exact = np.array([shapley(lambda known, of=of: of[frozenset(known)], 5) for of in games])
    correlation = np.corrcoef(exact.ravel(), reasons.contributions.ravel())[0, 1]
    assert correlation > 0.9


# ---------------------------------------------------------------------- tables


@pytest.fixture(scope="module")
def orders():
    rng = np.random.default_rng(0)
    n = 1500
    words = ["refund", "late", "parcel", "broken", "nice", "thanks", "fast", "again", "colour"]
    frame = pd.DataFrame(
        {
            "amount": rng.gamma(2, 50, n),
            "ordered": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), "h"),
            "note": [" ".join(rng.choice(words, 6)) for _ in range(n)],
            "country": rng.choice(["no", "dk", "se"], n),
            "new": rng.random(n) < 0.5,
            "number": np.arange(n),
        }
    )
    frame["sent"] = frame["ordered"] + pd.to_timedelta(rng.integers(1, 200, n), "h")
    score = (
        (frame["sent"] - frame["ordered"]).dt.days / 2
        + 2 * frame["note"].str.contains("refund")
        + 2 * (frame["country"] == "dk")
        + rng.normal(size=n)
    )
    frame.loc[::17, "amount"] = np.nan
    frame.loc[::19, "country"] = None
    return frame, np.where(score > np.quantile(score, 0.85), "bad", "good")


def test_columns_of_any_kind_come_back_under_their_names(orders):
    frame, y = orders
    frame = frame.drop(columns="number")
    clf = MesaClassifier(random_state=0).fit(frame, y)
    assert len(clf.member_features_) > frame.shape[1] + 3
    reasons = check_sums(clf, frame)
    assert reasons.columns == frame.columns.tolist()
    assert reasons.class_label == "bad"
    assert reasons.values[1].tolist() == frame.iloc[1].tolist()
    sizes = dict(zip(reasons.columns, reasons.mean_sizes(), strict=True))
    # The days between two dates count for both.
    assert min(sizes["sent"], sizes["ordered"], sizes["note"], sizes["country"]) > 5 * sizes["new"]
    same = explain_rows(clf, frame.iloc[:20][frame.columns[::-1]])
    np.testing.assert_allclose(same.contributions, reasons.contributions[:20], atol=1e-8)


def test_a_pipeline_and_a_stored_model_are_explained_too(orders, tmp_path):
    frame, y = orders
    model = make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0))
    model.fit(frame, y)
    reasons = check_sums(model, frame.iloc[:60])
    assert "number" not in reasons.columns
    assert set(reasons.columns) < set(frame.columns)
    save_model(model, tmp_path / "model.mesa")
    again = explain_rows(load_model(tmp_path / "model.mesa"), frame.iloc[:60])
    np.testing.assert_array_equal(again.contributions, reasons.contributions)


def test_categories_with_many_levels_are_explained(orders):
    frame, y = orders
    rng = np.random.default_rng(1)
    frame = frame[["amount", "country"]].assign(street=rng.integers(0, 150, len(y)).astype(str))
    clf = MesaClassifier(random_state=0).fit(frame, y)
    assert any(getattr(member, "recoding", None) for member in clf.estimators_)
    check_sums(clf, frame)
    check_sums(clf, frame.iloc[:9])


def test_amounts_in_currencies_count_for_their_column():
    rng = np.random.default_rng(0)
    amounts = rng.gamma(2, 500, 600).round(2)
    signs = rng.choice(["$", "€"], 600)
    frame = pd.DataFrame(
        {
            "price": [f"{sign}{amount:,.2f}" for sign, amount in zip(signs, amounts, strict=True)],
            "age": rng.integers(18, 90, 600),
        }
    )
    y = (amounts * np.where(signs == "$", 1, 2) > 2500).astype(int)
    model = make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0))
    model.fit(frame, y)
    assert len(model[0].kinds_ | model[0].derived_) == 3
    reasons = check_sums(model, frame)
    assert reasons.columns == ["price", "age"]
    assert reasons.values[0, 0] == frame["price"][0]


def test_sparse_tables_and_polars_frames_are_explained(imbalanced):
    sparse = pytest.importorskip("scipy.sparse")
    polars = pytest.importorskip("polars")
    X, y = imbalanced
    X = np.where(np.abs(X) < 0.5, 0, X)
    clf = MesaClassifier(recipe="fast", random_state=0).fit(sparse.csr_matrix(X), y)
    reasons = check_sums(clf, sparse.csr_matrix(X))
    assert reasons.values[3].tolist() == X[3].tolist()
    frame = polars.DataFrame(X, schema=[f"c{k}" for k in range(X.shape[1])])
    clf = MesaClassifier(recipe="fast", random_state=0).fit(frame, y)
    assert check_sums(clf, frame).columns == frame.columns


# ---------------------------------------------------------------------- the answer


def test_the_forms_of_reasons(orders):
    frame, y = orders
    clf = MesaClassifier(recipe="fast", random_state=0).fit(frame[["amount", "country", "new"]], y)
    reasons = explain_rows(clf, frame[["amount", "country", "new"]].iloc[:40])
    assert len(reasons) == 40
    assert repr(reasons) == "<Reasons for 'bad': 40 rows, 3 columns>"
    top = reasons.top(2)
    assert top["row"].tolist() == np.repeat(np.arange(40), 2).tolist()
    first = top.groupby("row").first()
    largest = np.abs(reasons.contributions).argmax(axis=1)
    assert first["column"].tolist() == [reasons.columns[k] for k in largest]
    assert len(reasons.top(None)) == 120
    assert reasons.frame().columns.tolist() == ["amount", "country", "new"]
    texts = reasons.texts(1)
    assert texts[5][0].startswith(f"{reasons.columns[largest[5]]}=")
    assert "missing" in reasons.texts(3)[0][1] + reasons.texts(3)[0][0] + reasons.texts(3)[0][2]
    for wrong in (0, 2.5, "3"):
        with pytest.raises(ValueError, match=f"n={wrong!r} must be a number of columns, 1 or more"):
            reasons.top(wrong)


def test_what_cannot_be_explained_is_refused_with_another_way(imbalanced):
    X, y = imbalanced
    for estimator, name in ((KNeighborsClassifier(), "KNeighbors"), (GaussianNB(), "GaussianNB")):
        clf = UnderBaggingClassifier(estimator, n_estimators=2, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match=rf"type {name}.*shap\.Explainer\(model\.predict"):
            explain_rows(clf, X[:3])
    clf = EasyEnsembleClassifier(n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"type AdaBoostClassifier"):
        explain_rows(clf, X[:3])
    for setting in ({"class_weight": "balanced"}, {"linear_trees": True}):
        ((name, value),) = setting.items()
        booster = LGBMClassifier(n_estimators=3, verbose=-1, **setting)
        clf = UnderBaggingClassifier(booster, n_estimators=2, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match=f"LightGBM's with {name}={value!r}, .* Fit without"):
            explain_rows(clf, X)
    with pytest.raises(ValueError, match="model is a GaussianNB"):
        explain_rows(GaussianNB().fit(X, y), X)
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"class_label=7 is not one of the classes \[0, 1\]"):
        explain_rows(clf, X, class_label=7)


def test_linear_leaves_are_never_taken_for_numbers(imbalanced):
    X, y = imbalanced
    booster = LGBMClassifier(n_estimators=3, linear_tree=True, verbose=-1).fit(X, y).booster_
    with pytest.raises(ValueError, match="linear_tree=True"):
        trees_of(BoostedMember(booster, 2), 2)


def test_each_row_is_explained_for_its_own_class(three_classes):
    X, y = three_classes
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    rows, labels = X[::15], clf.predict(X[::15])
    assert len(set(labels.tolist())) == 3
    found = explain_rows(clf, rows, class_label=labels)
    for label in clf.classes_:
        its = labels == label
        alone = explain_rows(clf, rows[its], class_label=label)
        np.testing.assert_allclose(found.contributions[its], alone.contributions, atol=1e-9)
        np.testing.assert_allclose(found.log_odds[its], alone.log_odds, atol=1e-9)
        np.testing.assert_allclose(found.base[its], alone.base, atol=1e-9)
    assert repr(found) == "<Reasons for classes of their own: 17 rows, 64 columns>"
    with pytest.raises(ValueError, match=r"class_label has shape \(2,\); .* each of the 17 rows"):
        explain_rows(clf, rows, class_label=[0, 1])


def test_trees_are_read_once_and_of_few_rows_not_at_all(three_classes, monkeypatch):
    X, y = three_classes
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    read = []
    monkeypatch.setattr(
        "metasampler.explain._explain_rows.trees_of",
        lambda member, *args: read.append(member) or trees_of(member, *args),
    )
    monkeypatch.setattr("metasampler.explain._explain_rows._MOST_ROWS", 300)
    monkeypatch.setattr("metasampler.explain._explain_rows._MOST_NUMBERS", 1)
    explain_rows(clf, X, class_label=clf.predict(X))
    assert sorted(map(id, read)) == sorted(map(id, clf.estimators_))
    read.clear()
    explain_rows(clf, X[:5])
    assert not any(isinstance(member, BoostedMember) for member in read)


@pytest.mark.parametrize("missing", [False, True])
def test_few_rows_and_many_have_the_same_values(missing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6)).round(1).astype(np.float32)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, 4, 400)
    member = DecisionTreeClassifier(random_state=0).fit(X, y)
    (tree,) = trees_of(member, 4, smoothing=1.0)
    many = np.zeros((4, 6, 400))
    add_tree_values(tree, tree.value, np.ascontiguousarray(X.T), many)
    for start in (0, 30):
        few = np.zeros((4, 6, 30))
        rows = np.ascontiguousarray(X[start : start + 30].T)
        add_tree_values(tree, tree.value, rows, few)
        np.testing.assert_allclose(few, many[..., start : start + 30], atol=1e-12)


def test_steps_of_a_pipeline_keep_names_and_values():
    rng = np.random.default_rng(0)
    amount, count = rng.gamma(2, 50, 600).round(2), rng.integers(0, 9, 600)
    X = pd.DataFrame({"amount": amount, "count": count, "shop": rng.choice(["a", "b"], 600)})
    y = ((amount > 150) | (count == 8)).astype(int)
    clf = MesaClassifier(recipe="fast", random_state=0)
    numbers = X[["amount", "count"]]

    scaled = make_pipeline(StandardScaler(), clf)
    reasons = check_sums(scaled.fit(numbers, y), numbers[:50])
    assert reasons.columns == ["amount", "count"]
    assert reasons.values[0].tolist() == [amount[0], count[0]]

    both = [("scale", StandardScaler(), ["amount", "count"]), ("log", _log(), ["amount"])]
    columns = ColumnTransformer([*both, ("codes", OneHotEncoder(), ["shop"])])
    for changed in (columns, clone(columns).set_output(transform="pandas")):
        if changed is not columns:
            changed.set_params(codes=OneHotEncoder(sparse_output=False))
        reasons = check_sums(make_pipeline(changed, clf).fit(X, y), X[:50])
        # Both numbers of a column count for it.
        assert reasons.columns == ["amount", "count", "codes__shop_a", "codes__shop_b"]
        assert reasons.values[0].tolist() == [
            *(amount[0], count[0]),
            *(float(X["shop"][0] == shop) for shop in ("a", "b")),
        ]

    turned = make_pipeline(StandardScaler(), PCA(2), clf).fit(numbers, y)
    assert check_sums(turned, numbers[:50]).columns == ["pca0", "pca1"]
    nameless = make_pipeline(FunctionTransformer(np.log1p), clf).fit(numbers.to_numpy(), y)
    assert check_sums(nameless, numbers.to_numpy()[:50]).columns == ["x0", "x1"]


def _log():
    return FunctionTransformer(np.log1p, feature_names_out="one-to-one")
