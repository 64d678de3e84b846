"""Columns of any kind become numbers, the same ones for pandas and for polars."""

import pickle
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError

from metasampler.tables import TableEncoder, as_table, unread_cells

NAN = np.nan


def encode(frame, **options):
    encoder = TableEncoder(**options).fit(frame)
    (kind,) = encoder.kinds_.values()
    return kind, encoder.transform(frame)[:, 0]


def pandas_column(values, dtype=None):
    return pd.DataFrame({"x": pd.Series(values, dtype=dtype)})


def polars_column(values, dtype=None):
    return pl.DataFrame({"x": pl.Series(values, dtype=dtype)})


COLUMNS = {
    "integers": (pandas_column([3, 1, 2]), polars_column([3, 1, 2]), "number", [3, 1, 2]),
    "small integers": (
        pandas_column([3, 1, 255], "uint8"),
        polars_column([3, 1, 255], pl.UInt8),
        "number",
        [3, 1, 255],
    ),
    "floats": (
        pandas_column([0.5, NAN, -1e300]),
        polars_column([0.5, None, -1e300]),
        "number",
        [0.5, NAN, -1e300],
    ),
    "floats, NaN": (
        pandas_column([0.5, NAN, 2], "float32"),
        polars_column([0.5, NAN, 2.0], pl.Float32),
        "number",
        [0.5, NAN, 2],
    ),
    "booleans": (
        pandas_column([True, False, True]),
        polars_column([True, False, True]),
        "number",
        [1, 0, 1],
    ),
    "nullable integers": (
        pandas_column([1, None, 3], "Int64"),
        polars_column([1, None, 3]),
        "number",
        [1, NAN, 3],
    ),
    "nullable booleans": (
        pandas_column([True, None, False], "boolean"),
        polars_column([True, None, False]),
        "number",
        [1, NAN, 0],
    ),
    "numbers as objects": (
        pandas_column([1, None, 2.5], object),
        polars_column([1, None, 2.5], pl.Object),
        "number",
        [1, NAN, 2.5],
    ),
    "decimals": (
        pandas_column([Decimal("1.5"), None, Decimal(2)]),
        polars_column([Decimal("1.5"), None, Decimal(2)]),
        "number",
        [1.5, NAN, 2],
    ),
    "decimals, NaN": (
        pandas_column([Decimal("1.5"), Decimal("NaN"), None]),
        polars_column([1.5, NAN, None]),
        "number",
        [1.5, NAN, NAN],
    ),
    "endless integers": (
        pandas_column([10**400, -(10**400), None], object),
        polars_column([np.inf, -np.inf, None]),
        "number",
        [np.inf, -np.inf, NAN],
    ),
    "small floats among texts": (
        pandas_column(["a", np.float32("nan"), "a"], object),
        polars_column(["a", None, "a"]),
        "category",
        [1, NAN, 1],
    ),
    "texts": (
        pandas_column(["b", "a", None, "b", "a"]),
        polars_column(["b", "a", None, "b", "a"]),
        "category",
        [2, 1, NAN, 2, 1],
    ),
    "nullable texts": (
        pandas_column(["b", "a", None, "b", "a"], "string"),
        polars_column(["b", "a", None, "b", "a"]),
        "category",
        [2, 1, NAN, 2, 1],
    ),
    "texts as objects": (
        pandas_column(["b", "a", None, "b", "a"], object),
        polars_column(["b", "a", None, "b", "a"], pl.Object),
        "category",
        [2, 1, NAN, 2, 1],
    ),
    "categories": (
        pandas_column(["b", "a", None, "b", "a"], "category"),
        polars_column(["b", "a", None, "b", "a"], pl.Categorical),
        "category",
        [2, 1, NAN, 2, 1],
    ),
    "ordered categories": (
        pandas_column(["lo", "hi", None] * 2, pd.CategoricalDtype(["lo", "hi", "no"], True)),
        polars_column(["lo", "hi", None] * 2, pl.Enum(["lo", "hi", "no"])),
        "category",
        [2, 1, NAN, 2, 1, NAN],
    ),
    "mixed": (
        pandas_column([1, "a", None, 1.0, "a", True], object),
        polars_column([1, "a", None, 1.0, "a", True], pl.Object),
        "category",
        [1, 2, NAN, 1, 2, 0],
    ),
    "bytes": (
        pandas_column([b"\xff", b"a", None, b"\xff", b"a"]),
        polars_column([b"\xff", b"a", None, b"\xff", b"a"]),
        "category",
        [2, 1, NAN, 2, 1],
    ),
    "dates": (
        pandas_column([date(1970, 1, 3), None, date(1969, 12, 31)]),
        polars_column([date(1970, 1, 3), None, date(1969, 12, 31)]),
        "date",
        [2, NAN, -1],
    ),
    "moments": (
        pandas_column([datetime(1970, 1, 2, 12), None, datetime(1970, 1, 1)]),
        polars_column([datetime(1970, 1, 2, 12), None, datetime(1970, 1, 1)]),
        "date",
        [1.5, NAN, 0],
    ),
    "moments of a time zone": (
        pandas_column(pd.to_datetime(["2020-07-01 02:00", None]).tz_localize("Europe/Rome")),
        polars_column([datetime(2020, 7, 1, 2), None]).with_columns(
            pl.col("x").dt.replace_time_zone("Europe/Rome")
        ),
        "date",
        [18444, NAN],
    ),
    "moments as objects": (
        pandas_column([datetime(1970, 1, 2, 12, tzinfo=UTC), None, pd.NaT], object),
        polars_column([datetime(1970, 1, 2, 12), None, None], pl.Datetime("ns")),
        "date",
        [1.5, NAN, NAN],
    ),
    "durations": (
        pandas_column([timedelta(hours=36), None]),
        polars_column([timedelta(hours=36), None]),
        "duration",
        [1.5, NAN],
    ),
    "durations as objects": (
        pandas_column([timedelta(hours=36), None], object),
        polars_column([timedelta(hours=36), None], pl.Duration("ms")),
        "duration",
        [1.5, NAN],
    ),
    "periods": (
        pandas_column(pd.PeriodIndex(["1970-02", None], freq="M")),
        polars_column([date(1970, 2, 1), None]),
        "date",
        [31, NAN],
    ),
    "times of day": (
        pandas_column([time(18), None]),
        polars_column([time(18), None]),
        "duration",
        [0.75, NAN],
    ),
    "nothing": (
        pandas_column([None, None], object),
        polars_column([None, None]),
        "empty",
        [NAN, NAN],
    ),
    "no text": (
        pandas_column([None, None], "string"),
        polars_column([None, None], pl.String),
        "empty",
        [NAN, NAN],
    ),
    "no number": (pandas_column([NAN, NAN]), polars_column([NAN, None]), "empty", [NAN, NAN]),
    "one text": (pandas_column(["k"] * 3), polars_column(["k"] * 3), "category", [1, 1, 1]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_kind_of_column(name):
    of_pandas, of_polars, kind, numbers = COLUMNS[name]
    for frame in (of_pandas, of_polars):
        found, values = encode(frame)
        assert found == kind
        assert_array_equal(values, np.array(numbers, dtype=float))


@pytest.mark.parametrize("name", ["texts", "dates", "moments", "decimals", "nullable booleans"])
def test_columns_of_arrow(name):
    _, of_polars, kind, numbers = COLUMNS[name]
    found, values = encode(of_polars.to_pandas(use_pyarrow_extension_array=True))
    assert found == kind
    assert_array_equal(values, np.array(numbers, dtype=float))


@pytest.mark.parametrize(
    "values",
    [
        [[1], [2]],
        [None, {"a": 1}],
        [1j, 2j],
        [object(), None],
    ],
    ids=["lists", "dicts", "complex", "objects"],
)
def test_columns_that_cannot_be_used_are_named(values):
    frame = pd.DataFrame({"fine": [1, 2], "odd one": values})
    with pytest.raises(ValueError, match=r"Column 'odd one' holds.* instance (?!None).*drop"):
        TableEncoder().fit(frame)


@pytest.mark.parametrize("values", [[[1], [2]], [None, {"a": 1}], [object(), None]])
def test_columns_of_polars_that_cannot_be_used(values):
    frame = pl.DataFrame({"fine": [1, 2], "odd one": values})
    with pytest.raises(ValueError, match=r"Column 'odd one' holds values"):
        TableEncoder().fit(frame)


# ---------------------------------------------------------------------- levels


@pytest.mark.parametrize("make", [pandas_column, polars_column])
def test_rare_and_unseen_levels_share_a_code(make):
    encoder = TableEncoder(min_count=3).fit(make(["a"] * 3 + ["b"] * 2 + ["c"] * 4 + [None]))
    assert encoder.levels_ == {"x": ["a", "c"]}
    assert_array_equal(
        encoder.transform(make(["c", "b", "new", None, "a"]))[:, 0], [2, 0, 0, NAN, 1]
    )
    assert encoder.categorical_features_ == [0]


@pytest.mark.parametrize("make", [pandas_column, polars_column])
def test_thousands_of_levels(make):
    texts = [f"level {number:05d}" for number in range(5000)] * 2
    kind, numbers = encode(make(texts))
    assert kind == "category"
    assert_array_equal(numbers, np.tile(np.arange(1, 5001), 2))
    # A column of identifiers says nothing.
    assert not encode(make(texts[:5000]))[1].any()


def test_numbers_as_levels_are_what_they_are_as_texts():
    encoder = TableEncoder().fit(pd.DataFrame({"x": pd.Series([1, 2] * 2).astype("category")}))
    for same in ([2, 1], [2.0, 1.0], ["2", "1"], pd.Categorical([2, 1])):
        assert_array_equal(encoder.transform(pd.DataFrame({"x": same}))[:, 0], [2, 1])
    assert_array_equal(encoder.transform(pl.DataFrame({"x": [2.0, 1.0]}))[:, 0], [2, 1])


@settings(max_examples=60)
@given(
    values=st.lists(
        st.one_of(st.none(), st.text(max_size=3), st.sampled_from("ab")), min_size=1, max_size=30
    ),
    seed=st.integers(0, 100),
)
def test_texts_are_the_same_in_both_libraries(values, seed):
    frames = [
        pandas_column(values, object),
        pandas_column(values, "string"),
        pandas_column(values, "category"),
        polars_column(values, pl.String),
        polars_column(values, pl.Categorical),
    ]
    results = [TableEncoder().fit(frame).transform(frame) for frame in frames]
    for other in results[1:]:
        assert_array_equal(results[0], other)
    # A code belongs to a level, whatever the order of the rows is.
    order = np.random.default_rng(seed).permutation(len(values))
    frame = frames[0].iloc[order]
    assert_array_equal(TableEncoder().fit(frame).transform(frame), results[0][order])


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(st.none(), st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))), min_size=1
    )
)
def test_moments_are_the_same_in_both_libraries(values):
    # In pandas by its own type for moments of all times.
    of_pandas = pandas_column(np.array(values, dtype="datetime64[us]"))
    of_polars = polars_column(values, pl.Datetime("us"))
    assert_array_equal(encode(of_pandas)[1], encode(of_polars)[1])
    known = [value for value in values if value is not None]
    days = [(value - datetime(1970, 1, 1)) / timedelta(days=1) for value in known]
    numbers = encode(of_polars)[1]
    np.testing.assert_allclose(numbers[~np.isnan(numbers)], days, rtol=1e-12, atol=1e-9)


# ---------------------------------------------------------------------- names


NAMES = ['{"a": [1,2]}', "a:b,c", "größe", "with space", "", "中", "[x]", "a\nb"]


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_names_with_any_character(library):
    columns = {name: ["u", "v"] if number % 2 else [number, 2] for number, name in enumerate(NAMES)}
    encoder = TableEncoder().fit(library.DataFrame(columns))
    assert list(encoder.get_feature_names_out()) == NAMES
    assert encoder.feature_names_in_.dtype == object
    # Columns are found by their names, and others are left out.
    turned = library.DataFrame({"other": [0, 0], **dict(reversed(columns.items()))})
    assert_array_equal(encoder.transform(turned), encoder.transform(library.DataFrame(columns)))
    with pytest.raises(ValueError, match=r"X lacks the columns \['größe'\]"):
        encoder.transform(library.DataFrame({k: v for k, v in columns.items() if k != "größe"}))


def test_numbers_as_names():
    frame = pd.DataFrame({0: ["a", "a"], 1: [1, 2]})
    encoder = TableEncoder().fit(frame)
    assert list(encoder.get_feature_names_out()) == ["0", "1"]
    assert_array_equal(encoder.transform(frame[[1, 0]]), [[1, 1], [1, 2]])


def test_names_must_be_unique():
    frame = pd.DataFrame([["a", 1, 2]], columns=["x", "y", "x"])
    with pytest.raises(ValueError, match=r"\['x'\] occur more than once"):
        TableEncoder().fit(frame)


# ---------------------------------------------------------------------- what came later


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_columns_that_become_empty_or_full(library):
    train = library.DataFrame({"day": [date(2020, 1, 1)], "n": [1.5], "text": ["a"], "no": [None]})
    encoder = TableEncoder(min_count=1).fit(train)
    later = library.DataFrame({"day": [None], "n": [None], "text": [None], "no": ["word"]})
    assert np.isnan(encoder.transform(later)).all()


def test_columns_of_another_kind():
    encoder = TableEncoder().fit(pd.DataFrame({"n": [1, 2], "day": [date(2020, 1, 1)] * 2}))
    fine = pd.DataFrame({"n": [1], "day": [date(2020, 1, 1)]})
    with pytest.raises(ValueError, match=r"'n' held a number in every row .* now holds a date"):
        encoder.transform(fine.assign(n=[date(2020, 1, 1)]))
    with pytest.raises(ValueError, match=r"'day' held a date in every row .* now holds a number"):
        encoder.transform(fine.assign(day=[3]))
    with pytest.raises(ValueError, match=r"instance 3\. Convert numbers to dates first"):
        encoder.transform(fine.assign(day=[3]))
    with pytest.raises(ValueError, match=r'pandas.to_datetime\(column, unit="s"\)'):
        encoder.transform(fine.assign(day=[1_706_767_200]))
    with pytest.raises(ValueError, match=r'pandas.to_datetime\(column, format="%Y%m%d"\)'):
        encoder.transform(fine.assign(day=[20220829]))
    with pytest.raises(ValueError, match=r"'day' held a date .* '1/2/2020'\. Convert texts"):
        encoder.transform(fine.assign(day=["1/2/2020"]))
    assert_array_equal(encoder.transform(fine.assign(day=["2020-01-01"])), encoder.transform(fine))


def test_only_what_fit_saw_counts():
    frame = pandas_column(["a", "a", "b", "b", "c", "c"])
    encoder = TableEncoder().fit(frame.iloc[:4])
    assert_array_equal(encoder.transform(frame)[:, 0], [1, 1, 2, 2, 0, 0])
    assert encoder.levels_ == {"x": ["a", "b"]}


# ---------------------------------------------------------------------- an estimator


def test_what_it_refuses():
    with pytest.raises(NotFittedError):
        TableEncoder().transform(pandas_column([1]))
    with pytest.raises(TypeError, match=r"takes a data frame .* got ndarray"):
        TableEncoder().fit(np.eye(2))
    for empty in (pd.DataFrame(), pd.DataFrame({"x": []}), pl.DataFrame({"x": []})):
        with pytest.raises(ValueError, match="at least one row and column"):
            TableEncoder().fit(empty)
    with pytest.raises(ValueError, match="min_count"):
        TableEncoder(min_count=0).fit(pandas_column([1]))


def test_copies_and_pickles():
    frame = pd.DataFrame({"a": ["x", "x", "y"], "b": [1, None, 3]})
    encoder = TableEncoder(min_count=1).fit(frame)
    assert clone(encoder).get_params() == {"min_count": 1, "text": "topics"}
    assert not hasattr(clone(encoder), "kinds_")
    again = pickle.loads(pickle.dumps(encoder))
    assert_array_equal(again.transform(pl.from_pandas(frame)), encoder.transform(frame))


def test_inside_scikit_learns_tools():
    frame = pd.DataFrame({"a": ["x", "x", "y"], "b": [1, None, 3]})
    both = make_column_transformer((TableEncoder(), ["a"]), remainder="passthrough")
    assert both.fit_transform(frame).shape == (3, 2)
    assert list(both.get_feature_names_out()) == ["tableencoder__a", "remainder__b"]
    named = TableEncoder().set_output(transform="pandas").fit_transform(frame)
    assert list(named.columns) == ["a", "b"]


# ---------------------------------------------------------------------- dates


def moments(start, step, n=400):
    return pd.date_range(start, periods=n, freq=step)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates_give_the_parts_that_vary(library):
    frame = pd.DataFrame(
        {
            "by hour": moments("2024-05-31 00:30", "7h"),
            "by day": moments("2024-01-01", "D"),
            "of month": moments("1990-01-01", "MS"),
            "once": pd.Timestamp("2024-01-01 03:00"),
        }
    )
    given = pl.from_pandas(frame) if library == "polars" else frame
    encoder = TableEncoder().fit(given)
    assert encoder.get_feature_names_out().tolist() == [
        *(f"by hour ({p})" for p in ("days since 1970", "hour", "weekday", "month")),
        "by hour (day of month)",
        *(f"by day ({p})" for p in ("days since 1970", "weekday", "month", "day of month")),
        *(f"of month ({p})" for p in ("days since 1970", "weekday", "month")),
        "once (days since 1970)",
        *("by day - by hour (days)", "of month - by hour (days)", "once - by hour (days)"),
        *("of month - by day (days)", "once - by day (days)", "once - of month (days)"),
    ]
    named = dict(zip(encoder.get_feature_names_out(), encoder.transform(given).T, strict=True))
    first = frame["by hour"].dt
    assert_array_equal(named["by hour (hour)"], first.hour + 0.5)
    assert_array_equal(named["by hour (weekday)"], first.day_of_week)
    assert_array_equal(named["by hour (month)"], first.month)
    assert_array_equal(named["by hour (day of month)"], first.day)
    between = (frame["by day"] - frame["by hour"]) / pd.Timedelta("1D")
    np.testing.assert_allclose(named["by day - by hour (days)"], between, atol=1e-9)


def test_many_dates_are_compared_with_their_neighbours():
    frame = pd.DataFrame({f"d{k}": moments("2024-01-01", f"{k + 1}D") for k in range(7)})
    pairs = [(each.first, each.second) for each in TableEncoder().fit(frame).differences_]
    assert pairs == [(f"d{k}", f"d{k + 1}") for k in range(6)]


def test_dates_with_gaps_and_as_texts():
    frame = pd.DataFrame({"day": moments("2024-01-01", "D"), "x": 1.0})
    encoder = TableEncoder().fit(frame)
    later = frame.assign(day=frame["day"].dt.strftime("%Y-%m-%d"))
    later.loc[3, "day"] = None
    encoded = encoder.transform(later)
    assert np.isnan(encoded[3, :4]).all()
    assert_array_equal(np.delete(encoded, 3, 0), np.delete(encoder.transform(frame), 3, 0))


@settings(max_examples=15)
@given(cuts=st.sets(st.integers(1, 199)), seed=st.integers(0, 20))
def test_what_is_learned_does_not_depend_on_partitions(cuts, seed):
    rng = np.random.default_rng(seed)
    words = [first + second + "ay" for first in "bdklmnst" for second in "aeiou"]
    frame = pd.DataFrame(
        {
            "paid": moments("2024-01-01", "5h", 200),
            "due": moments("2024-01-01", "D", 200),
            "town": rng.choice(["Rome", "Oslo", "Lima", "Bonn"], 200),
            "remark": [" ".join(rng.choice(words, 6)) for _ in range(200)],
        }
    )
    frame.loc[rng.random(200) < 0.3, "due"] = pd.NaT
    edges = [0, *sorted(cuts), 200]
    blocks = [frame[i:j] for i, j in pairwise(edges)]
    whole = TableEncoder().fit(frame)
    parted = TableEncoder().fit_blocks(lambda ask, *args: [ask(block, *args) for block in blocks])
    assert parted.kinds_ == whole.kinds_
    assert whole.kinds_["remark"] == "text"
    expected = whole.transform(frame)
    assert_array_equal(parted.transform(frame), expected)
    # Nor do the numbers of a row depend on the rows beside it.
    assert_array_equal(np.vstack([parted.transform(block) for block in blocks]), expected)


# ---------------------------------------------------------------------- cells


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_numbers_that_come_as_texts(library):
    encoder = TableEncoder().fit(library.DataFrame({"n": [1.0, 2.5]}))
    texts = ["294.48", "1e-5", "1,200", "$3", "-4", "NaN", "", "n/a", None, " 7 "]
    expected = [294.48, 1e-5, 1200, 3, -4, NAN, NAN, NAN, NAN, 7]
    assert_array_equal(encoder.transform(library.DataFrame({"n": texts}))[:, 0], expected)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_cells_that_cannot_be_read_count_as_missing(library):
    encoder = TableEncoder().fit(library.DataFrame({"n": [1.0, 2.5]}))
    texts = [*map(str, range(30)), None, "abc", "", "?"]
    words = "'n' .* 2 of 32 cells are not numbers, for instance 'abc' in row 32. They count as"
    with pytest.warns(UserWarning, match=words):
        numbers = encoder.transform(library.DataFrame({"n": texts}))[:, 0]
    assert_array_equal(numbers, [*range(30), *[NAN] * 4])
    many = library.DataFrame({"n": [*map(str, range(30)), *["abc"] * 4]})
    with pytest.raises(ValueError, match=r"'n' .* 4 of 34 cells are not .* More than 10% cannot"):
        encoder.transform(many)


def test_chunks_are_judged_as_a_whole():
    encoder = TableEncoder().fit(pd.DataFrame({"n": [1.0, 2.5]}))
    chunks = [pd.DataFrame({"n": ["1"] * 30}), pd.DataFrame({"n": ["2", "x"]})]
    words = "1 of 32 cells is not a number, for instance 'x' in row 32"

    def encode_all():
        with unread_cells() as unread:
            for chunk in chunks:
                encoder.transform(chunk)
                unread.next_rows(len(chunk))

    with pytest.warns(UserWarning, match=words):
        encode_all()
    chunks = [pd.DataFrame({"n": [text] * 10}) for text in ("x", "y")]
    with pytest.raises(ValueError, match="20 of 20 cells are not numbers"):
        encode_all()


# ---------------------------------------------------------------------- free text


def remarks(n, seed=0):
    rng = np.random.default_rng(seed)
    parts = ["one", "bird", "left", "engine", "final", "approach", "damage", "today"]
    return [" ".join(rng.choice(parts, 7)) for _ in range(n)]


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_free_text_becomes_topics(library):
    frame = library.DataFrame({"remark": [*remarks(300), None], "x": [1.0] * 301})
    encoder = TableEncoder().fit(frame)
    assert encoder.kinds_ == {"remark": "text", "x": "number"}
    names = encoder.get_feature_names_out().tolist()
    assert names[0] == "remark (topic 1)"
    numbers = encoder.transform(frame)
    assert np.isnan(numbers[300, :-1]).all()
    assert np.isfinite(numbers[:300]).all()
    assert_array_equal(
        encoder.transform(library.DataFrame({"remark": ["xyz"], "x": [1.0]}))[0, 0], 0
    )
    ignoring = TableEncoder(text="ignore").fit(frame)
    assert_array_equal(ignoring.transform(frame), np.ones((301, 1)))
    with pytest.raises(ValueError, match=r"No column is left .*\['remark'\] hold free text"):
        TableEncoder(text="ignore").fit(frame[["remark"]])


def test_names_are_not_free_text():
    names = [f"the old town of {k % 40}" for k in range(400)]
    assert TableEncoder().fit(pd.DataFrame({"x": names})).kinds_ == {"x": "category"}
    hashes = [f"{k:x} {k * 7:x} {k * 13:x}" for k in range(400)]
    assert TableEncoder().fit(pd.DataFrame({"x": hashes})).kinds_ == {"x": "category"}


# ---------------------------------------------------------------------- values beyond Python's


def test_moments_that_python_does_not_have():
    far = pl.Series("c", [2**62 - i * 10**9 for i in range(30)]).cast(pl.Datetime("us"))
    encoder = TableEncoder().fit(pl.DataFrame({"c": ["x", "y"] * 15}))
    assert_array_equal(encoder.transform(pl.DataFrame({"c": far})), np.zeros((30, 1)))
    inside = pl.DataFrame({"s": far}).select(pl.struct("s").alias("c"))
    with pytest.raises(ValueError, match=r"Column 'c' .*Struct"):
        TableEncoder().fit(inside)
    with pytest.raises(ValueError, match=r"Column 'c' held text .*Struct"):
        encoder.transform(inside)


def test_tables_of_arrow_that_pandas_refuses():
    codes = pyarrow.array([0, 1, 2, 0, 2, 2], pyarrow.int32())
    days = pyarrow.array([2**30] * 3 + [7] * 3, pyarrow.int32()).cast(pyarrow.date32())
    for words in (["x", None, "y"], ["x", "x", "y"]):
        texts = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(words))
        frame = as_table(pyarrow.table({"texts": texts, "days": days}))
        assert frame["texts"].fillna("").tolist() == [words[code] or "" for code in codes.tolist()]
        encoded = TableEncoder().fit_transform(frame[["days"]])
        assert_array_equal(encoded[:, 0], [2**30] * 3 + [7] * 3)


@pytest.mark.parametrize("missing", [pd.NaT, pd.NA, None], ids=["NaT", "NA", "None"])
@pytest.mark.parametrize("rows", [list, np.array], ids=["lists", "arrays"])
def test_rows_of_python_objects(rows, missing):
    given = [[1.0, missing], [2, 10**400], [3, -(10**400)]]
    table = as_table([rows(row) if rows is list else rows(row, dtype=object) for row in given])
    assert_array_equal(np.asarray(table, dtype=float), [[1, NAN], [2, np.inf], [3, -np.inf]])


def test_numbers_that_no_float_can_hold():
    encoder = TableEncoder().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    with pytest.warns(UserWarning, match="1 of 2 cells is not a number, for instance '1e400' in"):
        read = encoder.transform(pd.DataFrame({"x": ["3", "1e400"]}))
    assert_array_equal(read, [[3], [NAN]])


def test_lists_of_polars_are_shown_on_one_line():
    lists = pl.DataFrame({"c": [[1, 2], [3]]})
    with pytest.raises(ValueError, match=r"Column 'c' .* for instance \[1, 2\]; drop it"):
        TableEncoder().fit(lists)
    encoder = TableEncoder().fit(pl.DataFrame({"c": ["x", "x"]}))
    with pytest.raises(ValueError, match=r"for instance \[1, 2\]\. Turn it into texts first\.$"):
        encoder.transform(lists)


def test_decimals_that_signal():
    values = pd.Series([Decimal("sNaN"), Decimal("1.5"), None], dtype=object)
    encoder = TableEncoder().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    assert_array_equal(encoder.transform(pd.DataFrame({"x": values})), [[NAN], [1.5], [NAN]])


def test_types_of_pandas_that_polars_does_not_have():
    days = pd.Series(pd.period_range("2020-01-01", periods=40, freq="D"))
    ranges = pd.Series(pd.arrays.IntervalArray(list(pd.cut(pd.Series(np.arange(40.0)), 4))))
    for column, advice in ((days, r"dt\.to_timestamp"), (ranges, r"astype\(str\)")):
        encoder = TableEncoder().fit(pd.DataFrame({"c": column}))
        with pytest.raises(ValueError, match=f"Column 'c' .* {advice}"):
            encoder.transform(pl.from_pandas(pd.DataFrame({"c": column})))
    texts = pd.DataFrame({"c": ranges.astype(str)})
    assert_array_equal(
        encoder.transform(pl.from_pandas(texts)), encoder.transform(pd.DataFrame({"c": ranges}))
    )


def test_few_cells_say_nothing_of_a_column():
    days = pd.DataFrame({"c": pd.date_range("2026-01-01", periods=40, freq="37min")})
    encoder = TableEncoder().fit(days)
    with pytest.warns(UserWarning, match="1 of 1 cell is not a date, for instance 'soon'"):
        assert np.isnan(encoder.transform(pd.DataFrame({"c": ["soon"]}))).all()
    with pytest.raises(ValueError, match=r"held a date .* 'soon'"):
        encoder.transform(pd.DataFrame({"c": ["soon"] * 20}))


def test_durations_as_texts():
    hours = pd.to_timedelta(np.arange(40), "h")
    encoder = TableEncoder().fit(pd.DataFrame({"c": hours}))
    texts = pd.DataFrame({"c": pd.Series(hours).astype(str)})
    np.testing.assert_allclose(encoder.transform(texts)[:, 0], np.arange(40) / 24)
