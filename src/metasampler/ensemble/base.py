"""What all ensembles share: how tables are checked, and how members become a prediction.

Ensembles of other packages stand on it too: `metasampler_bench.ensemble` has five.
"""

from abc import ABCMeta
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from metasampler._dask_token import dask_token
from metasampler._docs import shared_docs
from metasampler._running import progress_bar
from metasampler._sklearn_compat import Interval, StrOptions, fit_context
from metasampler.ensemble._sources import resolve_source
from metasampler.growth import (
    N_ESTIMATORS,
    N_JOBS,
    copy_input_tags,
    make_adapters,
    running_mean,
    scores_of_boosters,
)
from metasampler.tables import TreeTable, as_table

__all__ = ["BaseEnsemble", "FittedTeam", "Interval", "StrOptions", "fit_context", "shared_docs"]


class FittedTeam(NamedTuple):
    """What prediction needs of members that were grown together."""

    estimator: object
    n_members: int
    leaf_smoothing: float = 0.0
    #: Brings tables into the form that the members take, if it is another than that of the rest.
    table: TreeTable | None = None
    n_votes: int = 1

    def staged_totals(self, members: list, X, n_classes: int, n_jobs) -> Iterator[np.ndarray]:
        """Yield the sum over the first 1, 2, ... members; the array is the same in each step."""
        X = X if self.table is None else self.table(X)
        total = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        scores = scores_of_boosters(members, X, n_jobs)
        if scores is not None:
            for member, raw in zip(members, scores, strict=True):
                total += member.probabilities_of(raw)
                yield total
            return
        adapters = make_adapters(self.estimator, [X], n_classes, n_jobs, self.leaf_smoothing)
        for number, member in enumerate(members):
            adapters.of(number).add_scores(member, X, total)
            yield total


@shared_docs()
class BaseEnsemble(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the classifiers that sum up what their members say.

    A subclass has the parameters `estimator`, `n_estimators`, `n_jobs`, `random_state` and
    `verbose`. Its `fit` sets `estimators_`, `estimator_`, `classes_` and what ``_check_features``
    sets. By default the sum is that of the members' probabilities, and the answer their mean.
    """

    _parameter_constraints: dict = {
        "estimator": [None, object],
        "n_estimators": N_ESTIMATORS,
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __dask_tokenize__(self):
        return dask_token(self)

    def _base_estimator(self):
        """Return the base estimator, or a list of them; None means a decision tree."""
        return self.estimator

    def _progress(self, title: str, total: int):
        """Return the context of a progress bar, which shows if `verbose` asks for it."""
        return progress_bar(title, total, enabled=self.verbose > 0)

    def _check_features(self, X, *, reset: bool, name: str = "X") -> None:
        """Set, or compare with, the number and the names of the columns."""
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except ValueError as error:
            if name == "X":
                raise
            raise ValueError(f"{name}: {error}") from error

    def _check_predict_table(self, X):
        check_is_fitted(self)
        X = self._form.ordered(as_table(X))
        table = self._form(X, owner=self)
        self._check_features(X, reset=False)
        return table

    def _staged_totals(self, X, *, soft_leaves: bool = True) -> Iterator[np.ndarray]:
        """Yield the sum over the first 1, 2, ... members; the array is the same in each step."""
        members = self.estimators_
        team = FittedTeam(self.estimator_, len(members))
        return team.staged_totals(members, X, len(self.classes_), self.n_jobs)

    def _mean_of(self, total, n_members: int) -> np.ndarray:
        """Return the mean probability of each class, given the sum over some members."""
        proba = running_mean(total, n_members, 0.0)
        return proba if proba.ndim == 2 else np.column_stack([1 - proba, proba])

    def _proba_of(self, total, n_members: int) -> np.ndarray:
        """Return the probability of each class, given the sum over some members."""
        return self._mean_of(total, n_members)

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify. A path, or :class:`~metasampler.datasets.ParquetRows`, is read
            one partition at a time.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return np.concatenate([self._proba_of_table(table) for table in self._tables_of(X)])

    def _tables_of(self, X) -> Iterator:
        """Yield a table in memory, or the partitions of rows in files one after the other."""
        source = resolve_source(X)
        if source is None:
            yield X
            return
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        for frame in source.frames():
            yield frame if names is None else frame[list(names)]

    def _proba_of_table(self, X) -> np.ndarray:
        """Return the probability of each class for rows in memory."""
        *_, total = self._staged_totals(self._check_predict_table(X))
        return self._proba_of(total, len(self.estimators_))

    def staged_predict_proba(self, X):
        """Yield the probability of each class after each member.

        Parameters
        ----------
        {rows}

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
            What an ensemble of the first 1, 2, ... members predicts.
        """
        totals = self._staged_totals(self._check_predict_table(X))
        for n_members, total in enumerate(totals, start=1):
            yield self._proba_of(total, n_members)

    def staged_mean_proba(self, X):
        """Yield the members' joint answer after each member, as draws and states see it.

        It is not calibrated, and trees answer by plain leaves.

        Parameters
        ----------
        {rows}

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
            Of the first 1, 2, ... members.
        """
        totals = self._staged_totals(self._check_predict_table(X), soft_leaves=False)
        for n_members, total in enumerate(totals, start=1):
            yield self._mean_of(total, n_members)

    def predict(self, X):
        """Return the class of each row: the most probable one, or what a `threshold` says.

        Parameters
        ----------
        {rows}

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self.decide(self.predict_proba(X))

    def decide(self, proba):
        """Return the class of each row, given its probabilities.

        If you need both probabilities and classes, this saves the second prediction.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
            What `predict_proba` returns.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            What `predict` returns.
        """
        check_is_fitted(self)
        return self.classes_[self._decided(proba)]

    def _decided(self, proba) -> np.ndarray:
        """Return the position of each row's class in `classes_`."""
        return np.argmax(proba, axis=1)

    @property
    def member_features_(self):
        """Names of the numbers that members see, such as "paid (hour)" for a part of a date."""
        check_is_fitted(self)
        encoder = self._form.encoder
        if encoder is not None:
            return encoder.get_feature_names_out()
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{number}" for number in range(self.n_features_in_)]
        return np.array(names, dtype=object)

    @property
    def feature_importances_(self):
        """Mean of the members' feature importances, by the weights of their votes.

        They belong to the names in `member_features_`.
        """
        check_is_fitted(self)
        types = {type(member) for member in self.estimators_}
        without = {
            type(member).__name__
            for member in self.estimators_
            if not hasattr(member, "feature_importances_")
        }
        if without:
            names = ", ".join(sorted(without))
            raise AttributeError(f"The members of type {names} have no feature_importances_.")
        weights = self._vote_weights()
        weights = np.ones(len(self.estimators_)) if weights is None else np.asarray(weights)
        # One after the other: with many columns, memory has room for the numbers of a few members.
        total = np.zeros(1)
        for member, weight in zip(self.estimators_, weights, strict=True):
            importances = np.asarray(member.feature_importances_, dtype=float)
            if len(types) > 1 and importances.sum() > 0:
                # Some count splits and some add up gains: their mean would be that of the larger.
                importances = importances / importances.sum()
            total = total + weight * importances
        return total / weights.sum()

    def _vote_weights(self) -> np.ndarray | None:
        """Return the weight of each member's vote; None if all count the same."""
        return getattr(self, "estimator_weights_", None)

    def __sklearn_tags__(self):
        return copy_input_tags(super().__sklearn_tags__(), self._base_estimator())
