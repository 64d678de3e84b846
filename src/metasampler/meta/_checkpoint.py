"""Checkpoints: the whole state of a meta-training in one file, to go on from later."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np

from metasampler.growth._data import GrowthData
from metasampler.meta._files import check_folder, read_archive, write_archive

__all__ = ["Checkpoint", "fingerprint"]

FORMAT = "metasampler.MetaTraining"
VERSION = 1


def fingerprint(data: GrowthData) -> str:
    """Hash of all that an episode reads of a task."""
    return joblib.hash([data.tables, data.codes, data.rows, data.weights])


class Checkpoint(NamedTuple):
    """Where a meta-training is stored, how often, and what it must agree with.

    Attributes
    ----------
    path : Path
    every : int
        Rounds between two writes.
    origin : dict
        What the result depends on, by name: a stored state of another origin is refused.
    """

    path: Path
    every: int
    origin: dict[str, Any]

    @classmethod
    def at(cls, path, every: int, origin: dict[str, Any]) -> "Checkpoint":
        """A checkpoint whose file can be written."""
        return cls(check_folder(path), every, origin)

    def write(self, content: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Store a state, whole or not at all."""
        header = {"format": FORMAT, "version": VERSION}
        write_archive(self.path, header, {"origin": self.origin, **content}, arrays)

    def read(self) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """The stored state, or None if there is none yet.

        Raises
        ------
        ValueError
            If the file is no checkpoint, or one of other settings or tasks.
        """
        if not self.path.exists():
            return None
        try:
            _, content, arrays = read_archive(self.path, FORMAT, VERSION)
            stored = dict(content["origin"])
        # Damage can show as almost any error of zipfile, numpy, json or the code above.
        except Exception as error:
            raise ValueError(
                f"{os.fspath(self.path)!r} is not a usable checkpoint: {error}. Remove it, or name "
                "another file."
            ) from error
        names = sorted({*stored, *self.origin})
        other = [name for name in names if stored.get(name) != self.origin.get(name)]
        if other:
            raise ValueError(
                f"The checkpoint {os.fspath(self.path)!r} is of another meta-training: "
                f"{'; '.join(_difference(name, stored, self.origin) for name in other)}. Remove it "
                "to start anew, or name another file."
            )
        return content, arrays


def _difference(name: str, stored: dict, now: dict) -> str:
    if name == "tasks":
        return "its tasks are not these"
    return f"{name} was {stored.get(name)!r} and is {now.get(name)!r}"
