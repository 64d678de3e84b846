"""Meta-sampling: Gaussian weights over errors (Eq. 3) and the weighted draw (Algorithm 1)."""

import numpy as np

__all__ = ["draw_rows", "gaussian_log_weights", "race_keys", "race_keys_of"]

# Philox yields four 64-bit words per value of its counter.
_WORDS_PER_COUNT = 4

# Rows whose keys are computed at once: they stay in the processor's cache.
_CHUNK = 1 << 15


def gaussian_log_weights(
    errors: np.ndarray, mu: float, sigma: float, out: np.ndarray | None = None
) -> np.ndarray:
    """Logarithm of the sampling weight of each row, relative to the largest.

    The weight is a Gaussian over the row's error with centre ``mu`` and width ``sigma``
    (Eq. 3). Its logarithm cannot underflow, however narrow the Gaussian, and the draw needs
    nothing else.

    Parameters
    ----------
    errors : ndarray of shape (n_rows,)
        Errors in [0, 1].
    mu : float
        The error that the draw favours.
    sigma : float
        Width of the Gaussian.
    out : ndarray of shape (n_rows,), default=None
        Where to put the result; it may be `errors`. None makes a new array.

    Returns
    -------
    log_weights : ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.meta import gaussian_log_weights
    >>> np.exp(gaussian_log_weights(np.array([0.5, 0.0, 0.5]), mu=1.0, sigma=0.5)).round(3)
    array([1.   , 0.223, 1.   ])
    """
    log_weights = np.subtract(errors, mu, out=out)
    log_weights *= log_weights
    # Relative to the best row: equal rows then have weight 1, whatever the width.
    log_weights -= log_weights.min()
    # Divided twice, and bounded: the square of the width may be too small or large for a float.
    log_weights *= -min(0.5 / sigma / sigma, 1e300)
    return log_weights


def race_keys(key: np.ndarray, draw: int, start: int, stop: int) -> np.ndarray:
    """Logarithms of exponential variates that belong to the rows ``start`` to ``stop``.

    Each row's variate is addressed by ``(key, draw, row)`` in a counter-based generator, so
    it does not matter in which chunks, or on which machine, they are computed.

    Parameters
    ----------
    key : ndarray of shape (2,), dtype=uint64
        Key of the Philox generator.
    draw : int
        Number of the draw.
    start, stop : int
        Range of row numbers.

    Returns
    -------
    keys : ndarray of shape (stop - start,)

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.meta import race_keys
    >>> key = np.array([1, 2], dtype=np.uint64)
    >>> whole = race_keys(key, draw=0, start=0, stop=10)
    >>> bool(np.all(whole[7:] == race_keys(key, draw=0, start=7, stop=10)))
    True
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
    """The numbers of `race_keys` for some rows, given in ascending order.

    They are computed in chunks, so that the rows in between take no memory.

    Parameters
    ----------
    key : ndarray of shape (2,), dtype=uint64
        Key of the Philox generator.
    draw : int
        Number of the draw.
    rows : ndarray of int
        Row numbers, in ascending order.

    Returns
    -------
    keys : ndarray of shape (len(rows),)
    """
    keys = np.empty(len(rows))
    n_rows = int(rows[-1]) + 1 if len(rows) else 0
    for start in range(0, n_rows, _CHUNK):
        stop = min(start + _CHUNK, n_rows)
        first, last = np.searchsorted(rows, (start, stop))
        if first < last:
            chunk = race_keys(key, draw, start, stop)
            keys[first:last] = chunk[rows[first:last] - start]
    return keys


def draw_rows(keys: np.ndarray, size: int) -> np.ndarray:
    """Positions of the ``size`` smallest keys, in ascending order of position.

    With keys ``race_keys(...) - log_weights`` this is a weighted draw without replacement:
    every row runs for an exponential time whose rate is its weight, and the first ``size``
    to arrive are drawn. It takes linear time and no normalised weights.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,)
        The arrival times, or any increasing function of them.
    size : int
        How many rows to draw; all of them if there are fewer.

    Returns
    -------
    positions : ndarray of shape (min(size, n_rows),)

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler.meta import draw_rows
    >>> draw_rows(np.array([0.3, 0.1, 0.9, 0.2]), size=2)
    array([1, 3])
    """
    if size >= len(keys):
        return np.arange(len(keys))
    positions = np.argpartition(keys, size)[:size]
    # A fixed order makes the member independent of how the smallest keys were found.
    positions.sort()
    return positions
