"""Tables of the user, from a file or a data frame."""

import difflib
from collections.abc import Collection, Iterable
from os import PathLike
from typing import Any

from metasampler.datasets._files import TableFile


def read_table(
    path: str | PathLike[str], *, texts: Collection[str] = (), encoding: str | None = None
) -> Any:
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of `TableFile.suffixes`. Texts may be separated by commas,
        semicolons or tabs, and packed by gzip, bzip2, xz, zip or Zstandard.
    texts : collection of str, default=()
        Columns of a text file that are read as texts, also if all of them look like numbers.
    encoding : str, default=None
        The encoding of a text file. None finds it: by a mark at the beginning (UTF-8, UTF-16,
        UTF-32), or UTF-8 if all of it is; any other file is read as Windows-1252, which includes
        the letters of Latin-1, with a warning.

    Returns
    -------
    frame : pandas DataFrame
        The table, with at least one row.

    See Also
    --------
    iterate_table : A file that is larger than the memory.
    """
    file = TableFile(path, encoding=encoding)
    frame = file.read(texts=texts)
    if frame.empty:
        raise ValueError(f"{file.name} has no rows.")
    return frame


def split_target(frame: Any, target: Any, what: str = "The table") -> tuple[Any, Any]:
    """Split the column to predict off a table.

    Parameters
    ----------
    frame : data frame (pandas or polars)
        The table, which stays as it is.
    target : column name or None
        The column to predict. None is an error that lists the columns.
    what : str, default="The table"
        The table's name in error messages.

    Returns
    -------
    X : data frame
        The other columns.
    y : series
        The column to predict.

    Examples
    --------
    >>> import pandas as pd
    >>> from metasampler.datasets import split_target
    >>> frame = pd.DataFrame({"amount": [3.0, 9.5, 4.1], "fraud": ["no", "yes", "no"]})
    >>> X, y = split_target(frame, "fraud")
    >>> list(X), list(y)
    (['amount'], ['no', 'yes', 'no'])
    """
    columns = list(frame.columns)
    more = f", ... ({len(columns)} in all)" if len(columns) > 12 else ""
    shown = ", ".join(map(str, columns[:12])) + more
    if target is None:
        raise ValueError(f"Give target, the column of {what} to predict. Columns: {shown}.")
    if columns.count(target) != 1:
        how_many = "several columns" if target in columns else "no column"
        raise ValueError(
            f"{what} has {how_many} {target!r}.{near_matches(target, columns)} Columns: {shown}."
        )
    if len(columns) == 1:
        raise ValueError(f"{what} has no column besides {target!r}.")
    if type(frame).__module__.startswith("polars"):
        return frame.drop(target), frame[target]
    return frame.drop(columns=target), frame[target]


def near_matches(wanted: Any, known: Iterable[Any]) -> str:
    """Return a sentence with the names most like the wanted one, after a space; "" if none is."""
    by_folded = {str(name).casefold(): name for name in known}
    near = difflib.get_close_matches(str(wanted).casefold(), by_folded, n=3)
    if not near:
        return ""
    return f" Did you mean {' or '.join(repr(by_folded[name]) for name in near)}?"
