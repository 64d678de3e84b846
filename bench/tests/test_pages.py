"""Result pages say how their rows came about in the words of their spec."""

import re
import shutil
from pathlib import Path

import pytest

from metasampler import MesaClassifier
from metasampler_bench import ResultStore, list_specs, load_spec
from metasampler_bench._report import write_report
from metasampler_bench._rows import last_rows, per_set_means
from metasampler_bench._statistics import geometric_mean

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results"


@pytest.mark.parametrize("name", list_specs())
def test_a_page_says_how_it_was_done(name):
    page = RESULTS / f"{name}.md"
    if not page.exists():
        pytest.skip("no rows yet")
    text, spec = page.read_text(encoding="utf-8"), load_spec(name)
    assert text.startswith(f"# {spec.title}\n")
    assert " ".join(spec.about.split()) in text, f"metasampler bench {name} --report-only"


def prose(page: str) -> str:
    return " ".join((DOCS / page).read_text(encoding="utf-8").split())


def test_costs_that_the_pages_say_in_words_are_measured():
    rows = last_rows(ResultStore(RESULTS / "tables.jsonl").rows())
    costs = {}
    for method in ("mesa", "mesa-fast", "mesa-best"):
        _, cpu = per_set_means(rows, [method, "lightgbm"], "cpu")
        costs[method] = geometric_mean(cpu[:, 0] / cpu[:, 1])
    assert "`MesaClassifier()`: about three times the CPU time" in prose("coming-from.md")
    assert round(costs["mesa"]) == 3
    assert '`MesaClassifier(recipe="fast")` takes about the same' in prose("coming-from.md")
    assert "about the cost of one LightGBM fit" in prose("guide/how-it-works.md")
    assert 0.9 <= costs["mesa-fast"] <= 1.1
    text = " ".join(MesaClassifier.__doc__.split())
    assert '``"default"`` takes about three times the CPU time of LightGBM' in text
    assert '``"best"`` about ten times as much' in text
    assert round(costs["mesa-best"]) == 10


#: Their tables take minutes.
SLOW = ("policies", "policies-tables")


@pytest.mark.parametrize("name", [name for name in list_specs() if name not in SLOW])
def test_a_page_is_what_its_rows_say(name, tmp_path, monkeypatch):
    rows = ResultStore(RESULTS / f"{name}.jsonl").rows()
    if not rows:
        pytest.skip("no rows yet")
    # Pictures take long, and none of them says more than its table.
    monkeypatch.setattr("metasampler_bench._report._save_figures", lambda *args: ())
    # What is written by hand is kept.
    shutil.copy(RESULTS / f"{name}.md", tmp_path)
    page = write_report(load_spec(name), rows, tmp_path)[0].read_text(encoding="utf-8")
    stored = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert page.split() == re.sub(r"^!\[.*\)$", "", stored, flags=re.M).split(), (
        f"run: metasampler bench {name} --report-only --output docs/results"
    )


def opened(text: str) -> str:
    return re.sub(r"<details>.*?</details>", "", text, flags=re.S)


@pytest.mark.parametrize("name", list_specs())
def test_one_table_stands_open(name):
    page = RESULTS / f"{name}.md"
    if not page.exists():
        pytest.skip("no rows yet")
    rules = re.findall(r"^\|[ :|-]+\|$", opened(page.read_text(encoding="utf-8")), re.M)
    assert len(rules) <= 1


@pytest.mark.parametrize("page", sorted(RESULTS.glob("*.md")), ids=lambda page: page.stem)
def test_where_ranks_are_given_a_picture_shows_how_far_they_differ(page):
    text = page.read_text(encoding="utf-8")
    if "mean rank" in text.lower():
        assert "critical-difference" in text
