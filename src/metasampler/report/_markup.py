"""HTML that is safe by construction: every text is escaped unless it was made here."""

from __future__ import annotations

import json
import unicodedata
from html import escape
from typing import Any

#: Letters of a name that are shown: a column or class may be called anything.
MOST_LETTERS = 60

_VOID = {"meta", "link", "input", "br"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: Any) -> Markup:
    """Return a value as HTML: as it is if it was made here, otherwise escaped."""
    if isinstance(value, Markup):
        return value
    return Markup(escape(_printable(str(value))))


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element; children that are not markup are escaped.

    An attribute that is None or False is left out, and True stands without a value. An underscore
    in its name is a hyphen; one at the end goes (``class_``).
    """
    parts = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(f" {key}" if value is True else f' {key}="{escape(_printable(str(value)))}"')
    opened = f"<{tag}{''.join(parts)}>"
    if tag in _VOID:
        return Markup(opened)
    return Markup(f"{opened}{join(*children)}</{tag}>")


def join(*children: Any) -> Markup:
    """Return children one after the other; None adds nothing."""
    return Markup("".join(text(child) for child in children if child is not None))


def name(value: Any, most: int = MOST_LETTERS) -> Markup:
    """Return a name that users gave, such as that of a column; letters of any direction stay in."""
    return element("bdi", shorten(value, most))


def shorten(value: Any, most: int = MOST_LETTERS) -> str:
    """Return a text that is cut if it is long."""
    shown = _printable(str(value))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def as_json(value: Any) -> Markup:
    """Return JSON that can stand inside a script element: no tag can end or begin there."""
    shown = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Markup(shown.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _printable(value: str) -> str:
    """Return a text without what changes how the text after it reads, or cannot be written."""
    if value.isascii() and value.isprintable():
        return value
    # Control characters, surrogates, and marks that turn the direction of a line.
    return "".join(
        letter
        if letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn")
        else "\N{REPLACEMENT CHARACTER}"
        for letter in value
    )
