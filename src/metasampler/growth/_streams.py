"""Named random streams: the same numbers for the same purpose, whatever else was drawn before.

A stream is found by *what it serves* and *which step it serves*. So a result does not depend on
``n_jobs``, a warm start continues as one longer fit, and a row's random number does not depend on
how the rows are split into chunks.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["RandomStreams", "Stream"]


class Stream(IntEnum):
    """What a random stream serves. The numbers are part of every result: never reuse one."""

    SPLIT = 0
    DRAW = 1
    MEMBER = 2
    POLICY = 3
    SUBSET = 4
    EPISODE = 5
    TRAINER = 6
    TIES = 7
    CANDIDATE = 8
    TEAM = 9
    EVALUATION = 10
    EDGES = 11


class RandomStreams(NamedTuple):
    """The random streams of one fit or one meta-training episode, at a path below the entropy."""

    entropy: int
    path: tuple[int, ...] = ()

    @classmethod
    def from_random_state(cls, random_state) -> "RandomStreams":
        """Take the entropy from a ``random_state``; streams stay what they are."""
        if isinstance(random_state, cls):
            return random_state
        if not isinstance(random_state, (int, np.integer)):
            random_state = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        return cls(int(random_state))

    def child(self, stream: Stream, index: int) -> "RandomStreams":
        """Return streams for one share of the work, for instance one episode."""
        return RandomStreams(self.entropy, (*self.path, int(stream), int(index)))

    def _sequence(self, stream: Stream, index: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.entropy, spawn_key=(*self.path, int(stream), index))

    def integer(self, stream: Stream, index: int) -> int:
        """Return a seed for code that wants an integer ``random_state``."""
        return int(self._sequence(stream, index).generate_state(1)[0] >> 1)

    def generator(self, stream: Stream, index: int = 0) -> np.random.Generator:
        """Return an ordinary generator for one purpose."""
        return np.random.default_rng(self._sequence(stream, index))

    def row_key(self, stream: Stream) -> np.ndarray:
        """Return the key of a counter-based generator whose numbers are addressed by row."""
        return self._sequence(stream, 0).generate_state(2, np.uint64)
