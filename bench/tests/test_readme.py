"""No number of the README goes stale: its table is what the stored rows say."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "docs" / "readme.py"


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
