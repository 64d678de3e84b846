import gzip
import sys
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from metasampler.datasets import TableFile, iterate_table, near_matches, read_table, split_target


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "amount": [1.5, 2.0, np.nan, 4.0, 8.0],
            "country": ["de", "fr", "de", "it", None],
            "fraud": ["yes", "no", "no", "no", "yes"],
        }
    )


@pytest.mark.parametrize("kind", [str, lambda path: path])
@pytest.mark.parametrize(
    "ending",
    [
        *(".csv", ".CSV", ".csv.gz", ".tsv", ".tsv.gz", ".gz", ".parquet", ".pq"),
        *(".csv.zip", ".zip", ".csv.bz2", ".tsv.xz", ".csv.zst"),
    ],
)
def test_files(tmp_path, frame, ending, kind):
    path = tmp_path / f"payments{ending}"
    if ending in (".parquet", ".pq"):
        frame.to_parquet(path)
    else:
        options = {"index": False, "sep": "\t" if ".tsv" in ending else ","}
        if ending.endswith(".zst"):
            with pa.output_stream(path, compression="zstd") as file:
                file.write(frame.to_csv(**options).encode())
        else:
            frame.to_csv(path, **options)
    pd.testing.assert_frame_equal(read_table(kind(path)), frame)
    parts = list(iterate_table(kind(path), 2))
    assert [len(part) for part in parts] == [2, 2, 1]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*absent\.csv"):
        read_table("absent.csv")
    with pytest.raises(ValueError, match=r"'book\.xlsx' must end in \.csv"):
        read_table(tmp_path / "book.xlsx")
    (tmp_path / "header.csv").write_text("x,y\n")
    with pytest.raises(ValueError, match=r"header\.csv has no rows"):
        read_table(tmp_path / "header.csv")
    (tmp_path / "broken.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=r"broken\.parquet cannot be read"):
        read_table(tmp_path / "broken.parquet")


def test_without_pandas_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"metasampler\[data\]"):
        read_table(tmp_path / "a.csv")


def test_the_target_is_split_off(frame):
    before = frame.copy()
    X, y = split_target(frame, "fraud")
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(X, frame[["amount", "country"]])
    pd.testing.assert_series_equal(y, frame["fraud"])


def test_polars_stays_polars():
    X, y = split_target(pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), "b")
    assert X.columns == ["a"]
    assert isinstance(X, pl.DataFrame)
    assert y.to_list() == ["x", "y"]


def test_columns_that_are_not_there(frame):
    with pytest.raises(ValueError, match=r"Give target.*sheet.*Columns: amount, country, fraud"):
        split_target(frame, None, "sheet")
    with pytest.raises(ValueError, match=r"no column 'Frauds'\. Did you mean 'fraud'.*amount"):
        split_target(frame, "Frauds")
    with pytest.raises(ValueError, match="several columns 'fraud'"):
        split_target(pd.concat([frame, frame], axis=1), "fraud")
    with pytest.raises(ValueError, match="no column besides"):
        split_target(frame[["fraud"]], "fraud")
    with pytest.raises(ValueError, match=r"11, \.\.\. \(30 in all\)"):
        split_target(pd.DataFrame(np.zeros((2, 30))), "y")


def test_near_matches():
    assert near_matches("FRAUD", ["fraud", "amount"]) == " Did you mean 'fraud'?"
    assert near_matches("zzz", ["fraud", "amount"]) == ""


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz"])
def test_a_second_column_of_one_name_is_refused(tmp_path, frame, ending):
    path = tmp_path / f"payments{ending}"
    twice = pd.concat([frame, frame[["fraud"]]], axis=1)
    twice.to_csv(path, index=False, sep="\t" if ".tsv" in ending else ",")
    with pytest.raises(ValueError, match=r"payments.* has several columns 'fraud'; give each"):
        read_table(path)


def test_columns_without_a_name_are_no_duplicates(tmp_path):
    (tmp_path / "rows.csv").write_text(",,y\n1,2,a\n3,4,b\n")
    assert read_table(tmp_path / "rows.csv").shape == (2, 3)


def test_parts_of_parquet_have_the_rows_asked_for_whatever_the_row_groups(tmp_path):
    # Categories make pyarrow end a batch where a row group ends.
    frame = pd.DataFrame({"kind": pd.Categorical(list("abcabcabca")), "number": range(10)})
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=3)
    parts = list(iterate_table(tmp_path / "table.parquet", 4))
    assert [len(part) for part in parts] == [4, 4, 2]
    joined = pd.concat([part.astype({"kind": str}) for part in parts], ignore_index=True)
    pd.testing.assert_frame_equal(joined, frame.astype({"kind": str}), check_dtype=False)


# ---------------------------------------------------------------------- encodings, ragged rows


TOWNS = "town,n\nKöln,1\nMálaga,2\n"


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"],
)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.filterwarnings("ignore:.*is not in UTF-8")
def test_encodings_are_found(tmp_path, encoding, ending):
    path = tmp_path / f"towns{ending}"
    with gzip.open(path, "wb") if ending.endswith("gz") else open(path, "wb") as file:
        file.write(TOWNS.encode(encoding))
    assert read_table(path)["town"].tolist() == ["Köln", "Málaga"]
    (part,) = iterate_table(path)
    assert list(part.columns) == ["town", "n"]


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "towns.csv"
    path.write_bytes(TOWNS.encode("latin-1"))
    with pytest.warns(
        UserWarning, match=r"towns\.csv is not in UTF-8, and is read as Windows-1252"
    ):
        read_table(path)
    assert read_table(path, encoding="latin-1")["town"][0] == "Köln"
    with pytest.raises(ValueError, match=r"cannot be read as utf-8 .*\(--encoding latin-1"):
        read_table(path, encoding="utf-8")
    with pytest.raises(ValueError, match="encoding='klingon' is not known"):
        read_table(path, encoding="klingon")
    # Bytes that are no letter in Windows-1252.
    path.write_bytes(b"a,b\nx\x81,\xe9\n")
    with pytest.warns(UserWarning, match="not in UTF-8"):
        assert read_table(path)["b"][0] == "é"


@pytest.mark.parametrize("columns", [None, ["a"]])
def test_rows_with_too_many_fields_are_refused(tmp_path, columns):
    path = tmp_path / "ragged.csv"
    path.write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(
        ValueError, match=r"ragged\.csv cannot be read: .*Expected 2 fields in line 3"
    ):
        read_table(path)
    with pytest.raises(
        ValueError, match=r"ragged\.csv cannot be read: .*Expected 2 fields in line 3"
    ):
        list(iterate_table(path, columns=columns))
    path.write_text("a,b\n1,2,9\n3,4,5\n")
    for read in (read_table, lambda path: list(iterate_table(path, columns=columns))):
        with pytest.raises(ValueError, match="its rows have more fields than its first line, 2"):
            read(path)


def test_archives_must_hold_one_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
        archive.writestr("b.csv", "x,y\n1,2\n")
    with pytest.raises(ValueError, match=r"two\.zip cannot be read: it holds 2 files"):
        read_table(tmp_path / "two.zip")
    for ending in ("zip", "xz", "bz2", "zst", "gz"):
        (tmp_path / f"broken.csv.{ending}").write_bytes(b"nothing of the kind")
        with pytest.raises(ValueError, match=r"broken\.csv\..* cannot be read"):
            read_table(tmp_path / f"broken.csv.{ending}")


def test_codes_may_be_read_as_texts(tmp_path):
    (tmp_path / "zips.csv").write_text("zip,n\n01067,1\n80331,2\n")
    assert read_table(tmp_path / "zips.csv", texts=["zip"])["zip"].tolist() == ["01067", "80331"]


def test_a_long_line_is_named(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text('a,b\n1,2,"3\n"\n4,5,6\n')
    for read in (read_table, lambda path: list(iterate_table(path, 1))):
        with pytest.raises(ValueError, match=r"first line, 2\. Line 3 has 3: a text with"):
            read(path)
    path.write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match="Expected 2 fields in line 3, saw 3"):
        read_table(path)


def test_hidden_files_in_an_archive_do_not_count(tmp_path):
    with zipfile.ZipFile(tmp_path / "table.csv.zip", "w") as archive:
        archive.writestr("folder/table.csv", "a,b\n1,2\n")
        for hidden in (".DS_Store", "folder/.DS_Store", "__MACOSX/._table.csv"):
            archive.writestr(hidden, "x")
    assert read_table(tmp_path / "table.csv.zip").to_dict("list") == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("a|b\n1|x,y\n2|z\n", ".csv"),
        ('sep=,\na,b\n1,"x,y"\n2,z\n', ".csv"),
        ("sep=;\na;b\n1;x,y\n2;z\n", ".csv"),
        ("sep=\t\na\tb\n1\tx,y\n2\tz\n", ".tsv"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_other_separators(tmp_path, text, ending, encoding):
    path = tmp_path / f"table{ending}"
    path.write_text(text, encoding=encoding)
    wanted = pd.DataFrame({"a": [1, 2], "b": ["x,y", "z"]})
    pd.testing.assert_frame_equal(read_table(path), wanted)
    parts = pd.concat(iterate_table(path, 1, columns=["a", "b"]), ignore_index=True)
    pd.testing.assert_frame_equal(parts, wanted)
    assert TableFile(path).text_columns(["a", "b"]) == ["b"]
