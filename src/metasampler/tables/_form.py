"""The form in which members take a table, learned once from the training table."""

import numpy as np
from sklearn.utils import check_array

from metasampler.tables._columns import columns_of, is_frame, is_plain_number
from metasampler.tables._encoder import TableEncoder

__all__ = ["TableForm", "values_for_missing"]


def values_for_missing(X: np.ndarray) -> np.ndarray:
    """Return for each column a number below all others, which a tree can split off."""
    lowest = X.min(axis=0)
    if np.isnan(lowest).any():
        # A column without any number has no lowest one; NumPy would warn of it.
        known = np.where(np.isnan(X), np.inf, X).min(axis=0)
        lowest = np.where(np.isfinite(known), known, 0.0)
    return lowest - 1 - 1e-3 * np.abs(lowest)


class TableForm:
    """Bring tables into the form that members take; a table is converted once, never per member.

    Parameters
    ----------
    wants : {"float32", "numbers", "as it is"}
        ``"float32"`` is what scikit-learn's trees take, ``"numbers"`` what LightGBM takes, both
        dense or sparse. Columns of a data frame that hold no plain numbers are encoded for them.
        ``"as it is"`` hands the table to the members as the user passed it: what may be in it is
        for them to say.
    allow_nan : bool, default=True
        Whether numbers may be missing.
    fill_missing : bool, default=False
        Whether missing values of an encoded frame become numbers below all others.

    Attributes
    ----------
    encoder : TableEncoder or None
        What turns frames into numbers, if that is needed.
    """

    def __init__(self, wants: str, *, allow_nan: bool = True, fill_missing: bool = False):
        self.wants = wants
        self.allow_nan = allow_nan
        self.fill_missing = fill_missing
        self.encoder: TableEncoder | None = None
        #: Positions of the columns whose numbers are codes.
        self.categorical_features: list[int] = []
        self._fill: np.ndarray | None = None

    def fit(self, X) -> "TableForm":
        """Learn from the training table which columns have to be encoded, and how."""
        has_names = hasattr(X, "columns")
        if self.wants != "as it is" and has_names and is_frame(X) and X.shape[0] and X.shape[1]:
            columns = columns_of(X)
            if not all(is_plain_number(column) for column in columns.values()):
                self.encoder = TableEncoder().fit(X)
                self.categorical_features = self.encoder.categorical_features_
                if self.fill_missing:
                    self._fill = values_for_missing(self.encoder.transform(X))
        return self

    def ordered(self, X):
        """Return a frame with the columns of the training table, in their order.

        Only frames with columns to be encoded are read by name; others follow scikit-learn's rule
        that the order must be the same.
        """
        if self.encoder is None or not is_frame(X):
            return X
        names = list(self.encoder.kinds_)
        if list(X.columns) == names or not set(names) <= set(X.columns):
            return X
        return X[names]

    def __call__(self, X, *, name: str = "X", owner=None):
        """Return a table in this form, or a clear error."""
        if self.wants == "as it is":
            return self._as_it_is(X, name, owner)
        if self.encoder is not None:
            if not is_frame(X):
                raise TypeError(
                    f"{name} must be a data frame, as the training table was: its columns "
                    f"{self._encoded_names()} are encoded by name. Got {type(X).__name__}."
                )
            X = self.encoder.transform(X)
            if self._fill is not None:
                X = np.where(np.isnan(X), self._fill, X)
        return check_array(
            X,
            accept_sparse="csr",
            dtype=np.float32 if self.wants == "float32" else [np.float64, np.float32],
            order="C",
            ensure_all_finite="allow-nan" if self.allow_nan else True,
            input_name=name,
            estimator=owner,
        )

    def _encoded_names(self) -> list:
        assert self.encoder is not None
        return [name for name, kind in self.encoder.kinds_.items() if kind != "number"][:10]

    @staticmethod
    def _as_it_is(X, name: str, owner):
        if is_frame(X):
            if X.shape[0] == 0 or X.shape[1] == 0:
                raise ValueError(
                    f"{name} has shape {tuple(X.shape)}; at least one row and column is needed."
                )
            return X
        return check_array(
            X,
            accept_sparse="csr",
            dtype=None,
            ensure_all_finite=False,
            input_name=name,
            estimator=owner,
        )
