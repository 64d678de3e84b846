import re

from typer.testing import CliRunner

from metasampler.cli import app
from metasampler_bench import METHODS


def test_the_registry_as_a_table():
    result = CliRunner().invoke(app, ["methods"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    for method in METHODS.values():
        base_estimator = "yes" if method.uses_base_estimator else "-"
        sizes = "prefix" if method.prefix else "each" if method.sized else "-"
        cells = (
            method.name,
            method.title,
            method.family,
            base_estimator,
            sizes,
            method.requires or "-",
        )
        # One line each: nothing is folded or cut.
        row = r"\s+".join(map(re.escape, cells))
        assert any(re.fullmatch(rf"\s*{row}\s*", line) for line in lines), method.name
    assert "metasampler-bench[boosters]" in " ".join(result.output.split())
