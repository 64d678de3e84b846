"""More held-out rows for few positives: the training rows take turns at being held out."""

import numpy as np

from metasampler._progress import progress_bar
from metasampler.growth._data import GrowthData
from metasampler.growth._learner import make_learners
from metasampler.growth._loop import Growth
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._sampling import race_keys_of

__all__ = ["hold_out_in_turn", "takes_turns"]

# Chosen on 53 tasks that are none of imbalanced-learn's 27 sets: with all rows held out in turn,
# the mean Brier score of those with fewer held-out positives fell by .0006 to .0014, of the others
# by .0001 (`benchmarks/decisions.py few-rows`).
_ENOUGH_HELD_OUT = 30
# With the validation rows, a fifth by default, these are five folds.
_N_TURNS = 4


def takes_turns(ensemble, data: GrowthData) -> bool:
    """Whether to fit a calibration on more rows than those that were held out.

    Only for "auto", which may choose, and for a refit, which has no validation rows to keep.
    """
    if ensemble.calibration != "auto" or not ensemble.refit_:
        return False
    held_out = np.bincount(data.codes[data.rows["valid"]], minlength=data.n_classes)
    return bool(held_out.min() < _ENOUGH_HELD_OUT)


def hold_out_in_turn(ensemble, growth: Growth) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the training rows, by members that have not seen them.

    Each turn is a refit that leaves a part of the training rows out.

    Parameters
    ----------
    ensemble : BaseUnderSamplingEnsemble
        It knows how its growth is repeated.
    growth : Growth
        The growth with validation rows.

    Returns
    -------
    rows : ndarray of int
        Numbers of the training rows.
    proba : ndarray of shape (n_rows, n_classes)
        Their uncalibrated probabilities.
    """
    whole, first = growth.data.whole(), growth.learner
    parts = _parts(growth.data, growth.streams)
    proba = []
    with progress_bar("Holding out in turn", len(parts), enabled=ensemble.verbose > 0) as advance:
        for rows in parts:
            data = whole.holding_out(rows)
            learner = make_learners(
                first.estimator, data.tables, data.n_classes, first.n_jobs, first.leaf_smoothing
            )
            turn = Growth(data, learner, growth.streams)
            for _ in ensemble._replay(turn, ensemble._records):
                pass
            proba.append(turn.proba("valid"))
            advance()
    return np.concatenate(parts), np.concatenate(proba)


def _parts(data: GrowthData, streams: RandomStreams) -> list[np.ndarray]:
    """The training rows in parts, each with its share of every class."""
    key = streams.row_key(Stream.SPLIT)
    parts: list[list] = [[] for _ in range(_N_TURNS)]
    for rows in data.class_rows:
        # Number 0 was the split into training and validation rows.
        shuffled = rows[np.argsort(race_keys_of(key, 1, rows))]
        for turn, part in enumerate(parts):
            part.append(shuffled[turn::_N_TURNS])
    joined = [np.sort(np.concatenate(part)) for part in parts]
    return [rows for rows in joined if len(rows)]
