"""Fingerprints of rows in partitions: the same however the rows are cut."""

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.tables import is_frame

__all__ = ["fingerprint_rows"]

_CHUNK = 1 << 15
_ALL = (1 << 64) - 1


def fingerprint_rows(
    table,
    codes: np.ndarray,
    weights: np.ndarray | None,
    start: int,
    groups: np.ndarray | None = None,
) -> int:
    """Return a number that other rows, or the same rows in another order, hardly ever have.

    It is a sum over the rows, modulo 2 ** 64, so those of all partitions can be added up; ``start``
    is the number of the first row. Each row counts by its values, its class, its weight, its
    group and its number. It finds mistakes, not forgeries.
    """
    n_columns = table.shape[1]
    factors = np.random.SeedSequence(n_columns).generate_state(n_columns + 4, np.uint64) | 1
    total = 0
    for first in range(0, len(codes), _CHUNK):
        rows = slice(first, first + _CHUNK)
        bits = _bits_of_rows(take_rows(table, rows), factors[4:])
        bits += codes[rows].astype(np.uint64) * factors[0]
        if weights is not None:
            bits += _bits(weights[rows]) * factors[1]
        if groups is not None:
            bits += groups[rows] * factors[3]
        numbers = np.arange(start + first, start + first + len(bits), dtype=np.uint64)
        bits += numbers * factors[2]
        total += int(_mixed(bits).sum(dtype=np.uint64))
    return total & _ALL


def _bits_of_rows(table, factors: np.ndarray) -> np.ndarray:
    """Return a number for the values of each row."""
    if not is_frame(table):
        return _bits(table) @ factors
    import pandas

    return pandas.util.hash_pandas_object(table, index=False).to_numpy().copy()


def _bits(values: np.ndarray) -> np.ndarray:
    """Return the bits of numbers as whole numbers."""
    values = np.ascontiguousarray(values)
    if values.itemsize not in (4, 8):
        values = values.astype(np.float64)
    return values.view(np.uint32 if values.itemsize == 4 else np.uint64).astype(np.uint64)


def _mixed(bits: np.ndarray) -> np.ndarray:
    """Return bits that depend on all bits given: SplitMix64's last step, in place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return bits
