"""LightGBM as it comes: what a model has to beat."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from metasampler.tables import TableEncoder, is_frame


class PlainLightGBM(ClassifierMixin, BaseEstimator):
    """LightGBM with its defaults, on tables with columns of any kind.

    Parameters
    ----------
    random_state : int, default=None
        Seed.
    n_jobs : int, default=None
        Threads; None means one.
    """

    def __init__(self, random_state: Any = None, n_jobs: int | None = None):
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> PlainLightGBM:
        """Fit on arrays or data frames; texts become categories of LightGBM."""
        from lightgbm import LGBMClassifier

        self._encoder = TableEncoder().fit(X, y) if is_frame(X) else None
        categories = [] if self._encoder is None else self._encoder.categorical_features_
        self.model_ = LGBMClassifier(
            n_jobs=self.n_jobs or 1, random_state=self.random_state, verbose=-1
        )
        self.model_.fit(self._numbers(X), y, categorical_feature=categories)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class."""
        # By the booster: scikit-learn's names of columns play no part here.
        booster = self.model_.booster_
        proba = np.asarray(booster.predict(self._numbers(X), num_threads=self.n_jobs or 1))
        if proba.ndim == 2:
            return proba
        return np.column_stack([1 - proba, proba])

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _numbers(self, X: Any) -> Any:
        return X if self._encoder is None else self._encoder.transform(X)
