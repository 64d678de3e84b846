"""Options that the commands on a user's file share, and how they are checked."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

Target = Annotated[
    str | None, typer.Option(help="Column of FILE that holds the class.", show_default=False)
]
Positive = Annotated[
    str | None,
    typer.Option(
        help="Class to find; all others become one. Default: the smallest of two classes.",
        show_default=False,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns of FILE to leave out, separated by commas; may be given again.",
        metavar="A,B",
        show_default=False,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns to use although they look like an identifier, a copy of the target or a "
        "leak; separated by commas.",
        metavar="A,B",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of all that is random.")]
Jobs = Annotated[int, typer.Option(help="Threads that may be used; -1 for all cores.")]


def split_names(given: Iterable[str] | None, columns: Iterable[str]) -> list[str]:
    """Return the names in a list of options; a name may itself hold a comma if a column has it."""
    known = set(columns)
    names: list[str] = []
    for text in given or ():
        names += [text] if text in known else [part.strip() for part in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))


def parse_rows(text: str, option: str) -> int | float:
    """Return a number of rows, or a share of them as a float in (0, 1)."""
    wrong = typer.BadParameter(
        f"{text!r} must be a number of rows (200) or a share of them (0.01 or 1%).",
        param_hint=option,
    )
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise wrong from None
    if 0 < value < 1:
        return value
    if text.endswith("%") or not 1 <= value < 2**53 or value != int(value):
        raise wrong
    return int(value)


def check_jobs(jobs: int) -> None:
    """Refuse a number of threads that means nothing."""
    if jobs == 0:
        raise typer.BadParameter("must not be 0; use -1 for all cores.", param_hint="--jobs")


def check_output(output: Path, suffixes: Iterable[str], *, source: Path | None = None) -> None:
    """Refuse a file that could not be written, or is the source, before the work is done."""
    suffixes = list(suffixes)
    if not output.name.lower().endswith(tuple(suffixes)):
        raise typer.BadParameter(
            f"{output.name!r} must end in {', '.join(suffixes)}.", param_hint="--output"
        )
    folder = output.absolute().parent
    if not folder.is_dir():
        raise typer.BadParameter(f"no directory {str(output.parent)!r}.", param_hint="--output")
    if output.is_dir():
        raise typer.BadParameter(f"{str(output)!r} is a directory.", param_hint="--output")
    if source is not None and output.exists() and output.samefile(source):
        raise typer.BadParameter("would overwrite the file it is made from.", param_hint="--output")
    try:
        # Whether a file can be made here is not for permissions alone to say.
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{output.name}.")
        os.close(handle)
        os.unlink(name)
        if output.exists() and not os.access(output, os.W_OK):
            raise PermissionError(f"{output.name} is write-protected")
    except OSError as error:
        reason = error.strerror or str(error)
        raise typer.BadParameter(
            f"{str(output)!r} cannot be written: {reason}.", param_hint="--output"
        ) from error


@contextmanager
def blaming(option: str, *errors: type[Exception]) -> Iterator[None]:
    """Let errors of these types, which tell what is wrong with an option, name it."""
    try:
        yield
    except errors as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


@contextmanager
def naming_output(output: Path) -> Iterator[None]:
    """End with a message where the output cannot be written after all: a disk may fill up."""
    try:
        yield
    except OSError as error:
        typer.echo(f"Error: {output} cannot be written: {error.strerror or error}.", err=True)
        raise typer.Exit(code=1) from error


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings for users as lines on stderr in the end.

    Those that differ in numbers only, as they do from chunk to chunk, are printed once.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    notes: dict[str, str] = {}
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            text = str(warning.message)
            notes.setdefault(re.sub(r"\d[\d,]*", "", text), text)
    for note in notes.values():
        typer.echo(f"Note: {note}", err=True)


def open_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return a stored model and what is known of it; other versions are named on stderr."""
    from metasampler.persistence import load_facts, load_model

    with blaming("MODEL", OSError, ValueError), warnings_as_notes():
        return load_model(path), load_facts(path)
