"""A hundred attempts of each fuzzer; `make fuzz` makes thousands."""

import json
import subprocess
import sys
from pathlib import Path

import fuzzing
import pytest
from fuzzing.fuzzers import FUZZERS, run
from fuzzing.outcomes import FINDING

N_EXAMPLES = 100


@pytest.mark.parametrize("name", [name for name in FUZZERS if name != "interrupts"])
def test_nothing_is_found(name):
    if name in ("kills", "disks") and sys.platform == "win32":
        pytest.skip("needs fork and limits of POSIX")
    tally = run(FUZZERS[name], N_EXAMPLES, number=0)
    assert tally.counts[FINDING] == 0, "\n".join(tally.findings.values())
    assert tally.n_tried >= N_EXAMPLES // 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_nothing_is_found_after_interrupts(tmp_path):
    # In a process of its own: an interrupt may leave settings of other packages as they are within
    # a call, for instance that scikit-learn checks no parameters.
    piece = json.dumps(["interrupts", N_EXAMPLES, 0, str(tmp_path / "case")])
    done = subprocess.run(
        [sys.executable, str(Path(fuzzing.__file__).parent), "--piece", piece],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert not result["findings"]
    assert sum(result["counts"].values()) >= N_EXAMPLES // 2
