"""The methods that ``metasampler compare`` knows; other packages add theirs by an entry point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from metasampler.cli._lightgbm import PlainLightGBM
from metasampler.datasets import near_matches
from metasampler.ensemble import (
    MesaClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)

__all__ = ["METHODS", "Method", "find_method", "known_methods"]

#: Entry points of this group are dicts of methods by name, each with what `Method` has.
_GROUP = "metasampler.methods"

#: Members of what is not an ensemble of this package; the usual default.
_N_TREES = 100


@dataclass(frozen=True)
class Method:
    """One method of a comparison.

    Parameters
    ----------
    title : str
        What tables and pictures show.
    make : callable
        ``make(n_estimators, random_state, n_jobs)`` gives an unfitted classifier.
    count_rows : callable
        ``count_rows(fitted, n_rows)`` gives the rows that the final members were trained on.
    sized : bool, default=True
        Whether the comparison chooses the number of members. Otherwise `make` takes None for it.
    reads_tables : bool, default=False
        Whether a fit takes data frames with columns of any kind. Others get numbers.
    """

    title: str
    make: Callable[[Any, int, int | None], Any]
    count_rows: Callable[[Any, int], int]
    sized: bool = True
    reads_tables: bool = False

    def build(self, *, n_estimators: int | None, random_state: int, n_jobs: int | None) -> Any:
        """Build an unfitted classifier."""
        return self.make(n_estimators, random_state, n_jobs)

    def n_training_rows(self, fitted: Any, n_rows: int) -> int:
        """Count the rows a fit used for training, summed over the members."""
        return int(self.count_rows(fitted, n_rows))


def _drawn(fitted: Any, n_rows: int) -> int:
    """Count the rows that the members drew."""
    return sum(len(rows) for rows in fitted.estimators_samples_)


def _boosted(fitted: Any, n_rows: int) -> int:
    """Count the rows of all boosting steps."""
    # scikit-learn rounds the rows it holds out up.
    held_out = fitted.do_early_stopping_ and fitted.validation_fraction is not None
    n_held_out = -int(-n_rows * fitted.validation_fraction // 1) if held_out else 0
    return (n_rows - n_held_out) * int(fitted.n_iter_)


def _preset(title: str, preset: str, **options: Any) -> Method:
    """Return a preset of MESA, which keeps its number of members unless one is asked for."""

    def make(n_estimators: int | None, random_state: int, n_jobs: int | None) -> Any:
        size = {} if n_estimators is None else {"n_estimators": n_estimators}
        return MesaClassifier.from_preset(
            preset, random_state=random_state, n_jobs=n_jobs, **size, **options
        )

    return Method(title, make, _drawn, sized=False, reads_tables=True)


def _ensemble(title: str, cls: Callable[..., Any]) -> Method:
    return Method(
        title,
        lambda k, seed, n_jobs: cls(n_estimators=k, n_jobs=n_jobs, random_state=seed),
        _drawn,
        reads_tables=True,
    )


def _meta_trained(n_estimators: int, random_state: int, n_jobs: int | None) -> Any:
    """Build MESA as the paper has it: plain trees and leaves, a policy of its own, no refit."""
    return MesaClassifier(
        DecisionTreeClassifier(),
        n_estimators,
        meta_sampler="fit",
        validation_fraction=0.2,
        leaf_smoothing=0.0,
        refit=False,
        n_jobs=n_jobs,
        random_state=random_state,
    )


#: The methods of this package by name.
METHODS: dict[str, Method] = {
    "mesa": _preset("MESA, default", "default"),
    "mesa-fast": _preset("MESA, fast", "fast"),
    "mesa-best": _preset("MESA, best", "best"),
    "mesa-fit": Method("MESA, meta-trained", _meta_trained, _drawn, reads_tables=True),
    "under-bagging": _ensemble("UnderBagging", UnderBaggingClassifier),
    "spe": _ensemble("SPE", SelfPacedEnsembleClassifier),
    "tree": Method(
        "decision tree",
        lambda k, seed, n_jobs: DecisionTreeClassifier(random_state=seed),
        lambda fitted, n_rows: n_rows,
        sized=False,
    ),
    "random-forest": Method(
        "random forest",
        lambda k, seed, n_jobs: RandomForestClassifier(_N_TREES, n_jobs=n_jobs, random_state=seed),
        lambda fitted, n_rows: n_rows * len(fitted.estimators_),
        sized=False,
    ),
    "lightgbm": Method(
        "LightGBM",
        lambda k, seed, n_jobs: PlainLightGBM(random_state=seed, n_jobs=n_jobs),
        lambda fitted, n_rows: n_rows * fitted.model_.booster_.current_iteration(),
        sized=False,
        reads_tables=True,
    ),
    "gradient-boosting": Method(
        "gradient boosting",
        lambda k, seed, n_jobs: HistGradientBoostingClassifier(random_state=seed),
        _boosted,
        sized=False,
    ),
}


def known_methods() -> dict[str, Any]:
    """Return all methods by name: this package's first, then what other packages add."""
    methods: dict[str, Any] = dict(METHODS)
    for entry in entry_points(group=_GROUP):
        for name, method in entry.load().items():
            methods.setdefault(name, method)
    return methods


def find_method(wanted: str, methods: dict[str, Any]) -> str:
    """Return the name of a method that is given by name or title, in any case.

    Raises
    ------
    ValueError
        If there is no such method; the message names similar ones.
    """
    folded = wanted.casefold()
    if folded in methods:
        return folded
    for name, method in methods.items():
        if method.title.casefold() == folded:
            return name
    more = "" if len(methods) > len(METHODS) else " The package metasampler-bench adds more."
    hint = near_matches(wanted, methods) or f" Known: {', '.join(methods)}.{more}"
    raise ValueError(f"unknown method {wanted!r}.{hint}")
