"""How the threshold of a model is written on the command line."""

from __future__ import annotations

from typing import Any

import typer

from metasampler.cli._file_options import parse_rows

_ALLOWED = (
    "balanced, f1, mcc, a probability as 0.3, recall=0.9, precision=0.8, top=200 (rows), "
    "top=200/day or top=1%, or cost=50:1 (a miss : a false alarm); for many classes balanced, "
    "macro_f1, recall:CLASS=0.9 or cost:CLASS=5,CLASS=2"
)

_WORDS = ("balanced", "f1", "mcc", "macro_f1")
_PARTS = ("recall", "precision")


def parse_threshold(text: str) -> Any:
    """Return a threshold as `MesaClassifier` takes it, given a text as ``recall=0.9``.

    A number of rows, as in ``top=200``, is for the command line only: ``("top", 200)``, and
    ``("top", 200, "day")`` for ``top=200/day``. Classes are named as they are written, see
    `with_classes`.
    """
    goal, colon, named = text.strip().partition(":")
    if colon and goal.strip().casefold() in ("recall", "cost"):
        return _of_classes(text, goal.strip().casefold(), named)
    name, equals, value = text.strip().partition("=")
    name = name.strip().casefold()
    try:
        if not equals:
            return name if name in _WORDS else _probability(name)
        if name == "top":
            number, slash, unit = value.strip().partition("/")
            rows = parse_rows(number.strip(), "--threshold")
            if not slash:
                return ("top", rows)
            if unit.strip().casefold() != "day" or not isinstance(rows, int):
                raise _wrong(text, name)
            return ("top", rows, "day")
        if name == "cost":
            miss, colon, alarm = value.partition(":")
            costs = float(miss), float(alarm) if colon else 1.0
            if not all(0 < cost < float("inf") for cost in costs):
                raise _wrong(text, name)
            return ("cost", *costs)
        if name in _PARTS:
            part = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
            if not 0 < part <= 1:
                raise _wrong(text, name)
            return (name, part)
    except ValueError:
        raise _wrong(text, name) from None
    raise _wrong(text, name)


def _of_classes(text: str, goal: str, named: str) -> Any:
    """Return a threshold for classes, given a text as ``recall:A=0.9,B=80%``."""
    numbers = {}
    for part in named.split(","):
        label, equals, value = part.rpartition("=")
        try:
            number = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
        except ValueError:
            raise _wrong(text, goal) from None
        if not equals or not 0 < number < float("inf") or (goal == "recall" and number > 1):
            raise _wrong(text, goal)
        numbers[label.strip()] = number
    return (goal, numbers)


def with_classes(rule: Any, classes: list) -> Any:
    """Return a threshold with the classes as a model has them, in place of their names."""
    if not (isinstance(rule, tuple) and isinstance(rule[1], dict)):
        return rule
    labels = {str(label): label for label in classes}
    unknown = [name for name in rule[1] if name not in labels]
    if unknown:
        shown = ", ".join(list(labels)[:12])
        raise typer.BadParameter(
            f"no class {unknown[0]!r}. Classes: {shown}.", param_hint="--threshold"
        )
    return (rule[0], {labels[name]: number for name, number in rule[1].items()})


def rows_to_call(rule: Any) -> int | None:
    """Return the number of rows that ``top=200`` or ``top=200/day`` asks for; None for others."""
    is_number = isinstance(rule, tuple) and rule[0] == "top" and isinstance(rule[1], int)
    return rule[1] if is_number else None


def is_per_day(rule: Any) -> bool:
    """Return whether a threshold asks for a number of rows of each day."""
    return isinstance(rule, tuple) and rule[0] == "top" and len(rule) == 3


def _probability(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise ValueError(text)
    return value


def _wrong(text: str, name: str) -> typer.BadParameter:
    """Return the error for a text that is not a threshold."""
    # Here, not at the top: `metasampler --help` should be quick.
    from metasampler.datasets import near_matches

    known = (*_WORDS, *_PARTS, "top", "cost")
    # A known word in a wrong form needs the forms, not the word once more.
    hint = "" if name in known else near_matches(name, known)
    return typer.BadParameter(f"{text!r} must be {_ALLOWED}.{hint}", param_hint="--threshold")
