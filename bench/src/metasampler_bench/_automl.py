"""Rivals of today: AutoGluon and FLAML in a budget of CPU time, and published tuned defaults."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

__all__ = [
    "CatBoostOnSample",
    "TimedAutoGluon",
    "TimedFLAML",
    "TunedDefaults",
    "cpu_clock",
]

_LABEL = "label of the row"

#: Settings that D. Holzmüller et al. tuned on other tables: the classes LGBM_TD and CatBoost_TD.
_TUNED_DEFAULTS: dict[str, dict[str, Any]] = {
    "lightgbm": {
        "n_estimators": 1000,
        "learning_rate": 0.04,
        "subsample": 0.75,
        "subsample_freq": 1,
        "num_leaves": 50,
        "min_child_samples": 40,
        "min_child_weight": 1e-7,
    },
    "catboost": {
        "n_estimators": 1000,
        "learning_rate": 0.08,
        "l2_leaf_reg": 1e-5,
        "boosting_type": "Plain",
        "bootstrap_type": "Bernoulli",
        "subsample": 0.9,
        "max_depth": 7,
        "random_strength": 0.8,
        "one_hot_max_size": 15,
        "leaf_estimation_iterations": 1,
        "max_bin": 254,
    },
}
_PATIENCE, _HELD_OUT = 300, 0.2


@contextmanager
def cpu_clock() -> Iterator[None]:
    """Let `time.time` advance with the CPU time of this process.

    AutoML packages count their budget with `time.time`. On a busy machine they would get less CPU
    time than they are given; so they get all of it. It holds for one process, without threads that
    run side by side.

    Examples
    --------
    >>> import time
    >>> from metasampler_bench._automl import cpu_clock
    >>> with cpu_clock():
    ...     before = time.time()
    ...     time.sleep(0.5)
    ...     passed = time.time() - before
    >>> passed < 0.4
    True
    """
    usual, wall, cpu = time.time, time.time(), time.process_time()
    time.time = lambda: wall + time.process_time() - cpu
    try:
        yield
    finally:
        time.time = usual


class _Rival(ClassifierMixin, BaseEstimator):
    """Predict classes by the probabilities of a subclass."""

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _codes(self, y: Any) -> np.ndarray:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return codes

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))


class TimedFLAML(_Rival):
    """FLAML's search over boosters, forests and linear models, with its own defaults.

    Parameters
    ----------
    seconds : float, default=10.0
        CPU time of search and refit.

    random_state : int, RandomState instance or None, default=None
        Decides what is random. The number of trials depends on the machine.

    Attributes
    ----------
    automl_ : flaml.AutoML
        The fitted search.

    classes_ : ndarray of shape (n_classes,)
        The class labels.
    """

    def __init__(self, seconds: float = 10.0, *, random_state: Any = None) -> None:
        self.seconds = seconds
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> TimedFLAML:
        """Search within the budget, by average precision.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)
            Numbers and categories.

        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : TimedFLAML
        """
        codes = self._codes(y)
        self.automl_ = import_module("flaml").AutoML()
        with cpu_clock(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.automl_.fit(
                X,
                codes,
                task="classification",
                metric="ap",
                time_budget=self.seconds,
                # A search in the same budget has to leave room for the last model.
                retrain_full="budget",
                n_jobs=1,
                seed=self._seed(),
                verbose=0,
            )
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(self.automl_.predict_proba(X))


class TimedAutoGluon(_Rival):
    """AutoGluon's ensembles of many kinds of models, with one of its presets.

    Parameters
    ----------
    seconds : float, default=10.0
        CPU time of `fit`.

    preset : str, default="medium_quality"
        As AutoGluon names it.

    random_state : int, RandomState instance or None, default=None
        Not used: AutoGluon has its own seeds.

    Attributes
    ----------
    predictor_ : autogluon.tabular.TabularPredictor
        What was fitted.

    classes_ : ndarray of shape (n_classes,)
        The class labels.
    """

    def __init__(
        self, seconds: float = 10.0, *, preset: str = "medium_quality", random_state: Any = None
    ) -> None:
        self.seconds = seconds
        self.preset = preset
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> TimedAutoGluon:
        """Fit models within the budget, by average precision.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)
            Numbers and categories.

        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : TimedAutoGluon
        """
        codes = self._codes(y)
        # Models are files; they go with the classifier.
        self._folder = tempfile.TemporaryDirectory()
        predictor = import_module("autogluon.tabular").TabularPredictor(
            _LABEL, eval_metric="average_precision", path=self._folder.name, verbosity=0
        )
        with cpu_clock(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.predictor_ = predictor.fit(
                X.assign(**{_LABEL: codes}),
                time_limit=self.seconds,
                presets=self.preset,
                num_cpus=1,
                num_gpus=0,
                # All in this process, whose CPU time is the clock.
                fit_strategy="sequential",
                ag_args_ensemble={"fold_fitting_strategy": "sequential_local"},
                dynamic_stacking=False,
            )
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "predictor_")
        return self.predictor_.predict_proba(X)[list(range(len(self.classes_)))].to_numpy()


class TunedDefaults(_Rival):
    """A booster with settings that were tuned once, on other tables, and published.

    A fifth of the rows is held out to stop early.

    Parameters
    ----------
    booster : {"lightgbm", "catboost"}, default="lightgbm"
        Which one.

    random_state : int, RandomState instance or None, default=None
        Decides what is random.

    Attributes
    ----------
    estimator_ : classifier
        The fitted booster.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    References
    ----------
    .. [1] D. Holzmüller, L. Grinsztajn, I. Steinwart, "Better by default: Strong pre-tuned MLPs and
       boosted trees on tabular data", NeurIPS 2024.
    """

    def __init__(self, booster: str = "lightgbm", *, random_state: Any = None) -> None:
        self.booster = booster
        self.random_state = random_state

    def fit(self, X: Any, y: Any, cat_features: list[str] | None = None) -> TunedDefaults:
        """Train until the loss on held-out rows no longer falls.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)
            As the booster takes it.

        y : array-like of shape (n_samples,)
            Labels.

        cat_features : list of str, default=None
            Columns with codes of categories, for CatBoost.

        Returns
        -------
        self : TunedDefaults
        """
        if self.booster not in _TUNED_DEFAULTS:
            raise ValueError(f"booster={self.booster!r} must be one of {sorted(_TUNED_DEFAULTS)}.")
        codes, seed = self._codes(y), self._seed()
        X_fit, X_stop, y_fit, y_stop = train_test_split(
            X, codes, test_size=_HELD_OUT, stratify=codes, random_state=seed
        )
        settings = _TUNED_DEFAULTS[self.booster]
        if self.booster == "lightgbm":
            lightgbm = import_module("lightgbm")
            stop = lightgbm.early_stopping(_PATIENCE, verbose=False)
            self.estimator_ = lightgbm.LGBMClassifier(
                **settings, n_jobs=1, random_state=seed, verbosity=-1
            )
            with warnings.catch_warnings():
                # From 4.7 on the rows have another name, which older versions do not know.
                warnings.filterwarnings("ignore", message="The argument 'eval_set' is deprecated")
                self.estimator_.fit(X_fit, y_fit, eval_set=[(X_stop, y_stop)], callbacks=[stop])
            return self
        self.estimator_ = _catboost(seed, early_stopping_rounds=_PATIENCE, **settings)
        self.estimator_.fit(X_fit, y_fit, eval_set=(X_stop, y_stop), cat_features=cat_features)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))


class CatBoostOnSample(_Rival):
    """CatBoost on a sample, because on all rows of large tables it takes minutes.

    Parameters
    ----------
    max_rows : int, default=20_000
        The most rows to train on.

    random_state : int, RandomState instance or None, default=None
        Decides what is random.

    Attributes
    ----------
    estimator_ : catboost.CatBoostClassifier
        The fitted booster.

    classes_ : ndarray of shape (n_classes,)
        The class labels.
    """

    def __init__(self, max_rows: int = 20_000, *, random_state: Any = None) -> None:
        self.max_rows = max_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any, cat_features: list[str] | None = None) -> CatBoostOnSample:
        """Train on at most `max_rows` rows.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)
            Numbers and codes.

        y : array-like of shape (n_samples,)
            Labels.

        cat_features : list of str, default=None
            Columns with codes of categories.

        Returns
        -------
        self : CatBoostOnSample
        """
        codes, seed = self._codes(y), self._seed()
        if len(codes) > self.max_rows:
            X, _, codes, _ = train_test_split(
                X, codes, train_size=self.max_rows, stratify=codes, random_state=seed
            )
        self.estimator_ = _catboost(seed).fit(X, codes, cat_features=cat_features)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : pandas DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))


def _catboost(seed: int, **settings: Any) -> Any:
    return import_module("catboost").CatBoostClassifier(
        thread_count=1,
        random_seed=seed,
        verbose=False,
        allow_writing_files=False,
        **settings,
    )
