"""Show the progress of long work on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["progress_bar", "tracked"]


@contextmanager
def progress_bar(console: Any, title: str) -> Iterator[Callable[[int, int, str], None]]:
    """Give a function that moves a bar; nothing is shown where there is no terminal.

    Yields
    ------
    move : callable
        ``move(done, total, what)``.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<44}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def move(done: int, total: int, what: str) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield move


def tracked(cases: Iterable[Any], title: str) -> Iterator[Any]:
    """Yield the cases of a study one by one, with a progress bar."""
    from rich.console import Console

    known: Sequence[Any] = list(cases)
    with progress_bar(Console(stderr=True), title) as move:
        for number, case in enumerate(known):
            move(number, len(known), title)
            yield case
