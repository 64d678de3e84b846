"""List what the benchmark of many classes compares."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from metasampler_bench._frames import FrameClassifier
from metasampler_bench._method import Method, all_rows
from metasampler_bench._table_methods import for_frames

__all__ = ["class_methods", "for_class_frames"]

_N_TREES = 100


def class_methods() -> Iterator[Method]:
    """List what takes part in no other benchmark: the usual choices with balanced weights."""

    def method(name: str, title: str, make: Any) -> Method:
        options: dict[str, Any] = {"uses_base_estimator": False, "sized": False}
        return Method(name, title, "-", make, all_rows, **options)

    def of_sklearn(name: str) -> Any:
        def make(estimator: Any, k: Any, seed: Any, n_jobs: int | None) -> Any:
            kind = getattr(import_module("sklearn.ensemble"), name)
            settings = {} if name.startswith("Hist") else {"n_estimators": _N_TREES}
            return kind(class_weight="balanced", random_state=seed, **settings)

        return make

    yield method(
        "gradient-boosting-balanced",
        "gradient boosting, class weights",
        of_sklearn("HistGradientBoostingClassifier"),
    )
    yield method(
        "random-forest-balanced",
        "random forest, class weights",
        of_sklearn("RandomForestClassifier"),
    )
    yield method(
        "extra-trees-balanced", "extra trees, class weights", of_sklearn("ExtraTreesClassifier")
    )


def for_class_frames(name: str, model: Any) -> Any:
    """Return an unfitted classifier that takes frames; balanced ones as those without weights."""
    if name == "imblearn-easy-ensemble":
        return FrameClassifier(model, takes="numbers")
    return for_frames(name.removesuffix("-balanced"), model)
