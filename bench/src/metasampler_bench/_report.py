"""Write files of rows: a Markdown page, LaTeX tables and figures for each spec."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from metasampler_bench._class_summaries import CLASS_SUMMARIES
from metasampler_bench._draw_summaries import DRAW_SUMMARIES, everywhere
from metasampler_bench._figures import FIGURES, PICTURES
from metasampler_bench._look import TABLE_RULE, fold
from metasampler_bench._paired import paired
from metasampler_bench._prose import prose_of
from metasampler_bench._retired import RETIRED, RETIRED_NOTE
from metasampler_bench._rows import finished, last_rows
from metasampler_bench._spec import Spec
from metasampler_bench._spread import spread
from metasampler_bench._summaries import SUMMARIES
from metasampler_bench._table_summaries import TABLE_SUMMARIES
from metasampler_bench._tables import ResultTable, pivot_tables

__all__ = ["write_report"]

_DPI = 150
#: Kinds of reports that are one table, or several.
_ONE = SUMMARIES | TABLE_SUMMARIES | CLASS_SUMMARIES | DRAW_SUMMARIES | {"spread": spread}
_SEVERAL = {"table": pivot_tables, "paired": paired, "draw-policies": everywhere}
QUICK_NOTE = (
    "A quick look: one fold, few cells and a shortened meta-training. The numbers say that it "
    "runs, and nothing about the methods."
)


def write_report(
    spec: Spec, rows: Iterable[dict[str, Any]], folder: str | Path, *, console: Any = None
) -> list[Path]:
    """Write what a spec's rows say, and keep what is written by hand on its page.

    Parameters
    ----------
    spec : Spec
    rows : iterable of dict
        What a :class:`~metasampler_bench.ResultStore` holds.
    folder : path
        Where ``NAME.md``, ``NAME.tex`` and ``NAME-FIGURE.{png,svg}`` are written.
    console : rich Console, default=None
        Where to print the tables as well.

    Returns
    -------
    paths : list of Path
        The files.

    Raises
    ------
    ValueError
        If there are no rows of this spec.
    """
    own = last_rows(row for row in rows if row.get("spec") == spec.name)
    if not own:
        raise ValueError(f"There are no rows of {spec.name!r} yet; run it first.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tables: list[ResultTable] = []
    # What answers the question of the page stands first; other tables are folded below it.
    parts: list[str] = []
    folded: list[str] = []
    figures: list[Path] = []
    prose = prose_of(folder / f"{spec.name}.md")
    can_draw = importlib.util.find_spec("matplotlib") is not None
    n_left_out = 0
    # Where every cell failed there is nothing to show but the reasons.
    for report in spec.reports if finished(own) else ():
        kind = report["kind"]
        # A method with fewer runs would take runs of the others out of a paired table. A data set
        # that few methods finished would leave the others without a rank.
        left_out = set(report.get("without", ()))
        shown = [row for row in own if not left_out.intersection(map(str, row["cell"].values()))]
        if kind in FIGURES and not can_draw:
            n_left_out += 1
            continue
        if kind in FIGURES:
            for path in _save_figures(spec, shown, report, folder):
                figures += [path, path.with_suffix(".svg")]
                seen = f"{PICTURES[kind]}: {spec.title}{report.get('suffix', '')}"
                picture = f"![{seen}]({path.name})"
                if report.get("fold"):
                    # It belongs to the folded table before it.
                    folded[-1] = _fold_in(folded[-1], picture)
                else:
                    parts.append(picture)
            continue
        if kind in _SEVERAL:
            made = _SEVERAL[kind](spec, shown, report)
        else:
            made = [_ONE[kind](spec, shown, report)]
        made = [replace(table, title=table.title + report.get("suffix", "")) for table in made]
        for table in made:
            # One table answers the question; it may stand in the prose already.
            if tables or report.get("fold") or TABLE_RULE in prose:
                folded.append(fold(_within(spec, table.title), table.markdown()))
            else:
                parts.append(table.markdown())
            tables.append(table)
    page, latex = folder / f"{spec.name}.md", folder / f"{spec.name}.tex"
    page.write_text(
        "\n\n".join([*_head(spec, prose), *parts, *_how(spec, own), *folded]).rstrip() + "\n",
        encoding="utf-8",
    )
    if tables:
        latex.write_text("\n".join(table.latex() for table in tables), encoding="utf-8")
    if console is not None:
        for table in tables:
            table.show(console)
        if any(row["cell"].get("quick") for row in own):
            console.print(QUICK_NOTE, soft_wrap=True, markup=False)
    if n_left_out:
        note = (
            f"{n_left_out} kind{'s of figures are' if n_left_out > 1 else ' of figures is'} not "
            'drawn, because matplotlib is not installed: pip install "metasampler[plot]"'
        )
        if console is None:
            warnings.warn(note, UserWarning, stacklevel=2)
        else:
            console.print(note, soft_wrap=True, markup=False)
    return [page, *([latex] if tables else []), *figures]


def _save_figures(
    spec: Spec, rows: list[dict[str, Any]], report: dict[str, Any], folder: Path
) -> Iterable[Path]:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    for name, display in FIGURES[report["kind"]](spec, rows, report):
        path = folder / f"{spec.name}-{name}.png"
        display.figure_.savefig(path, dpi=_DPI)
        # Without a date and with names that are not drawn at random, the same rows give the same
        # file.
        with mpl.rc_context({"svg.hashsalt": spec.name}):
            # Points are stored as pixels; as paths they would make a file of many megabytes.
            display.figure_.savefig(path.with_suffix(".svg"), dpi=72, metadata={"Date": None})
        plt.close(display.figure_)
        yield path


def _head(spec: Spec, prose: str) -> list[str]:
    """Return the title, and what is written by hand."""
    in_paper = "This benchmark is not in the paper."
    if spec.paper:
        in_paper = f"In the paper: {spec.paper}."
    return [f"# {spec.title}", prose, in_paper]


def _within(spec: Spec, title: str) -> str:
    """Return the title of a table without that of its page."""
    short = title.removeprefix(spec.title).lstrip(":, ") or "all numbers"
    # Names of data sets stay as they are.
    known = any(short.startswith(tuple(block.get("dataset", ()))) for block in spec.blocks)
    return short if known else short[0].upper() + short[1:]


def _fold_in(text: str, more: str) -> str:
    """Return a folded text with more at its end."""
    return f"{text.removesuffix('</details>')}{more}\n\n</details>"


def _how(spec: Spec, rows: list[dict[str, Any]]) -> list[str]:
    """Return how the rows came about: what was done, by which commands, and what failed."""
    commands = sorted({row["command"] for row in rows if "command" in row})
    failed = [row for row in rows if "error" in row]
    lines = [
        "## How it was done",
        spec.about.replace("\n", " "),
        *(["Commands:\n\n```sh\n" + "\n".join(commands) + "\n```"] if commands else []),
        f"{len(finished(rows))} cells"
        + (f", {len(failed)} that failed or ran out of time" if failed else "")
        + f"; seed {_listed(rows, 'seed')}; {_versions(rows)}; commit {_listed(rows, 'commit')}; "
        f"{_listed(rows, 'date')}.",
    ]
    if any(row["cell"].get("quick") for row in rows):
        lines.append(QUICK_NOTE)
    if any(row["cell"].get("method") in RETIRED for row in rows):
        lines.append(RETIRED_NOTE)
    if failed:
        reasons: dict[str, set[str]] = {}
        for row in failed:
            cell = row["cell"]
            where = f"{cell.get('method', '')} on {cell.get('dataset', '')}".strip()
            reasons.setdefault(row["error"].split("\n")[0][:160], set()).add(where)
        lines.append(
            "\n".join(
                f"- {', '.join(sorted(w))}: {reason}" for reason, w in sorted(reasons.items())
            )
        )
    return lines


def _listed(rows: list[dict[str, Any]], name: str) -> str:
    return ", ".join(sorted({str(row.get(name)) for row in rows}))


def _versions(rows: list[dict[str, Any]]) -> str:
    """Return each package with all versions that rows name."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, number in row.get("versions", {}).items():
            found.setdefault(name, set()).add(number)
    return ", ".join(f"{name} {' or '.join(sorted(found[name]))}" for name in found)
