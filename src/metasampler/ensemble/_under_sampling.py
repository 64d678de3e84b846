"""What under-sampling ensembles share: how a fit runs, and how it ends in usable answers."""

import warnings
from collections.abc import Iterator
from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from metasampler._progress import progress_bar
from metasampler._sklearn_compat import Interval, StrOptions
from metasampler.ensemble._base import BaseGrownEnsemble
from metasampler.ensemble._calibration import CALIBRATIONS
from metasampler.ensemble._held_out import check_cross_fitted, decide
from metasampler.ensemble._refit import (
    check_refit,
    check_refit_rows,
    resolve_refit,
    start_refit,
)
from metasampler.ensemble._stopping import StopRule
from metasampler.ensemble._summary import summarise
from metasampler.ensemble._threshold import check_threshold
from metasampler.growth._data import GrowthData, Selector
from metasampler.growth._kinds import kinds_of, resolve_kinds
from metasampler.growth._learner import make_learners, weight_argument
from metasampler.growth._leaves import resolve_leaf_smoothing
from metasampler.growth._look_ahead import allowed_candidates
from metasampler.growth._loop import Growth
from metasampler.growth._random import RandomStreams
from metasampler.growth._validation import make_growth_data

__all__ = ["BaseUnderSamplingEnsemble"]


class BaseUnderSamplingEnsemble(BaseGrownEnsemble):
    """Base of the ensembles whose members are trained on balanced subsets.

    It holds the growth and what these ensembles need because their members live in a balanced
    world: calibration, the threshold of `predict`, and the rows both are fitted on.
    """

    _parameter_constraints: dict = {
        **BaseGrownEnsemble._parameter_constraints,
        "validation_fraction": [None, Interval(Real, 0, 1, closed="neither")],
        "scoring": [str, callable],
        "calibration": [None, StrOptions(set(CALIBRATIONS))],
        "threshold": [None, str, Real, tuple, list],
        "n_iter_no_change": [None, Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "validate_members": ["boolean"],
        "leaf_smoothing": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "refit": ["boolean", StrOptions({"auto"})],
    }

    #: Whether draws look at the errors of the members before. Otherwise these are only computed
    #: where there are validation rows.
    _reads_errors = True

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
        n_iter_no_change=None,
        tol=1e-4,
        validate_members=False,
        leaf_smoothing=0.0,
        n_candidates=1,
        refit=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        super().__init__(estimator, n_jobs=n_jobs)
        self.n_estimators = n_estimators
        self.sampling_ratio = sampling_ratio
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.calibration = calibration
        self.threshold = threshold
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.validate_members = validate_members
        self.leaf_smoothing = leaf_smoothing
        self.n_candidates = n_candidates
        self.refit = refit
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ growth

    def _start_growth(
        self,
        X,
        y,
        X_val,
        y_val,
        sample_weight,
        *,
        resume: bool = False,
        must_hold_out: bool = True,
    ) -> Growth:
        """Check what `fit` got and start an ensemble.

        With ``resume`` it starts with the members there are, and grows on as the fit that made
        them would have. ``must_hold_out`` is that of `make_growth_data`.
        """
        estimator = resolve_kinds(self._base_learner())
        smoothing = resolve_leaf_smoothing(self.leaf_smoothing, estimator)
        check_refit(self)
        if resume:
            streams = RandomStreams(self._entropy)
        else:
            streams = RandomStreams.from_random_state(self.random_state)
        data = make_growth_data(
            X,
            y,
            X_val,
            y_val,
            sample_weight=sample_weight,
            estimator=estimator,
            validation_fraction=self.validation_fraction,
            sampling_ratio=self.sampling_ratio,
            scoring=self.scoring,
            streams=streams,
            owner=self,
            must_hold_out=must_hold_out,
        )
        check_threshold(self.threshold, data.n_classes)
        if self.calibration == "cross-fitted":
            check_cross_fitted(data)
        if resolve_refit(self, data):
            check_refit_rows(data)
        if self.n_iter_no_change is not None and not data.has_validation:
            raise ValueError(
                f"n_iter_no_change={self.n_iter_no_change} needs validation rows: pass X_val and "
                "y_val, or a validation_fraction."
            )
        kinds = [] if data.weights is None else kinds_of(estimator)
        unweighted = [repr(kind) for kind in kinds if weight_argument(kind) is None]
        if unweighted:
            warnings.warn(
                f"The fit of {' and of '.join(dict.fromkeys(unweighted))} takes no sample_weight: "
                "the weights count in draws and scores, but not within these members.",
                UserWarning,
                stacklevel=3,
            )
        self._check_features(X, reset=not resume)
        if X_val is not None:
            self._check_features(X_val, reset=False, name="X_val")
        learner = make_learners(
            estimator,
            data.tables,
            data.n_classes,
            self.n_jobs,
            smoothing,
            lambda kind: self._fit_options(kind, data),
        )
        growth = Growth(
            data,
            learner,
            streams,
            track=self._reads_errors or data.has_validation,
            n_candidates=allowed_candidates(self.n_candidates, data),
        )
        self._records: list[dict] = list(self._records) if resume else []
        if resume:
            self._check_resumable(data)
            for member, rows in zip(self.estimators_, self.estimators_samples_, strict=True):
                growth.add(member, data.from_original(rows))
        return growth

    def _fit_options(self, estimator, data: GrowthData) -> dict:
        """Validation rows in the form that this base learner's fit takes."""
        if not self.validate_members:
            return {}
        if not data.has_validation:
            raise ValueError(
                "validate_members=True needs validation rows: pass X_val and y_val, or a "
                "validation_fraction."
            )
        X_val, codes = data.take("valid")
        y_val = codes.astype(np.intp)
        if has_fit_parameter(estimator, "eval_X"):
            return {"eval_X": X_val, "eval_y": y_val}
        if has_fit_parameter(estimator, "eval_set"):
            quiet = {"verbose": False} if has_fit_parameter(estimator, "verbose") else {}
            return {"eval_set": [(X_val, y_val)], **quiet}
        if has_fit_parameter(estimator, "X_val"):
            return {"X_val": X_val, "y_val": y_val}
        raise ValueError(
            f"validate_members=True, but the fit of {estimator!r} takes no validation rows "
            "(eval_X, eval_set or X_val)."
        )

    def _resume_facts(self) -> dict:
        """What must be the same in a warm start for it to give what one longer fit gives."""
        kinds = kinds_of(self._base_learner())
        return {
            "estimator": ", ".join(type(kind).__name__ for kind in kinds),
            "sampling_ratio": self.sampling_ratio,
            "validation_fraction": self.validation_fraction,
            "scoring": self.scoring,
            "leaf_smoothing": self.leaf_smoothing,
            "n_candidates": self.n_candidates,
        }

    def _check_resumable(self, data: GrowthData) -> None:
        """Refuse a warm start that cannot continue the fit before it."""
        if self.refit_:
            raise ValueError(
                "warm_start=True cannot grow on: the members were refitted on all rows. Set "
                "warm_start=True, or refit=False, before the first fit."
            )
        facts = {**self._resume_facts(), "the number of rows": len(data.codes)}
        for name, value in facts.items():
            if value != self._facts[name]:
                raise ValueError(
                    f"warm_start=True grows the same fit further, but {name} was "
                    f"{self._facts[name]!r} and is now {value!r}."
                )
        if self.n_estimators < len(self.estimators_):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be at least {len(self.estimators_)}, the "
                "number of members there are, when warm_start=True."
            )
        if not np.array_equal(data.classes, self.classes_):
            raise ValueError(
                f"warm_start=True needs the classes of the first fit, {self.classes_.tolist()}; "
                f"y has {data.classes.tolist()}."
            )

    def _selector(self, growth: Growth) -> Selector | None:
        """Hook for ensembles that grow by a rule: how members after the first are drawn."""
        return None

    def _grow(self, growth: Growth) -> None:
        """Grow by a rule: the first member by a uniform draw, the others by the selector."""
        select = self._selector(growth)

        def members():
            while True:
                growth.grow(select if growth.n_members else None)
                yield growth.score("valid") if growth.data.has_validation else None

        for score in self._watch(growth, members(), lambda score: score):
            self._note(growth, {"score": score})

    def _replay(self, growth: Growth, records: list[dict]) -> Iterator[None]:
        """Grow again, by the choices of the growth that left these records; one step a member."""
        select = self._selector(growth)
        for record in records:
            growth.grow(select if growth.n_members else None, record["candidate"])
            yield

    def _refit(self, growth: Growth) -> None:
        """Put the members of a second growth, on all rows, in place of those of the first."""
        second = start_refit(growth, track=self._reads_errors)
        records = self._records
        with progress_bar(
            "Refitting on all rows", len(records), enabled=self.verbose > 0
        ) as advance:
            for _ in self._replay(second, records):
                advance()
        self._set_members(second)

    def _set_members(self, growth: Growth) -> None:
        self.estimators_ = growth.members
        self.estimators_samples_ = [growth.data.to_original(rows) for rows in growth.subsets]

    def _watch(self, growth: Growth, steps, score_of):
        """Pass steps on until the ensemble is complete or has stopped to improve."""
        stop = StopRule(self.n_iter_no_change, self.tol, [r["score"] for r in self._records])
        remaining = self.n_estimators - growth.n_members
        with progress_bar("Growing the ensemble", remaining, enabled=self.verbose > 0) as advance:
            while growth.n_members < self.n_estimators and not stop.stopped:
                step = next(steps)
                score = score_of(step)
                advance("" if score is None else f"validation score {score:.3f}")
                yield step
                stop(score)

    def _note(self, growth: Growth, record: dict) -> None:
        """Remember what the newest member was, for `scores_` and `summary`."""
        record["n_rows"] = len(growth.subsets[-1])
        record["candidate"] = growth.candidate
        if growth.data.has_validation:
            codes = growth.data.codes[growth.data.rows["valid"]]
            weights = growth.weights("valid")
            errors = growth.errors("valid")
            weighted = errors if weights is None else errors * weights
            totals = np.bincount(codes, weighted, growth.data.n_classes)
            record["errors"] = totals / np.bincount(codes, weights, growth.data.n_classes)
        self._records.append(record)

    def _finish_growth(self, growth: Growth):
        """Set the attributes of a fitted ensemble, its calibration and its threshold."""
        data = growth.data
        growth.free_errors()
        self._entropy = growth.streams.entropy
        self._facts = {**self._resume_facts(), "the number of rows": len(data.codes)}
        self.estimator_ = growth.learner.estimator
        self.classes_ = data.classes
        self.minority_class_ = data.classes[data.minority]
        self._set_members(growth)
        self.scores_ = np.array([r["score"] for r in self._records if r.get("score") is not None])
        self.n_candidates_ = growth.n_candidates
        self.leaf_smoothing_ = growth.learner.leaf_smoothing
        self.refit_ = resolve_refit(self, data)
        self._rule = self.threshold
        self.calibration_, decision = decide(self, growth)
        if decision is not None:
            self.threshold_, self.expected_precision_, self.expected_recall_ = decision
        if self.refit_:
            self._refit(growth)
        return self

    # ------------------------------------------------------------------ answers

    def _calibrate(self, proba: np.ndarray) -> np.ndarray:
        return self.calibration_(proba)

    def predict(self, X):
        """Class of each row, by the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        proba = self.predict_proba(X)
        if self._rule is None:
            return self.classes_[np.argmax(proba, axis=1)]
        if len(self.classes_) > 2:
            return self.classes_[np.argmax(proba / self.calibration_.prior, axis=1)]
        minority = int(np.flatnonzero(self.classes_ == self.minority_class_)[0])
        called = proba[:, minority] >= self.threshold_
        return self.classes_[np.where(called, minority, 1 - minority)]

    def summary(self):
        """What the fit did, member by member.

        Returns
        -------
        summary : FitSummary
            Prints as a table: for each member its mu (where there is one), the rows it was
            trained on, and after it joined the validation score and the mean validation error of
            each class.
        """
        check_is_fitted(self)
        return summarise(self, self._records)
