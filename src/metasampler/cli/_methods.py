"""The methods that ``metasampler compare`` knows; other packages add theirs by an entry point."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from metasampler.cli._plain_lightgbm import PlainLightGBM
from metasampler.datasets import near_matches
from metasampler.ensemble import (
    MesaClassifier,
    SelfPacedEnsembleClassifier,
    UnderBaggingClassifier,
)

#: Entry points of this group are dicts of methods by name, each with what `Method` has.
_GROUP = "metasampler.methods"


@dataclass(frozen=True)
class Method:
    """One method of a comparison, by the title that tables and pictures show."""

    title: str
    #: ``build(n_estimators=, random_state=, n_jobs=)`` gives an unfitted classifier.
    build: Callable[..., Any]
    #: Whether the comparison chooses the number of members. Otherwise `build` takes None for it.
    sized: bool = True
    #: Whether a fit takes data frames with columns of any kind. Others get numbers.
    reads_tables: bool = False


def _preset(title: str, preset: str) -> Method:
    """Return a preset of MESA, which keeps its number of members unless one is asked for."""
    build = partial(MesaClassifier.from_preset, preset)
    return Method(title, build, sized=False, reads_tables=True)


def _meta_trained(**options: Any) -> Any:
    """Build MESA as the paper has it: plain trees and leaves, a policy of its own, no refit."""
    return MesaClassifier(
        DecisionTreeClassifier(),
        meta_sampler="fit",
        validation_fraction=0.2,
        leaf_smoothing=0.0,
        refit=False,
        **options,
    )


#: The methods of this package by name.
METHODS: dict[str, Method] = {
    "mesa": _preset("MESA, default", "default"),
    "mesa-fast": _preset("MESA, fast", "fast"),
    "mesa-best": _preset("MESA, best", "best"),
    "mesa-fit": Method("MESA, meta-trained", _meta_trained, reads_tables=True),
    "under-bagging": Method("UnderBagging", UnderBaggingClassifier, reads_tables=True),
    "spe": Method("SPE", SelfPacedEnsembleClassifier, reads_tables=True),
    "tree": Method(
        "decision tree",
        lambda random_state, **_: DecisionTreeClassifier(random_state=random_state),
        sized=False,
    ),
    "random-forest": Method(
        "random forest",
        lambda n_estimators, **options: RandomForestClassifier(**options),
        sized=False,
    ),
    "lightgbm": Method(
        "LightGBM",
        lambda n_estimators, **options: PlainLightGBM(**options),
        sized=False,
        reads_tables=True,
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
    """Return the name of a method that is given by name or title, in any case."""
    folded = wanted.casefold()
    if folded in methods:
        return folded
    for name, method in methods.items():
        if method.title.casefold() == folded:
            return name
    more = "" if len(methods) > len(METHODS) else " The package metasampler-bench adds more."
    hint = near_matches(wanted, methods) or f" Known: {', '.join(methods)}.{more}"
    raise ValueError(f"unknown method {wanted!r}.{hint}")
