"""Tune LightGBM as a careful user would: random search within a budget of CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

__all__ = ["TunedLightGBM"]

#: Part of the rows that settings are judged by.
_HELD_OUT = 0.2

#: Rows of the refit for each row that a trial learns from.
_GROWTH = 1 / (1 - _HELD_OUT)

#: A refit that takes longer than expected ends at this multiple of the budget.
_AT_MOST = 1.05

#: The first trial: LightGBM's own settings, so that tuning does not lose them.
_DEFAULTS: dict[str, Any] = {"learning_rate": 0.1}


@dataclass
class _Trial:
    params: dict[str, Any]
    score: float = -np.inf
    n_rounds: int = 1
    refit_seconds: float = 0.0


class TunedLightGBM(ClassifierMixin, BaseEstimator):
    """LightGBM with settings of a random search, for two classes.

    A fifth of the rows is held out. Each trial stops early by their average precision. The best
    settings are trained again on all rows, for as many rounds as were best. Trials go on until
    what is left of the budget is needed for this.

    Parameters
    ----------
    seconds : float, default=10.0
        CPU time of `fit`, search and refit together.

    max_rounds : int, default=1000
        The most rounds of a trial.

    patience : int, default=30
        Rounds without gain after which a trial stops.

    random_state : int, RandomState instance or None, default=None
        Decides which settings are tried. The number of trials depends on the machine.

    Attributes
    ----------
    n_trials_ : int
        Trials that were started.

    best_params_ : dict
        Settings of the best trial.

    n_rounds_ : int
        Rounds of the refit.

    best_score_ : float
        Average precision of the held-out rows.

    classes_ : ndarray of shape (2,)
        The class labels.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench._tuning import TunedLightGBM
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> tuned = TunedLightGBM(0.5, random_state=0).fit(X, y)
    >>> tuned.predict_proba(X).shape, tuned.n_trials_ >= 1
    ((1000, 2), True)
    """

    def __init__(
        self,
        seconds: float = 10.0,
        *,
        max_rounds: int = 1000,
        patience: int = 30,
        random_state: Any = None,
    ) -> None:
        self.seconds = seconds
        self.max_rounds = max_rounds
        self.patience = patience
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> TunedLightGBM:
        """Search settings and train with the best ones.

        Parameters
        ----------
        X : {ndarray, pandas DataFrame} of shape (n_samples, n_features)
            The training rows; frames as LightGBM takes them.

        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : TunedLightGBM
        """
        start = time.process_time()
        lightgbm = import_module("lightgbm")
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"y has {len(self.classes_)} classes; two are needed.")
        rng = check_random_state(self.random_state)
        fixed = {
            "objective": "binary",
            "metric": "average_precision",
            "num_threads": 1,
            "verbosity": -1,
            "seed": int(rng.randint(2**31 - 1)),
            # Trials differ in the rows of a leaf and share the bins.
            "feature_pre_filter": False,
        }
        rows = np.arange(len(codes))
        inner, held_out = train_test_split(
            rows, test_size=_HELD_OUT, stratify=codes, random_state=rng.randint(2**31 - 1)
        )
        before = time.process_time()
        data = lightgbm.Dataset(_take(X, inner), codes[inner], params=fixed).construct()
        bins_seconds = (time.process_time() - before) * _GROWTH
        # With the same settings: LightGBM warns where those of a reference take their place.
        judge = data.create_valid(_take(X, held_out), codes[held_out], params=fixed).construct()

        def left(trial: _Trial) -> float:
            return self.seconds - (time.process_time() - start) - trial.refit_seconds

        best: _Trial | None = None
        self.n_trials_ = 0
        while best is None or left(best) > 0:
            trial = _Trial({**fixed, **(_DEFAULTS if best is None else _draw(rng))})
            watch = self._watcher(trial, best, bins_seconds, left, lightgbm)
            lightgbm.train(trial.params, data, self.max_rounds, [judge], callbacks=[watch])
            self.n_trials_ += 1
            if best is None or trial.score > best.score:
                best = trial
        self.best_score_, self.n_rounds_ = float(best.score), best.n_rounds
        self.best_params_ = {k: v for k, v in best.params.items() if k not in fixed}

        def end(env: Any) -> None:
            if time.process_time() - start > _AT_MOST * self.seconds:
                raise lightgbm.callback.EarlyStopException(env.iteration, [])

        full = lightgbm.Dataset(X, codes, params=fixed)
        self.booster_ = lightgbm.train(best.params, full, best.n_rounds, callbacks=[end])
        return self

    def _watcher(
        self,
        trial: _Trial,
        best: _Trial | None,
        bins_seconds: float,
        left: Callable[[_Trial], float],
        lightgbm: Any,
    ) -> Callable[[Any], None]:
        """Return what notes the best round of a trial and ends it in time."""
        begin = time.process_time()

        def watch(env: Any) -> None:
            n_rounds, score = env.iteration + 1, env.evaluation_result_list[0][2]
            if score > trial.score:
                a_round = (time.process_time() - begin) / n_rounds
                trial.score, trial.n_rounds = score, n_rounds
                trial.refit_seconds = bins_seconds + _GROWTH * a_round * n_rounds
            leads = best is None or trial.score > best.score
            over = left(trial if leads else best) <= 0  # type: ignore[arg-type]
            if over or n_rounds - trial.n_rounds >= self.patience:
                result = env.evaluation_result_list
                raise lightgbm.callback.EarlyStopException(env.iteration, result)

        return watch

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : {ndarray, pandas DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, 2)
        """
        check_is_fitted(self)
        probability = np.asarray(self.booster_.predict(X, num_threads=1))
        return np.column_stack([1 - probability, probability])

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class.

        Parameters
        ----------
        X : {ndarray, pandas DataFrame} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _take(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _draw(rng: np.random.RandomState) -> dict[str, Any]:
    """Draw settings: those that matter most, from ranges that are usual."""

    def between(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    return {
        "learning_rate": between(0.02, 0.2),
        "num_leaves": round(between(7, 127)),
        "min_data_in_leaf": round(between(5, 200)),
        "lambda_l2": between(0.01, 30),
        "feature_fraction": float(rng.uniform(0.4, 1)),
        "bagging_fraction": float(rng.uniform(0.5, 1)),
        "bagging_freq": 1,
        "cat_smooth": between(1, 100),
    }
