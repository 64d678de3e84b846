"""What may be in a file: archives, which are read without running any code, and a sampler's part.

An archive is an `.npz` file with two texts in JSON, the header and the content, and arrays. It may
come from a stranger: sizes are checked before anything is unpacked, and pickles are not read.
"""

import io
import json
import os
import re
import struct
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite, prod
from numbers import Integral, Real
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from metasampler._json import parse_json
from metasampler._sklearn_compat import Interval, StrOptions, validate_parameter_constraints
from metasampler._writing import written_beside
from metasampler.growth import SAMPLING_RATIO
from metasampler.policy._network import layer_sizes
from metasampler.policy._policies import STATE_KINDS

#: Bytes that an archive may have, unpacked. A sampler has some ten kilobytes. Its history may be a
#: hundred times as long, and not more.
LARGEST = 32 << 20
_MOST_ARRAYS = 128

# The end of a zip file: signature, two disks, entries here and in all, bytes of the directory, its
# place, and the length of a comment.
_END, _LOCATOR = struct.Struct("<4sHHHHIIH"), 20


# ---------------------------------------------------------------------- writing


def check_writable(path, room: int = 0) -> Path:
    """Return the path of a file that can be written, or raise an OSError.

    Long work whose result goes to a file calls this first. The file need not exist and is not
    changed; ``room`` are the bytes that have to be free for it.
    """
    path = Path(path)
    if not os.path.isdir(path.parent):
        raise FileNotFoundError(f"There is no folder {os.fspath(path.parent)!r} to save into.")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; name a file in it.")
    with written_beside(path, replaces=False) as file:
        file.write(bytes(room))
    return path


def write_archive(
    path, header: Mapping[str, Any], content: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a header and a content, in types that JSON knows, and arrays, whole or not at all.

    An OSError leaves what was there before unchanged.
    """
    path = check_writable(path)
    text = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    named: dict[str, Any] = {"header": json.dumps(header), "content": text, **arrays}
    with written_beside(path) as file:
        np.savez(file, **named)


# ---------------------------------------------------------------------- reading


@contextmanager
def naming_the_input(path, what: str) -> Iterator[None]:
    """Turn any error into a ValueError that names the file, and what it should be."""
    try:
        yield
    # Damage can show as almost any error of zipfile, numpy, json or our own code.
    except Exception as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ValueError(f"{os.fspath(path)!r} is not a usable {what}: {reason}.") from error


def read_archive(
    path,
    format: str,
    version: int,
    names: str,
    *,
    what: str = "archive",
    largest: int = LARGEST,
) -> tuple[dict, dict, dict[str, np.ndarray]]:
    """Read header, content and arrays that `write_archive` wrote.

    The header has to name the format and the version; ``names`` is a regular expression for
    the names of the arrays, and ``largest`` says how many bytes the file may have, unpacked.
    """
    with naming_the_input(path, what):
        arrays = read_arrays(path, ("header", "content"), largest, and_others=True)
        header = _parse_text(arrays.pop("header"), "header")
        if header.get("format") != format:
            raise ValueError(f"its format is {header.get('format')!r}, not {format!r}")
        if header.get("version") != version:
            raise ValueError(
                f"its version is {header.get('version')!r}; this release reads version {version}"
            )
        content = _parse_text(arrays.pop("content"), "content")
        for name in arrays:
            if not re.fullmatch(names, name):
                raise ValueError(f"it holds {name[:100]!r}, which does not belong in such a file")
    return header, content, arrays


def read_arrays(
    path, names: Collection[str], largest: int, *, and_others: bool = False
) -> dict[str, np.ndarray]:
    """Return arrays of an `.npz` file by name, and others if asked for.

    The file may come from anywhere: only numbers and texts are read, up to ``largest`` bytes.
    """
    # With some space for what surrounds the arrays.
    if os.path.getsize(path) > largest + (1 << 20):
        raise ValueError(f"it is larger than {largest >> 20} MB")
    # Opened here: zipfile leaves a damaged file open.
    with open(path, "rb") as file:
        _check_directory(file)
        return _arrays_in(file, names, largest, and_others)


def _check_directory(file: IO[bytes]) -> None:
    """Refuse a directory of many entries before it is read; it ends the file, without a comment."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LOCATOR - _END.size))
    ending = file.read()
    if len(ending) < _LOCATOR + _END.size or ending.startswith(b"PK\6\7"):
        # A locator leads to a second directory, for archives that are larger than any of ours.
        raise ValueError("it is damaged, or not an archive")
    signature, _, _, _, n_entries, n_bytes, _, n_comment = _END.unpack(ending[_LOCATOR:])
    if signature != b"PK\5\6" or n_comment:
        raise ValueError("it is damaged, or not an archive")
    if n_entries > _MOST_ARRAYS + 2 or n_bytes > 1 << 20:
        raise ValueError(f"it holds {n_entries:,} arrays; allowed are {_MOST_ARRAYS}")


def _arrays_in(file: IO[bytes], names, largest: int, and_others: bool) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(file) as archive:
        members: dict[str, zipfile.ZipInfo] = {}
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in members:
                raise ValueError(f"it holds {name[:100]!r} twice")
            members[name] = info
        missing = sorted(set(names) - members.keys())
        if missing:
            held = ", ".join(sorted(members))[:200]
            raise ValueError(f"it has no {missing[0]}, only {held or 'nothing'}")
        if not and_others:
            members = {name: members[name] for name in names}
        size = sum(info.file_size for info in members.values())
        if size > largest or len(members) > _MOST_ARRAYS + 2:
            raise ValueError(
                f"it would unpack to {len(members)} arrays of {size / 2**20:.0f} MB; allowed are "
                f"{_MOST_ARRAYS} of {largest >> 20} MB"
            )
        return {name: _read_array(archive, info) for name, info in members.items()}


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """Return one array of numbers or a text; nothing else has a form that is read."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # The others take memory that the file chooses.
        raise ValueError(f"{info.filename[:100]} is packed in an unusual way")
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
    # Compared before anything is allocated: the shape is only what the file says it is. NumPy's own
    # reader allocates first.
    data = stored.getbuffer()[stored.tell() :]
    if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"{info.filename} has other bytes than its shape {shape} says")
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if in_columns else "C")
    return array.astype(dtype.newbyteorder("="))


def _parse_text(array: np.ndarray, name: str) -> dict[str, Any]:
    """Return a table in JSON, which is a text or its bytes."""
    if array.dtype.kind == "U" and array.shape == ():
        text = str(array).encode()
    elif array.dtype == np.uint8:
        text = array.tobytes()
    else:
        raise ValueError(f"its {name} is not a text")
    table = parse_json(text, f"its {name}", allow_nan=True)
    if not isinstance(table, dict):
        raise ValueError(f"its {name} is not a table")
    return table


# ---------------------------------------------------------------------- the schema of a sampler

_COUNT = Interval(Integral, 1, None, closed="left")
_COUNT_OR_NONE = Interval(Integral, 0, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")

#: Limits of the settings that are stored, by name; those of `MetaSampler` are these.
SAMPLER_SETTINGS: dict[str, list] = {
    "n_estimators": [Interval(Integral, 2, 1_000_000, closed="both")],
    "sigma": [_POSITIVE],
    "mu_min": [Interval(Real, 0, 1, closed="left")],
    "sampling_ratio": SAMPLING_RATIO,
    "state": [StrOptions(set(STATE_KINDS))],
    "n_bins": [Interval(Integral, 1, 1000, closed="both")],
    "hidden_layer_sizes": ["array-like"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "train_ratio": [Interval(Real, 0, 1, closed="right")],
    "scoring": [str],
    "random_state": [None, Interval(Integral, 0, 2**32 - 1, closed="both")],
}

#: The same for the trainers, by the name of their class.
TRAINER_SETTINGS: dict[str, dict[str, list]] = {
    "SoftActorCritic": {
        "gamma": [Interval(Real, 0, 1, closed="both")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [_POSITIVE],
        "lr_decay": [Interval(Real, 0, 1, closed="right")],
        "memory_size": [Interval(Integral, 1, 10**7, closed="both")],
        "n_random_steps": [_COUNT_OR_NONE],
        "n_updates": [_COUNT_OR_NONE],
        "reward_scale": [_POSITIVE],
        "scale_tasks": ["boolean"],
        "tasks_per_round": [None, _COUNT],
    },
    "FitToConstants": {
        "n_sweeps": [_COUNT],
        "n_constants": [Interval(Integral, 3, None, closed="left")],
        "score_on": [StrOptions({"valid", "test"})],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "relative": ["boolean"],
        "tasks_per_round": [None, _COUNT],
    },
}

#: What an entry of a history holds.
_ENTRY: dict[str, type | tuple[type, ...]] = {
    "episode": Integral,
    "task": str,
    "train_score": Real,
    "valid_score": Real,
    "test_score": (Real, type(None)),
    "actions": list,
    "n_random_actions": Integral,
}


def check_content(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a sampler file, or raise a ValueError.

    Its ``settings`` then have a ``trainer`` that is None or a dict of ``name`` and ``params``.
    """
    parts = {"settings": dict, "history": list, "summary": dict, "n_updates": int}
    for name, kind in parts.items():
        if type(content.get(name)) is not kind:
            raise ValueError(f"its {name} must be of type {kind.__name__}")
    if content["n_updates"] < 0:
        raise ValueError(f"its n_updates is {content['n_updates']}")
    for number, entry in enumerate(content["history"]):
        _check_entry(number, entry)
    settings = dict(content["settings"])
    trainer = settings.pop("trainer", None)
    trainer = None if trainer is None else _check_trainer(trainer)
    settings = _check_settings(settings, SAMPLER_SETTINGS, "MetaSampler")
    return {**{name: content[name] for name in parts}, "settings": {**settings, "trainer": trainer}}


def _check_trainer(trainer: Any) -> dict[str, Any]:
    if not isinstance(trainer, dict) or trainer.keys() != {"name", "params"}:
        raise ValueError("its trainer must have a name and params")
    name, params = trainer["name"], trainer["params"]
    if not isinstance(name, str) or name not in TRAINER_SETTINGS or not isinstance(params, dict):
        raise ValueError(f"its trainer must be one of {sorted(TRAINER_SETTINGS)}")
    return {"name": name, "params": _check_settings(params, TRAINER_SETTINGS[name], name)}


def _check_settings(settings: dict[str, Any], known: dict[str, list], owner: str) -> dict[str, Any]:
    """Return settings with names and values that their owner takes."""
    settings = dict(settings)
    unknown = sorted(settings.keys() - known.keys())
    if unknown:
        raise ValueError(f"its setting {unknown[0][:100]!r} is none of a {owner}")
    validate_parameter_constraints(known, settings, caller_name=owner)
    for name, value in settings.items():
        # To Python True is a number, and JSON knows no limit for one.
        if isinstance(value, bool) and "boolean" not in known[name]:
            raise ValueError(f"its {name} is {value}")
        if isinstance(value, Real):
            float(value)
        if name.endswith("hidden_layer_sizes"):
            settings[name] = layer_sizes(value, name)
    return settings


def _check_entry(number: int, entry: Any) -> None:
    """Raise a ValueError if this is not an entry of a history."""
    if not isinstance(entry, dict):
        raise ValueError(f"entry {number} of its history is not a table")
    for name, kind in _ENTRY.items():
        value = entry.get(name)
        parts = value if isinstance(value, list) else [value]
        are_numbers = all(
            isinstance(part, Real) and not isinstance(part, bool) and isfinite(part)
            for part in parts
        )
        if not isinstance(value, kind) or not (are_numbers or isinstance(value, str | None)):
            raise ValueError(f"entry {number} of its history has no usable {name}")
