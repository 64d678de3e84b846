"""The command `metasampler`: its own sub-commands, and those of other packages."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from metasampler import __version__
from metasampler.cli import _app, app


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("name", ["bench", "meta-train", "methods", "study"])
def test_commands_of_a_package_that_is_missing(name, monkeypatch):
    monkeypatch.setattr(_app, "entry_points", lambda group: [])
    result = invoke(name, "--list")
    assert result.exit_code == 2
    assert result.output == (
        f"`metasampler {name}` needs the package metasampler-bench. In a clone of the repository: "
        "pip install ./bench\n"
    )
    assert f"│ {name} " not in invoke("--help").output


def test_commands_are_added_by_entry_points(monkeypatch):
    # Any function will do.
    entry = EntryPoint("wrap", "textwrap:fill", "metasampler.commands")
    broken = EntryPoint("broken", "there.is.no:module", "metasampler.commands")
    monkeypatch.setattr(
        _app, "entry_points", lambda group: [entry, broken] if group == entry.group else []
    )
    monkeypatch.setattr("textwrap.fill", lambda text: print(text.upper()))
    result = invoke("wrap", "words")
    assert (result.exit_code, result.output) == (0, "WORDS\n")
    # A package that cannot be imported only spoils its own commands.
    assert invoke("samplers").exit_code == 0
    assert isinstance(invoke("broken").exception, ModuleNotFoundError)


def test_unknown_command():
    result = invoke("comparre")
    assert result.exit_code == 2
    assert "No such command 'comparre'" in result.output


def test_as_a_module():
    command = [sys.executable, "-m", "metasampler"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"metasampler {__version__}\n"
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert "Usage: metasampler " in done.stdout
