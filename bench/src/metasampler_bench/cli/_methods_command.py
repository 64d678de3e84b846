"""``metasampler methods``: the registry as a table."""

from __future__ import annotations

from metasampler_bench.cli._console import make_console


def methods() -> None:
    """List every method that can be compared.

    `metasampler compare --method NAME` runs one of them.
    """
    from rich import box
    from rich.table import Table

    from metasampler_bench import LETTERS, METHODS

    letters = ", ".join(f"{letter} {meaning}" for letter, meaning in LETTERS.items())
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        caption=f"Families: {letters}; - none. Base estimator: whether it can be set. Sizes: one "
        "fit gives the ensembles of all smaller sizes too (prefix), each size needs a fit of its "
        "own (each), or there is only one size (-). Extra: what to install, as in pip install "
        r'"metasampler-bench\[boosters]".',
        caption_justify="left",
    )
    for column in ("name", "title", "family", "base estimator", "sizes", "extra"):
        table.add_column(column, no_wrap=column != "title")
    for method in METHODS.values():
        sizes = "prefix" if method.prefix else "each" if method.sized else "-"
        table.add_row(
            method.name,
            method.title,
            method.family,
            "yes" if method.uses_base_estimator else "-",
            sizes,
            method.requires or "-",
        )
    console = make_console(120)
    console.print(table)
