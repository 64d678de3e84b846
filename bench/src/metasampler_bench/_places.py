"""Bring pages that are written by hand up to date: their tables, and the numbers in their prose."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from metasampler_bench._claims import CLAIM_TABLES
from metasampler_bench._numbers import Numbers, with_numbers
from metasampler_bench._page_tables import PAGE_TABLES
from metasampler_bench._sampler_cards import SAMPLER_CARDS

__all__ = ["PLACES", "update_pages", "with_places"]

_START, _END = "<!-- rows: ", "<!-- end -->"


def _card(name: str, numbers: Numbers) -> str:
    """Return what is read from a sampler itself."""
    return SAMPLER_CARDS[name]()


#: By the name of a place: what stands in it.
PLACES: dict[str, Callable[[Numbers], str]] = {
    **CLAIM_TABLES,
    **PAGE_TABLES,
    **{name: partial(_card, name) for name in SAMPLER_CARDS},
}

#: The page of claims, where a folder has none.
_CLAIMS_PAGE = f"""\
# Claims

{_START}claims-of-paper -->
{_END}

## Questions beyond the paper

{_START}questions-of-ours -->
{_END}

## Fits

{_START}fits -->
{_END}
"""


def with_places(text: str, numbers: Numbers) -> str:
    """Return a page with its places filled.

    A place begins with ``<!-- rows: NAME -->`` and goes to ``<!-- end -->``.

    Parameters
    ----------
    text : str
        The page, in Markdown.
    numbers : Numbers
        Reads the rows.

    Returns
    -------
    text : str
    """
    first, *parts = text.split(_START)
    written = [first]
    for part in parts:
        name, _, rest = part.partition(" -->")
        _, _, after = rest.partition(_END)
        written.append(f"{name} -->\n{PLACES[name](numbers)}\n{_END}{after}")
    return _START.join(written)


def update_pages(folder: str | Path) -> list[Path]:
    """Fill the tables of hand-written pages, and set the numbers in the prose of all pages.

    Parameters
    ----------
    folder : path
        Where rows and pages are. Without ``claims.md`` a plain one is made.

    Returns
    -------
    paths : list of Path
        The page of claims, and the files that were changed.
    """
    folder = Path(folder)
    claims = folder / "claims.md"
    if not claims.is_file():
        claims.write_text(_CLAIMS_PAGE, encoding="utf-8")
    numbers, changed = Numbers(folder), [claims]
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        new = with_numbers(with_places(text, numbers), numbers)
        if new != text:
            path.write_text(new, encoding="utf-8")
            changed += [] if path == claims else [path]
    return changed
