"""Rows in files: the members are those of the same rows in memory, to the last bit."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from parted import (
    assert_same_fit,
    make_frame,
    make_hist,
    make_linear,
    write_parquet,
)
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from metasampler import MesaClassifier, ensemble
from metasampler.datasets import ParquetRows
from metasampler.large._file_tables import FileTable, FrameTable, write_table
from metasampler.large._parquet import memory_in_bytes
from metasampler.large._stacked import StackedRows, TakenRows

CASES = {
    "all defaults": (MesaClassifier(n_estimators=8), {}, None),
    "three classes": (MesaClassifier(None, 4, recipe="fast"), {"n_classes": 3}, None),
    "weights": (MesaClassifier(None, 4, recipe="fast"), {}, "weight"),
    "few rows of one class": (MesaClassifier(n_estimators=4), {"rare": 0.03}, None),
    "rows a member": (MesaClassifier(None, 4, recipe="fast", max_rows=90), {}, "weight"),
    "own trees": (MesaClassifier(DecisionTreeClassifier(max_depth=5), 5, refit=False), {}, None),
    "uniform draws": (ensemble.UnderBaggingClassifier(n_estimators=4), {}, None),
    "cascade": (ensemble.BalanceCascadeClassifier(n_estimators=4), {}, "weight"),
    "cascade, three classes": (
        ensemble.BalanceCascadeClassifier(n_estimators=4, validation_fraction=0.2, refit=True),
        {"n_classes": 3},
        None,
    ),
    "easy ensemble, encoded": (ensemble.EasyEnsembleClassifier(n_estimators=2), {}, "weight"),
    "forests": (MesaClassifier(RandomForestClassifier(10), 3), {}, None),
    "scikit-learn's boosting, encoded": (
        MesaClassifier(HistGradientBoostingClassifier(max_iter=5), 2),
        {"n_classes": 3},
        None,
    ),
    "XGBoost, encoded": (MesaClassifier(XGBClassifier(n_estimators=5), 2), {}, None),
    "neighbours, encoded": (MesaClassifier(KNeighborsClassifier(), 2), {}, None),
    "a pipeline": (MesaClassifier(make_linear(), 3), {}, "weight"),
    "scikit-learn's boosting": (MesaClassifier(make_hist(), 3), {"n_classes": 3}, None),
    "kinds in turn": (
        ensemble.SelfPacedEnsembleClassifier([make_linear(), make_hist()], 4),
        {},
        None,
    ),
    "self-paced draws": (ensemble.SelfPacedEnsembleClassifier(n_estimators=5), {}, "weight"),
    "self-paced, three classes": (
        ensemble.SelfPacedEnsembleClassifier(n_estimators=4, hardness="cross-entropy"),
        {"n_classes": 3},
        None,
    ),
}

#: Members that multiply matrices: the last bits of a row depend on how many rows are multiplied.
BY_MATRICES = ("a pipeline", "kinds in turn")


@pytest.mark.parametrize("name", CASES)
def test_rows_in_files_give_the_same_members(name, tmp_path):
    clf, options, weight = CASES[name]
    frame = make_frame(**options)
    if weight is None:
        frame = frame.drop(columns="weight")
    rows = ParquetRows(write_parquet(frame, tmp_path, 5), "label", weight=weight)
    X = frame.drop(columns=["label", "weight"], errors="ignore")
    fit_options = {} if weight is None else {"sample_weight": frame["weight"]}
    clf.set_params(random_state=0)
    in_memory = type(clf)(**clf.get_params(deep=False)).fit(X, frame["label"], **fit_options)
    in_files = type(clf)(**clf.get_params(deep=False)).fit(rows)
    if name in BY_MATRICES:
        assert_allclose(in_memory.predict_proba(X), in_files.predict_proba(rows), rtol=1e-12)
        assert_allclose(in_memory.scores_, in_files.scores_, rtol=1e-12)
    else:
        assert_array_equal(in_memory.predict_proba(X), in_files.predict_proba(rows))
        assert_array_equal(in_memory.scores_, in_files.scores_)
    pairs = zip(in_memory.estimators_samples_, in_files.estimators_samples_, strict=True)
    for one, other in pairs:
        assert_array_equal(one, other)
    if isinstance(clf, MesaClassifier) and name not in BY_MATRICES:
        assert_same_fit(in_memory, in_files, X)


def test_what_is_sampled_in_large_tables_does_not_depend_on_parts(tmp_path, monkeypatch):
    """Evaluation rows, folds, bin edges and sums follow other rules there; here all classes are."""
    for name in ("growth._data", "growth._memory", "large._partitioned"):
        monkeypatch.setattr(f"metasampler.{name}.MAX_EVALUATION_ROWS", 150)
    for name in ("growth._weights", "large._partitioned"):
        monkeypatch.setattr(f"metasampler.{name}.MANY_ROWS", 150)
    for name in ("growth._hold_out", "large._partitioned"):
        monkeypatch.setattr(f"metasampler.{name}.MAX_RANKED", 150)
    from lightgbm import LGBMClassifier

    frame = make_frame()
    rows = ParquetRows(write_parquet(frame, tmp_path, 4), "label", weight="weight")
    X = frame.drop(columns=["label", "weight"])
    booster = LGBMClassifier(n_estimators=5, subsample_for_bin=200, verbose=-1)
    for clf in (
        MesaClassifier(recipe="fast", random_state=0),
        MesaClassifier(booster, 4, random_state=0),
    ):
        in_memory = type(clf)(**clf.get_params(deep=False))
        in_memory.fit(X, frame["label"], sample_weight=frame["weight"])
        assert_same_fit(in_memory, clf.fit(rows), X)
    self_paced = ensemble.SelfPacedEnsembleClassifier(random_state=0)
    in_memory = ensemble.SelfPacedEnsembleClassifier(random_state=0)
    in_memory.fit(X, frame["label"], sample_weight=frame["weight"])
    np.testing.assert_array_equal(self_paced.fit(rows).predict_proba(X), in_memory.predict_proba(X))


@pytest.mark.parametrize(
    ("clf", "weight"),
    [
        (MesaClassifier(recipe="fast", random_state=0), None),
        (MesaClassifier(DecisionTreeClassifier(max_depth=5), 4, random_state=0), "weight"),
        (MesaClassifier(DecisionTreeClassifier(), 3, refit=True, random_state=0), None),
    ],
)
@pytest.mark.parametrize("weighs_them", [False, True])
def test_validation_rows_of_their_own(clf, weight, weighs_them, tmp_path):
    frame, other = make_frame(), make_frame(seed=1).drop(columns="weight").head(700)
    if weight is None:
        frame = frame.drop(columns="weight")
    rows = ParquetRows(write_parquet(frame, tmp_path, 4), "label", weight=weight)
    X = frame.drop(columns=["label", "weight"], errors="ignore")
    apart = {"X_val": other.drop(columns="label"), "y_val": other["label"]}
    if weighs_them:
        apart["sample_weight_val"] = np.arange(len(other)) % 4
    weights = {} if weight is None else {"sample_weight": frame["weight"]}
    in_memory = type(clf)(**clf.get_params(deep=False)).fit(X, frame["label"], **apart, **weights)
    in_files = type(clf)(**clf.get_params(deep=False)).fit(rows, **apart)
    assert_same_fit(in_memory, in_files, X)
    for one, two in zip(in_memory.estimators_samples_, in_files.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_tiny_part_of_few_rows_is_left_out(tmp_path):
    frame = make_frame(800).drop(columns="weight")
    X = frame.drop(columns="label")
    clf = MesaClassifier(recipe="fast", validation_fraction=1e-5, random_state=0)
    in_memory = type(clf)(**clf.get_params(deep=False)).fit(X, frame["label"])
    assert_same_fit(in_memory, clf.fit(write_parquet(frame, tmp_path, 3), "label"), X)


def test_a_table_in_a_file_takes_both_precisions(tmp_path):
    single, double = np.ones((2, 3), np.float32), np.full((1, 3), 0.1)
    for order in ([single, double, single], [double, single, single]):
        table = FileTable.write(tmp_path / "table", order)
        np.testing.assert_array_equal(table[:], np.concatenate(order))
        assert table.dtype == np.float64


def test_a_table_in_a_file_goes_with_its_object(tmp_path):
    table = FileTable.write(tmp_path / "table", [np.zeros((3, 2), np.float32)])
    table.remove_when_unused()
    assert table[:].shape == (3, 2)
    del table
    assert list(tmp_path.iterdir()) == []


def test_columns_that_lightgbm_bundles(tmp_path):
    """Rows that are binned as they are read are in the same bundles as those of a whole table."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, 30, 4000)
    frame = pd.DataFrame(np.eye(30)[which], columns=[f"is{k}" for k in range(30)])
    frame["x"] = rng.normal(size=4000)
    frame["label"] = (rng.random(4000) < 0.05 + 0.2 * (which < 5) + 0.1 * (frame["x"] > 1)) * 1
    rows = ParquetRows(write_parquet(frame, tmp_path, 5), "label")
    X = frame.drop(columns="label")
    in_memory = MesaClassifier(recipe="fast", random_state=0).fit(X, frame["label"])
    assert_same_fit(in_memory, MesaClassifier(recipe="fast", random_state=0).fit(rows), X)


def test_a_frame_in_a_file(tmp_path):
    frame = make_frame(70)
    blocks = [frame[:20], frame[20:50], frame[50:50], frame[50:]]
    table = write_table(tmp_path / "table", blocks)
    assert isinstance(table, FrameTable)
    assert table.shape == frame.shape
    for rows in (slice(None), slice(18, 55), np.array([0, 19, 20, 69]), np.array([], dtype=int)):
        expected = frame.iloc[rows].reset_index(drop=True)
        pd.testing.assert_frame_equal(table[rows].reset_index(drop=True), expected)
    stacked = StackedRows([frame[:20], TakenRows(table, np.arange(20, 70))])
    taken = stacked[np.array([3, 19, 20, 60])].reset_index(drop=True)
    pd.testing.assert_frame_equal(taken, frame.iloc[[3, 19, 20, 60]].reset_index(drop=True))


def test_categories_that_differ_between_parts_are_named(tmp_path):
    frame = make_frame(400).drop(columns="weight")
    for number, rows in enumerate((slice(0, 200), slice(200, 400))):
        part = frame[rows].reset_index(drop=True)
        part["kind"] = pd.Categorical(part["kind"].astype(str).replace("a", f"a{number}"))
        part.to_parquet(tmp_path / f"{number}.parquet")
    clf = ensemble.UnderBaggingClassifier(make_hist(), 2, random_state=0)
    with pytest.raises(ValueError, match="the categories of column 'kind' differ"):
        clf.fit(tmp_path, "label")


def test_a_path_and_a_name_are_enough(tmp_path):
    frame = make_frame(1500).drop(columns="weight")
    write_parquet(frame, tmp_path, 3)
    X = frame.drop(columns="label")
    clf = MesaClassifier(DecisionTreeClassifier(), 3, random_state=0).fit(tmp_path, "label")
    expected = MesaClassifier(DecisionTreeClassifier(), 3, random_state=0).fit(X, frame["label"])
    assert_same_fit(expected, clf, X)
    assert clf.feature_names_in_.tolist() == list(X.columns)
    # Columns beyond those of the fit, as that of the labels, are left out.
    np.testing.assert_array_equal(clf.predict_proba(str(tmp_path)), expected.predict_proba(X))


# ---------------------------------------------------------------------- errors


def test_errors_are_clear_and_come_first(tmp_path):
    frame = make_frame(400).drop(columns="weight")
    write_parquet(frame, tmp_path, 2)
    clf = MesaClassifier(random_state=0)
    with pytest.raises(ValueError, match="no column 'target'"):
        clf.fit(tmp_path, "target")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        clf.fit(tmp_path / "nowhere", "label")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no file that ends in \.parquet"):
        clf.fit(tmp_path / "empty", "label")
    with pytest.raises(ValueError, match=r"memory='lots' must be a number of bytes"):
        clf.fit(ParquetRows(tmp_path, "label", memory="lots"))
    with pytest.raises(ValueError, match=r"memory='10 KB' is too little for the rows of one memb"):
        clf.fit(ParquetRows(tmp_path, "label", memory="10 KB"))
    with pytest.raises(ValueError, match="y must not be passed as well"):
        clf.fit(ParquetRows(tmp_path, "label"), frame["label"])
    with pytest.raises(ValueError, match="name their column"):
        clf.fit(tmp_path, "label", sample_weight=np.ones(400))
    with pytest.raises(ValueError, match="X_val and y_val must be passed together"):
        clf.fit(tmp_path, "label", X_val=frame.drop(columns="label"))
    X = frame.drop(columns="label")
    with pytest.raises(ValueError, match="y_val has no row of class"):
        clf.fit(tmp_path, "label", X_val=X, y_val=["no"] * len(X))


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1 cut"])
def test_a_file_that_is_none_is_named(content, tmp_path):
    write_parquet(make_frame().head(400), tmp_path, 2)
    (tmp_path / "part-9.parquet").write_bytes(content)
    with pytest.raises(ValueError, match=r"part-9\.parquet cannot be read as a Parquet file: "):
        MesaClassifier().fit(tmp_path, "label")


def test_a_file_with_other_columns_is_named(tmp_path):
    write_parquet(make_frame().head(400), tmp_path, 2)
    pd.DataFrame({"other": [1.0]}).to_parquet(tmp_path / "part-9.parquet")
    with pytest.raises(ValueError, match=r"no column 'label' in .*part-9\.parquet"):
        MesaClassifier().fit(tmp_path, "label")
    with pytest.raises(ValueError, match="label must name the column of labels, got None"):
        MesaClassifier().fit(ParquetRows(tmp_path))


@pytest.mark.parametrize("value", ["heavy", None])
def test_weights_in_a_file_must_be_numbers(value, tmp_path):
    frame = make_frame().head(400)
    frame["weight"] = frame["weight"].astype(object)
    frame.loc[3, "weight"] = value
    frame["weight"] = frame["weight"].astype("string") if value else frame["weight"].astype(float)
    write_parquet(frame, tmp_path, 2)
    with pytest.raises(ValueError, match=r"(The weights|Weights).* must be (finite )?numbers"):
        MesaClassifier().fit(ParquetRows(tmp_path, "label", weight="weight"))


@pytest.mark.parametrize(
    "failing", ["_source._look_at_block", "_prepare._make_partition", "member"]
)
def test_no_file_stays_however_a_fit_ends(failing, tmp_path, monkeypatch):
    (tmp_path / "rows").mkdir()
    (tmp_path / "work").mkdir()
    write_parquet(make_frame().head(400), tmp_path / "rows", 2)
    rows = ParquetRows(tmp_path / "rows", "label", folder=tmp_path / "work")

    def fail(*arguments, **options):
        raise KeyboardInterrupt

    if failing == "member":
        monkeypatch.setattr(DecisionTreeClassifier, "fit", fail)
    else:
        monkeypatch.setattr(f"metasampler.large.{failing}", fail)
    clf = MesaClassifier(DecisionTreeClassifier(), 3)
    # The error is kept, as an interpreter keeps the last one, and with it all that it knows.
    with pytest.raises(KeyboardInterrupt) as kept:
        clf.fit(rows)
    assert list((tmp_path / "work").iterdir()) == []
    assert kept.value is not None
    assert not hasattr(clf, "estimators_")


def test_labels_that_cannot_be_learned(tmp_path):
    frame = make_frame(300).drop(columns="weight")
    frame["label"] = "same"
    frame.to_parquet(tmp_path / "one.parquet")
    with pytest.raises(ValueError, match="only one class, 'same'"):
        MesaClassifier().fit(tmp_path, "label")
    frame["label"] = pd.Series(["a", None, "b"] * 100)
    frame.to_parquet(tmp_path / "one.parquet")
    with pytest.raises(ValueError, match="Labels are missing in 'label'"):
        MesaClassifier().fit(tmp_path, "label")


@pytest.mark.parametrize(("text", "size"), [("2 GB", 2 << 30), ("1.5mb", 3 << 19), (7, 7)])
def test_memory_is_a_number_or_a_text(text, size):
    assert memory_in_bytes(text) == size
