"""Drift: what has moved is named, and what has not moved is not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tree_mesa import tree_mesa

from metasampler import MesaClassifier, load_model, save_model
from metasampler.datasets import ParquetRows
from metasampler.drift import Baseline, ColumnBins, DriftMonitor
from metasampler.ensemble import UnderBaggingClassifier
from metasampler.tables import TableForm


def make_table(n_rows, seed):
    """Return a table with columns of all kinds, and its classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    frame["few"] = rng.integers(0, 4, n_rows)
    frame["skewed"] = rng.lognormal(0, 2, n_rows)
    frame["zero"] = np.where(rng.random(n_rows) < 0.95, 0.0, 1.0)
    frame["city"] = rng.choice(
        list("ABCDEFGH"), n_rows, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.03, 0.02]
    )
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), "D")
    frame.loc[rng.random(n_rows) < 0.1, "b"] = np.nan
    y = frame["a"] + frame["c"] + rng.normal(size=n_rows) > 2.4
    return frame, np.where(y, "bad", "good")


@pytest.fixture(scope="module")
def fitted():
    return MesaClassifier(recipe="fast", random_state=0).fit(*make_table(4000, 0))


def findings(report):
    return {each.name: each.finding for each in report.moved}


def test_rows_that_come_as_before_have_not_moved(fitted):
    # Each of 40 reports has any finding in one of 100 cases: with three of them something is wrong.
    reports = [fitted.drift(make_table(n, seed)[0]) for seed in range(1, 21) for n in (200, 2000)]
    assert sum(bool(report.moved) for report in reports) <= 2
    assert not any(report.scores_moved for report in reports)
    unlike = np.mean([report.unlike for report in reports])
    assert unlike <= 2 * reports[0].expected_unlike


def moved_tables():
    def change(name, values):
        return lambda frame: frame.assign(**{name: values(frame)})

    return {
        "shifted": (change("a", lambda f: f["a"] + 0.6), "a", {"moved", "moved a lot"}),
        "spread": (change("d", lambda f: 4 * f["d"]), "d", {"outside"}),
        "empty": (change("c", lambda f: np.nan), "c", {"empty"}),
        "constant": (change("skewed", lambda f: 1.5), "skewed", {"constant"}),
        "gaps": (change("d", lambda f: f["d"].where(f.index % 2 == 0)), "d", {"moved a lot"}),
        "levels": (change("city", lambda f: f["city"].replace("B", "New")), "city", {"new levels"}),
        "shares": (change("city", lambda f: f["city"].replace("A", "B")), "city", {"moved a lot"}),
        "few": (change("few", lambda f: f["few"] // 2), "few", {"moved a lot"}),
        "later": (change("when", lambda f: f["when"] + pd.Timedelta(60, "D")), "when", {"outside"}),
    }


@pytest.mark.parametrize("what", moved_tables())
def test_what_has_moved_is_named(fitted, what):
    change, name, expected = moved_tables()[what]
    report = fitted.drift(change(make_table(1500, 7)[0]))
    found = findings(report)
    # A date is named by its parts.
    assert {each.split(" (")[0] for each in found} == {name}
    assert set(found.values()) <= expected
    column = report.moved[0]
    assert name in str(report)
    assert column.why.split()[0] in str(report)
    if what == "levels":
        assert "'New'" in column.why
        assert report.unlike > 0.15
    if what == "gaps":
        assert (column.missing_before, column.missing) == (0, pytest.approx(0.5, abs=0.01))
        assert "without a value" in column.why


def test_scores_move_with_what_decides_them(fitted):
    frame = make_table(2000, 3)[0]
    still = fitted.drift(frame.assign(d=frame["d"] + 1))
    assert not still.scores_moved
    report = fitted.drift(frame.assign(a=frame["a"] + 2))
    assert report.scores_moved
    assert report.alarms > 1.5 * still.alarms
    assert "scores have moved" in str(report)


def test_few_rows_say_little(fitted):
    # A hundred times the same city is odd; twice is not.
    frame = make_table(2, 3)[0].assign(city="H")
    assert not fitted.drift(frame).moved
    assert findings(fitted.drift(make_table(100, 3)[0].assign(city="H"))) == {"city": "constant"}


@given(cuts=st.lists(st.integers(1, 299), max_size=5, unique=True))
def test_batches_say_what_one_table_says(fitted, cuts):
    frame = make_table(300, 5)[0].assign(city="Q")
    monitor = DriftMonitor(fitted)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 300], strict=True):
        monitor.add(frame.iloc[start:stop])
    report = monitor.report()
    whole = fitted.drift(frame)
    assert report.rows == whole.rows
    assert report.lines == whole.lines


def test_any_kind_of_table(tmp_path):
    frame, y = make_table(1200, 0)
    later = make_table(600, 1)[0].assign(d=40.0)
    numbers = ["a", "b", "c", "d", "few"]
    clf = MesaClassifier(recipe="fast", random_state=0)
    assert findings(clf.fit(pl.from_pandas(frame), y).drift(pl.from_pandas(later)))["d"]
    report = clf.fit(frame[numbers].to_numpy(), y).drift(later[numbers].to_numpy())
    assert set(findings(report)) == {"column 3"}
    # Members that take frames as they are, and forests, for which gaps are filled.
    own = make_pipeline(LogisticRegression())
    plain = frame[["a", "c", "d"]]
    bagging = UnderBaggingClassifier(own, n_estimators=3, random_state=0).fit(plain, y)
    assert findings(bagging.drift(later[["a", "c", "d"]])) == {"d": "constant"}
    forest = UnderBaggingClassifier(RandomForestClassifier(5), n_estimators=3, random_state=0)
    report = forest.fit(frame, y).drift(later.assign(b=np.nan))
    assert findings(report) == {"b": "empty", "d": "constant"}
    frame.drop(columns=["city", "when"]).assign(y=y == "bad").to_parquet(tmp_path / "rows.parquet")
    rows = ParquetRows(tmp_path / "rows.parquet", "y")
    assert not clf.fit(rows).drift(rows).moved


def test_sparse_rows_and_many_columns():
    X, y = make_classification(600, 300, n_informative=4, weights=[0.9], random_state=0)
    X[np.abs(X) < 1] = 0
    from scipy.sparse import csr_array

    clf = tree_mesa(n_estimators=4, random_state=0).fit(csr_array(X), y)
    report = clf.drift(csr_array(X * 9))
    assert len(report.columns) == 200
    assert len(report.moved) > 100
    assert "more columns" in str(report)


def test_a_model_file_grows_by_little_and_holds_no_rows(fitted, tmp_path):
    save_model(fitted, tmp_path / "with.mesa")
    loaded = load_model(tmp_path / "with.mesa")
    frame = make_table(500, 9)[0].assign(city="New")
    assert str(loaded.drift(frame)) == str(fitted.drift(frame))
    baseline = fitted._baseline
    kept = sum(array.nbytes for array in vars(baseline.columns).values())
    assert kept < 5000
    fitted._baseline = None
    save_model(fitted, tmp_path / "without.mesa")
    fitted._baseline = baseline
    with_it, without = ((tmp_path / f"{name}.mesa").stat().st_size for name in ("with", "without"))
    assert with_it - without < 10_000


def test_what_cannot_be_compared_is_said(fitted):
    with pytest.raises(TypeError, match="must be a fitted ensemble of metasampler"):
        DriftMonitor(LogisticRegression().fit([[0], [1]], [0, 1]))
    with pytest.raises(ValueError, match="No rows were added"):
        DriftMonitor(fitted).report()


# ---------------------------------------------------------------------------- bins


@given(
    values=st.lists(
        st.one_of(st.integers(-3, 3), st.floats(-1e9, 1e9), st.just(np.nan)),
        min_size=1,
        max_size=60,
    ),
    category=st.booleans(),
)
def test_every_row_is_in_one_bin(values, category):
    column = np.array(values, dtype=float)[:, np.newaxis]
    if category:
        column = np.abs(np.round(column)) % 30
    bins = ColumnBins.of(column, np.array([category]))
    assert bins.counts.sum() == len(values)
    assert bins.counts[-1] == np.isnan(column).sum()
    np.testing.assert_array_equal(bins.counts, bins.count(column))
    other = bins.count(np.array([[1e12], [-1e12], [np.nan]]))
    assert other.sum() == 3
    assert other[-1] == 1


def test_texts_in_an_array_are_not_described():
    form = TableForm("as it is")
    texts = np.array([["x"], ["y"]], dtype=object)
    assert Baseline.of(texts, form, None, None, lambda rows: np.zeros(len(rows))) is None


@pytest.mark.parametrize("n_rows", [30, 50, 400])
def test_few_rows_show_an_empty_and_a_constant_column(fitted, n_rows):
    frame, _ = make_table(n_rows, 5)
    found = findings(fitted.drift(frame.assign(a=np.nan, skewed=2.0)))
    assert found == {"a": "empty", "skewed": "constant"}


def test_levels_and_numbers_that_are_new_everywhere_are_named(fitted):
    frame, _ = make_table(400, 5)
    found = fitted.drift(frame.assign(city=frame["city"].str.lower(), c=99.0))
    assert findings(found) == {"city": "new levels", "c": "constant"}
    assert "same value in every row, 99, which is outside -" in str(found)
    one = fitted.drift(frame.assign(city="NEW"))
    assert findings(one) == {"city": "new levels"}
    assert "'NEW'" in str(one)
