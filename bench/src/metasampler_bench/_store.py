"""Keep rows of results on disk: JSON lines that survive a kill, one writer at a time."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["ResultStore", "cell_key", "row_key"]


def cell_key(cell: dict[str, Any]) -> str:
    """Return one text for one cell, whatever the order of its entries."""
    return json.dumps(cell, sort_keys=True, separators=(",", ":"))


def row_key(row: dict[str, Any]) -> str:
    """Return the text of a row's cell, or raise a ValueError if it has none."""
    cell = row.get("cell")
    if not isinstance(cell, dict):
        raise ValueError(f"A row of results says of no cell what it is about: {str(row)[:200]}")
    return cell_key(cell)


class ResultStore:
    """A file of rows, each a JSON object on a line of its own.

    A row is written and flushed to disk as soon as it is there. A process that is killed while
    it writes leaves at most one broken line at the end, which the next `open_for_writing`
    removes. `pack` moves finished rows into a compressed file beside it, ``rows.jsonl.gz``; they
    count as before.

    Parameters
    ----------
    path : str or path
        The file; it need not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from metasampler_bench import ResultStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = ResultStore(Path(folder) / "rows.jsonl")
    ...     with store.open_for_writing() as append:
    ...         append([{"cell": {"k": 5}, "score": 0.5}])
    ...     store.rows()
    [{'cell': {'k': 5}, 'score': 0.5}]
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)

    def rows(self) -> list[dict[str, Any]]:
        """Return all complete rows; a broken last line is passed over.

        Returns
        -------
        rows : list of dict
        """
        old, new = self._contents()
        rows = []
        for path, content in ((self.packed, old), (self.path, new)):
            lines = content.split(b"\n")
            rows += [
                self._parse(line, number, path) for number, line in enumerate(lines, 1) if line
            ]
        return rows

    def _contents(self) -> tuple[bytes, bytes]:
        """Return all finished lines: those that are packed, and those that are not."""
        # First the file that is written to: what is packed meanwhile is then found at least once.
        new = _finished(self.path.read_bytes()) if self.path.is_file() else b""
        old = _finished(self._unpacked()) if self.packed.is_file() else b""
        # `pack` was killed, or goes on, between its last two steps: the lines are in both files.
        return old, b"" if old.endswith(new) else new

    def _unpacked(self) -> bytes:
        try:
            return gzip.decompress(self.packed.read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{os.fspath(self.packed)!r} is broken: {error}") from error

    @property
    def packed(self) -> Path:
        """The file that `pack` puts rows into."""
        return self.path.with_name(self.path.name + ".gz")

    def pack(self) -> None:
        """Compress all rows: those of a large table say much the same again and again.

        The emptied file stays, because another process may wait for the right to write to it.
        """
        with self._locked() as descriptor:
            self.rows()  # what is broken is said now
            old, new = self._contents()
            if not new:
                return
            # Written aside and then moved: a kill leaves the rows in one file, or the same lines
            # at the end of both, which count once.
            aside = self.packed.with_name(self.packed.name + ".part")
            with _naming(self.packed):
                try:
                    with open(aside, "wb") as file:
                        file.write(gzip.compress(old + new, mtime=0))
                        file.flush()
                        os.fsync(file.fileno())
                    os.replace(aside, self.packed)
                finally:
                    aside.unlink(missing_ok=True)
            os.ftruncate(descriptor, 0)

    def _parse(self, line: bytes, number: int, path: Path) -> dict[str, Any]:
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError("no JSON object")
            return row
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"Line {number} of {os.fspath(path)!r} is not a row of results: {error}. "
                "Remove that line; its cell is then computed again."
            ) from error

    @contextmanager
    def open_for_writing(self) -> Iterator[Any]:
        """Give a function that appends rows, and keep all other writers out meanwhile.

        Yields
        ------
        append : callable
            Takes an iterable of rows; when it returns they are on the disk.

        Raises
        ------
        BlockingIOError
            If another process is writing to the file.
        """
        with self._locked() as descriptor:

            def append(rows: Iterable[dict[str, Any]]) -> None:
                content = memoryview(_lines(rows))
                with _naming(self.path):
                    while content:
                        content = content[os.write(descriptor, content) :]
                    os.fsync(descriptor)

            yield append

    @contextmanager
    def _locked(self) -> Iterator[int]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.path, flags, 0o666)
        try:
            _lock(descriptor, self.path)
            _drop_broken_line(descriptor)
            if os.fstat(descriptor).st_size and self.packed.is_file() and not self._contents()[1]:
                os.ftruncate(descriptor, 0)  # the last step of `pack`, which was killed before
            yield descriptor
        finally:
            # The lock goes with the descriptor, also where the process is killed.
            os.close(descriptor)


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows).encode()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let errors of the operating system say which file could not be written."""
    try:
        yield
    except OSError as error:
        reason = f"{os.fspath(path)!r} could not be written: {error.strerror}."
        raise OSError(error.errno, reason) from error


def _finished(content: bytes) -> bytes:
    """Return the lines up to the last line break: what follows it was never finished."""
    return content[: content.rfind(b"\n") + 1]


def _lock(descriptor: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        def take() -> None:
            # A byte far behind the rows: there a locked byte cannot be read either.
            os.lseek(descriptor, 1 << 40, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:

        def take() -> None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    try:
        take()
    except OSError as error:
        raise BlockingIOError(
            f"Another process is writing to {os.fspath(path)!r}; wait for it, or choose another "
            "folder for the results."
        ) from error


def _drop_broken_line(descriptor: int) -> None:
    """Cut off what stands behind the last line break."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    end = size
    while end > 0:
        start = max(0, end - (1 << 16))
        os.lseek(descriptor, start, os.SEEK_SET)
        position = os.read(descriptor, end - start).rfind(b"\n")
        if position >= 0:
            end = start + position + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)
