"""What each column did for each row, and the forms that people read it in."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

__all__ = ["Reasons"]


@dataclass(frozen=True, eq=False, repr=False)
class Reasons:
    """What each column adds to the log-odds of each row.

    :func:`~metasampler.explain.explain_rows` makes them. In every row ``base`` and the
    contributions add up to ``log_odds``.

    Attributes
    ----------
    contributions : ndarray of shape (n_samples, n_columns)
        What each column adds to the log-odds of the class. Positive values make the class more
        probable.
    base : float or ndarray of shape (n_samples,)
        The log-odds if nothing is known of a row; an array if rows are explained for classes of
        their own.
    log_odds : ndarray of shape (n_samples,)
        The log-odds of the class, log(p / (1 - p)) with p of `predict_proba`. They are cut off at
        27.6, where p is 1e-12 or 1 - 1e-12.
    columns : list
        The names of the columns.
    values : ndarray of object of shape (n_samples, n_columns)
        The values of the columns.
    class_label : object or ndarray of shape (n_samples,)
        The class, or the class of each row.
    """

    contributions: np.ndarray
    base: float | np.ndarray
    log_odds: np.ndarray
    columns: list
    values: np.ndarray
    class_label: Any

    def __len__(self) -> int:
        return len(self.log_odds)

    def __repr__(self) -> str:
        n_rows, n_columns = self.contributions.shape
        label = "classes of their own" if np.ndim(self.class_label) else repr(self.class_label)
        return f"<Reasons for {label}: {n_rows:,} rows, {n_columns:,} columns>"

    def order(self, n: int | None = None) -> np.ndarray:
        """Return the positions of the columns that matter most in each row, the first one most.

        Parameters
        ----------
        n : int, default=None
            How many columns; None orders all.

        Returns
        -------
        order : ndarray of int of shape (n_samples, n)
        """
        if n is not None and not (isinstance(n, Integral) and n >= 1):
            raise ValueError(f"n={n!r} must be a number of columns, 1 or more, or None for all.")
        return np.argsort(-np.abs(self.contributions), axis=1, kind="stable")[:, :n]

    def top(self, n: int | None = 3):
        """Return the columns that matter most in each row, as a data frame.

        Parameters
        ----------
        n : int, default=3
            How many columns per row; None lists all.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns ``row`` (a position in X), ``column``, ``value`` and ``contribution``.
        """
        import pandas as pd

        order = self.order(n)
        rows = np.repeat(np.arange(len(self)), order.shape[1])
        at = rows, order.ravel()
        return pd.DataFrame(
            {
                "row": rows,
                "column": np.array(self.columns, dtype=object)[at[1]],
                "value": self.values[at],
                "contribution": self.contributions[at],
            }
        )

    def frame(self):
        """Return all contributions as a data frame: a row for each row, a column for each column.

        Returns
        -------
        frame : pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame(self.contributions, columns=self.columns)

    def texts(self, n: int = 3) -> list[list[str]]:
        """Return the columns that matter most in each row, as texts such as "amount=1200 (+1.32)".

        Parameters
        ----------
        n : int, default=3
            How many columns per row.

        Returns
        -------
        texts : list of list of str
        """
        return [
            [
                f"{self.columns[k]}={_shown(self.values[row, k])} "
                f"({self.contributions[row, k]:+.2f})"
                for k in of_row
            ]
            for row, of_row in enumerate(self.order(n).tolist())
        ]

    def mean_sizes(self) -> np.ndarray:
        """Return the mean size of each column's contributions: what matters over all rows.

        Returns
        -------
        sizes : ndarray of shape (n_columns,)
        """
        return np.abs(self.contributions).mean(axis=0)

    def to_shap(self):
        """Return the contributions as a ``shap.Explanation``, for the plots of the package shap.

        Returns
        -------
        explanation : shap.Explanation
        """
        import shap

        return shap.Explanation(
            values=self.contributions,
            base_values=np.full(len(self), self.base),
            data=self.values,
            feature_names=[str(name) for name in self.columns],
        )


def _shown(value) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
