"""Result pages say how their rows came about in the words of their spec."""

from pathlib import Path

import pytest

from metasampler import MesaClassifier
from metasampler_bench import ResultStore, list_specs, load_spec
from metasampler_bench._look import short
from metasampler_bench._rows import per_set_means
from metasampler_bench._statistics import geometric_mean, set_means
from metasampler_bench.studies._study import read_rows

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


def test_the_guide_to_decisions_has_the_measured_scores():
    text = prose("guide/decisions.md")
    rows = read_rows(RESULTS / "decisions-calibration.json")["rows"]
    raw, prior, sigmoid = (
        set_means(rows, "Brier score", k=50, method=method)
        for method in ("raw", "prior", "sigmoid")
    )
    assert (
        f"the mean Brier score over {len(raw)} data sets is {short(raw.mean())} without "
        f'calibration, {short(prior.mean())} with `"prior"` and {short(sigmoid.mean())} with '
        '`"sigmoid"`'
    ) in text
    recalls = read_rows(RESULTS / "decisions-recall.json")["rows"]
    asked = {"preset": "default", "target": 0.8}
    reached = set_means(recalls, "recall", **asked)
    assert (
        f"We asked the default for a recall of .8 on {len(reached)} tables, and got "
        f"{short(reached.mean(), 2)}"
    ) in text


def test_costs_that_the_pages_say_in_words_are_measured():
    rows = ResultStore(RESULTS / "tables.jsonl").rows()
    costs = {}
    for method in ("mesa", "mesa-fast", "mesa-best"):
        _, cpu = per_set_means(rows, [method, "lightgbm"], "cpu")
        costs[method] = geometric_mean(cpu[:, 0] / cpu[:, 1])
    assert "`MesaClassifier()`: about three times the CPU time" in prose("coming-from.md")
    assert round(costs["mesa"]) == 3
    assert '`MesaClassifier.from_preset("fast")` takes about the same' in prose("coming-from.md")
    assert "about the cost of one LightGBM fit" in prose("guide/how-it-works.md")
    assert round(costs["mesa-fast"], 1) == 1
    text = " ".join(MesaClassifier.__doc__.split())
    assert "None takes about three times the CPU time of LightGBM" in text
    assert '``"best"`` about eleven times as much' in text
    assert round(costs["mesa-best"]) == 11
