"""A journal of members: a restarted fit skips finished members."""

import os
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metasampler._warnings import warn_user

__all__ = ["Journal"]

#: How such a file begins: nothing else is ever written over.
_BEGIN = b"members of metasampler 2\n"

#: Before each entry: how many bytes it has, and their checksum.
_HEAD = struct.Struct("<QI")

#: Under which name the fingerprint of the rows is remembered.
_ROWS = ("rows",)


class Journal:
    """Remember fitted members in a file, in the order in which they are fitted.

    An entry is appended for each member, as JSON and arrays. Reading them runs no code. A file that
    is damaged is renamed, with a warning, and the fit begins anew. An entry that was not finished
    is cut off.

    Parameters
    ----------
    path : path
        The file; what it holds already is read.
    fit : str
        Which fit this is. A file of another one is refused.
    to_bytes, from_bytes : callable
        What turns a name and a member into bytes, and back. The first raises a TypeError for a
        member that no file can hold, the second a ValueError for bytes that are damaged.
    """

    def __init__(
        self,
        path,
        fit: str,
        to_bytes: Callable[[Any], bytes],
        from_bytes: Callable[[bytes], Any],
    ):
        self.path = Path(path)
        self._to_bytes, self._from_bytes = to_bytes, from_bytes
        self._entries: dict[tuple, Any] = {}
        self._asked: Counter = Counter()
        # Teams that grow side by side write to one file.
        self._lock = threading.Lock()
        size = self._read(fit) if self.path.exists() and self.path.stat().st_size else 0
        if size:
            # What was being written when the other process ended is cut off.
            os.truncate(self.path, size)
        else:
            self.path.write_bytes(_BEGIN)
            self._append(to_bytes(fit))

    def _read(self, fit: str) -> int:
        """Read the file, and return the size of what is whole; 0 if nothing was written yet."""
        content = self.path.read_bytes()
        if not content.startswith(_BEGIN):
            raise ValueError(
                f"checkpoint={str(self.path)!r} is a file that no fit has written; it is left "
                "as it is. Name another one."
            )
        try:
            size, entries = self._entries_of(content)
        except ValueError as error:
            aside = _unused(self.path)
            os.replace(self.path, aside)
            warn_user(
                f"The checkpoint {self.path} is damaged, so the fit begins anew; what was there is "
                f"now {aside.name}: {error}"
            )
            return 0
        if entries and entries[0] != fit:
            raise ValueError(
                f"The checkpoint {self.path} is one of another fit: of other settings or columns. "
                "Remove it, or name another file."
            )
        self._entries = dict(entries[1:])
        return size if entries else 0

    def _entries_of(self, content: bytes) -> tuple[int, list]:
        """Return the bytes up to the last whole entry, and all entries."""
        size = len(_BEGIN)
        entries: list = []
        while size + _HEAD.size <= len(content):
            length, checksum = _HEAD.unpack_from(content, size)
            entry = content[size + _HEAD.size : size + _HEAD.size + length]
            if len(entry) < length:
                break
            if zlib.crc32(entry) != checksum:
                raise ValueError(f"its entry {len(entries) + 1} has another checksum.")
            value = self._from_bytes(entry)
            if not (_is_entry(value) if entries else isinstance(value, str)):
                raise ValueError(f"its entry {len(entries) + 1} is not a member.")
            entries.append(value)
            size += _HEAD.size + length
        return size, entries

    def _append(self, content: bytes) -> None:
        with self._lock, open(self.path, "ab") as file:
            file.write(_HEAD.pack(len(content), zlib.crc32(content)) + content)
            file.flush()
            os.fsync(file.fileno())

    def check_rows(self, fingerprint: str) -> None:
        """Refuse rows that are not those of the members here; the first ones are remembered."""
        known = self.find(_ROWS)
        if known is None:
            self.add(_ROWS, fingerprint)
        elif not isinstance(known, str) or known != fingerprint:
            raise ValueError(
                f"The checkpoint {self.path} is one of other rows, labels, weights or groups, or "
                "of the same in another order. Remove it, or name another file."
            )

    def refuse(self) -> ValueError:
        """Return the error of a member that this fit has not made."""
        return ValueError(
            f"The checkpoint {self.path} holds what is not a member of this fit: it has other "
            "columns or classes, or is of another type. Remove it, or name another file."
        )

    def key(self, *name) -> tuple:
        """Return the name of a member; a repeated name is numbered."""
        self._asked[name] += 1
        return (*name, self._asked[name])

    def find(self, key: tuple):
        """Return what is remembered of a member, or None."""
        return self._entries.get(key)

    def add(self, key: tuple, fitted) -> None:
        """Remember a member."""
        self._entries[key] = fitted
        try:
            content = self._to_bytes((key, fitted))
        except TypeError as error:
            # The fit goes on; only a restart has to fit this member again.
            warn_user(
                f"The checkpoint {self.path} cannot hold a member, so a restarted fit would fit it "
                f"again: {error}"
            )
        else:
            self._append(content)


def _is_entry(value: Any) -> bool:
    """Return whether this is a name and what is remembered under it."""
    if not (isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple)):
        return False
    return all(part is None or isinstance(part, (str, int, float)) for part in value[0])


def _unused(path: Path) -> Path:
    """Return a name for a damaged file that nothing has yet."""
    aside, number = path.with_name(f"{path.name}.damaged"), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{number}")
    return aside
