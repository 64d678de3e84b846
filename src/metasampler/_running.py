"""How long work runs: its progress is shown if somebody asks, and calls run side by side."""

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
    """Return what calls give, in their order; they run in up to ``n_jobs`` threads.

    Calls may do this again: all of them together start no more threads. One that has ended leaves
    its thread to the others. ``stop`` is called if one of them fails or an interrupt comes, for the
    others to end soon.
    """
    # Not by joblib, because a pool of its takes longer to start than some of these calls.
    n_others = effective_n_jobs(n_jobs) - 1
    spare = _spare_threads.get() or Semaphore(n_others)
    taken = [spare for _ in calls[1 : n_others + 1] if spare.acquire(blocking=False)]
    if not taken:
        return [call() for call in calls]
    closed, locks = Event(), [Lock() for _ in calls]
    n_threads, ends = len(taken) + 1, count(1)
    # scikit-learn's is that of a thread.
    config = get_config()

    def run(call: Callable[[], Any], lock: Any) -> Any:
        _spare_threads.set(spare)
        try:
            with lock, config_context(**config):
                return None if closed.is_set() else call()
        finally:
            # No call is left for this thread. The last thread is that of the caller, who waits.
            if len(calls) - n_threads < next(ends) < len(calls):
                taken.pop().release()

    with ThreadPoolExecutor(n_threads) as pool:
        try:
            futures = [pool.submit(run, *each) for each in zip(calls, locks, strict=True)]
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            # Those that are done first: one of them may have failed, and the others still run.
            return [future.result() for future in sorted(done, key=futures.index)]
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            # No call begins any more, and those that run are waited for. The pool alone does not
            # know all of its threads: one that an interrupt has met while it was started would go
            # on.
            closed.set()
            for lock in locks:
                with lock:
                    pass
            with suppress(IndexError):
                while True:
                    taken.pop().release()
            raise
