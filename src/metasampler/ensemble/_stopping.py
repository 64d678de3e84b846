"""When an ensemble stops to grow before it is complete."""

import numpy as np

__all__ = ["StopRule"]


class StopRule:
    """Whether the validation score has stopped to improve.

    Parameters
    ----------
    n_iter_no_change : int or None
        Members without improvement after which to stop; None never stops.
    tol : float
        What the best score must be exceeded by to count as improved.
    scores : iterable of float
        Scores of the members there are already.
    """

    def __init__(self, n_iter_no_change, tol, scores=()):
        self.patience = n_iter_no_change
        self.tol = tol
        self.best = -np.inf
        self.idle = 0
        self.stopped = False
        for score in scores:
            self(score)

    def __call__(self, score) -> bool:
        """Take in the next score, and say whether to stop."""
        if self.patience is None or score is None:
            return False
        if score > self.best + self.tol:
            self.best, self.idle = score, 0
        else:
            self.idle += 1
        self.stopped = self.idle >= self.patience
        return self.stopped
