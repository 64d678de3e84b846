"""Complain about unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["unknown_name"]


def unknown_name(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """Return an error that names what is similar, or else all that there is.

    Examples
    --------
    >>> from metasampler_bench._names import unknown_name
    >>> str(unknown_name("method", "casacde", ["cascade", "spe"]))
    "unknown method 'casacde'. Did you mean 'cascade'?"
    """
    names = list(known)
    near = difflib.get_close_matches(name.casefold(), names, n=3)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return ValueError(f"unknown {kind} {name!r}. {hint or 'Known: ' + ', '.join(names) + '.'}")
