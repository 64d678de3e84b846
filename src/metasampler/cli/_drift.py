"""``metasampler drift``: whether the rows of a file are like those of the fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metasampler.cli._console import make_console
from metasampler.cli._file_options import (
    Encoding,
    MissingColumns,
    blaming,
    open_model,
    warnings_as_notes,
)


def drift(
    model: Annotated[Path, typer.Argument(help="A model that `metasampler fit` wrote.")],
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file with new rows.")],
    missing: MissingColumns = "error",
    encoding: Encoding = None,
    chunk_rows: Annotated[int, typer.Option(min=1, help="Rows in memory at a time.")] = 100_000,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="End with exit code 3 if anything has moved, for use in a script."
        ),
    ] = False,
) -> None:
    """Say which columns and scores have moved since a model was fitted.

    Names columns that have moved, are empty or constant, or have new levels or values beyond all
    that was seen, and says whether the scores have moved. A model keeps counts for this, no rows.

    Example: metasampler drift fraud.mesa claims-april.csv
    """
    # Here, not at the top: `metasampler --help` should be quick.
    try:
        from metasampler.cli._scoring import Scorer, check_columns, judging_together
        from metasampler.datasets import TableFile
    except ImportError as error:
        typer.echo('Error: this needs pandas: pip install "metasampler[data]"', err=True)
        raise typer.Exit(code=2) from error

    loaded, metadata = open_model(model)
    with blaming("MODEL", TypeError):
        scorer = Scorer(loaded, metadata, must_watch=True)
    with blaming("FILE", ImportError, OSError, ValueError), warnings_as_notes():
        table = TableFile(file, encoding=encoding)
    check_columns(scorer, table, missing)
    with blaming("FILE", ValueError, TypeError), warnings_as_notes():
        with judging_together(scorer, table, chunk_rows) as unread:
            for frame in table.chunks(chunk_rows, columns=scorer.columns, texts=scorer.texts):
                if len(frame):
                    scorer(frame)
                    unread.next_rows(len(frame))
        assert scorer.monitor is not None
        found = scorer.monitor.report()
    make_console().print(str(found).rstrip(), markup=False, soft_wrap=True)
    if check and (found.moved or found.scores_moved):
        raise typer.Exit(code=3)
