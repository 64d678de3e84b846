"""The loader of `lightgbm.LGBMClassifier`: as a template of members, and fitted by itself."""

from typing import Any

import numpy as np
from lightgbm import Booster, LGBMClassifier
from sklearn.preprocessing import LabelEncoder

from metasampler.persistence._booster_loaders import BoosterText
from metasampler.persistence._estimators import MOST_JOBS, build_parameters, take_classes
from metasampler.persistence._values import Kind, State, is_number, is_plain, is_whole

__all__ = ["LIGHTGBM"]

# LightGBM reads settings as one text of names and values, also when it predicts, and among them
# are names of files, of machines, and one that leaves checks out. Those here say how trees grow.
_NUMBERS = frozenset(
    """
    learning_rate min_child_weight min_split_gain reg_alpha reg_lambda subsample colsample_bytree
    bagging_fraction cat_l2 cat_smooth drop_rate early_stopping_min_delta feature_fraction
    feature_fraction_bynode lambda_l1 lambda_l2 linear_lambda max_delta_step min_gain_to_split
    min_sum_hessian_in_leaf monotone_penalty neg_bagging_fraction other_rate path_smooth
    pos_bagging_fraction refit_decay_rate scale_pos_weight sigmoid skip_drop top_rate
    """.split()  # noqa: SIM905
)
_WHOLE = frozenset(
    """
    max_depth min_child_samples n_estimators n_jobs num_leaves random_state subsample_for_bin
    subsample_freq bagging_freq bagging_seed data_random_seed drop_seed early_stopping_round
    early_stopping_rounds extra_seed feature_fraction_seed max_bin max_cat_threshold
    max_cat_to_onehot max_drop min_data_in_bin min_data_in_leaf min_data_per_group
    n_iter_no_change num_grad_quant_bins num_iterations num_threads objective_seed seed verbose
    verbosity
    """.split()  # noqa: SIM905
)
_FLAGS = frozenset(
    """
    boost_from_average deterministic enable_bundle extra_trees first_metric_only force_col_wise
    force_row_wise is_unbalance linear_tree quant_train_renew_leaf stochastic_rounding uniform_drop
    use_missing use_quantized_grad xgboost_dart_mode zero_as_missing feature_pre_filter
    """.split()  # noqa: SIM905
)
_LISTS = ("monotone_constraints", "categorical_feature")
_THREADS = ("n_jobs", "num_threads")
_OBJECTIVES = ("binary", "multiclass", "multiclassova", "cross_entropy", "cross_entropy_lambda")
_CHOICES = {
    "boosting_type": ("gbdt", "dart", "rf", "goss"),
    "data_sample_strategy": ("bagging", "goss"),
    "importance_type": ("split", "gain"),
    "monotone_constraints_method": ("basic", "intermediate", "advanced"),
    "objective": _OBJECTIVES,
}

# What a fit sets, but for what is made anew of the rest.
_LEARNED = ("_objective", "_fitted_with_feature_names", "_n_features_in", "_evals_result")


def _export(estimator: Any) -> dict[str, Any]:
    state = estimator.get_params(deep=False)
    if not estimator.__sklearn_is_fitted__():
        return state
    booster = estimator.booster_
    state |= {name: getattr(estimator, name) for name in _LEARNED}
    # A defaultdict of dicts.
    for name in ("_evals_result", "_best_score"):
        kept = getattr(estimator, name) or {}
        state[name] = {key: dict(scores) for key, scores in kept.items()}
    text = booster.model_to_string(num_iteration=-1)
    return state | {
        "classes_": estimator.classes_,
        "_Booster": BoosterText(text, booster.best_iteration, booster.pandas_categorical),
    }


def _build(state: State) -> Any:
    estimator = build_parameters(state, LGBMClassifier)
    # Others than those of the constructor are known by what LightGBM calls them.
    fitted = "classes_" in state
    known = _NUMBERS | _WHOLE | _FLAGS | _CHOICES.keys() | set(_LISTS)
    others = {name: state.any(name) for name in state.names() if name in known}
    for name, value in (estimator.get_params(deep=False) | others).items():
        if not _is_setting(name, value):
            raise state.refuse(name, value)
    if others:
        estimator.set_params(**others)
    if fitted:
        _take_fit(estimator, state)
    return estimator


def _is_setting(name: str, value: Any) -> bool:
    if name in _FLAGS or name in ("verbose", "verbosity"):
        value = int(value) if isinstance(value, (bool, np.bool_)) else value
    if value is None:
        return True
    if name == "class_weight":
        return value == "balanced" or (
            isinstance(value, dict) and all(is_number(each, 0) for each in value.values())
        )
    if name in _CHOICES:
        return isinstance(value, str) and value in _CHOICES[name]
    if name in _LISTS:
        return isinstance(value, list) and all(is_number(each, -1, 2**21) for each in value)
    if name == "random_state" and isinstance(value, np.random.RandomState):
        return True
    if name in _FLAGS:
        return is_whole(value, 0, 1)
    if name in _WHOLE:
        most = MOST_JOBS if name in _THREADS else 2**31 - 1
        return is_whole(value, -most, most)
    return name in _NUMBERS and is_number(value, -1e12, 1e12)


def _take_fit(estimator: Any, state: State) -> None:
    classes = take_classes(state)
    booster = state.made("_Booster", Booster)
    n_classes = len(classes)
    if booster.num_model_per_iteration() != (1 if n_classes <= 2 else n_classes):
        raise state.refuse("classes_", classes)
    estimator._Booster = booster
    estimator._best_iteration = booster.best_iteration
    estimator._best_score = state.where_true("_best_score", lambda of: type(of) is dict)
    estimator._evals_result = state.where_true("_evals_result", lambda of: type(of) is dict)
    if not is_plain([estimator._best_score, *map(list, estimator._evals_result.values())]):
        raise state.refuse("_best_score", estimator._best_score)
    estimator._objective = state.text("_objective", *_OBJECTIVES, none=True)
    estimator._fitted_with_feature_names = state.flag("_fitted_with_feature_names")
    estimator._n_features = booster.num_feature()
    estimator._n_features_in = state.whole(
        "_n_features_in", estimator._n_features, estimator._n_features
    )
    estimator._le = LabelEncoder().fit(classes)
    if not np.array_equal(estimator._le.classes_, classes):
        raise state.refuse("classes_", classes)
    estimator._classes, estimator._n_classes = classes, n_classes
    estimator._class_map = {label: code for code, label in enumerate(classes.tolist())}
    estimator._class_weight = estimator.class_weight
    estimator.fitted_ = True
    # LightGBM reads all settings when it predicts, and some of them it refuses.
    estimator.predict_proba(np.zeros((1, estimator._n_features)), validate_features=False)


#: The kinds of this module.
LIGHTGBM = [Kind("LGBMClassifier", LGBMClassifier, _export, _build)]
