"""Partitions on the workers of a Dask cluster."""

import shutil
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from metasampler._warnings import warn_user
from metasampler.large._backends import Backend, load_cell, store_cell

__all__ = ["Cluster"]

# Seconds between looks at whether anything goes on.
_LOOK_AGAIN = 2.0

# How often a folder is removed while tasks still write to it.
_N_TRIES = 10

# Things that were sent to the cluster and may be needed again: adapters, and the newest members.
# With large data a tree takes some megabytes, in every worker.
_N_SHARED = 6

# With at least this many bytes a cell is worth a file, if there is a folder for files.
_LARGE = 1 << 16

_SMALL = (type(None), bool, int, float, str, tuple, np.ndarray, np.generic, np.dtype, type)


def _give(thing):
    """Return a thing that came with the task: if a worker is lost, it comes again."""
    return thing


class _InFiles:
    """A function of cells that may be in files; what it makes is written to a file if it is large.

    So a worker needs no memory for rows that are not in use, and nothing is sent when another
    worker does the next task.
    """

    def __init__(self, function: Callable, path: Path | None, large: int):
        self.function = function
        self.path = path
        self.large = large
        self.__name__ = function.__name__

    def __call__(self, *args):
        made = self.function(*map(load_cell, args))
        is_partition = hasattr(made, "rows_of")
        if self.path is None or _size_of(vars(made) if is_partition else made) < self.large:
            return made
        return store_cell(self.path, made)


class Cluster(Backend):
    """Partitions on the workers of a cluster; a cell is a future.

    Every call is a pure task, so that Dask computes again what a lost worker held. With a
    folder large cells are files there. A file is removed when its cell is not needed any more; if a
    task is computed again that needs it, Dask computes the cell again too.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    timeout : float
        Seconds without any progress after which an error is raised.
    folder : path, default=None
        A folder that all workers share, for the tables of the partitions and for large cells; None
        keeps them in memory.
    journal : Journal, default=None
        Remembers the members that were fitted.
    """

    collects_rows = False

    def __init__(self, client, timeout: float, folder=None, journal=None):
        self.client = client
        self.timeout = timeout
        self.folder = None if folder is None else Path(folder) / f"metasampler-{uuid4().hex[:12]}"
        self.journal = journal
        #: Bytes of answers that have come to the loop.
        self.n_bytes = 0
        self._numbers = count()
        self._token = uuid4().hex[:8]
        self._shared: OrderedDict[int, tuple] = OrderedDict()
        # Tasks that may read files, and files that are not needed once the tasks before them are
        # done; both by numbers that grow.
        self._readers: dict[int, Any] = {}
        self._dropped: list[tuple[int, Path]] = []
        # Teams grow side by side and ask from their own threads.
        self._lock = threading.Lock()

    def another(self) -> "Cluster":
        """Return one for another fit on the same cluster, which remembers no members."""
        return Cluster(
            self.client, self.timeout, None if self.folder is None else self.folder.parent
        )

    def new_paths(self, n_paths: int) -> list:
        """Return paths of files in the shared folder; None keeps a table in memory."""
        if self.folder is None:
            return [None] * n_paths
        self.folder.mkdir(parents=True, exist_ok=True)
        return [self.folder / f"{next(self._numbers)}" for _ in range(n_paths)]

    def make(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return a future for each partition."""
        return self._submit(function, cells, args, makes=True)

    def ask(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return the answer of each partition."""
        return self._answers(self._submit(function, cells, args))

    def _submit(self, function: Callable, cells: tuple, args: tuple, *, makes=False) -> list:
        """Return a future for each partition.

        Where cells are made, every thread reads the blocks of one partition at a time: otherwise a
        worker would read the next ones before it is done with these, and hold both.
        """
        from dask.delayed import Delayed, delayed

        arguments = [self._argument(arg) for arg in args]
        made: list = []
        reading: list = []
        for each in zip(*cells, strict=True):
            key = self._key(function)
            if not any(isinstance(block, Delayed) for cell in each for block in _flat(cell)):
                made.append(self._submit_task(function, (*each, *arguments), key, makes))
                continue
            if makes:
                self._wait_for_thread(reading)
            # Read where it is used, and not kept.
            task = delayed(function, pure=False)(*each, *arguments, dask_key_name=key)
            made.append(self.client.compute(task))
            reading.append(made[-1])
        return made

    def _submit_task(self, function: Callable, arguments: tuple, key: str, makes: bool):
        """Return the future of one task; with a folder its cells may be files."""
        if self.folder is None:
            return self.client.submit(function, *arguments, key=key)
        path = self.folder / f"cell-{key}" if makes else None
        future = self.client.submit(_InFiles(function, path, _LARGE), *arguments, key=key)
        with self._lock:
            self._readers[next(self._numbers)] = future
        if path is not None:
            weakref.finalize(future, self._drop, path).atexit = False
        return future

    def _drop(self, path: Path) -> None:
        """Note that the loop has no more use for a cell; tasks may have."""
        self._dropped.append((next(self._numbers), path))

    def close(self) -> None:
        """Let go of all tasks and remove the files, also after an error or an interrupt."""
        with self._lock:
            held = [*self._readers.values(), *self._shared.values()]
            self._readers.clear()
            self._shared.clear()
        # Futures go when the lock is free: they may note a file.
        del held
        self._dropped.clear()
        if self.folder is None:
            return
        # A task that still runs may write a file meanwhile; one that begins later finds no folder.
        for _ in range(_N_TRIES):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(_LOOK_AGAIN / _N_TRIES)
        warn_user(f"The folder {self.folder} could not be removed: a task still writes to it.")

    def _remove_dropped(self) -> None:
        """Remove the files of cells that neither the loop nor any task needs."""
        with self._lock:
            done = [number for number, future in self._readers.items() if future.done()]
            # Futures go when the lock is free: they may note a file.
            gone = [self._readers.pop(number) for number in done]
            oldest = min(self._readers, default=next(self._numbers))
            dropped, self._dropped = self._dropped, []
        del gone
        for number, path in dropped:
            if number < oldest:
                # What cannot be removed yet goes with the folder.
                with suppress(OSError):
                    path.unlink()
            else:
                self._dropped.append((number, path))

    def _wait_for_thread(self, reading: list) -> None:
        """Wait until a thread of the cluster reads nothing.

        The next task then goes to its worker, which is the least busy one. Nothing is tied to a
        worker: if all workers are lost at once, Dask waits for ever for one with the same address.
        """
        while True:
            running = [future for future in reading if not future.done()]
            n_threads = self.n_threads()
            if not n_threads or len(running) < n_threads:
                return
            self._wait(running, return_when="FIRST_COMPLETED")

    def _key(self, function: Callable) -> str:
        # The dashboard groups tasks by what stands before the token.
        return f"{function.__name__.strip('_')}-{self._token}-{next(self._numbers)}"

    def _argument(self, thing: Any):
        """Return an argument as tasks take it: what may be large is sent once for all of them."""
        if isinstance(thing, _SMALL) or callable(thing):
            return thing
        with self._lock:
            known = self._shared.get(id(thing))
            if known is None:
                # Not scattered: Dask could not restore that after the loss of a worker.
                known = thing, self.client.submit(_give, thing, key=self._key(_give))
                self._shared[id(thing)] = known
                while len(self._shared) > _N_SHARED:
                    self._shared.popitem(last=False)
            self._shared.move_to_end(id(thing))
            return known[1]

    def _wait(self, futures: list, return_when: str = "ALL_COMPLETED") -> None:
        """Wait for futures, as long as anything goes on."""
        from distributed import wait

        n_done, since = -1.0, time.monotonic()
        while True:
            try:
                wait(futures, timeout=_LOOK_AGAIN, return_when=return_when)
                return
            except TimeoutError:
                done = sum(future.done() for future in futures) + self._n_processing()
                if done != n_done:
                    n_done, since = done, time.monotonic()
                if time.monotonic() - since > self.timeout:
                    raise TimeoutError(self._explain("Nothing has gone on")) from None

    def _answers(self, futures: list) -> list:
        """Return answers when all are there."""
        from distributed.scheduler import KilledWorker

        self._wait(futures)
        try:
            answers = self.client.gather(futures)
        except KilledWorker as error:
            raise MemoryError(
                f"A task ended its worker several times: {error.task}. The memory of a worker is "
                "probably too small: take more memory, smaller partitions, a smaller max_rows, or "
                "a folder that workers share."
            ) from error
        self.n_bytes += sum(map(_size_of, answers))
        self._remove_dropped()
        return answers

    def _n_processing(self) -> float:
        """Return a number that changes while workers compute."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return sum(worker["metrics"].get("cpu", 0.0) > 20 for worker in workers) * time.monotonic()

    def _explain(self, what: str) -> str:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        held = ", ".join(
            f"{worker['metrics'].get('memory', 0) / 2**20:.0f} of "
            f"{worker['memory_limit'] / 2**20:.0f} MB"
            for worker in workers
        )
        return (
            f"{what} for {self.timeout:g} seconds. There are {len(workers)} workers; they hold "
            f"{held or 'nothing'}. A worker whose memory is full waits for ever: take more memory, "
            "smaller partitions, a smaller max_rows, or a folder that workers share."
        )

    def n_threads(self) -> int:
        """Return the threads of all workers."""
        return sum(self.client.nthreads().values())

    def memory_limits(self) -> list[int]:
        """Return the memory of each worker; those without a limit are left out."""
        # A worker may have been lost just now; its nanny starts it again.
        self.client.wait_for_workers(1, timeout=self.timeout)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return [worker["memory_limit"] for worker in workers if worker["memory_limit"]]


def _flat(cell) -> list:
    return cell if isinstance(cell, list) else [cell]


def _size_of(answer) -> int:
    """Return about how many bytes an answer has."""
    if isinstance(answer, np.ndarray):
        return answer.nbytes
    if isinstance(answer, (tuple, list)):
        return sum(map(_size_of, answer))
    if isinstance(answer, dict):
        return sum(map(_size_of, answer.values()))
    return 16
