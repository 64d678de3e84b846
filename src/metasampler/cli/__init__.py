"""The command line, one module a sub-command."""

from __future__ import annotations

from typing import Annotated

import typer

from metasampler.cli._bench import bench
from metasampler.cli._compare import compare
from metasampler.cli._meta_train import meta_train
from metasampler.cli._methods import methods
from metasampler.cli._samplers import samplers

app = typer.Typer(
    name="metasampler",
    help="Imbalanced classification with ensembles that a learned meta-sampler grows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
app.command()(bench)
app.command()(compare)
app.command()(methods)
app.command()(meta_train)
app.command()(samplers)


def _print_version(wanted: bool) -> None:
    if wanted:
        from metasampler import __version__

        typer.echo(f"metasampler {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    app()
