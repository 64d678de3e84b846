"""The cleaner: a table without the columns that should not be learned from."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from metasampler.tables._columns import (
    column_kind,
    columns_of,
    is_empty,
    is_frame,
    texts_of,
)
from metasampler.tables._encodings import read_numbers
from metasampler.tables._frames import as_table
from metasampler.tables._numbers import currencies_of_texts
from metasampler.tables._sense import currency_name, inspect_columns
from metasampler.tables._unread import note_column, unread_cells

__all__ = ["TableCleaner"]

_MICROSECONDS_A_DAY = 86_400_000_000


class TableCleaner(TransformerMixin, BaseEstimator):
    """Leave out the columns of a table that a model should not learn from, and read its texts.

    It does what :func:`inspect_columns` says. It drops identifiers, constants, empty columns and
    columns that repeat the target. Dates that are written as texts become dates. Numbers that are
    written as texts, as ``"$1,200"``, become numbers; amounts in several currencies also give a
    category with the currency. Infinite numbers become missing values. Texts that cannot be read
    count as missing, with a warning; with more than a tenth of a column it is an error. The result
    is a data frame of the same library. Pass it to a classifier of this package or to a
    `TableEncoder`.

    Parameters
    ----------
    keep : sequence of column names, default=()
        Columns to keep in any case.

    drop : sequence of column names, default=()
        Columns to drop in any case.

    dates : {"auto", "day-first", "month-first"}, default="auto"
        How to read dates such as 03/04/2026 if both orders fit all dates of a column.

    text : {"topics", "ignore"}, default="topics"
        Whether columns of free text stay. ``"ignore"`` drops them.

    Attributes
    ----------
    report_ : ColumnReport
        What was found.

    left_out_ : dict of str
        The dropped columns, with the reason for each.

    kinds_ : dict of str
        The kind of each column that stays: ``"number"``, ``"category"``, ``"date"``,
        ``"duration"``, ``"text"``, or ``"empty"`` for one without values that `keep` names.

    derived_ : dict of str
        The columns that are added, with the column that each is from.

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

    def __init__(self, *, keep=(), drop=(), dates="auto", text="topics"):
        self.keep = keep
        self.drop = drop
        self.dates = dates
        self.text = text

    def fit(self, X, y=None):
        """Find the columns to leave out.

        Parameters
        ----------
        X : data frame (pandas or polars), lazy frame or table of Arrow
            The training rows.
        y : array-like of shape (n_samples,), default=None
            The classes. Without them columns that give them away are not found.

        Returns
        -------
        self : TableCleaner
            The fitted cleaner.
        """
        X = as_table(X)
        if not is_frame(X):
            raise TypeError(f"X must be a data frame; got {type(X).__name__}.")
        if not X.shape[0]:
            raise ValueError("X has no rows to learn from.")
        if self.text not in ("topics", "ignore"):
            raise ValueError(f"text={self.text!r} must be 'topics' or 'ignore'.")
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
        self.report_ = inspect_columns(looked_at, y, keep=self.keep, dates=self.dates)
        self.left_out_ = dict.fromkeys(self.drop, "As asked.") | self.report_.left_out
        if self.text == "ignore":
            texts = [each.name for each in self.report_.columns if each.kind == "text"]
            self.left_out_ |= dict.fromkeys(set(texts) - set(self.keep), "Free text, as asked.")
        used = [each for each in self.report_.columns if each.name not in self.left_out_]
        if not used:
            raise ValueError(f"No column is left to learn from: {self.left_out_}.")
        self.kinds_ = {each.name: each.kind for each in used}
        self.date_formats_ = {each.name: each.date_format for each in used if each.date_format}
        self.number_formats_ = {
            each.name: each.number_format for each in used if each.number_format
        }
        # A table whose names are not texts gets no column with a text as its name.
        self.derived_ = {
            currency_name(each.name): each.name
            for each in used
            if len(each.currencies) > 1 and isinstance(each.name, str)
        }
        taken = [name for name in self.derived_ if name in names]
        if taken:
            raise ValueError(f"X has a column {taken[0]!r}; amounts need this name: rename it.")
        self.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
        self.n_features_in_ = len(names)
        return self

    def transform(self, X):
        """Return the columns that are left.

        Parameters
        ----------
        X : data frame (pandas or polars), lazy frame or table of Arrow
            The rows. Columns are found by their names; others than `fit` saw do not matter, nor do
            those it left out.

        Returns
        -------
        X : data frame
        """
        check_is_fitted(self)
        X = as_table(X)
        if not is_frame(X):
            raise TypeError(f"X must be a data frame; got {type(X).__name__}.")
        columns = columns_of(X)
        missing = [name for name in self.kinds_ if name not in columns]
        if missing:
            raise ValueError(f"X lacks the columns {missing[:10]}, which fit has seen.")
        with unread_cells(self):
            changed = self._changed(columns)
        return _with_columns(X[list(self.kinds_)], changed, self._names())

    def _names(self) -> list:
        """Return the names of the columns that are left; one that is added follows its source."""
        of_source = {source: name for name, source in self.derived_.items()}
        return [
            each
            for name in self.kinds_
            for each in ([name, of_source[name]] if name in of_source else [name])
        ]

    def _changed(self, columns: dict) -> dict:
        """Return the columns that cannot stay as they are, and those that are added."""
        changed: dict = {}
        of_source = {source: name for name, source in self.derived_.items()}
        currencies = {each.name: each.currencies for each in self.report_.columns}
        for name, kind in self.kinds_.items():
            column = columns[name]
            found = "empty" if is_empty(column) else column_kind(column)
            if name in of_source:
                changed[of_source[name]] = np.full(len(column), None)
            if currencies.get(name) and found == "category":
                units = currencies_of_texts(*texts_of(column))
                _note_new_currencies(name, units, currencies[name])
                if name in of_source:
                    changed[of_source[name]] = units
            if found == "empty" or kind not in ("date", "duration", "number"):
                continue
            written = self.date_formats_.get(name) or self.number_formats_.get(name)
            values = read_numbers(column, name, kind, written)
            if kind == "number" and (found != kind or np.isinf(values).any()):
                changed[name] = np.where(np.isinf(values), np.nan, values)
            elif kind == "date" and found != kind:
                changed[name] = _ticks(values, "datetime64[us]")
            elif kind == "duration" and found != kind:
                changed[name] = _ticks(values, "timedelta64[us]")
        return changed

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
        return np.array([str(name) for name in self._names()], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _note_new_currencies(name, units: np.ndarray, known: tuple[str, ...]) -> None:
    """Note currencies that fit has not seen."""
    new = sorted({unit for unit in units.tolist() if unit is not None} - {*known, "%"})
    if new:
        note_column(
            name,
            f"held amounts in {', '.join(known)} in every row that fit saw, and now also in "
            f"{', '.join(new[:5])}. Amounts are not converted",
        )


def _ticks(days: np.ndarray, dtype: str) -> np.ndarray:
    """Return days as moments since 1970, or as durations."""
    ticks = np.full(len(days), "NaT", dtype=dtype)
    known = np.isfinite(days)
    ticks[known] = np.round(days[known] * _MICROSECONDS_A_DAY).astype("int64").astype(ticks.dtype)
    return ticks


def _with_columns(X, changed: dict, names: list):
    """Return a frame with some columns replaced or added, in the order of their names."""
    if not changed:
        return X
    if type(X).__module__.startswith("polars"):
        import polars

        series = [
            polars.Series(name, values.tolist() if values.dtype == object else values)
            for name, values in changed.items()
        ]
        return X.with_columns(series)[names]
    X = X.copy(deep=False)
    for name, values in changed.items():  # `assign` takes texts as names only
        X[name] = values
    return X[names]
