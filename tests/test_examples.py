"""The examples run, and print what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example(path, capsys):
    names = runpy.run_path(str(path))
    short = {"transfer": {"n_updates": 20}}
    names["main"](**short.get(path.stem, {}))
    assert "score" in capsys.readouterr().out
