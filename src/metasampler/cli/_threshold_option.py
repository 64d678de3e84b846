"""How the threshold of a model is written on the command line."""

from __future__ import annotations

from typing import Any

import typer

from metasampler.cli._file_options import parse_rows

_ALLOWED = (
    "balanced, f1, mcc, a probability as 0.3, recall=0.9, precision=0.8, top=200 (rows) or top=1%, "
    "or cost=50:1 (a miss : a false alarm)"
)

_WORDS = ("balanced", "f1", "mcc")
_PARTS = ("recall", "precision")


def parse_threshold(text: str) -> Any:
    """Return a threshold as `MesaClassifier` takes it, given a text as ``recall=0.9``.

    A number of rows, as in ``top=200``, is for the command line only: ``("top", 200)``.
    """
    name, equals, value = text.strip().partition("=")
    name = name.strip().casefold()
    try:
        if not equals:
            return name if name in _WORDS else _probability(name)
        if name == "top":
            return ("top", parse_rows(value.strip(), "--threshold"))
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


def rows_to_call(rule: Any) -> int | None:
    """Return the number of rows that a threshold as ``top=200`` asks for; None for others."""
    is_number = isinstance(rule, tuple) and rule[0] == "top" and isinstance(rule[1], int)
    return rule[1] if is_number else None


def _probability(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise ValueError(text)
    return value


def _wrong(text: str, name: str) -> typer.BadParameter:
    """Return the error for a text that is no threshold."""
    # Here, not at the top: `metasampler --help` should be quick.
    from metasampler.datasets import near_matches

    known = (*_WORDS, *_PARTS, "top", "cost")
    # A known word in a wrong form needs the forms, not the word once more.
    hint = "" if name in known else near_matches(name, known)
    return typer.BadParameter(f"{text!r} must be {_ALLOWED}.{hint}", param_hint="--threshold")
