"""Say how good a policy is on tasks it was not trained on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import label_binarize
from sklearn.utils.parallel import Parallel, delayed

from metasampler import MesaClassifier

__all__ = ["UnseenTasks"]

#: Part of the rows of a task that is only scored.
_TEST_SIZE = 0.25


class UnseenTasks:
    """Tasks that a policy is scored on, with the same splits and seeds for every policy.

    For each seed a quarter of the rows is set aside, an ensemble is grown on the others, and the
    rows set aside are scored by average precision. A policy acts by its mean.

    Parameters
    ----------
    tasks : dict of str to (X, y)
        The tasks by name.
    seeds : sequence of int
        One split and one ensemble for each.
    estimator, n_estimators
        As in :class:`~metasampler.MetaSampler`.
    n_jobs : int, default=None
        Processes. The result is the same for any number.
    """

    def __init__(
        self,
        tasks: Mapping[str, tuple],
        *,
        seeds=(0, 1, 2),
        estimator: Any = None,
        n_estimators: int = 10,
        n_jobs: int | None = None,
    ):
        self.seeds = tuple(seeds)
        self.names = list(tasks)
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self._splits = [
            train_test_split(X, y, test_size=_TEST_SIZE, stratify=y, random_state=seed)
            for X, y in tasks.values()
            for seed in self.seeds
        ]

    def score(self, meta_sampler: Any) -> dict[str, float]:
        """Return the mean score over the seeds, by task.

        Parameters
        ----------
        meta_sampler : object
            As in :class:`~metasampler.MesaClassifier`.

        Returns
        -------
        scores : dict of str to float
        """
        # The ensembles of the paper, which samplers are meta-trained with.
        clf = MesaClassifier.from_preset(
            "paper", n_estimators=self.n_estimators, meta_sampler=meta_sampler, threshold=None
        )
        if self.estimator is not None:
            clf.set_params(estimator=self.estimator)
        seeds = self.seeds * len(self.names)
        scores = Parallel(self.n_jobs)(
            delayed(_score)(clf, split, seed)
            for split, seed in zip(self._splits, seeds, strict=True)
        )
        means = np.reshape(scores, (len(self.names), len(self.seeds))).mean(axis=1)
        return dict(zip(self.names, means.tolist(), strict=True))


def _score(clf: Any, split: tuple, seed: int) -> float:
    X, X_test, y, y_test = split
    fitted = clf.set_params(random_state=seed).fit(X, y)
    proba = fitted.predict_proba(X_test)
    if len(fitted.classes_) == 2:
        column = int(np.flatnonzero(fitted.classes_ == fitted.minority_class_)[0])
        return float(average_precision_score(y_test == fitted.minority_class_, proba[:, column]))
    return float(average_precision_score(label_binarize(y_test, classes=fitted.classes_), proba))
