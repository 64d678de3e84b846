"""The scripts in benchmarks/ name functions of the library: they must at least import."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmarks are not there")


@pytest.mark.parametrize("script", ["speed.py", "walk.py"])
def test_a_benchmark_starts(script):
    command = [sys.executable, "-W", "ignore", BENCHMARKS / script, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout


def test_the_stages_of_a_fit_add_up(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import speed

    X, y = speed.rare(2000)
    stages = speed.stages_of(speed.MesaClassifier(n_estimators=6, random_state=0), X, y)
    assert {"scouts", "boosters", "trees", "calibration and threshold"} <= set(stages)
    assert all(seconds >= 0 for seconds in stages.values())
