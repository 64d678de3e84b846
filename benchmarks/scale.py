"""CPU seconds and memory of fits in memory, on Parquet files and on Dask, on the same rows.

    python benchmarks/scale.py --rows 1_000_000 --parts 8

Every way runs in a process of its own, one after the other, with one thread; a cluster has two
workers of one thread. CPU seconds are those of the process and of all its workers; memory is the
largest resident size of the fit process (or of the largest worker). The last column says whether
the probabilities are those of the fit in memory, bit for bit.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WAYS = ("memory", "files", "dask", "dask-files", "lightgbm-dask")


def make_rows(n_rows: int, n_columns: int, seed: int, start: int):
    """Return float32 columns and half a percent of positives that depend on some of them."""
    rng = np.random.default_rng((seed, start))
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    odds = 1.5 * X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + rng.logistic(size=n_rows)
    return X, (odds > 7.4).astype(np.int8)


def write_rows(folder: Path, n_rows: int, n_columns: int, n_parts: int) -> None:
    import pandas as pd

    sizes = np.full(n_parts, n_rows // n_parts)
    sizes[0] += n_rows - sizes.sum()
    for number, size in enumerate(sizes.tolist()):
        X, y = make_rows(size, n_columns, 0, number)
        frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(n_columns)]).assign(label=y)
        frame.to_parquet(folder / f"{number:03}.parquet", row_group_size=200_000)


def cpu_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def fit_alone(way: str, folder: Path, options: dict, test) -> dict:
    import pandas as pd

    from metasampler import MesaClassifier
    from metasampler.datasets import ParquetRows

    clf = MesaClassifier(random_state=0, **options)
    start = cpu_seconds()
    if way == "memory":
        frame = pd.read_parquet(folder)
        y = frame.pop("label").to_numpy()
        X = frame.to_numpy()
        del frame
        names = None
        start = cpu_seconds()
        clf.fit(X, y)
    else:
        clf.fit(ParquetRows(folder, "label", memory="1 GB"))
        names = clf.feature_names_in_
    cpu = cpu_seconds() - start
    table = test if names is None else pd.DataFrame(test, columns=names)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "cpu": cpu,
        "peak": peak,
        "members": len(clf.estimators_),
        "proba": clf.predict_proba(table)[:, 1].tolist(),
    }


def worker_usage():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime, own.ru_maxrss / 1024


def fit_on_dask(way: str, folder: Path, options: dict, test) -> dict:
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client, LocalCluster

    from metasampler import MesaClassifier
    from metasampler.distributed import DaskMesaClassifier

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        tempfile.TemporaryDirectory() as shared,
    ):
        client.run(worker_usage)
        frame = dd.read_parquet(str(folder / "*.parquet"))
        before = cpu_seconds() + sum(cpu for cpu, _ in client.run(worker_usage).values())
        table = pd.DataFrame(test, columns=[name for name in frame.columns if name != "label"])
        n_bytes = None
        if way == "lightgbm-dask":
            from lightgbm import DaskLGBMClassifier

            model = DaskLGBMClassifier(n_estimators=30, client=client, verbose=-1)
            frame = frame.persist()
            model.fit(frame.drop(columns="label"), frame["label"])
            n_members, model = 30, model.to_local()
        else:
            clf = MesaClassifier(random_state=0, **options)
            shared_folder = shared if way == "dask-files" else None
            fit = DaskMesaClassifier(clf, client=client, label="label", folder=shared_folder)
            fit.fit(frame)
            model, n_bytes = fit.to_local(), fit.n_bytes_received_
            n_members = len(model.estimators_)
        usage = client.run(worker_usage).values()
        return {
            "cpu": cpu_seconds() + sum(cpu for cpu, _ in usage) - before,
            "peak": max(peak for _, peak in usage),
            "members": n_members,
            "bytes": n_bytes,
            "proba": model.predict_proba(table)[:, 1].tolist(),
        }


def run_one(arguments) -> None:
    """Fit in one way and print the result as JSON."""
    test, labels = make_rows(100_000, arguments.columns, 1, 0)
    options = {"estimator": arguments.recipe, "max_rows": arguments.max_rows}
    fit = fit_on_dask if "dask" in arguments.way else fit_alone
    since = time.perf_counter()
    result = fit(arguments.way, Path(arguments.folder), options, test)
    from sklearn.metrics import average_precision_score

    result["wall"] = time.perf_counter() - since
    result["ap"] = average_precision_score(labels, result["proba"])
    print("RESULT " + json.dumps(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--recipe", default=None, help="estimator: None, fast or best")
    parser.add_argument("--max-rows", type=int, default=1_000_000, help="of a class, a member")
    parser.add_argument("--only", nargs="*", default=WAYS, choices=WAYS)
    parser.add_argument("--folder")
    parser.add_argument("--way", choices=WAYS)
    arguments = parser.parse_args()
    if arguments.way:
        run_one(arguments)
        return
    print(f"{arguments.rows:,} rows, {arguments.columns} float32 columns, {arguments.parts} parts")
    print(
        f"{'way':14} {'CPU s':>8} {'a member':>9} {'ratio':>6} {'peak MB':>8} {'MB a step':>9}"
        f" {'AP':>6}  same"
    )
    first = None
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        write_rows(Path(folder), arguments.rows, arguments.columns, arguments.parts)
        for way in arguments.only:
            given = ["--rows", str(arguments.rows), "--columns", str(arguments.columns)]
            given += ["--max-rows", str(arguments.max_rows)]
            given += ["--recipe", arguments.recipe] if arguments.recipe else []
            command = [sys.executable, __file__, "--way", way, "--folder", folder, *given]
            one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run(
                command, capture_output=True, text=True, env={**os.environ, **one_thread}
            )
            lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
            if not lines:
                print(f"{way:14} failed: {done.stderr.strip().splitlines()[-1:]}")
                continue
            result = json.loads(lines[-1][7:])
            first = first or result
            n_bytes = result.get("bytes")
            per_step = "" if n_bytes is None else f"{n_bytes / 2**20 / result['members']:.2f}"
            same = "" if "lightgbm" in way else str(result["proba"] == first["proba"])
            print(
                f"{way:14} {result['cpu']:8.1f} {result['cpu'] / result['members']:9.2f} "
                f"{result['cpu'] / first['cpu']:6.2f} {result['peak']:8.0f} {per_step:>9} "
                f"{result['ap']:6.3f}  {same}",
                flush=True,
            )


if __name__ == "__main__":
    main()
