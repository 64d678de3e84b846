"""Where commands print to."""

from __future__ import annotations

from typing import Any


def make_console() -> Any:
    """Return a console of rich whose tables are not folded in a pipe."""
    # Here, not at the top: `metasampler --help` should be quick.
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        # A pipe has no width of its own; the table should not be folded there.
        console.width = 120
    return console
