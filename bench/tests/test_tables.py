"""The benchmark of tables: data, forms of frames, the tuned booster, measures and reports."""

import time

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from lightgbm.basic import LightGBMError
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import average_precision_score

from metasampler_bench import METHODS, ResultStore, Runner, find_method, load_spec
from metasampler_bench._frames import FrameClassifier
from metasampler_bench._protocol import take_frames
from metasampler_bench._report import write_report
from metasampler_bench._statistics import geometric_mean, holm
from metasampler_bench._table_methods import BUDGETS, for_frames
from metasampler_bench._tuning import TunedLightGBM
from metasampler_bench.datasets import REAL_NAMES, list_datasets, load

SHORT = LGBMClassifier(n_estimators=10, min_child_samples=5, n_jobs=1, verbosity=-1)


def make_frame(n_rows=600, n_levels=8, seed=0):
    """Columns of all kinds under names that LightGBM refuses; the labels follow from them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_levels, n_rows)
    number = rng.normal(size=n_rows)
    days = rng.integers(0, 1000, n_rows)
    frame = pd.DataFrame(
        {
            'the "number"': np.where(rng.random(n_rows) < 0.1, np.nan, number),
            "count, [1]": rng.integers(0, 100, n_rows).astype("int16"),
            "{kind}": pd.Categorical.from_codes(codes, [f"level {n}" for n in range(n_levels)]),
            "when:": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D"),
            "text": np.array(["often", "rare"], dtype=object)[(codes % 2)],
        }
    )
    frame.loc[rng.random(n_rows) < 0.05, "{kind}"] = np.nan
    odds = number + (codes == 1) * 2 + days / 500 - 3.5
    return frame, (odds + rng.logistic(size=n_rows) > 0).astype(int)


@pytest.fixture
def data_home(tmp_path):
    """A data home with one of the tables, made up."""
    folder = tmp_path / "home"
    (folder / "real").mkdir(parents=True)
    frame, y = make_frame(1200)
    frame.assign(target=y.astype("int8")).to_parquet(folder / "real" / "iranian_churn.parquet")
    return folder


# ------------------------------------------------------------------ data


def test_tables_are_loaded_with_their_types(data_home):
    data = load("iranian_churn", data_home=data_home)
    assert data.source == "real"
    assert data.part is None
    assert str(data.data["{kind}"].dtype) == "category"
    assert str(data.data["count, [1]"].dtype) == "int16"
    assert data.data["when:"].dtype.kind == "M"
    assert data.data["{kind}"].isna().any()
    assert "target" not in data.data
    assert_array_equal(data.target, make_frame(1200)[1])


def test_tables_are_listed_where_they_are(data_home):
    listed = {info.name for info in list_datasets(data_home) if info.source == "real"}
    assert listed == {"iranian_churn"}
    assert len(REAL_NAMES) == 46


def test_a_table_that_is_not_there_is_named(data_home):
    with pytest.raises(FileNotFoundError, match=r"bank_card_churn\.parquet"):
        load("bank_card_churn", data_home=data_home)


def test_a_table_beyond_the_46_is_found_by_its_name(data_home):
    frame, y = make_frame(50)
    frame.assign(target=y).to_parquet(data_home / "real" / "own.parquet")
    assert load("own", data_home=data_home).data.shape == (50, 5)
    assert [i.rows for i in list_datasets(data_home) if i.name == "own"] == [None]


def test_splits_are_stratified_and_differ_by_run(data_home):
    home = str(data_home)
    X, y, X_test, y_test = take_frames("iranian_churn", 0, data_home=home)
    assert len(X) == len(y) == 900
    assert len(X_test) == len(y_test) == 300
    assert y.mean() == pytest.approx(y_test.mean(), abs=0.01)
    assert (X.dtypes == X_test.dtypes).all()
    again, other = (take_frames("iranian_churn", run, data_home=home) for run in (0, 1))
    pd.testing.assert_frame_equal(X, again[0])
    assert not X["when:"].equals(other[0]["when:"])


def test_an_array_becomes_a_frame():
    X, _, X_test, _ = take_frames("digits-8", 0)
    assert list(X.columns) == list(X_test.columns)
    assert X.shape[1] == 64


# ------------------------------------------------------------------ forms of frames


def test_lightgbm_takes_any_frame_through_the_wrapper():
    X, y = make_frame()
    with pytest.raises((LightGBMError, TypeError, ValueError)):
        clone(SHORT).fit(X, y)
    fitted = FrameClassifier(SHORT).fit(X, y)
    assert average_precision_score(y, fitted.predict_proba(X)[:, 1]) > 2 * y.mean()
    assert set(fitted.predict(X)) <= {0, 1}
    names = fitted.estimator_.booster_.feature_name()
    assert names == ["c0", "c1", "c2", "c3", "c4"]


def test_the_wrapper_gives_what_a_renamed_frame_gives():
    X, y = make_frame()
    plain = X[["count, [1]", "{kind}"]].set_axis(["c0", "c1"], axis=1)
    plain["c1"] = plain["c1"].cat.rename_categories(range(8))
    expected = clone(SHORT).fit(plain, y).predict_proba(plain)
    fitted = FrameClassifier(SHORT).fit(X[["count, [1]", "{kind}"]], y)
    assert_array_equal(fitted.predict_proba(X[["count, [1]", "{kind}"]]), expected)


def test_levels_and_texts_that_fit_did_not_see_count_as_missing():
    X, y = make_frame()
    fitted = FrameClassifier(SHORT).fit(X, y)
    new, gap = X.head(20).copy(), X.head(20).copy()
    for name in ("{kind}", "text"):
        new[name] = "never seen"
        gap[name] = None
    assert_array_equal(fitted.predict_proba(new), fitted.predict_proba(gap))


def test_the_rarest_of_too_many_levels_become_one():
    X, y = make_frame(3000, n_levels=400)
    with pytest.raises(ValueError, match="cardinality"):
        FrameClassifier(HistGradientBoostingClassifier(max_iter=2)).fit(X[["{kind}"]], y)
    fitted = FrameClassifier(HistGradientBoostingClassifier(max_iter=2), max_levels=255)
    fitted.fit(X[["{kind}"]], y)
    codes = fitted.form_(X[["{kind}"]])["c0"].cat.codes
    assert codes.max() == 254
    counts = X["{kind}"].value_counts()
    # The most frequent ones keep a number of their own.
    first = codes[X["{kind}"] == counts.index[0]]
    assert first.nunique() == 1
    assert (codes == first.iloc[0]).sum() == counts.iloc[0]


def test_columns_without_any_value_are_left_out():
    X, y = make_frame()
    empty = X.assign(nothing=np.nan)
    for model in (SHORT, HistGradientBoostingClassifier(max_iter=5, random_state=0)):
        expected = FrameClassifier(model).fit(X, y).predict_proba(X)
        assert_array_equal(FrameClassifier(model).fit(empty, y).predict_proba(empty), expected)


def test_numbers_have_no_gaps_and_come_from_training_rows():
    X, y = make_frame()
    fitted = FrameClassifier(RandomForestClassifier(5, random_state=0), takes="numbers")
    fitted.fit(X.head(300), y[:300])
    numbers = fitted.form_(X)
    # A date has several columns.
    assert numbers.shape == (len(X), X.shape[1] + 3)
    assert np.isfinite(numbers).all()
    gap = X['the "number"'].isna().to_numpy()
    assert_allclose(numbers[gap, 0], X['the "number"'].head(300).median())
    assert (numbers[X["{kind}"].isna(), 2] == -1).all()


def test_codes_name_the_columns_with_categories():
    class Told(RandomForestClassifier):
        def fit(self, X, y, cat_features=None):
            self.told_ = cat_features
            return super().fit(X.fillna(0), y)

    X, y = make_frame()
    fitted = FrameClassifier(Told(5), takes="codes").fit(X, y)
    assert fitted.estimator_.told_ == ["c2", "c4"]
    assert fitted.form_(X)["c2"].min() == -1


@pytest.mark.parametrize(
    "name",
    [
        *("mesa-fast", "lightgbm", "lightgbm-slow", "gradient-boosting", "xgboost"),
        *("random-forest", "extra-trees", "balanced-forest", "easy-ensemble", "spe-lightgbm"),
    ],
)
def test_every_method_takes_a_frame(name):
    X, y = make_frame()
    model = for_frames(name, METHODS[name].build(None, 3, 0, n_jobs=1))
    model.fit(X.head(400), y[:400])
    probability = model.predict_proba(X.tail(200))
    assert probability.shape == (200, 2)
    assert average_precision_score(y[400:], probability[:, 1]) > y.mean()


# ------------------------------------------------------------------ the tuned booster


@pytest.mark.parametrize("seconds", [0.6, 2.0])
def test_the_tuner_keeps_to_its_budget(seconds):
    X, y = make_frame(8000)
    table = FrameClassifier(SHORT).fit(X.head(50), y[:50]).form_(X)
    start = time.process_time()
    tuned = TunedLightGBM(seconds, random_state=0).fit(table, y)
    # Rounds are not divided, and a clock has its grain.
    assert time.process_time() - start == pytest.approx(seconds, rel=0.1, abs=0.1)
    assert tuned.n_trials_ >= 1
    assert tuned.booster_.num_trees() <= tuned.n_rounds_
    assert average_precision_score(y, tuned.predict_proba(table)[:, 1]) > 1.5 * y.mean()


def test_the_tuner_tries_the_defaults_first_and_others_later():
    X, y = make_frame(1000)
    table = X[['the "number"', "count, [1]"]].set_axis(["a", "b"], axis=1)
    hurried = TunedLightGBM(1e-3, random_state=0).fit(table, y)
    assert hurried.n_trials_ == 1
    assert hurried.best_params_ == {"learning_rate": 0.1}
    assert TunedLightGBM(1.0, random_state=0).fit(table, y).n_trials_ > 2
    labels = np.array(["no", "yes"])[y]
    assert set(TunedLightGBM(0.1).fit(table, labels).predict(table)) <= {"no", "yes"}


def test_the_tuner_is_for_two_classes():
    with pytest.raises(ValueError, match="3 classes"):
        TunedLightGBM(0.1).fit(np.zeros((9, 1)), np.repeat([0, 1, 2], 3))


# ------------------------------------------------------------------ the spec


def test_the_spec_has_all_tables_in_three_runs():
    jobs = load_spec("tables").jobs()
    assert {job.cell["dataset"] for job in jobs} == set(REAL_NAMES)
    assert {job.cell["run"] for job in jobs} == {0, 1, 2}
    assert {job.cell["fold"] for job in jobs} == {0}
    assert {job.kind for job in jobs} == {"tables"}
    # Methods of extras are there where these are installed.
    extras = ("catboost", "flaml", "autogluon")
    jobs = [job for job in jobs if not job.cell["method"].startswith(extras)]
    methods = {job.cell["method"] for job in jobs}
    assert len(methods) == 15
    assert len(jobs) == 46 * 3 * 15
    for name in methods:
        assert find_method(name).name == name


def run_quickly(data_home, folder, *methods):
    runner = Runner(folder, data_home=str(data_home))
    spec = load_spec("tables")
    runner.run(spec, quick=True, methods=methods)
    return spec, runner.store(spec).rows()


def test_a_quick_run_measures_and_reports(data_home, tmp_path):
    spec, rows = run_quickly(data_home, tmp_path / "results")
    assert not [row["error"] for row in rows if "error" in row]
    assert [row["cell"]["method"] for row in rows] == load_spec("tables").quick["method"]
    for row in rows:
        assert 0 < row["score"] <= 1
        assert 0.5 < row["roc_auc"] <= 1
        assert 0 < row["brier"] < 0.25
        assert 0 < row["log_loss"] < 0.7
        assert min(row["cpu"], row["wall"], row["predict_cpu"], row["predict_wall"]) > 0
        assert (row["n_rows"], row["n_features"]) == (1200, 5)
        assert row["categories"] == pytest.approx(2 / 5)
        assert 0 < row["missing"] < 0.05
        assert row["versions"]["lightgbm"]
    paths = write_report(spec, rows, tmp_path / "report")
    page = paths[0].read_text(encoding="utf-8")
    for part in ("against LightGBM", "cost, LightGBM = 1", "probabilities", "by rows"):
        assert part in page


def test_a_quick_run_without_the_tables_takes_bundled_data(tmp_path):
    (tmp_path / "empty").mkdir()
    _, rows = run_quickly(tmp_path / "empty", tmp_path / "results", "lightgbm")
    assert [row["cell"]["dataset"] for row in rows] == ["digits-8"]
    assert "error" not in rows[0]


def test_the_budget_of_the_tuned_booster_is_a_row_or_a_fit(data_home, tmp_path, monkeypatch):
    monkeypatch.setitem(BUDGETS, "lightgbm-tuned", ("mesa-fast", 1))
    _, rows = run_quickly(data_home, tmp_path, "lightgbm-tuned")
    assert rows[0]["budget_from"] == "fit"
    assert rows[0]["budget"] > 0
    (tmp_path / "tables.jsonl").unlink()
    _, rows = run_quickly(data_home, tmp_path, "mesa-fast", "lightgbm-tuned")
    own, tuned = rows
    assert (tuned["budget"], tuned["budget_from"]) == (own["cpu"], "row")


# ------------------------------------------------------------------ reports


def make_rows():
    """Six tables, on which MESA is ahead of LightGBM in all but one, at twice its cost."""
    rows = []
    for number in range(6):
        for method, gain, cpu in (
            ("mesa", 0.01 if number else -0.02, 2.0),
            ("lightgbm", 0.0, 1.0),
            ("gradient-boosting", -0.01, 1.5),
            ("lightgbm-tuned", 0.005, 2.0),
        ):
            cell = {"dataset": REAL_NAMES[number], "method": method, "run": 0, "fold": 0}
            facts = {"score": 0.5 + gain, "cpu": cpu * (number + 1), "wall": cpu, "roc_auc": 0.8}
            facts |= {"brier": 0.1 - gain / 10, "log_loss": 0.3 - gain, "predict_cpu": 0.1}
            facts |= {"n_rows": 1000 * 10**number, "n_features": 5, "categories": number / 6}
            rows.append(
                {"spec": "tables", "cell": {**cell, "split": "75:25"}, **facts, "seed": 0}
                | {"versions": {}, "commit": "1234567", "date": "2026-01-01"}
            )
    return rows


def test_reports_count_wins_costs_and_groups(tmp_path):
    write_report(load_spec("tables"), make_rows(), tmp_path)
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "| MESA, default | 5 | 1 | +0.0050 |" in page
    assert "| gradient boosting | 1.50 | 1.5 |" in page
    assert "| method | below 10,000 (1) | ahead | CPU | 10,000 to 40,000 (1) |" in page
    # Ranks stand only where a picture shows how far they differ.
    assert page.count("mean rank |") == page.count("critical-difference")
    assert "below 20% (2)" in page


def test_methods_with_fewer_splits_are_ranked_apart(tmp_path):
    rows = make_rows()
    again = [row for row in make_rows() if row["cell"]["method"] != "gradient-boosting"]
    rows += [{**row, "cell": {**row["cell"], "run": 1}} for row in again]
    write_report(load_spec("tables"), rows, tmp_path)
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "Ranks of 3 methods on 6 data sets" in page
    assert "| gradient boosting | - | - | - | 1.50 | 6 of 12 |" in page
    # On the split that all have it has a rank.
    assert "| gradient boosting | 3.83 | 0.4900 | 0 | 1.50 | 6 of 6 |" in page


def test_rows_of_the_first_minutes_make_a_report(tmp_path):
    write_report(load_spec("tables"), make_rows()[:1], tmp_path)
    write_report(load_spec("tables"), make_rows()[1:2] + make_rows()[4:5], tmp_path)


def test_holm_and_geometric_means():
    assert_allclose(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    assert geometric_mean([1, 4]) == pytest.approx(2)


def test_stored_results_make_the_page_again(tmp_path):
    store = ResultStore(tmp_path / "tables.jsonl")
    with store.open_for_writing() as append:
        append(make_rows())
    pages = []
    for folder in ("one", "two"):
        write_report(load_spec("tables"), store.rows(), tmp_path / folder)
        pages.append((tmp_path / folder / "tables.md").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
