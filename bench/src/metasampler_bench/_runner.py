"""Work through the cells of a spec in parallel, and go on from where it stopped."""

from __future__ import annotations

import platform
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

import metasampler
import metasampler_bench
from metasampler_bench._measures import KEPT_ON_REQUEST, MEASURES, needs_sampler
from metasampler_bench._samplers import SamplerCache
from metasampler_bench._spec import Job, Spec
from metasampler_bench._stand_in import STAND_IN, replace_absent
from metasampler_bench._store import ResultStore, cell_key, row_key
from metasampler_bench.datasets import load
from metasampler_bench.datasets._classes import CLASS_TABLES, load_classes

__all__ = ["Runner", "TimeLimitError", "source_commit"]

_PACKAGES = (
    *("metasampler", "scikit-learn", "imbalanced-learn", "numpy", "scipy"),
    *("pandas", "lightgbm", "xgboost", "xgboost-cpu", "catboost", "flaml", "autogluon.tabular"),
)


class TimeLimitError(Exception):
    """A fit took longer than it may."""


@dataclass
class Runner:
    """Runs specs and keeps their rows.

    Parameters
    ----------
    folder : path
        Where results are: ``NAME.jsonl`` for each spec, and ``samplers/`` with what was
        meta-trained.
    jobs : int, default=1
        Fits at once, through joblib: its `parallel_config` chooses the backend.
    seed : int, default=0
        Seed of all splits and fits.
    data_home : str, default=None
        Folder of the data.
    limit : float, default=None
        Seconds after which a fit is given up; None leaves it to the spec.
    retry : bool, default=False
        Whether to compute cells again that failed before.

    Examples
    --------
    >>> import tempfile
    >>> from metasampler_bench import Runner, load_spec
    >>> spec = load_spec("synthetic")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runner = Runner(folder)
    ...     done = runner.run(spec, quick=True, methods=("under-bagging",))
    ...     rows = runner.store(spec).rows()
    >>> rows[0]["cell"]["method"], 0 < rows[0]["score"] <= 1
    ('under-bagging', True)
    """

    folder: Path
    jobs: int = 1
    seed: int = 0
    data_home: str | None = None
    limit: float | None = None
    retry: bool = False

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)

    def store(self, spec: Spec) -> ResultStore:
        """Return the file of a spec's rows."""
        return ResultStore(self.folder / f"{spec.name}.jsonl")

    def run(
        self,
        spec: Spec,
        *,
        runs: int | None = None,
        folds: int | None = None,
        quick: bool = False,
        datasets: tuple[str, ...] = (),
        methods: tuple[str, ...] = (),
        command: str | None = None,
        progress: Callable[[int, int, str], None] | None = None,
        note: Callable[[str], None] | None = None,
    ) -> int:
        """Compute all cells of a spec that are not there yet.

        Parameters
        ----------
        spec : Spec
        runs, folds, quick, datasets, methods
            Which cells; see `Spec.jobs`.
        command : str, default=None
            What the user typed, for the rows to tell.
        progress : callable, default=None
            Called with the jobs that are done, all jobs, and what was done last.
        note : callable, default=None
            Called with a sentence for each data set that is not on this machine, where a quick
            look takes bundled data in its place.

        Returns
        -------
        n_rows : int
            Rows that were added.
        """
        _check_names(spec, quick, dataset=datasets, method=methods)
        jobs = spec.jobs(runs=runs, folds=folds, quick=quick, datasets=datasets, methods=methods)
        if not jobs:
            raise ValueError(
                f"{spec.name!r} has no cell with these data sets and methods together: "
                f"{', '.join((*datasets, *methods))}."
            )
        if quick:
            jobs, replaced = replace_absent(jobs, self.data_home)
            for name in replaced:
                if note is not None:
                    note(f"{name!r} is not on this machine; {STAND_IN!r} takes its place.")
        environment = _environment(self.seed)
        cache = SamplerCache(
            self.folder / "samplers",
            self.seed,
            self.data_home,
            store=self.store(spec),
            commit=environment["commit"],
        )
        limit = self.limit or spec.limit
        facts = environment | ({} if command is None else {"command": command})
        added = 0
        with self.store(spec).open_for_writing() as append:
            done = self._done(self.store(spec).rows())
            copied = list(self._copies(spec, jobs, done))
            append(copied)
            done |= {row_key(row) for row in copied}
            added += len(copied)
            pending = [job for job in jobs if any(cell_key(c) not in done for c in job.cells)]
            _check_some_data(pending, self.data_home)
            trainings = self._trainings(pending, cache)
            total = len(pending) + len(trainings)
            finished = 0
            # What needs no meta-training first: then each sampler is there before it is asked for.
            first = [job for job in pending if not needs_sampler(job)]
            last = [job for job in pending if needs_sampler(job)]
            stages: list[tuple[Any, list[Any]]] = [
                (_measure, first),
                (_train, trainings),
                (_measure, last),
            ]
            for function, items in stages:
                calls = (delayed(function)(item, cache, limit) for item in items)
                for item, rows in Parallel(
                    self.jobs, return_as="generator_unordered", batch_size=1
                )(calls):
                    finished += 1
                    fresh = [
                        {"spec": spec.name, "cell": cell, **row, **facts, "date": _today()}
                        for cell, row in rows
                        if cell_key(cell) not in done
                    ]
                    append(fresh)
                    added += len(fresh)
                    if progress is not None:
                        progress(finished, total, _describe(item))
        return added

    def _done(self, rows: list[dict[str, Any]]) -> set[str]:
        return {
            row_key(row)
            for row in rows
            if row.get("seed") == self.seed and not (self.retry and "error" in row)
        }

    def _copies(self, spec: Spec, jobs: list[Job], done: set[str]) -> Iterator[dict[str, Any]]:
        """Yield rows of other specs for the same cells: two tables may need the same fit."""
        wanted = {
            cell_key(cell): job
            for job in jobs
            if job.kind == "scores" and not job.keep
            for cell in job.cells
            if cell_key(cell) not in done
        }
        if not wanted:
            # Other files may be large.
            return
        own = self.store(spec).path
        files = {path.with_suffix("") for path in self.folder.glob("*.jsonl.gz")}
        for path in sorted(files.union(self.folder.glob("*.jsonl")) - {own}):
            for row in ResultStore(path).rows():
                # The folder may hold rows that are no cells, as those of the fuzzers.
                key = row_key(row) if "cell" in row else None
                if key in wanted and row.get("seed") == self.seed and "score" in row:
                    del wanted[key]
                    plain = {k: v for k, v in row.items() if k not in KEPT_ON_REQUEST}
                    yield {**plain, "spec": spec.name, "copied_from": row.get("spec")}

    @staticmethod
    def _trainings(pending: list[Job], cache: SamplerCache) -> list[dict[str, Any]]:
        """Return one cell for each sampler that is missing."""
        cells = {
            cell_key(cache.key(job.cell)): job.cell
            for job in pending
            if needs_sampler(job) and not cache.has(job.cell)
        }
        return sorted(cells.values(), key=lambda cell: cache.key(cell)["dataset"])


def _check_some_data(jobs: list[Job], data_home: str | None) -> None:
    """Raise a FileNotFoundError that says what to set, if no cell has its data.

    A set that is missing loses its own cells only, but a run without any data would fill a file
    with the same error. If the first set can be downloaded, it is.
    """
    names = list(dict.fromkeys(job.cell["dataset"] for job in jobs if "dataset" in job.cell))
    for name in names:
        try:
            if name in CLASS_TABLES:
                load_classes(name, data_home)
            else:
                load(name, data_home=data_home, download=False)
        except (FileNotFoundError, ValueError):  # sets that only a folder has are unknown without
            continue
        return
    if names and names[0] in CLASS_TABLES:
        load_classes(names[0], data_home)
    elif names:
        load(names[0], data_home=data_home)


def _check_names(spec: Spec, quick: bool, **wanted: tuple[str, ...]) -> None:
    """Raise a ValueError for data sets or methods that a spec does not have."""
    cells = [job.cell for job in spec.jobs(quick=quick)]
    for axis, names in wanted.items():
        known = sorted({cell[axis] for cell in cells if axis in cell})
        unknown = [repr(name) for name in names if name not in known]
        if unknown:
            raise ValueError(
                f"{spec.name!r}{' with --quick' if quick else ''} has no {axis} "
                f"{', '.join(unknown)}; it has {', '.join(known) or 'none'}."
            )


def _measure(job: Job, cache: SamplerCache, limit: float | None) -> tuple[Any, list[Any]]:
    try:
        # One thread a fit: `jobs` says how many run at once.
        with threadpool_limits(1), _time_limit(limit):
            rows = MEASURES[job.kind](job, cache)
    except Exception as error:  # a method that fails loses its own cells only
        rows = [{"error": f"{type(error).__name__}: {error}"[:300]} for _ in job.cells]
    return job, list(zip(job.cells, rows, strict=True))


def _train(cell: dict[str, Any], cache: SamplerCache, limit: float | None) -> tuple[Any, list[Any]]:
    try:
        with threadpool_limits(1):
            cache.get(cell)
    except Exception:
        # The cells that need the sampler meet the same error and say so in their rows.
        pass
    return cell, []


@contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `TimeLimitError` after some seconds, where the system has alarms."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    error = TimeLimitError(f"more than {seconds:g} s")
    is_over = False

    def stop(*_: Any) -> None:
        nonlocal is_over
        is_over = True
        raise error

    try:
        before = signal.signal(signal.SIGALRM, stop)
    except ValueError:  # not in the main thread, where no alarm can be set
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except KeyboardInterrupt:
        # CatBoost turns whatever a signal raises into an interrupt, as if the user had sent it.
        if is_over:
            raise error from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _environment(seed: int) -> dict[str, Any]:
    """Return what every row says about how it came about."""
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # an extra, or a source tree that is not installed
            continue
    # Products of matrices round as the processor's kernels do: meta-trained scores may follow.
    kernels = {library.get("architecture") for library in threadpool_info()} - {None}
    if kernels:
        versions["kernels"] = "+".join(sorted(kernels))
    return {"seed": seed, "versions": versions, "commit": source_commit()}


def source_commit() -> str:
    """Return the commit of the library's source tree, with "+" if a package was changed.

    Outside a checkout it is "unknown".
    """
    # What is compared is the library; it may lie elsewhere than this package.
    folders = [Path(str(m.__file__)).parent for m in (metasampler, metasampler_bench)]

    def git(*arguments: str, folder: Path = folders[0]) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        head = git("rev-parse", "--short", "HEAD")
        changed = any(git("status", "--porcelain", "--", ".", folder=folder) for folder in folders)
        return head + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def _describe(item: Any) -> str:
    cell = item.cell if isinstance(item, Job) else item
    name = str(cell.get("dataset") or cell.get("tasks", ""))
    what = cell.get("method", "") if isinstance(item, Job) else "meta-training"
    return f"{name} {what} run {cell.get('run', 0)} fold {cell.get('fold', 0)}".replace("  ", " ")
