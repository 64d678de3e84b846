"""Long work: progress bars on request, and calls that run side by side."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import count
from threading import Event, Lock, Semaphore
from typing import Any

from joblib import effective_n_jobs
from sklearn import config_context, get_config


@contextmanager
def progress_bar(
    title: str, total: int, *, enabled: bool, transient: bool = False
) -> Iterator[Callable[..., None]]:
    """Show a progress bar while the context lasts; ``advance(note="", steps=1)`` moves it.

    Without ``enabled`` nothing is printed, and rich is not imported. A ``transient`` bar goes to
    the error stream and disappears in the end.
    """
    if not enabled:
        yield lambda note="", steps=1: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), "{task.fields[note]}")
    console = Console(stderr=True) if transient else None
    with Progress("{task.description}", *columns, console=console, transient=transient) as progress:
        task = progress.add_task(title, total=total, note="")

        def advance(note: str = "", steps: int = 1) -> None:
            progress.update(task, advance=steps, note=note)

        yield advance


# Threads that may still start: calls within calls share those of the outermost.
_spare_threads: ContextVar[Semaphore | None] = ContextVar("spare_threads", default=None)


def side_by_side(
    calls: Sequence[Callable[[], Any]],
    n_jobs: int | None,
    stop: Callable[[], Any] = lambda: None,
) -> list:
    """Return the results of calls, in their order; the calls run in up to ``n_jobs`` threads.

    Calls may use this function themselves: all of them share the same threads. A call that has
    ended leaves its thread to the others. If a call fails or an interrupt comes, ``stop`` is called
    so that the others end soon.
    """
    # joblib is not used: starting one of its pools takes longer than some of these calls.
    n_others = effective_n_jobs(n_jobs) - 1
    spare = _spare_threads.get() or Semaphore(n_others)
    taken = [spare for _ in calls[1 : n_others + 1] if spare.acquire(blocking=False)]
    if not taken:
        return [call() for call in calls]
    closed, locks = Event(), [Lock() for _ in calls]
    n_threads, end_numbers = len(taken) + 1, count(1)
    # scikit-learn keeps its configuration per thread.
    config = get_config()

    def run(call: Callable[[], Any], lock: Any) -> Any:
        _spare_threads.set(spare)
        try:
            with lock, config_context(**config):
                return None if closed.is_set() else call()
        finally:
            n_ended = next(end_numbers)
            n_waiting = len(calls) - n_threads - (n_ended - 1)
            # With no call left for this thread, calls within other calls may use it. The last
            # thread stands for the caller, which waits.
            if n_waiting <= 0 and n_ended < len(calls):
                taken.pop().release()

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            futures = [pool.submit(run, *each) for each in zip(calls, locks, strict=True)]
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            # Only those that are done: if one of them has failed, others still run.
            return [future.result() for future in sorted(done, key=futures.index)]
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            # No further call begins, and running calls are waited for by their locks: the pool
            # does not know a thread that was being started when an interrupt came.
            closed.set()
            for lock in locks:
                with lock:
                    pass
            with suppress(IndexError):
                while True:
                    taken.pop().release()
            raise
