"""Any classes, any frames, any base estimator; and clear words about what cannot be used."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import make_scorer, matthews_corrcoef, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa
from xgboost import XGBClassifier

from metasampler import MetaSampler

LEARNERS = [
    DecisionTreeClassifier(),
    KNeighborsClassifier(),
    GaussianNB(),
    AdaBoostClassifier(n_estimators=10),
    GradientBoostingClassifier(n_estimators=10),
    HistGradientBoostingClassifier(max_iter=10),
    make_pipeline(StandardScaler(), LogisticRegression()),
    LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1),
    XGBClassifier(n_estimators=10, n_jobs=1),
]
NAMES = [type(estimator).__name__ for estimator in LEARNERS]


@pytest.mark.parametrize("estimator", LEARNERS, ids=NAMES)
@pytest.mark.parametrize("data", ["imbalanced", "three_classes"])
def test_base_estimators(estimator, data, request):
    X, y = request.getfixturevalue(data)
    clf = tree_mesa(estimator, n_estimators=3, random_state=0).fit(X, y)
    proba = clf.predict_proba(X)
    assert proba.shape == (len(y), len(np.unique(y)))
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-6)
    assert np.mean(clf.predict(X) == y) > 0.6
    again = tree_mesa(estimator, n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(proba, again.predict_proba(X))


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["often", "rare"]),
        np.array(["z-often", "a-rare"]),
        np.array(["often", "rare"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1]),
        np.array([1, -1]),
        np.array([0.0, 1.0]),
        np.array([7, 3]),
    ],
    ids=str,
)
def test_labels_of_any_type(imbalanced, labels):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=10, random_state=0).fit(X, labels[y])
    reference = tree_mesa(n_estimators=10, random_state=0).fit(X, y)
    assert clf.minority_class_ == labels[1]
    column = list(clf.classes_).index(labels[1])
    # Members see class numbers: where the order of the labels turns, trees break ties otherwise.
    if column == 1:
        np.testing.assert_array_equal(clf.predict_proba(X), reference.predict_proba(X))
        np.testing.assert_array_equal(clf.scores_, reference.scores_)
        np.testing.assert_array_equal(clf.predict(X), labels[reference.predict(X)])
    assert clf.scores_[-1] == pytest.approx(reference.scores_[-1], abs=0.2)
    for rows in clf.estimators_samples_:
        assert np.mean(y[rows]) == 0.5


def test_pandas_labels(imbalanced):
    X, y = imbalanced
    series = pd.Series(np.where(y == 1, "rare", "often"), dtype="category", index=range(5, 605))
    clf = tree_mesa(n_estimators=10, random_state=0).fit(X, series)
    assert list(clf.classes_) == ["often", "rare"]


def test_samples_of_many_classes_grow_with_the_root_of_the_class(three_classes):
    X, y = three_classes
    clf = tree_mesa(n_estimators=10, refit=False, random_state=0).fit(X, y)
    assert clf.minority_class_ == "one"
    # Four fifths of each class may be drawn from.
    n_seen = {label: 0.8 * np.sum(y == label) for label in ("zero", "one", "two")}
    for rows in clf.estimators_samples_:
        for label, n_label in n_seen.items():
            n_drawn = round(np.sqrt(n_seen["one"] * n_label))
            assert np.sum(y[rows] == label) == n_drawn
    assert np.mean(clf.predict(X) == y) > 0.9


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss", "balanced_accuracy"])
def test_scorers_by_name(imbalanced, scoring):
    X, y = imbalanced
    clf = tree_mesa(n_estimators=3, scoring=scoring, random_state=0)
    clf.fit(X, np.where(y == 1, "a rare one", "often"))
    assert np.isfinite(clf.scores_).all()


def test_scorer_as_a_callable(imbalanced):
    X, y = imbalanced
    scorer = make_scorer(matthews_corrcoef)
    clf = tree_mesa(n_estimators=3, scoring=scorer, calibration=None, random_state=0)
    clf.fit(X, y, X_val=X.copy(), y_val=y)
    assert clf.scores_[-1] == pytest.approx(matthews_corrcoef(y, clf.predict(X)))


# ---------------------------------------------------------------------------- frames


def mixed_frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 10 == 0).astype(int)
    amount = rng.normal(size=n) + y
    amount[::17] = np.nan
    kind = np.where(rng.random(n) < 0.2 + 0.6 * y, "web", "shop")
    return pd.DataFrame({"amount": amount, "kind": pd.Categorical(kind)}), y


@pytest.mark.parametrize(
    "estimator",
    [
        HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype"),
        LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1),
    ],
    ids=["HistGradientBoosting", "LightGBM"],
)
def test_categories_and_missing_values_reach_the_members(estimator):
    X, y = mixed_frame()
    seen = []

    class Spy(type(estimator)):
        def fit(self, X, y, **options):
            seen.append(X)
            return super().fit(X, y, **options)

    spy = Spy(**estimator.get_params())
    clf = tree_mesa(spy, n_estimators=3, refit=False, random_state=0).fit(X, y)
    assert list(clf.feature_names_in_) == ["amount", "kind"]
    assert clf.predict_proba(X).shape == (400, 2)
    assert len(seen) == 3
    for frame in seen:
        assert isinstance(frame["kind"].dtype, pd.CategoricalDtype)
        assert frame["amount"].isna().any()


def test_polars_frames_pass_through_a_pipeline():
    X, y = mixed_frame()
    X = pl.DataFrame({"amount": X["amount"].to_numpy(), "kind": X["kind"].astype(str).to_list()})
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["kind"]), remainder="passthrough"
    )
    estimator = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=10))
    clf = tree_mesa(estimator, n_estimators=3, random_state=0).fit(X, y)
    assert list(clf.feature_names_in_) == ["amount", "kind"]
    assert clf.predict_proba(X).shape == (400, 2)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, np.asarray, list])
def test_the_container_makes_no_difference_to_trees(imbalanced, container):
    X, y = imbalanced
    reference = tree_mesa(n_estimators=10, random_state=0).fit(X, y).predict_proba(X)
    if container in (pd.DataFrame, pl.DataFrame):
        table = container({f"c{j}": X[:, j] for j in range(X.shape[1])})
    else:
        table = container(X)
    clf = tree_mesa(n_estimators=10, random_state=0).fit(table, y)
    np.testing.assert_array_equal(clf.predict_proba(table), reference)


@pytest.mark.parametrize("estimator", [None, LogisticRegression()], ids=["tree", "linear"])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows(imbalanced, estimator, form):
    X, y = imbalanced
    X = np.where(np.abs(X) < 0.7, 0, X)
    dense = tree_mesa(estimator, n_estimators=4, random_state=0).fit(X, y)
    clf = tree_mesa(estimator, n_estimators=4, random_state=0).fit(form(X), y)
    np.testing.assert_allclose(clf.predict_proba(form(X)), dense.predict_proba(X), atol=1e-6)


def test_missing_values_with_trees(imbalanced):
    X, y = imbalanced
    X = X.copy()
    X[::5, 2] = np.nan
    clf = tree_mesa(n_estimators=10, random_state=0).fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()


def test_rows_are_not_copied_once_a_member(imbalanced):
    # Members are fitted on small subsets and score the user's own rows, not copies of them.
    X, y = imbalanced
    sizes, scored = [], []

    class Spy(GaussianNB):
        def fit(self, X, y):
            sizes.append(len(X))
            return super().fit(X, y)

        def predict_proba(self, rows):
            scored.append((np.shares_memory(rows, X), len(rows)))
            return super().predict_proba(rows)

    tree_mesa(Spy(), n_estimators=3, refit=False, random_state=0).fit(X, y)
    assert max(sizes) == 2 * round(0.8 * np.sum(y == 1))
    assert scored[:3] == [(True, len(X))] * 3
    # Later ones are answers to a few of the rows, with which new rows are compared.
    assert all(n_rows < len(X) for _, n_rows in scored[3:])
    assert len(scored) == 6


# ---------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_estimators": 0}, ValueError, "n_estimators"),
        ({"sampling_ratio": 0}, ValueError, "sampling_ratio"),
        ({"validation_fraction": 1.0}, ValueError, "validation_fraction"),
        ({"meta_sampler": 1.5}, ValueError, r"meta_sampler .* \[0, 1\], got 1.5"),
        ({"meta_sampler": np.ones(3)}, TypeError, "meta_sampler must be"),
        ({"meta_sampler": True}, TypeError, "meta_sampler must be"),
        ({"meta_sampler": [0.5]}, TypeError, "meta_sampler must be"),
        ({"meta_sampler": "no-such-sampler"}, FileNotFoundError, "no-such-sampler"),
        ({"estimator": DecisionTreeClassifier}, TypeError, r"DecisionTreeClassifier\(\)"),
        ({"estimator": Perceptron()}, TypeError, "predict_proba"),
        ({"scoring": "no_such_score"}, ValueError, "no_such_score"),
    ],
)
def test_bad_parameters(imbalanced, options, error, words):
    with pytest.raises(error, match=words):
        tree_mesa(**options).fit(*imbalanced)


def test_one_class_only(imbalanced):
    X, _ = imbalanced
    with pytest.raises(ValueError, match="only one class, 'same'"):
        tree_mesa().fit(X, ["same"] * len(X))


@pytest.mark.filterwarnings("ignore:.* classes have fewer than 10 rows")
def test_a_class_of_one_row(imbalanced):
    X, y = imbalanced
    y = np.where(np.arange(len(y)) == 3, 2, y)
    for given in (0.9, "fit", MetaSampler()):
        with pytest.raises(ValueError, match=r"Class 2 has .* 1 row"):
            tree_mesa(meta_sampler=given).fit(X, y)
    # With validation rows of their own there is nothing to hold out.
    clf = tree_mesa(n_estimators=2, random_state=0).fit(X, y, X_val=X.copy(), y_val=y)
    counts = np.unique(y[clf.estimators_samples_[0]], return_counts=True)[1]
    assert counts.tolist() == np.rint(np.sqrt(np.bincount(y))).tolist()


def test_labels_that_do_not_compare(imbalanced):
    X, y = imbalanced
    labels = np.array(["a", 1], dtype=object)[y]
    with pytest.raises(ValueError, match="y must hold labels of one type, got int, str"):
        tree_mesa().fit(X, labels)


def test_an_unknown_scorer_is_found_before_any_fit(imbalanced):
    class Never(GaussianNB):
        def fit(self, X, y):
            raise AssertionError("a member was fitted")

    with pytest.raises(ValueError, match="no_such_score"):
        tree_mesa(Never(), scoring="no_such_score").fit(*imbalanced)


def test_labels_of_another_length(imbalanced):
    X, y = imbalanced
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        tree_mesa().fit(X, y[:-1])


def test_continuous_target(imbalanced):
    X, _ = imbalanced
    with pytest.raises(ValueError, match="continuous"):
        tree_mesa().fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X[:, :5], y), "X_val"),
        (lambda X, y: (X, y + 1), r"y_val has classes that y does not have: \[.*2"),
        (lambda X, y: (X, y.astype(str)), "y_val has classes that y does not have"),
        (lambda X, y: (X[y == 0], y[y == 0]), r"y_val has no row of class \[.*1"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, None), "X_val and y_val must be passed together"),
    ],
)
def test_bad_validation_rows(imbalanced, change, words):
    X, y = imbalanced
    X_val, y_val = change(X.copy(), y)
    with pytest.raises(ValueError, match=words):
        tree_mesa().fit(X, y, X_val=X_val, y_val=y_val)


def test_validation_frames_with_other_columns(imbalanced):
    X, y = imbalanced
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    with pytest.raises(ValueError, match=r"X_val lacks columns that X has: \['a'\]"):
        tree_mesa().fit(frame, y, X_val=frame.rename(columns={"a": "z"}), y_val=y)


def test_scores_that_are_no_number(imbalanced):
    X, y = imbalanced
    with pytest.raises(ValueError, match="gives nan on the valid rows after 1 members"):
        tree_mesa(scoring=lambda clf, X, y: float("nan")).fit(X, y)


def test_words_in_a_table_for_trees(imbalanced):
    X, y = imbalanced
    frame = pd.DataFrame(X).assign(kind=np.where(y, "web", "shop"))
    frame.columns = frame.columns.astype(str)
    clf = tree_mesa(n_estimators=5, random_state=0).fit(frame, y)
    assert roc_auc_score(y, clf.predict_proba(frame)[:, 1]) == 1
    with pytest.raises(ValueError, match=r"Column 'kind' holds values that are neither"):
        tree_mesa().fit(frame.assign(kind=[["web"]] * len(y)), y)
