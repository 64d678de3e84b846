"""Archives: files that are read without running any code in them.

An archive is an `.npz` file with two texts in JSON, the header and the content, and arrays. Whoever
reads one may have it from a stranger. So sizes are checked before anything is unpacked, only the
expected names are read, and an array is nothing but a header and its bytes: no pickles.
"""

import io
import json
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.lib import format as npy

__all__ = [
    "LARGEST",
    "check_writable",
    "naming_the_input",
    "read_archive",
    "read_arrays",
    "write_archive",
]

#: Bytes that an archive may have, unpacked. A sampler has some ten kilobytes. Its history may be a
#: hundred times as long, and not more.
LARGEST = 32 << 20
_MOST_ARRAYS = 128


# ---------------------------------------------------------------------- writing


def check_writable(path, room: int = 0) -> Path:
    """Return the path of a file that can be written, or raise an error.

    Long work whose result goes to a file calls this first.

    Parameters
    ----------
    path : str or path
        The file; it need not exist, and is not changed.
    room : int, default=0
        Bytes that have to be free for it.

    Returns
    -------
    path : Path

    Raises
    ------
    OSError
        If there is no folder for it, or one that cannot be written to, or that has no room.

    Examples
    --------
    >>> from metasampler.policy import check_writable
    >>> check_writable("nowhere/sampler.npz")
    Traceback (most recent call last):
    FileNotFoundError: There is no folder 'nowhere' to save into.
    """
    path = Path(path)
    if not os.path.isdir(path.parent):
        raise FileNotFoundError(f"There is no folder {os.fspath(path.parent)!r} to save into.")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; name a file in it.")
    temporary = _beside(path)
    with _naming_the_output(path):
        try:
            with open(temporary, "xb") as file:
                file.write(bytes(room))
                file.flush()
                os.fsync(file.fileno())
        finally:
            temporary.unlink(missing_ok=True)
    return path


def write_archive(
    path, header: Mapping[str, Any], content: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a header, a content and arrays, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file; it is replaced if it exists.
    header, content : dict
        In types that JSON knows.
    arrays : dict of ndarray

    Raises
    ------
    OSError
        If the file cannot be written. What was there before is unchanged.
    """
    path = check_writable(path)
    text = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    named: dict[str, Any] = {"header": json.dumps(header), "content": text, **arrays}
    # Into a file beside it first: an interrupted write must not leave half a file.
    temporary = _beside(path)
    try:
        with _naming_the_output(path):
            with open(temporary, "xb") as file:
                np.savez(file, **named)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _beside(path: Path) -> Path:
    """Return a name in the same folder that nobody else uses."""
    return path.with_name(f"{path.name}.{os.getpid()}.{uuid4().hex}.tmp")


@contextmanager
def _naming_the_output(path: Path) -> Iterator[None]:
    """Let errors of the operating system say which file could not be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        message = f"{os.fspath(path)!r} could not be written: {reason}."
        # With its number the error stays of its own kind, for instance a PermissionError.
        arguments = (message,) if error.errno is None else (error.errno, message)
        raise OSError(*arguments) from error


# ---------------------------------------------------------------------- reading


def read_archive(
    path,
    format: str,
    versions: Sequence[int],
    names: str,
    *,
    what: str = "archive",
    largest: int = LARGEST,
) -> tuple[dict, dict, dict[str, np.ndarray]]:
    """Read what `write_archive` wrote.

    Parameters
    ----------
    path : str or path
    format : str
        The format that the header has to name.
    versions : sequence of int
        The versions of the format that can be read.
    names : str
        Regular expression for the names of the arrays.
    what : str, default="archive"
        What the file should be, for the error.
    largest : int, default=32 * 2**20
        Bytes that it may have, unpacked.

    Returns
    -------
    header, content : dict
    arrays : dict of ndarray

    Raises
    ------
    ValueError
        If the file is damaged, too large or something else. It names the file.
    """
    with naming_the_input(path, what):
        path = Path(path)
        # With some space for what surrounds the arrays.
        if path.stat().st_size > largest + (1 << 20):
            raise ValueError(f"it is larger than {largest >> 20} MB")
        # From memory: a damaged file must not stay open.
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            members = _members_of(archive)
            _require({"header", "content"}, members)
            _check_sizes(members, largest)
            header = _read_text(archive, members.pop("header"))
            if header.get("format") != format:
                raise ValueError(f"its format is {header.get('format')!r}, not {format!r}")
            if header.get("version") not in versions:
                known = " and ".join(map(str, versions))
                raise ValueError(
                    f"its version is {header.get('version')!r}; this release reads version {known}"
                )
            content = _read_text(archive, members.pop("content"))
            for name in members:
                if not re.fullmatch(names, name):
                    raise ValueError(f"it holds {name[:100]!r}, which is no part of such a file")
            arrays = {name: _read_array(archive, info) for name, info in members.items()}
    return header, content, arrays


def read_arrays(
    path, names: Iterable[str], *, what: str = "file of arrays", largest: int
) -> dict[str, np.ndarray]:
    """Read some arrays of an `.npz` file from anywhere; what else is in it is not touched.

    Parameters
    ----------
    path : str or path
    names : iterable of str
        The arrays that it must hold: numbers or texts.
    what : str, default="file of arrays"
        What the file should be, for the error.
    largest : int
        Bytes that these arrays may have together, unpacked.

    Returns
    -------
    arrays : dict of ndarray

    Raises
    ------
    ValueError
        If the file is damaged, too large or something else. It names the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from metasampler.policy import read_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.npz"
    ...     np.savez(path, data=np.arange(3.0), label=["a", "b", "b"])
    ...     read_arrays(path, ["data"], largest=1000)
    {'data': array([0., 1., 2.])}
    """
    # Opened here: zipfile leaves a damaged file open.
    with naming_the_input(path, what), open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        members = _members_of(archive)
        _require(set(names), members)
        wanted = {name: members[name] for name in names}
        _check_sizes(wanted, largest)
        return {name: _read_array(archive, info) for name, info in wanted.items()}


def _require(names: set[str], members: Mapping[str, zipfile.ZipInfo]) -> None:
    missing = sorted(names - members.keys())
    if missing:
        held = ", ".join(sorted(members))[:200]
        raise ValueError(f"it has no {missing[0]}, only {held or 'nothing'}")


@contextmanager
def naming_the_input(path, what: str) -> Iterator[None]:
    """Turn any error into a ValueError that names the file."""
    try:
        yield
    # Damage can show as almost any error of zipfile, numpy, json or our own code.
    except Exception as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ValueError(f"{os.fspath(path)!r} is not a usable {what}: {reason}.") from error


def _members_of(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise ValueError(f"it holds {name[:100]!r} twice")
        members[name] = info
    return members


def _check_sizes(members: Mapping[str, zipfile.ZipInfo], largest: int) -> None:
    """Raise a ValueError if the members are many or large."""
    size = sum(info.file_size for info in members.values())
    if size > largest or len(members) > _MOST_ARRAYS + 2:
        raise ValueError(
            f"it would unpack to {len(members)} arrays of {size / 2**20:.0f} MB; allowed are "
            f"{_MOST_ARRAYS} of {largest >> 20} MB"
        )


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """Return one array of numbers or a text; nothing else has a form that is read."""
    with archive.open(info) as member:
        # Not all that is there: a member may unpack to more than it said.
        stored = io.BytesIO(member.read(info.file_size))
    version = npy.read_magic(stored)
    if version == (1, 0):
        shape, in_columns, dtype = npy.read_array_header_1_0(stored)
    elif version == (2, 0):
        shape, in_columns, dtype = npy.read_array_header_2_0(stored)
    else:
        raise ValueError(f"{info.filename} has the version {version} of the NumPy format")
    if dtype.hasobject:
        raise ValueError(f"{info.filename} is a pickle, which is never read")
    if dtype.kind not in "biufU" or dtype.itemsize == 0:
        raise ValueError(f"{info.filename} holds {dtype}, neither real numbers nor text")
    # Compared before anything is allocated: the shape is only what the file says it is.
    data = stored.getbuffer()[stored.tell() :]
    if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"{info.filename} has other bytes than its shape {shape} says")
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if in_columns else "C")
    return array.astype(dtype.newbyteorder("="))


def _read_text(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> dict[str, Any]:
    """Return a table in JSON, which is bytes, or a text as in the first release."""
    array = _read_array(archive, info)
    if array.dtype.kind == "U" and array.shape == ():
        text = str(array)
    elif array.dtype == np.uint8:
        text = array.tobytes().decode()
    else:
        raise ValueError(f"{info.filename} is no text")
    table = json.loads(text)
    if not isinstance(table, dict):
        raise ValueError(f"its {info.filename.removesuffix('.npy')} is not a table")
    return table
