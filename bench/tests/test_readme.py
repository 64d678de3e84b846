"""No number of the README goes stale: its table is what the stored rows say."""

import re
import runpy
from pathlib import Path

from metasampler_bench import ResultStore
from metasampler_bench._rows import last_rows

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs" / "readme.py"


def test_the_table_is_that_of_the_rows(capsys):
    names = runpy.run_path(str(SCRIPT))
    assert names["main"](["--check"]) == 0, capsys.readouterr().out


def test_a_changed_score_is_seen(tmp_path):
    names = runpy.run_path(str(SCRIPT))
    rows = [
        {"cell": {"method": method, "dataset": table, "run": 0}, "score": score, "cpu": cpu}
        for method, score, cpu in (("mesa", 0.5, 3.0), ("lightgbm", 0.4, 1.0))
        for table in ("a", "b")
    ]
    table = names["make_table"](rows)
    assert "| **`MesaClassifier()`** | 1.00 | 0.500 | 2 of 2 | 3.0 |" in table
    rows[0]["score"] = 0.3
    assert "| **`MesaClassifier()`** | 1.50 | 0.400 | 1 of 2 | 3.0 |" in names["make_table"](rows)


def test_a_changed_digit_of_the_page_is_seen():
    names = runpy.run_path(str(SCRIPT))
    rows = last_rows(ResultStore(ROOT / "docs" / "results" / "tables.jsonl").rows())
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    begin, end = text.index(names["BEGIN"]), text.index(names["END"])
    digits = [place for place in range(begin, end) if text[place].isdigit()]
    assert len(digits) > 50
    for place in (digits[0], digits[len(digits) // 2], digits[-1]):
        other = "1" if text[place] == "0" else "0"
        changed = text[:place] + other + text[place + 1 :]
        assert names["renewed"](changed, rows) == text
        assert changed != text


def test_no_measured_number_stands_outside_the_table():
    names = runpy.run_path(str(SCRIPT))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    outside = text[: text.index(names["BEGIN"])] + text[text.index(names["END"]) :]
    # Programs have settings, and versions are no measurements.
    prose = re.sub(r"^```.*?^```$|`[^`]*`|\([^)]*\)", "", outside, flags=re.M | re.S)
    assert re.findall(r"\d+\.\d+|\d+ ?%|\d+ of \d+", prose) == []
