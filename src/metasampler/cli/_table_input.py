"""From a file, or the bundled digits, to a task that can be cross-validated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

# Numbers with more distinct values than this are taken for something to estimate, not a class.
MOST_NUMERIC_CLASSES = 100
MOST_FRACTIONAL_CLASSES = 10


@dataclass(frozen=True)
class Task:
    """One classification problem.

    Attributes
    ----------
    name : str
        What to call the data.

    X : ndarray or DataFrame
        The columns, without the target.

    y : ndarray of int
        Class of each row, as a position in ``labels``.

    labels : list of str
        Names of the classes.

    positive : int
        The class to find: the smallest unless the user names another.
    """

    name: str
    X: Any
    y: NDArray[np.intp]
    labels: list[str]
    positive: int

    @property
    def counts(self) -> NDArray[np.intp]:
        """Count the rows of each class."""
        return np.bincount(self.y, minlength=len(self.labels))

    @property
    def smallest(self) -> int:
        """Return the class with fewest rows; of equally small ones the last, as 1 is of 0 and 1."""
        return len(self.labels) - 1 - int(np.argmin(self.counts[::-1]))


def bundled() -> Task:
    """Return the digits with a rare 8."""
    from metasampler.datasets import make_imbalanced_digits

    X, y = make_imbalanced_digits()
    return Task("scikit-learn's digits, 8 made rare", X, y, ["other digits", "8"], positive=1)


def read(path: Path, target: str | None) -> Task:
    """Read a CSV or Parquet file and split off the target column."""
    from metasampler.datasets import read_table, split_target

    try:
        frame = read_table(path)
    except (ImportError, OSError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from error
    frame.columns = [str(column) for column in frame.columns]
    try:
        table, column = split_target(frame, target, path.name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--target") from error
    y, labels = _encode_target(column, column.name)
    task = Task(path.name, _check_columns(table), y, labels, positive=0)
    return replace(task, positive=task.smallest)


def one_against_rest(task: Task, positive: str) -> Task:
    """Make one class the class to find, and all others one class."""
    matches = [i for i, label in enumerate(task.labels) if label == positive] or [
        i for i, label in enumerate(task.labels) if label.casefold() == positive.casefold()
    ]
    if len(matches) != 1:
        raise typer.BadParameter(
            f"no class {positive!r}. Classes: {_shorten(task.labels)}.", param_hint="--positive"
        )
    index = matches[0]
    if len(task.labels) <= 2:
        return replace(task, positive=index)
    y = (task.y == index).astype(np.intp)
    return replace(task, y=y, labels=["all others", task.labels[index]], positive=1)


def check_classes(task: Task, folds: int) -> None:
    """Refuse a task that has too few classes, or too few rows of one for the folds."""
    if len(task.labels) < 2:
        raise typer.BadParameter(
            f"only one class, {task.labels[0]!r}: there is nothing to tell apart.",
            param_hint="--target",
        )
    smallest = task.smallest
    rows = int(task.counts[smallest])
    if rows < 2:
        raise typer.BadParameter(
            f"class {task.labels[smallest]!r} has 1 row: cross-validation needs at least 2, "
            "better 10 or more.",
            param_hint="--target",
        )
    if rows < folds:
        raise typer.BadParameter(
            f"class {task.labels[smallest]!r} has {rows} rows, fewer than the {folds} folds: "
            f"set --folds {rows} or less.",
            param_hint="--folds",
        )


def _encode_target(column: Any, name: str) -> tuple[NDArray[np.intp], list[str]]:
    import pandas as pd

    missing = int(column.isna().sum())
    if missing:
        raise typer.BadParameter(
            f"column {name!r} has no value in {missing} of {len(column)} rows: "
            "fill or remove these rows first.",
            param_hint="--target",
        )
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.to_numpy(dtype=float)
        if np.isinf(values).any():
            raise typer.BadParameter(
                f"column {name!r} holds infinity in {int(np.isinf(values).sum())} of {len(column)} "
                "rows, which is no class: mend or remove these rows first.",
                param_hint="--target",
            )
        whole = bool(np.all(values == np.round(values)))
        distinct = len(np.unique(values))
        if distinct > (MOST_NUMERIC_CLASSES if whole else MOST_FRACTIONAL_CLASSES):
            raise typer.BadParameter(
                f"column {name!r} has {distinct} distinct numbers: this looks like a quantity "
                "(regression) or an identifier, not a class.",
                param_hint="--target",
            )
        if whole:  # labels read 1, not 1.0
            column = column.astype("int64")
    codes, classes = pd.factorize(column, sort=True)
    return codes.astype(np.intp), [str(label) for label in classes]


def _check_columns(frame: Any) -> Any:
    """Return the columns in types that are the same in all folds, or a clear error."""
    from metasampler.tables import TableEncoder

    try:
        kinds = TableEncoder().fit(frame).kinds_
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from error
    # A column of texts and numbers may hold only numbers in the rows of one fold.
    texts = [name for name, kind in kinds.items() if kind == "category"]
    # scikit-learn takes no infinities: they count as missing.
    return frame.replace([np.inf, -np.inf], np.nan).astype(dict.fromkeys(texts, "category"))


def _shorten(names: list[str], most: int = 12) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
