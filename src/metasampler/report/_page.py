"""One page, complete in itself: nothing is loaded, and nothing but our own script can run."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from metasampler.report._explorer import explorer, head, script_data
from metasampler.report._findings import Findings
from metasampler.report._markup import Markup, as_json, element, join
from metasampler.report._sections import SECTIONS


def _asset(filename: str) -> Markup:
    """Return the text of a file of this package that goes into every page."""
    return Markup((files("metasampler.report") / filename).read_text(encoding="utf-8"))


def _hash(source: str) -> str:
    """Return what lets exactly this text pass the policy of the page."""
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page(found: Findings) -> str:
    """Return the whole page as text."""
    style, script = _asset("page.css"), _asset("page.js")
    # What is not named may not be done: no request of any kind, no other script or style.
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    sections = [("threshold", "Threshold", explorer(found))]
    for make, words in SECTIONS:
        made = make(found)
        if made is not None:
            key = make.__name__.replace("first_", "").replace("row_", "")
            sections.append((key, words, made))
    contents = element(
        "nav",
        element(
            "ul",
            *(element("li", element("a", words, href=f"#{key}")) for key, words, _ in sections),
        ),
        aria_label="Contents",
    )
    body = element(
        "body",
        element("a", "Skip to the threshold", href="#threshold", class_="skip"),
        element("main", head(found), contents, *(made for *_, made in sections), _foot(found)),
        element("script", as_json(script_data(found)), type="application/json", id="numbers"),
        element("script", script),
    )
    return "<!DOCTYPE html>\n" + element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("meta", name="referrer", content="no-referrer"),
            # Without it a browser asks a server for one.
            element("link", rel="icon", href="data:,"),
            element("title", f"Model report: {found.title}"),
            element("style", style),
        ),
        body,
        lang="en",
        class_="no-script",
    )


def _foot(found: Findings) -> Markup:
    held = (
        f"Besides aggregates this file holds {'names, ' if found.id_name else ''}numbers and "
        f"scores of {len(found.top):,} rows, which were asked for."
        if found.top
        else "This file holds aggregates only: no row of the data is in it."
    )
    return join(element("footer", element("p", held, " It loads nothing and sends nothing.")))
