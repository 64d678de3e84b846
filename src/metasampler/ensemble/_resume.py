"""What a warm start has to find as it was: parameters, rows, labels and weights."""

from numbers import Real
from typing import Any

import numpy as np

from metasampler.growth import GrowthData, fingerprint

__all__ = ["check_facts", "facts_of"]

_ROWS = "the number of rows"


def facts_of(estimator, parameters: tuple[str, ...], data: GrowthData) -> dict[str, Any]:
    """Return what a later fit is compared with.

    Parameters
    ----------
    estimator : estimator
        Whose parameters count.
    parameters : tuple of str
        Their names.
    data : GrowthData
        The rows; of these fingerprints are kept, no copies.
    """
    return {
        **{name: _comparable(getattr(estimator, name)) for name in parameters},
        _ROWS: data.n_rows,
        "classes": data.classes.tolist(),
        **data.fingerprints(),
    }


def check_facts(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise a ValueError that names the first fact that is another one now."""
    for name, value in now.items():
        found = _difference(name, before[name], value)
        if found is None:
            continue
        if name == "classes":
            raise ValueError(
                f"warm_start=True needs the classes of the first fit, {before[name]}; y has "
                f"{value}."
            )
        if name in ("X", "y", "sample_weight"):
            which = "y and y_val" if name == "y" else "X and X_val" if name == "X" else name
            raise ValueError(
                f"warm_start=True grows the same fit further, but {which} are not those of the fit "
                "before: pass the same rows, or set warm_start=False."
            )
        place, old, new = found
        raise ValueError(
            f"warm_start=True grows the same fit further, but {place} was {_shown(old)} and is now "
            f"{_shown(new)}."
        )


def _comparable(value) -> Any:
    """Return a parameter in a form that a later one can be compared with."""
    if isinstance(value, (list, tuple)):
        return [_comparable(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return f"an array {fingerprint(value)}"
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = {key: _comparable(entry) for key, entry in value.get_params(deep=False).items()}
        learned = getattr(getattr(value, "policy_", None), "parameters", None)
        if learned is not None:
            params["policy_"] = f"one with {fingerprint(learned)}"
        return {"kind": type(value).__name__, **params}
    plain = value is None or callable(value) or isinstance(value, (str, Real))
    return value if plain else f"a {type(value).__name__}"


def _shown(fact) -> str:
    """Return a fact as an error shows it."""
    if isinstance(fact, dict):
        return f"a {fact['kind']}"
    return f"[{', '.join(map(_shown, fact))}]" if isinstance(fact, list) else repr(fact)


def _difference(name: str, before, now) -> tuple[str, Any, Any] | None:
    """Return where two facts differ, and what they are there; None if they do not."""
    both = (before, now)
    if all(isinstance(fact, dict) for fact in both) and before["kind"] == now["kind"]:
        pairs = [(f"{name}'s {key}", before.get(key), now.get(key)) for key in {**before, **now}]
    elif all(isinstance(fact, list) for fact in both) and len(before) == len(now):
        pairs = [(f"{name}[{i}]", *pair) for i, pair in enumerate(zip(*both, strict=True))]
    else:
        return (name, before, now) if before != now else None
    found = (_difference(*pair) for pair in pairs)
    return next((each for each in found if each is not None), None)
