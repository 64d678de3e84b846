"""Files that are written whole or not at all."""

import atexit
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

__all__ = ["folder_beside", "written_beside"]

# An interrupt can come in the moment before a file or a folder is removed. What is in this set is
# removed when the process ends.
_unfinished: set[Path] = set()


@atexit.register
def _remove_unfinished() -> None:
    for path in _unfinished.copy():
        # A forked process has the names of its parent, which goes on.
        if f".{os.getpid()}." in path.name:
            shutil.rmtree(path, ignore_errors=True)
            # A name that is too long never became a file.
            with suppress(OSError):
                path.unlink(missing_ok=True)


@contextmanager
def written_beside(path: str | os.PathLike[str], *, replaces: bool = True) -> Iterator[IO[bytes]]:
    """Open a file beside a path, which replaces it once it is whole.

    An error or an interrupt leaves what was there before. An OSError names the path. Without
    ``replaces`` nothing is replaced: whether there is room and permission is tried.
    """
    path = Path(path)
    # A name in the same folder that no other writer uses.
    beside = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex}.tmp")
    _unfinished.add(beside)
    try:
        try:
            if path.exists() and not path.is_file() and not path.is_dir():
                # A file in its place would leave those who read from it waiting.
                raise OSError(
                    errno.EINVAL,
                    "it is a pipe or a device, not a file; write a file and pass it on",
                )
            with open(beside, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if replaces:
                os.replace(beside, path)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            _unfinished.discard(beside)
    except OSError as error:
        message = f"{os.fspath(path)!r} could not be written: {error.strerror or error}."
        # With its number the error stays of its own kind, for instance a PermissionError.
        arguments = (message,) if error.errno is None else (error.errno, message)
        raise OSError(*arguments) from error


@contextmanager
def folder_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder beside a path for work on it, and delete the folder at the end.

    Its name is known before it is made, so an interrupt at any moment leaves nothing behind.
    """
    path = Path(path).absolute()
    folder = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex}.work")
    _unfinished.add(folder)
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _unfinished.discard(folder)
