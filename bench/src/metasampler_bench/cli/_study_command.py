"""``metasampler study``: smaller questions, most of them evidence for a default."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metasampler_bench.cli._console import cannot_go_on, make_console


def study(
    name: Annotated[
        str | None, typer.Argument(help="Which study; see --list.", show_default=False)
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all names and exit.")] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many splits, seeds or tasks. Default: the study's.",
            show_default=False,
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="Only this data set; may be given again.", show_default=False),
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Measure nothing; show the rows there are.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for rows and page. Default: only print the tables.",
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    data_home: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the real data; default: METASAMPLER_DATA_HOME.", show_default=False
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            help="Interpreter that has imbalanced-ensemble, for `agreement`.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run.")] = 0,
) -> None:
    """Run a study, print its tables and keep what it measured.

    Rows go to OUTPUT/NAME.json as they come, and tables to a page beside it.
    """
    from metasampler_bench.studies import STUDIES, Options, find_study, write_study_page
    from metasampler_bench.studies._study import read_rows

    console = make_console(240)
    if list_all:
        for known in STUDIES.values():
            console.print(f"{known.name:<18} {known.title} ({known.runs} {known.unit})")
        return
    if name is None:
        raise typer.BadParameter(f"one of {', '.join(STUDIES)}.", param_hint="NAME")
    try:
        chosen = find_study(name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from error
    if report_only and output is None:
        raise typer.BadParameter("needs the folder of the rows.", param_hint="--output")
    path = None if output is None else output / chosen.file_name
    if report_only and (path is None or not path.is_file()):
        raise typer.BadParameter(f"there are no rows of {name!r} in {output}.", param_hint="NAME")
    if report_only and path is not None:
        try:
            rows = read_rows(path)["rows"]
        except (OSError, ValueError) as error:
            raise cannot_go_on(error) from error
    else:
        if output is not None:
            try:
                output.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise cannot_go_on(error, "--output") from error
        options = Options(
            runs=runs or chosen.runs,
            seed=seed,
            datasets=tuple(dataset or ()),
            data_home=None if data_home is None else str(data_home),
            python=python,
        )
        try:
            rows = chosen.run(options, path)
        except (OSError, ImportError, ValueError) as error:
            raise cannot_go_on(error) from error
    for table in chosen.tables(rows):
        table.show(console)
    if output is not None:
        try:
            page = write_study_page(chosen, output)
        except (OSError, ValueError) as error:
            raise cannot_go_on(error) from error
        console.print(f"{page}", markup=False, soft_wrap=True)
