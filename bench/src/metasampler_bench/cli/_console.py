"""Print tables, also into a pipe, and errors without a traceback."""

from __future__ import annotations

from typing import Any

import typer

__all__ = ["cannot_go_on", "make_console"]


def make_console(width: int) -> Any:
    """Return a console of rich; a pipe, which has no width of its own, gets the one given."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = width
    return console


def cannot_go_on(error: Exception, option: str | None = None) -> Exception:
    """Return what ends a command because of an error: what the user typed, or the machine."""
    of_machine = isinstance(error, OSError)
    if of_machine and not isinstance(error, FileNotFoundError | BlockingIOError):
        typer.secho(f"Error: {error}", err=True)
        return typer.Exit(code=1)
    return typer.BadParameter(str(error), param_hint=option)
