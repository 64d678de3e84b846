"""What a report needs of a fitted model: scores, the rule of `predict`, how it came about."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.utils.validation import check_is_fitted

from metasampler._sklearn_compat import take_rows

#: Rows that are scored at once, so that memory does not grow with the table.
_CHUNK = 100_000

#: Rows by which it is seen that `predict` follows its threshold.
_SAMPLE = 1000

_THRESHOLDS = (FixedThresholdClassifier, TunedThresholdClassifierCV)

_PACKAGES = ("metasampler", "numpy", "scipy", "scikit-learn", "lightgbm", "pandas", "polars")


@dataclass(frozen=True)
class Rule:
    """How `predict` decides between two classes: `label` from a score of `threshold` on."""

    label: Any
    threshold: float
    costs: tuple[float, float] | None = None


@dataclass(frozen=True)
class Scored:
    """The scores of all rows.

    Attributes
    ----------
    each : ndarray of shape (n_rows, n_classes)
        Score of each class.
    are_proba : bool
        Whether they are probabilities.
    """

    each: np.ndarray
    are_proba: bool


def layers(model: Any) -> list[Any]:
    """Return a model and what it wraps, from the outside in: searches, pipelines, thresholds."""
    found = [model]
    while True:
        model = found[-1]
        if hasattr(model, "best_estimator_"):
            found.append(model.best_estimator_)
        elif hasattr(model, "steps") and model.steps:
            found.append(model.steps[-1][1])
        elif isinstance(model, _THRESHOLDS):
            found.append(model.estimator_)
        else:
            return found


def innermost(model: Any) -> Any:
    """Return the classifier inside of searches and pipelines."""
    return layers(model)[-1]


def check_classifier(model: Any) -> None:
    """Refuse what cannot be reported on."""
    check_is_fitted(model)
    if not hasattr(model, "classes_"):
        raise TypeError(f"classifier must be a fitted classifier; got a {type(model).__name__}.")
    if not hasattr(model, "predict_proba") and not hasattr(model, "decision_function"):
        raise TypeError(
            f"classifier must have predict_proba or decision_function; {type(model).__name__} has "
            "neither."
        )


def find_rule(model: Any) -> Rule | None:
    """Return how a classifier of two classes decides; None for more classes."""
    if len(model.classes_) != 2:
        return None
    # The most probable class wins, and of equal ones the first.
    has_proba = hasattr(model, "predict_proba")
    usual = Rule(model.classes_[1], float(np.nextafter(0.5 if has_proba else 0.0, 1)))
    for layer in layers(model):
        if isinstance(layer, TunedThresholdClassifierCV):
            return Rule(model.classes_[1], float(layer.best_threshold_))
        if isinstance(layer, FixedThresholdClassifier):
            label = model.classes_[1] if layer.pos_label is None else layer.pos_label
            if isinstance(layer.threshold, str):
                return Rule(label, 0.5 if has_proba else 0.0)
            return Rule(label, float(layer.threshold))
        if hasattr(layer, "threshold_") and hasattr(layer, "minority_class_"):
            goal = getattr(layer, "threshold", None)
            costs = None
            if isinstance(goal, (tuple, list)) and len(goal) == 3 and goal[0] == "cost":
                costs = (float(goal[1]), float(goal[2]))
            return Rule(layer.minority_class_, float(layer.threshold_), costs)
    return usual


def turned_to(rule: Rule, label: Any, are_proba: bool) -> Rule:
    """Return a rule of two classes as one on the score of the other class."""
    if rule.label == label:
        return rule
    # Called are the rows that the rule does not call: those above, not at, the threshold.
    mirrored = (1 if are_proba else 0) - rule.threshold
    costs = None if rule.costs is None else (rule.costs[1], rule.costs[0])
    return Rule(label, float(np.nextafter(mirrored, np.inf)), costs)


def n_chunks(X: Any) -> int:
    """Return how often `score_rows` advances."""
    return -(-X.shape[0] // _CHUNK)


def score_rows(model: Any, X: Any, advance=lambda note, steps=1: None) -> Scored:
    """Return the score of each class for all rows, chunk by chunk."""
    are_proba = hasattr(model, "predict_proba")
    ask = model.predict_proba if are_proba else model.decision_function
    n_rows = X.shape[0]
    parts = []
    for start in range(0, n_rows, _CHUNK):
        whole = n_rows <= _CHUNK
        part = np.asarray(ask(X if whole else take_rows(X, slice(start, start + _CHUNK))))
        parts.append(np.column_stack([-part, part]) if part.ndim == 1 else part)
        advance("scoring rows")
    each = np.concatenate(parts).astype(float, copy=False)
    if not np.isfinite(each).all():
        raise ValueError("X has rows for which the classifier's scores are not numbers.")
    return Scored(each, are_proba)


def decided(model: Any, scored: Scored) -> np.ndarray | None:
    """Return what `predict` answers for all rows, if the scores alone decide it."""
    within = layers(model)
    wrapped = any(isinstance(layer, _THRESHOLDS) for layer in within)
    decide = getattr(within[-1], "decide", None)
    return None if wrapped or decide is None else np.asarray(decide(scored.each))


def follows(rule: Rule, model: Any, X: Any, scores: np.ndarray, called) -> bool:
    """Return whether `predict` decides by a rule; if `called` is None, as far as some rows show."""
    if called is None:
        rows = np.unique(np.linspace(0, len(scores) - 1, _SAMPLE).astype(np.intp))
        scores, called = scores[rows], np.asarray(model.predict(take_rows(X, rows)))
    return bool(np.array_equal(called == rule.label, scores >= rule.threshold))


def predict_rows(model: Any, X: Any) -> np.ndarray:
    """Return what `predict` answers for all rows, chunk by chunk."""
    n_rows = X.shape[0]
    return np.concatenate(
        [
            np.asarray(model.predict(take_rows(X, slice(start, start + _CHUNK))))
            for start in range(0, n_rows, _CHUNK)
        ]
    )


def seeds(model: Any) -> dict[str, Any]:
    """Return the parameters of a model, and of what it holds, that make it repeatable."""
    return {
        name: value
        for name, value in model.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state"
    }


def versions() -> dict[str, str]:
    """Return the versions of what took part, as far as it is installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
