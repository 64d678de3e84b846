"""Checkpoints: the whole state of a meta-training in one file, to go on from later."""

import os
import warnings
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import joblib

from metasampler.policy import check_writable, naming_the_input, read_archive, write_archive

FORMAT = "metasampler.MetaTraining"
VERSION = 3

# A replay memory of millions of transitions.
_LARGEST = 1 << 30

#: Names of the arrays that learners store.
_ARRAYS = (
    "policy|critics|target_critics|adam|alpha_adam|log_alpha|memory|reward_factors|"
    "waiting_(tasks|states|actions|rewards)|tasks|scores|states"
)


class Checkpoint(NamedTuple):
    """Store a meta-training every so many rounds, and resume one that agrees with it.

    ``origin`` is what the result depends on, by name: a state of another origin is refused.
    """

    path: Path
    every: int
    origin: dict[str, Any]

    @classmethod
    def of(cls, training, path, every: int, settings: dict[str, Any]) -> "Checkpoint":
        """Return the checkpoint of a training that has not started, if it can be written."""
        if not isinstance(every, Integral) or every < 1:
            raise ValueError(f"checkpoint_every must be an int of at least 1, got {every!r}.")
        if not isinstance(settings.get("random_state"), Integral):
            raise ValueError(
                "A checkpoint needs an int as random_state, so that a resumed training is the same "
                f"training; got {settings.get('random_state')!r}."
            )
        tasks = [
            # All that an episode reads of a task.
            [name, joblib.hash([task.tables, task.codes, task.rows, task.weights])]
            for name, task in zip(training.names, training.data, strict=True)
        ]
        return cls(check_writable(path), int(every), {**settings, "tasks": tasks})

    def store_if_due(self, training) -> None:
        """Write the state of a training, whole or not at all, if it is time to.

        A full disk does not end the training: there is a warning, and the next write may succeed.
        """
        finished = training.stopped or training.n_rounds_done == training.learner.n_rounds
        if not finished and training.n_rounds_done % self.every:
            return
        facts, arrays = training.learner.get_state()
        content = {
            "origin": self.origin,
            "n_rounds_done": training.n_rounds_done,
            "history": training.history,
            "notes": training.notes,
            "learner": facts,
        }
        try:
            write_archive(self.path, {"format": FORMAT, "version": VERSION}, content, arrays)
        except OSError as error:
            warnings.warn(
                f"The checkpoint is not up to date: {error} The training goes on.",
                RuntimeWarning,
                stacklevel=2,
            )

    def restore(self, training) -> bool:
        """Let a training go on from the stored state; return whether there is one."""
        if not self.path.exists():
            return False
        try:
            _, content, arrays = read_archive(
                self.path, FORMAT, (VERSION,), _ARRAYS, what="checkpoint", largest=_LARGEST
            )
            self._check_origin(content.get("origin"))
            with naming_the_input(self.path, "checkpoint"):
                training.learner.set_state(content["learner"], arrays)
                training.n_rounds_done = int(content["n_rounds_done"])
                training.history[:] = content["history"]
                training.notes.update(content["notes"])
        except ValueError as error:
            raise ValueError(f"{error} Remove it to start anew, or name another file.") from error
        return True

    def _check_origin(self, stored: Any) -> None:
        """Refuse a state of another training."""
        stored = stored if isinstance(stored, dict) else {}
        differences = []
        for name, now in sorted(self.origin.items()):
            was = stored.get(name)
            if was != now and name == "tasks":
                differences.append("its tasks are not these")
            elif was != now:
                differences.append(f"{name} was {was!r} and is {now!r}")
        if differences:
            raise ValueError(
                f"The checkpoint {os.fspath(self.path)!r} is of another meta-training: "
                f"{'; '.join(differences)}."
            )
