"""The encoder: a data frame with columns of any kind becomes one matrix of numbers."""

from collections import Counter
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from metasampler._sklearn_compat import Interval, fit_context
from metasampler.tables._columns import (
    column_kind,
    columns_of,
    first_value,
    is_empty,
    is_frame,
    numbers_of,
    texts_of,
)

__all__ = ["TableEncoder", "encoder_of_numbers", "unseen_levels"]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a data frame with columns of any kind into one matrix of numbers.

    Numbers and booleans stay what they are. Dates become days since 1970. Texts and categories
    become codes. Missing values become NaN. Use scikit-learn's `OrdinalEncoder` if you want to name
    the columns to encode yourself; it does not know dates.

    Parameters
    ----------
    min_count : int, default=2
        A level of a text or a category gets a code of its own if at least this many rows have it.
        Rarer levels share code 0, and so do levels that `fit` did not see. So a column of
        identifiers carries no information.

    Attributes
    ----------
    kinds_ : dict of str
        The kind of each column: ``"number"``, ``"date"``, ``"category"``, or ``"empty"`` if all
        values were missing. An empty column stays empty, also if new rows have values.

    levels_ : dict of list of str
        The levels of each text or category that have a code of their own, in the order of their
        codes 1, 2, ...

    categorical_features_ : list of int
        The positions of the columns with codes.

    n_features_in_ : int
        Number of columns.

    feature_names_in_ : ndarray of str
        Names of the columns.

    See Also
    --------
    sklearn.preprocessing.OrdinalEncoder : Codes of columns that are all categories.

    Examples
    --------
    >>> import pandas as pd
    >>> from metasampler.tables import TableEncoder
    >>> frame = pd.DataFrame({"city": ["Rome", "Oslo", "Rome", "Oslo"], "age": [31, None, 45, 28]})
    >>> TableEncoder().fit_transform(frame)
    array([[ 2., 31.],
           [ 1., nan],
           [ 2., 45.],
           [ 1., 28.]])
    """

    _parameter_constraints: dict = {"min_count": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, min_count=2):
        self.min_count = min_count

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Learn the kinds of the columns and the levels of texts and categories.

        Parameters
        ----------
        X : data frame (pandas or polars)
            The training rows.
        y : None
            Ignored.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        _check_frame(X)
        return self.fit_blocks(lambda question, *args: [question(X, *args)])

    def fit_blocks(self, ask):
        """Learn from the rows of several frames, as `fit` does from all of them in one.

        Parameters
        ----------
        ask : callable
            ``ask(question, *args)`` returns what ``question(frame, *args)`` gives for each frame.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        self.kinds_ = _merge_kinds(ask(_kinds_of_columns))
        texts = [name for name, kind in self.kinds_.items() if kind == "category"]
        counts: dict = {name: Counter() for name in texts}
        for answer in ask(_count_levels, texts) if texts else []:
            for name in texts:
                counts[name].update(answer[name])
        self.levels_ = {
            name: sorted(level for level, count in of.items() if count >= self.min_count)
            for name, of in counts.items()
        }
        self.feature_names_in_ = np.array([str(name) for name in self.kinds_], dtype=object)
        self.n_features_in_ = len(self.kinds_)
        self.categorical_features_ = [
            position for position, kind in enumerate(self.kinds_.values()) if kind == "category"
        ]
        return self

    def transform(self, X):
        """Return the rows as numbers.

        Parameters
        ----------
        X : data frame (pandas or polars)
            The rows. Columns are found by their names, in any order; columns that `fit` did not
            see are left out.

        Returns
        -------
        numbers : ndarray of shape (n_samples, `n_features_in_`)
        """
        check_is_fitted(self)
        columns = _check_frame(X)
        missing = [name for name in self.kinds_ if name not in columns]
        if missing:
            raise ValueError(f"X lacks the columns {missing[:10]}, which fit has seen.")
        # Written by columns, read by rows: two passes are faster than scattered writes.
        numbers = np.empty((X.shape[0], len(self.kinds_)), order="F")
        for position, (name, kind) in enumerate(self.kinds_.items()):
            numbers[:, position] = self._numbers(columns[name], name, kind)
        return np.ascontiguousarray(numbers)

    def _numbers(self, column, name, kind: str) -> np.ndarray | float:
        """Return a column as numbers."""
        if kind == "empty" or is_empty(column):
            return np.nan
        if kind == "category":
            levels, codes = texts_of(column)
            code_of = {level: code for code, level in enumerate(self.levels_[name], start=1)}
            of_level = np.array([code_of.get(level, 0) for level in levels], dtype=float)
            # The last entry is for missing values, whose code is -1.
            return np.append(of_level, np.nan)[codes]
        found = column_kind(column)
        if found != kind:
            now = "something else" if found == "other" else f"a {found}"
            # The common case: a model of a data frame scores a CSV file.
            hint = ""
            if kind == "date" and found == "category":
                hint = (
                    " Convert texts to dates first, for instance by pandas.to_datetime; a model of "
                    "`metasampler fit`, or with a TableCleaner, reads them itself."
                )
            raise ValueError(
                f"Column {name!r} held a {kind} in every row that fit saw, and now holds {now}, "
                f"for instance {first_value(column)!r}.{hint}"
            )
        return numbers_of(column, kind)

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns, which are those of the input.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return self.feature_names_in_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def _kinds_of_columns(X) -> dict:
    """Return the kind of each column of a frame and, of one that holds no known kind, a value."""
    kinds = {}
    for name, column in columns_of(X).items():
        kind = "empty" if len(column) == 0 or is_empty(column) else column_kind(column)
        kinds[name] = kind, first_value(column) if kind == "other" else None
    return kinds


def _merge_kinds(answers: list[dict]) -> dict:
    """Return the kind of each column, given its kind in each of several frames."""
    for answer in answers[1:]:
        if list(answer) != list(answers[0]):
            raise ValueError(
                f"Parts of the rows have other columns than the first: {list(answer)[:10]}, not "
                f"{list(answers[0])[:10]}."
            )
    merged = {}
    for name in answers[0]:
        found = {answer[name][0]: answer[name][1] for answer in answers}
        if "other" in found:
            raise TypeError(
                f"Column {name!r} holds values that are neither numbers, dates nor texts, for "
                f"instance {found['other']!r}; drop it, or turn it into such columns."
            )
        found.pop("empty", None)
        # Of several kinds all are read as texts.
        merged[name] = next(iter(found)) if len(found) == 1 else "category" if found else "empty"
    return merged


def _count_levels(X, names: list) -> dict:
    """Return for each column how many rows have each of its texts."""
    counts = {}
    for name in names:
        levels, codes = texts_of(X[name])
        numbers = np.bincount(codes[codes >= 0], minlength=len(levels))
        counts[name] = dict(zip(levels.tolist(), numbers.tolist(), strict=True))
    return counts


def unseen_levels(encoder: TableEncoder, X) -> dict:
    """Return the texts of each category that have no code of their own."""
    unseen = {}
    columns = columns_of(X)
    for name, levels in encoder.levels_.items():
        if name in columns and not is_empty(columns[name]):
            found, codes = texts_of(columns[name])
            used = found[np.unique(codes[codes >= 0])]
            unseen[name] = sorted(set(used.tolist()) - set(levels))
    return unseen


def encoder_of_numbers(names) -> TableEncoder:
    """Return an encoder that has seen columns of numbers with these names."""
    encoder = TableEncoder()
    encoder.kinds_, encoder.levels_ = dict.fromkeys(names, "number"), {}
    return encoder


def _check_frame(X) -> dict:
    """Return the columns of a frame by name, or a clear error."""
    if not is_frame(X):
        raise TypeError(
            f"TableEncoder takes a data frame (pandas or polars), got {type(X).__name__}."
        )
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X has shape {tuple(X.shape)}; at least one row and column is needed.")
    return columns_of(X)
