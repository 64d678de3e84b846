"""List what the benchmark of tables compares beside the registry, and how each takes a frame."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from metasampler_bench._automl import (
    CatBoostOnSample,
    TimedAutoGluon,
    TimedFLAML,
    TunedDefaults,
)
from metasampler_bench._frames import FrameClassifier
from metasampler_bench._method import Method, all_rows
from metasampler_bench._tuning import TunedLightGBM
from metasampler_bench._usual_methods import KE_2017

__all__ = ["BUDGETS", "for_frames", "table_methods"]

_PROKHORENKOVA_2018 = (
    "L. Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, NeurIPS 2018"
)

#: The most levels of a category that scikit-learn's HistGradientBoosting takes.
_MAX_LEVELS = 255

#: What AutoML packages get: the CPU time of a preset, or a multiple of it.
_AUTOML = {
    "": ("mesa", 1, "in the default's CPU time"),
    "-long": ("mesa-best", 1, "in the best's CPU time"),
    "-longest": ("mesa-best", 10, "in ten times the best's CPU time"),
}

#: Whose CPU time a method gets that is given a budget, and how many times that.
BUDGETS: dict[str, tuple[str, int]] = {
    "lightgbm-tuned": ("mesa", 1),
    "lightgbm-tuned-long": ("mesa-best", 1),
    **{
        f"{package}{size}": (owner, times)
        for package in ("flaml", "autogluon-medium", "autogluon-best")
        for size, (owner, times, _) in _AUTOML.items()
    },
}

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

    def maker(cls: Any, **options: Any) -> Any:
        def make(estimator: Any, k: Any, seed: Any, n_jobs: int | None) -> Any:
            return cls(random_state=seed, **options)

        return make

    def method(name: str, title: str, make: Any, reference: str, requires: str) -> Method:
        options = {"uses_base_estimator": False, "sized": False, "requires": requires}
        return Method(name, title, "-", make, all_rows, reference, **options)  # type: ignore[arg-type]

    for name, preset in (("lightgbm-tuned", "default"), ("lightgbm-tuned-long", "best")):
        title = f"LightGBM, tuned in the {preset}'s CPU time"
        yield method(name, title, make_tuned, KE_2017, "boosters")
    yield method(
        "catboost",
        "CatBoost",
        make_catboost,
        _PROKHORENKOVA_2018,
        "catboost",
    )
    yield method(
        "catboost-sample",
        "CatBoost, at most 20,000 rows",
        maker(CatBoostOnSample),
        _PROKHORENKOVA_2018,
        "catboost",
    )
    for booster, title, extra in (
        ("lightgbm", "LightGBM", "boosters"),
        ("catboost", "CatBoost", "catboost"),
    ):
        yield method(
            f"{booster}-tuned-defaults",
            f"{title}, published tuned defaults",
            maker(TunedDefaults, booster=booster),
            "D. Holzmüller et al., Better by default: Strong pre-tuned MLPs and boosted trees on "
            "tabular data, NeurIPS 2024",
            extra,
        )
    for size, (*_, budget) in _AUTOML.items():
        yield method(
            f"flaml{size}",
            f"FLAML {budget}",
            maker(TimedFLAML),
            "C. Wang et al., FLAML: A fast and lightweight AutoML library, MLSys 2021",
            "automl",
        )
        for quality in ("medium", "best"):
            yield method(
                f"autogluon-{quality}{size}",
                f"AutoGluon, {quality} quality, {budget}",
                maker(TimedAutoGluon, preset=f"{quality}_quality"),
                "N. Erickson et al., AutoGluon-Tabular: Robust and accurate AutoML for structured "
                "data, 2020",
                "automl",
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
    if name.startswith("catboost"):
        return FrameClassifier(model, takes="codes")
    return FrameClassifier(model)
