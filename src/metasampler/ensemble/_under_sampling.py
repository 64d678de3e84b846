"""The fit of every ensemble that grows on balanced subsets, and how it answers."""

import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from numbers import Real
from threading import Event

import numpy as np
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from metasampler._progress import progress_bar
from metasampler._sklearn_compat import Interval, StrOptions, fit_context, take_rows
from metasampler._unchanged import unchanged_on_error
from metasampler.ensemble._calibration import CALIBRATIONS
from metasampler.ensemble._decision import Decision, HeldOut, decide
from metasampler.ensemble._repr import fit_html
from metasampler.ensemble._resume import check_facts, facts_of
from metasampler.ensemble._summary import summarise
from metasampler.ensemble._teams import Blend, FittedTeam, Plan, Team
from metasampler.ensemble._threshold import (
    called_rows,
    check_threshold,
    needs_held_out_rows,
)
from metasampler.ensemble.base import BaseEnsemble
from metasampler.growth import (
    SAMPLING_RATIO,
    Growth,
    GrowthData,
    LookedAt,
    Policy,
    RandomStreams,
    join_tables,
    kinds_of,
    make_growth_data,
    make_learners,
    replay,
    resolve_kinds,
    resolve_leaf_smoothing,
    resolve_source,
    running_mean,
    side_by_side,
    weight_argument,
)

__all__ = ["BaseUnderSamplingEnsemble"]

# With fewer rows of a class nothing that is learned from held-out ones can be trusted: of nine, two
# are held out.
_FEW_ROWS = 10

# Parts of the training rows that are held out in turn: with the validation rows, a fifth by
# default, these are five folds.
_N_PARTS = 4


class BaseUnderSamplingEnsemble(BaseEnsemble):
    """Base of the ensembles whose members are trained on balanced subsets.

    A subclass says how rows are drawn (``_make_policy``). All the rest is the same: the growth,
    and what members that live in a balanced world need, calibration and the threshold of
    `predict`.
    """

    _parameter_constraints: dict = {
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
    _resume_parameters: tuple[str, ...] = (
        "estimator",
        "sampling_ratio",
        "validation_fraction",
        "scoring",
        "leaf_smoothing",
    )

    # Not every subclass has this as a parameter; those that have keep their policy for it.
    warm_start = False
    max_rows: int | None = None
    _policy: Policy | None = None

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        sampling_ratio=1.0,
        validation_fraction=None,
        scoring="average_precision",
        calibration="auto",
        threshold="balanced",
        leaf_smoothing=0.0,
        refit=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling_ratio = sampling_ratio
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.calibration = calibration
        self.threshold = threshold
        self.leaf_smoothing = leaf_smoothing
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ fit

    # The base learner is checked in fit, with a message of its own.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, X_val=None, y_val=None, sample_weight=None):
        """Grow the ensemble.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The training rows. Data frames reach the members as they are, unless all are
            scikit-learn's trees. The path of a Parquet file or of a folder of them, or
            :class:`~metasampler.datasets.ParquetRows`, is read part by part.

        y : array-like of shape (n_samples,) or str
            Labels of any type, of two or more classes. For a path the name of their column.

        X_val, y_val : table and array-like, default=None
            Validation rows. Without them `validation_fraction` of each class is held out from X.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. They multiply the weights of the draw, count in states and
            scores, and reach base learners that take them: rows of the smallest class with their
            own weight, drawn rows with the mean weight of their class, since their own has done
            its work in the draw. A weight of zero leaves the row out.

        Returns
        -------
        self : object
            The fitted ensemble.
        """
        source = resolve_source(X, y, sample_weight)
        with unchanged_on_error(self):
            if source is None:
                return self._fit(X, y, X_val, y_val, sample_weight)
            # However it ends, what it has written goes.
            with source.make_place() as place:
                looked = LookedAt(source, place)
                return self._fit(looked, looked.some_labels(), X_val, y_val, sample_weight)

    def _fit(self, X, y, X_val, y_val, sample_weight):
        """Fit on rows in memory, or on rows that have been looked at."""
        # Everything that can be checked is checked before any member is fitted.
        plan = self._plan(_labels_that_count(y, sample_weight))
        data, streams = self._start(plan, X, y, X_val, y_val, sample_weight)
        refits = self._refits(plan, data)
        # Algorithm 2: errors -> state -> mu -> balanced subset -> new member -> errors ...
        teams: list[Team] = []
        for ready in self._teams(plan, data, streams):
            if self._resumes():
                self._resume(ready)
            self._grow(ready, f"Growing {' and '.join(team.name for team in ready)}")
            teams += ready
        # Rows that members have not seen decide about probabilities and labels.
        blend = None
        if len(teams) > 1:
            blend = Blend.of([team.growth for team in teams], [team.n_votes for team in teams])
        answers = teams[0].growth if blend is None else blend
        held_out = HeldOut(*answers.held_out()) if data.has_validation else None
        drawn = answers.drawn_shares()
        if held_out and refits and self.calibration == "auto" and held_out.are_few(data.n_classes):
            held_out = HeldOut.joined([held_out, *self._hold_out_in_turn(teams[0])])
        decision = decide(
            data, drawn, held_out, self.calibration, self.threshold, blend is not None
        )
        # Then these rows are given back: the same rules draw from all rows.
        final = teams
        if refits:
            final = [self._grow_again(teams[0], data.whole(), "Refitting on all rows")]
        self._become(plan, teams, final, blend, decision, refits)
        return self

    def _plan(self, y) -> Plan:
        """Return what the fit is going to do; the labels may matter, the rows do not."""
        kinds = resolve_kinds(self._base_learner())
        resolve_leaf_smoothing(self.leaf_smoothing, kinds)
        return Plan(kinds, self.n_estimators, self.validation_fraction)

    def _start(self, plan: Plan, X, y, X_val, y_val, sample_weight) -> tuple:
        """Check what `fit` got; return the rows and the random streams."""
        resumes = self._resumes()
        if resumes:
            streams = RandomStreams(self._entropy)
        else:
            streams = RandomStreams.from_random_state(self.random_state)
        data = make_growth_data(
            X,
            y,
            X_val,
            y_val,
            sample_weight=sample_weight,
            estimator=plan.kinds,
            validation_fraction=plan.held_out_part,
            sampling_ratio=self.sampling_ratio,
            scoring=self.scoring,
            streams=streams,
            owner=self,
            must_hold_out=plan.must_hold_out,
            rotate=plan.rotates,
            max_rows=self.max_rows,
        )
        self._check_settings(plan, data)
        self._check_features(getattr(X, "example", X), reset=not resumes)
        if X_val is not None:
            self._check_features(data.form.ordered(X_val), reset=False, name="X_val")
        if resumes:
            self._check_resumable(plan, data)
        return data, streams

    def _teams(self, plan: Plan, data: GrowthData, streams: RandomStreams) -> Iterator[list[Team]]:
        """Yield the parts of the ensemble: those that can grow side by side, then what follows."""
        if plan.recipe is not None:
            yield from self._recipe_teams(plan, data, streams)
            return
        smoothing = resolve_leaf_smoothing(self.leaf_smoothing, plan.kinds)
        learner = make_learners(
            plan.kinds,
            data.tables,
            data.n_classes,
            self.n_jobs,
            smoothing,
            data.form.categorical_features,
        )
        growth = Growth(data, learner, streams)
        if self._resumes():
            # A copy: an interrupt must leave no notes of this fit in the policy of the last.
            policy = deepcopy(self._policy)
        else:
            policy = self._make_policy(plan, data, streams)
        yield [Team("members", growth, policy, plan.n_members)]

    def _resume(self, teams: list[Team]) -> None:
        """Give teams the members that they have already, as a warm start does."""
        for team in teams:
            grown = self._grown.get(team.name, ([], [], []))
            if team.n_members < len(grown[0]):
                raise ValueError(
                    f"n_estimators={self.n_estimators} makes {team.n_members} {team.name}, but "
                    f"there are {len(grown[0])} of them already: warm_start=True needs at least as "
                    "many."
                )
            team.growth.resume(*grown)

    def _make_policy(self, plan: Plan, data: GrowthData, streams: RandomStreams) -> Policy | None:
        """Return what chooses how members after the first are drawn; None draws uniformly."""
        return None

    def _repeated(self, policy: Policy | None, growth: Growth, data: GrowthData) -> Policy | None:
        """Return the policy that repeats a growth on other rows."""
        return None if policy is None else replay(growth.steps)

    def _grow(self, teams: list[Team], title: str) -> None:
        """Grow teams that do not depend on each other, side by side if `n_jobs` allows it."""
        remaining = sum(team.n_members - len(team.growth.members) for team in teams)
        stopped = Event()
        # On the rows of a member threads of its own cost more than they gain.
        limits = any(team.growth.learner.starts_threads for team in teams)
        with (
            threadpool_limits(1, user_api="openmp") if limits else nullcontext(),
            progress_bar(title, remaining, enabled=self.verbose > 0) as advance,
        ):

            def grow(team):
                for step in team.growth.grow(team.policy, team.n_members):
                    advance("" if step.score is None else f"validation score {step.score:.3f}")
                    if stopped.is_set():
                        return

            side_by_side([partial(grow, team) for team in teams], self.n_jobs, stopped.set)

    def _grow_again(self, team: Team, data: GrowthData, title: str) -> Team:
        """Return a team on other rows, grown by the rules of a grown one."""
        repeated = self._repeated(team.policy, team.growth, data)
        # A part of the rows may lack a class: its steps are not scored.
        again = Team(team.name, team.growth.anew(data, score_steps=False), repeated, team.n_members)
        self._grow([again], title)
        return again

    def _hold_out_in_turn(self, team: Team) -> list[HeldOut]:
        """Return the training rows as held-out rows; each part costs one more growth."""
        growth = team.growth
        parts: list[HeldOut] = []
        whole = growth.data.whole()
        for rows in growth.data.parts_of_training(_N_PARTS, growth.streams):
            title = f"Holding out part {len(parts) + 1} of {_N_PARTS}"
            again = self._grow_again(team, whole.holding_out(rows), title)
            parts.append(HeldOut(*again.growth.held_out()))
        return parts

    def _become(
        self,
        plan: Plan,
        teams: list[Team],
        final: list[Team],
        blend: Blend | None,
        decision: Decision,
        refits: bool,
    ) -> None:
        """Set the attributes of a fitted ensemble, all at once: an interrupt leaves none half."""
        growths, data = [team.growth for team in final], teams[0].growth.data
        self._entropy = teams[0].growth.streams.entropy
        # After a refit no warm start goes on.
        self._facts = {} if refits else facts_of(self, self._resume_parameters, data)
        self._n_grown = plan.n_members
        self._form = data.form
        self._blend = None if blend is None else blend.without_rows()
        self._members_of = [
            FittedTeam(
                growth.learner.estimator,
                len(growth.members),
                growth.learner.leaf_smoothing,
                growth.data.table_maker,
                team.n_votes,
            )
            for growth, team in zip(growths, teams, strict=True)
        ]
        self._steps = [step for team in teams for step in team.growth.steps]
        self._team_names = [team.name for team in teams for _ in team.growth.steps]
        self._rule = self.threshold
        self.estimator_ = growths[-1].learner.estimator
        self.estimators_ = [member for growth in growths for member in growth.members]
        self.estimators_samples_ = [rows for growth in growths for rows in growth.subsets]
        self.estimators_samples_ = _original(data, self.estimators_samples_)
        self.classes_ = data.classes
        self.minority_class_ = data.classes[data.minority]
        self.class_counts_ = data.role_counts("all")
        self.scores_ = np.array([step.score for step in self._steps if step.score is not None])
        self.held_out_scores_ = _held_out_scores(teams, blend)
        self.leaf_smoothing_ = growths[-1].learner.leaf_smoothing
        self.refit_ = refits
        self.calibration_, threshold = decision
        for name in ("threshold_", "expected_precision_", "expected_recall_"):
            # Of an earlier fit with two classes.
            self.__dict__.pop(name, None)
        if threshold is not None:
            self.threshold_, self.expected_precision_, self.expected_recall_ = threshold
        if not refits:
            # What a warm start goes on from.
            self._grown = {
                team.name: (
                    team.growth.members,
                    _original(data, team.growth.subsets),
                    team.growth.steps,
                )
                for team in teams
            }

    # ------------------------------------------------------------------ checks

    def _refits(self, plan: Plan, data: GrowthData) -> bool:
        """Return whether to refit: "auto" does where rows were taken from X."""
        if self.refit != "auto":
            return bool(self.refit)
        taken_from_X = data.has_validation and not data.validation_is_apart
        return taken_from_X and not self.warm_start and not plan.rotates

    def _check_settings(self, plan: Plan, data: GrowthData) -> None:
        """Refuse, before any work, what the rows or other parameters make impossible."""
        check_threshold(self.threshold, data.n_classes)
        if not data.has_validation:
            needs = None
            if self.calibration == "sigmoid":
                needs = "calibration='sigmoid' is fitted on"
            elif needs_held_out_rows(self.threshold):
                needs = f"threshold={self.threshold!r} is tuned on"
            elif self.refit is True:
                needs = "refit=True gives back"
            if needs:
                raise ValueError(
                    f"{needs} validation rows: pass X_val and y_val, or a validation_fraction."
                )
        if self.refit is True and plan.rotates:
            raise ValueError(
                "refit=True has no rows to give back: the default members leave rows out in "
                "rotation, so that every row is used. Set refit='auto', or an estimator."
            )
        if self.refit is True and self.warm_start:
            raise ValueError(
                "refit=True replaces the members that warm_start=True keeps: set one of them to "
                "False."
            )
        if self.refit is True and data.validation_is_apart:
            # Whether they can be put into one is seen from a row of each.
            join_tables(*(take_rows(table, slice(0, 1)) for table in data.tables))
        kinds = [] if not data.has_weights else kinds_of(plan.kinds)
        unweighted = [repr(kind) for kind in kinds if weight_argument(kind) is None]
        if unweighted:
            warnings.warn(
                f"The fit of {' and of '.join(dict.fromkeys(unweighted))} takes no sample_weight: "
                "the weights count in draws and scores, but not within these members.",
                UserWarning,
                stacklevel=4,
            )
        counts = data.role_counts("all")
        if counts.min() < _FEW_ROWS:
            label = data.classes[[int(np.argmin(counts))]].tolist()[0]
            warnings.warn(
                f"The smallest class, {label!r:.80}, has {counts.min()} rows. With fewer than "
                f"{_FEW_ROWS} the threshold, the calibration, what is expected of them and every "
                "validation score are mostly chance: trust the order of the rows at most.",
                UserWarning,
                stacklevel=5,
            )

    def _resumes(self) -> bool:
        return self.warm_start and hasattr(self, "estimators_")

    def _check_resumable(self, plan: Plan, data: GrowthData) -> None:
        """Refuse a warm start that cannot continue the fit before it."""
        if self.refit_:
            raise ValueError(
                "warm_start=True cannot grow on: the members were refitted on all rows. Set "
                "warm_start=True, or refit=False, before the first fit."
            )
        check_facts(self._facts, facts_of(self, self._resume_parameters, data))
        if plan.n_members < self._n_grown:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least {self._n_grown}, the "
                "number of members there are, when warm_start=True."
            )

    # ------------------------------------------------------------------ answers

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
        return np.concatenate(
            [super(BaseUnderSamplingEnsemble, self).predict_proba(frame) for frame in frames]
        )

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

        It saves those who need both probabilities and classes the second half of the work.

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
            Print it for a table that fits on a screen. An ensemble of several teams has one line
            a team, with its score on held-out rows, and a last line with the score of all teams
            together. An ensemble without teams has one line a member: its mu (where there is one),
            the rows it was trained on, and the validation score and the mean validation error of
            each class once it had joined. ``print(summary.to_text(all_members=True))`` shows every
            member; ``summary.rows`` holds them as dictionaries.
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


def _labels_that_count(y, sample_weight):
    """Return the labels of rows that have a weight; what is no proper weight is refused later."""
    if y is None or sample_weight is None:
        return y
    labels, counts = np.asarray(y), np.asarray(sample_weight) != 0
    return labels[counts] if counts.shape == labels.shape[:1] else y


def _held_out_scores(teams: list[Team], blend: Blend | None) -> dict[str, float]:
    """Return the score of each team on held-out rows, and that of the whole ensemble."""
    growth = teams[0].growth
    if not growth.data.has_validation:
        return {}
    if blend is None:
        score = growth.steps[-1].score
        return {} if score is None else {"together": score}
    names = [*(team.name for team in teams), "together"]
    return dict(zip(names, blend.scores(growth.data), strict=False))


def _original(data: GrowthData, subsets: list) -> list:
    """Return row numbers among the rows the user passed, where they are known."""
    return [None if rows is None else data.to_original(rows) for rows in subsets]
