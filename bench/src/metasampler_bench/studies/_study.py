"""What the studies of `decisions.py` share: data sets, splits, measures, files and tables."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np
from imblearn.datasets import fetch_datasets
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from metasampler.datasets import resolve_data_home

#: The sets that take most of the time; `--all` includes them.
LARGE_SETS = ("isolet", "protein_homo", "webpage")
PACKAGES = ("metasampler", "imbalanced-learn", "scikit-learn", "numpy")
N_BINS = 15


# ---------------------------------------------------------------------- data


def load_sets(data_home=None, *, names=None, with_large=False):
    """Sets of imbalanced-learn's collection, as name -> (X, y) with y 0 or 1."""
    found = fetch_datasets(
        data_home=str(resolve_data_home(data_home)),
        filter_data=None if names is None else tuple(names),
        download_if_missing=False,
    )
    return {
        name: (bunch.data, (bunch.target == 1).astype(int))
        for name, bunch in found.items()
        if names is not None or with_large or name not in LARGE_SETS
    }


def split_off_test(X, y, seed):
    """Training and test rows, 80 : 20."""
    return train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)


def split_in_three(X, y, seed):
    """Training, validation and test rows, 60 : 20 : 20; the test rows of `split_off_test`."""
    X_rest, X_test, y_rest, y_test = split_off_test(X, y, seed)
    X_train, X_val, y_train, y_val = train_test_split(
        X_rest, y_rest, test_size=0.25, stratify=y_rest, random_state=seed
    )
    return (X_train, y_train), (X_val, y_val), (X_test, y_test)


def each_split(sets, n_splits, seed, title):
    """Every set and split, with a progress bar on a terminal: name, X, y, seed of the split."""
    cases = [(name, number) for name in sets for number in range(n_splits)]
    for name, number in track(cases, title, disable=not sys.stdout.isatty(), transient=True):
        yield name, number, *sets[name], seed + number


# ---------------------------------------------------------------------- measures


def calibration_error(y, probability):
    """Expected calibration error over bins of equal width."""
    bins = np.minimum((probability * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(bins, probability - y, N_BINS)
    return float(np.abs(gaps).sum() / len(y))


def measure(y, probability):
    """What the tables show of predicted probabilities."""
    return {
        "Brier score": float(brier_score_loss(y, probability)),
        "log-loss": float(log_loss(y, probability, labels=[0, 1])),
        "calibration error": calibration_error(y, probability),
        "average precision": float(average_precision_score(y, probability)),
    }


def set_means(rows, value, **wanted):
    """Mean over the splits of each set, as a vector in the order of the sets' names."""
    chosen: dict[str, list] = {}
    for row in rows:
        if all(row[key] == given for key, given in wanted.items()):
            chosen.setdefault(row["set"], []).append(row[value])
    return np.array([np.mean(chosen[name]) for name in sorted(chosen)])


def standard_error(values):
    """Standard error of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def paired(values, reference):
    """Mean difference and its standard error, with data sets as the units."""
    difference = values - reference
    return float(difference.mean()), standard_error(difference)


# ---------------------------------------------------------------------- files and tables


def write_rows(path, rows, *, command, seed, settings):
    """Write a study's rows with all that is needed to repeat it."""
    columns = list(rows[0])
    content = {
        "command": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "versions": {name: version(name) for name in PACKAGES},
        "seed": seed,
        "settings": settings,
        "columns": columns,
    }
    head = json.dumps(content, indent=1)[:-2]
    lines = ",\n  ".join(json.dumps([_short(row[column]) for column in columns]) for row in rows)
    Path(path).write_text(f'{head},\n "rows": [\n  {lines}\n ]\n}}\n')


def publish(title, about, rows, table, path, *, command, settings):
    """Write a study's rows and, beside them, a page with its table.

    ``about`` is the docstring of the study: its first paragraph and the command are left out.
    """
    write_rows(path, rows, command=command, seed=0, settings=settings)
    text = about.split("\n\n", 2)[2].strip()
    page = f"# {title}\n\n{text}\n\n`{command}`\n\n{table.markdown()}"
    Path(path).with_suffix(".md").write_text(page)


def read_rows(path):
    """The content of such a file, with a dict for each row."""
    content = json.loads(Path(path).read_text())
    content["rows"] = [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]
    return content


def _short(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


@dataclass
class StudyTable:
    """A table that can be printed or written as Markdown; its first column is text."""

    title: str
    header: list[str]
    rows: list[list[str]]
    note: str = ""

    def show(self, console: Console) -> None:
        """Print it."""
        table = Table(title=self.title, title_justify="left")
        for number, name in enumerate(self.header):
            table.add_column(name, justify="right" if number else "left", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        console.print(table)
        console.print(self.note, soft_wrap=True)

    def markdown(self) -> str:
        """As Markdown, with the title as a heading."""
        lines = [self.header, ["---", *["---:"] * (len(self.header) - 1)], *self.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"### {self.title}\n\n{table}\n\n{self.note}\n"


def with_error(difference, error, digits=4):
    """A paired difference as text."""
    return f"{difference:+.{digits}f} ± {error:.{digits}f}"
