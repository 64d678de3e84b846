"""What the files say of any estimator: its parameters, its columns and its classes."""

import os
import re
from typing import Any

import numpy as np

from metasampler.persistence._trees import MOST_CLASSES, MOST_COLUMNS
from metasampler.persistence._values import State, is_plain, is_whole

__all__ = [
    "LONGEST_NAME",
    "MOST_JOBS",
    "build_parameters",
    "check_columns",
    "export_estimator",
    "is_estimator",
    "take_classes",
    "take_columns",
]

#: Characters of the name of a column or a step, which is part of many other names.
LONGEST_NAME = 1000

# Threads and processes that a stranger may ask for; no more are started than there are processors.
MOST_JOBS = 512
_DISPATCH = re.compile(r"all|n_jobs|\d{1,2} ?\* ?n_jobs")

# Parameters that are files or folders: they are of the computer that fitted.
_PLACES = ("memory",)

_OUTPUT = "_sklearn_output_config"


def export_estimator(estimator: Any, dropped: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return all that an estimator holds, parameters first, but what its constructor sets."""
    parameters = estimator.get_params(deep=False)
    dropped = (*dropped, *vars(type(estimator)(**parameters)))
    for name in _PLACES:
        if name in parameters:
            parameters[name] = None
    for name, value in parameters.items():
        if isinstance(value, os.PathLike):
            parameters[name] = os.fspath(value)
    learned = {
        name: value
        for name, value in vars(estimator).items()
        if name not in parameters and name not in dropped
    }
    # First what an error should name first.
    classes = {"classes_": learned.pop("classes_")} if "classes_" in learned else {}
    return parameters | classes | learned


def build_parameters(state: State, kind: type) -> Any:
    """Return an estimator that is not fitted, with the parameters of a state."""
    names = kind._get_param_names()  # type: ignore[attr-defined]
    parameters = {name: state.any(name) for name in names if name in state}
    state.reader.count("values in settings", sum(map(_n_inside, parameters.values())))
    for name, value in parameters.items():
        if name == "pre_dispatch" and isinstance(value, str):
            # joblib computes it.
            if not _DISPATCH.fullmatch(value):
                raise state.refuse(name, value)
        elif name in ("n_jobs", "pre_dispatch") and value is not None:
            if not is_whole(value, -MOST_JOBS, MOST_JOBS):
                raise state.refuse(name, value)
            if name == "n_jobs":
                # Some estimators start a process for each.
                parameters[name] = min(value, max(1, os.cpu_count() or 1))
        if name in _PLACES and value is not None:
            raise state.refuse(name, value)
    estimator = kind(**parameters)
    if _OUTPUT in state:
        config = state.where_true(
            _OUTPUT, lambda of: is_plain(of) and isinstance(of, dict) and list(of) == ["transform"]
        )
        estimator._sklearn_output_config = config
    return estimator


def _n_inside(value: Any) -> int:
    """Return the number of values in lists, tuples and dicts."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if not isinstance(value, (list, tuple)):
        return 0
    return len(value) + sum(map(_n_inside, value))


def take_columns(state: State) -> dict[str, Any]:
    """Return the number and the names of the columns, which become the size ``p``.

    scikit-learn compares a table with the number alone, so names without it are refused.
    """
    found: dict[str, Any] = {}
    if "n_features_in_" in state:
        n_columns = state.whole("n_features_in_", 1, MOST_COLUMNS)
        found["n_features_in_"] = int(n_columns)
        if state.sizes.setdefault("p", int(n_columns)) != n_columns:
            raise state.refuse("n_features_in_", n_columns)
    if "feature_names_in_" in state:
        if "p" not in state.sizes:
            raise state.refuse("n_features_in_", None)
        names = state.array("feature_names_in_", "OU", "p")
        if not all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in names.tolist()):
            raise state.refuse("feature_names_in_", names)
        found["feature_names_in_"] = names
    return found


def take_classes(state: State, name: str = "classes_") -> np.ndarray:
    """Return the classes, whose number becomes the size ``c``."""
    classes = state.array(name, "biufUO", "c")
    labels = classes.tolist()
    good = 1 <= len(labels) <= MOST_CLASSES and len(set(map(_key, labels))) == len(labels)
    if not good or not all(map(_is_label, labels)):
        raise state.refuse(name, classes)
    return classes


def _key(label: Any) -> Any:
    # A list has no hash.
    return label if isinstance(label, (str, int, float)) else None


def _is_label(label: Any) -> bool:
    return isinstance(label, (str, int)) or (isinstance(label, float) and np.isfinite(label))


def is_estimator(value: Any) -> bool:
    """Return whether this is an object with parameters, and not a class of such objects."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def check_columns(member: Any, n_columns: int, n_classes: int | None, state: State) -> None:
    """Refuse a member that takes other columns, or knows another number of classes."""
    if hasattr(member, "n_rounds_"):
        # A boosted member, which knows the number of classes alone.
        found, classes = member.booster_.num_feature(), member.n_classes
    else:
        # A pipeline may begin with a step that knows none; those after it compare.
        unknown = n_columns if hasattr(member, "steps") else None
        found = getattr(member, "n_features_in_", unknown)
        classes = len(member.classes_)
    if found != n_columns or (n_classes is not None and classes != n_classes):
        raise ValueError(
            f"{state.where} has a {type(member).__name__} of {found} columns and {classes} "
            f"classes, and {n_columns} and {n_classes} itself."
        )
