"""Share what the studies of decisions after a fit need: settings, retired names, staged answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from metasampler import MesaClassifier
from metasampler_bench._retired import Retired

__all__ = [
    "RETIRED_CALIBRATIONS",
    "SIZES",
    "as_words",
    "count_sets",
    "few_positives",
    "make_mesa",
    "stages",
    "values_of",
]

#: Members of the ensembles.
SIZES = (10, 50)

_COMMIT = "1fe915a"
_NO_BETTER = "no better than auto"

#: Calibrations that stored rows have and the package no longer has.
RETIRED_CALIBRATIONS = {
    name: Retired(name, _COMMIT, _NO_BETTER)
    for name in (
        "isotonic",
        "cross-fitted",
        "mean of sigmoid and isotonic",
        "sigmoid, all rows in turn",
    )
}


def make_mesa(seed: int, n_estimators: int = min(SIZES), **options: Any) -> MesaClassifier:
    """Return what is measured: the paper's members with a constant mu, and no refit."""
    settings = {
        "meta_sampler": 0.9,
        "validation_fraction": 0.2,
        "leaf_smoothing": 0,
        "refit": False,
        **options,
    }
    return MesaClassifier(DecisionTreeClassifier(), n_estimators, random_state=seed, **settings)


def stages(fitted: Any, X: Any) -> dict[int, NDArray[Any]]:
    """Return the probabilities after each of `SIZES` members.

    With a constant mu the first ten of fifty members are those of a fit of ten.
    """
    answers = enumerate(fitted.staged_predict_proba(X), start=1)
    return {k: proba for k, proba in answers if k in SIZES}


@contextmanager
def few_positives() -> Iterator[None]:
    """Keep quiet about few held-out rows: they are part of the study."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*held-out rows of the minority class")
        yield


def count_sets(rows: list[dict[str, Any]]) -> int:
    """Count the data sets of some rows."""
    return len({row["set"] for row in rows})


def values_of(rows: list[dict[str, Any]], key: str) -> list[Any]:
    """Return the values that rows have, in order."""
    return sorted({row[key] for row in rows})


def as_words(names: list[str]) -> str:
    """Join names as a sentence does."""
    *first, last = names
    return f"{'; '.join(first)} and {last}" if first else last
