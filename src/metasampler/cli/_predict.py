"""``metasampler predict``: from a model and a file to scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from metasampler.cli._console import make_console
from metasampler.cli._file_options import (
    Encoding,
    MissingColumns,
    blaming,
    check_output,
    naming_output,
    open_model,
    split_names,
    warnings_as_notes,
)
from metasampler.cli._threshold_option import (
    is_per_day,
    parse_threshold,
    rows_to_call,
    with_classes,
)


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `metasampler fit` wrote.")],
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file with the rows to score.")],
    output: Annotated[
        Path,
        typer.Option(help="Where to write: .csv, .csv.gz or .parquet.", dir_okay=False),
    ] = Path("scores.csv"),
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Decide by another threshold than that of the fit: balanced, f1, mcc, a "
            "probability (0.3), recall=0.9, precision=0.8, top=200, top=200/day or top=1%, "
            "cost=50:1; for many classes balanced, macro_f1, recall:CLASS=0.9 or cost:CLASS=5.",
            show_default=False,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="Column of FILE that says when a row came, for top=200/day. Default: that of the "
            "fit, if FILE has it.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns of FILE to copy to the output, separated by commas, or all.",
            metavar="A,B",
            show_default=False,
        ),
    ] = None,
    reasons: Annotated[
        int,
        typer.Option(
            min=0,
            help="Also write the columns that raised or lowered the log-odds of each row most: "
            "this many of them.",
        ),
    ] = 0,
    missing: MissingColumns = "error",
    encoding: Encoding = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            help="Put an apostrophe before copied texts that a spreadsheet would take for "
            "formulas, such as =HYPERLINK(...)."
        ),
    ] = False,
    chunk_rows: Annotated[int, typer.Option(min=1, help="Rows in memory at a time.")] = 100_000,
) -> None:
    """Score the rows of a file with a stored model.

    Writes for each row the probability of the class to find, the decision by the threshold and the
    rank, 1 for the row to look at first. A file may be larger than the memory.

    With --reasons 3 each row also gets reason_1 to reason_3, for instance "amount=1200 (+1.32)":
    this value adds 1.32 to the log-odds of the class to find. With many classes the reasons are
    those for the class that the row is given.

    Example: metasampler predict fraud.mesa tomorrow.csv --output scores.csv --columns claim_id
    """
    # Here, not at the top: `metasampler --help` should be quick.
    try:
        from metasampler.cli._score_writer import OUTPUT_SUFFIXES
        from metasampler.cli._scoring import Scorer, check_columns, score_file
        from metasampler.datasets import TableFile
    except ImportError as error:
        typer.echo('Error: this needs pandas: pip install "metasampler[data]"', err=True)
        raise typer.Exit(code=2) from error

    check_output(output, OUTPUT_SUFFIXES, source=file if file.is_file() else None)
    loaded, metadata = open_model(model)
    if not hasattr(loaded, "predict_proba") or not hasattr(loaded, "classes_"):
        raise typer.BadParameter(f"{model.name} holds no fitted classifier.", param_hint="MODEL")
    promise = ""
    if threshold is not None:
        rule = parse_threshold(threshold)
        # A number of rows is called by their ranks in the file, by any model.
        metadata["n_called"], metadata["per_day"] = rows_to_call(rule), is_per_day(rule)
        if metadata["n_called"] is None:
            promise = _decide_by(loaded, rule, model.name)
    with blaming("FILE", ImportError, OSError, ValueError), warnings_as_notes():
        table = TableFile(file, encoding=encoding)
    _choose_time(metadata, time, table)
    with blaming("--reasons", ValueError):
        scorer = Scorer(loaded, metadata, n_reasons=reasons)
    check_columns(scorer, table, missing)
    kept = _kept_columns(columns, table, scorer)
    try:
        with naming_output(output), warnings_as_notes():
            n_rows, n_called, daily = score_file(
                scorer, table, output, kept=kept, chunk_rows=chunk_rows, escape=escape_formulas
            )
    except (ValueError, TypeError) as error:
        said = str(error)
        said = said if said.startswith(table.name) else f"{table.name}: {said}"
        raise typer.BadParameter(said, param_hint="FILE") from error
    except (AttributeError, KeyError, IndexError) as error:
        # A model of another version may lack what this one looks for.
        made = metadata["versions"].get("metasampler", "unknown")
        typer.echo(
            f"Error: {model.name} cannot score rows here ({error}); it was made with metasampler "
            f"{made}. Fit it again.",
            err=True,
        )
        raise typer.Exit(code=1) from error
    label = scorer.classes.tolist()[scorer.positive]
    alarms = "" if len(scorer.classes) != 2 else f", {n_called:,} of them alarms ({label!r})"
    console = make_console()
    console.print(f"{output}: {n_rows:,} rows{alarms}.", markup=False, soft_wrap=True)
    if daily is not None:
        console.print(str(daily), markup=False, soft_wrap=True)
    if promise:
        console.print(f"Threshold: {promise}", markup=False, soft_wrap=True)
    if scorer.monitor is not None:
        console.print(str(scorer.monitor.report()).rstrip(), markup=False, soft_wrap=True)


def _choose_time(metadata: dict[str, Any], given: str | None, table: Any) -> None:
    """Set the column that says when rows came, or refuse a model that needs one."""
    from metasampler.datasets import near_matches

    name = given or metadata.get("time")
    if name in table.columns:
        if given is not None and given != metadata.get("time"):
            metadata["time_format"] = None
        metadata["time"] = name
        return
    metadata["time"] = None
    if given is not None:
        near = near_matches(given, table.columns)
        raise typer.BadParameter(
            f"{table.name} has no column {given!r}.{near}", param_hint="--time"
        )
    if metadata.get("per_day"):
        lacks = f" {table.name} lacks {name!r}, that of the fit." if name else ""
        raise typer.BadParameter(
            f"a number of rows a day needs the column that says when a row came.{lacks}",
            param_hint="--time",
        )


def _decide_by(loaded: Any, rule: Any, name: str) -> str:
    """Let a model decide by another threshold; return what to expect of it."""
    from metasampler._pipelines import unwrap

    final = unwrap(loaded)[1]
    if not hasattr(final, "set_threshold"):
        raise typer.BadParameter(
            f"the threshold of a {type(final).__name__}, as {name} holds it, cannot be changed.",
            param_hint="--threshold",
        )
    rule = with_classes(rule, final.classes_.tolist())
    with blaming("--threshold", ValueError), warnings_as_notes():
        return str(final.set_threshold(rule).summary().promise)


def _kept_columns(given: list[str] | None, table: Any, scorer: Any) -> list[str]:
    """Return the columns of the file to copy."""
    from metasampler.cli._scoring import OWN_COLUMNS
    from metasampler.datasets import near_matches

    names = split_names(given, table.columns)
    if names == ["all"] and "all" not in table.columns:
        names = list(table.columns)
    for name in names:
        if name not in table.columns:
            raise typer.BadParameter(
                f"{table.name} has no column {name!r}.{near_matches(name, table.columns)}",
                param_hint="--columns",
            )
    own = {*OWN_COLUMNS, *(f"probability_{label}" for label in scorer.classes)}
    own |= set(scorer.reason_names)
    taken = [name for name in names if name in own]
    if taken:
        raise typer.BadParameter(
            f"{table.name} has a column {taken[0]!r}, and so has the output: name other columns.",
            param_hint="--columns",
        )
    return names
