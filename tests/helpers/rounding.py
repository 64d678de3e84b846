"""Whether this processor rounds like the one on which results were recorded."""

from pathlib import Path

import numpy as np
import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "golden.npz"


def rounding() -> np.ndarray:
    """Return numbers whose last bits depend on the processor, NumPy and its BLAS."""
    grid = np.linspace(1e-3, 20, 1 << 9)
    functions = [np.log(grid), np.exp(-grid), np.tanh(grid)]
    # The sizes of the networks of policies and critics.
    wide, square = grid[:500].reshape(10, 50), np.resize(grid, (50, 50))
    products = [
        (array.T @ array[::-1] @ square).ravel() + (array @ square[0]).sum()
        for array in (wide, wide.astype(np.float32))
    ]
    return np.concatenate([*functions, *products])


def needs_same_rounding():
    """Return a mark that skips a test where recorded results cannot be met to the last bit."""
    with np.load(GOLDEN, allow_pickle=False) as golden:
        same = np.array_equal(golden["rounding"], rounding())
    return pytest.mark.skipif(not same, reason="recorded on a processor that rounds otherwise")
