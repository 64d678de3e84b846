"""Base estimators: which classifiers can serve, and in which form each takes tables.

An ensemble has one base estimator, or a list of them that alternate: member i is then a copy of
``estimator[i % len(estimator)]``.
"""

from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils import get_tags

from metasampler.growth._lightgbm_frames import is_lightgbm, is_polars
from metasampler.tables import TableForm

#: scikit-learn's own trees and forests; a subclass may answer otherwise than by its leaves.
_PLAIN_TREES = (DecisionTreeClassifier, ExtraTreeClassifier)
_FORESTS = (RandomForestClassifier, ExtraTreesClassifier)

# LightGBM's settings, with the values under which its members need not be fitted by its own `fit`.
# Each name that LightGBM knows for a setting stands here.
_FITTED_HERE: dict[str, tuple] = {
    "objective": (None, "binary", "multiclass"),
    **dict.fromkeys(("objective_type", "application", "app", "loss"), (None,)),
    "boosting_type": ("gbdt", "rf", "dart"),
    **dict.fromkeys(("boosting", "boost"), (None,)),
    "class_weight": (None,),
    # Linear leaves need the raw rows, which a subset of a binned table has not.
    **dict.fromkeys(("linear_tree", "linear_trees"), (None, False)),
    # Members turn log-odds into probabilities by the plain sigmoid.
    "sigmoid": (None, 1.0),
}

# Classifiers that can be told which columns are categories: their packages and names.
_WITH_CATEGORIES = (
    ("catboost", "CatBoostClassifier"),
    ("lightgbm", "LGBMClassifier"),
    ("sklearn", "HistGradientBoostingClassifier"),
    ("xgboost", "XGBClassifier"),
)

# Parameters by which users name columns themselves: these must then be the columns of the frame.
_NAMES_OF_COLUMNS = (
    "cat_features",
    "categorical_features",
    "embedding_features",
    "feature_types",
    "interaction_constraints",
    "interaction_cst",
    "monotone_constraints",
    "monotonic_cst",
    "text_features",
)

#: Laplace's rule: what "auto" means for members with leaves.
_LAPLACE = 1.0


def estimators_of(estimator) -> list:
    """Return the base estimators: the entries of a list, or the only one."""
    return list(estimator) if isinstance(estimator, list) else [estimator]


def resolve_estimators(estimator):
    """Return the base estimator, or the list of them, if they can serve as members."""
    if not isinstance(estimator, list):
        return resolve_estimator(estimator, ", or a list of them; got a tuple.")
    if not estimator:
        raise ValueError("estimator=[] is an empty list; it must hold at least one classifier.")
    for position, each in enumerate(estimator):
        _check_classifier(each, f"estimator[{position}]")
    return list(estimator)


def resolve_estimator(estimator, but=": only ensembles that under-sample take a list."):
    """Return the one base estimator, if it can serve as a member; None means a decision tree."""
    if estimator is None:
        return DecisionTreeClassifier()
    if isinstance(estimator, (list, tuple)):
        raise TypeError(
            f"estimator={estimator!r} must be one classifier with fit and predict_proba{but}"
        )
    _check_classifier(estimator, "estimator")
    return estimator


def _check_classifier(estimator, name: str) -> None:
    if isinstance(estimator, type):
        raise TypeError(
            f"{name} must be an instance, got the class {estimator.__name__}; "
            f"write {estimator.__name__}()."
        )
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{name}={estimator!r} must have fit and predict_proba: the ensemble's errors are "
            "computed from probabilities."
        )


def is_plain_tree(estimator) -> bool:
    """Return whether the estimator is one of scikit-learn's own trees."""
    return type(estimator) in _PLAIN_TREES


def copy_input_tags(tags, estimator):
    """Return tags whose input tags are those that all base estimators share.

    None stands for trees.
    """
    estimators = estimators_of(DecisionTreeClassifier() if estimator is None else estimator)
    members = [get_tags(each).input_tags for each in estimators]
    tags.input_tags.sparse = all(member.sparse for member in members)
    tags.input_tags.allow_nan = all(member.allow_nan for member in members)
    return tags


def is_plain_booster(estimator) -> bool:
    """Return whether members are LightGBM's own, without what needs its own `fit`."""
    return _is_booster(estimator) and setting_for_own_fit(estimator) is None


def _is_booster(estimator) -> bool:
    its_class = type(estimator)
    return its_class.__name__ == "LGBMClassifier" and its_class.__module__.startswith("lightgbm")


def setting_for_own_fit(estimator) -> str | None:
    """Return a setting of LightGBM's that needs its own `fit`, such as "linear_tree=True"."""
    if not _is_booster(estimator):
        return None
    # Each prediction asks this, and `get_params` takes as long as the prediction of a row.
    for name, values in _FITTED_HERE.items():
        value = getattr(estimator, name, None)
        if value not in values:
            return f"{name}={value!r}"
    return None


def has_leaves(estimator) -> bool:
    """Return whether copies of the estimator answer by the leaves of trees."""
    return type(estimator) in (*_PLAIN_TREES, *_FORESTS)


def resolve_leaf_smoothing(smoothing: float | str, estimator) -> float:
    """Return by how much leaves are smoothed; "auto" smooths only where members have leaves.

    With several base estimators, one that has leaves is enough. The others answer as they are.
    """
    any_leaves = any(map(has_leaves, estimators_of(estimator)))
    if isinstance(smoothing, str):
        return _LAPLACE if any_leaves else 0.0
    if smoothing and not any_leaves:
        raise ValueError(
            f"leaf_smoothing={smoothing} needs members with leaves, scikit-learn's own "
            "DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier or "
            f"ExtraTreesClassifier; the estimator is {estimator!r}. Set leaf_smoothing=0."
        )
    return float(smoothing)


# ---------------------------------------------------------------------- tables


def unfitted_form(estimator, X=None) -> TableForm:
    """Return the form in which members take tables like X, before it learns from them.

    scikit-learn's trees take float32 arrays and LightGBM's members numbers. A classifier that
    fails on texts gets a frame encoded if it holds texts, categories or dates. Any other classifier
    gets what the user passed. Where several base estimators alternate, one table serves all: the
    trees convert its rows themselves, to the same trees.
    """
    estimators = estimators_of(estimator)
    if all(map(is_plain_tree, estimators)):
        allow_nan = all(get_tags(each).input_tags.allow_nan for each in estimators)
        return TableForm("float32", allow_nan=allow_nan)
    if all(is_plain_tree(each) or is_plain_booster(each) for each in estimators):
        return TableForm("numbers")
    if all(is_plain_tree(each) or is_lightgbm(each) for each in estimators) and is_polars(X):
        return TableForm("numbers")
    if all(map(_fails_on_texts, estimators)):
        return TableForm("encoded", fill_missing=not all(map(_takes_missing_values, estimators)))
    return TableForm("as it is")


def knows_categories(estimator) -> bool:
    """Return whether members can be told which columns are categories."""
    return any(_is_of(estimator, *each) for each in _WITH_CATEGORIES)


def is_catboost(estimator) -> bool:
    """Return whether members are CatBoost's own."""
    return _is_of(estimator, "catboost", "CatBoostClassifier")


def _is_of(estimator, package: str, name: str) -> bool:
    # By name: most of these packages need not be there. A subclass may take tables otherwise.
    its_class = type(estimator)
    return its_class.__name__ == name and its_class.__module__.partition(".")[0] == package


def _fails_on_texts(estimator) -> bool:
    """Return whether members know numbers only, and leave it open what the columns hold.

    Pipelines have encoders of their own, and a class of the user's may have.
    """
    module = type(estimator).__module__
    package = module.partition(".")[0]
    if package != "sklearn" and not knows_categories(estimator):
        return False
    if module.startswith(("sklearn.pipeline", "sklearn.compose", "sklearn.frozen")):
        return False
    settings = estimator.get_params(deep=False)
    if any(settings.get(name) not in (None, "from_dtype") for name in _NAMES_OF_COLUMNS):
        return False
    nested = [each for value in settings.values() for each in _estimators_in(value)]
    return all(map(_fails_on_texts, nested))


def _estimators_in(value) -> list:
    """Return the estimators that a parameter holds: one, or a list of them with their names."""
    if isinstance(value, (list, tuple)):
        return [each for entry in value for each in _estimators_in(entry)]
    return [value] if hasattr(value, "fit") and not isinstance(value, type) else []


def _takes_missing_values(estimator) -> bool:
    # Forests always had them filled; the tags of a forest depend on its criterion.
    is_forest = type(estimator) in (*_FORESTS, AdaBoostClassifier)
    return not is_forest and (
        knows_categories(estimator) or get_tags(estimator).input_tags.allow_nan
    )
