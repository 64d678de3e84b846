"""What the pages show runs, and what they list is there."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", DOCS / "start.md", *sorted((DOCS / "guide").glob("*.md"))]


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if python_blocks(page)],
    ids=lambda page: page.stem,
)
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    from metasampler.datasets import make_claims

    # What readers have at hand: a file of their own.
    make_claims().to_parquet("claims.parquet")
    names: dict = {"__name__": "page"}
    for block in python_blocks(page):
        exec(compile(block, f"{page.name}", "exec"), names)
    plt.close("all")


def test_the_reference_lists_all_public_names():
    page = runpy.run_path(str(DOCS / "reference.py"))["make_page"]()
    assert (DOCS / "api.md").read_text() == page, "run python docs/reference.py"


def test_every_example_is_in_the_gallery_by_its_title():
    for path in sorted((ROOT / "examples").glob("*.py")):
        assert path.name.startswith(("plot_", "run_")), path.name
        first, second = path.read_text().splitlines()[1:3]
        assert second == "=" * len(first), path.name
