"""All fuzzers by name: what is drawn, what is attempted, and how much of a run it is worth."""

import warnings
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzzing import columns, commands, files, fits, interrupts, models, parquet, stores
from fuzzing.outcomes import Tally


class Fuzzer(NamedTuple):
    """One kind of attempt."""

    title: str
    cases: Any
    attempt: Any
    #: Of the examples of a run; what takes long gets fewer. All shares add up to 1.
    share: float


FUZZERS = {
    "fits": Fuzzer("fits: tables, labels, weights, parameters", fits.cases(), fits.attempt, 0.3),
    "teams": Fuzzer("fits of teams", fits.team_cases, fits.attempt, 0.02),
    "meta-fits": Fuzzer("meta-training", fits.meta_cases(), fits.attempt_meta, 0.06),
    "columns": Fuzzer("columns: what is found, kept, left", columns.cases(), columns.attempt, 0.12),
    "files": Fuzzer("fits on Parquet files and folders", parquet.cases(), parquet.attempt, 0.03),
    "commands": Fuzzer("command lines", commands.cases(), commands.attempt, 0.03),
    "samplers": Fuzzer("sampler files", files.changes, files.attempt_sampler, 0.16),
    "models": Fuzzer("model files, by grammar", models.cases, models.attempt, 0.04),
    "data-sets": Fuzzer("data sets (.npz)", files.changes, files.attempt_data_set, 0.12),
    "stores": Fuzzer("stores of results", stores.damages, stores.attempt_damage, 0.08),
    "kills": Fuzzer("kills while something is written", stores.kills, stores.attempt_kill, 0.01),
    "disks": Fuzzer("full disks", stores.disks, stores.attempt_disk, 0.02),
    "interrupts": Fuzzer("interrupts", interrupts.cases, interrupts.attempt, 0.01),
}


def run(fuzzer: Fuzzer, n_examples: int, number: int, before=None) -> Tally:
    """Attempt so many cases; nothing stops the run, and nothing is learned from earlier runs.

    Parameters
    ----------
    fuzzer : Fuzzer
        What is attempted.
    n_examples : int
        How often.
    number : int
        The seed.
    before : callable, default=None
        Called with every case before it is attempted.

    Returns
    -------
    tally : Tally
    """
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
        if before is not None:
            before(case)
        tally.add(fuzzer.attempt, case)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        attempts()
    return tally
