"""The encoder: a data frame with columns of any kind becomes one matrix of numbers."""

from collections import Counter
from itertools import combinations, pairwise
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from metasampler._sklearn_compat import Interval, StrOptions, fit_context
from metasampler.tables._columns import (
    column_kind,
    columns_of,
    first_value,
    is_empty,
    is_frame,
    texts_of,
)
from metasampler.tables._dates import PARTS, parts_of
from metasampler.tables._encodings import (
    CategoryColumn,
    Column,
    DateColumn,
    DateDifference,
    DurationColumn,
    EmptyColumn,
    IgnoredColumn,
    NumberColumn,
    TextColumn,
    read_numbers,
)
from metasampler.tables._frames import as_table
from metasampler.tables._text import is_free_text, learn_text
from metasampler.tables._unread import unread_cells

__all__ = ["TableEncoder", "encoder_of_numbers", "unseen_levels"]

# With more columns of dates only neighbours are compared.
_MOST_COMPARED = 5


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a data frame with columns of any kind into one matrix of numbers.

    - Numbers and booleans stay what they are.
    - Dates become days since 1970, hour, weekday, month and day of month, as far as these vary in
      the training rows. Two columns of dates also give the days between them. Moments with a time
      zone are read in UTC.
    - Durations and times of day become days.
    - Texts and categories become codes.
    - Free text becomes topics, the main directions in which the weighted words of its texts
      differ, and, if `fit` gets the classes, a score: a logistic regression on the words. Texts
      are scored by a regression on the texts of other folds, so that the class of a row has no
      part in its own score. A column is free text if its texts have three words or more on
      average, and there are at least three different ones for ten rows.
    - Missing values become NaN.

    Use scikit-learn's `OrdinalEncoder` if you want to name the columns to encode yourself; it does
    not know dates.

    Parameters
    ----------
    min_count : int, default=2
        A level of a text or a category gets a code of its own if at least this many rows have it.
        Rarer levels share code 0, and so do levels that `fit` did not see. So a column of
        identifiers carries no information.

    text : {"topics", "ignore"}, default="topics"
        What becomes of columns of free text. ``"ignore"`` leaves them out.

    Attributes
    ----------
    kinds_ : dict of str
        The kind of each column: ``"number"``, ``"date"``, ``"duration"``, ``"category"``,
        ``"text"``, or ``"empty"`` if all values were missing. An empty column stays empty, also if
        new rows have values.

    columns_ : dict
        What is known of each column, in dataclasses of plain values and arrays.

    differences_ : list of DateDifference
        The pairs of columns of dates whose difference is taken.

    levels_ : dict of list of str
        The levels of each text or category that have a code of their own, in the order of their
        codes 1, 2, ...

    categorical_features_ : list of int
        The positions of the numbers that are codes.

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
    >>> times = pd.DataFrame({"paid": pd.to_datetime(["2026-03-02 08:30", "2026-03-02 17:00"])})
    >>> encoder = TableEncoder().fit(times)
    >>> encoder.get_feature_names_out().tolist()
    ['paid (days since 1970)', 'paid (hour)']
    """

    _parameter_constraints: dict = {
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "text": [StrOptions({"topics", "ignore"})],
    }

    def __init__(self, min_count=2, *, text="topics"):
        self.min_count = min_count
        self.text = text

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Learn the kinds of the columns, the levels of categories and the topics of texts.

        Parameters
        ----------
        X : data frame (pandas or polars), lazy frame or table of Arrow
            The training rows.
        y : array-like of shape (n_samples,), default=None
            The classes. With them free text also gets scores.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        X = as_table(X)
        _check_frame(X)
        labels = None if y is None else np.asarray(y)
        return self.fit_blocks(
            lambda question, *args: [question(X, *args)],
            None if y is None else lambda question, *args: [question(X, labels, *args)],
        )

    def fit_blocks(self, ask, ask_labelled=None):
        """Learn from the rows of several frames, as `fit` does from all of them in one.

        Parameters
        ----------
        ask : callable
            ``ask(question, *args)`` returns what ``question(frame, *args)`` gives for each frame.
        ask_labelled : callable, default=None
            The same for ``question(frame, labels, *args)``.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        kinds = _merge_kinds(ask(_kinds_of_columns))
        texts = [name for name, kind in kinds.items() if kind == "category"]
        dates = [name for name, kind in kinds.items() if kind == "date"]
        pairs = list(pairwise(dates) if len(dates) > _MOST_COMPARED else combinations(dates, 2))
        counts: dict = {name: Counter() for name in texts}
        lowest: dict = {}
        highest: dict = {}
        for levels, ranges in ask(_look_at_columns, texts, dates, pairs) if texts or dates else []:
            for name in texts:
                counts[name].update(levels[name])
            for key, (low, high) in ranges.items():
                lowest[key] = np.fmin(low, lowest.get(key, np.nan))
                highest[key] = np.fmax(high, highest.get(key, np.nan))
        varies = {key: lowest[key] < highest[key] for key in lowest}
        plain: dict = {"number": NumberColumn, "duration": DurationColumn, "empty": EmptyColumn}
        free = [name for name in texts if is_free_text(counts[name], counts[name].total())]
        of_classes: dict = dict.fromkeys(free)
        if free and ask_labelled is not None and self.text == "topics":
            of_classes = _merge_labelled(ask_labelled(_texts_of_classes, free), free)
        columns: dict = {}
        for name, kind in kinds.items():
            if name in free and self.text == "ignore":
                columns[name] = IgnoredColumn(name)
            elif kind == "category":
                columns[name] = self._column_of_texts(name, counts.pop(name), of_classes)
            elif kind == "date":
                parts = [part for part, var in zip(PARTS, varies[name], strict=True) if var]
                columns[name] = DateColumn(name, parts or list(PARTS[:1]))
            else:
                columns[name] = plain[kind](name)
        self._become(columns, [DateDifference(*pair) for pair in pairs if varies[pair].all()])
        return self

    def _become(self, columns: dict[object, Column], differences: list[DateDifference]) -> None:
        """Set the fitted attributes."""
        self.columns_, self.differences_ = columns, differences
        self.kinds_ = {name: column.kind for name, column in columns.items()}
        self.feature_names_in_ = np.array([str(name) for name in columns], dtype=object)
        self.n_features_in_ = len(columns)
        self.categorical_features_ = []
        position = 0
        for column in columns.values():
            if column.kind == "category":
                self.categorical_features_.append(position)
            position += len(column.feature_names)
        if not position:
            raise ValueError(
                f"No column is left to learn from: {list(columns)[:10]} hold free text, which "
                'text="ignore" leaves out.'
            )

    def _column_of_texts(self, name, counts: Counter, of_classes: dict) -> Column:
        """Return a column of texts as levels, or as free text."""
        model = learn_text(counts.keys(), of_classes[name]) if name in of_classes else None
        if model is not None:
            return TextColumn(name, model)
        often = sorted(level for level, count in counts.items() if count >= self.min_count)
        return CategoryColumn(name, often)

    @property
    def levels_(self) -> dict:
        """The levels of each text or category that have a code of their own."""
        columns = self.columns_.values()
        return {each.name: each.levels for each in columns if isinstance(each, CategoryColumn)}

    def transform(self, X):
        """Return the rows as numbers.

        Parameters
        ----------
        X : data frame (pandas or polars), lazy frame or table of Arrow
            The rows. Columns are found by their names, in any order; columns that `fit` did not
            see are left out. A number or a date may be written as a text. Cells that cannot be
            read count as missing, with a warning; with more than a tenth of a column it is an
            error.

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_numbers)
            With the names of `get_feature_names_out`.
        """
        check_is_fitted(self)
        X = as_table(X)
        columns = _check_frame(X)
        missing = [name for name in self.columns_ if name not in columns]
        if missing:
            raise ValueError(f"X lacks the columns {missing[:10]}, which fit has seen.")
        # Written by columns, read by rows: two passes are faster than scattered writes.
        numbers = np.empty((X.shape[0], len(self.sources())), order="F")
        position, days = 0, {}
        with unread_cells(self):
            for name, column in self.columns_.items():
                if isinstance(column, DateColumn):
                    days[name] = read_numbers(columns[name], name, "date")
                encoded = (
                    column.parts_of(days[name])
                    if isinstance(column, DateColumn)
                    else column.encode(columns[name])
                )
                for values in encoded:
                    numbers[:, position] = values
                    position += 1
        for pair in self.differences_:
            numbers[:, position] = days[pair.second] - days[pair.first]
            position += 1
        return np.ascontiguousarray(numbers)

    def sources(self) -> list:
        """Return for each number the name of the column that it is from, or of two columns."""
        sources = [column.name for column in self.columns_.values() for _ in column.feature_names]
        return sources + [each.feature_name for each in self.differences_]

    def get_feature_names_out(self, input_features=None):
        """Return the names of the numbers: those of the columns, and of what columns are made of.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names = [name for column in self.columns_.values() for name in column.feature_names]
        names += [each.feature_name for each in self.differences_]
        return np.array(names, dtype=object)

    def positions_of_days(self) -> list[int]:
        """Return which of the numbers are days since 1970."""
        names = self.get_feature_names_out().tolist()
        dates = [each for each in self.columns_.values() if isinstance(each, DateColumn)]
        days = {f"{each.name} ({PARTS[0]})" for each in dates}
        return [position for position, name in enumerate(names) if name in days]

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
            raise ValueError(
                f"Column {name!r} holds values that are neither numbers, dates nor texts, for "
                f"instance {found['other']!r}; drop it, or turn it into such columns."
            )
        found.pop("empty", None)
        # A column of several kinds is read as texts.
        merged[name] = next(iter(found)) if len(found) == 1 else "category" if found else "empty"
    return merged


def _look_at_columns(X, texts: list, dates: list, pairs: list) -> tuple[dict, dict]:
    """Return how many rows have each of the texts of some columns, and the range of dates.

    The range is that of each part of a date, and of the difference of two dates.
    """
    counts = {}
    for name in texts:
        levels, codes = texts_of(X[name])
        numbers = np.bincount(codes[codes >= 0], minlength=len(levels))
        counts[name] = dict(zip(levels.tolist(), numbers.tolist(), strict=True))
    with unread_cells():
        days = {name: read_numbers(X[name], name, "date") for name in dates}
    values = {name: np.stack(list(parts_of(of).values())) for name, of in days.items()}
    values |= {(first, second): days[second][None] - days[first] for first, second in pairs}
    ranges = {}
    for key, of in values.items():
        of = np.where(np.isfinite(of), of, np.nan)
        ranges[key] = (
            np.fmin.reduce(of, axis=1, initial=np.inf),
            np.fmax.reduce(of, axis=1, initial=-np.inf),
        )
    return counts, ranges


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


def _texts_of_classes(X, y, names: list) -> dict:
    """Return for each column and class how many rows have each text."""
    found: dict = {name: {} for name in names}
    for name in names:
        levels, codes = texts_of(X[name])
        for label in np.unique(y).tolist():
            of_label = codes[(y == label) & (codes >= 0)]
            numbers = np.bincount(of_label, minlength=len(levels))
            present = np.flatnonzero(numbers)
            found[name][label] = dict(
                zip(levels[present].tolist(), numbers[present].tolist(), strict=True)
            )
    return found


def _merge_labelled(answers: list[dict], names: list) -> dict:
    """Return for each column and class, in order, how many rows of all frames have each text."""
    merged: dict = {}
    for name in names:
        of_label: dict = {}
        for answer in answers:
            for label, counts in answer[name].items():
                of_label.setdefault(label, Counter()).update(counts)
        merged[name] = {label: of_label[label] for label in sorted(of_label)}
    return merged


def encoder_of_numbers(names) -> TableEncoder:
    """Return an encoder that has seen columns of numbers with these names."""
    encoder = TableEncoder()
    encoder._become({name: NumberColumn(name) for name in names}, [])
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
