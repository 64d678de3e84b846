"""Sampler files: versioned `.npz` archives that are read without running any code in them."""

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from metasampler.meta._policy import GaussianPolicy

__all__ = [
    "FORMAT",
    "check_folder",
    "plain_entries",
    "read_archive",
    "read_sampler",
    "write_archive",
    "write_sampler",
]

#: Name and version in each file. A change of the layout counts the version up, and
#: `read_sampler` keeps reading the older ones.
FORMAT = "metasampler.MetaSampler"
VERSION = 1


def plain_entries(entries: dict[str, Any]) -> dict[str, Any]:
    """The entries that JSON can hold; a callable or a RandomState is left out."""
    plain = {}
    for name, value in entries.items():
        try:
            plain[name] = json.loads(json.dumps(value, default=_to_plain))
        except TypeError:
            continue
    return plain


def _to_plain(value):
    """NumPy numbers and arrays as JSON knows them."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} has no plain form")


def check_folder(path) -> Path:
    """The path of a file that is to be written, if there is a folder for it."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {os.fspath(path.parent)!r} to save into.")
    return path


def write_archive(path, header: dict, content: dict, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a header, a content and arrays, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file; it is replaced if it exists.
    header, content : dict
        In types that JSON knows.
    arrays : dict of ndarray
    """
    path = check_folder(path)
    named: dict[str, Any] = dict(arrays)
    # Into a file beside it first: an interrupted write must not leave half a file.
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            np.savez(file, header=json.dumps(header), content=json.dumps(content), **named)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_archive(path, format: str, version: int) -> tuple[dict, dict, dict[str, np.ndarray]]:
    """Read what `write_archive` wrote; any damage shows as an exception of some kind.

    Returns
    -------
    header, content : dict
    arrays : dict of ndarray
    """
    # From memory: numpy leaves a damaged file open.
    stored = io.BytesIO(Path(path).read_bytes())
    with np.load(stored, allow_pickle=False) as archive:
        header = json.loads(str(archive["header"]))
        if header.get("format") != format:
            raise ValueError(f"its format is {header.get('format')!r}, not {format!r}")
        if header.get("version") != version:
            raise ValueError(
                f"its version is {header.get('version')!r}; this release reads version {version}"
            )
        content = json.loads(str(archive["content"]))
        if not isinstance(content, dict):
            raise ValueError("its settings are not a table")
        arrays = {name: archive[name] for name in archive.files}
    del arrays["header"], arrays["content"]
    return header, content, arrays


def write_sampler(path, policy: GaussianPolicy, content: dict[str, Any]) -> None:
    """Write a policy and its settings, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file; it is replaced if it exists.
    policy : GaussianPolicy
    content : dict
        What else is to be kept, in types that JSON knows.
    """
    arrays: dict[str, np.ndarray] = {}
    for number, (weights, biases) in enumerate(policy.layers):
        arrays[f"weights_{number}"] = weights
        arrays[f"biases_{number}"] = biases
    header = {"format": FORMAT, "version": VERSION, "n_layers": len(policy.layers)}
    write_archive(path, header, content, arrays)


def read_sampler(path) -> tuple[GaussianPolicy, dict[str, Any]]:
    """Read what `write_sampler` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    policy : GaussianPolicy
    content : dict

    Raises
    ------
    ValueError
        If the file is no sampler, is damaged, or was written by a later version.
    """
    try:
        header, content, arrays = read_archive(path, FORMAT, VERSION)
        layers = range(header["n_layers"])
        policy = GaussianPolicy.from_layers(
            [arrays[f"weights_{number}"] for number in layers],
            [arrays[f"biases_{number}"] for number in layers],
        )
    # Damage can show as almost any error of zipfile, numpy, json or the code above.
    except Exception as error:
        raise ValueError(f"{os.fspath(path)!r} is not a usable sampler file: {error}.") from error
    return policy, content
