"""Result pages say how their rows came about in the words of their spec."""

from pathlib import Path

import pytest

from metasampler_bench import list_specs, load_spec

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize("name", list_specs())
def test_a_page_says_how_it_was_done(name):
    page = RESULTS / f"{name}.md"
    if not page.exists():
        pytest.skip("no rows yet")
    text, spec = page.read_text(encoding="utf-8"), load_spec(name)
    assert text.startswith(f"# {spec.title}\n")
    assert " ".join(spec.about.split()) in text, f"metasampler bench {name} --report-only"
