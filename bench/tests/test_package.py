"""What the two distributions promise each other."""

import ast
import tomllib
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from typer.testing import CliRunner

import metasampler
import metasampler_bench
from metasampler.cli import app

SOURCE = Path(metasampler_bench.__file__).parent
PROJECT = SOURCE.parents[1] / "pyproject.toml"


def imported(path):
    """Yield module and name of all that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_only_public_names_of_the_library_are_used():
    offenders = [
        f"{path.relative_to(SOURCE)}: {module} {name}"
        for path in SOURCE.rglob("*.py")
        for module, name in imported(path)
        if module.split(".")[0] in ("metasampler", "sklearn", "imblearn")
        and any(part.startswith("_") for part in (*module.split("."), name))
    ]
    assert offenders == []


def test_the_library_does_not_know_the_benchmarks():
    source = Path(metasampler.__file__).parent
    users = [
        str(path)
        for path in source.rglob("*.py")
        if any(module.startswith("metasampler_bench") for module, _ in imported(path))
    ]
    assert users == []


@pytest.mark.parametrize(
    "package",
    [
        "metasampler_bench",
        "metasampler_bench.cli",
        "metasampler_bench.ensemble",
        "metasampler_bench.plotting",
    ],
)
def test_public_names_are_sorted_and_there(package):
    module = import_module(package)
    # Constants, classes, functions: the order of ruff.
    kinds = {name: (not name.isupper(), not name[0].isupper()) for name in module.__all__}
    assert list(module.__all__) == sorted(module.__all__, key=lambda name: (*kinds[name], name))
    for name in module.__all__:
        assert getattr(module, name).__doc__


@pytest.mark.skipif(not PROJECT.is_file(), reason="not a source tree")
def test_both_distributions_have_one_version():
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert project["version"] == metasampler.__version__
    assert f"metasampler[plot,data]=={metasampler.__version__}" in project["dependencies"]


def test_entry_points_are_installed():
    commands = {entry.name: entry.load() for entry in entry_points(group="metasampler.commands")}
    assert {"bench", "meta-train", "methods", "study"} <= set(commands)
    text = CliRunner().invoke(app, ["--help"]).output
    for name in ("bench", "compare", "meta-train", "methods", "samplers", "study"):
        assert f"│ {name} " in text
