"""What under-sampling ensembles share: how a fit runs, and how it ends in usable answers."""

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from metasampler._progress import progress_bar
from metasampler._sklearn_compat import Interval, StrOptions, take_rows
from metasampler.ensemble._base import BaseGrownEnsemble
from metasampler.ensemble._calibration import CALIBRATIONS, make_calibration
from metasampler.ensemble._summary import FitSummary
from metasampler.ensemble._threshold import check_threshold, choose_threshold
from metasampler.growth._data import GrowthData, Selector
from metasampler.growth._learner import make_learner, weight_argument
from metasampler.growth._loop import Growth
from metasampler.growth._random import RandomStreams, Stream
from metasampler.growth._validation import make_growth_data, resolve_estimator

__all__ = ["BaseUnderSamplingEnsemble", "StopRule"]

# Fits that a cross-fitted calibration takes on top of the ensemble's own.
_CROSS_FIT_FOLDS = 5


class StopRule:
    """Whether the validation score has stopped to improve.

    Parameters
    ----------
    n_iter_no_change : int or None
        Members without improvement after which to stop; None never stops.
    tol : float
        What the best score must be exceeded by to count as improved.
    scores : iterable of float
        Scores of the members there are already.
    """

    def __init__(self, n_iter_no_change, tol, scores=()):
        self.patience = n_iter_no_change
        self.tol = tol
        self.best = -np.inf
        self.idle = 0
        self.stopped = False
        for score in scores:
            self(score)

    def __call__(self, score) -> bool:
        """Take in the next score, and say whether to stop."""
        if self.patience is None or score is None:
            return False
        if score > self.best + self.tol:
            self.best, self.idle = score, 0
        else:
            self.idle += 1
        self.stopped = self.idle >= self.patience
        return self.stopped


def _to_prior(codes, weights, prior):
    """Weights of held-out rows by which the classes are as frequent as in the training rows.

    The rows of a user may hold any share of the rare class; the probabilities speak of the world
    of the training rows.
    """
    totals = np.bincount(codes, weights, len(prior))
    factors = prior * totals.sum() / totals
    return factors[codes] if weights is None else weights * factors[codes]


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
    }

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
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ growth

    def _start_growth(
        self, X, y, X_val, y_val, sample_weight, *, track: bool = True, resume: bool = False
    ) -> Growth:
        """Check what `fit` got and start an ensemble.

        Without ``track`` members are scored only if there are validation rows. With ``resume``
        the ensemble starts with the members there are, and grows on as the fit that made them
        would have.
        """
        estimator = resolve_estimator(self._base_learner())
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
        )
        check_threshold(self.threshold, data.n_classes)
        if self.calibration == "cross-fitted":
            self._check_cross_fitted(data)
        if self.n_iter_no_change is not None and not data.has_validation:
            raise ValueError(
                f"n_iter_no_change={self.n_iter_no_change} needs validation rows: pass X_val and "
                "y_val, or a validation_fraction."
            )
        if data.weights is not None and weight_argument(estimator) is None:
            warnings.warn(
                f"The fit of {estimator!r} takes no sample_weight: the weights count in draws and "
                "scores, but not within the members.",
                UserWarning,
                stacklevel=3,
            )
        self._check_features(X, reset=not resume)
        if X_val is not None:
            self._check_features(X_val, reset=False, name="X_val")
        growth = Growth(
            data,
            make_learner(estimator, data.tables, data.n_classes, self.n_jobs),
            streams,
            track=track or data.has_validation,
            member_options=self._member_options(estimator, data),
        )
        self._records: list[dict] = list(self._records) if resume else []
        if resume:
            self._check_resumable(data)
            for member, rows in zip(self.estimators_, self.estimators_samples_, strict=True):
                growth.add(member, data.from_original(rows))
        return growth

    def _member_options(self, estimator, data: GrowthData) -> dict:
        """Validation rows in the form that this base learner's fit takes."""
        if not self.validate_members:
            return {}
        if not data.has_validation:
            raise ValueError(
                "validate_members=True needs validation rows: pass X_val and y_val, or a "
                "validation_fraction."
            )
        rows = np.arange(len(data.codes))[data.rows["valid"]]
        # They lie either in the first table or in one of their own, the second.
        first = data.tables[0].shape[0]
        table, local = (data.tables[0], rows) if rows[0] < first else (data.tables[1], rows - first)
        X_val, y_val = take_rows(table, local), data.codes[rows].astype(np.intp)
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
        return {
            "estimator": type(self._base_learner()).__name__,
            "sampling_ratio": self.sampling_ratio,
            "validation_fraction": self.validation_fraction,
            "scoring": self.scoring,
        }

    def _check_resumable(self, data: GrowthData) -> None:
        """Refuse a warm start that cannot continue the fit before it."""
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

    def _grow(self, growth: Growth, select: Selector | None = None) -> None:
        """Grow by a rule: the first member by a uniform draw, the others by ``select``."""

        def members():
            while True:
                growth.grow(select if growth.n_members else None)
                yield growth.score("valid") if growth.data.has_validation else None

        for score in self._watch(growth, members(), lambda score: score):
            self._note(growth, {"score": score})

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
        self.estimators_ = growth.members
        self.estimators_samples_ = [data.to_original(rows) for rows in growth.subsets]
        self.scores_ = np.array([r["score"] for r in self._records if r.get("score") is not None])

        prior = data.class_weights() / data.class_weights().sum()
        held_out: dict = {}
        proba = None
        if self.calibration == "cross-fitted":
            held_out = {"codes": data.codes, "weights": data.weights}
            proba = self._cross_fit(growth)
        elif data.has_validation:
            codes = data.codes[data.rows["valid"]]
            held_out = {"codes": codes, "weights": _to_prior(codes, growth.weights("valid"), prior)}
            proba = growth.proba("valid")
        self.calibration_ = make_calibration(
            self.calibration,
            prior=prior,
            drawn=data.drawn_shares(growth.subsets[0], weighted=growth.learner.takes_weights),
            proba=proba,
            **held_out,
        )
        self._rule = self.threshold
        if data.n_classes == 2:
            rows = {}
            if held_out:
                rows = {
                    "scores": self.calibration_(proba)[:, data.minority],
                    "positive": held_out["codes"] == data.minority,
                    "weights": held_out["weights"],
                }
            decision = choose_threshold(
                self.threshold, prior=self.calibration_.prior[data.minority], **rows
            )
            self.threshold_, self.expected_precision_, self.expected_recall_ = decision
        return self

    def _check_cross_fitted(self, data: GrowthData) -> None:
        if data.has_validation:
            raise ValueError(
                "calibration='cross-fitted' holds every row out in turn and is for fits without "
                "validation rows: set validation_fraction=None and pass no X_val."
            )
        smallest = len(data.class_rows[data.minority])
        if smallest < 2:
            raise ValueError(
                "calibration='cross-fitted' needs at least 2 rows of each class; the smallest has "
                f"n_samples = {smallest}."
            )

    def _cross_fit(self, growth: Growth) -> np.ndarray:
        """Uncalibrated probabilities of all rows, by ensembles that have not seen them."""
        data, seeds = growth.data, growth.streams
        X, labels = data.tables[0], data.classes[data.codes]
        n_folds = min(_CROSS_FIT_FOLDS, len(data.class_rows[data.minority]))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seeds.integer(Stream.SPLIT, 1))
        plain = {
            "calibration": None,
            "threshold": None,
            "validate_members": False,
            "verbose": 0,
        }
        proba = np.empty((len(labels), data.n_classes))
        for number, (train, rest) in enumerate(folds.split(np.zeros(len(labels)), data.codes)):
            seed = seeds.integer(Stream.SPLIT, 2 + number)
            twin = clone(self).set_params(**plain, random_state=seed)
            weights = None if data.weights is None else data.weights[train]
            with warnings.catch_warnings():
                # What there is to say of ratio and weights was said for the whole data.
                warnings.simplefilter("ignore", UserWarning)
                twin.fit(take_rows(X, train), labels[train], sample_weight=weights)
            proba[rest] = twin.predict_proba(take_rows(X, rest))
        return proba

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
        rows = []
        for number, record in enumerate(self._records, start=1):
            row: dict = {"member": number}
            if any("mu" in other for other in self._records):
                row["mu"] = record.get("mu")
            row["rows"] = record["n_rows"]
            if record.get("score") is not None:
                row["score"] = record["score"]
                for label, error in zip(self.classes_.tolist(), record["errors"], strict=True):
                    row[f"error of {label}"] = float(error)
            rows.append(row)
        notes = [f"Calibration: {self.calibration_.name}."]
        if len(self.classes_) == 2:
            label = self.classes_[self.classes_ == self.minority_class_].tolist()[0]
            note = f"predict says {label!r} from a probability of {self.threshold_:.4f} on"
            if self.expected_recall_ is not None:
                precision = self.expected_precision_
                note += f"; of the held-out rows this finds {self.expected_recall_:.0%}"
                note += "" if precision is None else f", with a precision of {precision:.0%}"
            notes.append(note + ".")
        if len(self.scores_):
            scoring = self.scoring if isinstance(self.scoring, str) else "score"
            notes.insert(
                0,
                f"score: {scoring} of the validation rows; error: mean of 1 - p(true class) of the "
                "validation rows, before calibration.",
            )
        return FitSummary(f"{type(self).__name__}, {len(rows)} members", rows, notes)
