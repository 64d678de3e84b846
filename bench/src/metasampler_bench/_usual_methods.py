"""List what a user would otherwise pick: forests and gradient boosting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from metasampler_bench._ensemble_methods import LIU_2009
from metasampler_bench._method import Method, all_rows, all_rows_each
from metasampler_bench._weighting import WeightedClassifier

__all__ = ["KE_2017", "usual_choices"]

#: Members of what grows without the base estimator; the usual default.
_N_TREES = 100

KE_2017 = "G. Ke et al., LightGBM: A highly efficient gradient boosting decision tree, NIPS 2017"
_CHEN_2016 = "T. Chen, C. Guestrin, XGBoost: A scalable tree boosting system, KDD 2016"


def _rows_of_pipelines(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    # imbalanced-learn's ensembles hide the draw inside each member: sampler, then classifier.
    return sum(len(member[0].sample_indices_) for member in fitted.estimators_)


def _rows_of_samplers(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    return sum(len(sampler.sample_indices_) for sampler in fitted.samplers_)


def _rows_of_hist_boosting(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    held_out = fitted.do_early_stopping_ and fitted.validation_fraction is not None
    # Rounded up, as scikit-learn's train_test_split does.
    n_held_out = -int(-n_rows * fitted.validation_fraction // 1) if held_out else 0
    return (n_rows - n_held_out) * int(fitted.n_iter_)


def _rows_of_lightgbm(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    return n_rows * int(fitted.n_estimators_)


def _rows_of_xgboost(fitted: Any, n_rows: int, n_members: int | None = None) -> int:
    return n_rows * int(fitted.estimator_.get_booster().num_boosted_rounds())


def usual_choices() -> Iterator[Method]:
    """List what a user would otherwise pick: none of these takes the base estimator."""

    def choice(
        name: str,
        title: str,
        make: Callable[..., Any],
        count_rows: Callable[[Any, int, int | None], int],
        reference: str = "",
        *,
        sized: bool = False,
        requires: str | None = None,
    ) -> Method:
        return Method(
            name,
            title,
            "-",
            make,
            count_rows,
            reference,
            uses_base_estimator=False,
            sized=sized,
            requires=requires,
        )

    def make_balanced_forest(estimator: Any, k: int, seed: Any, n_jobs: int | None) -> Any:
        from imblearn.ensemble import BalancedRandomForestClassifier

        # The forest of its paper; spelled out because the defaults have changed over time.
        return BalancedRandomForestClassifier(
            n_estimators=k,
            sampling_strategy="all",
            replacement=True,
            bootstrap=False,
            n_jobs=n_jobs,
            random_state=seed,
        )

    def make_imblearn_easy_ensemble(estimator: Any, k: int, seed: Any, n_jobs: int | None) -> Any:
        from imblearn.ensemble import EasyEnsembleClassifier

        return EasyEnsembleClassifier(n_estimators=k, n_jobs=n_jobs, random_state=seed)

    def lightgbm(class_weight: str | None, **settings: Any) -> Callable[..., Any]:
        def make(estimator: Any, k: int, seed: Any, n_jobs: int | None) -> Any:
            # By name, since the types of an extra need not be there to be checked. None would
            # mean all cores to it, and one everywhere else.
            return import_module("lightgbm").LGBMClassifier(
                class_weight=class_weight,
                n_jobs=1 if n_jobs is None else n_jobs,
                random_state=seed,
                verbosity=-1,
                **{"n_estimators": _N_TREES, **settings},
            )

        return make

    def xgboost(class_weight: str | None) -> Callable[..., Any]:
        def make(estimator: Any, k: int, seed: Any, n_jobs: int | None) -> Any:
            trees = import_module("xgboost").XGBClassifier(
                n_estimators=_N_TREES, n_jobs=1 if n_jobs is None else n_jobs, random_state=seed
            )
            return WeightedClassifier(trees, class_weight=class_weight)

        return make

    yield choice(
        "tree",
        "decision tree",
        lambda estimator, k, seed, n_jobs: DecisionTreeClassifier(random_state=seed),
        all_rows,
        "L. Breiman et al., Classification and Regression Trees, 1984",
    )
    yield choice(
        "random-forest",
        "random forest",
        lambda estimator, k, seed, n_jobs: RandomForestClassifier(
            _N_TREES, n_jobs=n_jobs, random_state=seed
        ),
        all_rows_each,
        "L. Breiman, Random forests, Machine Learning 45, 2001",
    )
    yield choice(
        "extra-trees",
        "extra trees",
        lambda estimator, k, seed, n_jobs: ExtraTreesClassifier(
            _N_TREES, n_jobs=n_jobs, random_state=seed
        ),
        all_rows_each,
        "P. Geurts, D. Ernst, L. Wehenkel, Extremely randomized trees, Machine Learning 63, 2006",
    )
    yield choice(
        "gradient-boosting",
        "gradient boosting",
        lambda estimator, k, seed, n_jobs: HistGradientBoostingClassifier(random_state=seed),
        _rows_of_hist_boosting,
        "J. H. Friedman, Greedy function approximation: a gradient boosting machine, Annals of "
        "Statistics 29, 2001",
    )
    yield choice(
        "balanced-forest",
        "BalancedRandomForest",
        make_balanced_forest,
        _rows_of_samplers,
        "C. Chen, A. Liaw, L. Breiman, Using random forest to learn imbalanced data, 2004",
        sized=True,
    )
    yield choice(
        "imblearn-easy-ensemble",
        "EasyEnsemble (imbalanced-learn)",
        make_imblearn_easy_ensemble,
        _rows_of_pipelines,
        LIU_2009,
        sized=True,
    )
    for name, title, make, count_rows, reference in (
        ("lightgbm", "LightGBM", lightgbm, _rows_of_lightgbm, KE_2017),
        ("xgboost", "XGBoost", xgboost, _rows_of_xgboost, _CHEN_2016),
    ):
        yield choice(name, title, make(None), count_rows, reference, requires="boosters")
        yield choice(
            f"{name}-balanced",
            f"{title}, class weights",
            make("balanced"),
            count_rows,
            reference,
            requires="boosters",
        )
    yield choice(
        "lightgbm-slow",
        "LightGBM, 300 slow rounds",
        lightgbm(None, n_estimators=300, learning_rate=0.05, colsample_bytree=0.5),
        _rows_of_lightgbm,
        KE_2017,
        requires="boosters",
    )
