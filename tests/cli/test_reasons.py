"""``metasampler predict --reasons``: why each row has its score."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from typer.testing import CliRunner

from metasampler import MesaClassifier, load_model, save_model
from metasampler.cli import app
from metasampler.ensemble import EasyEnsembleClassifier
from metasampler.explain import explain_rows

pytest.importorskip("pyarrow")


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reasons")
    X, y = make_classification(900, 5, n_informative=4, n_redundant=0, weights=[0.9])
    frame = pd.DataFrame(X.round(3), columns=["a", "b", "c", "=d", "e"])
    frame["kind"] = np.where(X[:, 0] > 0, "x", "y")
    frame.to_csv(folder / "rows.csv", index=False)
    model = MesaClassifier(recipe="fast", random_state=0).fit(frame, y)
    save_model(model, folder / "two.mesa")
    three = np.where(X[:, 1] > 1.2, "high", np.where(X[:, 1] < -0.7, "low", "middle"))
    save_model(model.fit(frame, three), folder / "three.mesa")
    return folder


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_reasons_are_those_of_explain_rows(folder, tmp_path, suffix):
    out = tmp_path / f"scores.{suffix}"
    code, said = run(
        *("predict", folder / "two.mesa", folder / "rows.csv", "--output", out),
        *("--reasons", 2, "--columns", "a", "--chunk-rows", 250),
    )
    assert code == 0, said
    scores = (pd.read_parquet if suffix == "parquet" else pd.read_csv)(out)
    own = ["probability", "decision", "rank", "reason_1", "reason_2"]
    assert scores.columns.tolist() == ["a", *own]
    frame = pd.read_csv(folder / "rows.csv")
    expected = explain_rows(load_model(folder / "two.mesa"), frame).texts(2)
    found = scores[["reason_1", "reason_2"]].to_numpy().tolist()
    assert found[:250] == expected[:250]
    assert all(re.fullmatch(r".+=.+ \([+-]\d+\.\d\d\)", text) for row in found for text in row)
    assert not any(name.startswith(".") for name in (each.name for each in tmp_path.iterdir()))


def test_more_reasons_than_columns_stay_empty_and_many_classes_have_their_own(folder, tmp_path):
    out = tmp_path / "scores.csv"
    code, said = run(
        *("predict", folder / "three.mesa", folder / "rows.csv", "--output", out, "--reasons", 8),
        "--escape-formulas",
    )
    assert code == 0, said
    scores = pd.read_csv(out)
    assert scores["reason_6"].notna().all()
    assert scores[["reason_7", "reason_8"]].isna().all(axis=None)
    frame, model = pd.read_csv(folder / "rows.csv"), load_model(folder / "three.mesa")
    low = scores.index[scores["decision"] == "low"]
    expected = explain_rows(model, frame.loc[low], class_label="low").texts(1)
    assert scores.loc[low, "reason_1"].tolist() == [text for (text,) in expected]
    reasons = scores.filter(like="reason").stack()
    assert reasons.str.startswith("'=d=").any()
    assert not reasons.str.startswith("=").any()


def test_what_cannot_have_reasons_is_refused_before_the_file_is_read(folder, tmp_path):
    frame = pd.read_csv(folder / "rows.csv")[["a", "b"]]
    y = (frame["a"] > 1).astype(int)
    model = make_pipeline(
        FunctionTransformer(), EasyEnsembleClassifier(n_estimators=2, random_state=0)
    )
    save_model(model.fit(frame, y), tmp_path / "easy.mesa")
    out = tmp_path / "scores.csv"
    words = ("predict", tmp_path / "easy.mesa", folder / "rows.csv", "--output", out)
    code, said = run(*words, "--reasons", 3)
    assert code == 2
    assert "--reasons" in said
    assert "AdaBoostClassifier" in said
    assert not out.exists()
    whole = pd.read_csv(folder / "rows.csv")
    whole.assign(reason_1=1).to_csv(tmp_path / "odd.csv", index=False)
    words = ("predict", folder / "two.mesa", tmp_path / "odd.csv", "--output", out)
    code, said = run(*words, "--reasons", 1, "--columns", "reason_1")
    assert code == 2
    assert "has a column 'reason_1'" in said


def test_reasons_of_a_pipeline_have_the_names_and_values_of_the_file(folder, tmp_path):
    frame = pd.read_csv(folder / "rows.csv")[["a", "b", "c"]]
    model = make_pipeline(StandardScaler(), MesaClassifier(recipe="fast", random_state=0))
    save_model(model.fit(frame, (frame["a"] > 1).astype(int)), tmp_path / "scaled.mesa")
    code, said = run(
        *("predict", tmp_path / "scaled.mesa", folder / "rows.csv", "--reasons", 1),
        *("--output", tmp_path / "scores.csv"),
    )
    assert code == 0, said
    reason = pd.read_csv(tmp_path / "scores.csv")["reason_1"]
    of_a = reason[reason.str.startswith("a=")]
    assert len(of_a) > 800
    found = of_a.str.extract(r"a=(\S+) ")[0].astype(float)
    np.testing.assert_allclose(found, frame["a"][of_a.index])
