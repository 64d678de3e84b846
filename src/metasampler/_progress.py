"""Progress of long work, on a terminal or in a notebook, and only if it is asked for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Remaining(),
        TextColumn("{task.fields[note]}"),
    )
    console = Console(stderr=True) if transient else None
    with Progress(*columns, console=console, transient=transient) as progress:
        task = progress.add_task(title, total=total, note="")

        def advance(note: str = "", steps: int = 1) -> None:
            progress.update(task, advance=steps, note=note)

        yield advance
