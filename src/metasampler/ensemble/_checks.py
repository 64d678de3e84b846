"""What a fit refuses before any work: impossible settings, and a warm start of another fit."""

import sys
from numbers import Integral, Real
from typing import Any

import numpy as np

from metasampler._sklearn_compat import check_sample_weight, take_rows
from metasampler._warnings import warn_user
from metasampler.ensemble._class_decision import check_class_goal
from metasampler.ensemble._teams import Plan
from metasampler.growth import GrowthData, check_labels, check_scoring, fingerprint, join_tables

# With fewer rows of a class nothing that is learned from held-out ones can be trusted: of nine, two
# are held out.
_FEW_ROWS = 10

# Below it a new calibration would be chance.
_FEWEST_TO_RECALIBRATE = 5

# How many values a goal has, and the largest that each may be.
_GOALS = {"recall": (1, 1), "precision": (1, 1), "cost": (2, sys.float_info.max), "top": (1, 1)}
_ALLOWED = (
    "None, 'balanced', a number in (0, 1), 'f1', 'mcc', ('recall', r), ('precision', p), "
    "('cost', fn_cost, fp_cost), or ('top', share) with a share of the rows in (0, 1)"
)

# What an error calls the rows, by the names of their facts.
_ROWS = {
    "X": "X and X_val",
    "y": "y and y_val",
    "sample_weight": "sample_weight",
    "groups": "groups",
}


def check_fit(ensemble, plan: Plan, data: GrowthData) -> tuple[bool, dict[str, Any]]:
    """Refuse what is impossible; return whether there is a refit, and facts for a warm start."""
    _check_settings(ensemble, plan, data)
    refits = ensemble.refit
    if refits == "auto":
        taken_from_X = data.has_validation and not data.validation_is_apart
        refits = taken_from_X and not ensemble.warm_start and not plan.rotates
    if refits:
        return True, {}
    of_rows = {"the number of rows": data.n_rows, "classes": data.classes.tolist()}
    facts = _facts_of({name: getattr(ensemble, name) for name in ensemble._resume_parameters})
    if ensemble.warm_start:  # other fits need no fingerprints, which take a look at all rows
        of_rows |= data.fingerprints()
    for name, value in of_rows.items():
        facts[name] = value, repr(value)
    if ensemble._resumes():
        _check_resumable(ensemble, plan, facts)
    return False, facts


def _check_settings(ensemble, plan: Plan, data: GrowthData) -> None:
    """Refuse, before any work, what the rows or other parameters make impossible."""
    check_threshold(ensemble.threshold, data.classes, held_out=data.has_validation)
    # Also where no rows are held out to be scored.
    check_scoring(ensemble.scoring, data.n_classes)
    if not data.has_validation:
        needs = None
        if ensemble.calibration == "sigmoid":
            needs = "calibration='sigmoid' is fitted on"
        elif ensemble.refit is True:
            needs = "refit=True gives back"
        if needs:
            raise ValueError(
                f"{needs} validation rows: pass X_val and y_val, or a validation_fraction."
            )
    if ensemble.refit is True and plan.rotates:
        raise ValueError(
            "refit=True has no rows to give back: the default members leave rows out in "
            "rotation, so that every row is used. Set refit='auto', or an estimator."
        )
    if ensemble.refit is True and ensemble.warm_start:
        raise ValueError(
            "refit=True replaces the members that warm_start=True keeps: set one of them to False."
        )
    if ensemble.refit is True and data.validation_is_apart:
        # One row of each shows whether they can be put into one.
        join_tables(*(take_rows(table, slice(0, 1)) for table in data.tables))
    counts = data.role_counts("all")
    if data.n_classes > 2 and counts.min() < _FEW_ROWS:
        n_few = int(np.sum(counts < _FEW_ROWS))
        few = np.argsort(counts, kind="stable")[: min(n_few, 3)]
        shown = ", ".join(f"{label!r:.80}" for label in data.classes[few].tolist())
        warn_user(
            f"The smallest classes have fewer than {_FEW_ROWS} rows: {shown}"
            f"{', ...' if n_few > 3 else ''} ({n_few} of {data.n_classes}). What held-out rows say "
            "of them is mostly chance."
        )
    elif counts.min() < _FEW_ROWS:
        label = data.classes[[int(np.argmin(counts))]].tolist()[0]
        warn_user(
            f"The smallest class, {label!r:.80}, has {counts.min()} rows. With fewer than "
            f"{_FEW_ROWS} the threshold, the calibration, what is expected of them and every "
            "validation score are mostly chance: trust the order of the rows at most."
        )


def check_labelled(ensemble, X, y, sample_weight) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the classes of labelled rows as positions, and their weights."""
    y = check_labels(y, X, owner=ensemble)
    classes = ensemble.classes_.tolist()
    places = {label: place for place, label in enumerate(classes)}
    codes = np.array([places.get(label, -1) for label in y.tolist()], dtype=np.intp)
    if (codes < 0).any():
        unknown = list(dict.fromkeys(np.asarray(y)[codes < 0].tolist()))[:10]
        raise ValueError(
            f"y has labels that fit did not see, {unknown}; its classes are {classes}."
        )
    check_counts(codes, ensemble.classes_)
    if sample_weight is None:
        return codes, None
    weights = check_sample_weight(sample_weight, X, ensure_non_negative=True)
    if np.bincount(codes, weights).min() <= 0:
        raise ValueError("sample_weight is zero for all rows of a class.")
    return codes, weights


def check_counts(codes: np.ndarray, classes: np.ndarray) -> None:
    """Refuse to calibrate by too few rows of a class."""
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < _FEWEST_TO_RECALIBRATE:
        label = classes.tolist()[int(np.argmin(counts))]
        raise ValueError(
            f"y has {counts.min()} rows of class {label!r}; recalibrate needs at least "
            f"{_FEWEST_TO_RECALIBRATE} of each class."
        )


def check_threshold(threshold: Any, classes: np.ndarray, *, held_out: bool) -> None:
    """Refuse a threshold that is not valid, or that needs held-out rows that are missing."""
    if len(classes) > 2:
        check_class_goal(threshold, classes)
    elif threshold is None or (isinstance(threshold, str) and threshold == "balanced"):
        return
    elif not _means_something(threshold):
        hint = " For a number of rows call top_rows(X, n)." if _is_number_of_rows(threshold) else ""
        raise ValueError(f"threshold must be {_ALLOWED}; got {threshold!r:.200}.{hint}")
    if needs_held_out_rows(threshold) and not held_out:
        raise ValueError(
            f"threshold={threshold!r} is tuned on validation rows: pass X_val and y_val, or a "
            "validation_fraction."
        )


def _means_something(threshold: Any) -> bool:
    if isinstance(threshold, str):
        return threshold in ("f1", "mcc")
    if not isinstance(threshold, (tuple, list)):
        # A Decimal is not a Real, and does not compare with floats either.
        # A whole number may be too large for a float, so it is compared as it is.
        return isinstance(threshold, Real) and threshold < 1 and not threshold <= 0
    name, *values = threshold or [None]
    n_values, most = _GOALS.get(str(name), (-1, 0))
    numbers = [v for v in values if isinstance(v, Real) and not isinstance(v, bool)]
    if not len(numbers) == len(values) == n_values:
        return False
    if name == "top":
        return 0 < values[0] < 1
    # Compared as they are: a whole number may be too large for a float.
    return all(0 < value <= most for value in values)


def _is_number_of_rows(threshold: Any) -> bool:
    is_top = isinstance(threshold, (tuple, list)) and len(threshold) == 2 and threshold[0] == "top"
    return is_top and isinstance(threshold[1], Integral) and int(threshold[1]) > 0


def needs_held_out_rows(threshold) -> bool:
    """Return whether a threshold that means something is tuned on held-out rows."""
    if threshold is None or isinstance(threshold, Real):
        return False
    if isinstance(threshold, str):
        return threshold != "balanced"
    # Prices of classes, or of mistakes, decide by probabilities alone.
    return threshold[0] != "cost" or isinstance(threshold[1], Real)


# ---------------------------------------------------------------------- warm starts


def _check_resumable(ensemble, plan: Plan, facts: dict[str, Any]) -> None:
    """Refuse a warm start that cannot continue the fit before it."""
    if ensemble.refit_:
        raise ValueError(
            "warm_start=True cannot grow on: the members were refitted on all rows. Set "
            "warm_start=True, or refit=False, before the first fit."
        )
    for name, (value, shown) in facts.items():
        if name in _ROWS and name not in ensemble._facts:
            continue  # the fit before was no warm start
        old, old_shown = ensemble._facts.get(name, (None, "None"))
        # A parameter that is NaN, as an imputer has, is the same NaN.
        if old == value or (old != old and value != value):
            continue
        if name == "classes":
            raise ValueError(
                f"warm_start=True needs the classes of the first fit, {old_shown}; y has {shown}."
            )
        change = f"{name} was {old_shown} and is now {shown}."
        if name in _ROWS:
            change = (
                f"{_ROWS[name]} are not those of the fit before: pass the same rows, or set "
                "warm_start=False."
            )
        raise ValueError(f"warm_start=True grows the same fit further, but {change}")
    if plan.n_members < ensemble._n_grown:
        raise ValueError(
            f"n_estimators={ensemble.n_estimators} must be at least {ensemble._n_grown}, the "
            "number of members there are, when warm_start=True."
        )


def _facts_of(parameters: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    """Return what parameters are, then their parts below them: what is compared, what is shown."""
    facts: dict[str, tuple[Any, str]] = {}
    for name, value in parameters.items():
        if isinstance(value, (list, tuple)):
            parts = {f"{name}[{i}]": entry for i, entry in enumerate(value)}
            below = _facts_of(parts)
            shown = ", ".join(below[part][1] for part in parts)
            facts |= {name: (f"a list of {len(value)}", f"[{shown}]"), **below}
        elif hasattr(value, "get_params") and not isinstance(value, type):
            kind = f"a {type(value).__name__}"
            learned = getattr(getattr(value, "policy_", None), "parameters", None)
            parts = {**value.get_params(deep=False), "policy_": learned}
            below = _facts_of({f"{name}'s {key}": part for key, part in parts.items()})
            facts |= {name: (kind, kind), **below}
        else:
            plain = value is None or callable(value) or isinstance(value, (str, Real))
            if isinstance(value, dict):
                value = repr(value)
            elif isinstance(value, np.ndarray):
                value = f"an array {fingerprint(value)}"
            elif not plain:
                value = f"a {type(value).__name__}"
            facts[name] = value, repr(value)
    return facts
