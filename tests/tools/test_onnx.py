"""Ensembles in onnxruntime: the probabilities of Python, within 1e-5."""

import json

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tree_mesa import tree_mesa
from typer.testing import CliRunner

from metasampler import MesaClassifier, save_model
from metasampler.cli import app
from metasampler.ensemble import EasyEnsembleClassifier, UnderBaggingClassifier
from metasampler.export import export_onnx, to_onnx
from metasampler.tables import TableCleaner

pytest.importorskip("onnx", reason="onnx is not installed: make test-tools")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: make test-tools")


def feeds_of(X) -> dict[str, np.ndarray]:
    """Return what a service sends: a column of each name, or all numbers at once."""
    if not hasattr(X, "columns"):
        return {"X": np.asarray(X, dtype=float)}
    feeds = {}
    for name in X.columns:
        column = X[name]
        if column.dtype.kind in "ifb":
            feeds[str(name)] = column.to_numpy(float)[:, np.newaxis]
        else:
            texts = column.astype(object).where(column.notna(), "")
            feeds[str(name)] = texts.to_numpy(object)[:, np.newaxis]
    return feeds


def run(model_bytes, X) -> np.ndarray:
    session = runtime.InferenceSession(model_bytes, providers=["CPUExecutionProvider"])
    wanted = {each.name for each in session.get_inputs()}
    feeds = {name: value for name, value in feeds_of(X).items() if name in wanted}
    assert set(feeds) == wanted
    return session.run(["probabilities"], feeds)[0]


def check(model, X) -> None:
    found = run(to_onnx(model).SerializeToString(), X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-5)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 1500
    X = pd.DataFrame(
        {
            "amount": rng.gamma(2, 50, n),
            "count": rng.integers(0, 90, n),
            "new": rng.random(n) < 0.5,
            "shop": rng.choice([f"shop {k}" for k in range(40)], n),
            "kind": pd.Categorical(rng.choice(["p", "q"], n)),
            "nothing": np.full(n, np.nan),
            "order": np.arange(n),
        }
    )
    score = X["amount"] / 50 + X["shop"].isin(["shop 3", "shop 7", "shop 33"]) * 3 + X["new"]
    y = (score + rng.normal(size=n) > np.quantile(score, 0.9)).astype(int)
    X.loc[::7, "amount"] = np.nan
    X.loc[::11, ["shop", "kind"]] = None
    return X, np.where(y == 1, "fraud", "fine")


def strange(X, lowest=-1e300):
    """Return rows with levels and numbers that the fit has not seen."""
    X = X.iloc[:300].copy()
    X["shop"] = X["shop"].where(np.arange(300) % 5 > 0, "no such shop")
    X.loc[X.index[::3], "amount"] = 1e30
    X.loc[X.index[1::9], "amount"] = lowest
    X.loc[X.index[2::9], "count"] = 12_345
    return X


@pytest.mark.parametrize(
    "model",
    [
        MesaClassifier(random_state=0),
        MesaClassifier(recipe="fast", calibration=None, random_state=0),
        MesaClassifier(recipe="fast", calibration="prior", random_state=0),
        UnderBaggingClassifier(
            RandomForestClassifier(5, max_depth=6), n_estimators=3, random_state=0
        ),
        tree_mesa(None, 5, calibration="sigmoid", validation_fraction=0.3, random_state=0),
        make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0)),
    ],
    ids=["default", "no calibration", "prior", "forests", "trees", "cleaned"],
)
def test_numbers_and_categories_with_missing_values(frame, model):
    X, y = frame
    model.fit(X, y)
    check(model, X)
    # scikit-learn's forests refuse what is too large for float32.
    check(model, strange(X, -1e30 if "Forest" in repr(model) else -1e300))


def test_categories_with_many_levels(frame):
    X, y = frame
    rng = np.random.default_rng(1)
    X = X[["amount", "count"]].assign(street=rng.choice([f"street {k}" for k in range(150)], 1500))
    X.loc[::13, "street"] = None
    clf = MesaClassifier(random_state=0).fit(X, y)
    assert any(getattr(member, "recoding", None) for member in clf.estimators_)
    check(clf, X)
    X["street"] = X["street"].replace("street 3", "no such street")
    check(clf, X)


def test_a_whole_number_is_the_same_level_with_and_without_a_point():
    rng = np.random.default_rng(0)
    zips = pd.Categorical(rng.choice([1.0, 2.0, -3.0, 2.5], 800))
    X = pd.DataFrame({"amount": rng.normal(size=800), "zip": zips})
    y = (X["amount"] + 2 * (X["zip"] == 2.0) > 2).astype(int)
    clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
    as_floats = X.assign(zip=X["zip"].astype(str))
    assert {"2.0", "-3.0", "2.5"} < set(as_floats["zip"])
    found = run(to_onnx(clf).SerializeToString(), as_floats)
    np.testing.assert_allclose(found, clf.predict_proba(X), rtol=0, atol=1e-5)
    check(clf, X.assign(zip=as_floats["zip"].str.removesuffix(".0")))
    # Texts that only look similar are levels of their own.
    X["zip"] = rng.choice(["2", "2.0", "02", "x"], 800)
    y = (X["amount"] + 2 * (X["zip"] == "2.0") > 2).astype(int)
    clf.fit(X, y)
    check(clf, X)
    check(clf, X.assign(zip=X["zip"].replace("02", "02.0")))


def test_names_of_columns_are_not_those_of_values_inside(frame):
    X, y = frame
    names = {"amount": "value:0", "count": "constant:0", "shop": "_value:1"}
    X = X.rename(columns=names)
    check(MesaClassifier(recipe="fast", random_state=0).fit(X, y), X)
    for wrong in ("", "probabilities"):
        other = X.rename(columns={"value:0": wrong})
        clf = MesaClassifier(recipe="fast", random_state=0).fit(other, y)
        with pytest.raises(ValueError, match=r"None may be empty, or 'probabilities'"):
            to_onnx(clf)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["boosters", "trees", "both"])
def test_numbers_on_the_borders_of_splits_go_the_same_way(seed, kind):
    # Few different numbers, none of which float32 has exactly: every split is next to some.
    rng = np.random.default_rng(seed)
    X = rng.integers(-30, 30, (1200, 4)) / 10 + rng.choice([0, 1e-7, -1e-7], (1200, 4))
    y = (X.sum(axis=1) + rng.normal(size=1200) > 4).astype(int)
    boosters, trees = LGBMClassifier(n_estimators=20, verbose=-1), DecisionTreeClassifier()
    estimator = {"boosters": boosters, "trees": trees, "both": [boosters, trees]}[kind]
    clf = UnderBaggingClassifier(estimator, n_estimators=4, random_state=seed).fit(X, y)
    check(clf, X)
    if kind != "trees":
        X[rng.random(X.shape) < 0.2] = np.nan
        check(clf.fit(X, y), X)
        X[rng.random(X.shape) < 0.2] = 0
        check(clf, X)


@pytest.mark.parametrize("calibration", ["auto", "prior", None])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=6)])
def test_many_classes(three_classes, estimator, calibration):
    X, y = three_classes
    settings = {} if estimator is None else {"estimator": estimator}
    clf = MesaClassifier(**settings, n_estimators=6, calibration=calibration, random_state=0)
    check(clf.fit(X, y), X)


def test_a_frame_of_numbers_and_one_without_names(imbalanced):
    X, y = imbalanced
    clf = MesaClassifier(recipe="fast", random_state=0)
    check(clf.fit(X, y), X)
    named = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    check(clf.fit(named, y), named)


def test_the_file_says_what_its_columns_are(frame, tmp_path):
    X, y = frame
    model = make_pipeline(TableCleaner(), MesaClassifier(recipe="fast", random_state=0)).fit(X, y)
    save_model(model, tmp_path / "model.mesa")
    command = ["export", str(tmp_path / "model.mesa"), str(tmp_path / "model.onnx")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    np.testing.assert_allclose(
        run(str(tmp_path / "model.onnx"), X), model.predict_proba(X), rtol=0, atol=1e-5
    )
    facts = runtime.InferenceSession(str(tmp_path / "model.onnx")).get_modelmeta()
    facts = facts.custom_metadata_map
    assert json.loads(facts["classes"]) == ["fine", "fraud"]
    assert json.loads(facts["positive"]) == "fraud"
    assert float(facts["threshold"]) == model[-1].threshold_
    columns = {each["name"]: each for each in json.loads(facts["columns"])}
    assert columns["amount"] == {"name": "amount", "kind": "number"}
    assert columns["kind"] == {"name": "kind", "kind": "category", "levels": ["p", "q"]}
    assert len(columns["shop"]["levels"]) == 40
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_what_has_no_form_is_refused_by_name(frame, imbalanced, tmp_path):
    X, y = frame
    dated = X.assign(ordered=pd.Timestamp("2026-01-01") + pd.to_timedelta(X["count"], "D"))
    clf = MesaClassifier(recipe="fast", random_state=0)
    with pytest.raises(ValueError, match=r"columns \['ordered'\] hold dates, which have no form"):
        to_onnx(clf.fit(dated, y))
    save_model(clf, tmp_path / "model.mesa")
    done = CliRunner().invoke(
        app, ["export", str(tmp_path / "model.mesa"), str(tmp_path / "a.onnx")]
    )
    assert done.exit_code == 2
    assert "hold dates" in " ".join(done.output.split())
    assert not (tmp_path / "a.onnx").exists()
    empty = X[["amount", "shop"]].assign(shop=X["shop"].where(X["shop"] != "shop 1", ""))
    with pytest.raises(ValueError, match="Column 'shop' has the empty text as a level"):
        to_onnx(clf.fit(empty, y))
    X, y = imbalanced
    for estimator, name in ((GaussianNB(), "GaussianNB"), (None, "AdaBoostClassifier")):
        make = UnderBaggingClassifier if estimator else EasyEnsembleClassifier
        other = make(estimator, n_estimators=2, random_state=0).fit(X, y)
        with pytest.raises(ValueError, match=f"members are of type {name}"):
            to_onnx(other)
    with pytest.raises(ValueError, match="model is a GaussianNB"):
        export_onnx(GaussianNB().fit(X, y), tmp_path / "b.onnx")
    with pytest.raises(ValueError, match="has the steps StandardScaler, FunctionTransformer"):
        to_onnx(make_pipeline(StandardScaler(), FunctionTransformer(), clf).fit(X, y))
    zeros = LGBMClassifier(n_estimators=3, zero_as_missing=True, verbose=-1)
    other = UnderBaggingClassifier(zeros, n_estimators=2, random_state=0).fit(X.round(), y)
    with pytest.raises(ValueError, match="zero_as_missing"):
        to_onnx(other)
