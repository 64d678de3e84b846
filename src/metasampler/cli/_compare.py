"""``metasampler compare``: MESA beside its rivals on one data set."""

import importlib.util
from pathlib import Path
from typing import Annotated, Any

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
    blaming,
    check_choice,
    check_jobs,
    check_output,
    naming_output,
    parse_rows,
    warnings_as_notes,
)

#: What is left out without --method, and why.
_LEFT_OUT = {
    "mesa-fit": "learns a sampler in each fold, which takes longer than all others together",
    "mesa-best": "takes three to four times as long as the default",
    "mesa-fast": "is less exact than the default",
}

#: What is run without --method, as far as it is there: metasampler-bench adds the balanced forest
#: and RUSBoost.
DEFAULT_METHODS = (
    *("mesa", "under-bagging", "balanced-forest", "rusboost"),
    *("spe", "tree", "random-forest", "lightgbm"),
)


def compare(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="CSV or Parquet file. Without one: scikit-learn's digits, with a rare 8 to find.",
            show_default=False,
        ),
    ] = None,
    target: Target = None,
    positive: Positive = None,
    drop: Drop = None,
    keep: Keep = None,
    group: Group = None,
    time: Time = None,
    encoding: Encoding = None,
    dates: Dates = "auto",
    text: Text = "topics",
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    n_estimators: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Members of each ensemble, also of MESA's presets. Default: 100; presets keep "
            "their own number.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Run only this method; may be given again. By name or title: also mesa-fast, "
            "mesa-best and, with metasampler-bench, what `metasampler methods` lists. Default: "
            f"{', '.join(DEFAULT_METHODS)}.",
            show_default=False,
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Run this method beside the default ones, for instance mesa-fit; may be given "
            "again.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        str | None,
        typer.Option(
            help="Rows that every method calls, the most probable ones, for precision and recall: "
            "a number (200) or a share (0.01, 1%). Default: as many as the class has.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    output: Annotated[
        Path, typer.Option(help="Picture of the precision-recall curves.", dir_okay=False)
    ] = Path("metasampler-compare.png"),
) -> None:
    """Compare MESA with other methods under stratified cross-validation.

    Prints one table and saves a picture of the precision-recall curves. Every method decides by
    one rule: it calls the same number of rows.

    Example: metasampler compare claims.csv --target fraud --drop claim_id --top 200
    """
    chosen = _choose_methods(method, also)
    check_output(output, [".png", ".pdf", ".svg"])
    check_jobs(jobs)
    check_choice(dates, ("auto", "day-first", "month-first"), "--dates")
    check_choice(text, ("topics", "ignore"), "--text")
    n_called = None if top is None else parse_rows(top, "--top")
    columns = {"--target": target, "--drop": drop, "--keep": keep, "--group": group, "--time": time}
    for name, value in columns.items():
        if file is None and value:
            raise typer.BadParameter("needs a FILE to take columns from.", param_hint=name)

    from metasampler.cli import _comparison, _table_input

    if file is None:
        task = _table_input.bundled()
    else:
        options: dict[str, Any] = {
            "drop": drop,
            "keep": keep,
            "positive": positive,
            "encoding": encoding,
            "group": group,
            "time": time,
        }
        with warnings_as_notes():
            task = _table_input.read(file, target, dates=dates, text=text, **options)
    if positive is not None:
        task = _table_input.one_against_rest(task, positive)
    _table_input.check_classes(task, folds)

    console = make_console()
    console.print(_comparison.describe(task), soft_wrap=True)
    if task.cleaner is not None:
        left_out, warned = task.cleaner.left_out_, task.cleaner.report_.warned
        leaks = {name: why for name, why in warned.items() if name not in left_out}
        for title, found in (("Left out", left_out), ("Possible leaks", leaks)):
            if found:
                console.print(_comparison.describe_columns(title, found), soft_wrap=True)
    share = n_called / len(task.y) if isinstance(n_called, int) else n_called
    if share is not None and share > 1:
        raise typer.BadParameter(
            f"{n_called:,} is more than the {len(task.y):,} rows there are.", param_hint="--top"
        )
    results = _comparison.cross_validate(
        task, chosen, folds=folds, n_estimators=n_estimators, seed=seed, n_jobs=jobs, top=share
    )
    console.print(
        _comparison.table(task, results, folds=folds, n_estimators=n_estimators, top=share)
    )

    if not method and (left_out := _what_is_left_out(chosen)):
        console.print(left_out, markup=False, soft_wrap=True)
    if all(result.failure for result in results):
        raise typer.Exit(code=1)
    if importlib.util.find_spec("matplotlib") is None:
        hint = 'No picture, as matplotlib is missing: pip install "metasampler[plot]"'
        console.print(hint, markup=False, soft_wrap=True)
        return
    with naming_output(output):
        _comparison.save_curves(task, results, output)
    console.print(f"Precision-recall curves: {output}", markup=False, soft_wrap=True)


def _choose_methods(wanted: list[str] | None, also: list[str] | None) -> dict[str, Any]:
    """Return the methods to run by name, in the order in which all are listed."""
    # Here, not at the top: `metasampler --help` should be quick.
    from metasampler.cli._methods import find_method, known_methods

    methods = known_methods()
    chosen = set() if wanted else {name for name in DEFAULT_METHODS if name in methods}
    for option, names in (("--method", wanted), ("--also", also)):
        with blaming(option, ValueError):
            chosen |= {find_method(name, methods) for name in names or ()}
    return {name: method for name, method in methods.items() if name in chosen}


def _what_is_left_out(chosen: dict[str, Any]) -> str:
    """Name the methods that a comparison without --method leaves out, with the reasons."""
    from metasampler.cli._methods import known_methods

    methods = known_methods()
    left_out = {methods[name].title: why for name, why in _LEFT_OUT.items() if name not in chosen}
    reasons = [f"{title} ({why})" for title, why in left_out.items()]
    if any(name not in methods for name in DEFAULT_METHODS):
        reasons.append("balanced random forest and RUSBoost (need the package metasampler-bench)")
    more = f"; --also {next(iter(_LEFT_OUT))} adds one" if left_out else ""
    return f"Not run: {'; '.join(reasons)}{more}." if reasons else ""
