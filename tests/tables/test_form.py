"""The form in which members take tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from metasampler.tables import TableForm

FRAME = pd.DataFrame({"city": ["Rome", "Oslo"] * 2, "age": [31, 45, 28, 60]})


def test_frames_of_numbers_need_no_encoder():
    frame = FRAME[["age"]]
    for table in (frame, pl.from_pandas(frame), frame.to_numpy()):
        form = TableForm("numbers").fit(table)
        assert form.encoder is None
        assert form.categorical_features == []
        assert_array_equal(form(table), frame.to_numpy())


def test_other_columns_are_encoded():
    form = TableForm("float32").fit(FRAME)
    assert form.categorical_features == [0]
    table = form(FRAME)
    assert table.dtype == np.float32
    assert_array_equal(table, [[2, 31], [1, 45], [2, 28], [1, 60]])
    # The order and the library of a later table do not matter.
    later = pl.from_pandas(FRAME[["age", "city"]])
    assert form.ordered(later).columns == ["city", "age"]
    assert_array_equal(form(later), table)
    with pytest.raises(TypeError, match=r"X_val must be a data frame.*\['city'\] are encoded"):
        form(table, name="X_val")


def test_missing_numbers():
    holes = pd.DataFrame({"age": [1, np.nan], "city": ["a", None]})
    assert np.isnan(TableForm("numbers").fit(holes)(holes)).sum() == 2
    with pytest.raises(ValueError, match="NaN"):
        TableForm("numbers", allow_nan=False).fit(holes)(holes)


def test_tables_as_they_are():
    form = TableForm("as it is").fit(FRAME)
    assert form(FRAME) is FRAME
    assert form.ordered(FRAME) is FRAME
    rows = sparse.csr_array(np.eye(3))
    assert sparse.issparse(form(rows))
    with pytest.raises(ValueError, match=r"X_val has shape \(0, 2\)"):
        form(FRAME.iloc[:0], name="X_val")


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_numbers_that_are_other_things_later(library):
    form = TableForm("float32").fit(library.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}))
    holes = library.DataFrame({"a": [None, 4], "b": [None, None]})
    assert_array_equal(form(holes), [[np.nan, np.nan], [4, np.nan]])
    with pytest.raises(ValueError, match=r"'b' was read as numbers .* 20 of 20 cells .* 'x'"):
        form(library.DataFrame({"a": [1] * 20, "b": ["x"] * 20}))
    # A tenth of few cells says nothing of the others.
    with pytest.warns(UserWarning, match=r"'b' .* 1 of 1 cell .* 'x' .* It counts as missing"):
        assert_array_equal(form(library.DataFrame({"a": [1], "b": ["x"]})), [[1, np.nan]])


def test_columns_without_any_value_may_have_any_type():
    form = TableForm("numbers").fit(FRAME[["age"]])
    for kind in ("datetime64[ns]", "string", "Int64", "category", object):
        empty = pd.DataFrame({"age": pd.Series([None, None], dtype=kind)})
        assert np.isnan(form(empty)).all()


@pytest.mark.parametrize("wants", ["float32", "numbers"])
@pytest.mark.parametrize("others", [{}, {"city": ["Rome", "Oslo"]}], ids=["numbers", "mixed"])
@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_columns_with_infinity_are_named(library, others, wants):
    frame = library.DataFrame({"fine": [1.0, 2.0], "ratio": [np.inf, 1.0], **others})
    with pytest.raises(ValueError, match=r"X_val holds infinity in the columns \['ratio'\]; make"):
        TableForm(wants).fit(frame)(frame, name="X_val")


def test_numbers_that_are_too_large_for_float32():
    limit = np.finfo(np.float32).max
    rows = np.array([[1e300, 1.0], [-1e300, np.nan], [3.0, 2.0]])
    expected = np.array([[limit, 1], [-limit, np.nan], [3, 2]], dtype=np.float32)
    frame = pd.DataFrame(rows, columns=["a", "b"])
    for table in (rows, frame, pl.from_pandas(frame), frame.assign(b=[1, None, 2])):
        assert_array_equal(TableForm("float32").fit(table)(table), expected)
    assert rows[0, 0] == 1e300
    held = TableForm("float32").fit(sparse.csr_array(rows))(sparse.csr_array(rows))
    assert_array_equal(held.toarray(), expected)
    assert_array_equal(TableForm("numbers").fit(rows)(rows), rows)
    with pytest.raises(ValueError, match="infinity"):
        TableForm("float32")(np.array([[1e300, np.inf]]))


@pytest.mark.parametrize("wants", ["float32", "numbers", "as it is"])
def test_frames_without_rows_or_columns(wants):
    for empty in (FRAME[["age"]].iloc[:0], FRAME[[]]):
        with pytest.raises(ValueError, match=r"X_val has shape .* at least one row and column"):
            TableForm(wants).fit(FRAME[["age"]])(empty, name="X_val")
