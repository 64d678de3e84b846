"""How good a policy is on tasks it was not trained on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split

from metasampler.growth._kinds import resolve_kinds
from metasampler.growth._learner import make_learners
from metasampler.growth._loop import Growth, grow_by_policy
from metasampler.growth._random import RandomStreams
from metasampler.growth._validation import make_growth_data
from metasampler.meta._fixed import DEFAULT_SIGMA

__all__ = ["UnseenTasks"]

#: Part of the rows of a task that is only scored.
_TEST_SIZE = 0.25


class UnseenTasks:
    """Tasks that a policy is scored on, with the same splits and seeds for every policy.

    For each seed a quarter of the rows is set aside, an ensemble is grown on the others, and the
    rows set aside are scored. A policy acts by its mean.

    Parameters
    ----------
    tasks : dict of str to (X, y)
        The tasks by name.
    seeds : sequence of int
        One split and one ensemble for each.
    estimator, n_estimators, sigma, sampling_ratio, validation_fraction, scoring
        As in :class:`~metasampler.MetaSampler`.
    n_jobs : int, default=None
        Processes. The result is the same for any number.
    """

    def __init__(
        self,
        tasks: Mapping[str, tuple],
        *,
        seeds=(0, 1, 2),
        estimator=None,
        n_estimators: int = 10,
        sigma: float = DEFAULT_SIGMA,
        sampling_ratio: float = 1.0,
        validation_fraction: float = 0.2,
        scoring="average_precision",
        n_jobs=None,
    ):
        self.seeds = tuple(seeds)
        self.n_estimators = n_estimators
        self.sigma = sigma
        self.n_jobs = n_jobs
        self.names = list(tasks)
        estimator = resolve_kinds(estimator)
        self._jobs = []
        for X, y in tasks.values():
            for seed in self.seeds:
                X_train, X_test, y_train, y_test = train_test_split(
                    X, y, test_size=_TEST_SIZE, stratify=y, random_state=seed
                )
                streams = RandomStreams(seed)
                data = make_growth_data(
                    X_train,
                    y_train,
                    X_test=X_test,
                    y_test=y_test,
                    estimator=estimator,
                    validation_fraction=validation_fraction,
                    sampling_ratio=sampling_ratio,
                    scoring=scoring,
                    streams=streams,
                )
                self._jobs.append((data, make_learners(estimator, data.tables, data.n_classes)))

    def score(self, policy: Any, encoder: Any = None) -> dict[str, float]:
        """Mean score over the seeds, by task.

        Parameters
        ----------
        policy : object with ``predict``
            Takes a state and gives mu.
        encoder : StateEncoder, default=None
            Makes the states; None for a policy that looks at none.

        Returns
        -------
        scores : dict of str to float
        """
        seeds = self.seeds * len(self.names)
        scores = Parallel(self.n_jobs)(
            delayed(_score)(*job, policy, encoder, seed, self.n_estimators, self.sigma)
            for job, seed in zip(self._jobs, seeds, strict=True)
        )
        means = np.reshape(scores, (len(self.names), len(self.seeds))).mean(axis=1)
        return dict(zip(self.names, means.tolist(), strict=True))


def _score(data, learner, policy, encoder, seed, n_members, sigma) -> float:
    growth = Growth(data, learner, RandomStreams(seed))

    def choose_mu(state, n_so_far):
        return policy.predict(state)

    for _ in grow_by_policy(growth, n_members, encoder, choose_mu, sigma):
        pass
    return growth.score("test")
