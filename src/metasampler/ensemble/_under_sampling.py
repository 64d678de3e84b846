"""The fit of every ensemble that grows on balanced subsets, and how it answers."""

import warnings
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from threading import Event
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from metasampler._docs import shared_docs
from metasampler._running import progress_bar, side_by_side
from metasampler._sklearn_compat import Interval, StrOptions, fit_context, take_rows
from metasampler.drift import MOST_ROWS, Baseline, DriftMonitor, DriftReport, some_rows
from metasampler.ensemble._calibration import CALIBRATIONS, Blend, SigmoidCalibration
from metasampler.ensemble._checks import check_counts, check_fit, check_labelled, check_threshold
from metasampler.ensemble._class_decision import ClassDecision, choose_class_decision
from metasampler.ensemble._clones import judge_new_groups
from metasampler.ensemble._decision import Decision, World, decide, decide_again
from metasampler.ensemble._forward import fit_forward, goes_by_time
from metasampler.ensemble._held_out import HeldOut
from metasampler.ensemble._levels import Level, rows_of_level
from metasampler.ensemble._look_at_rows import find_in_rows
from metasampler.ensemble._monotonic import resolve_monotonic
from metasampler.ensemble._one_class import against_the_rest, is_positive
from metasampler.ensemble._other_names import explain_other_names, refuse_other_names
from metasampler.ensemble._pool import Pool
from metasampler.ensemble._repr import fit_html
from metasampler.ensemble._sources import opened_source
from metasampler.ensemble._summary import summarise
from metasampler.ensemble._teams import Growing, Plan, Team, make_own_team
from metasampler.ensemble._threshold import Threshold, choose_threshold
from metasampler.ensemble.base import BaseEnsemble, FittedTeam
from metasampler.growth import (
    SAMPLING_RATIO,
    Growth,
    GrowthData,
    Policy,
    check_groups,
    replay,
    resolve_estimators,
    resolve_leaf_smoothing,
    running_mean,
    unchanged_on_error,
)
from metasampler.tables import as_table

# Folds of the training rows that are held out in turn: with the validation rows, a fifth by
# default, these are five.
_N_FOLDS_IN_TURN = 4

# Keeps logarithms of probabilities finite.
_TINY = np.finfo(float).tiny

# How much log-odds count beside probabilities: so little that only ties are decided.
_ORDER = 1e-9

# The attributes that a threshold sets, in the order of `Threshold`.
_OF_A_THRESHOLD = (
    *("threshold_", "expected_precision_", "expected_recall_"),
    *("expected_precision_interval_", "expected_recall_interval_"),
)


@shared_docs()
@explain_other_names
@dataclass(eq=False, repr=False)
class BaseUnderSamplingEnsemble(BaseEnsemble):
    """Base of the ensembles whose members are trained on balanced subsets.

    A subclass says how rows are drawn (``_make_policy``). All the rest is the same: the growth,
    and what members that live in a balanced world need, calibration and the threshold of
    `predict`.
    """

    _parameter_constraints = {
        **BaseEnsemble._parameter_constraints,
        "sampling_ratio": SAMPLING_RATIO,
        "validation_fraction": [None, Interval(Real, 0, 1, closed="neither")],
        "scoring": [str, callable],
        "calibration": [None, StrOptions(set(CALIBRATIONS))],
        "threshold": [None, str, Real, tuple, list],
        "leaf_smoothing": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "refit": ["boolean", StrOptions({"auto"})],
    }

    #: What a warm start must find unchanged to continue the fit before it.
    _resume_parameters: ClassVar[tuple[str, ...]] = (
        "estimator",
        "sampling_ratio",
        "validation_fraction",
        "scoring",
        "leaf_smoothing",
    )

    # Not every subclass has these as parameters.
    warm_start = False
    max_rows = None
    monotonic_cst = None
    positive = None

    # scikit-learn reads the parameters from the constructor that a dataclass makes of these.
    estimator: Any = None
    n_estimators: Any = 10
    _: KW_ONLY
    sampling_ratio: Any = 1.0
    validation_fraction: Any = None
    scoring: Any = "average_precision"
    calibration: Any = "auto"
    threshold: Any = "balanced"
    leaf_smoothing: Any = 0.0
    refit: Any = False
    n_jobs: Any = None
    random_state: Any = None
    verbose: Any = 0

    # ------------------------------------------------------------------ fit

    # The base estimator is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X,
        y=None,
        sample_weight=None,
        *,
        groups=None,
        time=None,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
    ):
        """Grow the ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows. scikit-learn's trees and forests and LightGBM members get a data
            frame as numbers. Other members get it as it is, and so does a list with other members
            in it. You can also pass the path of a Parquet file or of a folder of such files, or
            :class:`~metasampler.datasets.ParquetRows`: `fit` then reads one partition at a time.

        y : array-like of shape (n_samples,) or str
            Labels of any type, of two or more classes. If X is a path, the name of their column.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. They multiply the weights of the draw, and count in states and
            scores. Members whose `fit` takes weights get them too: rows of the smallest class keep
            their own weight. Drawn rows get the mean weight of their class, because their own
            weight has already counted in the draw. A weight of zero leaves the row out.

        groups : array-like of shape (n_samples,), default=None
            The customer, patient or machine of each row, where some have several rows. Rows of one
            group are held out together, so that calibration, threshold and what to expect of them
            hold for groups that are new. If a class has few groups, ensembles that have not seen
            some of them judge these, in three more fits; ``refit=False`` leaves them out.

        time : array-like of shape (n_samples,), default=None
            When each row came: numbers, dates, or texts that are dates. Calibration, threshold and
            what to expect of them then come from the newest fifth of the rows, scored by an
            ensemble that is fitted to older rows first. The ensemble itself is fitted to all rows;
            with ``refit=False`` it is the one of the older rows. With `groups`, newer rows are
            scored by ensembles that have not seen their groups either, in three fits.

        X_val, y_val : table and array-like, default=None
            Validation rows. Without them `validation_fraction` of each class is held out from X.

        sample_weight_val : array-like of shape (n_validation_samples,), default=None
            Weights of the validation rows. They count in scores, calibration and threshold. A
            weight of zero leaves the row out. As with `sample_weight`, only their ratios matter.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        X, X_val = as_table(X), as_table(X_val, "X_val")
        if y_val is not None and self.positive is not None:
            y_val = against_the_rest(y_val, X_val, self.positive, owner=self, name="y_val")
        if goes_by_time(X, time):
            if X_val is not None:
                raise ValueError("time takes validation rows from X: leave time or X_val out.")
            return fit_forward(self, X, y, sample_weight, groups, time)
        held_out_by = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        with unchanged_on_error(self):
            few_groups = self._fit_once(X, y, sample_weight, groups=groups, **held_out_by)
            if few_groups and self.refit is not False and not self.warm_start:
                judge_new_groups(self, X, y, sample_weight, groups)
        return self

    def _fit_once(self, X, y=None, sample_weight=None, **held_out_by) -> bool:
        """Grow the ensemble, and decide by the rows that members have left out.

        Return whether their groups are so few that only some teams can judge them.
        """
        X_val, resumes = held_out_by.get("X_val"), self._resumes()
        opened = opened_source(X, y, sample_weight, self.positive, owner=self)
        with unchanged_on_error(self), opened as source:
            # Everything that can be checked is checked before any member is fitted.
            plan = self._plan(source.class_counts)
            data = source.make_rows(**held_out_by, **self._settings_of_rows(plan, resumes))
            refits, facts = check_fit(self, plan, data)
            self._check_features(source.example, reset=not resumes)
            if X_val is not None:
                self._check_features(data.form.ordered(X_val), reset=False, name="X_val")

            # Algorithm 2: errors -> state -> mu -> balanced sample -> new member -> errors ...
            signs = resolve_monotonic(
                self.monotonic_cst, data.form, self.n_features_in_, data.n_classes
            )
            smoothing = self._smoothing(plan, data, signs)
            growing = Growing(self.n_jobs, smoothing, self.sampling_ratio, signs)
            if plan.recipe is None:
                policies = self._policies_of(plan, data)
                teams = [make_own_team(plan, data, policies["members"], growing)]
                self._grow(teams, resumes=resumes)
            else:
                scouts = plan.recipe.scouts(data, growing)
                self._grow([scouts], resumes=resumes)
                signal = plan.recipe.signal(scouts.growth)
                policies = self._policies_of(plan, data, signal)
                others = plan.recipe.followers(plan, scouts, data, policies, growing)
                self._grow(others, resumes=resumes)
                teams = [scouts, *others]

            # Rows that members have not seen decide about probabilities and labels.
            prior = data.class_weights / data.class_weights.sum()
            blend, shares, held_out, by_some = self._blended(teams, data, prior)
            if refits and held_out is not None and self.calibration == "auto":
                held_out = self._hold_out_in_turn(teams[0], held_out)
            world = World(prior, data.minority, data.classes)
            by_few = blend is not None and not data.validation_is_apart
            decision = decide(
                world, shares, held_out, self.calibration, self.threshold, by_few=by_few
            )

            # Then these rows are given back: the same rules draw from all rows.
            final = teams
            if refits:
                final = [self._grow_again(teams[0], data.whole(), "Refitting on all rows")]
            self._become(plan, teams, final, blend, decision, refits, facts)
            self._become_more(plan, teams, final)
            self._describe(data)
            # Members of one's own may be fitted in less time than rows are looked at.
            self.findings_ = [] if plan.recipe is None else find_in_rows(data, self._names(data))
        return by_some and data.by_group

    def _smoothing(self, plan: Plan, data: GrowthData, signs: list[int] | None) -> float:
        """Return by how much leaves are smoothed.

        With monotonic constraints not at all: large leaves would be smoothed less than small ones,
        which turns their order round.
        """
        smoothing = plan.smoothing(self.leaf_smoothing, data.n_classes)
        if signs is None or not smoothing:
            return smoothing
        if self.leaf_smoothing != "auto":
            raise ValueError(
                f"leaf_smoothing={self.leaf_smoothing} and monotonic_cst exclude each other: "
                "smoothed leaves keep no order. Set leaf_smoothing to 'auto' or 0."
            )
        return 0.0

    def _plan(self, counts: np.ndarray) -> Plan:
        """Return what the fit is going to do; only the sizes of the classes matter for it."""
        estimators = resolve_estimators(self._base_estimator())
        resolve_leaf_smoothing(self.leaf_smoothing, estimators)
        return Plan(estimators, self.n_estimators, self.validation_fraction)

    def _settings_of_rows(self, plan: Plan, resumes: bool) -> dict[str, Any]:
        """Return the settings that rows are made ready by, see `make_growth_data`."""
        return {
            "estimator": plan.estimators,
            "validation_fraction": plan.held_out_fraction,
            "sampling_ratio": self.sampling_ratio,
            "scoring": self.scoring,
            "streams": self._entropy if resumes else self.random_state,
            "owner": self,
            "must_hold_out": not plan.universal,
            "rotate": plan.rotates,
            "max_rows": self.max_rows,
        }

    @staticmethod
    def _blended(teams: list[Team], data: GrowthData, prior: np.ndarray) -> tuple:
        """Return what joins the teams, what one team was trained on, and the rows that decide.

        The second are the shares of the classes; None for teams, whose answers have no prior. Last
        is whether only some of the teams of two classes can judge the rows.
        """
        shares = [team.growth.sampled_shares() for team in teams]
        if len(teams) == 1:
            held_out = HeldOut(*_judged(teams[0], data)) if data.has_validation else None
            return None, shares[0], held_out, False
        judged = [_judged(team, data) for team in teams]
        if data.n_classes > 2:
            pool, held_out = Pool.of(data, judged, shares, prior)
            return pool, None, held_out, False
        blend, held_out = Blend.of(data, judged, shares, [team.n_votes for team in teams])
        fewest = min(len(rows) for rows, *_ in judged)
        by_some = held_out is not None and len(held_out.rows) > fewest
        return blend, None, held_out, by_some

    def _resumes(self) -> bool:
        return self.warm_start and hasattr(self, "estimators_")

    def _resume(self, teams: list[Team]) -> None:
        """Give teams the members that they have already, as a warm start does."""
        for team in teams:
            its = [number for number, name in enumerate(self._team_names) if name == team.name]
            if team.n_members < len(its):
                raise ValueError(
                    f"n_estimators={self.n_estimators} makes {team.n_members} {team.name}, but "
                    f"there are {len(its)} of them already: warm_start=True needs at least as many."
                )
            if team.name == "scouts" and its and team.n_members > len(its):
                raise ValueError(
                    f"n_estimators={self.n_estimators} takes {team.n_members} scouts, but there "
                    f"are {len(its)}: what they find sets all other members, so warm_start=True "
                    f"cannot add any. Begin with n_estimators={team.n_members + 1} or more."
                )
            grown: tuple[list, ...] = (self.estimators_, self.estimators_samples_, self._steps)
            team.growth.resume(*([of_all[number] for number in its] for of_all in grown))

    def _policies_of(self, plan: Plan, data: GrowthData, signal=None) -> dict[str, Policy | None]:
        """Return what chooses how the rows of each team are drawn, by the names of the teams."""
        return {"members": self._make_policy(plan, data)}

    def _make_policy(self, plan: Plan, data: GrowthData) -> Policy | None:
        """Return what chooses how members after the first are drawn; None draws uniformly."""
        return None

    def _repeated(self, policy: Policy | None, growth: Growth, data: GrowthData) -> Policy | None:
        """Return the policy that repeats a growth on other rows."""
        return None if policy is None else replay(growth.steps)

    def _grow(self, teams: list[Team], title: str = "", *, resumes: bool = False) -> None:
        """Grow teams that do not depend on each other, side by side if `n_jobs` allows it."""
        if resumes:
            self._resume(teams)
        title = title or f"Growing {' and '.join(team.name for team in teams)}"
        n_missing = sum(team.n_members - len(team.growth.members) for team in teams)
        stopped = Event()
        # On the rows of a member threads of its own cost more than they gain.
        limits = any(team.growth.adapters.starts_threads for team in teams)
        with (
            threadpool_limits(1, user_api="openmp") if limits else nullcontext(),
            progress_bar(title, n_missing, enabled=self.verbose > 0) as advance,
        ):
            growths = [
                partial(team.growth.run, team.policy, team.n_members, advance, stopped)
                for team in teams
            ]
            side_by_side(growths, self.n_jobs, stopped.set)

    def _grow_again(self, team: Team, data: GrowthData, title: str) -> Team:
        """Return a team on other rows, grown by the rules of a grown one."""
        repeated = self._repeated(team.policy, team.growth, data)
        # A share of the rows may lack a class: its steps are not scored.
        again = Team(team.name, team.growth.anew(data, score_steps=False), repeated, team.n_members)
        self._grow([again], title)
        return again

    def _hold_out_in_turn(self, team: Team, held_out: HeldOut) -> HeldOut:
        """Return the held-out rows and, if they are few, the training rows as held-out ones."""
        growth, folds = team.growth, [held_out]
        if not held_out.are_few(growth.data.n_classes):
            return held_out
        for data in growth.data.held_out_in_turn(_N_FOLDS_IN_TURN, growth.streams):
            again = self._grow_again(
                team, data, f"Holding out fold {len(folds)} of {_N_FOLDS_IN_TURN}"
            )
            folds.append(HeldOut(*_judged(again, growth.data)))
        return HeldOut.joined(folds)

    def _become_more(self, plan: Plan, teams: list[Team], final: list[Team]) -> None:
        """Set the attributes that only this kind of ensemble has."""

    def _become(self, plan: Plan, teams, final, blend, decision: Decision, refits, facts) -> None:
        """Set the attributes of a fitted ensemble: what grew, and after a refit what stays."""
        growths, data = [team.growth for team in final], teams[0].growth.data
        self._entropy = teams[0].growth.streams.entropy
        self._facts = facts
        self._n_grown = plan.n_members
        self._form = data.form
        self._blend = blend
        self._members_of = [
            FittedTeam(
                growth.adapters.estimator,
                len(growth.members),
                growth.adapters.leaf_smoothing,
                growth.data.table_maker,
                team.n_votes,
            )
            for growth, team in zip(growths, teams, strict=True)
        ]
        self._steps = [step for team in teams for step in team.growth.steps]
        self._team_names = [team.name for team in teams for _ in team.growth.steps]
        self.estimator_ = growths[-1].adapters.estimator
        self.estimators_ = [member for growth in growths for member in growth.members]
        # Those of files are copies of mapped arrays, which a model file does not take; those of a
        # cluster are not here.
        samples = [rows for growth in growths for rows in growth.samples]
        self.estimators_samples_ = [None if rows is None else np.asarray(rows) for rows in samples]
        self.classes_ = data.classes
        self.minority_class_ = data.classes[data.minority]
        self.class_counts_ = data.role_counts("all")
        self.scores_ = np.array([step.score for step in self._steps if step.score is not None])
        self.held_out_scores_ = _held_out_scores(teams, blend)
        self.leaf_smoothing_ = growths[-1].adapters.leaf_smoothing
        self.refit_ = refits
        self.calibration_ = decision.calibration
        self._cuts = decision.cuts
        self._decide_by(self.threshold, decision.threshold)

    def _decide_by(self, goal, chosen: Threshold | ClassDecision) -> None:
        """Set what `predict` decides by, and what to expect of it."""
        self._rule = goal
        for name in (*_OF_A_THRESHOLD, "class_thresholds_", "class_costs_"):
            # Of an earlier fit with another number of classes.
            self.__dict__.pop(name, None)
        if isinstance(chosen, ClassDecision):
            self.class_thresholds_, self.class_costs_ = chosen.thresholds, chosen.costs
            self.expected_precision_ = chosen.precision
            self.expected_recall_ = chosen.recall
            self.expected_precision_interval_ = chosen.precision_interval
            self.expected_recall_interval_ = chosen.recall_interval
        else:
            for name, value in zip(_OF_A_THRESHOLD, chosen, strict=True):
                setattr(self, name, value)

    def _describe(self, data: GrowthData) -> None:
        """Keep what new rows are compared with."""
        self._baseline = Baseline.of(
            data.sample(MOST_ROWS),
            data.form,
            self._names(data),
            self._known_importances,
            self._score_of_table,
        )

    def _names(self, data: GrowthData) -> list | None:
        """Return the names of the columns in the form that members take; None if they have none."""
        if data.form.encoder is not None:
            return data.form.encoder.get_feature_names_out().tolist()
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _known_importances(self) -> np.ndarray | None:
        """Return the importances of the columns; None if some member has none."""
        if all(hasattr(member, "feature_importances_") for member in self.estimators_):
            return self.feature_importances_
        return None

    def _score_of_table(self, table) -> np.ndarray:
        """Return the probability of the smallest class, given rows in the form members take."""
        *_, totals = self._staged_totals(table)
        return self._proba_of(totals, len(self.estimators_))[:, self._minority]

    def drift(self, X) -> DriftReport:
        """Compare rows with those of the fit: which columns have moved, and whether scores have.

        The ensemble keeps counts of each column in a few bins, and of its scores. It keeps no rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            New rows. A path, or :class:`~metasampler.datasets.ParquetRows`, is read one partition
            at a time.

        Returns
        -------
        report : DriftReport
            Print it, or take its attributes. If the rows come as those of the fit did, it has any
            finding in one of a hundred cases.

        See Also
        --------
        metasampler.drift.DriftMonitor : The same for rows that come one batch after the other.
        """
        monitor = DriftMonitor(self)
        for table in self._tables_of(X):
            monitor.add(table)
        return monitor.report()

    # ------------------------------------------------------------------ other decisions

    def set_threshold(self, threshold):
        """Decide by another threshold, without a new fit.

        The ensemble keeps what held-out rows showed at each threshold, so this also works for a
        model that was stored and loaded. In a pipeline, call it on the last step:
        ``pipeline[-1].set_threshold("f1")``.

        Parameters
        ----------
        threshold : None, "balanced", float, str or tuple
            Anything that the parameter `threshold` may be.

        Returns
        -------
        self : object
            The same ensemble. Its `threshold`, `threshold_`, `expected_precision_` and
            `expected_recall_`, with their intervals, are those of the new goal.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from metasampler import MesaClassifier
        >>> X, y = make_classification(2000, weights=[0.9], random_state=0)
        >>> clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
        >>> n_called = (clf.predict(X) == 1).sum()
        >>> bool((clf.set_threshold(("top", 0.05)).predict(X) == 1).sum() < n_called)
        True
        """
        check_is_fitted(self)
        check_threshold(threshold, self.classes_, held_out=self._cuts is not None)
        prior = self.calibration_.prior
        evidence: Any = self._cuts
        chosen: Threshold | ClassDecision
        if len(self.classes_) > 2:
            chosen = choose_class_decision(threshold, evidence, self.classes_, prior)
        else:
            chosen = choose_threshold(threshold, evidence, prior=prior[self._minority])
        self.threshold = threshold
        self._decide_by(threshold, chosen)
        return self

    def recalibrate(self, X, y, sample_weight=None, *, groups=None, fitted=None):
        """Calibrate and decide anew by labelled rows, without new members.

        For rows that came after the fit, when the classes have other shares than before, or
        probabilities no longer match what happens. The order of the rows stays as it is. If it has
        become worse, fit again.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows that the members were not trained on, with at least five of each class. With fewer
            than 30 of a class, only the level of the probabilities is corrected.

        y : array-like of shape (n_samples,)
            Their labels.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        groups : array-like of shape (n_samples,), default=None
            The group of each row. Rows of one group are alike, so the intervals of what to expect
            become wider.

        fitted : iterable of (classifier, rows) or (classifier, rows, trained), default=None
            Clones of this ensemble that were fitted without the rows at these positions of X, the
            rows of the fit. They score these rows in its place.
            :func:`~sklearn.model_selection.cross_validate` returns such clones and rows. Every row
            must be in one pair. ``trained`` are the positions of the rows that the clone was
            fitted to, by default all others. If they are given, rows that no clone scores are left
            out. This is the most exact way to choose a threshold, because whole ensembles score
            the rows; in a fit only the members that left a row out do.

        Returns
        -------
        self : object
            The same ensemble. `calibration_`, `threshold_` and what to expect of it follow from
            these rows; `threshold` stays as it is. Scores in `drift` are compared with theirs.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import make_classification
        >>> from metasampler import MesaClassifier
        >>> X, y = make_classification(6000, weights=[0.9], random_state=0)
        >>> clf = MesaClassifier(recipe="fast", random_state=0).fit(X[:2000], y[:2000])
        >>> rows = np.flatnonzero((y == 0) | (np.arange(6000) % 4 == 0))  # now it is rarer
        >>> rows = rows[rows >= 2000]
        >>> before = clf.predict_proba(X[rows])[:, 1].mean()
        >>> after = clf.recalibrate(X[rows], y[rows]).predict_proba(X[rows])[:, 1].mean()
        >>> bool(before > 1.5 * y[rows].mean()), bool(abs(after / y[rows].mean() - 1) < 0.05)
        (True, True)
        """
        check_is_fitted(self)
        if self.positive is not None:
            y = against_the_rest(y, X, self.positive, owner=self)
        codes, weights = check_labelled(self, X, y, sample_weight)
        keys = None if groups is None else check_groups(groups, len(codes))
        if fitted is None:
            proba = self._mean_proba(X)
        else:
            proba = self._proba_by_clones(X, len(codes), fitted)
        held_out = HeldOut(np.arange(len(codes)), proba, codes, weights, keys)
        if fitted is not None:
            held_out = held_out.take(np.flatnonzero(~np.isnan(proba[:, 0])))
            check_counts(held_out.codes, self.classes_)
            if self._baseline is not None:
                # Clones score as this ensemble does on average, but not row by row.
                scored = held_out.rows[some_rows(len(held_out.rows))]
                proba = self._mean_proba(take_rows(X, scored))
        self._decide_again(held_out, proba, by_clones=fitted is not None)
        return self

    def _proba_by_clones(self, X, n_rows: int, fitted) -> np.ndarray:
        """Return the joint answers of clones that have not seen the rows, at this level.

        They are NaN for rows that no clone has to score.
        """

        def answers(classifier, rows: np.ndarray) -> np.ndarray:
            return classifier._mean_proba(take_rows(X, rows))

        proba = np.full((n_rows, len(self.classes_)), np.nan)
        every = np.arange(n_rows)
        own, is_whole = self._level(answers, every), True
        for classifier, judged, *trained in fitted:
            rows = every[judged]
            is_whole = is_whole and not trained
            known = every[trained[0]] if trained else np.setdiff1d(every, rows)
            proba[rows] = classifier._at_level(own, answers, rows, known)
        if is_whole and np.isnan(proba).any():
            raise ValueError("fitted must have a classifier for every row of X.")
        return proba

    def _level(self, answers, trained: np.ndarray) -> Level | None:
        """Return the level of this ensemble's answers; None if all ensembles have the same.

        ``answers(ensemble, rows)`` returns joint answers. ``trained`` are rows of its fit.
        """
        if not isinstance(self._blend, Blend) or not len(trained):
            # Means of probabilities are comparable as they are.
            return None
        return Level.of(answers(self, rows_of_level(trained)))

    def _at_level(self, level: Level | None, answers, rows, trained) -> np.ndarray:
        """Return the joint answers about rows, brought to the level of another ensemble."""
        proba, own = answers(self, rows), self._level(answers, trained)
        return proba if level is None or own is None else level.take(proba, own)

    def _decide_again(
        self,
        held_out: HeldOut,
        proba: np.ndarray,
        *,
        by_clones: bool = False,
        anew: bool = False,
    ) -> None:
        """Calibrate and decide by other rows; ``proba`` is this ensemble's answer for some.

        ``anew`` keeps nothing of the calibration there is, also where rows are few.
        """
        decision = decide_again(
            self.calibration_,
            held_out,
            World(self.calibration_.prior, self._minority, self.classes_),
            self.calibration,
            self._rule,
            of_log_odds=self._blend is not None,
            by_clones=by_clones,
            anew=anew,
        )
        self.calibration_, self._cuts = decision.calibration, decision.cuts
        self._decide_by(self._rule, decision.threshold)
        if self._baseline is not None:
            scores = decision.calibration(proba)[:, self._minority]
            self._baseline = self._baseline.with_scores(scores)

    def _mean_proba(self, X) -> np.ndarray:
        """Return the members' joint answer, before calibration."""
        *_, totals = self._staged_totals(self._check_predict_table(X))
        return self._mean_of(totals, len(self.estimators_))

    def set_params(self, **params):
        """Set parameters; a new `threshold` of a fitted ensemble takes effect at once.

        All other parameters take effect in the next `fit`.

        Parameters
        ----------
        **params : dict
            The parameters.

        Returns
        -------
        self : object
            The same ensemble.
        """
        refuse_other_names(type(self).__name__, params)
        super().set_params(**params)
        if "threshold" in params and hasattr(self, "estimators_"):
            try:
                self.set_threshold(self.threshold)
            except ValueError as error:
                warnings.warn(
                    f"predict still decides by threshold={self._rule!r}: {error} To use "
                    f"threshold={self.threshold!r}, call fit again.",
                    UserWarning,
                    stacklevel=2,
                )
        return self

    # ------------------------------------------------------------------ answers

    def score(self, X, y, sample_weight=None):
        """Return the share of rows whose class is predicted right.

        With rare classes this says little; see :func:`sklearn.metrics.average_precision_score`.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows.

        y : array-like of shape (n_samples,)
            Their labels, as `fit` takes them.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        accuracy : float
        """
        y = y if self.positive is None else is_positive(y, self.positive)
        return super().score(X, y, sample_weight)

    def decision_function(self, X):
        """Return the scores of the classes by which `predict` decides.

        With two classes it is the distance of the log-odds of ``classes_[1]`` from those of the
        threshold. Where no sigmoid calibrates (``calibration`` is None or "prior", or no rows are
        held out), it is the distance of the probability from the threshold. `predict` returns
        ``classes_[1]`` where it is above 0. With more classes `predict` returns the class with the
        largest score.

        Parameters
        ----------
        {rows}

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, rows are ordered as by their probabilities.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from metasampler import MesaClassifier
        >>> X, y = make_classification(2000, weights=[0.9], random_state=0)
        >>> clf = MesaClassifier(recipe="fast", random_state=0).fit(X, y)
        >>> bool(((clf.decision_function(X) > 0) == (clf.predict(X) == 1)).all())
        True
        """
        proba = self.predict_proba(X)
        if len(self.classes_) > 2:
            return ClassDecision(self.class_thresholds_, self.class_costs_).scores(proba)
        level = 0.5 if self._rule is None else min(self.threshold_, 1.0)
        at_threshold = np.array([1 - level, level])
        if self._minority == 0:
            at_threshold = at_threshold[::-1]
        of_rows, of_threshold = (np.log(np.maximum(p, _TINY)) for p in (proba, at_threshold))
        margins = of_rows[:, 1] - of_rows[:, 0] - (of_threshold[1] - of_threshold[0])
        if self._blend is None and not isinstance(self.calibration_, SigmoidCalibration):
            # A mean of members may be 0 or 1, whose log-odds have no end. And
            # `CalibratedClassifierCV`, which asks for these scores, fits its sigmoid better so.
            # The log-odds keep the order of probabilities that are next to 0 or 1.
            margins = proba[:, 1] - at_threshold[1] + _ORDER * margins
        # Rows at the threshold: `predict` calls the smallest class there.
        called = self._decided(proba) == 1
        return np.where(called, np.maximum(margins, _TINY), np.minimum(margins, 0.0))

    def top_rows(self, X, n=None, *, per=None):
        """Return the rows that are most probably of the smallest class, the most probable first.

        For teams that can check a fixed number of rows. `predict` decides about each row alone;
        this method compares the rows with each other.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to compare. A path, or :class:`~metasampler.datasets.ParquetRows`, is read
            one partition at a time.

        n : int, default=None
            How many rows to return; None ranks all rows.

        per : array-like of shape (n_samples,), default=None
            The day of each row, or whatever else the n rows are for: then they are the n most
            probable rows of each.

        Returns
        -------
        rows : ndarray of int of shape (min(n, n_samples),)
            Positions in X. Of rows with equal probabilities, the earlier ones come first. With
            `per` there are up to n for each of its values.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from metasampler import MesaClassifier
        >>> X, y = make_classification(2000, weights=[0.9], random_state=0)
        >>> clf = MesaClassifier(threshold=("top", 0.05), random_state=0).fit(X, y)
        >>> rows = clf.top_rows(X, 40)  # exactly 40 rows, whatever the threshold is
        >>> len(rows), float(y[rows].mean()) > 0.9
        (40, True)
        """
        check_is_fitted(self)
        if n is not None and (isinstance(n, bool) or not isinstance(n, Integral) or n < 1):
            raise ValueError(f"n={n!r} must be a number of rows, 1 or more, or None for all.")
        scores = self.predict_proba(X)[:, self._minority]
        order = np.argsort(-scores, kind="stable")
        if per is None or n is None:
            return order[:n]
        days = np.unique(column_or_1d(per), return_inverse=True)[1]
        if len(days) != len(scores):
            raise ValueError(f"per has {len(days)} values, and X has {len(scores)} rows.")
        by_day = order[np.argsort(days[order], kind="stable")]
        sizes = np.bincount(days)
        places = np.arange(len(scores)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = np.zeros(len(scores), dtype=bool)
        kept[by_day[places < int(n)]] = True
        return order[kept[order]]

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

    def _decided(self, proba):
        if len(self.classes_) > 2:
            return ClassDecision(self.class_thresholds_, self.class_costs_)(proba)
        if self._rule is None:
            return np.argmax(proba, axis=1)
        minority = self._minority
        return np.where(proba[:, minority] >= self.threshold_, minority, 1 - minority)

    @property
    def _minority(self) -> int:
        """The position of the smallest class in `classes_`."""
        return int(np.flatnonzero(self.classes_ == self.minority_class_)[0])

    def summary(self):
        """Return what the fit did.

        Returns
        -------
        summary : FitSummary
            Print it for a table that fits on a screen. With teams it has one line for each team and
            one for all together, with their scores on held-out rows. Without teams it has one line
            for each member: its mu, its rows, and the validation score and the mean errors after it
            joined. ``print(summary.to_text(all_members=True))`` shows every member;
            ``summary.rows`` holds them as dictionaries.
        """
        check_is_fitted(self)
        return summarise(self, self._steps, self._team_names)

    # ------------------------------------------------------------------ notebooks

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += fit_html(self)
        return bundle

    @property
    def _repr_html_(self):
        # scikit-learn's raises an error where pictures are turned off.
        picture = super()._repr_html_
        return lambda: picture() + fit_html(self)


def _judged(team: Team, data: GrowthData) -> tuple:
    """Return what a team says of rows it has not seen, and the keys of their groups."""
    rows, *facts = team.growth.judged()
    return rows, *facts, data.groups_of(rows) if data.by_group else None


def _held_out_scores(teams: list[Team], blend: Blend | None) -> dict[str, float]:
    """Return the score of each team on held-out rows, and that of the whole ensemble."""
    if blend is None:
        score = teams[0].growth.steps[-1].score
        return {} if score is None else {"together": score}
    names = [*(team.name for team in teams), "together"]
    return dict(zip(names, blend.scores, strict=False))
