"""Tables of a page: with headers, and with a caption for readers who cannot see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from metasampler.report._markup import Markup, element


def table(caption: Any, header: Sequence, rows: Iterable[Sequence], *, words: int = 1) -> Markup:
    """Return a table that can be scrolled by itself where it is wider than the page.

    The first of each row's cells names it; the first ``words`` columns hold words, the others
    numbers.
    """
    kinds = ["words" if place < words else "number" for place in range(len(header))]
    head = element(
        "tr",
        *(
            element("th", cell, scope="col", class_=kind)
            for cell, kind in zip(header, kinds, strict=True)
        ),
    )
    body = [
        element(
            "tr",
            *(
                element("th", cell, scope="row", class_=kind)
                if place == 0
                else element("td", cell, class_=kind)
                for place, (cell, kind) in enumerate(zip(row, kinds, strict=True))
            ),
        )
        for row in rows
    ]
    drawn = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *body),
    )
    # A keyboard must be able to scroll it.
    return element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=caption)


def pairs(caption: Any, rows: Iterable[tuple]) -> Markup:
    """Return a table of names and what belongs to them."""
    body = [
        element("tr", element("th", key, scope="row", class_="words"), element("td", value))
        for key, value in rows
    ]
    return element("table", element("caption", caption), element("tbody", *body), class_="pairs")


def folded(title: Any, *children: Any) -> Markup:
    """Return what is shown on request; print shows it always."""
    return element("details", element("summary", title), *children)
