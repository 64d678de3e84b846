"""Odd labels and parameters: clear errors, before any member is fitted."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from scipy.sparse import csr_matrix
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa

from metasampler import MesaClassifier
from metasampler.ensemble import (
    BalanceCascadeClassifier,
    EasyEnsembleClassifier,
    UnderBaggingClassifier,
)
from metasampler.growth import draw_rows


def texts(y):
    return np.where(y == 1, "rare", "common")


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda y: pd.Series(texts(y), dtype="string").mask(y == 1), ValueError, "are missing"),
        (lambda y: np.where(y == 1, None, texts(y)), ValueError, "labels are missing"),
        (lambda y: pd.Series(y, dtype="Int64").mask(y == 1), ValueError, "labels are missing"),
        (lambda y: texts(y).astype("S"), TypeError, r"bytes, for instance b'(rare|common)'"),
        (lambda y: texts(y).astype("S").astype(object), TypeError, "y holds bytes"),
    ],
    ids=["string with NA", "None", "Int64 with NA", "bytes", "bytes as objects"],
)
@pytest.mark.parametrize("Ensemble", [MesaClassifier, tree_mesa, UnderBaggingClassifier])
def test_labels(imbalanced, Ensemble, make, error, words):
    X, y = imbalanced
    with pytest.raises(error, match=words):
        Ensemble().fit(X, make(y))


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        ("n_jobs", 0, "'n_jobs' parameter"),
        ("sampling_ratio", 1e300, "'sampling_ratio' parameter"),
        ("sampling_ratio", 10**400, "'sampling_ratio' parameter"),
        ("threshold", 10**400, "threshold must be"),
        ("threshold", ("cost", 10**400, 1), "threshold must be"),
    ],
)
@pytest.mark.parametrize("Ensemble", [MesaClassifier, tree_mesa, UnderBaggingClassifier])
def test_parameters(imbalanced, Ensemble, parameter, value, words):
    with pytest.raises(ValueError, match=words) as caught:
        Ensemble(**{parameter: value}).fit(*imbalanced)
    assert len(str(caught.value)) < 500 or parameter == "sampling_ratio"


def test_a_large_sampling_ratio_is_told_in_few_digits(imbalanced):
    with pytest.warns(UserWarning, match=r"asks for \S{5,12} rows of each larger class"):
        UnderBaggingClassifier(n_estimators=1, sampling_ratio=1e12).fit(*imbalanced)


@pytest.mark.parametrize("costs", [(1e308, 1e308), (5e-324, 5e-324), (10**300, 10**300)])
def test_only_the_ratio_of_costs_counts(imbalanced, costs):
    X, y = imbalanced
    options = {"validation_fraction": 0.2, "n_estimators": 3, "random_state": 0}
    clf = UnderBaggingClassifier(threshold=("cost", *costs), **options).fit(X, y)
    plain = UnderBaggingClassifier(threshold=("cost", 1, 1), **options).fit(X, y)
    assert clf.threshold_ == plain.threshold_


def test_a_tiny_validation_fraction_of_teams(imbalanced_for_teams):
    X, y = imbalanced_for_teams
    clf = MesaClassifier(recipe="fast", validation_fraction=1e-300, random_state=0).fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()


@pytest.fixture
def imbalanced_for_teams():
    rng = np.random.default_rng(0)
    y = (np.arange(1100) % 5 == 0).astype(int)
    return rng.normal(size=(1100, 3)) + y[:, np.newaxis], y


# In a process of its own: what fails here ends the interpreter.
POLARS = """
import numpy as np, polars as pl
from lightgbm import LGBMClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from metasampler import MesaClassifier

rng = np.random.default_rng(0)
y = np.arange(400) % 5 == 0
frame = pl.DataFrame({"text": rng.choice(["a", "b"], 400), "day": [None, *range(399)]})
frame = frame.with_columns(
    pl.col("day").cast(pl.Date), kind=pl.col("text").cast(pl.Categorical), x=pl.Series(y * 1.0)
)
plain = {"n_estimators": 3, "verbose": -1}
for booster in (
    LGBMClassifier(**plain),
    LGBMClassifier(**plain, class_weight="balanced"),
    LGBMClassifier(**plain, objective="binary"),
    LGBMClassifier(**plain, linear_tree=True),
):
    for columns in (["x"], frame.columns):
        clf = MesaClassifier(booster, 2, meta_sampler=0.9, random_state=0)
        clf.fit(frame[columns], y)
        assert np.isfinite(clf.predict_proba(frame[columns])).all()
    passed_on = make_pipeline(FunctionTransformer(), booster)
    try:
        MesaClassifier(passed_on, 2, meta_sampler=0.9).fit(frame, y)
    except TypeError as error:
        assert "LightGBM ends the interpreter" in str(error)
    else:
        raise AssertionError("a pipeline passed a frame with texts on")
    votes = VotingClassifier([("a", booster), ("b", booster)], voting="soft")
    clf = MesaClassifier(votes, 2, meta_sampler=0.9).fit(frame, y)
    assert np.isfinite(clf.predict_proba(frame)).all()
    encoded = make_pipeline(FunctionTransformer(lambda X: X.select("x")), booster)
    MesaClassifier(encoded, 2, meta_sampler=0.9).fit(frame, y).predict(frame)
print("alive")
"""


def test_lightgbm_never_gets_texts_of_polars():
    pytest.importorskip("polars")
    command = [sys.executable, "-W", "ignore", "-c", POLARS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("alive"), done.stderr[-2000:]


@pytest.mark.parametrize("scoring", ["roc_auc", "f1"])
def test_a_scorer_for_two_classes_is_refused_before_any_fit(scoring):
    X, y = np.arange(90.0).reshape(45, 2), np.arange(45) % 3
    clf = UnderBaggingClassifier(scoring=scoring, validation_fraction=0.3)
    with pytest.raises(ValueError, match=f"scoring='{scoring}' cannot score 3 classes"):
        clf.fit(X, y)


def test_infinities_of_both_signs_are_named_without_another_warning(imbalanced):
    X, y = imbalanced
    X = X.copy()
    X[:2, 0] = np.inf, -np.inf
    with pytest.raises(ValueError, match="infinity"):
        UnderBaggingClassifier().fit(X, y)


def test_numbers_that_have_no_sum(imbalanced):
    _, y = imbalanced
    X = np.random.default_rng(0).choice([1.7e308, -1.7e308, 1e39, 0.0], (len(y), 2))
    for table in (X, csr_matrix(X), np.where(X == 0, np.nan, X)):
        clf = UnderBaggingClassifier(n_estimators=3, random_state=0).fit(table, y)
        assert np.isfinite(clf.predict_proba(table)).all()


def test_one_member_may_be_called_true(imbalanced):
    X, y = imbalanced
    clf = BalanceCascadeClassifier(n_estimators=True, sampling_ratio=100.0)
    with pytest.warns(UserWarning, match="all of its rows are taken"):
        assert len(clf.fit(X, y).estimators_) == 1


def test_teams_take_sparse_tables(imbalanced_for_teams):
    X, y = imbalanced_for_teams
    clf = MesaClassifier(n_estimators=4, random_state=0).fit(csr_matrix(np.maximum(X, 0)), y)
    assert clf.signal_ is not None
    assert np.isfinite(clf.predict_proba(csr_matrix(X))).all()


@pytest.mark.parametrize(
    "weights",
    [
        lambda n: np.array(["a"] * n),
        lambda n: np.array(["a"] * n, dtype=object),
        lambda n: pl.Series(["a"] * n),
        lambda n: np.ones(n) + 1j,
        lambda n: {},
        lambda n: np.nan,
        lambda n: np.inf,
    ],
)
def test_weights_that_are_no_numbers_are_named(imbalanced, weights):
    X, y = imbalanced
    with pytest.raises(ValueError, match="sample_weight must "):
        UnderBaggingClassifier().fit(X, y, sample_weight=weights(len(y)))


@pytest.fixture(params=["memory", "a file"])
def fit(request, imbalanced, tmp_path):
    """Return what fits a classifier, on rows in memory or in a file."""
    X, y = imbalanced

    def of_a_file(classifier):
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        frame.assign(y=y).to_parquet(tmp_path / "rows.parquet", index=False)
        return classifier.fit(tmp_path / "rows.parquet", "y")

    return of_a_file if request.param == "a file" else lambda clf: clf.fit(X, y)


@pytest.mark.parametrize("fraction", [None, 0.2])
def test_a_scoring_that_there_is_not_is_refused_also_if_nothing_is_scored(fit, fraction):
    trees = MesaClassifier(
        DecisionTreeClassifier(), 2, scoring="nonsense", validation_fraction=fraction
    )
    with pytest.raises(ValueError, match="scoring='nonsense' is not a scorer"):
        fit(trees)


@pytest.mark.parametrize("Ensemble", [MesaClassifier, tree_mesa, UnderBaggingClassifier])
def test_a_fit_without_an_end_is_refused(fit, Ensemble):
    with pytest.raises(
        ValueError, match=r"'n_estimators' parameter .* in the range \[1, 1000000\]"
    ):
        fit(Ensemble(n_estimators=10**30))


@pytest.mark.parametrize(
    ("name", "value", "its_name"),
    [
        ("num_leaves", 1, "num_leaves"),
        ("min_child_samples", 2.5, "min_data_in_leaf"),
        ("max_bin", 1, "max_bin"),
        ("reg_alpha", -1.0, "lambda_l1"),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_what_lightgbm_refuses_names_estimator_and_parameter(fit, name, value, its_name, own):
    booster = LGBMClassifier(n_estimators=3, verbose=-1, **{name: value})
    if not own:
        booster = make_pipeline(StandardScaler(), booster)
    with pytest.raises(ValueError, match=rf"(?s){name}={value}.* cannot be fitted\. .*{its_name}"):
        fit(MesaClassifier(booster, 2))


@pytest.mark.parametrize("in_a_file", [False, True])
def test_an_ensemble_that_cannot_tell_classes_apart_says_so(in_a_file, tmp_path):
    frame = pd.DataFrame({"a": np.zeros(60), "y": np.repeat([0, 1], [40, 20])})
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    rows = (tmp_path / "rows.parquet", "y") if in_a_file else (frame[["a"]], frame["y"])
    with pytest.raises(ValueError, match="its first member is no better than chance"):
        EasyEnsembleClassifier(random_state=0).fit(*rows)


def test_a_scorer_that_needs_a_decision_function_is_told_what_there_is(fit):
    scorer = make_scorer(roc_auc_score, response_method="decision_function")
    with pytest.raises(ValueError, match="asks for more than `predict_proba`") as caught:
        fit(MesaClassifier(DecisionTreeClassifier(), 2, scoring=scorer, validation_fraction=0.2))
    assert "_Given" not in str(caught.value)


class DrawsNothing(UnderBaggingClassifier):
    """An ensemble whose own rule has weights that are not numbers."""

    def _make_policy(self, plan, data):
        return lambda growth: NothingRule()


class NothingRule:
    """Keys divided by zero."""

    def __call__(self, candidates, size):
        with np.errstate(all="ignore"):
            return draw_rows(candidates.keys / 0 * 0, size)


def test_a_rule_that_draws_nothing_is_named(fit):
    with pytest.raises(ValueError, match=r"rule NothingRule must return .* it returned .* \(0,\)"):
        fit(DrawsNothing(n_estimators=3))


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda X, y: UnderBaggingClassifier().fit(X, y, X_val=X, y_val=y), "X_val is X itself"),
        (lambda X, y: tree_mesa(n_estimators=2).fit(X, y, X_val=X, y_val=y), "X_val is X itself"),
        (lambda X, y: UnderBaggingClassifier(sampling_ratio=1e6).fit(X, y), "sampling_ratio="),
        (
            lambda X, y: UnderBaggingClassifier(KNeighborsClassifier()).fit(X, y, np.ones(len(y))),
            "takes no sample_weight",
        ),
        (
            lambda X, y: tree_mesa(n_estimators=2, threshold=("recall", 0.9999)).fit(X, y),
            "too few",
        ),
    ],
    ids=["X_val", "X_val of MESA", "ratio", "weights", "recall"],
)
def test_warnings_point_at_the_users_own_line(imbalanced, fit, words):
    with pytest.warns(UserWarning, match=words) as found:
        fit(*imbalanced)
    assert {each.filename for each in found} == {__file__}
