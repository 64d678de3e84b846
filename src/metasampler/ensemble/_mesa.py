"""MESA: an ensemble grown by a meta-sampler (Algorithm 2)."""

import os
from numbers import Real

import numpy as np
from sklearn.base import clone

from metasampler._progress import progress_bar
from metasampler._sklearn_compat import Interval, fit_context
from metasampler.ensemble._base import BaseGrownEnsemble
from metasampler.growth._loop import grow_by_policy
from metasampler.growth._random import Stream
from metasampler.meta._fixed import DEFAULT_SIGMA, ConstantPolicy, UniformPolicy
from metasampler.meta._sampler import MetaSampler

__all__ = ["MesaClassifier"]

# The constant that does best on average over imbalanced-learn's 27 data sets, until a
# pretrained sampler is shipped.
_DEFAULT_MU = 0.9


class MesaClassifier(BaseGrownEnsemble):
    """Ensemble for imbalanced data whose training rows are chosen by a meta-sampler.

    The ensemble grows one member at a time. Each member is trained on all rows of the smallest
    class and as many rows of every larger class. Which ones is decided by the meta-sampler: it
    reads a histogram of the ensemble's errors on training and validation rows and answers with
    a number mu in [0, 1]; rows whose error is close to mu are then drawn most often. The first
    member is trained on a uniform draw.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, default=None
        The base learner; None means :class:`~sklearn.tree.DecisionTreeClassifier`. Members are
        trained on class numbers 0, 1, ..., the positions in `classes_`.

    n_estimators : int, default=10
        Number of members.

    meta_sampler : MetaSampler, str, path or float, default="default"
        What chooses mu:

        - ``"default"``: the constant 0.9;
        - a float in [0, 1]: that constant;
        - ``"random"``: uniformly random mu;
        - ``"fit"``: a :class:`~metasampler.MetaSampler` that is meta-trained on this data first;
        - a :class:`~metasampler.MetaSampler`: used as it is if it is fitted; otherwise a copy
          of it is meta-trained on this data first (on the rows, with the base learner, the
          scoring and the sampling ratio of this classifier);
        - any other string, or a path: the name or the file of a sampler to load.

    sigma : float, default=None
        Width of the Gaussian over errors. None means the meta-sampler's own, 0.2 for constant
        and random mu.

    sampling_ratio : float, default=1.0
        Rows drawn of each larger class per row of the smallest class.

    validation_fraction : float, default=0.2
        Part of each class that is held out to compute the meta-state and `scores_`, if `fit`
        gets no validation rows.

    scoring : str or callable, default="average_precision"
        How validation rows are scored: the name of a scikit-learn scorer or a callable
        ``scorer(estimator, X, y)`` that needs no more than probabilities; the X it gets are the
        ensemble's probabilities. Names speak of the minority class as the positive one.
        ``"average_precision"`` means the macro average for more than two classes.

    n_jobs : int, default=None
        Threads that score rows, in `fit` and in prediction. The result is the same for any number.

    random_state : int, RandomState instance or None, default=None
        Pass an int for the same ensemble in every call.

    warm_start : bool, default=False
        If True, `fit` keeps the members it has and grows the ensemble to `n_estimators`. On the
        same rows this gives what one longer fit would have given.

    verbose : int, default=0
        Show a progress bar if not 0.

    Attributes
    ----------
    estimators_ : list of classifier
        The members.

    estimators_samples_ : list of ndarray
        The rows of X each member was trained on.

    actions_ : ndarray of shape (n_estimators - 1,)
        The mu that was chosen for each member after the first.

    states_ : ndarray of shape (n_estimators - 1, state_size)
        The meta-state each mu was chosen in.

    scores_ : ndarray of shape (n_estimators,)
        Score on the validation rows after each member.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    minority_class_ : object
        The label of the smallest class.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean of the members' importances, where they have them.

    meta_sampler_ : MetaSampler, ConstantPolicy or UniformPolicy
        What chose mu.

    estimator_ : classifier
        The base learner that members were copied from.

    See Also
    --------
    MetaSampler : The learned policy, and how it is meta-trained.
    imblearn.ensemble.BalancedBaggingClassifier : Uniform balanced draws.

    Notes
    -----
    Probabilities are those of a balanced world: for a class that is rarer in reality they are
    too high. Their order is not affected.

    References
    ----------
    .. [1] Z. Liu, P. Wei, J. Jiang, W. Cao, J. Bian, Y. Chang, "MESA: Boost Ensemble Imbalanced
       Learning with MEta-SAmpler", NeurIPS 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import train_test_split
    >>> from metasampler import MesaClassifier
    >>> X, y = make_classification(2000, weights=[0.95], random_state=0)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = MesaClassifier(random_state=0).fit(X_train, y_train)
    >>> clf.predict_proba(X_test).shape
    (500, 2)
    >>> len(clf.estimators_), clf.actions_[:3].tolist()
    (10, [0.9, 0.9, 0.9])
    """

    _parameter_constraints: dict = {
        **BaseGrownEnsemble._parameter_constraints,
        "meta_sampler": [str, os.PathLike, Real, object],
        "sigma": [None, Interval(Real, 0, None, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "scoring": [str, callable],
        "warm_start": ["boolean"],
    }

    states_: np.ndarray
    actions_: np.ndarray
    scores_: np.ndarray
    meta_sampler_: MetaSampler | ConstantPolicy | UniformPolicy

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        meta_sampler="default",
        sigma=None,
        sampling_ratio=1.0,
        validation_fraction=0.2,
        scoring="average_precision",
        n_jobs=None,
        random_state=None,
        warm_start=False,
        verbose=0,
    ):
        super().__init__(estimator, n_jobs=n_jobs)
        self.n_estimators = n_estimators
        self.meta_sampler = meta_sampler
        self.sigma = sigma
        self.sampling_ratio = sampling_ratio
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    # The base learner is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, X_val=None, y_val=None):
        """Grow the ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows. Data frames reach the members as they are, unless these are
            scikit-learn's trees.

        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.

        X_val, y_val : table and array-like, default=None
            Validation rows. Without them a part of each class is held out from X.

        Returns
        -------
        self : MesaClassifier
            The fitted ensemble.
        """
        sampler, needs_training = self._resolve_sampler()
        resumes = self.warm_start and hasattr(self, "estimators_")
        growth = self._start_growth(
            X,
            y,
            X_val,
            y_val,
            validation_fraction=self.validation_fraction,
            scoring=self.scoring,
            resume=resumes,
        )
        if resumes:
            sampler = self.meta_sampler_
        elif needs_training:
            sampler.set_params(
                estimator=clone(growth.learner.estimator), random_state=growth.streams.entropy
            )
            sampler.fit_data([growth.data])
        steps = self._run(growth, sampler)

        known = (self.states_, self.actions_, self.scores_) if resumes else (None, None, None)
        self.meta_sampler_ = sampler
        self.states_, self.actions_, self.scores_ = _record(steps, sampler.encoder_.size, *known)
        return self._finish_growth(growth)

    def _run(self, growth, sampler):
        """Grow the ensemble and return what each step saw, did and reached."""

        def choose_mu(state, n_members):
            # A learned policy acts by its mean: it scores the same and is reproducible. Only a
            # policy without a state has to draw.
            if isinstance(sampler, UniformPolicy):
                return sampler.sample(state, growth.streams.generator(Stream.POLICY, n_members))
            return sampler.predict(state)

        sigma = sampler.sigma if self.sigma is None else self.sigma
        loop = grow_by_policy(growth, self.n_estimators, sampler.encoder_, choose_mu, sigma)
        steps = []
        remaining = self.n_estimators - growth.n_members
        with progress_bar("Growing the ensemble", remaining, enabled=self.verbose > 0) as advance:
            for step in loop:
                steps.append(step)
                advance(f"validation score {step.score:.3f}")
        return steps

    def _resolve_sampler(self):
        """What chooses mu, and whether it has to be meta-trained on this data first."""
        given = self.meta_sampler
        if isinstance(given, MetaSampler):
            fitted = given.__sklearn_is_fitted__()
            return (given, False) if fitted else (clone(given), True)
        if isinstance(given, Real) and not isinstance(given, bool):
            return ConstantPolicy(float(given)), False
        if given == "default":
            return ConstantPolicy(_DEFAULT_MU), False
        if given == "random":
            return UniformPolicy(), False
        if given == "fit":
            sigma = DEFAULT_SIGMA if self.sigma is None else self.sigma
            return MetaSampler(sigma=sigma, verbose=self.verbose), True
        if isinstance(given, (str, os.PathLike)):
            return MetaSampler.load(given), False
        raise TypeError(
            "meta_sampler must be a MetaSampler, a number in [0, 1], 'default', 'random', 'fit', "
            f"or the name or path of a sampler; got {given!r}."
        )


def _record(steps, state_size, states=None, actions=None, scores=None):
    """The steps as arrays, appended to those of earlier steps."""
    new = [step for step in steps if step.mu is not None]
    new_states = np.array([step.state for step in new]).reshape(len(new), state_size)
    new_actions = np.array([step.mu for step in new], dtype=float)
    new_scores = np.array([step.score for step in steps], dtype=float)
    if scores is None:
        return new_states, new_actions, new_scores
    return (
        np.concatenate([states, new_states]),
        np.concatenate([actions, new_actions]),
        np.concatenate([scores, new_scores]),
    )
