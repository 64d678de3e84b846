"""From a file, or the bundled digits, to a task that can be cross-validated."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from metasampler._warnings import warn_user
from metasampler.cli._file_options import blaming, split_names

# Numbers with more distinct values than this are taken for something to estimate, not a class.
MOST_NUMERIC_CLASSES = 100
MOST_FRACTIONAL_CLASSES = 10


@dataclass(frozen=True)
class Task:
    """One classification problem."""

    name: str
    #: The columns, without the target: an array or a data frame.
    X: Any
    #: The class of each row, as a position in ``labels``.
    y: NDArray[np.intp]
    labels: list[str]
    #: The class to find: the smallest unless the user names another.
    positive: int
    #: The classes as the file has them.
    classes: Any = None
    #: The `TableCleaner` that made ``X`` of the file's columns.
    cleaner: Any = None
    #: The group of each row and its time, if they were named; neither is among the columns.
    groups: Any = None
    time: Any = None
    #: How times are written, see `time_numbers`.
    time_format: str | None = None
    #: The rows, if they are read one partition at a time: ``X`` is then a sample of them.
    source: Any = None
    #: Which of those rows have a class.
    known: Any = None

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


def read(path: Path, target: str | None, *, encoding: str | None = None, **options: Any) -> Task:
    """Read a CSV or Parquet file, and make a task of it with the options of `make_task`."""
    from metasampler.datasets import read_table

    with blaming("FILE", ImportError, OSError, ValueError):
        frame = read_table(path, encoding=encoding)
    is_text = not path.name.lower().endswith((".parquet", ".pq"))
    return make_task(frame, path.name, target, is_text=is_text, **options)


def make_task(
    frame: Any,
    name: str,
    target: str | None,
    labels: tuple | None = None,
    *,
    drop: Iterable[str] | None = None,
    keep: Iterable[str] | None = None,
    positive: str | None = None,
    group: str | None = None,
    time: str | None = None,
    dates: str = "auto",
    text: str = "topics",
    is_text: bool = False,
) -> Task:
    """Split off the target of a table, and leave out what is not to be learned.

    ``labels`` are the positions of all rows in the classes, and the classes, if the table is a
    sample of the rows. ``is_text`` says whether the table is that of a text file.
    """
    import pandas as pd

    from metasampler.datasets import near_matches, split_target
    from metasampler.tables import TableCleaner

    frame.columns = [str(column) for column in frame.columns]
    with blaming("--target", ValueError):
        table, column = split_target(frame, target, name)
    if labels is None:
        known = rows_with_class(column, column.name)
        table, column = table[known], column[known]
        if is_text and not known.all():
            # A cell of a row that is left out, such as "Total", must not decide about the others.
            table = _read_again(table)
            column = _read_again(column.to_frame())[column.name]
        labels_of = encode_target(column, column.name)
    else:
        labels_of = labels
    y, classes = labels_of
    table, more = _split_off(table, name, group, time, dates)
    dropped, kept = split_names(drop, frame.columns), split_names(keep, frame.columns)
    for option, names in (("--drop", dropped), ("--keep", kept)):
        for unknown in names:
            if unknown not in table:
                near = near_matches(unknown, table)
                raise typer.BadParameter(
                    f"{name} has no column {unknown!r}.{near}", param_hint=option
                )
    shown = [str(label) for label in classes]
    # A sample of the table has only some rows of y.
    asked = y if labels is None else pd.Index(classes).get_indexer(np.asarray(column, dtype=object))
    if positive is not None:
        # Leaks and copies are those of the question that is asked.
        asked = asked == _position(shown, positive)
    with blaming("FILE", TypeError, ValueError):
        cleaner = TableCleaner(keep=kept, drop=dropped, dates=dates, text=text).fit(table, asked)
    if group is not None:
        cleaner.report_ = cleaner.report_.with_groups_known()
    # A column of texts and numbers may hold only numbers in the rows of one fold.
    texts = [name for name, kind in cleaner.kinds_.items() if kind == "category"]
    texts += list(cleaner.derived_)
    X = cleaner.transform(table).astype(dict.fromkeys(texts, "category"))
    task = Task(name, X, y, shown, 0, np.asarray(classes), cleaner, **more)
    return replace(task, positive=task.smallest)


def _read_again(frame: Any) -> Any:
    """Return rows of a text file as they are read if the file has no others.

    Texts that are numbers or booleans without the other rows become these.
    """
    import pandas as pd

    def read(column: Any) -> Any:
        file = StringIO(column.to_csv(index=False, header=False))
        options: Any = {"header": None, "skip_blank_lines": False, "low_memory": False}
        return pd.read_csv(file, **options)[0].set_axis(column.index)

    changed = {}
    for name, column in frame.items():
        texts = column.dropna()
        if column.dtype.kind in "biufcmM" or not len(texts):
            continue
        # The first values show that a column holds names.
        if not pd.api.types.is_numeric_dtype(read(texts[:200])):
            continue
        again = read(column)
        # Booleans beside missing values are objects.
        if again.dtype.kind in "biuf" or again.map(type).isin([bool, float]).all():
            changed[name] = again
    return frame.assign(**changed)


def _split_off(
    table: Any, name: str, group: str | None, time: str | None, dates: str
) -> tuple[Any, dict]:
    """Split off the columns of groups and times, which are not learned from."""
    from metasampler.datasets import near_matches
    from metasampler.tables import time_numbers

    found: dict[str, Any] = {}
    for option, column in (("--group", group), ("--time", time)):
        if column is None:
            continue
        if column not in table:
            near = near_matches(column, table)
            raise typer.BadParameter(f"{name} has no column {column!r}.{near}", param_hint=option)
        values = table[column]
        if option == "--time":
            with blaming(option, ValueError):
                times = time_numbers(values, f"column {column!r}", dates=dates)
            found |= {"time": times.numbers, "time_format": times.kind}
        else:
            n_missing = int(values.isna().sum())
            if n_missing:
                raise typer.BadParameter(
                    f"column {column!r} has no value in {n_missing:,} of {len(values):,} rows: "
                    "fill or remove these rows first.",
                    param_hint=option,
                )
            found["groups"] = values.to_numpy()
    return table.drop(columns=[each for each in (group, time) if each is not None]), found


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
        more = f", ... ({len(labels)} in all)" if len(labels) > 12 else ""
        raise typer.BadParameter(
            f"no class {positive!r}. Classes: {', '.join(labels[:12])}{more}.",
            param_hint="--positive",
        )
    return matches[0]


def check_classes(task: Task, folds: int) -> None:
    """Refuse a task that has too few classes, or too few rows of one for the folds."""
    label, rows = task.labels[task.smallest], int(task.counts[task.smallest])
    option = "--target"
    if len(task.labels) < 2:
        wrong = f"only one class, {label!r}: there is nothing to tell apart."
    elif rows < 2:
        wrong = f"class {label!r} has 1 row: cross-validation needs at least 2, better 10 or more."
    elif rows < folds:
        wrong = f"class {label!r} has {rows} rows, fewer than the {folds} folds: "
        wrong += f"set --folds {rows} or less."
        option = "--folds"
    else:
        return
    raise typer.BadParameter(wrong, param_hint=option)


def has_class(column: Any) -> Any:
    """Return which rows have a class: one of blanks alone is none."""
    known = column.notna()
    if column.dtype.kind in "biufcmM":
        return known
    return known & (column.map(str).str.strip() != "")


def rows_with_class(column: Any, name: Any) -> Any:
    """Return which rows have a class; the others are left out, with a note."""
    known = has_class(column)
    n_missing = int((~known).sum())
    if n_missing == len(known):
        raise typer.BadParameter(
            f"column {name!r} has no value in any of {len(known):,} rows.", param_hint="--target"
        )
    if n_missing:
        have = "has" if n_missing == 1 else "have"
        # In files some words stand for no value.
        words = "" if column.dtype.kind in "biufcmM" else " None, NA and null are no classes."
        warn_user(
            f"{n_missing:,} of {len(known):,} rows {have} no class in {name!r}, and "
            f"{'is' if n_missing == 1 else 'are'} left out.{words}"
        )
    return known


@blaming("--target", ValueError)
def encode_target(column: Any, name: str) -> tuple[NDArray[np.intp], Any]:
    """Return the class of each row as a position, and the classes in their order."""
    import pandas as pd

    # Beside rows without a class, booleans and numbers are objects.
    column = column.infer_objects()
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.to_numpy(dtype=float)
        if np.isinf(values).any():
            raise ValueError(
                f"column {name!r} holds infinity in {int(np.isinf(values).sum())} of {len(column)} "
                "rows, which is not a class: mend or remove these rows first."
            )
        whole = bool(np.all(values == np.round(values)))
        distinct = len(np.unique(values))
        if distinct > (MOST_NUMERIC_CLASSES if whole else MOST_FRACTIONAL_CLASSES):
            raise ValueError(
                f"column {name!r} has {distinct} distinct numbers: this looks like a quantity "
                "(regression) or an identifier, not a class."
            )
        if whole:  # labels read 1, not 1.0
            column = column.astype("int64")
    codes, classes = pd.factorize(column, sort=True)
    if any(isinstance(label, int) and abs(label) >= 2**63 for label in classes.tolist()):
        # No array of integers holds them: they are names.
        classes = classes.astype(str)
    # Texts stay Python's, so that they have no length.
    kind = None if getattr(classes.dtype, "kind", "O") in "biu" else object
    return codes.astype(np.intp), np.array(classes.tolist(), dtype=kind)
