"""Loaders of scikit-learn's estimators: a closed list, each with the shapes of all it has learned.

Most predict by NumPy alone, which checks places and sizes itself. Yet what they have learned has to
have shapes that belong together, or a small file could ask for a large result. Those whose C code
trusts their numbers have loaders of their own. An estimator that is not here is refused by name.
"""

import importlib
import inspect
from functools import partial
from math import comb, prod
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, check_scoring, make_scorer
from sklearn.utils import Bunch

from metasampler.persistence._estimators import (
    LONGEST_NAME,
    build_parameters,
    check_columns,
    export_estimator,
    is_estimator,
    take_classes,
    take_columns,
)
from metasampler.persistence._trees import (
    MOST_CLASSES,
    MOST_COLUMNS,
    build_tree,
    export_tree,
    tree_type,
)
from metasampler.persistence._values import (
    Kind,
    State,
    are_different,
    is_array,
    is_number,
    is_plain,
    is_whole,
)

__all__ = [
    "SKLEARN",
    "build_dtype",
    "function_named",
    "name_of_function",
    "sklearn_kind",
    "sklearn_names",
]

_FOREST = (
    "classes_ classes; n_classes_ c; n_outputs_ one; estimators_ members; estimator_ estimator; "
    "_n_samples whole; _n_samples_bootstrap any; ?oob_score_ number; ?oob_decision_function_ f * c"
)
_TREE = "classes_ classes; n_classes_ c; n_outputs_ one; max_features_ whole; tree_ tree"

# What each has learned: its name and kind, for arrays a shape of p columns and c classes; k is c,
# or 1 for two classes, and q is at most p. With a question mark it may be missing.
_LEARNED = {
    "decomposition.PCA": "components_ f q p; mean_ f p; explained_variance_ f q; "
    "explained_variance_ratio_ f q; singular_values_ f q; noise_variance_ number; "
    "n_components_ whole; n_samples_ whole; ?_fit_svd_solver any",
    "discriminant_analysis.LinearDiscriminantAnalysis": "classes_ classes; coef_ f k p; "
    "intercept_ f k; priors_ f c; means_ f c p; xbar_ f p; ?scalings_ f p q; "
    "_max_components few; _n_features_out few; ?explained_variance_ratio_ f *; ?covariance_ f p p",
    "dummy.DummyClassifier": "classes_ classes; n_classes_ c; class_prior_ f c; n_outputs_ one; "
    "_strategy any; sparse_output_ any; ?constant any",
    "ensemble.AdaBoostClassifier": "classes_ classes; n_classes_ c; estimators_ members; "
    "estimator_ estimator; estimator_weights_ f *; estimator_errors_ f *",
    "ensemble.BaggingClassifier": "classes_ classes; n_classes_ c; estimators_ bagged; "
    "estimator_ estimator; _n_samples whole; _max_samples whole; _max_features whole; "
    "_seeds iu *; ?oob_score_ number; ?oob_decision_function_ f * c",
    "ensemble.ExtraTreesClassifier": _FOREST,
    "ensemble.RandomForestClassifier": _FOREST,
    "feature_selection.SelectKBest": "scores_ f p; pvalues_ any",
    "feature_selection.VarianceThreshold": "variances_ f p",
    "impute.SimpleImputer": "statistics_ fO p; _fit_dtype dtype; ?_fill_dtype dtype; "
    "indicator_ none",
    "linear_model.LogisticRegression": "classes_ classes; coef_ f k p; intercept_ f k; n_iter_ i *",
    "naive_bayes.BernoulliNB": "classes_ classes; feature_log_prob_ f c p; feature_count_ f c p; "
    "class_count_ f c; class_log_prior_ f c",
    "naive_bayes.GaussianNB": "classes_ classes; theta_ f c p; var_ f c p; class_count_ f c; "
    "class_prior_ f c; epsilon_ number",
    "neural_network.MLPClassifier": "classes_ classes; coefs_ layers; n_layers_ any; n_outputs_ k; "
    "out_activation_ any; ?n_iter_ any; ?t_ any; ?loss_ any; ?best_loss_ any; "
    "?loss_curve_ any; ?validation_scores_ any; ?best_validation_score_ any",
    "preprocessing.FunctionTransformer": "",
    "preprocessing.LabelEncoder": "classes_ classes",
    "preprocessing.MaxAbsScaler": "scale_ f p; max_abs_ f p; n_samples_seen_ any",
    "preprocessing.MinMaxScaler": "scale_ f p; min_ f p; data_min_ f p; data_max_ f p; "
    "data_range_ f p; n_samples_seen_ any",
    "preprocessing.Normalizer": "",
    "preprocessing.OneHotEncoder": "categories_ categories; _infrequent_enabled false; "
    "drop_idx_ none; _drop_idx_after_grouping none",
    "preprocessing.OrdinalEncoder": "categories_ categories; _infrequent_enabled false; "
    "_missing_indices places",
    "preprocessing.PolynomialFeatures": "_max_degree degree",
    "preprocessing.PowerTransformer": "lambdas_ f p; ?_scaler estimator",
    "preprocessing.QuantileTransformer": "quantiles_ f r p; references_ f r; n_quantiles_ whole",
    "preprocessing.RobustScaler": "center_ f? p; scale_ f? p",
    "preprocessing.StandardScaler": "mean_ f? p; var_ f? p; scale_ f? p; n_samples_seen_ any",
    "tree.DecisionTreeClassifier": _TREE,
    "tree.ExtraTreeClassifier": _TREE,
}

# Attributes that only a fit goes on with, that hold rows, or that are made anew.
_DROPPED = {
    "ensemble": ("_sample_weight",),
    "neural_network": (
        *("_random_state", "_optimizer", "_no_improvement_count", "_best_coefs"),
        *("_best_intercepts", "_label_binarizer"),
    ),
    "preprocessing": ("_n_features_outs", "_min_degree", "_n_out_full", "n_output_features_"),
}

# What is fitted to labels alone.
_WITHOUT_COLUMNS = ("preprocessing.LabelEncoder",)

# Widths of what is made of the columns of a table.
_MOST_IMPORTANCES = 2**25
# Steps beside each other may make a table this many times as wide, and those after them again.
_MOST_GROWTH = 32
_MOST_OUTPUTS, _WIDEST_LAYER, _MOST_NEIGHBORS = 100_000, 10_000, 10_000
_MOST_SCORERS, _SMALLEST_LEAF = 100, 5


def _learn(specification: str, estimator: Any, state: State) -> None:
    """Set what an estimator has learned, as its entry in the table above says."""
    for entry in filter(None, specification.split("; ")):
        name, kind, *shape = entry.removeprefix("?").split(" ")
        if entry.startswith("?") and name not in state:
            continue
        setattr(estimator, name, _take(name, kind, shape, estimator, state))


def _take(name: str, kind: str, shape: list[str], estimator: Any, state: State) -> Any:
    """Return one thing that an estimator has learned."""
    if kind.rstrip("?") in ("f", "i", "iu", "fO"):
        return state.array(name, kind.rstrip("?"), *shape, none=kind.endswith("?"))
    if kind == "classes":
        return take_classes(state)
    if kind in ("members", "estimator", "bagged"):
        return _take_estimators(name, kind, estimator, state)
    return _TAKERS[kind](name, state)


def _take_tree(name: str, state: State) -> Any:
    tree = state.made(name, tree_type())
    if (tree.n_features, tree.max_n_classes) != (state.sizes["p"], state.sizes["c"]):
        raise state.refuse(name, tree.n_features)
    return tree


def _take_estimators(name: str, kind: str, estimator: Any, state: State) -> Any:
    if kind == "estimator":
        return state.where_true(name, is_estimator)
    members = state.list(name, is_estimator)
    n_columns = state.sizes["p"]
    sizes = [n_columns] * len(members)
    if kind == "bagged":
        columns = state.list(
            "estimators_features_",
            lambda each: (
                is_array(each)
                and each.ndim == 1
                and each.dtype.kind == "i"
                and 0 < len(each) <= n_columns
                and bool(np.all((each >= 0) & (each < n_columns)))
            ),
        )
        estimator.estimators_features_ = columns
        sizes = list(map(len, columns))
    if not members or len(sizes) != len(members):
        raise state.refuse(name, len(members))
    for member, size in zip(members, sizes, strict=True):
        check_columns(member, size, len(estimator.classes_), state)
    return members


def _take_categories(name: str, state: State) -> list:
    def is_column(each: Any) -> bool:
        return is_array(each) and each.ndim == 1

    categories = state.list(name, is_column)
    n_outputs = sum(map(len, categories))
    if len(categories) != state.sizes["p"] or n_outputs > _MOST_OUTPUTS:
        raise state.refuse(name, len(categories))
    state.reader.count("columns that steps make", n_outputs)
    for each in categories:
        if not _are_levels(each):
            raise state.refuse(name, each)
    return categories


def _are_levels(values: np.ndarray) -> bool:
    """Return whether these are different levels, in an order in which they are found."""
    if values.dtype.kind not in "OU":
        # By bisection: C code writes where it ends, even beyond the last one.
        known = values[:-1] if np.isnan(values[-1:]).any() else values
        return bool(np.all(known[1:] > known[:-1]))
    levels = values.tolist()
    are_keys = all(level is None or isinstance(level, (str, int, float)) for level in levels)
    return are_keys and are_different(levels)


def _take_layers(name: str, state: State) -> list:
    """Return the weights of a network, whose layers fit each other."""
    widths, layers = [state.sizes["p"]], state.list(name, is_array)
    for layer in layers:
        if layer.ndim != 2 or layer.dtype.kind != "f" or layer.shape[0] != widths[-1]:
            raise state.refuse(name, layer)
        widths.append(layer.shape[1])
    if not layers or max(widths[1:]) > _WIDEST_LAYER or min(widths) < 1:
        raise state.refuse(name, widths)
    return layers


def _take_degree(name: str, state: State) -> int:
    degree = state.whole(name, 0, 100)
    n_outputs = comb(state.sizes["p"] + degree, degree)
    if n_outputs > _MOST_OUTPUTS:
        raise state.refuse(name, degree)
    state.reader.count("columns that steps make", n_outputs)
    return degree


def _take_places(name: str, state: State) -> dict:
    def are_places(value: Any) -> bool:
        numbers = [*value.keys(), *value.values()] if isinstance(value, dict) else [None]
        return all(is_whole(number, 0, MOST_COLUMNS) for number in numbers)

    return state.where_true(name, are_places)


def _size_named(size: str, name: str, state: State) -> int:
    value = state.whole(name, 1, 2**31)
    if state.sizes.setdefault(size, int(value)) != value:
        raise state.refuse(name, value)
    return value


_TAKERS: dict[str, Any] = {
    "any": lambda name, state: state.where_true(name, _is_fact),
    "c": partial(_size_named, "c"),
    "categories": _take_categories,
    "degree": _take_degree,
    "dtype": lambda name, state: state.made(name, np.dtype),
    "few": lambda name, state: state.whole(
        name, 0, min(state.sizes["p"], max(1, state.sizes["c"] - 1))
    ),
    "false": lambda name, state: state.where_true(name, lambda value: value is False),
    "k": partial(_size_named, "k"),
    "layers": _take_layers,
    "none": lambda name, state: state.where_true(name, lambda value: value is None),
    "number": lambda name, state: state.where_true(name, is_number),
    "one": lambda name, state: state.whole(name, 1, 1),
    "places": _take_places,
    "tree": _take_tree,
    "whole": lambda name, state: state.whole(name, 0, 2**53),
}


def _is_fact(value: Any) -> bool:
    """Return whether this is a plain value, or an array that nothing is computed with."""
    return is_plain(value) or is_array(value)


def _build(name: str, kind: type, state: State) -> Any:
    estimator = build_parameters(state, kind)
    # Nothing but parameters: it is not fitted, or has nothing to learn.
    if not state.names():
        return estimator
    vars(estimator).update(take_columns(state))
    if "p" not in state.sizes and name not in _WITHOUT_COLUMNS:
        raise state.refuse("n_features_in_", None)
    _learn(_LEARNED[name], estimator, state)
    sizes = state.sizes
    n_classes = sizes.get("c", 0)
    if "k" in sizes and sizes["k"] != (1 if n_classes == 2 else n_classes):
        raise state.refuse("classes_", sizes["k"])
    if sizes.get("q", 0) > sizes.get("p", 0) or n_classes > MOST_CLASSES:
        raise state.refuse("n_components_", sizes.get("q"))
    _FINISH.get(name, lambda *_: None)(estimator, state)
    return estimator


def _finish_forest(forest: Any, state: State) -> None:
    forest._sample_weight = None
    # Its importances are those of all trees, side by side.
    if len(forest.estimators_) * state.sizes["p"] > _MOST_IMPORTANCES:
        raise state.refuse("estimators_", len(forest.estimators_))


def _finish_bagging(bagging: Any, state: State) -> None:
    bagging._sample_weight = None


def _finish_polynomial(features: Any, state: State) -> None:
    wanted, degree = features._max_degree, features.degree
    highest = degree[-1] if isinstance(degree, (list, tuple)) and degree else degree
    # It counts combinations exactly, which takes long where a degree is large.
    if not is_whole(highest, 0, 100) or highest != wanted:
        raise state.refuse("_max_degree", wanted)
    # It learns what follows from the number of columns.
    names = {name: vars(features).pop(name, None) for name in ("feature_names_in_",)}
    features.fit(np.zeros((1, state.sizes["p"])))
    vars(features).update({name: value for name, value in names.items() if value is not None})


def _finish_one_hot(encoder: Any, state: State) -> None:
    # C code trusts these.
    encoder._n_features_outs = list(map(len, encoder.categories_))


def _finish_network(network: Any, state: State) -> None:
    from sklearn.preprocessing import LabelBinarizer

    layers = network.coefs_
    network.intercepts_ = state.list(
        "intercepts_", lambda each: is_array(each) and each.dtype.kind == "f"
    )
    widths = [(layer.shape[1],) for layer in layers]
    if [each.shape for each in network.intercepts_] != widths:
        raise state.refuse("intercepts_", widths)
    if layers[-1].shape[1] != network.n_outputs_ or network.n_layers_ != len(layers) + 1:
        raise state.refuse("n_layers_", network.n_layers_)
    if network.out_activation_ not in ("logistic", "softmax"):
        raise state.refuse("out_activation_", network.out_activation_)
    network._label_binarizer = LabelBinarizer().fit(network.classes_)


_FINISH = {
    "ensemble.BaggingClassifier": _finish_bagging,
    "ensemble.ExtraTreesClassifier": _finish_forest,
    "ensemble.RandomForestClassifier": _finish_forest,
    "neural_network.MLPClassifier": _finish_network,
    "preprocessing.OneHotEncoder": _finish_one_hot,
    "preprocessing.PolynomialFeatures": _finish_polynomial,
}


def _export(name: str, estimator: Any) -> dict[str, Any]:
    return export_estimator(estimator, _DROPPED.get(name.partition(".")[0], ()))


# ---------------------------------------------------------------------- nearest neighbours


def _export_neighbors(estimator: Any) -> dict[str, Any]:
    state = estimator.get_params(deep=False)
    if hasattr(estimator, "_fit_X"):
        if not isinstance(estimator._fit_X, np.ndarray) or estimator.outputs_2d_:
            raise TypeError("neighbours of sparse rows, or with several outputs, are not known.")
        state |= {"rows": estimator._fit_X, "codes": estimator._y, "classes_": estimator.classes_}
        if hasattr(estimator, "feature_names_in_"):
            state["feature_names_in_"] = estimator.feature_names_in_
    return state


def _build_neighbors(kind: type, state: State) -> Any:
    estimator = build_parameters(state, kind)
    metrics = ("minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "l1", "l2")
    if estimator.metric not in metrics or estimator.metric_params is not None:
        raise state.refuse("metric", estimator.metric)
    if not is_whole(estimator.n_neighbors, 1, _MOST_NEIGHBORS):
        raise state.refuse("n_neighbors", estimator.n_neighbors)
    # With small leaves the tree of the rows takes many times their memory.
    if not is_whole(estimator.leaf_size, _SMALLEST_LEAF, 2**31):
        raise ValueError(
            f"{state.where}.leaf_size must be at least {_SMALLEST_LEAF}, got "
            f"{estimator.leaf_size!r:.60}"
        )
    if "rows" not in state:
        return estimator
    rows = state.array("rows", "f", "rows", "p", low=-1e300, high=1e300)
    classes = take_classes(state)
    codes = state.array("codes", "i", "rows", low=0, high=len(classes) - 1)
    names = take_columns(state)
    # The tree that finds neighbours is made anew: it is a thing of C code.
    estimator.fit(rows, codes)
    estimator.classes_, estimator._y = classes, codes
    vars(estimator).update(names)
    return estimator


# ---------------------------------------------------------------------- estimators of estimators


def _is_step(value: Any) -> bool:
    return value in (None, "passthrough", "drop") if not is_estimator(value) else True


def _are_steps(value: Any) -> bool:
    """Return whether these are named steps."""
    return isinstance(value, list) and all(
        isinstance(step, tuple)
        and len(step) >= 2
        and isinstance(step[0], str)
        # It is part of the name of each parameter of the step.
        and len(step[0]) <= LONGEST_NAME
        and _is_step(step[1])
        for step in value
    )


def _build_steps(name: str, kind: type, state: State) -> Any:
    estimator = build_parameters(state, kind)
    if not _are_steps(getattr(estimator, name)) or not getattr(estimator, name):
        raise state.refuse(name, getattr(estimator, name))
    if name != "estimators":
        vars(estimator).update(take_columns(state))
    if _growth_of(estimator) > _MOST_GROWTH:
        raise state.refuse(name, len(getattr(estimator, name)))
    return estimator


def _growth_of(estimator: Any) -> float:
    """Return how many times as wide as its input a step's output is, by its parts' number alone."""
    if hasattr(estimator, "transformer_list"):
        return sum(_growth_of(step[1]) for step in estimator.transformer_list)
    if hasattr(estimator, "transformers_"):
        # A fitted one knows which columns each of its transformers takes.
        n_columns = estimator.n_features_in_
        parts = [(_growth_of(of), _n_places(places)) for _, of, places in estimator.transformers_]
        return sum(growth * n_places for growth, n_places in parts) / n_columns
    if hasattr(estimator, "steps"):
        return prod(max(1, _growth_of(step[1])) for step in estimator.steps)
    return 1


def _n_places(places: Any) -> int:
    return len(places) if isinstance(places, (list, tuple, np.ndarray)) else 1


def _build_voting(kind: type, state: State) -> Any:
    estimator = _build_steps("estimators", kind, state)
    if "estimators_" in state:
        estimator.classes_ = classes = take_classes(state)
        estimator.le_ = state.where_true("le_", lambda of: type(of).__name__ == "LabelEncoder")
        if not np.array_equal(getattr(estimator.le_, "classes_", []), classes):
            raise state.refuse("le_", estimator.le_)
        estimator.estimators_ = members = state.list("estimators_", is_estimator)
        names = [step[0] for step in estimator.estimators if step[1] != "drop"]
        if not members or len(names) != len(members):
            raise state.refuse("estimators_", len(members))
        state.sizes["p"] = n_columns = members[0].n_features_in_
        vars(estimator).update(take_columns(state))
        for member in members:
            check_columns(member, n_columns, len(classes), state)
            # Votes are counted by them.
            if not np.array_equal(member.classes_, np.arange(len(classes))):
                raise state.refuse("estimators_", member.classes_)
        estimator.named_estimators_ = Bunch(**dict(zip(names, members, strict=True)))
    return estimator


def _export_columns(estimator: Any) -> dict[str, Any]:
    state = export_estimator(estimator)
    if "output_indices_" in state:
        places = state["output_indices_"].items()
        state["output_indices_"] = {name: (of.start, of.stop) for name, of in places}
    return state


def _build_columns(kind: type, state: State) -> Any:
    estimator = _build_steps("transformers", kind, state)
    if "transformers_" not in state:
        return estimator
    n_columns = state.sizes.get("p", 0)
    estimator.transformers_ = steps = state.where_true("transformers_", _are_steps)
    for step in steps:
        if len(step) != 3 or not _are_places(step[2], n_columns):
            raise state.refuse("transformers_", step)
    if n_columns < 1 or _growth_of(estimator) > _MOST_GROWTH:
        raise state.refuse("transformers_", len(steps))
    estimator._columns = state.list("_columns", lambda each: _are_places(each, n_columns))
    for name in ("_transformer_to_input_indices", "_remainder"):
        setattr(estimator, name, state.any(name))
    indices = estimator._transformer_to_input_indices
    if not isinstance(indices, dict) or not all(
        isinstance(of, list) and len(of) <= n_columns and all(is_whole(i, 0, n_columns) for i in of)
        for of in indices.values()
    ):
        raise state.refuse("_transformer_to_input_indices", indices)
    rest = estimator._remainder
    if not _are_steps([rest]) or len(rest) != 3 or not _are_places(rest[2], n_columns):
        raise state.refuse("_remainder", rest)
    estimator.sparse_output_ = state.flag("sparse_output_")
    places = state.where_true(
        "output_indices_",
        lambda of: (
            isinstance(of, dict)
            and all(isinstance(ends, tuple) and is_plain(ends) for ends in of.values())
        ),
    )
    estimator.output_indices_ = {name: slice(*ends) for name, ends in places.items()}
    if "_name_to_fitted_passthrough" in state:
        estimator._name_to_fitted_passthrough = state.where_true(
            "_name_to_fitted_passthrough",
            lambda of: isinstance(of, dict) and all(map(is_estimator, of.values())),
        )
    return estimator


def _are_places(value: Any, n_columns: int) -> bool:
    """Return whether these are columns of a table: names, places, a mask, or one name."""
    if is_array(value):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        # Columns that occur often would make a large table of a small one.
        return len(value) <= n_columns and is_plain(value)
    return isinstance(value, (str, int))


# ---------------------------------------------------------------------- searches


def _export_search(search: Any) -> dict[str, Any]:
    state = export_estimator(search, ("scorer_", "_checked_cv_orig"))
    if "cv_results_" in state:
        state["cv_results_"] = dict(state["cv_results_"])
    return state


def _build_search(kind: type, state: State) -> Any:
    search = build_parameters(state, kind)
    if not is_estimator(search.estimator):
        raise state.refuse("estimator", search.estimator)
    if isinstance(search.scoring, (list, tuple, dict)) and len(search.scoring) > _MOST_SCORERS:
        raise state.refuse("scoring", len(search.scoring))
    if "cv_results_" not in state:
        return search
    search.cv_results_ = state.where_true("cv_results_", lambda of: isinstance(of, dict))
    search.multimetric_ = state.flag("multimetric_")
    search.n_splits_ = state.whole("n_splits_", 1, 10**6)
    if "best_estimator_" in state:
        search.best_estimator_ = state.where_true("best_estimator_", is_estimator)
        n_columns = getattr(search.best_estimator_, "n_features_in_", None)
        state.sizes |= {} if n_columns is None else {"p": n_columns}
    vars(search).update(take_columns(state))
    for name in ("best_index_", "best_params_", "best_score_", "refit_time_"):
        if name in state:
            setattr(search, name, state.any(name))
    search.scorer_ = _scorers(search)
    return search


def _scorers(search: Any) -> Any:
    """Return the scorers of a search, made anew from its parameters."""
    scoring, estimator = search.scoring, search.estimator
    if isinstance(scoring, (list, tuple, set)):
        return {name: check_scoring(estimator, name) for name in scoring}
    if isinstance(scoring, dict):
        return {name: check_scoring(estimator, of) for name, of in scoring.items()}
    return check_scoring(estimator, scoring)


def _export_scorer(scorer: Any) -> dict[str, Any]:
    return {
        "function": scorer._score_func,
        "sign": scorer._sign,
        "options": dict(scorer._kwargs),
        "response": getattr(scorer, "_response_method", "predict"),
    }


def _build_scorer(state: State) -> Any:
    function = state.where_true("function", lambda of: name_of_function(of) is not None)
    options = state.where_true("options", lambda of: isinstance(of, dict) and is_plain(of))
    response = state.where_true(
        "response",
        lambda of: all(
            each in ("predict", "predict_proba", "decision_function")
            for each in (of if isinstance(of, (tuple, list)) else [of])
        ),
    )
    best = state.whole("sign", -1, 1) > 0
    return make_scorer(function, response_method=response, greater_is_better=best, **options)


def _export_splitter(splitter: Any) -> dict[str, Any]:
    names = inspect.signature(type(splitter)).parameters
    return {name: getattr(splitter, name) for name in names}


def _build_splitter(kind: type, state: State) -> Any:
    names = inspect.signature(kind).parameters
    options = {name: state.any(name) for name in names if name in state}
    for name, value in options.items():
        if not is_plain(value) and not isinstance(value, np.random.RandomState):
            raise state.refuse(name, value)
    return kind(**options)


# ---------------------------------------------------------------------- other things


def _export_random_state(random_state: np.random.RandomState) -> dict[str, Any]:
    name, key, place, has_gauss, gauss = random_state.get_state(legacy=True)
    return {"name": name, "key": key, "place": place, "has_gauss": has_gauss, "gauss": gauss}


def _build_random_state(state: State) -> np.random.RandomState:
    random_state = np.random.RandomState(0)
    name = state.text("name", "MT19937")
    key = state.array("key", "u", 624, low=0, high=2**32 - 1)
    # C code reads the key at this place.
    place = state.whole("place", 0, 624)
    rest = state.whole("has_gauss", 0, 1), state.number("gauss")
    random_state.set_state((name, key.astype(np.uint32), place, *rest))
    return random_state


def _build_masked(state: State) -> np.ma.MaskedArray:
    data = state.made("data", np.ndarray)
    return np.ma.MaskedArray(data, state.array("mask", "b", *data.shape))


def build_dtype(state: State) -> np.dtype:
    return np.dtype(state.where_true("name", lambda of: isinstance(of, str) and of in _DTYPES))


_DTYPES = ("float64", "float32", "object", "int64", "int32", "bool")

#: Functions and types that a parameter may be; they change nothing.
_FUNCTIONS = {
    "numpy": (
        *("abs", "cbrt", "exp", "expm1", "log", "log10", "log1p", "log2", "sign", "sqrt", "square"),
        *("float32", "float64", "int32", "int64", "object_"),
    ),
    "sklearn.feature_selection": ("chi2", "f_classif", "mutual_info_classif"),
    "sklearn.metrics": (
        *("accuracy_score", "average_precision_score", "balanced_accuracy_score"),
        *("brier_score_loss", "f1_score", "fbeta_score", "jaccard_score", "log_loss"),
        *("matthews_corrcoef", "precision_score", "recall_score", "roc_auc_score"),
        "top_k_accuracy_score",
    ),
}


def name_of_function(value: Any) -> str | None:
    """Return the name that files have for a function; None if it is not known."""
    for module, names in _FUNCTIONS.items():
        for name in names:
            if getattr(value, "__name__", "") and value is _found(module, name):
                return f"{module}.{name}"
    return None


def function_named(name: str) -> Any:
    """Return the function of a name in a file."""
    module, _, last = name.rpartition(".")
    if last not in _FUNCTIONS.get(module, ()):
        raise ValueError(f"it holds the function {name!r:.100}, which no model has.")
    return _found(module, last)


def _found(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name, None)


# ---------------------------------------------------------------------- the list

_SPLITTERS = (
    *("GroupKFold", "KFold", "ShuffleSplit", "StratifiedGroupKFold", "StratifiedKFold"),
    *("StratifiedShuffleSplit", "TimeSeriesSplit"),
)

# Name, what exports, and what builds an object, given its type.
_OTHERS: dict[str, tuple[Any, Any]] = {
    "compose.ColumnTransformer": (_export_columns, _build_columns),
    "ensemble.VotingClassifier": (
        partial(export_estimator, dropped=("named_estimators_",)),
        _build_voting,
    ),
    "model_selection.GridSearchCV": (_export_search, _build_search),
    "model_selection.RandomizedSearchCV": (_export_search, _build_search),
    "neighbors.KNeighborsClassifier": (_export_neighbors, _build_neighbors),
    "pipeline.FeatureUnion": (export_estimator, partial(_build_steps, "transformer_list")),
    "pipeline.Pipeline": (export_estimator, partial(_build_steps, "steps")),
    **{f"model_selection.{name}": (_export_splitter, _build_splitter) for name in _SPLITTERS},
}


def sklearn_kind(name: str) -> Kind | None:
    """Return the kind of a name such as ``"sklearn.tree.DecisionTreeClassifier"``."""
    short = name.removeprefix("sklearn.")
    if short == name or (short not in _LEARNED and short not in _OTHERS):
        return None
    module, _, last = name.rpartition(".")
    of = _found(module, last)
    if short in _OTHERS:
        export, build = _OTHERS[short]
        return Kind(name, of, export, partial(build, of))
    return Kind(name, of, partial(_export, short), partial(_build, short, of))


def sklearn_names() -> list[str]:
    """Return the names of the types of scikit-learn that a file may hold."""
    return [f"sklearn.{name}" for name in (*_LEARNED, *_OTHERS)]


#: What is not made of scikit-learn's public classes.
SKLEARN = [
    Kind("Tree", tree_type(), export_tree, build_tree),
    Kind("Scorer", type(make_scorer(accuracy_score)), _export_scorer, _build_scorer),
    Kind("RandomState", np.random.RandomState, _export_random_state, _build_random_state),
    Kind(
        "MaskedArray",
        np.ma.MaskedArray,
        lambda of: {"data": np.asarray(of.data), "mask": np.ma.getmaskarray(of)},
        _build_masked,
    ),
]
