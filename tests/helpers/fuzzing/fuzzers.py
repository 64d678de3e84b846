"""All fuzzers by name: what is drawn, what is attempted, and how much of a run it is worth."""

import warnings
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzzing import files, fits, stores
from fuzzing.outcomes import Tally


class Fuzzer(NamedTuple):
    """One kind of attempt."""

    title: str
    cases: Any
    attempt: Any
    #: Of the examples of a run; what takes long gets fewer.
    share: float = 1.0


FUZZERS = {
    "fits": Fuzzer("fits: tables, labels, weights, parameters", fits.cases(), fits.attempt),
    "teams": Fuzzer("fits of teams, 210 rows of a class", fits.team_cases, fits.attempt, 0.05),
    "samplers": Fuzzer("sampler files", files.changes, files.attempt_sampler, 0.5),
    "models": Fuzzer("model files", files.model_cases, files.attempt_model, 0.1),
    "data-sets": Fuzzer("data sets (.npz)", files.changes, files.attempt_data_set, 0.5),
    "stores": Fuzzer("stores of results", stores.damages, stores.attempt_damage, 0.2),
    "kills": Fuzzer("kills while something is written", stores.kills, stores.attempt_kill, 0.05),
    "disks": Fuzzer("full disks", stores.disks, stores.attempt_disk, 0.1),
}


def run(fuzzer: Fuzzer, n_examples: int, number: int, advance=None) -> Tally:
    """Attempt so many cases; nothing stops the run, and nothing is learned from earlier runs."""
    tally = Tally()

    @seed(number)
    @settings(
        max_examples=n_examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(fuzzer.cases)
    def attempts(case):
        tally.add(fuzzer.attempt, case)
        if advance is not None:
            advance(tally)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        attempts()
    return tally
