"""MESA: an ensemble grown by a meta-sampler (Algorithm 2)."""

import os
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from metasampler._docs import shared_docs
from metasampler._sklearn_compat import Interval, StrOptions
from metasampler._warnings import warn_user
from metasampler.ensemble._checks import needs_held_out_rows
from metasampler.ensemble._many_classes import (
    HELD_OUT,
    MANY_CLASS_RECIPES,
    SAMPLE_GROWTH,
    many_class_trees,
)
from metasampler.ensemble._other_names import explain_other_names
from metasampler.ensemble._recipes import ENOUGH_ROWS, RECIPES
from metasampler.ensemble._teams import Plan
from metasampler.ensemble._under_sampling import BaseUnderSamplingEnsemble
from metasampler.growth import N_ESTIMATORS, resolve_estimators, resolve_leaf_smoothing
from metasampler.policy import (
    ConstantPolicy,
    Drawn,
    UniformPolicy,
    WithRivals,
    load_policy,
    warn_of_other_members,
)

# Members of the user's own, where no number is given.
_N_MEMBERS = 50

#: The sampler that comes with the package and is the default.
_UNIVERSAL = "universal"

# In its place without validation rows: the best constant over imbalanced-learn's 27 data sets.
_BLIND_MU = 0.9


@shared_docs()
@explain_other_names
@dataclass(eq=False, repr=False)
class MesaClassifier(BaseUnderSamplingEnsemble):
    """Ensemble for imbalanced data that chooses the rows of each member by the errors so far.

    The ensemble grows one member at a time. Each member is trained on all rows of the smallest
    class and on a draw from every larger class. A *meta-sampler* chooses whether the draw favours
    easy or hard rows. By default there are three teams of members; see Notes. `fit` takes data
    frames of pandas and polars with text, categories, dates and missing values.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, list of these, or None, default=None
        Members of your own: all are copies of it. None grows the teams of a `recipe`. The
        classifiers of a list take turns: member i is a copy of ``estimator[i % len(estimator)]``. A
        list has no nested parameters, so a search has to replace the whole list. Members see the
        classes as numbers 0, 1, ..., their positions in `classes_`.

    n_estimators : int, default=None
        Number of members: the length of `estimators_`. None means the number of the recipe (30 by
        default, 78 with few rows, 105 with many classes, see Notes), and 50 for members of your
        own. The teams of a recipe are scaled to another number. Scouts stay as many as they are,
        unless that leaves no room for another member.

    recipe : {"default", "fast", "best"}, default="default"
        The teams that grow if `estimator` is None. ``"default"`` takes about three times the CPU
        time of LightGBM, ``"fast"`` about as much as LightGBM, and ``"best"`` about ten times as
        much.

    meta_sampler : MetaSampler, policy, str, path or float, default="universal"
        What chooses how rows are drawn:

        - ``"universal"``: a sampler that was trained on other tables. With teams it is the sampler
          ``boosters``, which reads `signal_` and chooses how hard the rows of boosters are. Without
          teams it is the sampler ``universal``, which chooses mu. If every class has at least 30
          validation rows, a constant mu that is clearly better replaces it; see
          :class:`~metasampler.policy.WithRivals`. Without validation rows mu is the constant 0.9;
        - ``"fit"``: a :class:`~metasampler.MetaSampler` that is meta-trained on this data first,
          as in the paper. With teams it learns on trees and then also draws for boosters; a
          warning says so;
        - a float in [0, 1]: this constant mu;
        - ``"random"``: uniformly random mu;
        - a :class:`~metasampler.MetaSampler`: a fitted one is used as it is. Otherwise `fit` first
          meta-trains a copy on this data, with the members, the scoring and the sampling ratio of
          this classifier;
        - a policy of :mod:`metasampler.policy`, for instance
          :class:`~metasampler.policy.ConstantPolicy` with another width of the Gaussian, or
          :class:`~metasampler.policy.Drawn`, which draws its actions;
        - any other string, or a path: the name or the file of a sampler to load;
        - a function of your own, ``policy(growth)``, called once per member. It returns a mu in
          [0, 1], a rule such as :class:`~metasampler.growth.GaussianDraw` or
          :class:`~metasampler.growth.PowerDraw`, or None for a uniform draw.

    sampling_ratio : float, default=1.0
        How many rows of each larger class are drawn for each row of the smallest class. Boosters of
        a recipe get three times as many. With more than two classes, a class that is n times as
        large as the smallest gives the square root of n times as many rows.

    validation_fraction : float or "auto", default="auto"
        Fraction of each class that is held out if `fit` gets no validation rows. Held-out rows
        serve early stopping, the state, `scores_`, calibration and threshold. Members of teams
        leave out one fold each, in rotation, so every row is used: 0.1 cuts the rows into 10 folds,
        0.25 into 4. There are at least two folds. Members of your own all leave out the same rows.
        ``"auto"`` means 0.1 for teams and 0.2 otherwise, and for teams with many classes (None for
        ``"fast"`` with few rows). None trains on all rows. It works only with policies that read no
        state: constant and random mu, and ``"universal"``, which is then a constant.

    max_rows : int or None, default=1_000_000
        The most rows of a class that one member is trained on. If a class has more, a member gets
        a draw of them, so that its memory does not grow with the data. None sets no limit.

    scoring : str or callable, default="average_precision"
        How validation rows are scored: the name of a scikit-learn scorer, or a callable
        ``scorer(estimator, X, y)``. The scorer must need only probabilities: as X it gets the
        probabilities of the ensemble. A scorer by name takes the minority class as positive. For
        more than two classes ``"average_precision"`` is the macro average.

    calibration : {"auto", "prior", "sigmoid"} or None, default="auto"
        Members learn from balanced rows, so their probabilities are too high for the rare class.
        How to correct them:

        - ``"prior"``: by the known class ratios of data and draws; needs no validation rows;
        - ``"sigmoid"``: by Platt's sigmoid, fitted on held-out rows. For teams with many classes it
          is a softmax: one slope for all log-odds, and an intercept for each class;
        - ``"auto"``: ``"sigmoid"`` if every class has at least five held-out rows, otherwise
          ``"prior"``. If there is a refit and some class has fewer than 30 validation rows, each
          quarter of the training rows is held out in turn too. That takes four more growths;
        - None: not at all. The result is the mean of the members' probabilities, as in the paper,
          or the combined probability of the teams.

    threshold : None, "balanced", float, str or tuple, default="balanced"
        The lowest probability at which `predict` returns the minority class:

        - None: `predict` returns the most probable class, as usual in scikit-learn. This is seldom
          the rare class;
        - ``"balanced"``: `predict` returns the class that is most probable compared with its
          frequency; for any number of classes;
        - a number in (0, 1);
        - ``"f1"`` or ``"mcc"``: the threshold with the best score on the validation rows;
        - ``("recall", r)``: the threshold with the highest precision among those that should find
          at least a share r of the minority rows in new data;
        - ``("precision", p)``: the lowest threshold with at least this precision on the validation
          rows;
        - ``("cost", fn_cost, fp_cost)``: the threshold with the lowest total cost on the validation
          rows;
        - ``("top", share)``: the threshold that this share of the validation rows reaches, such as
          0.01. For a fixed number of rows of a table, see `top_rows`.

        For more than two classes, `predict` returns the class whose probability is largest compared
        with its threshold (`class_thresholds_`):

        - None, ``"balanced"``: as above. ``"balanced"`` finds as much as it can of each class, and
          has many false alarms in the small ones;
        - ``"macro_f1"``: the thresholds with the best mean F1 of the classes on the validation
          rows, between those of None and ``"balanced"``;
        - ``("recall", {label: r})``: as ``"balanced"``, but so that at least a share r of the rows
          of this class should be found in new data; you can name several classes;
        - ``("cost", {label: price})``: what it costs to miss a row of a class; 1 for classes that
          are not named;
        - ``("cost", matrix)``: ``matrix[i, j]`` is what it costs to call a row of class i class j.
          `predict` returns the class with the lowest expected cost.

    leaf_smoothing : float or "auto", default="auto"
        How many rows of each class are added to every leaf of tree members. A leaf with n training
        rows, n_c of them of class c, gives that class the probability
        ``(n_c + leaf_smoothing) / (n + leaf_smoothing * n_classes)``. Weighted rows count by their
        weight. Leaves of fully grown trees say 0 or 1, so k such members give only k + 1 different
        scores. Soft leaves give more, and large leaves count more. Validation scores, predictions,
        calibration and threshold use soft leaves. Draws and states use plain leaves. Only
        scikit-learn's decision trees, extra trees and forests can have soft leaves: ``"auto"``
        means 1 for these and 0 for other members. Not part of the paper.

    refit : bool or "auto", default="auto"
        Whether an ensemble without teams grows a second time at the end, on training and validation
        rows together. The second growth has as many members and the same mu, and draws rows by its
        own errors. You cannot combine a refit with `warm_start`. ``"auto"`` refits if the
        validation rows were held out from X and `warm_start` is off. So rows that you pass as X_val
        are not trained on. Not part of the paper.

    monotonic_cst : array-like of int of shape (n_features,), or dict, default=None
        What a larger value of a column does to the probability of ``classes_[1]``: 1 never lowers
        it, -1 never raises it, 0 leaves it free. A dict has the signs of some columns of a data
        frame by their names. The law holds for `predict_proba` as a whole, after blend and
        calibration. It is for columns of numbers and for two classes. A missing value is not part
        of the order. Members are the teams of a recipe, or scikit-learn's trees or LightGBM as
        `estimator`; leaves are then not smoothed.

    positive : str, number or None, default=None
        The class to find, where there are more than two: this class against the rest. The ensemble
        is the one that a fit to ``y == positive`` gives. So `classes_` are False and True, the
        second column of `predict_proba` is the probability of this class, `predict` returns whether
        a row is of it, and `threshold` is one for two classes. The class must have fewer rows than
        all others together. `fit`, `score`, `recalibrate` and
        :func:`~metasampler.report.make_report` take the labels as they are; for scorers and
        searches of scikit-learn, which compare predictions with y, leave it out and pass
        ``y == label``. None tells all classes apart.

    {n_jobs_teams}

    {random_state}

    {warm_start}

    {verbose}

    Attributes
    ----------
    {members}

    signal_ : float or None
        How much there is to learn: the number of boosting rounds, at a learning rate of 0.1, after
        which scouts stop. Below 45 the fit expects noise, and trees draw rows uniformly. None
        without teams.

    actions_ : ndarray
        The mu, or the power of errors, of each member after the first of its team. Teams with
        uniform draws have none.

    states_ : ndarray of shape (n_actions, state_size)
        The state in which each mu was chosen; empty if no policy read a state.

    rivals_ : tuple of float
        The constants that the meta-sampler was compared with.

    rival_ : float or None
        The constant that replaced the meta-sampler because it was clearly better; None if the
        meta-sampler chose `actions_`.

    meta_sampler_ : MetaSampler or policy
        What chose mu, if there is no `rival_`.

    {decided}

    {fitted}

    See Also
    --------
    MetaSampler : The learned policy, and how it is meta-trained.
    imblearn.ensemble.BalancedBaggingClassifier : Uniform balanced draws.

    Notes
    -----
    **Teams.** *Scouts* are LightGBM models. Each learns from all rows but one fold, and stops when
    it no longer improves on this fold. The number of rounds until then is the signal (`signal_`).
    *Boosters* are LightGBM models on all minority rows and three majority rows for each. *Trees*
    are scikit-learn's trees on balanced rows. With much signal, members learn from hard rows:
    boosters have many rounds, and trees have small leaves. With little signal, hard rows are noise:
    boosters draw gently and have few rounds, and trees draw uniformly and have large leaves. The
    result is the mean of the teams' log-odds. Both the teams and the result are calibrated on rows
    that members left out. ``metasampler bench tables`` shows what this gains and costs.

    **Few rows.** With fewer than 200 rows of the smallest class, scouts may mistake signal for
    noise. Then sharp trees join the teams, except for ``"fast"``. They have small leaves and learn
    from hard rows. There are twice as many as other trees, and they have half of the votes. With
    fewer than 25 rows there are no teams, but 50 trees of two types (``"best"``: 200). A sampler
    chooses their rows. Some rows are held out, and a `refit` uses them at the end.
    ``"fast"`` has 12 trees. It holds out rows only if a setting needs them; otherwise mu is 0.9.

    **Many classes.** With more than two classes no sample is drawn down to the smallest class.
    All members learn from all rows but a fifth (trees from 50,000 at most), and a class counts
    by the square root of its frequency. There are five scouts (``"fast"``: three, ``"best"``:
    ten; at most three with more than 8,000 rows or 100 classes) and 100 trees (``"fast"``: 40,
    ``"best"``: 300; half as many with fewer than 500 rows), half of them extra trees. The
    logarithms of the teams' probabilities are added up. Their weights lie half-way between
    equal ones and those that are best on the held-out rows. If you set `meta_sampler`, trees
    learn from balanced samples that it draws. A class with a single row stays with all members.

    **What members of your own cost.** Ten members take 38 fits: 18 for two rivals, and 10 for the
    `refit`. With few positives they take 60: there are no rivals, but the calibration takes four
    more growths. With ``meta_sampler=0.9, refit=False`` they take 10. Each fit uses one thread,
    even with HistGradientBoosting, LightGBM, XGBoost and CatBoost.

    **Calibration.** The whole ensemble is calibrated once. `staged_predict_proba` uses the same
    calibration for all stages.

    **Refit.** After a `refit` only the members are new. No rows are left to judge them. So
    `actions_`, `states_`, `rival_`, `scores_`, `calibration_`, `threshold_`, the expected precision
    and recall, and `summary` come from growths with held-out rows.

    Meta-training inside `fit` (``meta_sampler="fit"``) grows its ensembles with plain leaves,
    whatever `leaf_smoothing` is.

    References
    ----------
    .. [1] Z. Liu, P. Wei, J. Jiang, W. Cao, J. Bian, Y. Chang, "MESA: Boost Ensemble Imbalanced
       Learning with MEta-SAmpler", NeurIPS 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import train_test_split
    >>> from metasampler import MesaClassifier
    >>> X, y = make_classification(4000, weights=[0.9], random_state=0)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = MesaClassifier(random_state=0).fit(X_train, y_train)
    >>> clf.predict_proba(X_test).shape
    (1000, 2)
    >>> len(clf.estimators_), clf.signal_ > 36
    (30, True)
    """

    _parameter_constraints = {
        **BaseUnderSamplingEnsemble._parameter_constraints,
        "n_estimators": [None, *N_ESTIMATORS],
        "validation_fraction": [None, StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither")],
        "recipe": [StrOptions(set(RECIPES))],
        "max_rows": [None, Interval(Integral, 2, None, closed="left")],
        "meta_sampler": [str, os.PathLike, Real, object],
        "monotonic_cst": ["array-like", dict, None],
        "warm_start": ["boolean"],
    }

    _resume_parameters = (
        *BaseUnderSamplingEnsemble._resume_parameters,
        *("recipe", "meta_sampler", "max_rows", "monotonic_cst", "positive"),
    )

    n_estimators: Any = None
    _: KW_ONLY
    recipe: Any = "default"
    meta_sampler: Any = _UNIVERSAL
    validation_fraction: Any = "auto"
    max_rows: Any = 1_000_000
    leaf_smoothing: Any = "auto"
    refit: Any = "auto"
    monotonic_cst: Any = None
    positive: Any = None
    warm_start: Any = False

    @classmethod
    def from_preset(cls, name, **overrides):
        """Make a classifier by the name of a recipe, or with the settings of the paper.

        Parameters
        ----------
        name : {"default", "fast", "best", "paper"}
            - ``"default"``: what the constructor gives, the `recipe` ``"default"``;
            - ``"fast"``: one scout and two boosters, in about the time of one LightGBM fit;
            - ``"best"``: three times as many members with more rounds, at three to four times the
              cost of the default;
            - ``"paper"``: MESA as published: ten plain trees, and a policy that is first
              meta-trained on the data. There is no calibration, no soft leaf, no rival and no
              refit. Actions are drawn from the policy. It is for two classes; for more, pass
              ``threshold=None``.

        **overrides
            Parameters that replace those of the preset.

        Returns
        -------
        classifier : MesaClassifier
            Not fitted.

        Examples
        --------
        >>> from metasampler import MesaClassifier
        >>> MesaClassifier.from_preset("fast", random_state=0)
        MesaClassifier(random_state=0, recipe='fast')
        """
        paper = {
            "estimator": DecisionTreeClassifier(),
            "n_estimators": 10,
            "validation_fraction": 0.2,
            # Algorithm 2 draws its actions.
            "meta_sampler": Drawn("fit"),
            "calibration": None,
            "threshold": 0.5,
            "leaf_smoothing": 0.0,
            "refit": False,
        }
        presets = {**{recipe: {"recipe": recipe} for recipe in RECIPES}, "paper": paper}
        if name not in presets:
            names = ", ".join(map(repr, presets))
            raise ValueError(f"There is no preset {name!r}; the names are {names}.")
        return cls(**{**presets[name], **overrides})

    def _plan(self, counts):
        universal = isinstance(self.meta_sampler, str) and self.meta_sampler == _UNIVERSAL
        n_members, fraction = self.n_estimators, self.validation_fraction
        name = self.recipe
        if self.estimator is not None:
            self._check_no_recipe()
            estimators = resolve_estimators(self.estimator)
            resolve_leaf_smoothing(self.leaf_smoothing, estimators)
            fraction = 0.2 if fraction == "auto" else fraction
            return Plan(estimators, n_members or _N_MEMBERS, fraction, None, universal)
        if len(counts) > 2:
            many = MANY_CLASS_RECIPES[name].sized_for(counts, n_members)
            estimators = [many.scout(1), *many_class_trees(1, 1, 1)]
            fraction = HELD_OUT if fraction == "auto" else fraction
            return Plan(estimators, many.n_members, fraction, many, universal)
        recipe, n_smallest = RECIPES[name], min(counts, default=np.inf)
        if n_smallest < ENOUGH_ROWS:
            # A fast fit of few rows has none to spare, unless a setting needs them.
            spares = not (name == "fast" and universal) or self.calibration == "sigmoid"
            if fraction == "auto":
                fraction = 0.2 if spares or needs_held_out_rows(self.threshold) else None
            return Plan(recipe.trees(np.inf), n_members or recipe.n_few, fraction, None, universal)
        recipe = recipe.sized(n_smallest, n_members)
        estimators = [recipe.scout(1), *recipe.trees(1.0)]
        fraction = 0.1 if fraction == "auto" else fraction
        # Read before the work: a sampler that is not there is found now.
        policies = {"boosters": load_policy("boosters")} if universal else {}
        return Plan(estimators, recipe.n_members, fraction, recipe, universal, policies)

    def _settings_of_rows(self, plan, resumes):
        return super()._settings_of_rows(plan, resumes) | {"sample_growth": SAMPLE_GROWTH}

    def _check_no_recipe(self) -> None:
        """Refuse an estimator beside a recipe, or a recipe in its place."""
        if isinstance(self.estimator, str):
            raise TypeError(
                f"estimator={self.estimator!r} must be a classifier; a recipe is a parameter of "
                f"its own: recipe={self.estimator!r}."
            )
        if self.recipe != "default":
            raise ValueError(
                f"recipe={self.recipe!r} and an estimator exclude each other: a recipe has members "
                "of its own. Set one of them."
            )

    def _policies_of(self, plan, data, signal=None):
        # Copies: an interrupt must leave no notes of this fit in the policies of the last.
        known = deepcopy(self._policies) if self._resumes() else {}
        if plan.recipe is None:
            return known if "members" in known else {"members": self._make_policy(plan, data)}
        of_trees = plan.recipe.policies(signal)
        if plan.universal:
            return of_trees | plan.policies
        if "trees" in known:
            return of_trees | known
        # A sampler that is meta-trained here learns from trees: they are quick.
        trees = plan.recipe.trees_to_train_with(data, signal)
        rows = data.for_team(self.sampling_ratio, trees=True).holding_out_a_fold()
        policy = self._make_policy(plan._replace(estimators=trees), rows)
        if _reads_the_signal(policy):
            return of_trees | {"boosters": policy}
        return {name: deepcopy(policy) for name in ("boosters", *of_trees)}

    def _make_policy(self, plan, data):
        """Return what chooses mu; a sampler that is not fitted is meta-trained here."""
        given = self.meta_sampler
        if not isinstance(given, Drawn):
            return self._resolve_policy(given, plan, data)
        policy = self._resolve_policy(given.policy, plan, data)
        if not hasattr(policy, "sample"):
            raise TypeError(f"meta_sampler={given!r}: {policy!r} has nothing to draw from.")
        return Drawn(policy)

    def _resolve_policy(self, given, plan, data):
        """Return the policy that a `meta_sampler` names or is."""
        name = given if isinstance(given, str) else None
        if name == _UNIVERSAL:
            known = data.has_validation
            return WithRivals(load_policy(_UNIVERSAL)) if known else ConstantPolicy(_BLIND_MU)
        if isinstance(given, Real) and not isinstance(given, bool):
            if not 0 <= float(given) <= 1:
                raise ValueError(f"meta_sampler as a number must be in [0, 1], got {given!r}.")
            return ConstantPolicy(float(given))
        if name == "random":
            return UniformPolicy()
        if name == "fit":
            # Imported here: only those who meta-train need the packages that learn.
            from metasampler.meta import MetaSampler

            given = MetaSampler(verbose=self.verbose)
        is_sampler = hasattr(given, "fit_growth_data")
        if is_sampler:
            policy = self._fitted_sampler(given, plan, data)
        elif isinstance(given, (str, os.PathLike)):
            policy = load_policy(given)
        elif callable(given):
            policy = deepcopy(given)  # it may keep notes of the fit it serves
        else:
            raise TypeError(
                "meta_sampler must be a MetaSampler, a policy, a number in [0, 1], 'universal', "
                f"'fit', 'random', or the name or path of a sampler; got {given!r}."
            )
        if getattr(policy, "reads_validation_rows", False) and not data.has_validation:
            raise ValueError(
                f"meta_sampler={self.meta_sampler!r} reads errors of validation rows: pass X_val "
                "and y_val, or a validation_fraction."
            )
        if not is_sampler or given.__sklearn_is_fitted__():
            estimators = plan.estimators
            if plan.recipe is not None:
                boosters = plan.recipe.scout(1)
                estimators = boosters if _reads_the_signal(policy) else [boosters, *estimators]
            warn_of_other_members(policy, estimators)
        return policy

    def _fitted_sampler(self, given, plan, data):
        """Return a copy of a `MetaSampler`, meta-trained if need be: later fits leave it alone."""
        sampler = clone(given)
        if sampler.__sklearn_is_fitted__() or not data.has_validation:
            return sampler
        sampler.set_params(
            estimator=clone(plan.estimators, safe=False),
            sampling_ratio=self.sampling_ratio,
            validation_fraction=plan.held_out_fraction or sampler.validation_fraction,
            scoring=self.scoring,
            random_state=data.streams.entropy,
        )
        if plan.recipe is not None:
            warn_user(
                "This sampler is meta-trained on trees, which are quick, and then chooses the rows "
                "of boosters too: what is hard for one may teach nothing to the other. The paper's "
                "MESA is MesaClassifier.from_preset('paper'); with an estimator of your own the "
                "sampler learns on its copies."
            )
        sampler.fit_growth_data([data])
        if sampler.summary_["interrupted"]:
            # Alone it is worth keeping what was learned; here it would be an ensemble by half a
            # policy, and a cross-validation around it would go on.
            raise KeyboardInterrupt
        return sampler

    def _become_more(self, plan, teams, final):
        policy = teams[-1].policy
        learned = [team.policy for team in teams if _reads_the_signal(team.policy)]
        self._policies = {team.name: team.policy for team in teams}
        self.signal_ = None if plan.recipe is None else plan.recipe.signal(teams[0].growth)
        later = [step for team in teams for step in team.growth.steps[1:] if team.policy]
        # A power of next to nothing is a uniform draw, which has no number.
        self.actions_ = np.array([step.mu or step.power or 0.0 for step in later])
        states = [step.state for step in later if step.state is not None]
        size = getattr(getattr(policy, "encoder", None), "size", 0)
        self.states_ = np.array(states) if states else np.empty((0, size))
        self.rivals_ = getattr(policy, "rivals_", ())
        self.rival_ = getattr(policy, "rival_", None)
        self.meta_sampler_ = learned[0] if learned else getattr(policy, "policy", policy)


def _reads_the_signal(policy) -> bool:
    """Return whether a policy reads the signal, and so is for boosters only."""
    return getattr(getattr(policy, "encoder", None), "kind", None) == "signal"
