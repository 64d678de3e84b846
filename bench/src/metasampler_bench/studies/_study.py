"""Run a study: measure rows, make tables of them, keep both in files.

A study is two functions: one yields rows, the other makes tables of rows and of nothing else. What
it measured can so be shown again, and better, without being measured again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from metasampler_bench._look import fold
from metasampler_bench._retired import Retired
from metasampler_bench._tables import ResultTable

__all__ = ["Options", "Row", "Study", "mark_retired", "read_rows", "write_page", "write_rows"]

Row = dict[str, Any]

_PACKAGES = ("metasampler", "imbalanced-learn", "scikit-learn", "numpy")

#: Studies were scripts before they were commands; the last commit that has the scripts.
_LAST_WITH_SCRIPTS = "1fe915a"


@dataclass(frozen=True)
class Options:
    """What a user can choose in every study.

    Attributes
    ----------
    runs : int
        How often: splits, seeds or tasks, as the study says.
    seed : int
        Seed of the first run.
    datasets : tuple of str
        Only these data sets; empty for those of the study.
    data_home : str or None
        Folder of the data.
    python : str or None
        Another interpreter, where a study has use for one.
    finished : frozenset of str
        Data sets whose rows there are already, for a study that goes on.
    """

    runs: int
    seed: int = 0
    datasets: tuple[str, ...] = ()
    data_home: str | None = None
    python: str | None = None
    finished: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Study:
    """A question, how rows are measured that answer it, and the tables that show the answer.

    Attributes
    ----------
    name : str
        What ``metasampler study`` calls it.
    title : str
        What its page, or its part of a page, is called.
    about : str
        What is done, for the page.
    measure : callable
        ``measure(options)`` yields rows, all with the same keys.
    tables : callable
        ``tables(rows)`` gives a list of tables.
    runs : int
        How often by default.
    unit : str
        What a run is: a split, a seed or a task.
    file : str
        Where rows are kept, without the ending; by default the name.
    page : str
        The page that the tables are shown on; by default the name.
    resumes : bool
        Whether an interrupted study goes on where it was: ``measure`` leaves out the data sets
        that are finished.
    """

    name: str
    title: str
    about: str
    measure: Callable[[Options], Iterator[Row]]
    tables: Callable[[list[Row]], list[ResultTable]]
    runs: int
    unit: str = "splits"
    file: str = ""
    page: str = ""
    resumes: bool = False

    @property
    def file_name(self) -> str:
        """Name of the file of rows."""
        return f"{self.file or self.name}.json"

    @property
    def page_name(self) -> str:
        """Name of the page, without the ending."""
        return self.page or self.name

    def command(self, options: Options) -> str:
        """Return the command that repeats the study."""
        words = ["metasampler study", self.name, f"--runs {options.runs}"]
        words += [f"--seed {options.seed}"] if options.seed else []
        words += [f"--dataset {name}" for name in options.datasets]
        return " ".join(words)

    def run(self, options: Options, path: Path | None = None) -> list[Row]:
        """Measure all rows, and keep them in a file as they come.

        Parameters
        ----------
        options : Options
        path : Path, default=None
            The file. It is written whenever the next data set or task begins, so that a long
            study that is interrupted leaves what there is. A study that resumes takes over
            what the same command has left there.

        Returns
        -------
        rows : list of dict
        """
        rows: list[Row] = []
        if self.resumes and path is not None and path.is_file():
            content = read_rows(path)
            if content["command"] == self.command(options):
                rows = content["rows"]
                done = frozenset(row[next(iter(row))] for row in rows)
                options = replace(options, finished=done)
        for row in self.measure(options):
            first = next(iter(row))
            if path is not None and rows and row[first] != rows[-1][first]:
                write_rows(path, rows, command=self.command(options), seed=options.seed)
            rows.append(row)
        if path is not None:
            write_rows(path, rows, command=self.command(options), seed=options.seed)
        return rows


def mark_retired(name: str, retired: dict[str, Retired]) -> str:
    """Return what tables call a method: one that is gone is marked with its last commit."""
    return retired[name].marked_title if name in retired else name


def write_rows(path: Path, rows: list[Row], *, command: str, seed: int) -> None:
    """Write rows with all that is needed to measure them again.

    Parameters
    ----------
    path : Path
        The file.
    rows : list of dict
        All with the same keys.
    command : str
        What measures them.
    seed : int
        Seed of the first run.
    """
    columns = list(rows[0])
    content = {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "versions": {name: version(name) for name in _PACKAGES},
        "seed": seed,
        "columns": columns,
    }
    head = json.dumps(content, indent=1)[:-2]
    lines = ",\n  ".join(json.dumps([_short(row[column]) for column in columns]) for row in rows)
    path.write_text(f'{head},\n "rows": [\n  {lines}\n ]\n}}\n', encoding="utf-8")


def read_rows(path: Path) -> dict[str, Any]:
    """Read such a file; its rows are dicts."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content["rows"] = [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]
    return content


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def write_page(title: str, introduction: str, studies: list[Study], folder: Path) -> Path:
    """Write a page of the rows that some studies have left in a folder.

    Parameters
    ----------
    title, introduction : str
        What stands above the tables.
    studies : list of Study
        Those whose page it is; the ones without rows are left out.
    folder : Path
        Where the rows are, and the page will be.

    Returns
    -------
    path : Path
        The page.
    """
    parts = [f"# {title}", introduction.strip()]
    for study in studies:
        source = folder / study.file_name
        if not source.is_file():
            continue
        content = read_rows(source)
        if len(studies) > 1:
            parts.append(f"## {study.title}")
        parts += [_origin(study, content), study.about.strip()]
        # The first table answers the question of the study.
        first, *others = study.tables(content["rows"])
        parts.append(first.markdown(heading="###").strip())
        parts += [fold(table.title, table.markdown().strip()) for table in others]
    path = folder / f"{studies[0].page_name}.md"
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return path


def _origin(study: Study, content: dict[str, Any]) -> str:
    """Say how the rows came about, also where the command has another name by now."""
    command, date = content["command"], content["date"]
    if command.startswith("metasampler"):
        return f"`{command}`, {date}."
    now = f"metasampler study {study.name}"
    return f"`{command}` of commit {_LAST_WITH_SCRIPTS}, {date}; today `{now}`."
