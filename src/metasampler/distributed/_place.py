"""Parts on the workers of a Dask cluster."""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from metasampler.growth import Memory

__all__ = ["Cluster"]

# Seconds between looks at whether anything goes on.
_LOOK_AGAIN = 2.0

# Things that were sent to the cluster and may be needed again.
_N_SHARED = 16

_SMALL = (type(None), bool, int, float, str, tuple, np.ndarray, np.generic, np.dtype, type)


def _give(thing):
    """Return a thing that came with the task: if a worker is lost, it comes again."""
    return thing


class Cluster(Memory):
    """Parts on the workers of a cluster; a cell is a future.

    Every question is a pure task, so that Dask computes again what a lost worker held.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    timeout : float
        Seconds without any progress after which an error is raised.
    folder : path, default=None
        A folder that all workers share, for the tables of the parts; None keeps them in memory.
    journal : Journal, default=None
        Remembers the members that were fitted.
    """

    in_place = False
    knows_rows = False
    copies_rows = True

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
        # Teams grow side by side and ask from their own threads.
        self._lock = threading.Lock()

    def new_paths(self, n_paths: int) -> list[Path] | None:
        """Return paths of files in the shared folder; None keeps tables in memory."""
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        return [self.folder / f"{next(self._numbers)}" for _ in range(n_paths)]

    def make(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return a future for each part."""
        return self._submit(function, cells, args, in_turn=True)

    def ask(self, function: Callable, *cells: list, args: tuple = ()) -> list:
        """Return the answer of each part."""
        return self._answers(self._submit(function, cells, args))

    def _submit(self, function: Callable, cells: tuple, args: tuple, *, in_turn=False) -> list:
        """Return a future for each part.

        In turn every thread reads the blocks of one part at a time: otherwise a worker would read
        the next ones before it is done with these, and hold both.
        """
        from dask.delayed import Delayed, delayed

        arguments = [self._argument(arg) for arg in args]
        made: list = []
        readers: list[tuple] = []
        for each in zip(*cells, strict=True):
            key = self._key(function)
            if not any(isinstance(part, Delayed) for cell in each for part in _flat(cell)):
                made.append(self.client.submit(function, *each, *arguments, key=key))
                continue
            worker = self._free_worker(readers) if in_turn else None
            # Read where it is used, and not kept.
            task = delayed(function, pure=False)(*each, *arguments, dask_key_name=key)
            where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
            made.append(self.client.compute(task, **where))
            readers.append((worker, made[-1]))
        return made

    def _free_worker(self, readers: list[tuple]) -> str | None:
        """Return a worker with a thread that reads nothing; wait for one if there is none.

        Of rows that stay in the memory of workers Dask knows best where they are: None.
        """
        while True:
            threads = self.client.nthreads()
            running = [(worker, future) for worker, future in readers if not future.done()]
            if not threads or len(running) < sum(threads.values()):
                break
            self._wait([future for _, future in running], return_when="FIRST_COMPLETED")
        if self.folder is None or not threads:
            return None
        busy = Counter(worker for worker, _ in running)
        return max(threads, key=lambda worker: threads[worker] - busy[worker])

    def _key(self, function: Callable) -> str:
        # The dashboard groups tasks by what stands before the token.
        return f"{function.__name__.strip('_')}-{self._token}-{next(self._numbers)}"

    def _argument(self, thing: Any):
        """Return an argument as tasks take it: what may be large is sent once, not once a part."""
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
