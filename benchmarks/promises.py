"""What honest promises cost, as ratios of CPU time within one run: medians of interleaved repeats.

    python benchmarks/promises.py

Grouped folds are compared with the same fit without groups. Groups say nothing here, so that both
fits grow alike. With 1,000 rows few groups have a row of the rare class, so that three clones
judge. A fit also describes its columns for `drift`, and looks for rows that depend on each other:
both are shown as shares of the fit.
"""

import argparse
import time
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification

from metasampler import MesaClassifier
from metasampler.ensemble import _under_sampling as fits


def timed(call) -> float:
    """Return the CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def shares(fit) -> tuple[float, float]:
    """Return the shares of a fit that describing its columns and looking at its rows take."""
    spent = {"describe": 0.0, "look": 0.0}
    describe, look = fits.BaseUnderSamplingEnsemble._describe, fits.find_in_rows

    def described(*arguments):
        spent["describe"] += timed(lambda: describe(*arguments))

    def looked(*arguments):
        found = []
        spent["look"] += timed(lambda: found.append(look(*arguments)))
        return found[0]

    fits.BaseUnderSamplingEnsemble._describe, fits.find_in_rows = described, looked
    try:
        whole = timed(fit)
    finally:
        fits.BaseUnderSamplingEnsemble._describe, fits.find_in_rows = describe, look
    return spent["describe"] / whole, spent["look"] / whole


def measure(n_rows: int, repeats: int) -> tuple[str, ...]:
    """Return the seconds of a fit, the ratio with groups, and what else a fit spends."""
    X, y = make_classification(n_rows, 22, n_informative=8, weights=[0.93], random_state=0)
    groups = np.random.default_rng(0).integers(0, n_rows // 4, n_rows)
    clf = MesaClassifier(random_state=0)
    clf.fit(X, y)
    alone, ratios, described, looked = [], [], [], []
    for _ in range(repeats):
        alone.append(timed(lambda: clf.fit(X, y)))
        ratios.append(timed(lambda: clf.fit(X, y, groups=groups)) / alone[-1])
        both = shares(lambda: clf.fit(X, y))
        described.append(both[0])
        looked.append(both[1])
    seconds, ratio = median(alone), median(ratios)
    return f"{seconds:.2f}", f"{ratio:.2f}", f"{median(described):.1%}", f"{median(looked):.1%}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    table = Table("rows", "fit (s)", "by groups / without", "columns described", "rows looked at")
    for n_rows in (1000, 8000, 60_000):
        table.add_row(f"{n_rows:,}", *measure(n_rows, repeats))
    Console().print(table)


if __name__ == "__main__":
    main()
