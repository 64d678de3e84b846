"""From a file, or the bundled digits, to a task that can be cross-validated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from metasampler.cli._file_options import split_names

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

    classes : ndarray
        The classes as the file has them.

    cleaner : TableCleaner or None
        What made ``X`` of the file's columns.

    source : ParquetRows or None
        The rows, if they are read part by part: ``X`` is then a sample of them.
    """

    name: str
    X: Any
    y: NDArray[np.intp]
    labels: list[str]
    positive: int
    classes: Any = None
    cleaner: Any = None
    source: Any = None

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


def read(
    path: Path,
    target: str | None,
    *,
    drop: Iterable[str] | None = None,
    keep: Iterable[str] | None = None,
    positive: str | None = None,
) -> Task:
    """Read a CSV or Parquet file, split off the target, and leave out what is not to be learned."""
    from metasampler.datasets import read_table

    try:
        frame = read_table(path)
    except (ImportError, OSError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from error
    return make_task(frame, path.name, target, drop=drop, keep=keep, positive=positive)


def make_task(
    frame: Any,
    name: str,
    target: str | None,
    labels: tuple | None = None,
    *,
    drop: Iterable[str] | None = None,
    keep: Iterable[str] | None = None,
    positive: str | None = None,
) -> Task:
    """Split off the target of a table, and leave out what is not to be learned.

    ``labels`` are the positions of all rows in the classes, and the classes, if the table is a
    sample of the rows.
    """
    from metasampler.datasets import drop_columns, split_target
    from metasampler.tables import TableCleaner

    frame.columns = [str(column) for column in frame.columns]
    try:
        table, column = split_target(frame, target, name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--target") from error
    y, classes = encode_target(column, column.name) if labels is None else labels
    dropped, kept = split_names(drop, frame.columns), split_names(keep, frame.columns)
    for option, names in (("--drop", dropped), ("--keep", kept)):
        try:
            drop_columns(table, names, name)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint=option) from error
    shown = [str(label) for label in classes]
    asked = y if labels is None else _positions(column, classes)
    if positive is not None:
        # Leaks and copies are those of the question that is asked.
        asked = asked == _position(shown, positive)
    try:
        cleaner = TableCleaner(keep=kept, drop=dropped).fit(table, asked)
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from error
    task = Task(name, _folded(cleaner, table), y, shown, 0, np.asarray(classes), cleaner)
    return replace(task, positive=task.smallest)


def _positions(column: Any, classes: Any) -> NDArray[np.intp]:
    """Return the classes of some rows as positions among all classes."""
    import pandas as pd

    return pd.Index(classes).get_indexer(np.asarray(column, dtype=object))


def _folded(cleaner: Any, table: Any) -> Any:
    """Return the columns to learn from, in types that are the same in all folds."""
    # A column of texts and numbers may hold only numbers in the rows of one fold.
    texts = [name for name, kind in cleaner.kinds_.items() if kind == "category"]
    return cleaner.transform(table).astype(dict.fromkeys(texts, "category"))


def one_against_rest(task: Task, positive: str) -> Task:
    """Make one class the class to find, and all others one class."""
    index = _position(task.labels, positive)
    if len(task.labels) <= 2:
        return replace(task, positive=index)
    # Sorted, as the classes of a classifier are: columns of probabilities go by these positions.
    labels = sorted(["all others", task.labels[index]])
    place = labels.index(task.labels[index])
    y = np.where(task.y == index, place, 1 - place)
    return replace(task, y=y, labels=labels, positive=place, classes=np.array(labels, dtype=object))


def _position(labels: list[str], positive: str) -> int:
    """Return where the class to find stands among the labels."""
    matches = [i for i, label in enumerate(labels) if label == positive] or [
        i for i, label in enumerate(labels) if label.casefold() == positive.casefold()
    ]
    if len(matches) != 1:
        raise typer.BadParameter(
            f"no class {positive!r}. Classes: {_shorten(labels)}.", param_hint="--positive"
        )
    return matches[0]


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


def encode_target(column: Any, name: str) -> tuple[NDArray[np.intp], Any]:
    """Return the class of each row as a position, and the classes in their order."""
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
    if any(isinstance(label, int) and abs(label) >= 2**63 for label in classes.tolist()):
        # No array of integers holds them: they are names.
        classes = classes.astype(str)
    return codes.astype(np.intp), np.array(classes.tolist(), dtype=_label_type(classes))


def _label_type(classes: Any) -> Any:
    """Return the type of the labels: texts stay Python's, so that they have no length."""
    return None if getattr(classes.dtype, "kind", "O") in "biu" else object


def _shorten(names: list[str], most: int = 12) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
