"""``metasampler report``: a page on a stored model and the rows of a file."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from metasampler.cli._file_options import (
    Encoding,
    MissingColumns,
    Seed,
    blaming,
    check_output,
    columns_of_model,
    missing_columns,
    naming_output,
    open_model,
    warnings_as_notes,
)
from metasampler.cli._table_input import rows_with_class

#: What `metasampler fit` calls all classes but the one to find.
OTHERS = "all others"


def report(
    model: Annotated[
        Path, typer.Argument(help="Model that `save_model` wrote (.mesa).", show_default=False)
    ],
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet file with rows that the model was not trained on.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            help="Column of FILE that holds the class. Without it the report says how many alarms "
            "there are, not how many are right. Default: the target of the fit, if FILE has it.",
            show_default=False,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            help="Class to find. Default: the one that the model was tuned to find.",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(help="Column of FILE that holds weights of the rows.", show_default=False),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Written above the report.", show_default=False)
    ] = None,
    rows_a_day: Annotated[
        float, typer.Option(min=0, help="What the box for rows per day begins with.")
    ] = 1000,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="MISS:ALARM",
            help="Costs of a missed row and of a false alarm that the boxes begin with, such as "
            "50:1. Default: those of the fit's threshold, or 10:1.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int,
        typer.Option(
            min=0,
            help="Rows to list by number, score and label, best first; --id names them. None is "
            "listed by default.",
        ),
    ] = 0,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column of FILE that names the rows of --top.",
            show_default=False,
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(
            min=0, help="How often each column is shuffled to see what matters; 0 leaves it out."
        ),
    ] = 5,
    missing: MissingColumns = "error",
    encoding: Encoding = None,
    seed: Seed = 0,
    output: Annotated[Path, typer.Option(help="HTML file to write.", dir_okay=False)] = Path(
        "metasampler-report.html"
    ),
) -> None:
    """Write a report on a model: one HTML file that loads nothing.

    A manager and an auditor can read it, on a phone or in print; a reader can move the threshold
    and the costs. It holds aggregates only: no row of FILE unless --top asks for them.

    Example: metasampler report model.mesa claims-march.csv --target fraud --output report.html
    """
    check_output(output, (".html", ".htm"))
    if id_column is not None and not top:
        raise typer.BadParameter("names the rows that --top lists; set --top.", param_hint="--id")
    costs = _parse_costs(cost)

    fitted, known = open_model(model)
    needed, texts = columns_of_model(known)
    with warnings_as_notes():
        # Identifiers stay as they are written, unless the model reads them as numbers.
        as_texts = [] if id_column is None or id_column in (needed or ()) else [id_column]
        frame = _read(file, [*texts, *as_texts], encoding)
    absent = missing_columns(needed or (), list(frame.columns), file.name, missing)
    frame = frame.assign(**dict.fromkeys(absent, float("nan")))
    n_rows = len(frame)
    ids = None
    if id_column is not None:
        # The model may use the column, so it stays.
        ids = _split(frame, id_column, file, "--id")[1]
    weights = None
    if weight is not None:
        frame, weights = _split(frame, weight, file, "--weight")
    if target is None and known.get("target") in list(frame.columns):
        target = known["target"]
    labels = None
    if target is not None:
        with warnings_as_notes():
            with_class = rows_with_class(_split(frame, target, file, "--target")[1], target)
        frame, weights = frame[with_class], None if weights is None else weights[with_class]
        ids = None if ids is None else ids[with_class]
        frame, labels = _split(frame, target, file, "--target")
        labels = _as_classes(labels, fitted.classes_, target)
    from metasampler.report import make_report

    try:
        with warnings_as_notes():
            made = make_report(
                fitted,
                frame,
                labels,
                sample_weight=weights,
                pos_label=_as_class(positive, fitted.classes_),
                target=target or known.get("target"),
                title=title or f"{model.name} on {file.name}",
                rows_a_day=rows_a_day,
                miss_cost=costs[0],
                alarm_cost=costs[1],
                top_rows=top,
                ids=ids,
                comparison=known.get("cross_validation"),
                source=_source(model, file, known),
                cautions=_cautions(file, known, n_rows),
                n_repeats=repeats,
                random_state=seed,
                verbose=int(sys.stderr.isatty()),
            )
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from error
    with naming_output(output):
        made.save(output)
    typer.echo(made.headline)
    typer.echo(f"Report: {output} ({len(made.html.encode()) / 1000:.0f} kB)")


def _parse_costs(text: str | None) -> tuple[float | None, float | None]:
    """Return the costs of a miss and of a false alarm."""
    if text is None:
        return None, None
    try:
        miss, alarm = (float(part) for part in text.split(":"))
    except ValueError:
        miss = alarm = -1
    if not (0 <= miss < float("inf") and 0 <= alarm < float("inf")):
        raise typer.BadParameter(
            f"{text!r} must be two amounts, such as 50:1, none of them negative.",
            param_hint="--cost",
        )
    return miss, alarm


def _read(path: Path, texts: list[str], encoding: str | None) -> Any:
    from metasampler.datasets import read_table

    with blaming("FILE", ImportError, OSError, ValueError):
        frame = read_table(path, texts=texts, encoding=encoding)
    frame.columns = [str(column) for column in frame.columns]
    return frame


def _split(frame: Any, column: str, path: Path, option: str) -> tuple[Any, Any]:
    """Split a column off."""
    from metasampler.datasets import split_target

    with blaming(option, ValueError):
        return split_target(frame, column, path.name)


def _as_classes(column: Any, classes: Any, name: str) -> Any:
    """Return labels of a file as the classes of a model; a file may write 1 where it has "1"."""
    known = classes.tolist()
    by_text = {str(label): label for label in known}
    # A fit of one class against the rest has no name for each of the others.
    others = OTHERS if OTHERS in known else None
    found = {
        value: value if value in known else by_text.get(_as_text(value), others)
        for value in column.unique().tolist()
    }
    strange = [value for value, label in found.items() if label is None]
    if strange:
        raise typer.BadParameter(
            f"column {name!r} holds {_shown(strange)}, which the model does not know; its classes "
            f"are {_shown(known)}.",
            param_hint="--target",
        )
    return [found[value] for value in column.tolist()]


def _as_class(text: str | None, classes: Any) -> Any:
    """Return the class that a text names."""
    if text is None:
        return None
    matches = [label for label in classes.tolist() if str(label) == text]
    if not matches:
        raise typer.BadParameter(
            f"no class {text!r}. Classes: {_shown(classes.tolist())}.", param_hint="--positive"
        )
    return matches[0]


def _as_text(value: Any) -> str:
    """Return a label as a model file may have it: whole numbers without a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _shown(labels: list) -> str:
    return ", ".join(repr(label) for label in labels[:8]) + (", ..." if len(labels) > 8 else "")


def _source(model: Path, file: Path, known: dict[str, Any]) -> dict[str, str]:
    """Return what an auditor needs to find the same model and the same rows again."""
    facts = {"File": file.name, "SHA-256 of the file": _fingerprint(file)}
    facts |= {"Model": model.name, "SHA-256 of the model": _fingerprint(model)}
    for key, words in (
        ("created", "Model made"),
        ("command", "Model made by"),
        ("source", "Trained on"),
        ("n_rows", "Rows of the fit"),
        ("promise", "What the fit promised"),
    ):
        if known.get(key):
            facts[words] = f"{known[key]:,}" if key == "n_rows" else str(known[key])
    for key, words in (("left_out", "Left out of the fit"), ("warned", "Possible leaks")):
        if isinstance(known.get(key), dict) and known[key]:
            facts[words] = ", ".join(map(str, known[key]))
    return facts


def _cautions(file: Path, known: dict[str, Any], n_rows: int) -> list[str]:
    """Return a warning if these look like the rows that the model was trained on."""
    if known.get("source") != file.name or known.get("n_rows") != n_rows:
        return []
    return [
        f"The model was trained on a file of this name, {file.name}, with as many rows. If these "
        "are the rows of the fit, all figures are too good: a report needs rows that the model has "
        "not seen."
    ]


def _fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
