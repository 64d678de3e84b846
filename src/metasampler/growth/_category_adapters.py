"""Members that know categories, of several packages: each is told in its own words which columns.

Texts and categories reach these members as codes, see `TableForm`. scikit-learn's histogram
boosting, XGBoost, LightGBM and CatBoost can split codes as categories. Other members take them for
numbers.
"""

from collections.abc import Mapping

import numpy as np

from metasampler.growth._adapters import Adapter

__all__ = ["CatBoostAdapter", "CategoryAdapter"]

# How XGBoost grows trees if it can split categories; None leaves the choice to it.
_TREES_WITH_CATEGORIES = (None, "auto", "hist", "approx")


class CategoryAdapter(Adapter):
    """Fits and scores members that are told which columns are categories.

    ``category_sizes`` has the number of codes for each of these columns.
    """

    def __init__(
        self, estimator, n_classes: int, n_jobs, category_sizes: Mapping[int, int], n_columns: int
    ):
        super().__init__(estimator, n_classes, n_jobs, 0.0, category_sizes)
        if not category_sizes:
            return
        self.member_parameters = category_parameters(estimator, category_sizes, n_columns)
        if type(estimator).__name__ == "LGBMClassifier":
            self.fit_options = {"categorical_feature": self.categorical_features}


def category_parameters(estimator, category_sizes: Mapping[int, int], n_columns: int) -> dict:
    """Return the parameters of a base estimator that tell which of its columns are categories."""
    settings = estimator.get_params()
    match type(estimator).__name__:
        case "HistGradientBoostingClassifier":
            # Each category needs a bin of its own. None is how a user asks for numbers.
            few = [column for column, n in category_sizes.items() if n <= settings["max_bins"]]
            wanted = settings["categorical_features"] is not None
            return {"categorical_features": few} if few and wanted else {}
        case "XGBClassifier":
            is_linear = settings.get("booster") == "gblinear"
            if is_linear or settings.get("tree_method") not in _TREES_WITH_CATEGORIES:
                return {}
            types = ["c" if column in category_sizes else "q" for column in range(n_columns)]
            return {"feature_types": types, "enable_categorical": True}
        case "CatBoostClassifier":
            return {"cat_features": list(category_sizes)}
    return {}


class CatBoostAdapter(CategoryAdapter):
    """The same for CatBoost, which takes whole numbers for categories, and no floats."""

    def as_taken(self, member, X):
        """Return a table whose codes are whole numbers; a missing value has code -1."""
        columns = member.get_params().get("cat_features")
        if not columns or not isinstance(X, np.ndarray) or X.dtype.kind != "f":
            return X
        table = X.astype(object)
        table[:, columns] = np.nan_to_num(X[:, columns], nan=-1).astype(int)
        return table
