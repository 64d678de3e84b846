"""Print tables, also into a pipe."""

from __future__ import annotations

from typing import Any

__all__ = ["make_console"]


def make_console(width: int) -> Any:
    """Return a console of rich; a pipe, which has no width of its own, gets the one given."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = width
    return console
