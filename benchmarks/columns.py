"""Print what column sense finds in the 46 real tables, all rows, and how near it is to an alarm.

For each table: rows, columns, seconds, the highest average precision of a single column (from .8
on a column is named as a possible leak), and whatever was found. The last lines plant a copy of
the target with one label in a hundred changed.

    METASAMPLER_DATA_HOME=... python benchmarks/columns.py
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from metasampler.tables import _sense as sense
from metasampler.tables import inspect_columns


def main():
    scores = []
    plain = sense._leak

    def noted(*arguments):
        scores.append(plain(*arguments))
        return scores[-1]

    sense._leak = noted
    folder = Path(os.environ["METASAMPLER_DATA_HOME"]) / "real"
    highest = 0.0
    for path in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(path)
        scores.clear()
        start = time.perf_counter()
        report = inspect_columns(frame, "target")
        seconds = time.perf_counter() - start
        found = {each.name: each.finding for each in report.columns if each.finding}
        rows, columns = frame.shape
        line = f"{path.stem:28}{rows:8,}{columns:5}{seconds:7.2f} s"
        print(f"{line}  highest {max(scores):.3f}  {found}")
        highest = max(highest, *scores)
    print(f"\nhighest average precision of a column of any table: {highest:.3f}")
    rng = np.random.default_rng(0)
    for share in (0.2, 0.1, 0.05, 0.02):
        y = rng.random(20_000) < share
        changed = rng.random(len(y)) < 0.01
        scores.clear()
        inspect_columns(pd.DataFrame({"copy": np.where(changed, ~y, y)}), y)
        print(f"a copy with 1% of labels changed, rarest class {share:.0%}: {max(scores):.3f}")


if __name__ == "__main__":
    main()
