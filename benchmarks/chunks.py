"""Print the peak memory of `metasampler predict` on files of two sizes: it must not grow.

A model is fitted on 20,000 rows. Files of 1,000,000 and 5,000,000 rows with eight columns (six
numbers, a text, a date) are written part by part and scored by the command in a process of its own,
which is asked for its peak memory when it ends. Ranks are checked: all numbers from 1 to the last,
and in the order of the probabilities.

    python benchmarks/chunks.py                 # Parquet, 1,000,000 and 5,000,000 rows
    python benchmarks/chunks.py --suffix .csv --rows 200000 1000000
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

SCRIPT = """
import resource, sys
from metasampler.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
used = resource.getrusage(resource.RUSAGE_SELF)
print("peak", used.ru_maxrss / 1024, "cpu", used.ru_utime + used.ru_stime)
"""

PART = 100_000


def make_part(number: int, n_rows: int) -> pd.DataFrame:
    """Return some rows; the same for a number."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n_rows, 6)).round(4)
    frame = pd.DataFrame(X, columns=[f"x{column}" for column in range(6)])
    frame["town"] = rng.choice([f"town {code}" for code in range(40)], n_rows)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n_rows), "D")
    frame["day"] = days.strftime("%Y-%m-%d")
    return frame


def write(path: Path, n_rows: int) -> None:
    """Write a file part by part."""
    starts = range(0, n_rows, PART)
    parts = (make_part(1 + start // PART, min(PART, n_rows - start)) for start in starts)
    if path.suffix == ".csv":
        for number, part in enumerate(parts):
            part.to_csv(path, index=False, mode="a" if number else "w", header=not number)
        return
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    for part in parts:
        table = pa.Table.from_pandas(part, preserve_index=False)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def run(*arguments: object) -> tuple[float, float, float]:
    """Run the command; return peak memory in MB, CPU and wall seconds."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    _, peak, _, cpu = done.stdout.splitlines()[-1].split()
    return float(peak), float(cpu), time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--suffix", choices=[".csv", ".parquet"], default=".parquet")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train = make_part(0, 20_000)
        odds = train["x0"] + (train["town"] < "town 2") - 3.5
        train["bad"] = np.random.default_rng(0).random(len(train)) < 1 / (1 + np.exp(-odds))
        train.to_csv(folder / "train.csv", index=False)
        model = folder / "model.mesa"
        options = ("--target", "bad", "--preset", "fast", "--folds", 0, "--output", model)
        run("fit", folder / "train.csv", *options)
        print(f"{'rows':>12}{'file, MB':>10}{'peak, MB':>10}{'CPU, s':>9}{'wall, s':>9}")
        for n_rows in arguments.rows:
            path, scores = folder / f"rows{arguments.suffix}", folder / "scores.parquet"
            write(path, n_rows)
            peak, cpu, wall = run("predict", model, path, "--output", scores)
            size = path.stat().st_size / 1e6
            print(f"{n_rows:12,}{size:10.0f}{peak:10.0f}{cpu:9.1f}{wall:9.1f}", flush=True)
            found = pd.read_parquet(scores)
            assert len(found) == n_rows
            ranks, probability = found["rank"].to_numpy(), found["probability"].to_numpy()
            in_order = np.empty(n_rows)
            in_order[ranks - 1] = probability
            assert np.array_equal(np.sort(ranks), np.arange(1, n_rows + 1))
            assert np.all(np.diff(in_order) <= 0)
            path.unlink()


if __name__ == "__main__":
    main()
