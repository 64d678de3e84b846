"""Options that the commands on a user's file share, and how they are checked."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from metasampler._writing import written_beside

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
Group = Annotated[
    str | None,
    typer.Option(
        help="Column of FILE that names the customer, patient or machine of a row. Its rows are "
        "held out together, and the column is not learned from.",
        metavar="COLUMN",
        show_default=False,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        help="Column of FILE that says when a row came. Older rows train and newer rows judge; the "
        "column is not learned from.",
        metavar="COLUMN",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of FILE: utf-8, latin-1, utf-16, ... Default: found by its content.",
        show_default=False,
    ),
]
Dates = Annotated[
    str,
    typer.Option(
        help="How to read dates such as 03/04/2026 if both orders fit a whole column: day-first, "
        "month-first, or auto, which reads the day first and says so.",
    ),
]
Text = Annotated[
    str,
    typer.Option(help="Columns of free text: topics (use them) or ignore (leave them out)."),
]
MissingColumns = Annotated[
    str,
    typer.Option(
        "--missing-columns",
        help="What to do if FILE lacks columns that the model needs: error, or as-missing, which "
        "counts all their values as missing.",
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


def check_choice(value: str, choices: Iterable[str], option: str) -> None:
    """Refuse a word that an option does not know."""
    choices = list(choices)
    if value not in choices:
        raise typer.BadParameter(
            f"{value!r} must be one of {', '.join(choices)}.", param_hint=option
        )


def missing_columns(needed: Iterable[str], there: Any, name: str, choice: str) -> list[str]:
    """Return the columns that a file lacks, if they may be; name them in a note."""
    check_choice(choice, ("error", "as-missing"), "--missing-columns")
    needed = list(needed)
    missing = [column for column in needed if column not in there]
    if not missing:
        return []
    names = ", ".join(map(repr, missing[:10]))
    if choice == "error" or len(missing) == len(needed):
        from metasampler.datasets import near_matches

        hint = near_matches(missing[0], there)
        raise typer.BadParameter(
            f"{name} lacks {names}, which the model needs.{hint} --missing-columns as-missing "
            "counts their values as missing.",
            param_hint="FILE",
        )
    typer.echo(
        f"Note: {name} lacks {names}; all their values count as missing, and scores are less "
        "reliable.",
        err=True,
    )
    return missing


def columns_of_model(metadata: dict[str, Any]) -> tuple[list[str] | None, list[str]]:
    """Return the columns that a model needs, and those to be read as texts.

    None stands for the columns of a model that knows them by their number only.
    """
    kinds = metadata.get("column_kinds") or {}
    # Some rows of them may look like numbers. Numbers that were texts have separators or units.
    texts = [name for name, kind in kinds.items() if kind in ("category", "date", "text")]
    texts += [name for name in metadata.get("numbers_as_texts", ()) if name not in texts]
    return list(kinds) or metadata.get("columns"), texts


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
        with written_beside(output, replaces=False):
            pass
        if output.exists() and not os.access(output, os.W_OK):
            raise PermissionError(f"{output.name} is write-protected")
    except OSError as error:
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        reason = cause.strerror or str(cause)
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
        # A file that is written beside its place names itself: what went wrong is the cause.
        wrong = error.__cause__ if isinstance(error.__cause__, OSError) else error
        typer.echo(f"Error: {output} cannot be written: {wrong.strerror or wrong}.", err=True)
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
