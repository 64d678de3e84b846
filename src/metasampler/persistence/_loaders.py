"""The closed list of what a model file may hold: names that are in files, and their loaders."""

from functools import lru_cache
from typing import Any

import numpy as np

from metasampler.persistence._booster_loaders import BOOSTERS
from metasampler.persistence._ensembles import ENSEMBLES
from metasampler.persistence._lightgbm_loader import LIGHTGBM
from metasampler.persistence._policy_loaders import POLICIES
from metasampler.persistence._sklearn import (
    SKLEARN,
    build_dtype,
    function_named,
    name_of_function,
    sklearn_kind,
    sklearn_names,
)
from metasampler.persistence._table_loaders import TABLES
from metasampler.persistence._values import Kind

__all__ = ["kind_named", "kind_of"]

_DTYPE = Kind("dtype", np.dtype, lambda of: {"name": of.name}, build_dtype)
_FUNCTION = Kind(
    "function",
    object,
    lambda of: {"name": name_of_function(of)},
    lambda state: function_named(state.text("name")),
)

_KINDS = {
    kind.name: kind
    for kind in (*BOOSTERS, *ENSEMBLES, *LIGHTGBM, *POLICIES, *SKLEARN, *TABLES, _DTYPE, _FUNCTION)
}
_BY_TYPE = {kind.of: kind for kind in _KINDS.values()}


def kind_named(name: str) -> Kind | None:
    """Return the kind of a name in a file; None for unknown names."""
    # Unknown names are not kept in memory: a stranger may choose long ones.
    return _KINDS.get(name) or (_kind_of_sklearn(name) if name in _OF_SKLEARN else None)


_OF_SKLEARN = frozenset(sklearn_names())
_kind_of_sklearn = lru_cache(sklearn_kind)


def kind_of(value: Any) -> Kind | None:
    """Return the kind of an object; None if no file may hold it."""
    kind = type(value)
    if kind in _BY_TYPE and kind is not object:
        return _BY_TYPE[kind]
    if isinstance(value, np.dtype):
        return _DTYPE
    if callable(value) and not hasattr(value, "get_params") and name_of_function(value):
        return _FUNCTION
    for name in _names_of(kind.__name__) if kind.__module__.startswith("sklearn.") else ():
        found = kind_named(name)
        if found is not None and found.of is kind:
            return found
    if isinstance(value, type):
        return _FUNCTION if name_of_function(value) else None
    return None


@lru_cache
def _names_of(last: str) -> list[str]:
    return [name for name in sklearn_names() if name.endswith(f".{last}")]
