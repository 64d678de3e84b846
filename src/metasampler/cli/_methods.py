"""The methods that ``metasampler compare`` knows.

Builders import what they build, so that listing the names costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Method:
    """How to build one method, and how to count the rows it was trained on.

    Attributes
    ----------
    build : callable
        ``build(n_estimators, seed, n_jobs)`` gives an unfitted classifier.

    rows_used : callable
        ``rows_used(fitted, n_rows)``: the rows the members were trained on, summed over members.

    color, dashes : str
        Line of the method in the picture. The same in every picture, whatever is filtered out.
    """

    build: Callable[[int, int, int], Any]
    rows_used: Callable[[Any, int], int]
    color: str
    dashes: str = "-"


def _build_mesa(n_estimators: int, seed: int, n_jobs: int, meta_sampler: str = "default") -> Any:
    from metasampler import MesaClassifier

    return MesaClassifier(
        n_estimators=n_estimators, meta_sampler=meta_sampler, n_jobs=n_jobs, random_state=seed
    )


def _build_mesa_fit(n_estimators: int, seed: int, n_jobs: int) -> Any:
    return _build_mesa(n_estimators, seed, n_jobs, meta_sampler="fit")


def _build_under_bagging(n_estimators: int, seed: int, n_jobs: int) -> Any:
    from imblearn.ensemble import BalancedBaggingClassifier

    # Without the bootstrap each member gets every minority row, as in MESA: what differs is only
    # how majority rows are drawn.
    return BalancedBaggingClassifier(
        n_estimators=n_estimators, bootstrap=False, n_jobs=n_jobs, random_state=seed
    )


def _build_balanced_forest(n_estimators: int, seed: int, n_jobs: int) -> Any:
    from imblearn.ensemble import BalancedRandomForestClassifier

    return BalancedRandomForestClassifier(
        n_estimators=n_estimators, n_jobs=n_jobs, random_state=seed
    )


def _build_rus_boost(n_estimators: int, seed: int, n_jobs: int) -> Any:
    from imblearn.ensemble import RUSBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    # Full trees, as all other ensembles here have; the default would be stumps.
    return RUSBoostClassifier(
        DecisionTreeClassifier(), n_estimators=n_estimators, random_state=seed
    )


def _build_easy_ensemble(n_estimators: int, seed: int, n_jobs: int) -> Any:
    from imblearn.ensemble import EasyEnsembleClassifier

    return EasyEnsembleClassifier(n_estimators=n_estimators, n_jobs=n_jobs, random_state=seed)


def _build_tree(n_estimators: int, seed: int, n_jobs: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed)


def _build_forest(n_estimators: int, seed: int, n_jobs: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, n_jobs=n_jobs, random_state=seed)


def _build_boosting(n_estimators: int, seed: int, n_jobs: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def _rows_of_mesa(fitted: Any, n_rows: int) -> int:
    return sum(len(rows) for rows in fitted.estimators_samples_)


def _rows_of_pipelines(fitted: Any, n_rows: int) -> int:
    # imbalanced-learn's bagging hides the draw inside each member: sampler first, learner second.
    return sum(len(member[0].sample_indices_) for member in fitted.estimators_)


def _rows_of_samplers(fitted: Any, n_rows: int) -> int:
    return sum(len(sampler.sample_indices_) for sampler in fitted.samplers_)


def _rows_of_one(fitted: Any, n_rows: int) -> int:
    return n_rows


def _rows_of_all_members(fitted: Any, n_rows: int) -> int:
    return n_rows * len(fitted.estimators_)


def _rows_of_boosting(fitted: Any, n_rows: int) -> int:
    return n_rows * int(fitted.n_iter_)


# Colours of Okabe and Ito, which colour-blind readers can tell apart.
METHODS: dict[str, Method] = {
    "MESA": Method(_build_mesa, _rows_of_mesa, "#D55E00"),
    "MESA, meta-trained": Method(_build_mesa_fit, _rows_of_mesa, "#E69F00"),
    "uniform under-sampling": Method(_build_under_bagging, _rows_of_pipelines, "#0072B2"),
    "BalancedRandomForest": Method(_build_balanced_forest, _rows_of_samplers, "#56B4E9"),
    "RUSBoost": Method(_build_rus_boost, _rows_of_samplers, "#009E73"),
    "EasyEnsemble": Method(_build_easy_ensemble, _rows_of_pipelines, "#CC79A7"),
    "decision tree": Method(_build_tree, _rows_of_one, "#777777", ":"),
    "random forest": Method(_build_forest, _rows_of_all_members, "#000000", "--"),
    "gradient boosting": Method(_build_boosting, _rows_of_boosting, "#009E73", "--"),
}
