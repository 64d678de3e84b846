"""What the authors of estimators need and scikit-learn has under private names only.

Constraints of parameters, the check before a fit, weights and rows by position: the same rules and
the same words as scikit-learn's own, by its documented interface alone. No release of scikit-learn
can take these away. The package sklearn-compat is not used: it passes on the private names, and
allows no scikit-learn that is newer than itself.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.utils import check_array

__all__ = [
    "Interval",
    "StrOptions",
    "check_parameters",
    "check_sample_weight",
    "fit_context",
    "take_rows",
    "validate_parameter_constraints",
]


class InvalidParameterError(ValueError, TypeError):
    """A parameter of a wrong type or value."""


class Interval:
    """Numbers of a type in a range; ``closed`` says which ends belong to it."""

    def __init__(self, type: type, left: Any, right: Any, *, closed: str):
        self.type = type
        self.left = left
        self.right = right
        self.closed = closed

    def allows(self, value: Any) -> bool:
        """Return whether a value is one of them."""
        is_of_type = isinstance(value, self.type)
        if not is_of_type:
            return False
        # An end that is None is open: infinity is not a number to work with.
        left = -np.inf if self.left is None else self.left
        right = np.inf if self.right is None else self.right
        on_left = self.closed in ("left", "both") and value == self.left
        on_right = self.closed in ("right", "both") and value == self.right
        return left < value < right or on_left or on_right

    def __str__(self) -> str:
        kind = "an int" if self.type is Integral else "a float"
        convert = (lambda end: end) if self.type is Integral else float
        left = "-inf" if self.left is None else convert(self.left)
        right = "inf" if self.right is None else convert(self.right)
        first = "[" if self.closed in ("left", "both") and self.left is not None else "("
        last = "]" if self.closed in ("right", "both") and self.right is not None else ")"
        return f"{kind} in the range {first}{left}, {right}{last}"


class StrOptions:
    """One of some texts."""

    def __init__(self, options: set[str]):
        self.options = options

    def allows(self, value: Any) -> bool:
        """Return whether a value is one of them."""
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, sorted(self.options)))}}}"


def _is_random_state(value: Any) -> bool:
    if isinstance(value, Integral):
        return 0 <= int(value) < 2**32
    return value is None or isinstance(value, np.random.RandomState)


_NAMED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "boolean": (lambda v: isinstance(v, bool | np.bool_), "an instance of 'bool'"),
    "verbose": (
        lambda v: isinstance(v, bool | np.bool_) or (isinstance(v, Integral) and int(v) >= 0),
        "an int in the range [0, inf) or an instance of 'bool'",
    ),
    "random_state": (
        _is_random_state,
        "an int in the range [0, 4294967295], an instance of 'numpy.random.mtrand.RandomState' "
        "or None",
    ),
    "array-like": (
        lambda v: not np.isscalar(v) and (hasattr(v, "__len__") or hasattr(v, "shape")),
        "an array-like",
    ),
}


def _rule(constraint: Any) -> tuple[Callable[[Any], bool], str]:
    """Return what a constraint allows, and its name in errors."""
    if isinstance(constraint, Interval | StrOptions):
        return constraint.allows, str(constraint)
    if isinstance(constraint, str):
        return _NAMED[constraint]
    if constraint is None:
        return lambda value: value is None, "None"
    if constraint is callable:
        return callable, "a callable"
    return lambda value: isinstance(value, constraint), f"an instance of {constraint.__name__!r}"


def validate_parameter_constraints(
    parameter_constraints: Mapping[str, list], params: Mapping[str, Any], caller_name: str
) -> None:
    """Raise an error for the first parameter that meets none of its constraints."""
    for name, value in params.items():
        rules = [_rule(constraint) for constraint in parameter_constraints.get(name, [object])]
        if any(allows(value) for allows, _ in rules):
            continue
        names = [text for _, text in rules]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
        raise InvalidParameterError(
            f"The {name!r} parameter of {caller_name} must be {listed}. Got {value!r} instead."
        )


def check_parameters(estimator: Any) -> None:
    """Raise an error if a parameter meets none of the estimator's ``_parameter_constraints``."""
    if get_config()["skip_parameter_validation"]:
        return
    params = estimator.get_params(deep=False)
    validate_parameter_constraints(
        estimator._parameter_constraints, params, type(estimator).__name__
    )


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable:
    """Return a decorator that checks an estimator's parameters before its fit."""

    def decorate(fit: Callable) -> Callable:
        @wraps(fit)
        def checked(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            check_parameters(estimator)
            skips = get_config()["skip_parameter_validation"] or prefer_skip_nested_validation
            with config_context(skip_parameter_validation=skips):
                return fit(estimator, *args, **kwargs)

        return checked

    return decorate


def check_sample_weight(
    sample_weight: Any, X: Any, *, dtype: Any = np.float64, ensure_non_negative: bool = False
) -> np.ndarray:
    """Return one weight for every row of X."""
    n_rows = X.shape[0]
    if sample_weight is None or isinstance(sample_weight, Real):
        return np.full(n_rows, 1.0 if sample_weight is None else sample_weight, dtype=dtype)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=dtype, input_name="sample_weight", copy=False
    )
    if weights.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array. Expected "
            f"either a scalar value or a 1D array of length {n_rows}."
        )
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!")
    if ensure_non_negative and (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    return weights


def take_rows(X: Any, rows: np.ndarray | slice) -> Any:
    """Return rows of an array, a table in a file, a sparse matrix or a data frame, by position."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, np.ndarray) or sparse.issparse(X) or hasattr(X, "is_in_file"):
        return X[rows]
    if hasattr(X, "columns"):  # polars, which takes no masks
        return X[rows if isinstance(rows, slice) else np.arange(X.shape[0])[rows]]
    return [X[row] for row in (range(len(X))[rows] if isinstance(rows, slice) else rows)]
