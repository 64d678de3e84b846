"""Look-ahead: several candidates for the next member, of which the best joins the ensemble."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from metasampler.growth._data import GrowthData
from metasampler.growth._learner import PublicLearner

__all__ = ["Candidate", "allowed_candidates", "fit_candidates"]

# With fewer validation rows of a class their score says more of these rows than of the candidates.
_FEWEST_ROWS = 12


class Candidate(NamedTuple):
    """What a candidate is fitted on: row numbers, seed and the weights of the rows."""

    subset: np.ndarray
    seed: int
    weights: np.ndarray | None


def allowed_candidates(n_candidates: int, data: GrowthData) -> int:
    """The candidates that the validation rows can tell apart: all that are asked for, or one."""
    if n_candidates == 1:
        return 1
    if not data.has_validation:
        raise ValueError(
            f"n_candidates={n_candidates} needs validation rows to choose by: pass X_val and "
            "y_val, or a validation_fraction."
        )
    counts = np.bincount(data.codes[data.rows["valid"]], minlength=data.n_classes)
    return n_candidates if counts.min() >= _FEWEST_ROWS else 1


def fit_candidates(
    learner: PublicLearner, data: GrowthData, candidates: Sequence[Candidate]
) -> list[tuple]:
    """Fit candidates, in threads, and give each with its probabilities of the validation rows.

    These are of smoothed leaves where there are leaves, whatever the ensemble answers by.
    """
    X, _ = data.take("valid")
    n_jobs = min(effective_n_jobs(learner.n_jobs), len(candidates))

    def fit(candidate, learner):
        member = learner.fit(
            data.tables[0],
            data.codes,
            candidate.subset,
            candidate.seed,
            candidate.weights,
        )
        proba = np.zeros(X.shape[0] if data.n_classes == 2 else (X.shape[0], data.n_classes))
        learner.add_scores(member, X, proba, learner.judging_smoothing)
        return member, proba

    if n_jobs == 1:
        return [fit(candidate, learner) for candidate in candidates]

    def fit_alone(candidate):
        own = learner.own_copy()
        own.n_jobs = 1
        return fit(candidate, own)

    parallel = Parallel(n_jobs, require="sharedmem")
    return parallel(delayed(fit_alone)(candidate) for candidate in candidates)
