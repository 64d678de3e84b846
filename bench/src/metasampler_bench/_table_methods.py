"""List what the benchmark of tables compares beside the registry, and how each takes a frame."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from metasampler_bench._frames import FrameClassifier
from metasampler_bench._method import Method, all_rows
from metasampler_bench._tuning import TunedLightGBM
from metasampler_bench._usual_methods import KE_2017

__all__ = ["BUDGETS", "for_frames", "table_methods"]

#: The most levels of a category that scikit-learn's HistGradientBoosting takes.
_MAX_LEVELS = 255

#: Whose CPU time a tuned method gets.
BUDGETS = {"lightgbm-tuned": "mesa", "lightgbm-tuned-long": "mesa-best"}

_NEEDS_NUMBERS = {
    "random-forest",
    "extra-trees",
    "balanced-forest",
    "easy-ensemble",
    "spe-lightgbm",
}


def table_methods() -> Iterator[Method]:
    """List what takes part in no other benchmark.

    The tuned booster gives another result in every run, since its budget is a time.
    """

    def make_tuned(estimator: Any, k: Any, seed: Any, n_jobs: int | None) -> Any:
        return TunedLightGBM(random_state=seed)

    def make_catboost(estimator: Any, k: Any, seed: Any, n_jobs: int | None) -> Any:
        return import_module("catboost").CatBoostClassifier(
            thread_count=1 if n_jobs is None else n_jobs,
            random_seed=seed,
            verbose=False,
            allow_writing_files=False,
        )

    def method(name: str, title: str, make: Any, reference: str, requires: str) -> Method:
        options = {"uses_base_learner": False, "sized": False, "requires": requires}
        return Method(name, title, "-", make, all_rows, reference, **options)  # type: ignore[arg-type]

    for name, preset in (("lightgbm-tuned", "default"), ("lightgbm-tuned-long", "best")):
        title = f"LightGBM, tuned in the {preset}'s CPU time"
        yield method(name, title, make_tuned, KE_2017, "boosters")
    yield method(
        "catboost",
        "CatBoost",
        make_catboost,
        "L. Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, "
        "NeurIPS 2018",
        "catboost",
    )


def for_frames(name: str, model: Any) -> Any:
    """Return an unfitted classifier that takes frames, with categories where it knows them.

    Parameters
    ----------
    name : str
        Name of the method.
    model : classifier
        What the method's `build` gave.
    """
    if name.startswith("mesa"):
        return model
    if name in _NEEDS_NUMBERS:
        return FrameClassifier(model, takes="numbers")
    if name == "gradient-boosting":
        return FrameClassifier(model, max_levels=_MAX_LEVELS)
    if name == "xgboost":
        # Without the wrapper that weighs classes, which takes no categories.
        return FrameClassifier(model.estimator.set_params(enable_categorical=True))
    if name == "catboost":
        return FrameClassifier(model, takes="codes")
    return FrameClassifier(model)
