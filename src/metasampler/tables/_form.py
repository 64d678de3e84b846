"""The form in which members take a table, learned once from the training table."""

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from metasampler.tables._columns import columns_of, is_frame, is_plain_number
from metasampler.tables._encoder import TableEncoder, encoder_of_numbers


def lowest_values(X) -> np.ndarray:
    """Return the lowest number of each column; infinity for a column that has none.

    Of a sparse table it is the lowest of all numbers that are stored.
    """
    if issparse(X):
        return np.fmin.reduce(X.data, initial=np.inf)
    lowest = X.min(axis=0, initial=np.inf)
    return np.fmin.reduce(X, axis=0, initial=np.inf) if np.isnan(lowest).any() else lowest


def values_for_missing(lowest: np.ndarray) -> np.ndarray:
    """Return for each column a number below its lowest one, which a tree can split off."""
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    return lowest - 1 - 1e-3 * np.abs(lowest)


def as_float32(X):
    """Return a copy of a table in float32; numbers that are too large become the largest it has."""
    with np.errstate(over="ignore"):
        # A number alone becomes an array, too, which can be written to.
        X = (X if issparse(X) else np.asarray(X)).astype(np.float32)
    values = X.data if issparse(X) else X
    limits = np.finfo(np.float32)
    np.clip(values, limits.min, limits.max, out=values)
    return X


def _plain_names(X) -> list | None:
    """Return the names of the columns; None if some are not plain numbers."""
    columns = columns_of(X)
    return list(columns) if all(map(is_plain_number, columns.values())) else None


def _lowest_encoded(X, encoder: TableEncoder) -> np.ndarray:
    return lowest_values(encoder.transform(X))


class TableForm:
    """Bring tables into the form that members take; a table is converted once, never per member.

    They want ``"float32"``, which scikit-learn's trees take, ``"numbers"``, which LightGBM takes,
    both dense or sparse, or ``"as it is"``: then members decide what a table may hold. For the
    first two, columns of a data frame that do not hold plain numbers are encoded by `encoder`.
    ``"encoded"`` becomes ``"numbers"`` for a frame with such a column, and ``"as it is"`` for any
    other table. ``allow_nan`` says whether numbers may be missing, and ``fill_missing`` whether
    missing values of an encoded frame become numbers below all others.
    """

    def __init__(self, wants: str, *, allow_nan: bool = True, fill_missing: bool = False):
        self.wants = wants
        self.allow_nan = allow_nan
        self.fill_missing = fill_missing
        self.encoder: TableEncoder | None = None
        #: The columns of the training frame, by which later frames are read; None for arrays.
        self.names: list | None = None
        #: Positions of the columns whose numbers are codes.
        self.categorical_features: list[int] = []
        self._fill: np.ndarray | None = None
        # What reads later frames, of which some column may not be one of plain numbers any more.
        self._of_numbers: TableEncoder | None = None

    def fit(self, X, y=None) -> "TableForm":
        """Learn from the training table which columns have to be encoded, and how."""
        # An array has nothing to encode.
        if hasattr(X, "columns") and is_frame(X) and 0 not in X.shape:
            self.learn_names(X)
            self.fit_blocks(
                lambda question, *args: [question(X, *args)],
                None if y is None else lambda question, *args: [question(X, y, *args)],
            )
        return self.settled()

    def learn_names(self, X) -> None:
        """Learn the columns from a frame like the training table."""
        self.names = list(X.columns)

    @property
    def category_sizes(self) -> dict[int, int]:
        """The number of codes of each column whose numbers are codes.

        Empty if missing values are filled: what stands for them is not a code.
        """
        if self.encoder is None or self.fill_missing:
            return {}
        sizes = [len(levels) + 1 for levels in self.encoder.levels_.values()]
        return dict(zip(self.categorical_features, sizes, strict=True))

    def settled(self) -> "TableForm":
        """Return the form, once it has learned whether the table must be encoded."""
        if self.wants != "encoded":
            return self
        if self.encoder is not None:
            self.wants = "numbers"
            return self
        form = TableForm("as it is")
        form.names = self.names
        return form

    def fit_blocks(self, ask, ask_labelled=None, plain_names: list | None = None) -> "TableForm":
        """Learn from several frames what `fit` learns from all of their rows in one.

        ``ask(question, *args)`` returns what ``question(frame, *args)`` gives for each frame, and
        ``ask_labelled`` what ``question(frame, labels, *args)`` gives.
        ``plain_names`` are the columns, if all are known to hold plain numbers: frames then need
        not be read.
        """
        if self.wants == "as it is":
            return self
        answers = ask(_plain_names) if plain_names is None else [plain_names]
        if any(names is None for names in answers):
            self.encoder = TableEncoder().fit_blocks(ask, ask_labelled)
            self.categorical_features = self.encoder.categorical_features_
            if self.fill_missing:
                lowest = np.min(ask(_lowest_encoded, self.encoder), axis=0)
                self._fill = values_for_missing(lowest)
        else:
            self._of_numbers = encoder_of_numbers(answers[0])
        return self

    def ordered(self, X):
        """Return a frame with the columns of the training table, in their order."""
        names = self.names
        if names is None or not is_frame(X) or list(X.columns) == names:
            return X
        # A column that is missing is named where columns are compared.
        return X[names] if set(names) <= set(X.columns) else X

    def __call__(self, X, *, name: str = "X", owner=None):
        """Return a table in this form, or a clear error."""
        of_columns = hasattr(X, "columns") and is_frame(X)
        if of_columns and 0 in X.shape:
            raise ValueError(
                f"{name} has shape {tuple(X.shape)}; at least one row and column is needed."
            )
        if self.wants == "as it is":
            return X if of_columns else self._checked(X, name, owner)
        if self.encoder is not None:
            kinds = self.encoder.kinds_
            if not of_columns:
                encoded = [column for column, kind in kinds.items() if kind != "number"]
                raise TypeError(
                    f"{name} must be a data frame, as the training table was: its columns "
                    f"{encoded[:10]} are encoded by name. Got {type(X).__name__}."
                )
            numbers = self.encoder.transform(X)
            if self._fill is not None:
                numbers = np.where(np.isnan(numbers), self._fill, numbers)
            return self._checked(numbers, name, owner, columns=self.encoder.sources())
        if not of_columns:
            return self._checked(X, name, owner)
        columns = columns_of(X)
        if self._of_numbers and not all(map(is_plain_number, columns.values())):
            X, columns = self._of_numbers.transform(X), self._of_numbers.kinds_
        return self._checked(X, name, owner, columns=list(columns))

    def with_missing(self, table: np.ndarray) -> np.ndarray:
        """Return a table in this form with NaN where a value was missing."""
        if self._fill is None:
            return table
        return np.where(table == self._fill.astype(table.dtype), np.nan, table)

    def _checked(self, X, name: str, owner, columns: list | None = None):
        """Return an array or a sparse matrix; numbers in it are finite or missing."""
        options: dict = {"accept_sparse": "csr", "input_name": name, "estimator": owner}
        if self.wants == "as it is":
            return check_array(X, dtype=None, ensure_all_finite=False, **options)
        options |= {"order": "C", "ensure_all_finite": "allow-nan" if self.allow_nan else True}
        try:
            # Both infinities in one table have no sum, of which NumPy would warn first.
            with np.errstate(invalid="ignore"):
                return self._converted(X, options)
        except ValueError:
            if columns is None:
                raise
            numbers = check_array(X, dtype=np.float64, ensure_all_finite=False)
            infinite = [columns[k] for k in np.flatnonzero(np.isinf(numbers).any(axis=0))]
            if not infinite:
                raise
            raise ValueError(
                f"{name} holds infinity in the columns {infinite[:10]}; make it a missing value or "
                "a number."
            ) from None

    def _converted(self, X, options: dict):
        if self.wants != "float32":
            return check_array(X, dtype=[np.float64, np.float32], **options)
        try:
            with np.errstate(over="raise"):
                return check_array(X, dtype=np.float32, **options)
        except FloatingPointError:  # some number is too large for float32
            return as_float32(check_array(X, dtype=np.float64, **options))


class TreeTable:
    """Bring a table of numbers into the form that trees take fastest: float32, nothing missing.

    A missing value becomes a number below all others of its column, which a tree can split off.
    ``lowest`` has the lowest number of each column, see `lowest_values`.
    """

    def __init__(self, lowest: np.ndarray):
        self.fill = as_float32(values_for_missing(lowest))

    def __call__(self, X):
        """Return a table in this form; it may be the same one."""
        is_plain = isinstance(X, np.ndarray) and X.dtype == np.float32 and X.flags.c_contiguous
        if is_plain and not np.isnan(np.min(X, initial=0)):
            return X
        X = as_float32(X)
        if issparse(X):
            X.data[np.isnan(X.data)] = self.fill
            return X
        rows, columns = np.nonzero(np.isnan(X))
        X[rows, columns] = self.fill[columns]
        return np.ascontiguousarray(X)
