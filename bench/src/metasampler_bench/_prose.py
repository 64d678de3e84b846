"""Keep what is written by hand on a page whose other parts are made of rows."""

from __future__ import annotations

from pathlib import Path

__all__ = ["prose_of"]

_START, _END = "<!-- written by hand -->", "<!-- until here -->"


def prose_of(page: Path) -> str:
    """Return the hand-written part of a page with its marks; empty if there is no page.

    Parameters
    ----------
    page : path
        The page as it is.

    Returns
    -------
    prose : str
    """
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    _, start, rest = text.partition(_START)
    prose, end, _ = rest.partition(_END)
    if start and not end:
        raise ValueError(f"{page}: the part {_START} has no end; write {_END} below it.")
    return f"{_START}\n{prose.strip()}\n{_END}" if start and prose.strip() else f"{_START}\n{_END}"
