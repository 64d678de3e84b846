"""Column sense: what a table holds that should not be learned from, found before a fit.

Six things are looked for. An *identifier* has its own value in nearly every row, and a *constant*
has one value: both say nothing of new rows. A column that *repeats the target* says everything,
and so does one that *may give it away* (a leak). A *date* grows: new rows lie beyond all that was
seen. A *number as text*, such as a price, can be read.
"""

import re
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

import numpy as np

from metasampler.tables._columns import (
    column_kind,
    columns_of,
    first_value,
    is_empty,
    is_frame,
    is_missing,
    numbers_of,
    texts_of,
)
from metasampler.tables._dates import days_of_texts, find_date_format
from metasampler.tables._numbers import find_number_format, numbers_of_texts

__all__ = ["ColumnFacts", "ColumnReport", "inspect_columns"]

# With fewer rows all values of a number may differ by chance.
_FEWEST_ROWS = 50

# Parts of the rows with a value of their own.
_NEARLY_ALL, _MOST_TEXTS, _HALF = 0.99, 0.95, 0.5

# The average precision from which a column alone is named as a possible leak. The highest of a
# column of the 46 real tables is .65; of a copy of the target with a hundredth of the labels
# changed it is .82 where one row in twenty is of the rarest class (`benchmarks/columns.py`).
_LEAK = 0.8

# A target with more classes is not compared with columns of numbers.
_MOST_CLASSES = 100

# Rows that the search for leaks looks at, and bins of a number.
_MOST_POSITIVES, _MOST_OTHERS, _BINS = 5_000, 20_000, 64

_ID_NAME = re.compile(r"(^|[\W_])(id|ids|uuid|guid|key|pk)$|[a-z]I[dD]$|^(id|uuid|guid)[\W_]", re.I)
_NUMBER_NAME = re.compile(r"(no|nr|num|nbr|number|index|ref|reference|serial|unnamed: \d+)$", re.I)


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of one column.

    Attributes
    ----------
    name : object
        The column's name.
    kind : {"number", "category", "date", "empty", "other"}
        What it holds. Texts that are dates, or numbers with units, count as these.
    distinct : int
        Number of distinct values.
    missing : float
        Part of the rows without a value.
    finding : str
        ``"identifier"``, ``"constant"``, ``"empty"``, ``"repeats the target"``,
        ``"possible leak"``, ``"date"``, ``"number as text"``, ``"no table value"``, or ``""``.
    action : {"used", "left out", "warned", "encoded"}
        What is done about it.
    why : str
        One sentence.
    date_format, number_format : str or None
        How a date or a number is written, if it is a text.
    """

    name: Any
    kind: str
    distinct: int
    missing: float
    finding: str = ""
    action: str = "used"
    why: str = ""
    date_format: str | None = None
    number_format: str | None = None


class ColumnReport:
    """What was found in a table; `print` it, or take its ``columns``.

    Parameters
    ----------
    columns : list of ColumnFacts
        All columns, in the order of the table.
    n_rows : int
        Rows of the table.
    """

    def __init__(self, columns: list[ColumnFacts], n_rows: int):
        self.columns = columns
        self.n_rows = n_rows

    @property
    def left_out(self) -> dict[Any, str]:
        """The columns that are left out, with the reason."""
        return {each.name: each.why for each in self.columns if each.action == "left out"}

    @property
    def warned(self) -> dict[Any, str]:
        """The columns that are used and should be looked at, with the reason."""
        return {each.name: each.why for each in self.columns if each.action == "warned"}

    @property
    def rows(self) -> list[dict]:
        """One dict a column, for a data frame or JSON."""
        return [vars(each) for each in self.columns]

    def describe_kinds(self) -> str:
        """Return how many columns there are of each kind, as half a sentence."""
        words = {
            "number": ("number", "numbers"),
            "category": ("category", "categories"),
            "date": ("date", "dates"),
            "empty": ("empty", "empty"),
            "other": ("of another kind", "of another kind"),
        }
        parts = []
        for kind, (one, many) in words.items():
            count = sum(each.kind == kind for each in self.columns)
            if count:
                parts.append(f"{count:,} {one if count == 1 else many}")
        return ", ".join(parts)

    def __str__(self):
        found = [each for each in self.columns if each.finding]
        gaps = sum(each.missing > 0 for each in self.columns)
        line = (
            f"{self.n_rows:,} rows, {len(self.columns):,} columns ({self.describe_kinds()}); "
            f"{gaps:,} with missing values."
        )
        if not found:
            return f"{line} Nothing odd was found.\n"
        # rich draws the table, and is imported only here.
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
        for name in ("column", "finding", "action", "why"):
            table.add_column(name, overflow="fold")
        for each in found:
            table.add_row(*map(Text, (str(each.name), each.finding, each.action, each.why)))
        stream = StringIO()
        console = Console(file=stream, width=110, color_system=None)
        console.print(line, soft_wrap=True, markup=False, highlight=False)
        console.print(table)
        return stream.getvalue()

    __repr__ = __str__


def inspect_columns(frame, target=None, *, keep=()) -> ColumnReport:
    """Find the columns of a table that a model should not learn from.

    Parameters
    ----------
    frame : data frame (pandas or polars)
        The table.
    target : column name or array-like, default=None
        The column to predict, or its values if it is not in the frame. Without it no column that
        gives the target away can be found. Rows without a class are left out of that search.
    keep : sequence of column names, default=()
        Columns to use in any case.

    Returns
    -------
    report : ColumnReport
        Prints as a table of what was found:

        - *identifiers*, with another value in nearly every row: texts, and whole numbers that count
          up, are spread evenly or have the name of an identifier; left out;
        - *constants* and *empty* columns: left out;
        - columns that *repeat the target*, also with other names for the classes: left out;
        - *possible leaks*, single columns that nearly give the rarest class away: used, with a
          warning. Ask whether you know their values when you have to decide;
        - *dates*, also those written as texts: encoded as days since 1970;
        - *numbers* that are written as texts, as prices are: read as numbers;
        - columns that hold neither numbers, dates nor texts: left out.

    See Also
    --------
    TableCleaner : Does what the report says, in a pipeline.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from metasampler.tables import inspect_columns
    >>> rng = np.random.default_rng(0)
    >>> bad = rng.random(1000) < 0.1
    >>> frame = pd.DataFrame({
    ...     "order_id": np.arange(1000), "amount": rng.lognormal(size=1000),
    ...     "currency": "EUR", "refunded": np.where(bad, "yes", "no"), "bad": bad,
    ... })
    >>> report = inspect_columns(frame, "bad")
    >>> list(report.left_out)
    ['order_id', 'currency', 'refunded']
    """
    if not is_frame(frame):
        raise TypeError(f"frame must be a data frame; got {type(frame).__name__}.")
    columns = columns_of(frame)
    labels = None
    if target is not None:
        if isinstance(target, str) or (not hasattr(target, "__len__") and target in columns):
            if target not in columns:
                raise ValueError(f"target={target!r} is no column of the frame.")
            target = columns.pop(target)
        labels = _Labels(target)
        if labels.n_rows != frame.shape[0]:
            raise ValueError(
                f"target has {labels.n_rows} values, and the frame {frame.shape[0]} rows."
            )
    if isinstance(keep, str):
        raise ValueError(f"keep must be a list of columns, got {keep!r}.")
    unknown = [name for name in keep if name not in columns]
    if unknown:
        raise ValueError(f"keep names columns that there are not: {unknown[:10]}.")
    found = [_facts_of(name, column, labels, name in keep) for name, column in columns.items()]
    return ColumnReport(found, frame.shape[0])


class _Labels:
    """The classes of the rows, and the rows by which leaks are looked for.

    Rows without a class are not looked at: ``known`` says which have one.
    """

    def __init__(self, target):
        values = target.to_list() if hasattr(target, "to_list") else np.asarray(target).tolist()
        if not isinstance(values, list) or any(isinstance(v, (list, dict, set)) for v in values):
            raise ValueError(
                f"target must hold one class a row, got {type(target).__name__} of "
                f"{str(values)[:60]}."
            )
        self.n_rows = len(values)
        self.known = np.array([not is_missing(value) for value in values], dtype=bool)
        if not self.known.any():
            raise ValueError(f"target has no class in any of {self.n_rows} rows.")
        codes: dict = {}
        classes = [value for value in values if not is_missing(value)]
        self.codes = np.array([codes.setdefault(value, len(codes)) for value in classes])
        self.n_classes = len(codes)
        counts = np.bincount(self.codes)
        self.positive = self.codes == np.argmin(counts)
        # All rows would only cost time; weights keep the shares of the classes.
        rng = np.random.default_rng(0)
        parts, weights = [], []
        limits = ((self.positive, _MOST_POSITIVES), (~self.positive, _MOST_OTHERS))
        for chosen, most in limits:
            rows = np.flatnonzero(chosen)
            some = rng.choice(rows, most, replace=False) if len(rows) > most else rows
            parts.append(some)
            weights.append(np.full(len(some), len(rows) / max(1, len(some))))
        self.rows = np.concatenate(parts)
        self.weights = np.concatenate(weights)
        self.half = rng.random(len(self.rows)) < 0.5


def _facts_of(name, column, labels: _Labels | None, keep: bool) -> ColumnFacts:
    """Look at one column, and heed that it is to be kept."""
    facts = _look(name, column, labels)
    if not keep or facts.action not in ("left out", "warned"):
        return facts
    if facts.kind == "other":
        raise ValueError(f"keep names {name!r}, which cannot be used. {facts.why}")
    return replace(facts, action="used", why=f"{facts.why} Kept, as asked.")


def _look(name, column, labels: _Labels | None) -> ColumnFacts:
    """Say what a column is."""
    kind = "empty" if is_empty(column) else column_kind(column)
    if kind == "empty":
        return ColumnFacts(name, kind, 0, 1.0, "empty", "left out", "It has no values.")
    if kind == "other":
        why = f"It holds neither numbers, dates nor texts: {str(first_value(column))[:40]!r}."
        return ColumnFacts(name, kind, 0, 0.0, "no table value", "left out", why)
    date_format = number_format = None
    if kind == "category":
        levels, codes = _used(*texts_of(column))
        date_format = find_date_format(levels)
        number_format = None if date_format else find_number_format(levels)
        if date_format:
            kind = "date"
            values = days_of_texts(levels, codes, date_format)
        elif number_format:
            kind, example = "number", levels[0]
            values = numbers_of_texts(levels, codes, number_format)
    else:
        values = numbers_of(column, kind)
    if kind != "category":
        values = np.where(np.isfinite(values), values, np.nan)
        known = ~np.isnan(values)
        levels = np.unique(values[known])
        # Which one a row has matters only where values could be classes; sorting is costly.
        places = np.searchsorted(levels, values) if len(levels) <= _MOST_CLASSES else 0
        codes = np.where(known, places, -1)
    missing = float(np.mean(codes < 0))
    facts = ColumnFacts(
        name,
        kind,
        len(levels),
        missing,
        date_format=date_format,
        number_format=number_format,
    )

    def found(finding: str, action: str, why: str) -> ColumnFacts:
        return replace(facts, finding=finding, action=action, why=why)

    if len(levels) == 0:
        return found("empty", "left out", "It has no finite values.")
    if len(levels) == 1 and missing == 0:
        shown = levels[0] if kind == "category" else f"{levels[0]:g}"
        return found("constant", "left out", f"It is {str(shown)[:40]!r} in every row.")
    if labels is not None and _repeats(codes[labels.known], len(levels), labels):
        return found(
            "repeats the target", "left out", "Each of its values belongs to one class alone."
        )
    if kind != "date":
        reason = _identifier(name, kind, codes, levels)
        if reason:
            return found("identifier", "left out", reason)
    if labels is not None:
        numbers = values[labels.known] if kind != "category" else None
        score = _leak(codes[labels.known], numbers, labels)
        if score >= _LEAK:
            return found(
                "possible leak",
                "warned",
                f"Alone it has an average precision of {score:.3f} for the rarest class. Is it "
                "known before the class is?",
            )
    if kind == "date":
        how = f" from texts ({date_format})" if date_format else ""
        return found(
            "date",
            "encoded",
            f"Days since 1970{how}. New rows will have later dates than these: drop it unless "
            "time itself matters.",
        )
    if number_format:
        why = f"Read as numbers like {number_format}, for instance {str(example)[:40]!r}."
        return found("number as text", "encoded", why)
    return facts


def _used(levels: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the levels that some row has: a type of categories may know others."""
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    # The last entry is for missing values, whose code is -1.
    places = np.append(np.cumsum(counts > 0) - 1, -1)
    return levels[counts > 0], places[codes]


def _repeats(codes: np.ndarray, n_levels: int, labels: _Labels) -> bool:
    """Return whether values and classes are the same under other names."""
    known = codes >= 0
    if not labels.n_classes <= n_levels <= _MOST_CLASSES:
        return False
    if known.sum() < min(_FEWEST_ROWS, len(codes)):
        return False
    # Levels that only rows without a class have do not count.
    n_levels = int(np.count_nonzero(np.bincount(codes[known])))
    pairs = np.unique(codes[known] * labels.n_classes + labels.codes[known])
    classes = np.unique(pairs % labels.n_classes)
    return len(pairs) == n_levels == len(classes)


def _identifier(name, kind: str, codes: np.ndarray, levels: np.ndarray) -> str:
    """Return why a column is an identifier; empty if it is none."""
    n_known = int((codes >= 0).sum())
    if n_known < _FEWEST_ROWS:
        return ""
    share = len(levels) / n_known
    if kind == "category":
        named = bool(_ID_NAME.search(str(name)))
        if share < (_HALF if named else _MOST_TEXTS):
            return ""
        return f"{len(levels):,} different texts in {n_known:,} rows."
    # Numbers with fractions nearly always differ, and are measured, not given.
    if share < _HALF or not np.all(levels == np.round(levels)):
        return ""
    said = f"{len(levels):,} different whole numbers in {n_known:,} rows"
    if _ID_NAME.search(str(name)):
        return f"{said}, and it is named as one."
    if share < _NEARLY_ALL:
        return ""
    if _NUMBER_NAME.search(str(name)):
        return f"{said}, and it is named as one."
    span = levels[-1] - levels[0] + 1
    if span <= 2 * n_known:
        return f"{said}, counted from {levels[0]:.0f} to {levels[-1]:.0f}."
    # Numbers that are given out lie evenly; those that are measured heap up somewhere.
    even = (np.arange(1, len(levels) + 1) - 0.5) / len(levels)
    distance = np.abs((levels - levels[0]) / span - even).max()
    if distance < 1.36 / np.sqrt(len(levels)):
        return f"{said}, spread evenly."
    return ""


def _leak(codes: np.ndarray, values: np.ndarray | None, labels: _Labels) -> float:
    """Return the average precision of a column alone, for the rarest class."""
    positive = labels.positive[labels.rows]
    codes = codes[labels.rows] + 1
    scores = []
    if values is not None:
        values = values[labels.rows]
        if np.isnan(values).all():
            return 0.0  # only rows without a class have a value
        codes = _bins_of(values, positive)
        # Missing values are the lowest bin: to be filled in at all may give the class away.
        numbers = np.arange(codes.max() + 1, dtype=float)
        scores = [
            _average_precision(direction * numbers, codes, positive, labels.weights)
            for direction in (1, -1)
        ]
    size = int(codes.max()) + 1
    prior = positive.mean()
    judged_by_others = []
    for judged in (labels.half, ~labels.half):
        if not positive[judged].any():
            return max(scores, default=0.0)
        others = ~judged
        hits = np.bincount(codes[others], positive[others], size)
        shares = (hits + prior) / (np.bincount(codes[others], minlength=size) + 1)
        judged_by_others.append(
            _average_precision(shares, codes[judged], positive[judged], labels.weights[judged])
        )
    return max([*scores, float(np.mean(judged_by_others))])


def _bins_of(values: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return a bin for each number, 0 if it is missing; fine where the rarest class is."""
    shares = np.linspace(0, 1, _BINS + 1)[1:-1]
    known = ~np.isnan(values)
    groups = [values[known], values[known & positive]]
    # Of halves: the difference of the largest numbers is too large for a float.
    edges = 2 * np.unique(np.concatenate([np.quantile(g / 2, shares) for g in groups if len(g)]))
    return np.where(known, np.searchsorted(edges, values, side="left") + 1, 0)


def _average_precision(scores, codes, positive, weights) -> float:
    """Return the average precision of rows whose score is that of their bin."""
    _, place = np.unique(-scores, return_inverse=True)
    rows = place[codes]
    hits = np.bincount(rows, weights * positive)
    total = np.bincount(rows, weights)
    called = np.cumsum(total)
    precision = np.cumsum(hits) / np.where(called > 0, called, 1)
    return float(hits @ precision / hits.sum())
