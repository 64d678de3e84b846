"""``metasampler bench``: the tables and figures of the paper, and others beyond it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from metasampler_bench.cli._console import cannot_go_on, make_console

#: The page that tests claims on the rows of all others; it has no cells.
CLAIMS_PAGE = "claims"


def bench(
    name: Annotated[
        str | None,
        typer.Argument(help="Which table or figure; see --list.", show_default=False),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all names and exit.")] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Independent runs of the four folds. Default: the spec's.",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=1, help="Only the first test folds of each run.", show_default=False),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A look in seconds: few cells, short meta-training, and bundled data in the place "
            "of real ones that are not on this machine.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(help="Fits at once; -1 for all cores.")] = 1,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="Only this data set; may be given again.", show_default=False),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="Only this method; may be given again.", show_default=False),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(min=0.1, help="Seconds after which a fit is given up.", show_default=False),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Compute failed cells again.")] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Compute nothing; report the rows there are.")
    ] = False,
    pack: Annotated[
        bool, typer.Option("--pack", help="Compress the rows afterwards, into NAME.jsonl.gz.")
    ] = False,
    output: Annotated[
        Path, typer.Option(help="Folder of rows, tables and figures.", file_okay=False)
    ] = Path("metasampler-results"),
    data_home: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the real data; default: METASAMPLER_DATA_HOME, else imbalanced-learn's "
            "own download.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all splits and fits.")] = 0,
) -> None:
    """Run a benchmark and report it.

    Rows are kept in OUTPUT/NAME.jsonl as they come, or packed in OUTPUT/NAME.jsonl.gz. The same
    command goes on where it was stopped; tables (Markdown, LaTeX) and figures (PNG, SVG) are made
    from the rows alone.
    """
    from metasampler_bench import Runner, list_specs, load_spec

    console = make_console(240)
    if list_all:
        _print_list(console)
        return
    if name is None:
        known = ", ".join([*list_specs(), CLAIMS_PAGE])
        raise typer.BadParameter(f"one of {known}.", param_hint="NAME")
    if name == CLAIMS_PAGE:
        from metasampler_bench._places import update_pages

        for path in update_pages(output):
            console.print(f"{path}", markup=False, soft_wrap=True)
        return
    if jobs == 0:
        raise typer.BadParameter("must not be 0; use -1 for all cores.", param_hint="--jobs")
    try:
        spec = load_spec(name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from error
    folder = output / "quick" if quick else output
    runner = Runner(
        folder,
        jobs=jobs,
        seed=seed,
        data_home=None if data_home is None else str(data_home),
        limit=limit,
        retry=retry,
    )
    if not report_only:
        _run(
            console,
            runner,
            spec,
            runs=runs,
            folds=folds,
            quick=quick,
            datasets=tuple(dataset or ()),
            methods=_method_names(method),
            command=_command(name, runs, folds, quick, limit, seed),
        )
    if pack:
        try:
            runner.store(spec).pack()
        except (ValueError, OSError) as error:
            raise cannot_go_on(error, "--pack") from error
    from metasampler_bench._report import write_report
    from metasampler_bench._rows import finished, last_rows

    try:
        rows = last_rows(runner.store(spec).rows())
        paths = write_report(spec, rows, folder, console=console)
    except (ValueError, OSError) as error:
        raise cannot_go_on(error) from error
    if (folder / f"{CLAIMS_PAGE}.md").is_file():
        # What this folder says about all of its rows is kept up with them.
        from metasampler_bench._places import update_pages

        paths += update_pages(folder)
    n_failed = len(rows) - len(finished(rows))
    if n_failed:
        console.print(f"{n_failed} of {len(rows)} cells failed: {paths[0]} says why; --retry.")
    for path in paths:
        console.print(f"{path}", markup=False, soft_wrap=True)


def _run(console: Any, runner: Any, spec: Any, **options: Any) -> None:
    """Run the cells with a progress bar, and say how to go on after an interrupt."""
    from metasampler_bench._progress import progress_bar

    with progress_bar(console, spec.name) as advance:

        def say(text: str) -> None:
            console.print(text, markup=False, soft_wrap=True)

        try:
            added = runner.run(spec, progress=advance, note=say, **options)
        except KeyboardInterrupt:
            console.print("Interrupted. The same command goes on from here.")
            raise typer.Exit(130) from None
        except (ValueError, OSError) as error:
            raise cannot_go_on(error) from error
    console.print(f"{spec.name}: {added} new rows in {runner.store(spec).path}", markup=False)


def _method_names(wanted: list[str] | None) -> tuple[str, ...]:
    from metasampler_bench import find_method

    try:
        return tuple(find_method(name).name for name in wanted or ())
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--method") from error


def _command(
    name: str,
    runs: int | None,
    folds: int | None,
    quick: bool,
    limit: float | None,
    seed: int,
) -> str:
    """Return a command that gives these rows; options that only leave rows out are not in it."""
    words = ["metasampler bench", name]
    words += [] if runs is None else [f"--runs {runs}"]
    words += [] if folds is None else [f"--folds {folds}"]
    words += ["--quick"] if quick else []
    words += [] if limit is None else [f"--limit {limit:g}"]
    words += [f"--seed {seed}"] if seed else []
    return " ".join(words)


def _print_list(console: Any) -> None:
    from rich.table import Table

    from metasampler_bench import list_specs, load_spec

    table = Table(box=None, pad_edge=False)
    for column in ("name", "in the paper", "cells", "what"):
        table.add_column(column, justify="right" if column == "cells" else "left")
    for name in list_specs():
        spec = load_spec(name)
        n_cells = sum(len(job.cells) for job in spec.jobs())
        table.add_row(name, spec.paper or "-", str(n_cells), spec.title)
    table.add_row(
        CLAIMS_PAGE,
        "all",
        "-",
        "Claims of the paper and questions of ours, tested",
    )
    console.print(table)
