"""The command `metasampler`: its own sub-commands, and those that other packages add."""

import atexit
import signal
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from metasampler.cli._compare import compare
from metasampler.cli._drift import drift
from metasampler.cli._export import export
from metasampler.cli._fit import fit
from metasampler.cli._predict import predict
from metasampler.cli._report import report
from metasampler.cli._samplers import samplers

#: Entry points of this group are functions that become sub-commands, by the entry's name.
_GROUP = "metasampler.commands"

#: Sub-commands of metasampler-bench, for those who do not have it.
_ELSEWHERE = frozenset({"bench", "meta-train", "methods", "study"})


def _added() -> dict[str, EntryPoint]:
    """Return the entry points of sub-commands, by name; nothing is imported yet."""
    return {entry.name: entry for entry in entry_points(group=_GROUP)}


class _Commands(TyperGroup):
    """A group whose added sub-commands are imported on request."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted({*super().list_commands(ctx), *_added()})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        entry = _added().get(cmd_name)
        if own is not None or entry is None:
            return own
        single = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
        single.command(cmd_name)(entry.load())
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name in _ELSEWHERE and self.get_command(ctx, name) is None:
            typer.echo(
                f"`metasampler {name}` needs the package metasampler-bench. In a clone of the "
                "repository: pip install ./bench",
                err=True,
            )
            raise typer.Exit(2)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="metasampler",
    cls=_Commands,
    help="Imbalanced classification with ensembles grown by a learned meta-sampler.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
for _command in (fit, predict, compare, drift, report, export, samplers):
    app.command()(_command)


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
    # A program that is asked to end takes its temporary files with it. Once its work is done it
    # ends by itself: the signal would only change what it returns.
    signal.signal(signal.SIGTERM, _end)
    atexit.register(signal.signal, signal.SIGTERM, signal.SIG_IGN)
    # Also as `python -m metasampler`, where the program would be called __main__.py.
    app(prog_name="metasampler")


class _Ended(SystemExit):
    """The program is asked to end."""


def _end(number: int, frame: Any) -> NoReturn:
    # Other signals must not meet what is being removed.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.unraisablehook = _end_soon
    raise _Ended(128 + signal.SIGTERM)


def _end_soon(dropped: Any) -> None:
    """Raise the exit again if it met a finalizer or a callback of C code: these drop exceptions."""
    if not isinstance(dropped.exc_value, _Ended):
        sys.__unraisablehook__(dropped)
    elif hasattr(signal, "setitimer"):
        # When this code, too, is done.
        signal.signal(signal.SIGALRM, _end)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
