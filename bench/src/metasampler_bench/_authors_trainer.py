"""Train a policy as the authors' code does, where that code differs from the paper's text.

The library follows the text. What is different here is listed at `AuthorsTrainer`. The numbers are
those of the authors' public code (github.com/ZhiningLiu1998/mesa, commit d77b4e5), but not the
program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from metasampler import MesaClassifier
from metasampler.growth import GaussianDraw, Growth
from metasampler.meta import Problem, SoftActorCritic
from metasampler.policy import Drawn, GaussianPolicy, LearnedPolicy, StateEncoder
from metasampler_bench._controls import KEPT
from metasampler_bench._wrapper import WrappingClassifier

__all__ = ["AuthorsMesaClassifier", "AuthorsTrainer", "RangeHistograms", "hand_made_transitions"]

#: Hand-made transitions of each kind. The memory holds 1000, so the second real one replaces one.
_N_OF_EACH = 333
#: The reward that each promises, as a change of the score. A member's real gain is mostly smaller.
_GOOD_REWARD = 0.05
#: The mu that is right in each kind of state, and the errors that most rows have.
_HAND_MADE = (
    # mu, errors in training, errors in validation
    (0.9, 1.0, 1.0),  # underfitting
    (0.5, 0.5, 0.5),  # in between
    (0.1, 0.0, 0.5),  # overfitting
)
#: Width of the bell curve over the bins that is a hand-made histogram.
_WIDTH = 0.3
#: Each bin of a state gets up to this much more, at random.
_NOISE = 0.5


@dataclass(frozen=True)
class RangeHistograms(StateEncoder):
    """Encode the errors of majority rows, in bins from the smallest error to the largest.

    Each histogram, of training and of validation rows, sums to the number of bins.

    Examples
    --------
    >>> from metasampler_bench._authors_trainer import RangeHistograms
    >>> RangeHistograms().histogram([0.1, 0.1, 0.1, 0.2]).tolist()
    [3.75, 0.0, 0.0, 0.0, 1.25]
    """

    kind: str = "majority"

    def histogram(self, errors: Any) -> np.ndarray:
        """Return the histogram of some errors."""
        counts, _ = np.histogram(errors, bins=self.n_bins)
        return self.n_bins * counts / len(errors)

    def __call__(self, growth: Growth) -> np.ndarray:
        """Return the state of a growing ensemble."""
        errors = (growth.errors(role, "majority") for role in ("train", "valid"))
        return np.concatenate([self.histogram(each) for each in errors])


def hand_made_transitions(
    n_bins: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, float, float]]:
    """Return states, actions and rewards that tell the critics which mu is right.

    Parameters
    ----------
    n_bins : int
        Bins of a histogram.
    rng : Generator
        Draws the states.

    Returns
    -------
    transitions : list of (state, action, reward)
        First those for underfitting, then what lies between, then overfitting.

    Examples
    --------
    >>> import numpy as np
    >>> from metasampler_bench._authors_trainer import hand_made_transitions
    >>> transitions = hand_made_transitions(5, np.random.default_rng(0))
    >>> len(transitions), [action for _, action, _ in transitions[::333]]
    (999, [0.9, 0.5, 0.1])
    """
    errors = np.linspace(0, 1, n_bins)
    transitions = []
    for mu, in_training, in_validation in _HAND_MADE:
        centres = np.repeat([in_training, in_validation], n_bins)
        state = np.exp(-0.5 * ((np.tile(errors, 2) - centres) / _WIDTH) ** 2)
        # Both halves together have the sum of a real state; one of them may have more than half.
        state *= 2 * n_bins / state.sum()
        transitions += [
            (state + rng.uniform(0, _NOISE, 2 * n_bins), mu, _GOOD_REWARD)
            for _ in range(_N_OF_EACH)
        ]
    return transitions


@dataclass
class AuthorsTrainer:
    """Meta-train on one task by the recipe of the authors' code.

    It differs from :class:`~metasampler.meta.SoftActorCritic` on a
    :class:`~metasampler.MetaSampler` in these points:

    - states are `RangeHistograms`: majority rows only, bins over the range of the errors;
    - the replay memory starts with 999 hand-made transitions, which say that mu .9 is good where
      the ensemble underfits, .5 in between, and .1 where it overfits. They are in this order, so
      random actions replace those for .9 and half of those for .5 before the first update;
    - the flag of terminal states is inverted: only the last action of an episode counts a future
      reward, and every other action counts its own reward alone;
    - there is an update after each action, not after each episode;
    - only the critics' learning rate decays.

    Parameters
    ----------
    random_state : int
        Decides all that is random.
    n_random_steps, n_updates : int
        As in :class:`~metasampler.meta.SoftActorCritic`.
    estimator : classifier, default=None
        The base estimator in meta-training; None means a decision tree.
    n_estimators : int, default=10
        Members of the ensemble in an episode.

    Attributes
    ----------
    actor_ : GaussianPolicy
        What was learned.
    n_episodes_ : int
        Episodes that were played.
    """

    random_state: int
    n_random_steps: int = 500
    n_updates: int = 1000
    estimator: Any = None
    n_estimators: int = 10

    def fit(self, X: Any, y: Any, X_val: Any, y_val: Any) -> AuthorsTrainer:
        """Meta-train on training rows, with rewards by validation rows."""
        self.encoder = RangeHistograms()
        for_agent, for_episodes = np.random.SeedSequence(self.random_state).spawn(2)
        self._rng = np.random.default_rng(for_episodes)
        self._settings = SoftActorCritic(
            n_random_steps=self.n_random_steps, n_updates=self.n_updates
        )
        n_actions = self.n_estimators - 1
        rng = np.random.default_rng(for_agent)
        self._settings.begin(Problem(self.encoder.size, (50,), 1, n_actions, rng))
        self._agent = self._settings.agent
        self.actor_: GaussianPolicy = self._settings.policy
        for state, action, reward in hand_made_transitions(self.encoder.n_bins, self._rng):
            # No future reward counts, so it does not matter what follows.
            self._remember(state, action, reward, state, is_last=False)
        self._n_steps = self.n_episodes_ = 0
        while self._agent.n_updates_ < self.n_updates:
            self._play(X, y, X_val, y_val)
        return self

    def policy(self) -> LearnedPolicy:
        """Return what chooses mu in a fit."""
        return as_policy(self.actor_)

    def _play(self, X: Any, y: Any, X_val: Any, y_val: Any) -> None:
        """Grow one ensemble and learn meanwhile."""
        played: list[tuple[np.ndarray, float, float]] = []
        growth: Any = None

        # The fit copies its policy, but a function stays the same: what it learns is kept.
        def choose(growing: Growth) -> GaussianDraw:
            nonlocal growth
            growth = growing
            return self._act(played, growth)

        model = _plain_ensemble(
            self.estimator,
            self.n_estimators,
            choose,
            random_state=int(self._rng.integers(2**31)),
        )
        model.fit(X, y, X_val=X_val, y_val=y_val)
        self._learn(played, growth, self.encoder(growth), is_last=True)
        self.n_episodes_ += 1

    def _act(self, played: list, growth: Growth) -> GaussianDraw:
        """Choose the next mu, after learning from the one before."""
        state = self.encoder(growth)
        if played:
            self._learn(played, growth, state, is_last=False)
        if self._n_steps < self.n_random_steps:
            action = float(self._rng.random())
        else:
            action = self.actor_.sample(state, self._rng)
        self._n_steps += 1
        played.append((state, action, growth.steps[-1].score))
        return GaussianDraw(action, state=state)

    def _learn(self, played: list, growth: Growth, following: np.ndarray, is_last: bool) -> None:
        """Remember what the last action led to; update once the random steps are done."""
        state, action, before = played[-1]
        self._remember(state, action, growth.steps[-1].score - before, following, is_last)
        if self._n_steps > self.n_random_steps and self._agent.n_updates_ < self.n_updates:
            self._update()

    def _remember(
        self, state: np.ndarray, action: float, reward: float, following: np.ndarray, is_last: bool
    ) -> None:
        # Inverted, as in the authors' code: no future reward but after the last action.
        scaled = reward * self._settings.reward_scale
        self._agent.memory.add(state, action, scaled, following, done=not is_last)

    def _update(self) -> None:
        """Update all networks, the policy's by a step of the undecayed length."""
        weights, rate = self.actor_.parameters, self._agent.current_learning_rate
        before = weights.copy()
        self._agent.update()
        # A step of Adam is proportional to the learning rate.
        weights[...] = before + (weights - before) * (self._settings.learning_rate / rate)


def as_policy(actor: GaussianPolicy) -> LearnedPolicy:
    """Return what chooses mu by an actor that `AuthorsTrainer` has trained."""
    return LearnedPolicy(actor, RangeHistograms())


def _plain_ensemble(
    estimator: Any, n_estimators: int, policy: Any, **options: Any
) -> MesaClassifier:
    """Return the paper's ensemble: nothing but members that are averaged."""
    return MesaClassifier(
        DecisionTreeClassifier() if estimator is None else clone(estimator),
        n_estimators,
        meta_sampler=policy,
        calibration=None,
        threshold=None,
        leaf_smoothing=0.0,
        refit=False,
        **options,
    )


class AuthorsMesaClassifier(WrappingClassifier):
    """The paper's MESA, with a policy that `AuthorsTrainer` trains on the data first.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, default=None
        The base estimator; None means :class:`~sklearn.tree.DecisionTreeClassifier`.

    n_estimators : int, default=10
        Number of members. Meta-training grows ensembles of ten.

    meta_sampler : policy, default=None
        A policy to use; None trains one.

    draws : bool, default=False
        Whether actions are drawn from the policy, as in the authors' code, or are its mean.

    n_random_steps, n_updates : int
        As in :class:`~metasampler.meta.SoftActorCritic`.

    n_jobs : int, default=None
        Threads that score rows.

    random_state : int, RandomState instance or None, default=None
        Pass an int for the same ensemble in every call.

    Attributes
    ----------
    estimator_ : MesaClassifier
        The fitted ensemble.

    estimators_, estimators_samples_, actions_, scores_ : object
        Of this ensemble; see :class:`~metasampler.MesaClassifier`.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    See Also
    --------
    metasampler.MesaClassifier : ``from_preset("paper")`` trains by the paper's text.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from metasampler_bench import AuthorsMesaClassifier
    >>> X, y = make_classification(400, weights=[0.9], random_state=0)
    >>> clf = AuthorsMesaClassifier(n_random_steps=9, n_updates=9, random_state=0).fit(X, y)
    >>> len(clf.estimators_), len(clf.actions_)
    (10, 9)
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        meta_sampler=None,
        draws=False,
        n_random_steps=500,
        n_updates=1000,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.meta_sampler = meta_sampler
        self.draws = draws
        self.n_random_steps = n_random_steps
        self.n_updates = n_updates
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, *, X_val=None, y_val=None):
        """Meta-train a policy if none is given, and fit an ensemble with it.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows.

        y : array-like of shape (n_samples,)
            Labels.

        X_val, y_val : table and array-like, default=None
            Validation rows. Without them a fifth of each class is held out from X.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        table, classes, codes = self._check_fit_rows(X, y)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if X_val is None:
            table, X_val, codes, codes_val = train_test_split(
                table, codes, test_size=0.2, stratify=codes, random_state=seed
            )
        else:
            codes_val = np.searchsorted(classes, y_val)
        policy = self.meta_sampler
        if policy is None:
            trainer = AuthorsTrainer(seed, self.n_random_steps, self.n_updates, self.estimator)
            policy = trainer.fit(table, codes, X_val, codes_val).policy()
        fitted = _plain_ensemble(
            self.estimator,
            self.n_estimators,
            Drawn(policy) if self.draws else policy,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(table, codes, X_val=X_val, y_val=codes_val)
        self.estimator_ = fitted
        for name in KEPT:
            setattr(self, name, getattr(fitted, name))
        self.classes_ = classes
        validate_data(self, X, skip_check_array=True)
        return self

    def staged_predict_proba(self, X):
        """Yield the probability of each class after each member.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
        """
        table = self._check_predict_table(X)
        yield from self.estimator_.staged_predict_proba(table)
