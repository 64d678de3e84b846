"""What a file would hold when it is unpacked, checked before anything is."""

from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

# Numbers of trees and texts of settings shrink to a twentieth; a bomb shrinks to a thousandth.
_MOST_SHRINKING = 100
_ALWAYS_FINE = 2**26

_MOST_ENTRIES = 1_000_000
_SUFFIXES = (".bin", ".json", ".npy", ".npz")


def check_sizes(file: ZipFile, path: Path, max_bytes: int) -> None:
    """Refuse a file that would unpack to more than it should, or that holds what no model has."""
    packed = path.stat().st_size
    limit = min(max_bytes, max(_ALWAYS_FINE, _MOST_SHRINKING * packed))
    _check_total(file, limit, packed)
    for entry in file.infolist():
        if not entry.filename.endswith(_SUFFIXES):
            raise ValueError(f"it holds {entry.filename[:80]!r}, which no model has.")
        if entry.filename.endswith(".npy"):
            with file.open(entry) as array:
                _check_array(array, entry.file_size, entry.filename)
        elif entry.filename.endswith(".npz"):
            # A sparse matrix is a zip file within the zip file.
            content = file.read(entry)
            with ZipFile(BytesIO(content)) as inner:
                _check_total(inner, min(max_bytes, max(_ALWAYS_FINE, 100 * len(content))), packed)


def _check_total(file: ZipFile, limit: int, packed: int) -> None:
    entries = file.infolist()
    total = sum(entry.file_size for entry in entries)
    if total > limit or len(entries) > _MOST_ENTRIES:
        raise ValueError(
            f"{packed / 1e6:.1f} MB would become {total / 1e6:,.0f} MB in {len(entries):,} parts; "
            f"the limit is {limit / 1e6:,.0f} MB (max_bytes)."
        )
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise ValueError("it holds two parts of one name.")


def _check_array(array: Any, size: int, name: str) -> None:
    """Refuse an array that says it is larger than it is: NumPy would make room for it first."""
    version = np.lib.format.read_magic(array)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"{name} has an unknown format.")
    shape, _, dtype = read(array)
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects.")
    if prod(shape) * dtype.itemsize > size:
        raise ValueError(f"{name} says it is larger than it is.")
