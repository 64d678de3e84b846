"""Find dead links: in the Markdown pages of a clone, or in the built site.

    python docs/links.py                      # pages as a code host shows them
    python docs/links.py docs/_build/html     # the site, as ``make docs`` builds it

Only links within the project are followed. A test runs the first, ``make docs`` the second.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
#: Folders that hold no pages of the project.
NOT_OURS = {"_build", "gallery", "generated", "build", "dist", "node_modules"}
_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_CODE = re.compile(r"^(```|~~~).*?^\1\s*$|`[^`\n]*`", re.M | re.S)


def markdown_pages(root: Path = ROOT) -> list[Path]:
    """Return the Markdown pages of the project."""
    return [
        page
        for page in sorted(root.rglob("*.md"))
        if not any(
            part in NOT_OURS or part.startswith(".") or part.endswith(".egg-info")
            for part in page.relative_to(root).parts[:-1]
        )
    ]


def dead_in_markdown(page: Path) -> Iterator[str]:
    """Yield the links of a page that lead nowhere in the clone."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    for target in _LINK.findall(text):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        file = page.parent / unquote(parts.path) if parts.path else page
        if not file.exists() or (
            parts.fragment and file.suffix == ".md" and parts.fragment not in _headings(file)
        ):
            yield target


@cache
def _headings(page: Path) -> set[str]:
    """Return the anchors that a code host gives the headings of a page."""
    text = re.sub(r"^```.*?^```\s*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found: dict[str, int] = {}
    anchors = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    for title in re.findall(r"^#+ +(.+?) *#*$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", plain.casefold()).replace(" ", "-")
        anchors.add(f"{slug}-{found[slug]}" if slug in found else slug)
        found[slug] = found.get(slug, 0) + 1
    return anchors


class _Page(HTMLParser):
    """The targets a page links to, and the places in it that can be linked to."""

    def __init__(self):
        super().__init__()
        self.targets: set[str] = set()
        self.places: set[str] = set()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        self.targets |= {given[name] for name in ("href", "src") if given.get(name)}


@cache
def _read(page: Path) -> _Page:
    parser = _Page()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def dead_in_site(page: Path) -> Iterator[str]:
    """Yield the links of a built page that lead nowhere on the site."""
    for target in sorted(_read(page).targets):
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file() or (
            parts.fragment
            and file.suffix == ".html"
            and unquote(parts.fragment) not in _read(file).places
        ):
            yield target


def main(arguments: list[str]) -> int:
    """Print the dead links; return 1 if there are any."""
    if arguments:
        site = Path(arguments[0]).resolve()
        # Templates of the theme lie among its static files.
        pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
        dead_in = dead_in_site
    else:
        pages, dead_in = markdown_pages(), dead_in_markdown
    dead = [(page, target) for page in pages for target in dead_in(page)]
    for page, target in dead:
        print(f"{page}: {target}")
    print(f"{len(pages)} pages, {len(dead)} dead links")
    return int(bool(dead))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
