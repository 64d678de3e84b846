"""Files that hold a table: what is in them, whole or chunk by chunk."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any


class TableFile:
    """A file with a table; its columns are known once it is made.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of `TableFile.suffixes`.
    """

    #: How the names of files end that are read; ``.gz`` stands for both kinds of text.
    suffixes = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".gz", ".parquet", ".pq")

    def __init__(self, path: str | PathLike[str]):
        self.path = Path(path).expanduser()
        self.name = self.path.name
        lower = self.name.lower()
        if not lower.endswith(self.suffixes):
            raise ValueError(f"{self.name!r} must end in {', '.join(self.suffixes)}.")
        if not self.path.is_file():
            raise FileNotFoundError(f"There is no file {fspath(self.path)!r}.")
        #: How much of the file `chunks` has read so far, from 0 to 1.
        self.part_read = 0.0
        self.is_parquet = lower.endswith((".parquet", ".pq"))
        self._separator = "\t" if lower.removesuffix(".gz").endswith(".tsv") else ","
        with self._clear_errors():
            #: The names of the columns.
            self.columns: list[str] = self._parquet_names() if self.is_parquet else self._names()
        # A column without a name is no other's twin.
        counts = Counter(name for name in self.columns if name)
        repeated = [name for name, count in counts.items() if count > 1]
        if repeated:
            raise ValueError(
                f"{self.name} has several columns {', '.join(map(repr, repeated[:10]))}; give each "
                "column a name of its own."
            )
        if "" in self.columns:
            import pandas as pd

            # Columns without a name get one by pandas.
            self.columns = list(pd.read_csv(self.path, sep=self._separator, nrows=0).columns)

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except ImportError as error:
            raise ImportError(
                f'Reading {self.name} needs pandas and pyarrow: pip install "metasampler[data]"'
            ) from error
        # pandas' errors and pyarrow's are ValueErrors; a broken archive has errors of its own.
        except (ValueError, OSError, EOFError, zlib.error) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ValueError(f"{self.name} cannot be read: {reason}") from error

    def _names(self) -> list[str]:
        """Return the first line of a text, as it is: pandas would rename what occurs twice."""
        import pandas as pd

        def header(separator: str) -> list[str]:
            line = pd.read_csv(
                self.path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False
            )
            return line.iloc[0].tolist()

        names = header(self._separator)
        for other in (";", "\t"):
            # A single column whose name holds another separator is a table that uses it.
            if len(names) == 1 and other in names[0]:
                self._separator = other
                names = header(other)
        return names

    def _parquet_names(self) -> list[str]:
        from pyarrow import parquet

        return list(parquet.read_schema(self.path).names)

    def read(self) -> Any:
        """Return the whole table as a pandas data frame."""
        with self._clear_errors():
            import pandas as pd

            if self.is_parquet:
                return pd.read_parquet(self.path)
            # Types by whole columns: by parts, a column of codes could be both number and text.
            return pd.read_csv(self.path, sep=self._separator, low_memory=False)

    def chunks(
        self,
        n_rows: int,
        *,
        columns: Collection[str] | None = None,
        texts: Collection[str] = (),
        raw: bool = False,
    ) -> Iterator[Any]:
        """Yield the table in parts; see `iterate_table`."""
        wanted = None if columns is None else [name for name in self.columns if name in columns]
        with self._clear_errors():
            if self.is_parquet:
                yield from self._parquet_chunks(n_rows, wanted)
                return
            import pandas as pd

            as_texts = [name for name in self.columns if name in texts]
            options: dict[str, Any] = {"dtype": dict.fromkeys(as_texts, str)}
            if raw:
                options = {"dtype": str, "keep_default_na": False}
            with open(self.path, "rb") as content:
                for part in pd.read_csv(
                    content,
                    compression="gzip" if self.name.lower().endswith(".gz") else None,
                    sep=self._separator,
                    usecols=wanted,
                    chunksize=n_rows,
                    low_memory=False,
                    **options,
                ):
                    self.part_read = content.tell() / max(1, self.path.stat().st_size)
                    yield part

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


def iterate_table(
    path: str | PathLike[str],
    n_rows: int = 100_000,
    *,
    columns: Collection[str] | None = None,
    texts: Collection[str] = (),
    raw: bool = False,
) -> Iterator[Any]:
    r"""Read a CSV or Parquet file in parts, in the memory that one part takes.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of `TableFile.suffixes`.
    n_rows : int, default=100_000
        Rows of a part.
    columns : collection of str, default=None
        Columns to read; None reads all. Names that the file lacks do not matter.
    texts : collection of str, default=()
        Columns of a text file that are read as texts. Otherwise a column of codes may look like
        numbers in some part, and lose its leading zeros.
    raw : bool, default=False
        Whether all values of a text file stay the texts that they are.

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
    ...     parts = list(iterate_table(path, 2, texts=["zip"]))
    >>> [len(part) for part in parts], parts[0]["zip"].iloc[0]
    ([2, 1], '01067')
    """
    yield from TableFile(path).chunks(n_rows, columns=columns, texts=texts, raw=raw)
