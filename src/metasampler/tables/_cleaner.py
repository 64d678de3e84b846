"""The cleaner: a table without the columns that should not be learned from."""

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from metasampler.tables._columns import (
    column_kind,
    columns_of,
    is_empty,
    is_frame,
    numbers_of,
    texts_of,
)
from metasampler.tables._dates import days_of_texts
from metasampler.tables._numbers import numbers_of_texts
from metasampler.tables._sense import inspect_columns

__all__ = ["TableCleaner"]

# Part of the texts of a column that may be unreadable: single ones are slips of the pen.
_MOST_UNREAD = 0.1


class TableCleaner(TransformerMixin, BaseEstimator):
    """Leave out the columns of a table that a model should not learn from, and read its texts.

    It does what :func:`inspect_columns` says. It drops identifiers, constants, empty columns and
    columns that repeat the target. Dates that are written as texts become days since 1970. Numbers
    that are written as texts, as ``"$1,200"``, become numbers. Infinite numbers become missing
    values. The result is a data frame of the same library. Pass it to a
    classifier of this package or to a `TableEncoder`.

    Parameters
    ----------
    keep : sequence of column names, default=()
        Columns to keep in any case.

    drop : sequence of column names, default=()
        Columns to drop in any case.

    Attributes
    ----------
    report_ : ColumnReport
        What was found.

    left_out_ : dict of str
        The dropped columns, with the reason for each.

    kinds_ : dict of str
        The kind of each column that stays: ``"number"``, ``"category"``, ``"date"``, or
        ``"empty"`` for one without values that `keep` names.

    n_features_in_ : int
        Number of columns.

    feature_names_in_ : ndarray of str
        Names of the columns.

    See Also
    --------
    inspect_columns : What is looked for.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from metasampler import MesaClassifier
    >>> from metasampler.tables import TableCleaner
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"order": np.arange(400), "amount": rng.normal(size=400)})
    >>> y = frame["amount"] + rng.normal(size=400) > 2
    >>> model = make_pipeline(TableCleaner(), MesaClassifier(random_state=0)).fit(frame, y)
    >>> list(model[0].left_out_)
    ['order']
    """

    def __init__(self, *, keep=(), drop=()):
        self.keep = keep
        self.drop = drop

    def fit(self, X, y=None):
        """Find the columns to leave out.

        Parameters
        ----------
        X : data frame (pandas or polars)
            The training rows.
        y : array-like of shape (n_samples,), default=None
            The classes. Without them columns that give them away are not found.

        Returns
        -------
        self : TableCleaner
            The fitted cleaner.
        """
        if not is_frame(X):
            raise TypeError(f"X must be a data frame; got {type(X).__name__}.")
        if not X.shape[0]:
            raise ValueError("X has no rows to learn from.")
        names = list(columns_of(X))
        for parameter in ("keep", "drop"):
            given = getattr(self, parameter)
            unknown = [name for name in given if name not in names]
            if isinstance(given, str) or unknown:
                raise ValueError(
                    f"{parameter} must be a list of columns of X; got {unknown[:10] or given!r}."
                )
        both = set(self.keep) & set(self.drop)
        if both:
            raise ValueError(f"keep and drop both name {sorted(map(str, both))[:10]}.")
        looked_at = X[[name for name in names if name not in set(self.drop)]]
        self.report_ = inspect_columns(looked_at, y, keep=self.keep)
        self.left_out_ = dict.fromkeys(self.drop, "As asked.") | self.report_.left_out
        used = [each for each in self.report_.columns if each.name not in self.left_out_]
        if not used:
            raise ValueError(f"No column is left to learn from: {self.left_out_}.")
        self.kinds_ = {each.name: each.kind for each in used}
        self._date_formats = {each.name: each.date_format for each in used if each.date_format}
        self._number_formats = {
            each.name: each.number_format for each in used if each.number_format
        }
        self.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
        self.n_features_in_ = len(names)
        return self

    def transform(self, X):
        """Return the columns that are left.

        Parameters
        ----------
        X : data frame (pandas or polars)
            The rows. Columns are found by their names; others than `fit` saw do not matter, nor do
            those it left out.

        Returns
        -------
        X : data frame
        """
        check_is_fitted(self)
        if not is_frame(X):
            raise TypeError(f"X must be a data frame; got {type(X).__name__}.")
        columns = columns_of(X)
        missing = [name for name in self.kinds_ if name not in columns]
        if missing:
            raise ValueError(f"X lacks the columns {missing[:10]}, which fit has seen.")
        changed = {}
        for name, kind in self.kinds_.items():
            column = columns[name]
            if name in self._date_formats and not is_empty(column):
                # Where a library has read the texts as dates by itself, they are left to it.
                if column_kind(column) == "category":
                    written = self._date_formats[name]
                    changed[name] = _read_texts(name, column, days_of_texts, written, "date")
                elif column_kind(column) == "date":
                    changed[name] = numbers_of(column, "date")
            elif kind == "number" and not is_empty(column):
                values = self._numbers(name, column)
                if values is not None:
                    changed[name] = np.where(np.isinf(values), np.nan, values)
        return _with_columns(X[list(self.kinds_)], changed)

    def _numbers(self, name, column) -> np.ndarray | None:
        """Return the numbers of a column; None if it can stay as it is."""
        found = column_kind(column)
        # Cleaners of earlier versions have none.
        written = getattr(self, "_number_formats", {}).get(name)
        if written and found == "category":
            return _read_texts(name, column, numbers_of_texts, written, "number")
        if found == "number":
            values = numbers_of(column, "number")
            return values if np.isinf(values).any() else None
        return None

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns that are left.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return np.array([str(name) for name in self.kinds_], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _read_texts(name, column, read: Callable, written: str, what: str) -> np.ndarray:
    """Return the texts of a column as numbers; if many cannot be read, warn."""
    levels, codes = texts_of(column)
    values = read(levels, codes, written)
    unread, n_texts = np.isnan(values) & (codes >= 0), np.count_nonzero(codes >= 0)
    if unread.sum() > _MOST_UNREAD * n_texts:
        example = str(levels[codes[np.argmax(unread)]])
        warnings.warn(
            f"{unread.sum():,} of {n_texts:,} texts of column {name!r} are not a {what} like "
            f"{written}, as in the rows that fit saw; for instance {example!r}. They count as "
            "missing.",
            UserWarning,
            stacklevel=3,
        )
    return values


def _with_columns(X, changed: dict):
    """Return a frame with some columns replaced by numbers."""
    if not changed:
        return X
    if type(X).__module__.startswith("polars"):
        import polars

        return X.with_columns([polars.Series(name, values) for name, values in changed.items()])
    X = X.copy(deep=False)
    for name, values in changed.items():  # `assign` takes texts as names only
        X[name] = values
    return X
