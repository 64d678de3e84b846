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
