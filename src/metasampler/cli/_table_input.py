"""From a file, or the bundled digits, to a task that can be cross-validated."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

CSV_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
PARQUET_SUFFIXES = (".parquet", ".pq")
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

    encoder : ColumnTransformer or None
        Unfitted; turns ``X`` into numbers. None where it already is numbers.
    """

    name: str
    X: Any
    y: NDArray[np.intp]
    labels: list[str]
    positive: int
    encoder: Any = None

    @property
    def counts(self) -> NDArray[np.intp]:
        """Rows of each class."""
        return np.bincount(self.y, minlength=len(self.labels))

    @property
    def smallest(self) -> int:
        """The class with fewest rows; of equally small ones the last, as 1 is of 0 and 1."""
        return len(self.labels) - 1 - int(np.argmin(self.counts[::-1]))


def bundled() -> Task:
    """Digits with a rare 8."""
    from metasampler.datasets import make_imbalanced_digits

    X, y = make_imbalanced_digits()
    return Task("scikit-learn's digits, 8 made rare", X, y, ["other digits", "8"], positive=1)


def read(path: Path, target: str | None) -> Task:
    """Read a CSV or Parquet file and split off the target column."""
    frame = _read_frame(path)
    columns = [str(column) for column in frame.columns]
    frame.columns = columns
    if target is None:
        raise typer.BadParameter(
            f"name the column to predict. Columns: {_shorten(columns)}.", param_hint="--target"
        )
    if target not in columns:
        near = difflib.get_close_matches(target, columns, n=3) or [
            column for column in columns if column.casefold() == target.casefold()
        ]
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise typer.BadParameter(
            f"no column {target!r} in {path.name}. {hint or f'Columns: {_shorten(columns)}.'}",
            param_hint="--target",
        )
    if len(columns) == 1:
        raise typer.BadParameter(
            f"{path.name} has no column besides {target!r}.", param_hint="--target"
        )
    y, labels = _encode_target(frame[target], target)
    X, encoder = _prepare_columns(frame.drop(columns=target))
    task = Task(path.name, X, y, labels, positive=0, encoder=encoder)
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


def _read_frame(path: Path) -> Any:
    name = path.name.lower()
    separator = next((s for end, s in CSV_SEPARATORS.items() if name.endswith(end)), None)
    if separator is None and not name.endswith(PARQUET_SUFFIXES):
        allowed = ", ".join((*CSV_SEPARATORS, *PARQUET_SUFFIXES))
        raise typer.BadParameter(f"{path.name!r} must end in {allowed}.", param_hint="FILE")
    if not path.is_file():
        raise typer.BadParameter(f"no file {str(path)!r}.", param_hint="FILE")
    try:
        import pandas as pd

        frame = pd.read_parquet(path) if separator is None else pd.read_csv(path, sep=separator)
    except ImportError as error:
        raise typer.BadParameter(
            'reading files needs pandas and pyarrow: pip install "metasampler[data]"',
            param_hint="FILE",
        ) from error
    except (ValueError, OSError) as error:  # pandas' parser errors and pyarrow's are ValueErrors
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise typer.BadParameter(
            f"{path.name} cannot be read: {reason}", param_hint="FILE"
        ) from error
    if frame.empty:
        raise typer.BadParameter(f"{path.name} has no rows.", param_hint="FILE")
    return frame


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


def _prepare_columns(frame: Any) -> tuple[Any, Any]:
    """Plain dtypes, and the transformer that makes numbers of them within each fold."""
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OrdinalEncoder

    types = pd.api.types
    plain, numeric = {}, []
    for name, column in frame.items():
        if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
            values = column.to_numpy(dtype=float, na_value=np.nan)
        elif types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
            ticks = column.to_numpy(dtype="int64", na_value=0).astype(float)
            values = np.where(column.isna(), np.nan, ticks)
        else:
            # Strings of what is there, so that mixed columns sort; None where nothing is.
            texts = column.astype(object).map(str, na_action="ignore")
            plain[name] = texts.where(column.notna(), None).astype(object)
            continue
        # scikit-learn takes no infinities: they count as missing.
        plain[name] = np.where(np.isfinite(values), values, np.nan)
        numeric.append(name)
    X = pd.DataFrame(plain, index=frame.index)
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    )
    others = [name for name in X.columns if name not in numeric]
    encoder = ColumnTransformer(
        [
            ("numeric", SimpleImputer(strategy="median", keep_empty_features=True), numeric),
            ("categorical", codes, others),
        ]
    )
    return X, encoder


def _shorten(names: list[str], most: int = 12) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
