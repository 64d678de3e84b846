"""Where scores are written to: CSV, also packed, or Parquet, one partition at a time."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from metasampler._writing import written_beside

OUTPUT_SUFFIXES = (".csv", ".csv.gz", ".parquet")


@contextmanager
def writing_scores(output: Path) -> Iterator[ScoreWriter]:
    """Give what writes frames to a file, which appears when all are written.

    Parameters
    ----------
    output : Path
        The file; its name ends in one of `OUTPUT_SUFFIXES`.
    """
    with written_beside(output) as file:
        writer = ScoreWriter(file, output.name.lower())
        yield writer
        writer.finish()


class ScoreWriter:
    """Write frames one after the other to an open file, in the form that its name asks for."""

    def __init__(self, file: IO[bytes], name: str):
        self._raw = file
        self._is_parquet = name.endswith(".parquet")
        packs = name.endswith(".gz")
        self._file: Any = gzip.GzipFile(fileobj=file, mode="wb") if packs else file
        self._writer: Any = None
        self._started = False

    def write(self, frame: Any) -> None:
        """Write the next rows."""
        if not self._is_parquet:
            frame.to_csv(self._file, index=False, header=not self._started)
            self._started = True
            return
        import pyarrow as pa
        from pyarrow import parquet

        # Categories of one chunk need not be those of the next.
        texts = {name: object for name, kind in frame.dtypes.items() if str(kind) == "category"}
        table = pa.Table.from_pandas(frame.astype(texts), preserve_index=False)
        if self._writer is None:
            fields = [
                # What is missing in the first chunk may be a text in the next.
                pa.field(each.name, pa.string()) if pa.types.is_null(each.type) else each
                for each in table.schema
            ]
            self._schema = pa.schema(fields)
            self._writer = parquet.ParquetWriter(self._raw, self._schema, compression="zstd")
        self._writer.write_table(table.cast(self._schema))

    def finish(self) -> None:
        """Write what ends the file."""
        if self._writer is not None:
            self._writer.close()
        if self._file is not self._raw:
            self._file.close()
