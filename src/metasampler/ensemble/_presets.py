"""Settings of MESA that go together, by name."""

from collections.abc import Callable
from typing import Any

from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

__all__ = ["PRESETS", "default_members", "preset_settings"]


def default_members() -> list:
    """The kinds of members that take turns by default.

    Trees that look for the best split and trees that draw it at random err on different rows:
    sixty of both rank with a hundred of the first kind, at 0.6 of the cost
    (`benchmarks/members.py`). Fifty are what four times LightGBM's CPU time allows on larger data.
    """
    return [
        DecisionTreeClassifier(criterion="entropy", max_features="sqrt", min_samples_leaf=2),
        ExtraTreeClassifier(criterion="entropy", max_features=0.5),
    ]


def _paper() -> dict[str, Any]:
    return {
        "estimator": DecisionTreeClassifier(),
        "n_estimators": 10,
        "meta_sampler": "fit",
        "rivals": None,
        "calibration": None,
        "threshold": 0.5,
        "leaf_smoothing": 0.0,
        "n_candidates": 1,
        "refit": False,
    }


def _fast() -> dict[str, Any]:
    return {"n_estimators": 12, "validation_fraction": None, "meta_sampler": 0.9}


def _best() -> dict[str, Any]:
    # Four times the members, and four times the cost.
    return {"n_estimators": 200}


#: What differs from the defaults of the constructor. Functions, so that no two classifiers share a
#: base learner.
PRESETS: dict[str, Callable[[], dict[str, Any]]] = {
    "default": dict,
    "fast": _fast,
    "best": _best,
    "paper": _paper,
}


def preset_settings(name: str) -> dict[str, Any]:
    """The parameters that a preset sets."""
    if name not in PRESETS:
        names = ", ".join(map(repr, PRESETS))
        raise ValueError(f"There is no preset {name!r}; the names are {names}.")
    return PRESETS[name]()
