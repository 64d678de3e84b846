"""Register every method that tables, figures and the command line know."""

from __future__ import annotations

from metasampler_bench._class_methods import class_methods
from metasampler_bench._ensemble_methods import (
    ensemble_methods,
    policy_methods,
    reweighting_methods,
)
from metasampler_bench._method import Method
from metasampler_bench._names import unknown_name
from metasampler_bench._resampling_methods import resampling_methods
from metasampler_bench._retired import RETIRED
from metasampler_bench._search import search_methods
from metasampler_bench._table_methods import table_methods
from metasampler_bench._usual_methods import usual_choices
from metasampler_bench.deep import deep_methods

__all__ = ["METHODS", "TABLE_METHODS", "find_method", "title_of"]

#: Every method by its name, in the order of the paper's tables.
METHODS: dict[str, Method] = {
    method.name: method
    for group in (
        resampling_methods,
        reweighting_methods,
        ensemble_methods,
        policy_methods,
        search_methods,
        deep_methods,
        usual_choices,
    )
    for method in group()
}

#: What takes part in the benchmarks of tables and of many classes only.
TABLE_METHODS: dict[str, Method] = {
    method.name: method for group in (table_methods, class_methods) for method in group()
}


def title_of(name: str) -> str:
    """Return what tables and figures call a method, also one that is gone.

    Examples
    --------
    >>> from metasampler_bench._methods import title_of
    >>> title_of("spe"), title_of("mesa-ahead")
    ('SPE', 'MESA, meta-trained, look-ahead [1fe915a]')
    """
    known = METHODS | TABLE_METHODS
    if name in known:
        return known[name].title
    return RETIRED[name].marked_title if name in RETIRED else name


def find_method(name: str) -> Method:
    """Find a method by its name or its title, in any case.

    Parameters
    ----------
    name : str
        For instance ``"spe"`` or ``"Random forest"``.

    Returns
    -------
    method : Method

    Raises
    ------
    ValueError
        If there is no such method; the message names similar ones.

    Examples
    --------
    >>> from metasampler_bench import find_method
    >>> find_method("Random forest").name
    'random-forest'
    """
    wanted = name.casefold()
    known = METHODS | TABLE_METHODS
    for method in known.values():
        if method.name == wanted:
            return method
    for method in known.values():
        if method.title.casefold() == wanted:
            return method
    if wanted in RETIRED:
        gone = RETIRED[wanted]
        raise ValueError(
            f"{name!r} is no longer part of the package: {gone.reason}. Commit {gone.commit} can "
            "still run it."
        )
    raise unknown_name("method", name, known)
