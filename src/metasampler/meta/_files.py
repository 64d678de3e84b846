"""Sampler files: versioned `.npz` archives that are read without running any code in them."""

import io
import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from metasampler.meta._policy import GaussianPolicy

__all__ = ["FORMAT", "plain_entries", "read_sampler", "write_sampler"]

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
    path = Path(path)
    arrays: dict[str, Any] = {}
    for number, (weights, biases) in enumerate(policy.layers):
        arrays[f"weights_{number}"] = weights
        arrays[f"biases_{number}"] = biases
    header = {"format": FORMAT, "version": VERSION, "n_layers": len(policy.layers)}
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {os.fspath(path.parent)!r} to save into.")
    # Into a file beside it first: an interrupted write must not leave half a sampler.
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            np.savez(file, header=json.dumps(header), content=json.dumps(content), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
    # From memory: numpy leaves a damaged file open.
    stored = io.BytesIO(Path(path).read_bytes())
    try:
        with np.load(stored, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            if header.get("format") != FORMAT:
                raise ValueError(f"its format is {header.get('format')!r}, not {FORMAT!r}")
            version = header.get("version")
            if version != VERSION:
                raise ValueError(
                    f"its version is {version!r}; this release reads version {VERSION}"
                )
            layers = range(header["n_layers"])
            policy = GaussianPolicy.from_layers(
                [archive[f"weights_{number}"] for number in layers],
                [archive[f"biases_{number}"] for number in layers],
            )
            content = json.loads(str(archive["content"]))
            if not isinstance(content, dict):
                raise ValueError("its settings are not a table")
            return policy, content
    # Damage can show as almost any error of zipfile, numpy, json or the code above.
    except Exception as error:
        raise ValueError(f"{os.fspath(path)!r} is not a usable sampler file: {error}.") from error
