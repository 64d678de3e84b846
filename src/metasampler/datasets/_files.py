"""Files that hold a table: what is in them, whole or chunk by chunk."""

from __future__ import annotations

import codecs
import csv
import io
import lzma
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from metasampler._warnings import warn_user

#: How the names of packed files end.
PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MIB = 1 << 20


class TableFile:
    """A file with a table; its columns are known once it is made.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of `TableFile.suffixes`.
    encoding : str, default=None
        The encoding of a text file. None finds it: by a mark at the beginning (UTF-8, UTF-16,
        UTF-32), or UTF-8 if all of it is; any other file is read as Windows-1252, which includes
        the letters of Latin-1, with a warning.
    """

    #: How the names of files end that are read.
    suffixes = (
        *(f"{kind}{packed}" for kind in (".csv", ".tsv") for packed in ("", *PACKED)),
        *PACKED,
        *(".parquet", ".pq"),
    )

    def __init__(self, path: str | PathLike[str], *, encoding: str | None = None):
        self.path = Path(path).expanduser()
        self.name = self.path.name
        lower = self.name.lower()
        if not lower.endswith(self.suffixes):
            raise ValueError(
                f"{self.name!r} must end in .csv, .tsv, .parquet or .pq; texts may be packed "
                f"({', '.join(PACKED)})."
            )
        if not self.path.is_file():
            raise FileNotFoundError(f"There is no file {fspath(self.path)!r}.")
        #: How much of the file `chunks` has read so far, from 0 to 1.
        self.part_read = 0.0
        self.is_parquet = lower.endswith((".parquet", ".pq"))
        self._packed = next((packed for packed in PACKED if lower.endswith(packed)), "")
        self._separator = "\t" if lower.removesuffix(self._packed).endswith(".tsv") else ","
        self.encoding = encoding
        # Lines before the names of the columns.
        self._n_skipped = 0
        with self._clear_errors():
            if not self.is_parquet:
                self.encoding = self._find_encoding() if encoding is None else _known(encoding)
            #: The names of the columns.
            self.columns: list[str] = self._parquet_names() if self.is_parquet else self._names()
        # Columns without a name are not the same column.
        counts = Counter(name for name in self.columns if name)
        repeated = [name for name, count in counts.items() if count > 1]
        if repeated:
            raise ValueError(
                f"{self.name} has several columns {', '.join(map(repr, repeated[:10]))}; give each "
                "column a name of its own."
            )
        if "" in self.columns:
            # Columns without a name get one by pandas.
            with self._clear_errors():
                self.columns = list(self._read_text(nrows=0).columns)

    # ------------------------------------------------------------------ content

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except ImportError as error:
            raise ImportError(
                f'Reading {self.name} needs pandas and pyarrow: pip install "metasampler[data]"'
            ) from error
        except UnicodeError as error:
            raise ValueError(
                f"{self.name} cannot be read as {self.encoding} ({error}): name its encoding, for "
                "instance encoding='latin-1' (--encoding latin-1)."
            ) from error
        # pandas' errors and pyarrow's are ValueErrors; a broken archive has errors of its own.
        except (ValueError, OSError, EOFError, *_ARCHIVES) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ValueError(f"{self.name} cannot be read: {reason}") from error

    @contextmanager
    def _content(self) -> Iterator[tuple[Any, Any]]:
        """Open the file; yield its bytes as they were before packing, and those on the disk."""
        with open(self.path, "rb") as raw, self._unpacked(raw) as content:
            yield content, raw

    def _unpacked(self, raw: Any) -> Any:
        if self._packed == ".gz":
            import gzip

            return gzip.GzipFile(fileobj=raw)
        if self._packed == ".bz2":
            import bz2

            return bz2.BZ2File(raw)
        if self._packed == ".xz":
            return lzma.LZMAFile(raw)
        if self._packed == ".zip":
            return _only_file(zipfile.ZipFile(raw))
        if self._packed == ".zst":
            import pyarrow

            return pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, "r"), "zstd")
        return nullcontext(raw)

    def _find_encoding(self) -> str:
        """Return the encoding of a text file."""
        with self._content() as (content, _):
            head = content.read(_MIB)
            for mark, name in _BOMS:
                if head.startswith(mark):
                    return name
            if head[1:200:2].count(0) > len(head[1:200:2]) / 2:
                return "utf-16-le"
            if head[:200:2].count(0) > len(head[:200:2]) / 2:
                return "utf-16-be"
            decoder = codecs.getincrementaldecoder("utf-8")()
            try:
                while head:
                    decoder.decode(head)
                    head = content.read(_MIB)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                warn_user(
                    f"{self.name} is not in UTF-8, and is read as Windows-1252 (Latin-1). If "
                    "letters look wrong, name its encoding (--encoding)."
                )
                # Five bytes have no letter in Windows-1252; Latin-1 has something for each.
                return "latin-1" if self._has_gaps() else "cp1252"
        return "utf-8"

    def _has_gaps(self) -> bool:
        with self._content() as (content, _):
            while block := content.read(_MIB):
                if any(byte in block for byte in b"\x81\x8d\x8f\x90\x9d"):
                    return True
        return False

    def _read_text(self, **options: Any) -> Any:
        """Read a text file by pandas."""
        import pandas as pd

        with self._content() as (content, _), self._refusing_long_rows():
            return pd.read_csv(content, **self._text_options, **options)

    @property
    def _text_options(self) -> dict[str, Any]:
        """How pandas reads the text."""
        return {
            "sep": self._separator,
            "encoding": self.encoding,
            "skiprows": self._n_skipped,
            "low_memory": False,
        }

    def _names(self) -> list[str]:
        """Return the first line of a text, as it is: pandas would rename what occurs twice."""

        def header() -> list[str]:
            line = self._read_text(header=None, nrows=1, dtype=str, keep_default_na=False)
            return line.iloc[0].tolist()

        names = header()
        if len(names) <= 2 and names[0].lower().startswith("sep="):
            # Excel's own first line: the separator. It makes two fields if it is the usual one.
            self._separator = names[0][4:] or self._separator
            self._n_skipped = 1
            names = header()
        for other in (";", "\t", "|"):
            # A single column whose name holds another separator is a table that uses it.
            if len(names) == 1 and other in names[0]:
                self._separator = other
                names = header()
        return names

    def _parquet_names(self) -> list[str]:
        from pyarrow import parquet

        return list(parquet.read_schema(self.path).names)

    # ------------------------------------------------------------------ rows

    def read(self, *, texts: Collection[str] = ()) -> Any:
        """Return the whole table as a pandas data frame; see `iterate_table` for `texts`."""
        with self._clear_errors():
            import pandas as pd

            if self.is_parquet:
                return pd.read_parquet(self.path)
            # Types by whole columns: by chunks, a column of codes could be both number and text.
            return self._read_text(dtype=self._types(texts), index_col=False)

    def chunks(
        self,
        n_rows: int,
        *,
        columns: Collection[str] | None = None,
        texts: Collection[str] = (),
        raw: bool = False,
    ) -> Iterator[Any]:
        """Yield the table in chunks; see `iterate_table`."""
        wanted = None if columns is None else [name for name in self.columns if name in columns]
        with self._clear_errors():
            if self.is_parquet:
                yield from self._parquet_chunks(n_rows, wanted)
                return
            import pandas as pd

            options: dict[str, Any] = {"dtype": self._types(texts)}
            if raw:
                options = {"dtype": str, "keep_default_na": False}
            with self._content() as (content, on_disk):
                # All columns are read: pandas overlooks rows with too many fields otherwise.
                reader = pd.read_csv(
                    content, chunksize=n_rows, index_col=False, **self._text_options, **options
                )
                while True:
                    with self._refusing_long_rows():
                        chunk = next(reader, None)
                    if chunk is None:
                        return
                    self.part_read = on_disk.tell() / max(1, self.path.stat().st_size)
                    yield chunk if wanted is None else chunk[wanted]

    def text_columns(self, names: Collection[str], n_rows: int = 100_000) -> list[str]:
        """Return which of some columns hold a text in some row; all others are read as they are.

        In the chunks of a table such a column may be numbers here and texts there.
        """
        wanted = [name for name in self.columns if name in names]
        found: dict[str, None] = {}
        if not wanted:
            return []
        with self._clear_errors():
            if self.is_parquet:
                from pyarrow import parquet, types

                schema = parquet.read_schema(self.path)
                kinds = (types.is_string, types.is_large_string, types.is_dictionary)
                return [name for name in wanted if any(k(schema.field(name).type) for k in kinds)]
            import pandas as pd

            with self._content() as (content, _):
                # Only these columns are made into values, which is most of the work.
                options: dict[str, Any] = {"usecols": wanted, "chunksize": n_rows}
                options |= self._text_options | {"index_col": False}
                for chunk in pd.read_csv(content, **options):
                    kinds = chunk.dtypes.items()
                    found |= {name: None for name, kind in kinds if kind.kind not in "biuf"}
        return list(found)

    def _types(self, texts: Collection[str]) -> dict[str, type]:
        return {name: str for name in self.columns if name in texts}

    @contextmanager
    def _refusing_long_rows(self) -> Iterator[None]:
        """Raise an error where pandas would drop what the rows have beyond the first line."""
        from pandas.errors import ParserWarning

        with warnings.catch_warnings():
            warnings.simplefilter("error", ParserWarning)
            try:
                yield
            except ParserWarning as error:
                raise ValueError(self._say_long_row()) from error

    def _say_long_row(self) -> str:
        """Return which line has more fields than the first one."""
        where, n_fields = "", len(self.columns)
        with self._content() as (content, _):
            texts = io.TextIOWrapper(content, encoding=self.encoding, newline="")
            lines = csv.reader(texts, delimiter=self._separator)
            with suppress(csv.Error, StopIteration):
                rows = islice(lines, self._n_skipped, None)
                long = next(line for line in rows if len(line) > n_fields)
                where = (
                    f" Line {lines.line_num} has {len(long)}: a text with a separator needs quotes."
                )
        return f"its rows have more fields than its first line, {n_fields}.{where}"

    def _parquet_chunks(self, n_rows: int, columns: list[str] | None) -> Iterator[Any]:
        from pyarrow import Table, parquet

        # Without buffers ahead only the pages that are being read are in memory.
        with parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=2**20) as file:
            n_read, waiting = 0, 0
            batches: list = []
            for batch in file.iter_batches(n_rows, columns=columns):
                batches.append(batch)
                n_read, waiting = n_read + len(batch), waiting + len(batch)
                self.part_read = n_read / max(1, file.metadata.num_rows)
                # Batches end where row groups do if a column holds categories.
                while waiting >= n_rows:
                    whole = Table.from_batches(batches).unify_dictionaries()
                    yield whole.slice(0, n_rows).to_pandas()
                    batches = whole.slice(n_rows).to_batches()
                    waiting -= n_rows
            if waiting:
                yield Table.from_batches(batches).unify_dictionaries().to_pandas()


_ARCHIVES = (zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError)


def _known(encoding: str) -> str:
    """Return an encoding that Python knows."""
    try:
        # Python also calls base64 an encoding, but not one of texts.
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(
            f"encoding={encoding!r} is not known; for instance utf-8, latin-1, utf-16."
        ) from None


def _only_file(archive: zipfile.ZipFile) -> io.BufferedIOBase:
    """Open the one file in an archive."""
    # macOS adds a folder of its own, and hidden files.
    names = [
        name
        for name in archive.namelist()
        if not name.endswith("/")
        and not name.startswith("__MACOSX")
        and not name.rpartition("/")[2].startswith(".")
    ]
    if len(names) != 1:
        raise ValueError(f"it holds {len(names)} files, and must hold one.")
    return archive.open(names[0])  # type: ignore[return-value]


def iterate_table(
    path: str | PathLike[str],
    n_rows: int = 100_000,
    *,
    columns: Collection[str] | None = None,
    texts: Collection[str] = (),
    raw: bool = False,
    encoding: str | None = None,
) -> Iterator[Any]:
    r"""Read a CSV or Parquet file in chunks, in the memory that one chunk takes.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of `TableFile.suffixes`.
    n_rows : int, default=100_000
        Rows of a chunk.
    columns : collection of str, default=None
        Columns to read; None reads all. Names that the file lacks do not matter.
    texts : collection of str, default=()
        Columns of a text file that are read as texts. Otherwise a column of codes may look like
        numbers in some chunk, and lose its leading zeros.
    raw : bool, default=False
        Whether all values of a text file stay the texts that they are.
    encoding : str, default=None
        The encoding of a text file. None finds it, see `TableFile`.

    Yields
    ------
    frame : pandas DataFrame
        The next rows.

    Examples
    --------
    >>> import os, tempfile
    >>> from metasampler.datasets import iterate_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "table.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("zip,amount\n01067,3\n80331,5\n10115,4\n")
    ...     chunks = list(iterate_table(path, 2, texts=["zip"]))
    >>> [len(chunk) for chunk in chunks], chunks[0]["zip"].iloc[0]
    ([2, 1], '01067')
    """
    yield from TableFile(path, encoding=encoding).chunks(
        n_rows, columns=columns, texts=texts, raw=raw
    )
