"""Photograph pages of the built site, light and dark, at desktop and phone width.

    make docs
    python docs/look.py               # the pages below
    python docs/look.py glossary      # others, by name

The pictures go to ``docs/_build/look``, which is not kept: look at them before a release. The
program fails if a page is wider than its window. It needs the extras ``test-web`` and ``plot``, and
Chromium with its driver.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests" / "helpers"))
from browser import DESKTOP, PHONE, look_like, open_browser, photograph, save_picture  # noqa: E402

SITE, TARGET = HERE / "_build" / "html", HERE / "_build" / "look"
PAGES = (
    "index",
    "start",
    "guide/decisions",
    "gallery/index",
    "gallery/plot_fraud_costs",
    "generated/metasampler.MesaClassifier",
    "results/tables",
    "results/under-sampling",
)
LOOKS = tuple(
    (f"{name}{'-dark' * dark}", size, dark)
    for name, size in (("desktop", DESKTOP), ("phone", PHONE))
    for dark in (False, True)
)
#: Longer pages are cut: what is below looks like what is above.
MOST = 6000


def main(names: list[str]) -> int:
    """Photograph the pages; return 1 if one is wider than its window."""
    TARGET.mkdir(parents=True, exist_ok=True)
    too_wide = 0
    with open_browser() as browser:
        for name in names or PAGES:
            for label, size, dark in LOOKS:
                look_like(browser, size, dark=dark)
                browser.get((SITE / f"{name}.html").as_uri())
                width, height = browser.execute_script(
                    "const page = document.documentElement;"
                    "return [page.scrollWidth, page.scrollHeight];"
                )
                path = TARGET / f"{name.replace('/', '-')}-{label}.png"
                weight = save_picture(photograph(browser, size, min(height, MOST)), path)
                wide = f", {width - size[0]} pixels too wide" if width > size[0] else ""
                too_wide += bool(wide)
                print(f"{path.name}: {weight / 1000:.0f} kB{wide}")
    return int(too_wide > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
