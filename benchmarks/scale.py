"""CPU seconds and memory of fits in memory, on Parquet files and on Dask, on the same rows.

    python benchmarks/scale.py --rows 1_000_000 --recipe fast
    python benchmarks/scale.py --rows 10_000_000 --parts 20 --recipe fast --output docs/results
    python benchmarks/scale.py --only memory dask --folder rows --output docs/results
    python benchmarks/scale.py --table be_mtpl97_claim --max-rows 10_000 --recipe fast
    python benchmarks/scale.py --report-only --output docs/results --page docs/guide/large-data.md

Every way runs in a process of its own, one after the other, with one thread; a cluster has two
worker processes of one thread. With --output the figures are added to scale.jsonl there, and
--report-only prints them; with --page it also writes them into the page. --only takes some of the
ways, whose rows take the place of older ones; --folder keeps the made-up rows for the next call.

CPU seconds are those of a fit, in the process and in all its workers. Libraries are imported
before, in all of them: this takes a worker about 1.5 seconds. In memory, and on Dask with the rows
in memory, rows have been read before; fits on files read them. A cluster takes CPU time
even if it has nothing to do: what it takes a second is measured before the fit, and what it would
have taken by itself, over as long as the fit took, is given apart ("idle"). On a machine that is
busy with other work a fit takes longer and this part grows; the ratios count the rest. Memory is
the largest resident size (RSS) of the process, or of the largest worker: all that it has of
libraries, of mapped files and of its own.

With --table a real table of metasampler-bench is fitted on instead, in memory, on three splits:
what max_rows costs in average precision and saves in time.
"""

import argparse
import datetime
import hashlib
import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

WAYS = {
    "memory": "in memory",
    "files": "in files",
    "dask": "on Dask, in memory",
    "dask-files": "on Dask, in files",
    "lightgbm-dask": "LightGBM on Dask",
    "xgboost-dask": "XGBoost on Dask",
}
PACKAGES = ("metasampler", "scikit-learn", "numpy", "lightgbm", "dask", "distributed", "pyarrow")

# Splits of a real table.
N_SPLITS = 3

# Seconds for which an idle cluster is watched.
WATCHED = 6.0

BEGIN, END = "<!-- benchmarks/scale.py writes this -->", "<!-- until here -->"


# ---------------------------------------------------------------------- rows


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


# ---------------------------------------------------------------------- fits


def usage() -> tuple[float, float]:
    """Return CPU seconds and the largest resident size in MB of this process."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime, own.ru_maxrss / 1024


def import_libraries(way: str) -> None:
    """Import what a fit needs: this is done once a process, however many fits follow."""
    names = ("lightgbm", "metasampler", "pyarrow.parquet")
    own = {"lightgbm-dask": ("lightgbm.dask",), "xgboost-dask": ("xgboost.dask",)}
    for name in own.get(way, names):
        importlib.import_module(name)


def fit_alone(way: str, folder: Path, options: dict) -> dict:
    import pandas as pd

    from metasampler import MesaClassifier
    from metasampler.datasets import ParquetRows

    import_libraries(way)
    clf = MesaClassifier(random_state=0, **options)
    if way == "memory":
        frame = pd.read_parquet(folder)
        names = [name for name in frame.columns if name != "label"]
        rows = frame[names].to_numpy(), frame["label"].to_numpy()
        del frame
    else:
        rows = (ParquetRows(folder, "label", memory="1 GB"),)
    start, since = usage()[0], time.perf_counter()
    clf.fit(*rows)
    return {
        "cpu": usage()[0] - start,
        "wall": time.perf_counter() - since,
        "peak": usage()[1],
        "members": len(clf.estimators_),
        "model": clf,
    }


def cluster_cpu(client) -> float:
    """Return the CPU seconds of this process, which has the scheduler, and of all workers."""
    return usage()[0] + sum(cpu for cpu, _ in client.run(usage).values())


def fit_on_dask(way: str, folder: Path, options: dict) -> dict:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster, wait

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        tempfile.TemporaryDirectory() as shared,
    ):
        frame = dd.read_parquet(str(folder / "*.parquet"))
        if way != "dask-files":
            frame = frame.persist()
            wait(frame)
        fit = prepare(way, frame, client, options, shared)
        # Imports and connections of a first task are no part of an idle cluster, nor of a fit.
        client.run(import_libraries, way)
        client.run(usage)
        time.sleep(2)
        before, since = cluster_cpu(client), time.perf_counter()
        time.sleep(WATCHED)
        idle = (cluster_cpu(client) - before) / (time.perf_counter() - since)
        before, since = cluster_cpu(client), time.perf_counter()
        result = fit()
        wall = time.perf_counter() - since
        return {
            "cpu": cluster_cpu(client) - before,
            "idle": idle * wall,
            "wall": wall,
            "peak": max(peak for _, peak in client.run(usage).values()),
            **result,
        }


def prepare(way: str, frame, client, options: dict, shared: str):
    """Return a function that fits on the frame, and tells the model and what is known of it."""
    names = [name for name in frame.columns if name != "label"]
    if way == "lightgbm-dask":
        from lightgbm import DaskLGBMClassifier

        rival = DaskLGBMClassifier(client=client, verbose=-1, random_state=0)

        def fit():
            rival.fit(frame[names], frame["label"])
            return {"members": rival.n_estimators_, "model": rival.to_local()}

    elif way == "xgboost-dask":
        from xgboost.dask import DaskXGBClassifier

        rival = DaskXGBClassifier(random_state=0, tree_method="hist")
        rival.client = client

        def fit():
            rival.fit(frame[names], frame["label"])
            return {"members": rival.get_booster().num_boosted_rounds(), "model": rival}

    else:
        from metasampler import MesaClassifier
        from metasampler.distributed import DaskMesaClassifier

        clf = MesaClassifier(random_state=0, **options)
        folder = shared if way == "dask-files" else None
        on_dask = DaskMesaClassifier(clf, client=client, label="label", folder=folder)

        def fit():
            model = on_dask.fit(frame).to_local()
            n_members = len(model.estimators_)
            return {"members": n_members, "bytes": on_dask.n_bytes_received_, "model": model}

    return fit


def probabilities(way: str, model, test: np.ndarray) -> np.ndarray:
    """Return the probabilities of the positives among the test rows."""
    import pandas as pd

    if way == "xgboost-dask":
        import xgboost

        names = [f"x{k}" for k in range(test.shape[1])]
        rows = xgboost.DMatrix(pd.DataFrame(test, columns=names))
        return model.get_booster().predict(rows)
    named = hasattr(model, "feature_names_in_")
    names = list(model.feature_names_in_) if named else None
    return model.predict_proba(pd.DataFrame(test, columns=names) if named else test)[:, 1]


def run_one(arguments) -> None:
    """Fit in one way and print the result as JSON."""
    from sklearn.metrics import average_precision_score

    test, labels = make_rows(100_000, arguments.columns, 1, 0)
    options = {"estimator": arguments.recipe, "max_rows": arguments.max_rows}
    fit = fit_on_dask if "dask" in arguments.way else fit_alone
    result = fit(arguments.way, Path(arguments.folder), options)
    proba = probabilities(arguments.way, result.pop("model"), test)
    result["ap"] = float(average_precision_score(labels, proba))
    result["digest"] = hashlib.sha256(np.ascontiguousarray(proba).tobytes()).hexdigest()[:16]
    print("RESULT " + json.dumps(result))


def run_table(arguments) -> list[dict]:
    """Return the average precision on a fifth of a table, by a fit on the rest, for each split."""
    from sklearn.metrics import average_precision_score
    from sklearn.model_selection import train_test_split

    from metasampler import MesaClassifier
    from metasampler_bench.datasets import load

    X, y = load(arguments.table, return_X_y=True)
    rows = []
    for split in range(N_SPLITS):
        parts = train_test_split(X, y, test_size=0.2, stratify=y, random_state=split)
        clf = MesaClassifier(arguments.recipe, max_rows=arguments.max_rows, random_state=split)
        start = usage()[0]
        clf.fit(parts[0], parts[2])
        cpu = usage()[0] - start
        score = average_precision_score(parts[3], clf.predict_proba(parts[1])[:, 1])
        task = {
            "table": arguments.table,
            "split": split,
            "rows": len(parts[0]),
            "largest": int(np.bincount(parts[2]).max()),
            "recipe": arguments.recipe or "default",
            "max_rows": arguments.max_rows,
        }
        rows.append({**task, "cpu": cpu, "ap": float(score), **facts(arguments)})
    return rows


# ---------------------------------------------------------------------- what is stored and shown


def facts(arguments) -> dict:
    """Return what makes a result repeatable."""
    packages = [*PACKAGES, *(["xgboost-cpu"] if arguments.way == "xgboost-dask" else [])]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
    )
    made_up = {"rows": f"{arguments.rows:_}", "parts": arguments.parts, "only": arguments.way}
    shown = {
        **({"table": arguments.table} if arguments.table else made_up),
        "recipe": arguments.recipe,
        "max-rows": arguments.max_rows,
    }
    options = [f"--{name} {value}" for name, value in shown.items() if value is not None]
    return {
        "seed": 0,
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
        "commit": commit.stdout.strip(),
        "command": " ".join(["python benchmarks/scale.py", *options]),
        "date": datetime.date.today().isoformat(),
    }


def latest(rows: list[dict]) -> dict[tuple, dict[str, dict]]:
    """Return the last row of each way, by the number of rows and the members."""
    tasks: dict[tuple, dict[str, dict]] = {}
    for row in rows:
        tasks.setdefault((row["rows"], row["recipe"], row["max_rows"]), {})[row["way"]] = row
    return tasks


def net_seconds(row: dict) -> float:
    """Return the CPU seconds of a fit, without what an idle cluster takes."""
    return row["cpu"] - row.get("idle", 0.0)


def extrapolate(rows: list[dict]) -> list[str]:
    """Return a table of CPU seconds at more rows: a line through the two largest fits of a way.

    From a million rows on the first members get no more rows (max_rows), so what still grows is
    what is done once for every row: a line.
    """
    lines = []
    tasks = latest(rows)
    for recipe in sorted({recipe for _, recipe, _ in tasks}):
        sizes = sorted({n for n, name, limit in tasks if name == recipe and limit == 1_000_000})
        if len(sizes) < 2:
            continue
        small, large = (tasks[n, recipe, 1_000_000] for n in sizes[-2:])
        lines += [
            f"An estimate for more rows with `{recipe}`, in CPU seconds of all processes. It "
            f"extends a line through the fits of {sizes[-2]:,} and {sizes[-1]:,} rows:",
            "",
            "| rows are | a million rows more cost | 100,000,000 rows | 1,000,000,000 rows |",
            "|---|---|---|---|",
        ]
        for way in ("memory", "files", "dask", "dask-files"):
            if way in small and way in large:
                slope = (net_seconds(large[way]) - net_seconds(small[way])) / (
                    sizes[-1] - sizes[-2]
                )
                more = [net_seconds(large[way]) + slope * (n - sizes[-1]) for n in (1e8, 1e9)]
                cells = [WAYS[way], f"{1e6 * slope:.1f}", *(f"{seconds:,.0f}" for seconds in more)]
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return lines


def render(rows: list[dict]) -> str:
    """Return the figures as tables in Markdown."""
    lines = []
    real, rows = ([row for row in rows if ("table" in row) == kind] for kind in (True, False))
    for (n_rows, recipe, max_rows), ways in sorted(latest(rows).items()):
        first = ways.get("memory")
        limit = f", at most {max_rows:,} rows of a class per member" * (max_rows != 1_000_000)
        lines += [
            f"{n_rows:,} rows, `{recipe}`{limit}:",
            "",
            "| rows are | CPU s | idle s | ratio | ratio with idle | peak MB | MB to the driver a "
            "member | average precision |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for way, title in WAYS.items():
            if way not in ways:
                continue
            row = ways[way]
            idle = f"{row['idle']:.1f}" if "idle" in row else ""
            ratios = [
                "" if first is None else f"{seconds / first['cpu']:.2f}"
                for seconds in (net_seconds(row), row["cpu"])
            ]
            sent = row.get("bytes")
            cells = [
                title,
                f"{net_seconds(row):.1f}",
                idle,
                *ratios,
                f"{row['peak']:.0f}",
                "" if sent is None else f"{sent / 2**20 / row['members']:.2f}",
                f"{row['ap']:.3f}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
        ours = [
            row for way, row in ways.items() if way in ("memory", "files", "dask", "dask-files")
        ]
        if len(ours) > 1:
            same = len({row["digest"] for row in ours}) == 1
            said = "the same, bit for bit," if same else "NOT the same"
            lines += ["", f"MESA's probabilities are {said} in all {len(ours)} cases."]
        lines.append("")
    return "\n".join(lines + extrapolate(rows) + render_limits(real))


def render_limits(rows: list[dict]) -> list[str]:
    """Return tables of what max_rows costs on real tables, one a recipe."""
    lines = []
    for recipe in sorted({row["recipe"] for row in rows}):
        found: dict[str, dict[int, dict[int, dict]]] = {}
        for row in rows:
            if row["recipe"] == recipe:
                of_table = found.setdefault(row["table"], {})
                of_table.setdefault(row["max_rows"], {})[row["split"]] = row
        limits = sorted({limit for each in found.values() for limit in each}, reverse=True)
        names = ["no limit", *(f"{limit:,}" for limit in limits[1:])]
        lines += [
            f"Real tables, `{recipe}`, {N_SPLITS} splits. The head of a column is the most rows of "
            "a class that a member gets. Cells show the average precision and, in brackets, the "
            "CPU time relative to a fit without a limit:",
            "",
            f"| table | rows of the largest class | {' | '.join(names)} |",
            f"|{'---|' * (len(names) + 2)}",
        ]
        for table, of_table in sorted(found.items()):
            whole = of_table[limits[0]]
            cells = [table, f"{whole[0]['largest']:,}"]
            for limit in limits:
                splits = of_table.get(limit, {}).values()
                score = np.mean([row["ap"] for row in splits])
                part = sum(row["cpu"] for row in splits) / sum(row["cpu"] for row in whole.values())
                cells.append(f"{score:.3f} ({part:.2f})")
            lines.append(f"| {' | '.join(cells)} |")
        for limit in limits[1:]:
            changes = [
                np.mean([of_table[limit][split]["ap"] - row["ap"] for split, row in whole.items()])
                for of_table in found.values()
                for whole in [of_table[limits[0]]]
            ]
            error = np.std(changes, ddof=1) / np.sqrt(len(changes))
            lines.append(
                f"{'' if limit != limits[1] else chr(10)}At most {limit:,} rows: "
                f"{np.mean(changes):+.4f} ± {error:.4f} of average precision."
            )
        lines.append("")
    return lines


def write_page(page: Path, tables: str) -> None:
    """Put the tables between the marks of a page."""
    text = page.read_text()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    page.write_text(f"{text[:start]}\n\n{tables}\n{text[end:]}")


def stored(output: str) -> list[dict]:
    path = Path(output) / "scale.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_all(arguments, folder: Path) -> list[dict]:
    """Fit in all ways, each in a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.output:
        # Before the work: a fit of minutes must not be lost for a missing folder.
        Path(arguments.output).mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        write_rows(folder, arguments.rows, arguments.columns, arguments.parts)
    rows = []
    for way in arguments.only:
        arguments.way = way
        # Before the work too: a missing package must not cost a fit.
        about = facts(arguments)
        given = ["--rows", str(arguments.rows), "--columns", str(arguments.columns)]
        given += ["--max-rows", str(arguments.max_rows)]
        given += ["--recipe", arguments.recipe] if arguments.recipe else []
        command = [sys.executable, __file__, "--way", way, "--folder", str(folder), *given]
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **one_thread}
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        if not lines:
            print(f"{way} failed: {done.stderr.strip().splitlines()[-3:]}", file=sys.stderr)
            continue
        task = {
            "way": way,
            "rows": arguments.rows,
            "columns": arguments.columns,
            "parts": arguments.parts,
            "recipe": arguments.recipe or "default",
            "max_rows": arguments.max_rows,
        }
        rows.append({**task, **json.loads(lines[-1][7:]), **about})
        if arguments.output:
            with open(Path(arguments.output) / "scale.jsonl", "a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--parts", type=int, default=8, help="Parquet files")
    parser.add_argument("--recipe", default=None, help="estimator: None, fast or best")
    parser.add_argument(
        "--max-rows",
        type=lambda text: int(text.replace("_", "")),
        default=1_000_000,
        help="of a class, a member",
    )
    parser.add_argument(
        "--table", help="a real table of metasampler-bench, instead of made-up rows"
    )
    parser.add_argument("--only", nargs="*", default=list(WAYS), choices=WAYS)
    parser.add_argument("--folder", help="where the rows are, or are written once")
    parser.add_argument("--output", help="folder of scale.jsonl")
    parser.add_argument("--page", help="the page whose tables are written")
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        run_one(arguments)
        return
    if arguments.report_only:
        tables = render(stored(arguments.output))
        if arguments.page:
            write_page(Path(arguments.page), tables)
        print(tables)
        return
    if arguments.table:
        rows = run_table(arguments)
        for row in rows:
            print(json.dumps({name: row[name] for name in ("table", "split", "cpu", "ap")}))
        if arguments.output:
            with open(Path(arguments.output) / "scale.jsonl", "a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
        return
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        print(render(run_all(arguments, Path(arguments.folder or folder))))


if __name__ == "__main__":
    main()
