"""Randomness: named streams, and a key for every row.

A stream is found by *what it serves* and *which step it serves*, never by how much randomness was
used before it. So a result does not depend on ``n_jobs``, a warm start continues as one longer fit,
and a row's random number does not depend on how the rows are split into chunks.
"""

from enum import IntEnum

import numpy as np
from sklearn.utils import check_random_state

# Philox yields four 64-bit words per value of its counter.
_WORDS_PER_COUNT = 4

# Rows whose keys are computed at once: they stay in the processor's cache.
_CHUNK = 1 << 15


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
    TEAM = 9
    WATCH = 10
    EDGES = 11


class RandomStreams:
    """The random streams of one fit or one meta-training episode, at a path below the entropy."""

    def __init__(self, entropy: int, path: tuple[int, ...] = ()):
        self.entropy = int(entropy)
        self.path = path

    @classmethod
    def from_random_state(cls, random_state) -> "RandomStreams":
        """Take the entropy from a ``random_state``; streams stay what they are."""
        if isinstance(random_state, cls):
            return random_state
        if isinstance(random_state, (int, np.integer)):
            return cls(int(random_state))
        return cls(int(check_random_state(random_state).randint(np.iinfo(np.int32).max)))

    def child(self, stream: Stream, index: int) -> "RandomStreams":
        """Return streams for one part of the work, for instance one episode."""
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


def race_keys(key: np.ndarray, draw: int, start: int, stop: int) -> np.ndarray:
    """Return logarithms of the exponential variates of the rows ``start`` to ``stop``.

    Each row's variate is addressed by ``(key, draw, row)`` in a counter-based generator, so
    it does not matter in which chunks, or on which machine, they are computed.
    """
    offset = start % _WORDS_PER_COUNT
    generator = np.random.Generator(
        np.random.Philox(key=key, counter=[start // _WORDS_PER_COUNT, draw, 0, 0])
    )
    # `random` takes exactly one word per number; `standard_exponential` would not.
    keys = generator.random(stop - start + offset)[offset:]
    # Zero has no logarithm; 2**-54 stands for it, below every other value the generator gives.
    np.maximum(keys, 2.0**-54, out=keys)
    np.log(keys, out=keys)
    np.negative(keys, out=keys)
    return np.log(keys, out=keys)


def race_keys_of(key: np.ndarray, draw: int, rows: np.ndarray) -> np.ndarray:
    """Return the numbers of `race_keys` for some rows, given in ascending order.

    They are computed in chunks, so that the rows in between take no memory.
    """
    keys = np.empty(len(rows))
    if not len(rows):
        return keys
    n_rows = int(rows[-1]) + 1
    for start in range(int(rows[0]) // _CHUNK * _CHUNK, n_rows, _CHUNK):
        stop = min(start + _CHUNK, n_rows)
        first, last = np.searchsorted(rows, (start, stop))
        if first < last:
            chunk = race_keys(key, draw, start, stop)
            keys[first:last] = chunk[rows[first:last] - start]
    return keys
