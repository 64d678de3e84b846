"""Files: archives that are read without running any code in them, and samplers stored in these.

An archive is an `.npz` file with two texts in JSON, the header and the content, and arrays. Whoever
reads one may have it from a stranger. So sizes are checked before anything is unpacked, only the
expected names are read, and an array is nothing but a header and its bytes: no pickles.
"""

import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.lib import format as npy

from metasampler.growth import DEFAULT_SIGMA
from metasampler.policy._network import GaussianPolicy
from metasampler.policy._policies import LearnedPolicy
from metasampler.policy._schema import check_content
from metasampler.policy._state import StateEncoder

__all__ = [
    "FORMAT",
    "check_writable",
    "find_sampler",
    "load_policy",
    "pretrained_names",
    "read_archive",
    "read_sampler",
    "write_archive",
    "write_sampler",
]

#: Name and version in each file. A change of the layout counts the version up, and
#: `read_sampler` keeps reading the older ones.
FORMAT = "metasampler.MetaSampler"
VERSION = 2

#: Where the samplers that come with the package lie.
FOLDER = Path(__file__).parent / "pretrained"

# A sampler has some ten kilobytes. Its history may be a hundred times as long, and not more.
_LARGEST_SAMPLER = 32 << 20
_MOST_ARRAYS = 128

_SAMPLER_FILE = "sampler file"
_LAYERS = r"(weights|biases)_\d{1,2}"


def pretrained_names() -> list[str]:
    """Return the names of the samplers that come with the package.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from metasampler.policy import pretrained_names
    >>> "universal" in pretrained_names()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.npz"))


def find_sampler(path_or_name) -> Path:
    """Return the file of a sampler, by its path or by its name in the package.

    Parameters
    ----------
    path_or_name : str or path
        A string that is a name means that sampler, whatever files lie around; ``"./name"`` is a
        file.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> from metasampler.policy import find_sampler
    >>> find_sampler("universal").name
    'universal.npz'
    """
    names = pretrained_names()
    if path_or_name in names:
        return FOLDER / f"{path_or_name}.npz"
    path = Path(path_or_name)
    if path.is_file():
        return path
    known = f"the names are {', '.join(names)}" if names else "none comes with this version"
    raise FileNotFoundError(
        f"There is no sampler file {os.fspath(path_or_name)!r}, and no pretrained sampler of that "
        f"name; {known}. As meta_sampler of a MesaClassifier, 'random', 'fit' or a number in "
        "[0, 1] need no file."
    )


# ---------------------------------------------------------------------- writing


def check_writable(path) -> Path:
    """Return the path of a file that can be written, or raise an error.

    Long work whose result goes to a file calls this first.

    Parameters
    ----------
    path : str or path
        The file; it need not exist, and is not changed.

    Returns
    -------
    path : Path

    Raises
    ------
    OSError
        If there is no folder for it, or one that cannot be written to.

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
    with _naming_the_output(path), open(temporary, "xb"):
        temporary.unlink()
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
    largest: int = _LARGEST_SAMPLER,
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
    with _naming_the_input(path, what):
        path = Path(path)
        # With some space for what surrounds the arrays.
        if path.stat().st_size > largest + (1 << 20):
            raise ValueError(f"it is larger than {largest >> 20} MB")
        # From memory: a damaged file must not stay open.
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            members = _check_members(archive, largest)
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


@contextmanager
def _naming_the_input(path, what: str) -> Iterator[None]:
    """Turn any error into a ValueError that names the file."""
    try:
        yield
    # Damage can show as almost any error of zipfile, numpy, json or our own code.
    except Exception as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ValueError(f"{os.fspath(path)!r} is not a usable {what}: {reason}.") from error


def _check_members(archive: zipfile.ZipFile, largest: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, if they are few and small enough."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise ValueError(f"it holds {name[:100]!r} twice")
        members[name] = info
    missing = sorted({"header", "content"} - members.keys())
    if missing:
        raise ValueError(f"it has no {missing[0]}")
    size = sum(info.file_size for info in members.values())
    if size > largest or len(members) > _MOST_ARRAYS + 2:
        raise ValueError(
            f"it would unpack to {len(members)} arrays of {size / 2**20:.0f} MB; allowed are "
            f"{_MOST_ARRAYS} of {largest >> 20} MB"
        )
    return members


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


# ---------------------------------------------------------------------- samplers


def write_sampler(path, policy: GaussianPolicy, content: Mapping[str, Any]) -> None:
    """Write a policy and its settings, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file; it is replaced if it exists.
    policy : GaussianPolicy
    content : dict
        ``settings``, ``history``, ``summary`` and ``n_updates``, in types that JSON knows.
    """
    if len(json.dumps(content)) > _LARGEST_SAMPLER // 2:
        raise ValueError(
            f"The history of {len(content['history'])} episodes is too long for a file; save the "
            "sampler with history=False."
        )
    arrays: dict[str, np.ndarray] = {}
    for number, (weights, biases) in enumerate(policy.layers):
        arrays[f"weights_{number}"] = weights
        arrays[f"biases_{number}"] = biases
    header = {"format": FORMAT, "version": VERSION, "n_layers": len(policy.layers)}
    write_archive(path, header, content, arrays)


def read_sampler(path) -> tuple[GaussianPolicy, dict[str, Any]]:
    """Read what `write_sampler` wrote, now or in the first release.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    policy : GaussianPolicy
    content : dict
        Of the form that `write_sampler` takes, with all that is in it checked.

    Raises
    ------
    ValueError
        If the file is no sampler, is damaged, or was written by a later version.
    """
    header, content, arrays = read_archive(path, FORMAT, (1, 2), _LAYERS, what=_SAMPLER_FILE)
    with _naming_the_input(path, _SAMPLER_FILE):
        content = check_content(content, header["version"])
        settings = content["settings"]
        encoder = StateEncoder(settings.get("state", "all"), settings.get("n_bins", 5))
        state_size = encoder.size
        n_layers: Any = header.get("n_layers")
        names = [f"{part}_{i}" for part in ("weights", "biases") for i in range(len(arrays) // 2)]
        if len(arrays) != 2 * n_layers or set(names) != arrays.keys():
            raise ValueError(f"it says n_layers = {n_layers!r} and has {sorted(arrays)}")
        policy = GaussianPolicy.from_layers(
            [arrays[name] for name in names[:n_layers]], [arrays[name] for name in names[n_layers:]]
        )
        if policy.state_size != state_size:
            raise ValueError(
                f"its policy reads states of length {policy.state_size}, but {encoder} have length "
                f"{state_size}"
            )
        hidden = settings.setdefault("hidden_layer_sizes", policy.hidden)
        if hidden != policy.hidden:
            raise ValueError(f"its hidden_layer_sizes {hidden} are not {policy.hidden}")
    return policy, content


# A fit may take less time than it takes to read the file of the default.
_read_once = lru_cache(read_sampler)


def load_policy(path_or_name) -> LearnedPolicy:
    """Read the policy of a sampler from a file, or one that comes with the package.

    Parameters
    ----------
    path_or_name : str or path
        A file, or a name; ``metasampler samplers`` lists the names.

    Returns
    -------
    policy : LearnedPolicy

    Examples
    --------
    >>> from metasampler.policy import load_policy
    >>> load_policy("universal")
    LearnedPolicy(states of kind 'summary', mu_min=0.4, sigma=0.2)
    """
    path = find_sampler(path_or_name)
    pretrained = path.parent == FOLDER
    actor, content = _read_once(path) if pretrained else read_sampler(path)
    settings = content["settings"]
    return LearnedPolicy(
        actor,
        StateEncoder(settings.get("state", "all"), settings.get("n_bins", 5)),
        settings.get("mu_min", 0.0),
        settings.get("sigma", DEFAULT_SIGMA),
        content["summary"],
    )
