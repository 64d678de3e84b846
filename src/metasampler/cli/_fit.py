"""``metasampler fit``: from a file to a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from metasampler.cli._console import make_console
from metasampler.cli._file_options import (
    Dates,
    Drop,
    Encoding,
    Group,
    Jobs,
    Keep,
    Positive,
    Seed,
    Target,
    Text,
    Time,
    check_choice,
    check_jobs,
    check_output,
    naming_output,
    warnings_as_notes,
)
from metasampler.cli._threshold_option import (
    is_per_day,
    parse_threshold,
    rows_to_call,
    with_classes,
)

PRESETS = ("default", "fast", "best", "paper")


def fit(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet file (CSV also packed: gz, bz2, xz, zip, zst), or a folder of "
            "Parquet files."
        ),
    ],
    target: Target = None,
    output: Annotated[
        Path, typer.Option(help="The model, a file that ends in .mesa.", dir_okay=False)
    ] = Path("model.mesa"),
    positive: Positive = None,
    drop: Drop = None,
    keep: Keep = None,
    group: Group = None,
    time: Time = None,
    encoding: Encoding = None,
    dates: Dates = "auto",
    text: Text = "topics",
    preset: Annotated[str, typer.Option(help=f"One of {', '.join(PRESETS)}.")] = "default",
    threshold: Annotated[
        str,
        typer.Option(
            help="How to decide: balanced, f1, mcc, a probability (0.3), recall=0.9, "
            "precision=0.8, top=200, top=200/day or top=1% (rows that your team can check), "
            "cost=50:1 (what a miss costs : what a false alarm costs). For many classes: balanced, "
            "macro_f1, recall:CLASS=0.9, or cost:CLASS=5 (what a miss of this class costs; 1 for "
            "others).",
        ),
    ] = "balanced",
    folds: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Folds of the cross-validation beside a plain LightGBM; 0 leaves it out. Default: "
            "5, and 0 for rows that are read one partition at a time.",
            show_default=False,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Read a Parquet file one partition at a time, in about this memory: '2 GB'. A "
            "folder always is; the default is then 2 GB.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> None:
    """Fit MESA on a file, and save the model.

    Prints what was found in the file, cross-validated scores beside those of a plain LightGBM, and
    what to expect of the threshold. `metasampler predict` then scores new rows.

    Example: metasampler fit claims.csv --target fraud --threshold recall=0.9 --output fraud.mesa
    """
    if preset not in PRESETS:
        raise typer.BadParameter(
            f"{preset!r} must be one of {', '.join(PRESETS)}.", param_hint="--preset"
        )
    rule = parse_threshold(threshold)
    if folds == 1:
        raise typer.BadParameter("must be 0, or 2 or more.", param_hint="--folds")
    check_jobs(jobs)
    check_choice(dates, ("auto", "day-first", "month-first"), "--dates")
    check_choice(text, ("topics", "ignore"), "--text")
    check_output(output, [".mesa"], source=file)

    in_parts = memory is not None or file.is_dir()
    if in_parts and folds:
        raise typer.BadParameter(
            "needs all rows in memory: leave --memory out, or set --folds 0.", param_hint="--folds"
        )
    folds = (0 if in_parts else 5) if folds is None else folds

    # Here, not at the top: `metasampler --help` should be quick.
    from metasampler.cli import _fitting, _table_input

    options: dict[str, Any] = {"drop": drop, "keep": keep, "positive": positive}
    if is_per_day(rule) and time is None:
        raise typer.BadParameter(
            f"{threshold} needs --time, the column that says when a row came.",
            param_hint="--threshold",
        )
    options |= {"dates": dates, "text": text, "group": group, "time": time}
    with warnings_as_notes():
        if in_parts:
            task = _read_in_parts(file, target, memory or "2 GB", options)
        else:
            task = _table_input.read(file, target, encoding=encoding, **options)
    if positive is not None:
        task = _table_input.one_against_rest(task, positive)
    _table_input.check_classes(task, max(folds, 2))
    _check_rule(task, rule, positive)
    rule = with_classes(rule, task.classes.tolist())
    per_day = is_per_day(rule)
    rule, n_called = _as_share(rule, task)

    if in_parts:
        from metasampler.cli._parts_input import with_source

        task = with_source(task, file, str(target), memory or "2 GB", group, time)
    console = make_console()
    _fitting.print_findings(console, task, str(target))
    settings = {"threshold": rule, "random_state": seed, "n_jobs": jobs}
    outcome = _fitting.fit_model(
        task, preset, settings, folds=folds, n_called=n_called, per_day=per_day
    )
    for note in outcome.notes:
        typer.echo(f"Note: {note}", err=True)
    if outcome.scores is not None:
        console.print(outcome.scores)
    console.print(outcome.promise, markup=False, soft_wrap=True)
    command = " ".join(["metasampler", *sys.argv[1:]]) if sys.argv[1:2] == ["fit"] else ""
    with naming_output(output):
        _fitting.store(
            task,
            outcome,
            output,
            target=target,
            preset=preset,
            command=command,
            group=group,
            time=time,
        )
    size = output.stat().st_size
    console.print(f"Model: {output} ({size / 1e6:.1f} MB)", markup=False, soft_wrap=True)


def _read_in_parts(file: Path, target: str | None, memory: str, options: dict[str, Any]) -> Any:
    """Return the task of a Parquet file or folder, of which only a sample is in memory."""
    if not file.is_dir() and file.suffix.lower() not in (".parquet", ".pq"):
        raise typer.BadParameter(
            f"{file.name} is not a Parquet file, and only Parquet files are read one partition "
            "at a time.",
            param_hint="--memory",
        )
    try:
        from metasampler.cli._parts_input import read_in_parts
    except ImportError as error:
        raise typer.BadParameter(
            f'{file.name} needs pandas and pyarrow: pip install "metasampler[data]"',
            param_hint="FILE",
        ) from error
    return read_in_parts(file, target, memory, **options)


def _as_share(rule: Any, task: Any) -> tuple[Any, int | None]:
    """Return the threshold of the classifier, and how many rows of each file to call, if any."""
    n_called, n_rows = rows_to_call(rule), len(task.y)
    if n_called is None:
        return rule, None
    of_all = n_called
    if is_per_day(rule):
        # A day with fewer rows calls all of them.
        # If rows are read one partition at a time, a sample of them has times.
        days = np.unique(np.floor(task.time), return_counts=True)[1] * (n_rows / len(task.time))
        of_all = int(np.minimum(days, n_called).sum())
    if of_all >= n_rows:
        raise typer.BadParameter(
            f"top={n_called:,}{'/day' * is_per_day(rule)} would raise an alarm for every row: "
            f"there are {n_rows:,}.",
            param_hint="--threshold",
        )
    return ("top", of_all / n_rows), n_called


def _check_rule(task: Any, rule: Any, positive: str | None) -> None:
    """Refuse a class to find that is not the smallest, and a threshold for several classes."""
    if len(task.labels) == 2 and task.positive != task.smallest:
        raise typer.BadParameter(
            f"class {positive!r} is the larger one, with {int(task.counts[task.positive]):,} of "
            f"{len(task.y):,} rows: --positive must be the smaller one.",
            param_hint="--positive",
        )
    of_classes = rule == "macro_f1" or (isinstance(rule, tuple) and isinstance(rule[1], dict))
    if len(task.labels) > 2 and rule != "balanced" and not of_classes:
        raise typer.BadParameter(
            f"is for two classes, and there are {len(task.labels)}: name the one to find by "
            "--positive, or take balanced, macro_f1, recall:CLASS=0.9 or cost:CLASS=5.",
            param_hint="--threshold",
        )
    if len(task.labels) == 2 and of_classes:
        raise typer.BadParameter("is for more than two classes.", param_hint="--threshold")
