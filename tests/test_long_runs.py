"""The pages of long runs, fuzzers and versions, are those of the rows that are kept beside them."""

import importlib.util
import sys
from pathlib import Path

import pytest
from kept_rows import ROOT, keep_row, read_rows

RESULTS = ROOT / "docs" / "results"


def load(path):
    """Import a program that is no part of a package."""
    kept = sys.path[0]
    spec = importlib.util.spec_from_file_location("long_run", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path[0] = kept
    return module


@pytest.mark.parametrize(
    ("name", "program"), [("fuzz", "fuzzing/__main__.py"), ("versions", "versions.py")]
)
def test_a_page_says_what_the_rows_say(name, program):
    rows = read_rows(RESULTS / f"{name}.jsonl")
    assert all({"command", "date", "commit", "versions"} <= row.keys() for row in rows)
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    # Below it a page may tell of earlier runs.
    assert text.startswith(load(ROOT / "tests" / "helpers" / program).page(rows))


def test_a_row_takes_the_place_of_its_name(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    for piece, count in ((1, 5), (0, 7), (1, 6)):
        rows = keep_row(
            path, {"fuzzer": "fits", "piece": piece, "n": count}, by=("fuzzer", "piece")
        )
    assert [row["n"] for row in rows] == [row["n"] for row in read_rows(path)] == [7, 6]
