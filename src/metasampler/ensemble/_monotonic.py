"""Monotonic constraints: from the columns of a user's table to the settings of members."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from metasampler.growth import estimators_of, is_plain_booster, is_plain_tree

__all__ = ["constrained", "resolve_monotonic"]


def resolve_monotonic(given: Any, form, n_columns: int, n_classes: int) -> list[int] | None:
    """Return the sign of each number that members see; None if no column has a constraint.

    ``given`` has a sign for each column, or for some of them by name. ``form`` is what brings
    tables into the form that members take.
    """
    if given is None:
        return None
    if form.names is None and form.encoder is None:
        names: list = list(range(n_columns))
    else:
        names = form.names or list(form.encoder.kinds_)
    signs = _signs_by_name(given, names, known=form.names is not None)
    if not signs:
        return None
    if n_classes > 2:
        raise ValueError(
            f"monotonic_cst is for two classes: it says what makes the second of them more "
            f"probable. y has {n_classes} classes; set monotonic_cst=None."
        )
    if form.encoder is None:
        return [signs.get(name, 0) for name in names]
    for name in signs:
        if form.encoder.kinds_[name] != "number":
            raise ValueError(
                f"monotonic_cst: column {name!r} holds no numbers ({form.encoder.kinds_[name]}). "
                "Only columns of numbers can have a constraint; turn the column into numbers, or "
                "leave it out."
            )
    return [signs.get(source, 0) for source in form.encoder.sources()]


def _signs_by_name(given: Any, names: list, *, known: bool) -> dict:
    """Return the signs that are not 0, by the names of their columns."""
    if isinstance(given, Mapping):
        if not known:
            raise ValueError(
                f"monotonic_cst={given!r:.200} has names of columns, but X has none. Pass a list "
                f"with a sign for each of the {len(names)} columns, or a data frame."
            )
        strange = [name for name in given if name not in names]
        if strange:
            raise ValueError(
                f"monotonic_cst has the columns {strange[:10]}, which X does not have; its columns "
                f"are {names[:10]}{' and others' if len(names) > 10 else ''}."
            )
        signs = dict(given)
    else:
        values = np.asarray(given)
        if values.shape != (len(names),):
            raise ValueError(
                f"monotonic_cst must have a sign for each of the {len(names)} columns, or be a "
                f"dict by their names; got the shape {values.shape}."
            )
        signs = dict(zip(names, values.tolist(), strict=True))
    wrong = {name: sign for name, sign in signs.items() if sign not in (-1, 0, 1)}
    if wrong:
        raise ValueError(
            f"monotonic_cst must be 1 (more probable with larger values), -1 or 0 for each column; "
            f"got {dict(list(wrong.items())[:5])!r}."
        )
    return {name: int(sign) for name, sign in signs.items() if sign}


def constrained(estimators: Any, signs: list[int] | None) -> Any:
    """Return base estimators whose members keep the signs; copies, if there are any signs."""
    if signs is None:
        return estimators
    copies = []
    for estimator in estimators_of(estimators):
        if is_plain_tree(estimator):
            name = "monotonic_cst"
        elif is_plain_booster(estimator):
            name = "monotone_constraints"
        else:
            raise ValueError(
                "monotonic_cst works with the teams of a recipe, and with scikit-learn's trees and "
                "LightGBM as members. Set the constraint of "
                f"{estimator!r:.200} itself, if it has one."
            )
        if estimator.get_params().get(name) is not None:
            raise ValueError(
                f"monotonic_cst and the {name} of {estimator!r:.200} exclude each other: set one."
            )
        copies.append(clone(estimator).set_params(**{name: list(signs)}))
    return copies if isinstance(estimators, list) else copies[0]
