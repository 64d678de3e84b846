"""``metasampler export``: from a model to a file of ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metasampler.cli._console import make_console
from metasampler.cli._file_options import blaming, check_output, naming_output, open_model


def export(
    model: Annotated[Path, typer.Argument(help="A model that `metasampler fit` wrote.")],
    output: Annotated[Path, typer.Argument(help="Where to write: .onnx.", dir_okay=False)],
) -> None:
    """Write a stored model as a file of ONNX, for services in other languages.

    It gives the same probabilities, within 1e-5. Dates, texts and amounts in several currencies
    have no form there.

    Example: metasampler export fraud.mesa fraud.onnx
    """
    from metasampler.export import export_onnx

    check_output(output, (".onnx",), source=model if model.is_file() else None)
    loaded, _ = open_model(model)
    try:
        with blaming("MODEL", ValueError), naming_output(output):
            export_onnx(loaded, output)
    except ImportError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(code=2) from error
    make_console().print(f"{output}", markup=False, soft_wrap=True)
