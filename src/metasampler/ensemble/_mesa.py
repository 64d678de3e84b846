"""MESA: an ensemble grown by a meta-sampler (Algorithm 2)."""

import os
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from metasampler._sklearn_compat import Interval, StrOptions, fit_context
from metasampler.ensemble._policy import UNIVERSAL, blind_policy, resolve_sampler
from metasampler.ensemble._presets import default_members, preset_settings
from metasampler.ensemble._rivals import best_beginning, resolve_rivals
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble
from metasampler.growth._loop import grow_by_policy
from metasampler.growth._random import Stream
from metasampler.meta._fixed import ConstantPolicy, UniformPolicy
from metasampler.meta._sampler import MetaSampler

__all__ = ["MesaClassifier"]


class MesaClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data whose training rows are chosen by a meta-sampler.

    The ensemble grows one member at a time. Each member is trained on all rows of the smallest
    class and as many rows of every larger class. Which ones is decided by the meta-sampler: it
    reads a histogram of the ensemble's errors on training and validation rows and answers with
    a number mu in [0, 1]; rows whose error is close to mu are then drawn most often. The first
    member is trained on a uniform draw. Members may be of several kinds that take turns, see
    `estimator`.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or list of these, default=None
        The base learner. Those of a list take turns: member i is a copy of
        ``estimator[i % len(estimator)]``. None means two kinds of trees in turn,
        ``DecisionTreeClassifier(criterion="entropy", max_features="sqrt", min_samples_leaf=2)``
        and ``ExtraTreeClassifier(criterion="entropy", max_features=0.5)``. A list has no nested
        parameters: a search goes over whole lists. Members are trained on class numbers 0, 1,
        ..., the positions in `classes_`.

    n_estimators : int, default=50
        Number of members.

    meta_sampler : MetaSampler, str, path or float, default="universal"
        What chooses mu:

        - ``"universal"``: the sampler that comes with the package, meta-trained on many data
          sets. It reads errors of validation rows: where there are none, because
          `validation_fraction` is None or a class has a single row, mu is the constant 0.9;
        - ``"adapt"``: the universal sampler, fine-tuned on this data first;
        - ``"fit"``: a :class:`~metasampler.MetaSampler` that is meta-trained on this data first,
          as in the paper;
        - a float in [0, 1]: that constant;
        - ``"random"``: uniformly random mu;
        - a :class:`~metasampler.MetaSampler`: used as it is if it is fitted; otherwise a copy
          of it is meta-trained on this data first (on the rows, with the base learner, the
          scoring, the sampling ratio and, if given, the sigma of this classifier);
        - a :class:`~metasampler.meta.ConstantPolicy` or
          :class:`~metasampler.meta.UniformPolicy`;
        - any other string, or a path: the name or the file of a sampler to load.

    rivals : "auto", array-like of float or None, default="auto"
        Constant mu that the meta-sampler is compared with: ensembles of ten members are begun
        with each of them and with the meta-sampler. If the best of them is clearly better on the
        validation rows, it is grown on in place of the meta-sampler's, see `rival_`: its score
        has to be larger by half of ``sqrt(score * (1 - score) / n)``, the standard error of a
        share of the n validation rows of the smallest class (by anything, for scores outside of
        [0, 1]). This takes nine member fits a rival. ``"auto"`` means 0.5 and 1 for
        ``meta_sampler="universal"``, where the validation rows hold at least 30 of every class,
        and none otherwise. Not part of the paper.

    sigma : float, default=None
        Width of the Gaussian over errors. None means the meta-sampler's own, 0.2 for constant
        and random mu.

    sampling_ratio : float, default=1.0
        Rows drawn of each larger class per row of the smallest class.

    validation_fraction : float, default=0.2
        Part of each class that is held out if `fit` gets no validation rows: for the meta-state,
        `scores_`, calibration and threshold. None trains on all rows; only policies that look at
        no state, constant and random mu, can do without (``"universal"`` becomes one).

    scoring : str or callable, default="average_precision"
        How validation rows are scored: the name of a scikit-learn scorer or a callable
        ``scorer(estimator, X, y)`` that needs no more than probabilities; the X it gets are the
        ensemble's probabilities. Names speak of the minority class as the positive one.
        ``"average_precision"`` means the macro average for more than two classes.

    calibration : {"auto", "prior", "sigmoid", "isotonic", "cross-fitted"} or None, default="auto"
        How probabilities are brought from the members' balanced world to the real one:

        - ``"prior"``: by the known class ratios of data and draws; needs no validation rows;
        - ``"sigmoid"``: Platt's sigmoid, fitted on the validation rows;
        - ``"isotonic"``: an increasing step function, fitted on the validation rows. It makes
          ties, and so changes average precision;
        - ``"auto"``: the sigmoid if every class has at least five held-out rows, otherwise the
          prior. With a refit, and fewer than 30 validation rows of some class, quarters of the
          training rows are held out in turn as well, which takes four more growths;
        - ``"cross-fitted"``: a sigmoid for fits without validation rows: every row is held out in
          turn, which takes five more fits. Worth it where rows of the rare class are few;
        - None: the mean of the members' probabilities, as in the paper.

    threshold : None, "balanced", float, str or tuple, default="balanced"
        From which probability on `predict` says minority:

        - None: the most probable class, as usual in scikit-learn; for a rare class that is
          seldom the rare one;
        - ``"balanced"``: where the class is more probable than it is frequent, which is what
          the most probable class is in a balanced world; for any number of classes;
        - a number in (0, 1);
        - ``"f1"`` or ``"mcc"``: the best one on the validation rows;
        - ``("recall", r)``: the highest one that can be expected to find a part r of the
          minority among new rows;
        - ``("precision", p)``: the lowest one with at least that precision on the validation
          rows;
        - ``("cost", fn_cost, fp_cost)``: the one with the lowest total cost on the validation
          rows.

    n_iter_no_change : int, default=None
        Stop when the validation score has not improved by `tol` for so many members.

    tol : float, default=1e-4
        See `n_iter_no_change`.

    validate_members : bool, default=False
        Whether to hand the validation rows to the members' fit, as ``eval_set`` (LightGBM,
        XGBoost) or ``X_val`` and ``y_val`` (HistGradientBoosting), for early stopping of theirs,
        which has to be switched on there (``early_stopping=True``, ``early_stopping_rounds=5``).
        Of several base learners that take turns all must take them.

    leaf_smoothing : float or "auto", default="auto"
        Rows of each class that every leaf of tree members is thought to hold besides its own: a
        leaf with n training rows, n_c of them of class c, gives that class the probability
        ``(n_c + leaf_smoothing) / (n + leaf_smoothing * n_classes)``, where weighted rows count by
        their weight. Leaves of trees that are grown to the end say 0 or 1, and k such members give
        only k + 1 different scores; smoothed leaves give more, and large leaves more say. It is
        for validation scores, predictions, calibration and threshold; draws and meta-states look
        at the plain leaves. For scikit-learn's own decision trees, extra trees and forests of
        them: ``"auto"`` means 1 for these and 0 for any other base learner. Of several base
        learners that take turns those with leaves are smoothed. Not part of the paper.

    n_candidates : int, default=1
        Look-ahead: how many candidates are fitted for each member, also the first, on different
        draws with the same mu. The one with which the ensemble scores best on the validation rows
        joins it, of equal ones the first; members with leaves are compared by smoothed ones, with
        `leaf_smoothing` or without. If the validation rows hold fewer than 12 of some class,
        one candidate is used, because a choice by so few rows does harm; see `n_candidates_`. Not
        part of the paper.

    refit : bool or "auto", default="auto"
        Whether to grow the ensemble a second time on all rows, training and validation rows
        together, once everything that needs held-out rows is chosen. There are as many members,
        with the same mu (and by look-ahead the random numbers of the candidate that was taken);
        draws look at the errors of the second growth. Not together with `warm_start`,
        `validate_members` or ``calibration="cross-fitted"``. ``"auto"`` refits where the
        validation rows were held out from X, and neither of these is set: rows that the user
        passed as X_val stay validation rows. Not part of the paper.

    n_jobs : int, default=None
        Threads that score rows, in `fit` and in prediction, and that fit candidates. The result is
        the same for any number.

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
        The members; those of the second growth after a `refit`.

    estimators_samples_ : list of ndarray
        The rows of X each member was trained on. After a `refit` these may be validation rows too;
        rows of an X_val follow those of X: position ``len(X)`` is its first row.

    actions_ : ndarray of shape (n_estimators - 1,)
        The mu that was chosen for each member after the first.

    states_ : ndarray of shape (n_estimators - 1, state_size)
        The meta-state each mu was chosen in; empty without validation rows.

    scores_ : ndarray of shape (n_estimators,)
        Score on the validation rows after each member, before calibration; empty without
        validation rows.

    rivals_ : tuple of float
        The constants that the meta-sampler met.

    rival_ : float or None
        The constant that all of `actions_` are, because it was clearly better; None if the
        meta-sampler chose them.

    n_candidates_ : int
        The candidates that were fitted for each member: `n_candidates`, or 1 if the validation rows
        hold fewer than 12 of some class.

    leaf_smoothing_ : float
        By how much leaves are smoothed.

    refit_ : bool
        Whether the members were refitted on all rows.

    calibration_ : callable
        Maps the members' mean probabilities to those of `predict_proba`.

    threshold_ : float
        Probability of `minority_class_` from which on `predict` says so (two classes).

    expected_precision_, expected_recall_ : float or None
        What the validation rows say of `threshold_`.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    minority_class_ : object
        The label of the smallest class.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has names that are all strings.

    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean of the members' importances, where all have them; those of different classifiers
        that take turns are scaled to sum to 1 first.

    meta_sampler_ : MetaSampler, ConstantPolicy or UniformPolicy
        What chose mu, if there is no `rival_`.

    estimator_ : classifier or list of classifier
        The base learner that members were copied from, or those that took turns.

    See Also
    --------
    MetaSampler : The learned policy, and how it is meta-trained.
    imblearn.ensemble.BalancedBaggingClassifier : Uniform balanced draws.

    Notes
    -----
    Members are trained on balanced subsets, so the mean of their probabilities is that of a
    balanced world; `calibration` brings it to the real one. Calibration is fitted once, for the
    whole ensemble; `staged_predict_proba` uses it for all stages.

    After a `refit` only the members are new. `actions_`, `states_`, `rival_`, `scores_`,
    `calibration_`, `threshold_`, what is expected of it and `summary` are those of growths with
    held-out rows: there are none left by which the members on all rows could be judged. If no
    X_val was passed, the members are, without look-ahead, those that ``validation_fraction=None``
    gives with the same mu.

    Meta-training inside `fit` (``meta_sampler="fit"``) grows its ensembles with plain leaves and
    one candidate, whatever `leaf_smoothing` and `n_candidates` are.

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
    >>> len(clf.estimators_), clf.actions_.shape, clf.leaf_smoothing_, clf.refit_
    (50, (49,), 1.0, True)
    """

    _parameter_constraints: dict = {
        **BaseUnderSamplingEnsemble._parameter_constraints,
        "meta_sampler": [str, os.PathLike, Real, object],
        "rivals": [None, StrOptions({"auto"}), "array-like"],
        "sigma": [None, Interval(Real, 0, None, closed="neither")],
        "warm_start": ["boolean"],
    }

    states_: np.ndarray
    actions_: np.ndarray
    rivals_: tuple[float, ...]
    rival_: float | None
    meta_sampler_: MetaSampler | ConstantPolicy | UniformPolicy

    def __init__(
        self,
        estimator=None,
        n_estimators=50,
        *,
        meta_sampler="universal",
        rivals="auto",
        sigma=None,
        sampling_ratio=1.0,
        validation_fraction=0.2,
        scoring="average_precision",
        calibration="auto",
        threshold="balanced",
        n_iter_no_change=None,
        tol=1e-4,
        validate_members=False,
        leaf_smoothing="auto",
        n_candidates=1,
        refit="auto",
        n_jobs=None,
        random_state=None,
        warm_start=False,
        verbose=0,
    ):
        super().__init__(
            estimator,
            n_estimators,
            sampling_ratio=sampling_ratio,
            validation_fraction=validation_fraction,
            scoring=scoring,
            calibration=calibration,
            threshold=threshold,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            validate_members=validate_members,
            leaf_smoothing=leaf_smoothing,
            n_candidates=n_candidates,
            refit=refit,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.meta_sampler = meta_sampler
        self.rivals = rivals
        self.sigma = sigma
        self.warm_start = warm_start

    @classmethod
    def from_preset(cls, name, **overrides):
        """Make a classifier with a set of settings that go together.

        Parameters
        ----------
        name : {"default", "fast", "best", "paper"}
            - ``"default"``: what the constructor gives;
            - ``"fast"``: 12 members on all rows, with a constant mu: nothing is held out, so that
              probabilities are calibrated by the class ratios alone;
            - ``"best"``: 200 members, at four times the cost;
            - ``"paper"``: MESA as it was published, for two classes (for more, pass
              ``threshold=None``): ten plain trees, meta-trained on the data first, without
              calibration, soft leaves, rivals or refit.

        **overrides
            Parameters that are to differ from the preset.

        Returns
        -------
        classifier : MesaClassifier
            Not fitted.

        Examples
        --------
        >>> from metasampler import MesaClassifier
        >>> MesaClassifier.from_preset("fast", random_state=0)
        MesaClassifier(meta_sampler=0.9, n_estimators=12, random_state=0,
                       validation_fraction=None)
        """
        return cls(**{**preset_settings(name), **overrides})

    def _base_learner(self):
        if self.estimator is None:
            return default_members()
        return self.estimator

    # The base learner is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, X_val=None, y_val=None, sample_weight=None):
        """Grow the ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows. Data frames reach the members as they are, unless all are
            scikit-learn's trees.

        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.

        X_val, y_val : table and array-like, default=None
            Validation rows. Without them a part of each class is held out from X.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. They multiply the weights of the draw, count in states and
            scores, and reach base learners that take them: rows of the smallest class with their
            own weight, drawn rows with the mean weight of their class, since their own has done
            its work in the draw. A weight of zero leaves the row out.

        Returns
        -------
        self : MesaClassifier
            The fitted ensemble.
        """
        resumes = self.warm_start and hasattr(self, "estimators_")
        sampler: Any
        if resumes:
            sampler, needs_training = self.meta_sampler_, False
        else:
            sampler, needs_training = resolve_sampler(self.meta_sampler, self.verbose)
        # The default has to work where nothing can be held out.
        is_universal = isinstance(self.meta_sampler, str) and self.meta_sampler == UNIVERSAL
        growth = self._start_growth(
            X, y, X_val, y_val, sample_weight, resume=resumes, must_hold_out=not is_universal
        )
        if is_universal and not growth.data.has_validation:
            sampler = blind_policy()
        reads_states = isinstance(sampler, MetaSampler)
        if reads_states and not growth.data.has_validation:
            raise ValueError(
                f"meta_sampler={self.meta_sampler!r} reads errors of validation rows: pass X_val "
                "and y_val, or a validation_fraction."
            )
        if not resumes:
            self.rivals_ = resolve_rivals(self.rivals, growth.data, is_universal=is_universal)
            self.rival_ = None
        if needs_training:
            sampler.set_params(
                estimator=clone(growth.learner.estimator),
                sampling_ratio=self.sampling_ratio,
                validation_fraction=self.validation_fraction or sampler.validation_fraction,
                scoring=self.scoring,
                random_state=growth.streams.entropy,
            )
            if self.sigma is not None:
                sampler.set_params(sigma=self.sigma)
            sampler._fit_data([growth.data])
            if sampler.summary_["interrupted"]:
                # Alone it is worth keeping what was learned; here it would be an ensemble by half a
                # policy, and a cross-validation around it would go on.
                raise KeyboardInterrupt
        self._grow_by_sampler(growth, sampler)

        self.meta_sampler_ = sampler
        later = self._records[1:]
        self.actions_ = np.array([record["mu"] for record in later], dtype=float)
        states = [record["state"] for record in later if record["state"] is not None]
        self.states_ = np.array(states).reshape(len(states), sampler.encoder_.size)
        return self._finish_growth(growth)

    def _resume_facts(self):
        given, rivals = self.meta_sampler, self.rivals
        return {
            **super()._resume_facts(),
            "sigma": self.sigma,
            "rivals": rivals if rivals is None or isinstance(rivals, str) else tuple(rivals),
            "meta_sampler": "a MetaSampler" if isinstance(given, MetaSampler) else given,
        }

    def _grow_by_sampler(self, growth, sampler):
        """Algorithm 2, with a record of what each step saw, did and reached."""

        def choose_mu(state, n_members):
            # A learned policy acts by its mean: it scores the same and is reproducible. Only a
            # policy without a state has to draw.
            if self.rival_ is not None:
                return self.rival_
            if isinstance(sampler, UniformPolicy):
                return sampler.sample(state, growth.streams.generator(Stream.POLICY, n_members))
            return sampler.predict(state)

        sigma = self._sigma(sampler)
        encoder = sampler.encoder_ if growth.data.has_validation else None

        def steps():
            if self.rivals_ and not growth.n_members:
                beginning = best_beginning(growth, encoder, choose_mu, self.rivals_, sigma)
                self.rival_ = beginning.rival
                yield from beginning.repeat(growth)
            yield from grow_by_policy(growth, self.n_estimators, encoder, choose_mu, sigma)

        for step in self._watch(growth, steps(), lambda step: step.score):
            self._note(growth, step._asdict())

    def _sigma(self, sampler) -> float:
        return sampler.sigma if self.sigma is None else self.sigma

    def _replay(self, growth, records):
        sigma = self._sigma(self.meta_sampler_)
        for record in records:
            if record["mu"] is None:
                growth.grow(candidate=record["candidate"])
            else:
                growth.grow_at(record["mu"], sigma, record["candidate"])
            yield
