"""Polars frames that LightGBM must never get: on texts it ends the whole interpreter.

LightGBM reads polars frames through Arrow. A column that holds no plain numbers is then a fatal
error in its C++ code, which no `except` can catch.
"""

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from metasampler._sklearn_compat import take_rows
from metasampler.tables import TableForm

__all__ = ["is_lightgbm", "is_polars", "refuse_polars_texts"]

# Enough to see what the steps before LightGBM make of a frame.
_N_ROWS = 200


def is_lightgbm(estimator) -> bool:
    """Return whether this is an estimator of LightGBM, or of a class derived from one."""
    kinds = type(estimator).__mro__
    return any(kind.__module__.partition(".")[0] == "lightgbm" for kind in kinds)


def is_polars(X) -> bool:
    """Return whether this is a table of polars."""
    return type(X).__module__.partition(".")[0] == "polars"


def _has_texts(X) -> bool:
    """Return whether a polars frame has a column that does not hold plain numbers."""
    return 0 not in X.shape and TableForm("numbers").fit(X).encoder is not None


def refuse_polars_texts(estimator, X, y) -> None:
    """Raise a TypeError if LightGBM, somewhere in an estimator, would get texts of polars.

    Steps of a pipeline that learn from labels get ``y``.
    """
    if not is_polars(X) or not _has_texts(X):
        return
    if is_lightgbm(estimator):
        raise TypeError(
            f"{type(estimator).__name__}, a part of estimator, would get a polars frame with "
            "columns that are not numbers. On such a frame LightGBM ends the interpreter. Encode "
            "the columns before it, or pass X.to_pandas()."
        )
    if isinstance(estimator, Pipeline):
        if not _holds_lightgbm(estimator.steps[-1][1]):
            return
        head, labels = take_rows(X, slice(0, _N_ROWS)), y[:_N_ROWS]
        try:
            seen = clone(estimator[:-1]).fit_transform(head, labels)
        except Exception:  # the fit itself will say what is wrong, before LightGBM sees a row
            return
        refuse_polars_texts(estimator.steps[-1][1], seen, labels)
        return
    for part in _parts_of(estimator):
        refuse_polars_texts(part, X, y)


def _parts_of(estimator) -> list:
    """Return what an estimator, or a list of (named) ones, is made of."""
    if isinstance(estimator, (list, tuple)):
        return list(estimator)
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return []
    return list(estimator.get_params(deep=False).values())


def _holds_lightgbm(estimator) -> bool:
    return is_lightgbm(estimator) or any(map(_holds_lightgbm, _parts_of(estimator)))
