"""One boosting loop (SAMME and SAMME.R) for every way to make a round's training rows."""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils.validation import check_is_fitted

from metasampler._progress import progress_bar
from metasampler._sklearn_compat import Interval, StrOptions, fit_context
from metasampler.ensemble._base import BaseGrownEnsemble
from metasampler.growth._data import GrowthData
from metasampler.growth._kinds import resolve_estimator
from metasampler.growth._learner import PublicLearner, make_learner, weight_argument
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._validation import make_growth_data

__all__ = ["BaseBoosting", "RoundMaker", "TrainingRows"]


class TrainingRows(NamedTuple):
    """What one member is trained on: some rows (None: all) of a table, and their weights."""

    X: object
    codes: np.ndarray
    rows: np.ndarray | None
    weights: np.ndarray


#: Makes the training rows of a round from its number and the weights of all real rows.
RoundMaker = Callable[[int, np.ndarray], TrainingRows]


class BaseBoosting(BaseGrownEnsemble):
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
        "estimator": [None, object],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "stop_when_perfect": ["boolean"],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _algorithm_constraints: dict = {
        "algorithm": [StrOptions({"SAMME", "SAMME.R"})],
        "min_probability": [Interval(Real, 0, 0.5, closed="neither")],
    }

    @abstractmethod
    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        learning_rate=1.0,
        stop_when_perfect=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        super().__init__(estimator, n_jobs=n_jobs)
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.stop_when_perfect = stop_when_perfect
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _start_rounds(self, data: GrowthData, streams: RandomStreams) -> RoundMaker:
        """Prepare what all rounds share, and give the function that makes a round's rows."""

    def _fit_table(self, X, estimator):
        """X as the rounds need it; what is left to check is checked afterwards."""
        return X

    def _first_weights(self, data: GrowthData) -> np.ndarray:
        """Weights of the rows in the first round; they sum to 1."""
        weights = np.ones(len(data.codes)) if data.weights is None else data.weights
        return weights / weights.sum()

    def _adjustments(self, data: GrowthData, correct: np.ndarray) -> np.ndarray | float:
        """How much of the usual change of its weight each row gets."""
        return 1.0

    # The base learner is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None):
        """Boost the ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows.

        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, which boosting starts with and goes on from; only their ratios
            count. A weight of zero leaves the row out.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        estimator = resolve_estimator(self._base_learner())
        if weight_argument(estimator) is None:
            raise ValueError(
                f"estimator={estimator!r} cannot be boosted: its fit takes no sample_weight. Use "
                "another base learner, or an ensemble that does not weigh rows."
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
        learner = make_learner(estimator, data.tables, data.n_classes, self.n_jobs)
        self._boost(data, learner, streams)
        self.estimator_ = estimator
        self.classes_ = data.classes
        self.minority_class_ = data.classes[data.minority]
        return self

    def _boost(self, data: GrowthData, learner: PublicLearner, streams: RandomStreams) -> None:
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

        with progress_bar("Boosting", self.n_estimators, enabled=self.verbose > 0) as advance:
            for number in range(self.n_estimators):
                training = make_rows(number, weights)
                seed = streams.integer(Stream.MEMBER, number)
                # Mean weight 1: a regularised learner then sees as many rows as there are.
                scaled = training.weights * (len(training.weights) / training.weights.sum())
                member = learner.fit(training.X, training.codes, training.rows, seed, scaled)

                votes = self._votes(learner, member, data.tables[0])
                correct = _winners(votes) == data.codes
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

    def _votes(self, learner: PublicLearner, member, X) -> np.ndarray:
        """A member's votes before its weight: for class 1 only, if there are two classes."""
        n_classes = learner.n_classes
        proba = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        learner.add_probabilities(member, X, proba)
        if self.algorithm == "SAMME":
            if n_classes == 2:
                return np.where(proba > 0.5, 1.0, -1.0)
            votes = np.full_like(proba, -1 / (n_classes - 1))
            np.put_along_axis(votes, proba.argmax(axis=1)[:, np.newaxis], 1.0, axis=1)
            return votes
        # The parameter speaks of two classes; with more, a floor above 1/K would drown all votes.
        floor = self.min_probability * 2 / n_classes
        if n_classes == 2:
            return 0.5 * (np.log(np.maximum(proba, floor)) - np.log(np.maximum(1 - proba, floor)))
        logs = np.log(np.maximum(proba, floor, out=proba), out=proba)
        logs -= logs.mean(axis=1, keepdims=True)
        logs *= n_classes - 1
        return logs

    def _staged_scores(self, X):
        """Mean votes after each member, by the members' weights."""
        check_is_fitted(self)
        X = self._check_predict_table(X)
        n_classes = len(self.classes_)
        learner = make_learner(self.estimator_, [X], n_classes, self.n_jobs)
        total = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        total_weight = 0.0
        for member, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            total += weight * self._votes(learner, member, X)
            total_weight += weight
            yield total / total_weight

    def _scores(self, X) -> np.ndarray:
        *_, scores = self._staged_scores(X)
        return scores

    def _proba(self, scores: np.ndarray) -> np.ndarray:
        # Zhu et al.: the votes estimate (K - 1) (log p - mean log p), so that this is p.
        if scores.ndim == 1:
            return np.column_stack([expit(-2 * scores), expit(2 * scores)])
        return softmax(scores / (scores.shape[1] - 1), axis=1)

    def decision_function(self, X):
        """Mean of the members' votes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the vote for the second less that for the first; otherwise the vote
            for each class, in the order of `classes_`.
        """
        scores = self._scores(X)
        return 2 * scores if scores.ndim == 1 else scores

    def predict_proba(self, X):
        """Probability of each class, by the votes of all members.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`. Their order over the rows is of use; as probabilities
            they are rough.
        """
        return self._proba(self._scores(X))

    def staged_predict_proba(self, X):
        """Probability of each class after each member.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
            What an ensemble of the first 1, 2, ... members predicts.
        """
        for scores in self._staged_scores(X):
            yield self._proba(scores)

    def predict(self, X):
        """Class with the most votes for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        winners = _winners(self._scores(X))
        return self.classes_[winners.astype(np.intp)]

    @property
    def feature_importances_(self):
        """Mean of the members' feature importances, by their weights, where they have them."""
        check_is_fitted(self)
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            raise AttributeError(f"The members, {self.estimator_!r}, have no feature_importances_.")
        importances = [member.feature_importances_ for member in self.estimators_]
        return np.average(importances, axis=0, weights=self.estimator_weights_)


def _winners(votes: np.ndarray) -> np.ndarray:
    """The class with the most votes; of equal ones the first."""
    return votes > 0 if votes.ndim == 1 else votes.argmax(axis=1)


def _own_votes(votes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The vote for each row's own class."""
    if votes.ndim == 1:
        return np.where(codes == 1, votes, -votes)
    return np.take_along_axis(votes, codes[:, np.newaxis].astype(np.intp), axis=1)[:, 0]


def _reweighted(weights: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Weights times the exponentials, as a distribution again."""
    # Taking off the largest exponent changes no ratio, and nothing can overflow.
    weights = weights * np.exp(exponents - exponents.max())
    # A floor far below anything that counts: if one class had only zeros left, none of its rows
    # could be drawn or weighed any more.
    weights = np.maximum(weights, 1e-200 * weights.max())
    return weights / weights.sum()
