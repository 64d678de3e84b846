"""A hundred attempts of each fuzzer; `make fuzz` makes thousands."""

import sys

import pytest
from fuzzing.fuzzers import FUZZERS, run
from fuzzing.outcomes import FINDING

N_EXAMPLES = 100


# An interrupt may meet a destructor of LightGBM, which cannot raise it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", FUZZERS)
def test_nothing_is_found(name):
    if name in ("kills", "disks", "interrupts") and sys.platform == "win32":
        pytest.skip("needs fork, limits and signals of POSIX")
    tally = run(FUZZERS[name], N_EXAMPLES, number=0)
    assert tally.counts[FINDING] == 0, "\n".join(tally.findings.values())
    assert tally.n_tried >= N_EXAMPLES // 2
