"""What a fit refuses before any work: settings that are impossible."""

import sys
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

from metasampler._sklearn_compat import take_rows
from metasampler.ensemble._teams import Plan
from metasampler.growth import GrowthData, join_tables, kinds_of, weight_argument

# With fewer rows of a class nothing that is learned from held-out ones can be trusted: of nine, two
# are held out.
_FEW_ROWS = 10

_GOALS = ("f1", "mcc")
_GOALS_WITH_VALUES = {"recall": 1, "precision": 1, "cost": 2, "top": 1}
_ALLOWED = (
    "None, 'balanced', a number in (0, 1), 'f1', 'mcc', ('recall', r), ('precision', p), "
    "('cost', fn_cost, fp_cost), or ('top', n) with a number of rows or a share in (0, 1)"
)


def check_fit(ensemble, plan: Plan, data: GrowthData) -> bool:
    """Refuse what the rows or other parameters make impossible.

    Return whether the members are going to be fitted again on all rows, which "auto" does where
    rows were taken from X.
    """
    _check_threshold(ensemble.threshold, data.n_classes)
    if not data.has_validation:
        needs = None
        if ensemble.calibration == "sigmoid":
            needs = "calibration='sigmoid' is fitted on"
        elif needs_held_out_rows(ensemble.threshold):
            needs = f"threshold={ensemble.threshold!r} is tuned on"
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
    if ensemble.refit is True and data.validation_is_apart:
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
            stacklevel=4,
        )
    if ensemble.refit == "auto":
        return data.has_validation and not data.validation_is_apart and not plan.rotates
    return ensemble.refit


def _check_threshold(threshold: Any, n_classes: int) -> None:
    """Refuse a threshold that means nothing, before any work."""
    if threshold is None or threshold == "balanced":
        return
    if not _means_something(threshold):
        raise ValueError(f"threshold must be {_ALLOWED}; got {threshold!r:.200}.")
    if n_classes > 2:
        raise ValueError(
            f"threshold={threshold!r} is for two classes, y has {n_classes}; None and 'balanced' "
            "work for any number."
        )


def _means_something(threshold: Any) -> bool:
    if isinstance(threshold, str):
        return threshold in _GOALS
    if isinstance(threshold, Real):
        return _is_good("probability", threshold)
    name, *values = threshold or [None]
    n_values = _GOALS_WITH_VALUES.get(name) if isinstance(name, str) else None
    return n_values == len(values) and all(_is_good(name, value) for value in values)


def _is_good(name: str, value: Any) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number:
        return False
    if name == "top" and isinstance(value, Integral):
        return int(value) > 0
    if name in ("probability", "top"):
        return 0 < value < 1
    # Compared as it is: a whole number may be too large for a float.
    return 0 < value <= (sys.float_info.max if name == "cost" else 1)


def needs_held_out_rows(threshold) -> bool:
    """Return whether a threshold that means something is tuned on held-out rows."""
    return not (threshold is None or isinstance(threshold, Real) or threshold == "balanced")
