"""Give data frames to classifiers that take them in part, or take numbers only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from metasampler.tables import TableEncoder

__all__ = ["FrameClassifier"]

_DAY = pd.Timedelta(days=1)


class FrameClassifier(ClassifierMixin, BaseEstimator):
    """Bring a pandas frame into the form that a classifier takes, as part of its fit.

    Everything is learned from the training rows.

    Parameters
    ----------
    estimator : classifier
        What to train.

    takes : {"frame", "codes", "numbers"}, default="frame"
        ``"frame"`` leaves numbers and categories to the classifier; columns get the names c0, c1,
        ... (LightGBM refuses names with JSON's characters), dates become days, texts become
        categories, and columns without any value are left out (HistGradientBoosting fails on
        them). ``"codes"`` has integers for categories, -1 where they are missing, and names
        their columns in `fit` as CatBoost's ``cat_features``. ``"numbers"`` is what
        :class:`~metasampler.tables.TableEncoder` makes of the frame; missing numbers become the
        median of their column, missing codes -1.

    max_levels : int, default=None
        The most levels of a category that the classifier takes. The rarest ones become one.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.

    classes_ : ndarray of shape (n_classes,)
        The class labels.

    Examples
    --------
    >>> import pandas as pd
    >>> from lightgbm import LGBMClassifier
    >>> from metasampler_bench._frames import FrameClassifier
    >>> frame = pd.DataFrame({"{a}": [1.0, 2.0] * 50, "b": ["x", "y"] * 50})
    >>> fitted = FrameClassifier(LGBMClassifier(verbosity=-1)).fit(frame, [0, 1] * 50)
    >>> fitted.predict(frame.head(2))
    array([0, 1])
    """

    def __init__(
        self, estimator: Any = None, *, takes: str = "frame", max_levels: int | None = None
    ) -> None:
        self.estimator = estimator
        self.takes = takes
        self.max_levels = max_levels

    def fit(self, X: Any, y: Any) -> FrameClassifier:
        """Learn the form and train the classifier.

        Parameters
        ----------
        X : pandas DataFrame
            The training rows.

        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        self : FrameClassifier
        """
        forms = {"frame": _Plain, "codes": _Codes}
        form = _Numbers() if self.takes == "numbers" else forms[self.takes](self.max_levels)
        self.form_ = form.fit(X)
        more = {"cat_features": form.names} if isinstance(form, _Codes) else {}
        self.estimator_ = clone(self.estimator).fit(self.form_(X), np.asarray(y), **more)
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : pandas DataFrame

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(self.form_(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class.

        Parameters
        ----------
        X : pandas DataFrame

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class _Plain:
    """Numbers and categories under names without special characters."""

    def __init__(self, max_levels: int | None = None) -> None:
        self.max_levels = max_levels
        self.columns: list[Any] = []
        #: For each column of texts or categories all levels, and the number that each one gets.
        self.levels: dict[Any, tuple[pd.Index, np.ndarray]] = {}

    def fit(self, X: pd.DataFrame) -> _Plain:
        self.columns = [name for name in X.columns if X[name].notna().any()]
        for name in self.columns:
            column = X[name]
            if not isinstance(column.dtype, pd.CategoricalDtype):
                if pd.api.types.is_numeric_dtype(column) or _is_date(column):
                    continue
                column = column.astype("category")
            levels = column.cat.categories
            numbers = np.arange(len(levels))
            if self.max_levels is not None and len(levels) > self.max_levels:
                counts = np.bincount(column.cat.codes[column.notna()], minlength=len(levels))
                place = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
                numbers = np.minimum(place, self.max_levels - 1)
            self.levels[name] = levels, numbers
        return self

    def __call__(self, X: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(
            {f"c{n}": self._plain(name, X[name]) for n, name in enumerate(self.columns)},
            index=X.index,
        )

    def _plain(self, name: Any, column: pd.Series) -> Any:
        if name in self.levels:
            levels, numbers = self.levels[name]
            if isinstance(column.dtype, pd.CategoricalDtype):
                codes = levels.get_indexer(column.cat.categories)
                codes = np.append(codes, -1)[column.cat.codes]
            else:
                codes = levels.get_indexer(column)
            merged = np.append(numbers, -1)[codes]
            return pd.Categorical.from_codes(merged, categories=range(int(numbers.max()) + 1))
        if _is_date(column):
            return (column - pd.Timestamp(0, tz=getattr(column.dt, "tz", None))) / _DAY
        return column


class _Codes(_Plain):
    """The same with integers for categories."""

    def fit(self, X: pd.DataFrame) -> _Codes:
        super().fit(X)
        self.names = [f"c{n}" for n, name in enumerate(self.columns) if name in self.levels]
        return self

    def __call__(self, X: pd.DataFrame) -> pd.DataFrame:
        plain = super().__call__(X)
        return plain.assign(**{name: plain[name].cat.codes.astype(int) for name in self.names})


def _is_date(column: pd.Series) -> bool:
    return pd.api.types.is_datetime64_any_dtype(column)


class _Numbers:
    """One matrix of numbers without missing values."""

    def fit(self, X: pd.DataFrame) -> _Numbers:
        self.encoder = TableEncoder().fit(X)
        codes = set(self.encoder.categorical_features_)
        numbers = self.encoder.transform(X)
        self.fill = np.zeros(numbers.shape[1])
        for number, values in enumerate(numbers.T):
            known = values[~np.isnan(values)]
            if number in codes:
                self.fill[number] = -1
            elif len(known):
                self.fill[number] = np.median(known)
        return self

    def __call__(self, X: pd.DataFrame) -> np.ndarray:
        numbers = self.encoder.transform(X)
        rows, columns = np.nonzero(np.isnan(numbers))
        numbers[rows, columns] = self.fill[columns]
        return numbers
