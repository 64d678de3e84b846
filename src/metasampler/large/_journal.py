"""A journal of members: a restarted fit skips finished members."""

import os
import pickle
import threading
from collections import Counter
from pathlib import Path
from typing import Any

__all__ = ["Journal"]

#: How such a file begins: nothing else is ever written over.
_BEGIN = b"members of metasampler\n"

#: Under which name the fingerprint of the rows is remembered.
_ROWS = ("rows",)


class Journal:
    """Remember fitted members in a file, in the order in which they are fitted.

    The file is a pickle: read only your own.

    Parameters
    ----------
    path : path
        The file; what it holds already is read.
    fit : str
        Which fit this is. A file of another one is refused.
    """

    def __init__(self, path, fit: str):
        self.path = Path(path)
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
            self._append(fit)

    def _read(self, fit: str) -> int:
        """Read the file, and return the size of what is whole; 0 if nothing was written yet."""
        size, entries = 0, []
        with open(self.path, "rb") as file:
            if file.read(len(_BEGIN)) != _BEGIN:
                raise ValueError(
                    f"checkpoint={str(self.path)!r} is a file that no fit has written; it is left "
                    "as it is. Name another one."
                )
            while True:
                try:
                    entries.append(pickle.load(file))
                except (EOFError, pickle.UnpicklingError, IndexError, ValueError):
                    break
                size = file.tell()
        if entries and entries[0] != fit:
            raise ValueError(
                f"The checkpoint {self.path} is one of another fit: of other settings or columns. "
                "Remove it, or name another file."
            )
        self._entries = dict(entries[1:])
        return size

    def _append(self, entry) -> None:
        with self._lock, open(self.path, "ab") as file:
            pickle.dump(entry, file)
            file.flush()
            os.fsync(file.fileno())

    def check_rows(self, fingerprint: str) -> None:
        """Refuse rows that are not those of the members here; the first ones are remembered."""
        known = self.find(_ROWS)
        if known is None:
            self.add(_ROWS, fingerprint)
        elif known != fingerprint:
            raise ValueError(
                f"The checkpoint {self.path} is one of other rows, labels, weights or groups, or "
                "of the same in another order. Remove it, or name another file."
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
        self._append((key, fitted))
