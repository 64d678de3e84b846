"""``metasampler compare``: MESA beside its rivals on one data set."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

#: What is run without --method, as far as it is there: metasampler-bench adds the balanced forest
#: and RUSBoost.
DEFAULT_METHODS = (
    "mesa",
    "mesa-fit",
    "under-bagging",
    "balanced-forest",
    "rusboost",
    "spe",
    "tree",
    "random-forest",
    "gradient-boosting",
)
PICTURE_SUFFIXES = (".png", ".pdf", ".svg")


def compare(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="CSV or Parquet file. Without one: scikit-learn's digits, with a rare 8 to find.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of FILE that holds the class.", show_default=False)
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            help="Class to find; all others become one. Default: the smallest of two classes.",
            show_default=False,
        ),
    ] = None,
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
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of the folds and of all methods.")
    ] = 0,
    jobs: Annotated[int, typer.Option(help="Threads a method may use; -1 for all cores.")] = 1,
    output: Annotated[
        Path, typer.Option(help="Picture of the precision-recall curves.", dir_okay=False)
    ] = Path("metasampler-compare.png"),
) -> None:
    """Compare MESA with other methods under stratified cross-validation.

    Prints one table and saves a picture of the precision-recall curves.
    """
    chosen = _choose_methods(method)
    _check_output(output)
    if jobs == 0:
        raise typer.BadParameter("must not be 0; use -1 for all cores.", param_hint="--jobs")
    if file is None and target is not None:
        raise typer.BadParameter("needs a FILE to take the column from.", param_hint="--target")

    from rich.console import Console

    from metasampler.cli import _comparison, _evaluation, _table_input

    task = _table_input.bundled() if file is None else _table_input.read(file, target)
    if positive is not None:
        task = _table_input.one_against_rest(task, positive)
    _table_input.check_classes(task, folds)

    console = Console(highlight=False)
    if not console.is_terminal:
        # A pipe has no width of its own; the table should not be folded there.
        console.width = 120
    console.print(_comparison.describe(task), soft_wrap=True)
    results = _evaluation.cross_validate(
        task, chosen, folds=folds, n_estimators=n_estimators, seed=seed, n_jobs=jobs
    )
    console.print(_comparison.table(task, results, folds=folds, n_estimators=n_estimators))

    if all(result.failure for result in results):
        raise typer.Exit(code=1)
    if importlib.util.find_spec("matplotlib") is None:
        hint = 'No picture, as matplotlib is missing: pip install "metasampler[plot]"'
        console.print(hint, markup=False, soft_wrap=True)
        return
    from metasampler.cli import _picture

    _picture.save_curves(task, results, output)
    console.print(f"Precision-recall curves: {output}", markup=False, soft_wrap=True)


def _choose_methods(wanted: list[str] | None) -> list[str]:
    """Return the names of the methods to run, in the order in which all are listed."""
    # Here, not at the top: `metasampler --help` should be quick.
    from metasampler.cli._methods import find_method, known_methods

    methods = known_methods()
    if not wanted:
        return [name for name in DEFAULT_METHODS if name in methods]
    try:
        chosen = {find_method(name, methods) for name in wanted}
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--method") from error
    return [name for name in methods if name in chosen]


def _check_output(output: Path) -> None:
    """Refuse a picture that could not be written, before the work is done."""
    if output.suffix.lower() not in PICTURE_SUFFIXES:
        raise typer.BadParameter(
            f"{output.name!r} must end in {', '.join(PICTURE_SUFFIXES)}.", param_hint="--output"
        )
    if not output.absolute().parent.is_dir():
        raise typer.BadParameter(f"no directory {str(output.parent)!r}.", param_hint="--output")
