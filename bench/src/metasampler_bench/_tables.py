"""Make tables of results, for the screen, in Markdown and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from metasampler_bench._rows import (
    Row,
    axis_order,
    axis_value,
    group_values,
    name_of,
    paper_value,
    select,
)
from metasampler_bench._spec import Spec

__all__ = [
    "Entry",
    "ResultTable",
    "column_name",
    "keys_on",
    "pivot_tables",
    "row_header",
    "row_name",
]

_TITLES = {
    "score": "average precision",
    "rows": "rows",
    "resampling_cpu": "resampling, CPU s",
    "meta_cpu": "meta-training, CPU s",
    "cpu": "fit, CPU s",
    "imbalance_ratio": "imbalance ratio",
    "n_rows": "rows",
    "n_features": "columns",
    "mu_early": "mu of the first 5 steps",
    "mu_late": "mu of the last 5 steps",
    "mu_mean": "mean mu",
    "mu_range": "range of mu in a fit",
}
_WHOLE = ("rows", "n_rows", "n_features")
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "%&_#{}$"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "±": r"$\pm$",
        "Δ": r"$\Delta$",
    }
)


@dataclass(frozen=True)
class Entry:
    """Text of one place in a table."""

    text: str
    bold: bool = False

    def markdown(self) -> str:
        """Return the text as Markdown."""
        return f"**{self.text}**" if self.bold else self.text

    def latex(self) -> str:
        """Return the text as LaTeX."""
        text = self.text.translate(_LATEX).replace("+", "$+$")
        # The sign of a number, not the hyphen of a name.
        text = re.sub(r"(?<!\w)-(?=\d)", "$-$", text)
        return rf"\textbf{{{text}}}" if self.bold else text


@dataclass
class ResultTable:
    """A table that can be written as Markdown or LaTeX; its first column is text.

    Parameters
    ----------
    title : str
        What it shows.
    header : list of str
        Names of the columns.
    rows : list of list of Entry
        What is in them.
    note : str, default=""
        What a reader has to know.

    Examples
    --------
    >>> from metasampler_bench._tables import Entry, ResultTable
    >>> table = ResultTable("Scores", ["method", "k = 5"], [[Entry("SPE"), Entry("0.9", True)]])
    >>> print(table.markdown())
    **Scores**
    <BLANKLINE>
    | method | k = 5 |
    | --- | ---: |
    | SPE | **0.9** |
    <BLANKLINE>
    """

    title: str
    header: list[str]
    rows: list[list[Entry]] = field(default_factory=list)
    note: str = ""

    @classmethod
    def from_texts(
        cls, title: str, header: list[str], lines: list[list[str]], note: str = ""
    ) -> ResultTable:
        """Return a table of plain texts."""
        return cls(title, header, [[Entry(text) for text in line] for line in lines], note)

    def show(self, console: Any) -> None:
        """Print the table to a console of rich."""
        from rich.table import Table
        from rich.text import Text

        # Texts, because brackets in a name are no markup.
        printed = Table(title=Text(self.title), title_justify="left")
        for number, name in enumerate(self.header):
            printed.add_column(Text(name), justify="right" if number else "left", no_wrap=True)
        for row in self.rows:
            printed.add_row(*(Text(e.text, style="bold" if e.bold else "") for e in row))
        console.print(printed)
        if self.note:
            console.print(self.note, soft_wrap=True, markup=False)

    def markdown(self, heading: str = "") -> str:
        """Return the table as Markdown, with the title above and the note below.

        Parameters
        ----------
        heading : str, default=""
            What makes the title a heading, as "###"; otherwise it is bold.
        """
        lines = [self.header, ["---", *["---:"] * (len(self.header) - 1)]]
        lines += [[entry.markdown() for entry in row] for row in self.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        note = f"\n{self.note}\n" if self.note else ""
        title = f"{heading} {self.title}" if heading else f"**{self.title}**"
        return f"{title}\n\n{table}\n{note}"

    def latex(self) -> str:
        """Return the table as LaTeX, for the package booktabs."""
        lines = [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{self.title.translate(_LATEX)}}}",
            rf"  \begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}",
            r"    \toprule",
            "    " + " & ".join(name.translate(_LATEX) for name in self.header) + r" \\",
            r"    \midrule",
            *("    " + " & ".join(entry.latex() for entry in row) + r" \\" for row in self.rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"


def format_value(name: str, value: float | None) -> str:
    """Write a number as tables show it."""
    if value is None or not np.isfinite(value):
        return "-"
    if name in _WHOLE:
        return f"{value:,.0f}"
    if name.endswith("cpu"):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:.1f}" if name == "imbalance_ratio" else f"{value:.3f}"


def pivot_tables(spec: Spec, rows: Iterable[Row], report: dict[str, Any]) -> list[ResultTable]:
    """Make the tables of a report of kind "table": means, the paper's values, differences.

    Parameters
    ----------
    spec : Spec
    rows : iterable of dict
    report : dict
        ``rows`` and ``columns`` (axes), ``values`` (numbers; the score by default), ``split``
        (axis or axes: one table for each of their values), ``where`` (values of axes),
        ``relative_to`` (method whose relative difference is shown), ``brief`` (whether a cell
        holds a mean alone, with the paper's in brackets).

    Returns
    -------
    tables : list of ResultTable
    """
    chosen = select(rows, report.get("where"))
    split = report.get("split", [])
    axes = [split] if isinstance(split, str) else list(split)
    tables = []
    for key in keys_on(spec, chosen, axes) if chosen else []:
        names = filter(None, (name_of(axis, v) for axis, v in zip(axes, key, strict=True)))
        title = ": ".join([spec.title, *filter(None, [", ".join(names)])])
        own = select(chosen, dict(zip(axes, key, strict=True)))
        tables.append(_pivot(spec, own, report, title))
    return tables


def _pivot(spec: Spec, rows: list[Row], report: dict[str, Any], title: str) -> ResultTable:
    row_axes, column_axes = list(report["rows"]), list(report["columns"])
    row_keys = keys_on(spec, rows, row_axes)
    column_keys = keys_on(spec, rows, column_axes)
    if column_axes == ["k"]:
        # A method without k has one value, which stands in every column.
        column_keys = [key for key in column_keys if key != (None,)] or [(None,)]
    header = [row_header(row_axes)]
    lines: list[list[Entry]] = [[Entry(row_name(row_axes, key))] for key in row_keys]
    counts: list[list[int]] = [[] for _ in row_keys]
    places: list[list[_Place]] = [[] for _ in row_keys]
    for name in report.get("values", ["score"]):
        groups = group_values(rows, [*row_axes, *column_axes], name)
        for column in column_keys:
            found = [_find(groups, key, column, column_axes) for key in row_keys]
            paper = [
                _paper(spec, rows, row_axes, key, column_axes, column, name) for key in row_keys
            ]
            column_title = column_name(column_axes, column, name, report)
            at = len(header)
            means = _add_column(
                header, lines, name, column_title, found, paper, row_axes, row_keys, report
            )
            if name == "score":
                for line, own, mean, values in zip(lines, places, means, found, strict=True):
                    own.append(_Place(line, at, float(mean), len(values)))
            for position, values in enumerate(found):
                counts[position] += [len(values)] if len(values) else []
    brief = report.get("brief", False)
    # Where every place has one value there is nothing to count.
    if not brief and any(max(count, default=1) > 1 for count in counts):
        header.append("fits")
        for line, count in zip(lines, counts, strict=True):
            text = f"{min(count)}" if count and min(count) == max(count) else "varies"
            line.append(Entry(text if count else "0"))
    # Scores of different data sets say nothing about each other: there the best of a row counts.
    by_row = "dataset" in row_axes
    groups_of_places = list(places if by_row else zip(*places, strict=True))
    n_bold = sum(_mark_best(group) for group in groups_of_places)
    notes = []
    if "fits" in header:
        notes.append("± is the standard deviation over runs and folds.")
    if n_bold:
        same = all(_same_number_of_fits(group) for group in groups_of_places)
        among = "" if same else ", among the cells with the most fits"
        notes.append(f"Bold is the best of a {'row' if by_row else 'column'}{among}.")
    if "difference" in header:
        notes.append("Differences are ours minus the paper's.")
    if brief and any("(" in entry.text for line in lines for entry in line[1:]):
        notes.append("The paper's scores are in brackets.")
    return ResultTable(title, header, lines, " ".join(notes))


class _Place(NamedTuple):
    """Where a score stands in a table, and of how many fits it is the mean."""

    line: list[Entry]
    at: int
    mean: float
    n_fits: int


def _mark_best(places: Iterable[_Place]) -> int:
    """Make the best of several scores bold, and return how many are.

    A mean of few fits is not compared with one of many: only cells with the most fits are compared.
    """
    known = [place for place in places if np.isfinite(place.mean)]
    most = max((place.n_fits for place in known), default=0)
    known = [place for place in known if place.n_fits == most]
    # Rounded as shown: a difference that cannot be read does not count.
    best = round(max((place.mean for place in known), default=0.0), 3)
    chosen = [place for place in known if round(place.mean, 3) == best] if len(known) > 1 else []
    for place in chosen:
        place.line[place.at] = Entry(place.line[place.at].text, bold=True)
    return len(chosen)


def _same_number_of_fits(places: Iterable[_Place]) -> bool:
    return len({place.n_fits for place in places if np.isfinite(place.mean)}) < 2


def _add_column(
    header: list[str],
    lines: list[list[Entry]],
    name: str,
    title: str,
    found: list[np.ndarray],
    paper: list[float | None],
    row_axes: list[str],
    row_keys: list[tuple[Any, ...]],
    report: dict[str, Any],
) -> np.ndarray:
    """Append our values and, where there are any, the paper's and the difference.

    Returns
    -------
    means : ndarray
        Our values.
    """
    means = np.array([values.mean() if len(values) else np.nan for values in found])
    header.append(title)
    if report.get("brief"):
        for line, mean, value in zip(lines, means, paper, strict=True):
            said = "" if value is None else f" ({format_value(name, value)})"
            line.append(Entry(format_value(name, mean) + said))
        return means
    for line, values, mean in zip(lines, found, means, strict=True):
        text = format_value(name, mean if len(values) else None)
        if len(values) > 1 and name not in _WHOLE and np.ptp(values) > 0:
            text += f" ± {format_value(name, values.std(ddof=1))}"
        line.append(Entry(text))
    if any(value is not None for value in paper):
        header += ["paper", "difference"]
        for line, mean, value in zip(lines, means, paper, strict=True):
            line.append(Entry(format_value(name, value)))
            known = value is not None and np.isfinite(mean)
            difference = mean - value if known else None
            sign = "+" if difference is not None and difference >= 0 else ""
            line.append(Entry(sign + format_value(name, difference) if known else "-"))
    if name == "score" and "relative_to" in report:
        _add_relative(header, lines, means, paper, row_axes, row_keys, report["relative_to"])
    return means


def _add_relative(header, lines, means, paper, row_axes, row_keys, method):
    """Append the relative difference to the first row of a method, ours and the paper's."""
    position = row_axes.index("method")
    reference = next((i for i, key in enumerate(row_keys) if key[position] == method), None)
    header += ["Δ", "Δ in the paper"]
    for number, (line, mean, value) in enumerate(zip(lines, means, paper, strict=True)):
        if reference is None or number == reference:
            line += [Entry("baseline" if number == reference else "-"), Entry("-")]
            continue
        change = mean / means[reference] - 1
        line.append(Entry(f"{change:+.1%}" if np.isfinite(change) else "-"))
        known = value is not None and paper[reference] is not None
        line.append(Entry(f"{value / paper[reference] - 1:+.1%}" if known else "-"))


def keys_on(spec: Spec, rows: Sequence[Row], axes: list[str]) -> list[tuple[Any, ...]]:
    """Return the combinations of values that occur, in the order of the spec."""
    present = {tuple(axis_value(row["cell"], axis) for axis in axes) for row in rows}
    ranks = [
        {value: i for i, value in enumerate(axis_order(spec, axis, (key[n] for key in present)))}
        for n, axis in enumerate(axes)
    ]
    return sorted(present, key=lambda key: [rank[v] for rank, v in zip(ranks, key, strict=True)])


def _find(groups, key, column, column_axes):
    values = groups.get(key + column)
    if values is None and column_axes == ["k"]:
        values = groups.get((*key, None))
    return np.array([]) if values is None else values


def _paper(spec, rows, row_axes, key, column_axes, column, name):
    """Return the paper's value for a place; other axes are those of the table's own rows."""
    wanted = dict(zip([*row_axes, *column_axes], key + column, strict=True))
    for row in rows:
        cell = row["cell"]
        if all(axis_value(cell, axis) == value for axis, value in wanted.items()):
            return paper_value(spec, cell, name)
    return None


def row_header(axes: list[str]) -> str:
    """Return what the first column of a table is called."""
    return axes[0].replace("_", " ")


def row_name(axes: list[str], key: tuple[Any, ...]) -> str:
    """Return what a line of a table is called."""
    names = [name_of(axis, value) for axis, value in zip(axes, key, strict=True)]
    # A part of 100% goes without saying beside something else, but not alone.
    if len(axes) == 1 and not names[0]:
        usual = {"setting": "as in the paper"}
        return "100%" if "fraction" in axes[0] else usual.get(axes[0], "-")
    return ", ".join(name for name in names if name)


def column_name(axes, column, name, report) -> str:
    """Return what a column of a table is called."""
    names = [name_of(axis, value) or "100%" for axis, value in zip(axes, column, strict=True)]
    several = len(report.get("values", ["score"])) > 1 or not names
    return " ".join(([_TITLES.get(name, name)] if several else []) + names) or _TITLES[name]
