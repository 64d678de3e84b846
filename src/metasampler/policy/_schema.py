"""The schema of a sampler: what its settings may be, in a file and in the classes that train it."""

from collections.abc import Mapping
from math import isfinite
from numbers import Integral, Real
from typing import Any

from metasampler._sklearn_compat import Interval, StrOptions, validate_parameter_constraints
from metasampler.growth import SAMPLING_RATIO
from metasampler.policy._state import STATE_KINDS

__all__ = ["LEARNER_SETTINGS", "SAMPLER_SETTINGS", "check_content"]

_COUNT = Interval(Integral, 1, None, closed="left")
_COUNT_OR_NONE = Interval(Integral, 0, None, closed="left")
_POSITIVE = Interval(Real, 0, None, closed="neither")

#: Limits of the settings that are stored, by name; those of `MetaSampler` are these.
SAMPLER_SETTINGS: dict[str, list] = {
    "n_estimators": [Interval(Integral, 2, None, closed="left")],
    "sigma": [_POSITIVE],
    "mu_min": [Interval(Real, 0, 1, closed="left")],
    "sampling_ratio": SAMPLING_RATIO,
    "state": [StrOptions(set(STATE_KINDS))],
    "n_bins": [Interval(Integral, 1, 1000, closed="both")],
    "hidden_layer_sizes": ["array-like"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "train_ratio": [Interval(Real, 0, 1, closed="right")],
    "scoring": [str],
    "warm_start": ["boolean"],
    "random_state": [None, Interval(Integral, 0, 2**32 - 1, closed="both")],
}

#: The same for the learners, by the name of their class.
LEARNER_SETTINGS: dict[str, dict[str, list]] = {
    "SoftActorCritic": {
        "critic_hidden_layer_sizes": ["array-like"],
        "gamma": [Interval(Real, 0, 1, closed="both")],
        "tau": [Interval(Real, 0, 1, closed="right")],
        "alpha": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "learning_rate": [_POSITIVE],
        "lr_decay": [Interval(Real, 0, 1, closed="right")],
        "lr_decay_steps": [_COUNT],
        "batch_size": [_COUNT],
        "memory_size": [Interval(Integral, 1, 10**7, closed="both")],
        "n_random_steps": [_COUNT_OR_NONE],
        "n_updates": [_COUNT_OR_NONE],
        "reward_scale": [_POSITIVE],
        "scale_tasks": ["boolean"],
        "tasks_per_round": [None, _COUNT],
    },
    "FitToConstants": {
        "n_sweeps": [_COUNT],
        "n_constants": [Interval(Integral, 3, None, closed="left")],
        "constant_min": [None, Interval(Real, 0, 1, closed="left")],
        "score_on": [StrOptions({"valid", "test"})],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "relative": ["boolean"],
        "tasks_per_round": [None, _COUNT],
    },
}

#: Names of the learners in the first release. CMA-ES is gone; its samplers act as they did.
_FIRST_LEARNERS = {"sac": "SoftActorCritic", "constants": "FitToConstants", "cma-es": None}

#: Settings of the first release that have no meaning any more.
_GONE = ("n_jobs", "verbose", "policy_delay", "n_generations", "population_size", "step_size")

#: What an entry of a history holds.
_ENTRY: dict[str, type | tuple[type, ...]] = {
    "episode": Integral,
    "task": str,
    "train_score": Real,
    "valid_score": Real,
    "test_score": (Real, type(None)),
    "actions": list,
    "n_random_actions": Integral,
}


def check_content(content: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return the content of a sampler file in the form of this release.

    Its ``settings`` then have a ``learner`` that is None or a dict of ``name`` and ``params``.

    Raises
    ------
    ValueError
        If anything is missing, unknown, or of a wrong type or range.
    """
    parts = {"settings": dict, "history": list, "summary": dict, "n_updates": int}
    for name, kind in parts.items():
        if type(content.get(name)) is not kind:
            raise ValueError(f"its {name} must be of type {kind.__name__}")
    if content["n_updates"] < 0:
        raise ValueError(f"its n_updates is {content['n_updates']}")
    for number, entry in enumerate(content["history"]):
        _check_entry(number, entry)
    settings = dict(content["settings"])
    if version == 1:
        settings = _from_first_release(settings)
    learner = settings.pop("learner", None)
    settings = _check_settings(settings, SAMPLER_SETTINGS, "MetaSampler")
    settings["learner"] = None if learner is None else _check_learner(learner)
    return {**{name: content[name] for name in parts}, "settings": settings}


def _from_first_release(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings of format 1, where learners had no settings of their own, in format 2."""
    settings = {name: value for name, value in settings.items() if name not in _GONE}
    first = settings.pop("learner", "sac")
    if first not in _FIRST_LEARNERS:
        raise ValueError(f"its learner {first!r} is none of {sorted(_FIRST_LEARNERS)}")
    known = {name for names in LEARNER_SETTINGS.values() for name in names}
    params = {name: settings.pop(name) for name in sorted(known & settings.keys())}
    name = _FIRST_LEARNERS[first]
    if name is not None:
        own = {key: value for key, value in params.items() if key in LEARNER_SETTINGS[name]}
        settings["learner"] = {"name": name, "params": own}
    return settings


def _check_learner(learner: Any) -> dict[str, Any]:
    if not isinstance(learner, dict) or learner.keys() != {"name", "params"}:
        raise ValueError("its learner must have a name and params")
    name, params = learner["name"], learner["params"]
    if not isinstance(name, str) or name not in LEARNER_SETTINGS or not isinstance(params, dict):
        raise ValueError(f"its learner must be one of {sorted(LEARNER_SETTINGS)}")
    return {"name": name, "params": _check_settings(params, LEARNER_SETTINGS[name], name)}


def _check_settings(settings: dict[str, Any], known: dict[str, list], owner: str) -> dict[str, Any]:
    """Return settings with names and values that their owner takes."""
    unknown = sorted(settings.keys() - known.keys())
    if unknown:
        raise ValueError(f"its setting {unknown[0][:100]!r} is none of a {owner}")
    validate_parameter_constraints(known, settings, caller_name=owner)
    checked = dict(settings)
    for name, value in settings.items():
        # To Python True is a number, and JSON knows no limit for one.
        if isinstance(value, bool) and "boolean" not in known[name]:
            raise ValueError(f"its {name} is {value}")
        if isinstance(value, Real):
            float(value)
        if name.endswith("hidden_layer_sizes"):
            if not all(type(size) is int and size >= 1 for size in value):
                raise ValueError(f"its {name} must be positive integers, got {value!r:.100}")
            checked[name] = tuple(value)
    return checked


def _check_entry(number: int, entry: Any) -> None:
    """Raise a ValueError if this is no entry of a history."""
    if not isinstance(entry, dict):
        raise ValueError(f"entry {number} of its history is not a table")
    for name, kind in _ENTRY.items():
        value = entry.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"entry {number} of its history has no usable {name}")
        numbers = value if isinstance(value, list) else [value]
        if isinstance(value, (Real, list)) and not all(_is_number(each) for each in numbers):
            raise ValueError(f"entry {number} of its history has no usable {name}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
