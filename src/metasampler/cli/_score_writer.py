"""Where scores are written to: CSV, also packed, or Parquet, part by part."""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path
from typing import Any

OUTPUT_SUFFIXES = (".csv", ".csv.gz", ".parquet")


class ScoreWriter:
    """Write frames one after the other to a file, which appears when all are written.

    Parameters
    ----------
    output : Path
        The file; its name ends in one of `OUTPUT_SUFFIXES`.
    """

    def __init__(self, output: Path):
        self.output = output
        handle, name = tempfile.mkstemp(dir=output.absolute().parent, prefix=f".{output.name}.")
        self._temporary = Path(name)
        self._raw = os.fdopen(handle, "wb")
        lower = output.name.lower()
        self._is_parquet = lower.endswith(".parquet")
        packs = lower.endswith(".gz")
        self._file: Any = gzip.GzipFile(fileobj=self._raw, mode="wb") if packs else self._raw
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

        # Categories of one part need not be those of the next.
        texts = {name: object for name, kind in frame.dtypes.items() if str(kind) == "category"}
        table = pa.Table.from_pandas(frame.astype(texts), preserve_index=False)
        if self._writer is None:
            fields = [
                # What is missing in the first part may be a text in the next.
                pa.field(each.name, pa.string()) if pa.types.is_null(each.type) else each
                for each in table.schema
            ]
            self._schema = pa.schema(fields)
            self._writer = parquet.ParquetWriter(self._raw, self._schema, compression="zstd")
        self._writer.write_table(table.cast(self._schema))

    def finish(self) -> None:
        """Put the file in its place."""
        if self._writer is not None:
            self._writer.close()
        if self._file is not self._raw:
            self._file.close()
        self._raw.close()
        # The temporary file is for its owner only; scores are a file like any other.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(self._temporary, 0o666 & ~mask)
        os.replace(self._temporary, self.output)

    def __enter__(self) -> ScoreWriter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.finish()
            return
        self._raw.close()
        self._temporary.unlink(missing_ok=True)
