"""What the pages show runs, and what they list is there."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from metasampler.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    DOCS / "start.md",
    DOCS / "coming-from.md",
    # Commands run between the programs of one, which has a test of its own.
    *sorted(set((DOCS / "guide").glob("*.md")) - {DOCS / "guide" / "production.md"}),
]


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


def test_the_commands_of_a_page_run_between_its_programs(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    page = DOCS / "guide" / "production.md"
    names: dict = {"__name__": "page"}
    commands = []
    for kind, block in re.findall(r"^```(python|sh)\n(.*?)^```$", page.read_text(), re.M | re.S):
        if kind == "python":
            exec(compile(block, page.name, "exec"), names)
            continue
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            if program == "metasampler":
                result = CliRunner().invoke(app, arguments)
                assert result.exit_code == 0, (line, result.output)
                commands.append(arguments[0])
            else:
                # The service has tests of its own, and they need FastAPI.
                assert program in ("pip", "curl", "MODEL=claims.mesa"), line
    assert set(commands) == {"fit", "predict", "drift", "report"}
    for written in ("scores.csv", "fifty.csv", "report.html", "careful.mesa"):
        assert Path(written).stat().st_size


def test_the_reference_lists_all_public_names():
    page = runpy.run_path(str(DOCS / "reference.py"))["make_page"]()
    assert (DOCS / "api.md").read_text() == page, "run python docs/reference.py"


def test_the_figures_on_large_data_are_those_that_are_stored():
    scale = runpy.run_path(str(ROOT / "benchmarks" / "scale.py"))
    page = (DOCS / "guide" / "large-data.md").read_text()
    written = page.split(scale["BEGIN"])[1].split(scale["END"])[0]
    rows = scale["stored"](DOCS / "results")
    assert written.strip() == scale["render"](rows).strip(), (
        "run python benchmarks/scale.py --report-only --output docs/results "
        "--page docs/guide/large-data.md"
    )
    for row in rows:
        assert {"command", "seed", "versions", "date", "commit"} <= row.keys()


def test_every_example_is_in_the_gallery_by_its_title():
    for path in sorted((ROOT / "examples").glob("*.py")):
        assert path.name.startswith(("plot_", "run_")), path.name
        first, second = path.read_text().splitlines()[1:3]
        assert second == "=" * len(first), path.name


LINKS = runpy.run_path(str(DOCS / "links.py"))


@pytest.mark.parametrize(
    "page", LINKS["markdown_pages"](), ids=lambda page: str(page.relative_to(ROOT))
)
def test_no_link_of_a_page_is_dead_in_a_clone(page):
    assert list(LINKS["dead_in_markdown"](page)) == []


def test_dead_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A title\n\n[here](#a-title) [not](#no-title) [gone](gone.md) ![picture](gone.png)\n"
        "[elsewhere](https://example.org) [other](other.md#two-words) [no](other.md#three)\n"
        "`[code](nowhere.md)`\n"
    )
    (tmp_path / "other.md").write_text("## Two words\n")
    dead = ["#no-title", "gone.md", "gone.png", "other.md#three"]
    assert list(LINKS["dead_in_markdown"](page)) == dead


def test_dead_links_of_the_site_are_found(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<a href="a.html#here">a</a><a href="a.html#no">b</a><img src="no.png">')
    (tmp_path / "a.html").write_text('<p id="here"></p>')
    assert list(LINKS["dead_in_site"](page)) == ["a.html#no", "no.png"]
    assert LINKS["main"]([str(tmp_path)]) == 1


@pytest.mark.parametrize("name", ["fuzz", "versions"])
def test_the_pages_of_long_runs_are_what_their_rows_say(name):
    from kept_rows import BY_HAND, read_rows

    helper = {"fuzz": "fuzzing/__main__.py", "versions": "versions.py"}[name]
    make_page = runpy.run_path(str(ROOT / "tests" / "helpers" / helper))["page"]
    written = (DOCS / "results" / f"{name}.md").read_text(encoding="utf-8")
    rows = read_rows(DOCS / "results" / f"{name}.jsonl")
    assert written.partition(BY_HAND)[0].strip() == make_page(rows).strip()


def test_what_is_written_by_hand_stays(tmp_path):
    from kept_rows import BY_HAND, write_page

    page = tmp_path / "page.md"
    write_page(page, "# One\n")
    assert page.read_text() == "# One\n"
    page.write_text(f"# One\n\n{BY_HAND}\nmine\n")
    for _ in range(2):
        write_page(page, "# Two\n")
        assert page.read_text() == f"# Two\n\n{BY_HAND}\nmine\n"


def test_the_way_through_a_fit_names_files_that_are_there():
    page = (DOCS / "design.md").read_text()
    rows = re.findall(r"^\| `([a-z]+/_\w+\.py)` \| .*? \| (?:\d+ of )?(\d+) \|$", page, re.M)
    assert len(rows) > 10
    for file, lines in rows:
        real = len((ROOT / "src" / "metasampler" / file).read_text().splitlines())
        assert abs(int(lines) - real) <= 0.3 * real, f"{file} has {real} lines"
