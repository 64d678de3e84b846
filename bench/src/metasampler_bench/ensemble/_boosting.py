"""One boosting loop (SAMME and SAMME.R) for every way to make a round's training rows."""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from metasampler.ensemble.base import BaseEnsemble, Interval, StrOptions, fit_context
from metasampler.growth import (
    Adapter,
    MemoryRows,
    RandomStreams,
    Stream,
    make_adapters,
    make_growth_data,
    resolve_estimator,
    weight_argument,
)
from metasampler_bench.ensemble._docs import shared_docs

__all__ = ["BaseBoosting", "RoundMaker", "TrainingRows"]


class TrainingRows(NamedTuple):
    """What one member is trained on: some rows (None: all) of a table, and their weights."""

    X: object
    codes: np.ndarray
    rows: np.ndarray | None
    weights: np.ndarray


#: Makes the training rows of a round from its number and the weights of all real rows.
RoundMaker = Callable[[int, np.ndarray], TrainingRows]


@shared_docs()
class BaseBoosting(BaseEnsemble):
    """Base of the boosted ensembles: the loop, and how members vote.

    A member's vote for each class sums to zero over the classes. With K classes and the
    probabilities p of a member it is

    - SAMME: 1 for the most probable class and -1 / (K - 1) for the others, times the member's
      weight ``alpha = learning_rate * (log((1 - error) / error) + log(K - 1))``;
    - SAMME.R: ``(K - 1) * (log p - mean of log p)``, every member with weight 1.

    A row's weight is then multiplied by the exponential of minus a multiple of the vote for its
    own class, which is the same rule in both (Zhu et al., Algorithms 2 and 4). For two classes
    one number a row is kept, the vote for class 1.

    A subclass says how a round's rows are made (``_start_rounds``).
    """

    # Not every subclass has these as parameters.
    algorithm = "SAMME"
    min_probability = 0.1

    _parameter_constraints: dict = {
        **BaseEnsemble._parameter_constraints,
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "stop_when_perfect": ["boolean"],
    }
    _algorithm_constraints: dict = {
        "algorithm": [StrOptions({"SAMME", "SAMME.R"})],
        "min_probability": [Interval(Real, 0, 0.5, closed="neither")],
    }

    @abstractmethod
    def _start_rounds(self, data: MemoryRows, streams: RandomStreams) -> RoundMaker:
        """Prepare what all rounds share; return the function that makes a round's rows."""

    def _fit_table(self, X, estimator):
        """Return X as the rounds need it; what is left to check is checked afterwards."""
        return X

    def _first_weights(self, data: MemoryRows) -> np.ndarray:
        """Return the weights of the rows in the first round; they sum to 1."""
        weights = np.ones(len(data.codes)) if data.weights is None else data.weights
        return weights / weights.sum()

    def _adjustments(self, data: MemoryRows, correct: np.ndarray) -> np.ndarray | float:
        """Return how much of the usual change of its weight each row gets."""
        return 1.0

    def _judged(self, data: MemoryRows, weights: np.ndarray) -> np.ndarray:
        """Return the weights by which a member is judged, and from which the next follow."""
        return weights

    # The base estimator is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Boost the ensemble.

        Parameters
        ----------
        {training_rows}

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, which boosting starts with and goes on from; only their ratios
            count. A weight of zero leaves the row out.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        estimator = resolve_estimator(self._base_estimator())
        if weight_argument(estimator) is None:
            raise ValueError(
                f"estimator={estimator!r} cannot be boosted: its fit takes no sample_weight. Use "
                "another base estimator, or an ensemble that does not weigh rows."
            )
        streams = RandomStreams.from_random_state(self.random_state)
        data = make_growth_data(
            self._fit_table(X, estimator),
            y,
            sample_weight=sample_weight,
            estimator=estimator,
            validation_fraction=None,
            sampling_ratio=getattr(self, "sampling_ratio", 1.0),
            scoring=None,
            streams=streams,
            owner=self,
        )
        self._check_features(X, reset=True)
        categories = data.form.category_sizes
        adapter = make_adapters(
            estimator, data.tables, data.n_classes, self.n_jobs, 0.0, categories
        ).of(0)
        self._boost(data, adapter, streams)
        self.estimator_ = estimator
        self._form = data.form
        self.classes_ = data.classes
        self.minority_class_ = data.classes[data.minority]
        return self

    def _boost(self, data: MemoryRows, adapter: Adapter, streams: RandomStreams) -> None:
        """Add members until there are enough, or one is perfect or no better than chance."""
        n_classes = data.n_classes
        is_real = self.algorithm == "SAMME.R"
        weights = self._first_weights(data)
        make_rows = self._start_rounds(data, streams)
        members: list = []
        alphas: list[float] = []
        errors: list[float] = []
        subsets: list[np.ndarray] = []
        sizes: list[int] = []

        with self._progress("Boosting", self.n_estimators) as advance:
            for number in range(self.n_estimators):
                training = make_rows(number, weights)
                seed = streams.integer(Stream.MEMBER, number)
                # Mean weight 1: a regularised adapter then sees as many rows as there are.
                scaled = training.weights * (len(training.weights) / training.weights.sum())
                member = adapter.fit(training.X, training.codes, training.rows, seed, scaled)

                votes = self._votes(adapter, member, data.tables[0])
                correct = _winners(votes) == data.codes
                weights = self._judged(data, weights)
                error = float(weights[~correct].sum())
                alpha = 1.0
                if not is_real:
                    # A perfect member's weight would be infinite: it errs on half a row.
                    some = max(error, 0.5 / len(weights))
                    odds = np.log((1 - some) / some) + np.log(n_classes - 1)
                    alpha = float(self.learning_rate * odds)
                if alpha <= 0:
                    if not members:
                        raise ValueError(
                            f"The first member misclassifies {error:.1%} of the rows, by weight, "
                            f"which is no better than guessing one of {n_classes} classes. Use a "
                            "stronger estimator or algorithm='SAMME.R'."
                        )
                    break

                members.append(member)
                alphas.append(alpha)
                errors.append(error)
                if training.rows is not None:
                    subsets.append(data.to_original(training.rows))
                sizes.append(len(training.weights))
                advance(f"weighted error {error:.3f}")
                if self.stop_when_perfect and bool(correct.all()):
                    break
                if number + 1 < self.n_estimators:
                    step = self.learning_rate / (n_classes - 1)
                    if not is_real:
                        step = alpha * (n_classes - 1) / n_classes
                    margins = self._adjustments(data, correct) * _own_votes(votes, data.codes)
                    weights = _reweighted(weights, -step * margins)

        self.estimators_ = members
        self.estimator_weights_ = np.array(alphas)
        self.estimator_errors_ = np.array(errors)
        self.n_training_rows_ = sizes
        if subsets:
            self.estimators_samples_ = subsets

    def _votes(self, adapter: Adapter, member, X) -> np.ndarray:
        """Return a member's votes before its weight; two classes need those for class 1 only."""
        n_classes = adapter.n_classes
        proba = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        adapter.add(member, X, [(slice(None), proba, 0.0)])
        if self.algorithm == "SAMME":
            if n_classes == 2:
                return np.where(proba > 0.5, 1.0, -1.0)
            votes = np.full_like(proba, -1 / (n_classes - 1))
            np.put_along_axis(votes, proba.argmax(axis=1)[:, np.newaxis], 1.0, axis=1)
            return votes
        # The parameter is meant for two classes; with more, a floor above 1/K drowns all votes.
        floor = self.min_probability * 2 / n_classes
        if n_classes == 2:
            return 0.5 * (np.log(np.maximum(proba, floor)) - np.log(np.maximum(1 - proba, floor)))
        logs = np.log(np.maximum(proba, floor, out=proba), out=proba)
        logs -= logs.mean(axis=1, keepdims=True)
        logs *= n_classes - 1
        return logs

    def _staged_totals(self, X, *, soft_leaves=True):
        n_classes = len(self.classes_)
        adapter = make_adapters(self.estimator_, [X], n_classes, self.n_jobs).of(0)
        total = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        for member, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            total += weight * self._votes(adapter, member, X)
            yield total

    def _mean_votes(self, total: np.ndarray, n_members: int) -> np.ndarray:
        """Return the mean of the votes, by the members' weights."""
        return total / np.cumsum(self.estimator_weights_)[n_members - 1]

    def _mean_of(self, total, n_members):
        votes = self._mean_votes(total, n_members)
        # Zhu et al.: the votes estimate (K - 1) (log p - mean log p), so that this is p.
        if votes.ndim == 1:
            return np.column_stack([expit(-2 * votes), expit(2 * votes)])
        return softmax(votes / (votes.shape[1] - 1), axis=1)

    def _votes_of(self, X) -> np.ndarray:
        """Return the mean votes of all members."""
        *_, total = self._staged_totals(self._check_predict_table(X))
        return self._mean_votes(total, len(self.estimators_))

    def decision_function(self, X):
        """Return the mean of the members' votes.

        Parameters
        ----------
        {rows}

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the vote for the second less that for the first; otherwise the vote
            for each class, in the order of `classes_`.
        """
        votes = self._votes_of(X)
        return 2 * votes if votes.ndim == 1 else votes

    def predict(self, X):
        """Return the class with the most votes for each row.

        Parameters
        ----------
        {rows}

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        winners = _winners(self._votes_of(X))
        return self.classes_[winners.astype(np.intp)]


def _winners(votes: np.ndarray) -> np.ndarray:
    """Return the class with the most votes; of equal ones the first."""
    return votes > 0 if votes.ndim == 1 else votes.argmax(axis=1)


def _own_votes(votes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the vote for each row's own class."""
    if votes.ndim == 1:
        return np.where(codes == 1, votes, -votes)
    return np.take_along_axis(votes, codes[:, np.newaxis].astype(np.intp), axis=1)[:, 0]


def _reweighted(weights: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return weights times the exponentials, as a distribution again."""
    # Taking off the largest exponent changes no ratio, and nothing can overflow.
    weights = weights * np.exp(exponents - exponents.max())
    # A floor far below anything that counts: if one class had only zeros left, none of its rows
    # could be drawn or weighed any more.
    weights = np.maximum(weights, 1e-200 * weights.max())
    return weights / weights.sum()
