"""The rows of one class that a member may get, wherever they are: what rules draw from."""

from collections.abc import Callable, Sequence

import numpy as np

from metasampler.growth import _parts
from metasampler.growth._parts import Request

__all__ = ["Candidates"]


class Candidates:
    """The rows of one class that a draw may take.

    A rule asks them, and never sees the rows themselves: they may be in parts, in files or on other
    machines. What parts answer is merged exactly, so that the draw does not depend on them.

    Parameters
    ----------
    place : Memory or alike
        Where the parts are.
    parts : list
        The parts, as the place knows them.
    request : Request
        Which rows, and the source of their random keys.
    sums : callable, default=None
        Returns the sums over the members of each part, by which errors are computed.
    whole : list, default=None
        The random keys of all rows of each part, if they are known.
    """

    def __init__(self, place, parts: list, request: Request, sums=None, whole=None):
        self.place = place
        self.parts = parts
        self.request = request
        self._sums = sums
        self._whole = whole

    def _running_sums(self) -> list:
        # Parts that hold no training rows come last.
        return self._sums()[: len(self.parts)]

    @property
    def k(self) -> int:
        """The class."""
        return self.request.k

    def all(self) -> list:
        """Return all rows."""
        return self.place.make(_parts.all_of, self.parts, args=(self.request,))

    def least(self, function: Callable, *args) -> float | None:
        """Return the smallest value of ``function(errors, *args)`` over all rows.

        None if one part holds all rows: whoever draws from it sees them all.
        """
        if len(self.parts) == 1:
            return None
        arguments = (self.request, function, args)
        answers = self.place.ask(_parts.least_of, self.parts, self._running_sums(), args=arguments)
        return min(answers)

    def smallest(self, size: int, adjust: Callable | None = None, *args) -> list:
        """Return the rows with the smallest keys, of equal ones those with the smallest numbers.

        Parameters
        ----------
        size : int
            How many, fewer than there are.
        adjust : callable, default=None
            ``adjust(keys, errors, *args)`` returns the keys that count; None takes the random ones.

        Returns
        -------
        rows : list
            The positions of the rows in each part, as the place keeps them.
        """
        place, request = self.place, self.request
        nothing = [None] * len(self.parts)
        sums = nothing if adjust is None else self._running_sums()
        whole = nothing if self._whole is None else self._whole
        arguments: tuple = (request, adjust, args)
        keys = place.make(_parts.class_keys, self.parts, sums, whole, args=arguments)
        if len(self.parts) == 1:
            return place.make(_parts.smallest_of, self.parts, keys, args=(request, size))
        which, n_below = _bin_of_last(place.ask(_parts.count_keys, self.parts, keys), size)
        near = place.ask(_parts.keys_in_bin, self.parts, keys, args=(request, which))
        near_keys, near_rows = (np.concatenate(arrays) for arrays in zip(*near, strict=True))
        order = np.lexsort((near_rows, near_keys))
        last = order[size - n_below - 1]
        arguments = (request, float(near_keys[last]), int(near_rows[last]))
        return place.make(_parts.up_to, self.parts, keys, args=arguments)

    def pick(self, pick: Callable, *args) -> list:
        """Return the rows that ``pick(rows, keys, errors, *args)`` chooses by their positions.

        Only for rows that are all in one part.
        """
        if len(self.parts) > 1:
            raise ValueError(
                "This way to draw rows needs all of them in memory; MesaClassifier and ensembles "
                "with uniform draws take rows in files and on clusters."
            )
        whole = [None] if self._whole is None else self._whole
        arguments = (self.request, pick, args)
        sums = [None] if self._sums is None else self._running_sums()
        return self.place.make(_parts.pick_of, self.parts, sums, whole, args=arguments)


def _bin_of_last(counts: Sequence[tuple[int, np.ndarray]], size: int) -> tuple[int, int]:
    """Return the bin that holds the last of the smallest keys, and how many are in bins below."""
    first = min(start for start, count in counts if len(count))
    merged = np.zeros(max(start + len(count) for start, count in counts) - first, dtype=np.int64)
    for start, count in counts:
        if len(count):
            merged[start - first : start - first + len(count)] += count
    up_to = np.cumsum(merged)
    position = int(np.searchsorted(up_to, size))
    return first + position, int(up_to[position] - merged[position])
