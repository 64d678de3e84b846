"""Tables of other libraries and types: a sensible result, or an error that names the column."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from metasampler import MesaClassifier

N = 300
RNG = np.random.default_rng(0)
Y = RNG.random(N) < 0.25
FRAME = pd.DataFrame({"x": RNG.normal(size=N) + Y, "c": RNG.choice(list("abc"), N)})
DAYS = pd.period_range("2020-01-01", periods=N, freq="D")
CUT = pd.cut(FRAME["x"], 4)


def fit(X):
    return MesaClassifier.from_preset("fast", random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def expected():
    return fit(FRAME).predict_proba(FRAME)


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: pl.from_pandas(frame).lazy(),
        pa.Table.from_pandas,
        lambda frame: pa.RecordBatch.from_pandas(frame),
        lambda frame: frame.convert_dtypes(),
        lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
        lambda frame: frame.assign(x=pd.arrays.SparseArray(frame["x"])),
    ],
    ids=["lazy", "arrow", "batch", "nullable", "arrow types", "sparse"],
)
def test_other_tables_give_the_same(convert, expected):
    clf = fit(convert(FRAME))
    assert_array_equal(clf.predict_proba(convert(FRAME)), expected)
    assert_array_equal(clf.predict_proba(FRAME), expected)


def test_frames_of_dask_are_for_another_class():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(FRAME, npartitions=2)
    with pytest.raises(TypeError, match=r"X is a Dask DataFrame: use .*DaskMesaClassifier"):
        fit(frame)
    with pytest.raises(TypeError, match=r"DaskMesaClassifier, or pass X\.compute\(\)"):
        fit(FRAME).predict_proba(frame)


SECONDS = pa.array(range(N), pa.duration("s"))
KINDS = {
    "periods": (DAYS, "date"),
    "periods as objects": (pd.Series(list(DAYS), dtype=object), "date"),
    "intervals": (pd.arrays.IntervalArray(CUT.tolist()), "category"),
    "intervals as categories": (CUT, "category"),
    "intervals as objects": (pd.Series(CUT.tolist(), dtype=object), "category"),
    "no categories": (pd.Categorical([None] * N, categories=[]), "empty"),
    "no categories of Arrow": (
        pd.arrays.ArrowExtensionArray(pa.array([None] * N, pa.dictionary(pa.int8(), pa.string()))),
        "empty",
    ),
    "categories of Arrow": (
        pd.arrays.ArrowExtensionArray(pa.array(FRAME["c"].tolist()).dictionary_encode()),
        "category",
    ),
    "durations of Arrow": (pd.arrays.ArrowExtensionArray(SECONDS), "duration"),
    "days of Arrow": (
        pd.arrays.ArrowExtensionArray(pa.array([date(2020, 1, 1 + k % 28) for k in range(N)])),
        "date",
    ),
    "endless integers among texts": (
        pd.Series([10**400, *["a"] * (N - 1)], dtype=object),
        "category",
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_columns_of_other_types(name):
    values, kind = KINDS[name]
    frame = FRAME.assign(extra=values)
    clf = fit(frame)
    assert clf._form.encoder.kinds_["extra"] == kind
    assert np.isfinite(clf.predict_proba(frame[:20])).all()


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_for_which_python_has_none(unit):
    ticks = pl.Series([2**62, *range(N - 1)], dtype=pl.Int64)
    frame = pl.from_pandas(FRAME).with_columns(when=ticks.cast(pl.Datetime(unit)))
    assert np.isfinite(fit(frame).predict_proba(frame)).all()
    # Where they are an error, it shows them.
    clf = fit(FRAME.assign(when=1.0))
    with pytest.raises(ValueError, match=r"'when' held a number .* now holds a date, for instance"):
        clf.predict_proba(frame)


def test_endless_integers_are_named():
    frame = FRAME.assign(huge=pd.Series([10**400, *range(N - 1)], dtype=object))
    with pytest.raises(ValueError, match=r"X holds infinity in the columns \['huge'\]"):
        fit(frame)


@pytest.mark.parametrize("values", [DAYS, CUT])
def test_types_of_pandas_in_polars_are_named(values):
    frame = FRAME.assign(extra=values)
    clf, later = fit(frame), pl.from_pandas(frame)
    with pytest.raises(ValueError, match=r"Column 'extra' held .*, and now holds something else"):
        clf.predict_proba(later)
    with pytest.raises(ValueError, match=r"Column 'extra' holds values that are neither"):
        fit(later)


@pytest.mark.parametrize("name", [np.nan, None, pd.NA])
@pytest.mark.parametrize("numbers", [True, False])
def test_columns_without_a_name(name, numbers):
    frame = FRAME.assign(c=1.0) if numbers else FRAME.copy()
    frame.columns = ["x", name]
    with pytest.raises(ValueError, match="Column 2 of 2 has no name"):
        fit(frame)


@pytest.mark.parametrize("convert", [list, lambda rows: np.array(rows, dtype=object)])
def test_rows_with_pandas_na(convert):
    rows = [[value, pd.NA if k % 3 else 1.5] for k, value in enumerate(FRAME["x"])]
    plain = [[value, np.nan if k % 3 else 1.5] for k, value in enumerate(FRAME["x"])]
    expected = fit(plain).predict_proba(plain)
    assert_array_equal(fit(convert(rows)).predict_proba(convert(rows)), expected)


def test_columns_may_be_called_as_methods_are():
    names = ["opened", "make_rows", "read", "columns", "collect"]
    frame = pd.DataFrame(dict.fromkeys(names, FRAME["x"]))
    assert fit(frame).predict_proba(frame).shape == (N, 2)
