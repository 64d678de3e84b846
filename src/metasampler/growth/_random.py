"""Named random streams: every draw of a fit has an address of its own.

A stream is found by *what it serves* and *which step it serves*, never by how much
randomness was used before it. So a result does not depend on ``n_jobs``, a warm start
continues as one longer fit would have gone, and a row's random number does not depend on
how the rows are split into chunks.
"""

from enum import IntEnum

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
    LEARNER = 6
    TIES = 7
    CANDIDATE = 8


class RandomStreams:
    """The random streams of one fit or one meta-training episode.

    Parameters
    ----------
    entropy : int
        What all streams derive from.
    path : tuple of int, default=()
        Where this set of streams stands below the entropy.
    """

    def __init__(self, entropy: int, path: tuple[int, ...] = ()):
        self.entropy = int(entropy)
        self.path = path

    @classmethod
    def from_random_state(cls, random_state) -> "RandomStreams":
        """Take the entropy from a scikit-learn style ``random_state``."""
        if isinstance(random_state, (int, np.integer)):
            return cls(int(random_state))
        return cls(int(check_random_state(random_state).randint(np.iinfo(np.int32).max)))

    def child(self, stream: Stream, index: int) -> "RandomStreams":
        """Streams for one part of the work, for instance one episode."""
        return RandomStreams(self.entropy, (*self.path, int(stream), int(index)))

    def _sequence(self, stream: Stream, index: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.entropy, spawn_key=(*self.path, int(stream), index))

    def integer(self, stream: Stream, index: int) -> int:
        """Seed for code that wants an integer ``random_state``."""
        return int(self._sequence(stream, index).generate_state(1)[0] >> 1)

    def generator(self, stream: Stream, index: int = 0) -> np.random.Generator:
        """Ordinary generator for one purpose."""
        return np.random.default_rng(self._sequence(stream, index))

    def row_key(self, stream: Stream) -> np.ndarray:
        """Key of a counter-based generator whose numbers are addressed by row."""
        return self._sequence(stream, 0).generate_state(2, np.uint64)
