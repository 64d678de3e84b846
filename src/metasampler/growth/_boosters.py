"""LightGBM members: the table is binned once, and every member trains on some of its rows."""

from functools import cached_property

import numpy as np
from scipy.special import expit, softmax

__all__ = ["BoostedMember", "BoosterLearner", "is_plain_booster"]

# Up to so many columns LightGBM's histograms by rows are the faster ones, by 10 to 25 %.
_FEW_COLUMNS = 50


def is_plain_booster(estimator) -> bool:
    """Return whether members are LightGBM's own, without what needs its own `fit`."""
    kind = type(estimator)
    if kind.__name__ != "LGBMClassifier" or not kind.__module__.startswith("lightgbm"):
        return False
    settings = estimator.get_params()
    return (
        settings["objective"] is None
        and settings["class_weight"] is None
        and settings["boosting_type"] in ("gbdt", "rf", "dart")
    )


class BoostedMember:
    """A fitted LightGBM member.

    Parameters
    ----------
    booster : lightgbm.Booster
        The trees.
    n_classes : int
        The labels are 0, ..., n_classes - 1.

    Attributes
    ----------
    booster_ : lightgbm.Booster
        The trees, as LightGBM knows them.
    n_rounds_ : int
        Rounds of boosting that count: those up to the best one, if training stopped early.
    """

    def __init__(self, booster, n_classes: int):
        self.n_classes = n_classes
        self.n_rounds_ = booster.best_iteration if booster.best_iteration > 0 else (
            booster.current_iteration()
        )
        self._model = booster.model_to_string(num_iteration=self.n_rounds_)

    def __getstate__(self):
        # LightGBM's objects live outside of Python; the text of the model is all there is to keep.
        return {"n_classes": self.n_classes, "n_rounds_": self.n_rounds_, "_model": self._model}

    @cached_property
    def booster_(self):
        """The trees, as LightGBM knows them."""
        import lightgbm

        return lightgbm.Booster(model_str=self._model)

    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The encoded rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        raw = self.booster_.predict(X, raw_score=True, num_threads=1)
        if self.n_classes > 2:
            return softmax(raw, axis=1)
        positive = expit(raw)
        return np.column_stack([1 - positive, positive])

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of the splits on each column, as parts of all."""
        gains = self.booster_.feature_importance("gain")
        return gains / (gains.sum() or 1.0)
