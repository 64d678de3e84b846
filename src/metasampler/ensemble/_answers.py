"""How an ensemble of teams answers: the members' sums, their blend, calibration and threshold."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from metasampler._docs import shared_docs
from metasampler.ensemble._repr import fit_html
from metasampler.ensemble._summary import summarise
from metasampler.ensemble._threshold import called_rows
from metasampler.ensemble.base import BaseEnsemble
from metasampler.growth import make_learners, resolve_source, running_mean
from metasampler.tables import TreeTable

__all__ = ["FittedTeam", "GrownEnsemble"]


class FittedTeam(NamedTuple):
    """What prediction needs of a team."""

    estimator: object
    n_members: int
    leaf_smoothing: float
    #: Brings tables into the form that the members take, if it is another than that of the rest.
    table: TreeTable | None = None
    n_votes: int = 1

    def staged_totals(self, members: list, X, n_classes: int, n_jobs) -> Iterator[np.ndarray]:
        """Yield the sum over the first members of the team; the array is the same in each step."""
        X = X if self.table is None else self.table(X)
        learner = make_learners(self.estimator, [X], n_classes, n_jobs, self.leaf_smoothing)
        total = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        for number, member in enumerate(members):
            learner.of(number).add_scores(member, X, total)
            yield total


@shared_docs()
class GrownEnsemble(BaseEnsemble):
    """Base of the ensembles whose teams were grown: how they answer, and what they say of a fit."""

    def _staged_totals(self, X, *, soft_leaves=True):
        totals: list = [None] * len(self._members_of)
        start = 0
        for number, team in enumerate(self._members_of):
            members = self.estimators_[start : start + team.n_members]
            start += team.n_members
            team = team if soft_leaves else team._replace(leaf_smoothing=0.0)
            for total in team.staged_totals(members, X, len(self.classes_), self.n_jobs):
                totals[number] = total
                yield totals

    def _mean_of(self, totals, n_members):
        answers: list = []
        for team, total in zip(self._members_of, totals, strict=True):
            n_grown = min(n_members, team.n_members)
            n_members -= n_grown
            answers.append(running_mean(total, n_grown, team.leaf_smoothing) if n_grown else None)
        if self._blend is not None:
            return self._blend(answers)
        proba = answers[0]
        return proba if proba.ndim == 2 else np.column_stack([1 - proba, proba])

    def _vote_weights(self):
        # Members of a team share its votes.
        shares = [np.full(t.n_members, t.n_votes / t.n_members) for t in self._members_of]
        return np.concatenate(shares)

    def _proba_of(self, totals, n_members):
        return self.calibration_(self._mean_of(totals, n_members))

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify. A path, or :class:`~metasampler.datasets.ParquetRows`, is read
            part by part.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        source = resolve_source(X)
        if source is None:
            return super().predict_proba(X)
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        frames = (frame if names is None else frame[list(names)] for frame in source.frames())
        return np.concatenate([super(GrownEnsemble, self).predict_proba(frame) for frame in frames])

    def predict(self, X):
        """Return the class of each row, by the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self.decide(self.predict_proba(X))

    def decide(self, proba):
        """Return the class of each row, by the threshold, given its probabilities.

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
        if self._rule is None:
            return self.classes_[np.argmax(proba, axis=1)]
        if len(self.classes_) > 2:
            return self.classes_[np.argmax(proba / self.calibration_.prior, axis=1)]
        minority = int(np.flatnonzero(self.classes_ == self.minority_class_)[0])
        called = called_rows(self._rule, self.threshold_, proba[:, minority])
        return self.classes_[np.where(called, minority, 1 - minority)]

    def summary(self):
        """Return what the fit did.

        Returns
        -------
        summary : FitSummary
            Print it for a table that fits on a screen. With teams it has one line for each team,
            with the team's score on held-out rows. A last line has the score of all teams together.
            Without teams it has one line for each member: its mu (if there is one), the number of
            rows it was trained on, and the validation score and the mean validation error of each
            class after it joined. ``print(summary.to_text(all_members=True))`` shows every member;
            ``summary.rows`` holds them as dictionaries.
        """
        check_is_fitted(self)
        return summarise(self, self._steps, self._team_names)

    # ------------------------------------------------------------------ notebooks

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._fit_html()
        return bundle

    @property
    def _repr_html_(self):
        # scikit-learn's raises an error where pictures are turned off.
        picture = super()._repr_html_
        return lambda: picture() + self._fit_html()

    def _fit_html(self) -> str:
        return fit_html(self) if hasattr(self, "estimators_") else ""
