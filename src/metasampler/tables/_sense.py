"""Column sense: what a table holds that should not be learned from, found before a fit.

Eight things are looked for. An *identifier* has its own value in nearly every row, and a *constant*
has one value: both say nothing of new rows. A column that *repeats the target* says everything,
and so does one that *may give it away* (a leak). A *date* grows: new rows lie beyond all that was
seen. A *number as text*, such as a price, can be read. *Free text* is more than a name. Rows of one
*entity*, and rows that repeat, make a model look better than it is for new entities.
"""

import re
import shutil
import sys
from collections.abc import Iterator
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
from metasampler.tables._dates import (
    CLOCK,
    DATE_ORDERS,
    PACKED_NOTHING,
    PARTS,
    are_clocks,
    are_nearly_dates,
    begin_with_dates,
    days_of_clocks,
    days_of_counts,
    days_of_texts,
    find_count_format,
    find_date_format,
    find_packed_format,
    parts_of,
)
from metasampler.tables._dependence import find_dependence
from metasampler.tables._frames import as_table
from metasampler.tables._numbers import (
    NumberFormat,
    Separators,
    are_nearly_numbers,
    currencies_of_texts,
    find_number_format,
    numbers_of_texts,
    unit_of_texts,
)
from metasampler.tables._text import is_free_text, words_a_text
from metasampler.tables._unread import Slips

__all__ = ["ColumnFacts", "ColumnReport", "inspect_columns"]

# With fewer rows all values of a number may differ by chance.
_FEWEST_ROWS = 50

# Shares of the rows with a value of their own.
_NEARLY_ALL, _MOST_TEXTS, _HALF = 0.99, 0.95, 0.5

# The average precision from which a column alone is named as a possible leak. The highest of a
# column of the 46 real tables is .65; of a copy of the target with a hundredth of the labels
# changed it is .82 where one row in twenty is of the rarest class (`benchmarks/columns.py`).
_LEAK = 0.8

# A report has at most this many lines for columns.
_MOST_LINES = 30
_WIDTH, _LEAST_WIDTH = 110, 72

# Whole numbers that all differ and lie this close may count something.
_LIE_APART = 10

# A target with more classes is not compared with columns of numbers.
_MOST_CLASSES = 100

# Rows that the search for leaks looks at, and bins of a number.
_MOST_POSITIVES, _MOST_OTHERS, _BINS = 5_000, 20_000, 64

_ID_NAME = re.compile(r"(^|[\W_])(id|ids|uuid|guid|key|pk)$|[a-z]I[dD]$|^(id|uuid|guid)[\W_]", re.I)
_TIME_NAME = re.compile(
    r"time|date|stamp|epoch|(^|[\W_])(ts|at|when|due|dob|born|created|since|until)([\W_]|$)",
    re.I,
)
_NUMBER_NAME = re.compile(
    r"((?i:(^|[\W_])(no|nr|num|nbr|ref|index|idx))|[a-z](No|Nr|Num|Nbr|Ref|Index)"
    r"|(?i:number|reference|serial|unnamed: \d+)"
    r"|^(?i:(order|invoice|customer|client|account|case|claim|ticket|policy|row)(no|nr|num|ref)))$"
)


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of one column.

    Attributes
    ----------
    name : object
        The column's name.
    kind : {"number", "category", "date", "duration", "text", "empty", "other"}
        What it holds. Texts that are dates, or numbers with units, count as these.
    distinct : int
        Number of distinct values.
    missing : float
        Share of the rows without a value.
    finding : str
        ``"identifier"``, ``"constant"``, ``"empty"``, ``"repeats the target"``,
        ``"possible leak"``, ``"date"``, ``"date, order unclear"``, ``"number as text"``,
        ``"time as text"``, ``"amounts"`` (in several currencies), ``"nearly numbers"``,
        ``"nearly dates"``, ``"free text"``, ``"no table value"``,
        ``"entity"`` (that several rows are of), ``"date, classes change"``, or ``""``.
    action : {"used", "left out", "warned", "encoded"}
        What is done about it.
    why : str
        What it becomes, and the reason.
    date_format, number_format : str or None
        How a date, a time of day or a number is written, if it is a text. Also what is counted, if
        a date is written as a number: ``"seconds since 1970"``.
    currencies : tuple of str
        The currencies of its amounts.
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
    currencies: tuple[str, ...] = ()


class ColumnReport:
    """What was found in a table; `print` it, or take its ``columns``.

    Parameters
    ----------
    columns : list of ColumnFacts
        All columns, in the order of the table.
    n_rows : int
        Rows of the table.
    repeats : str, default=""
        Why rows seem to be copies, or of the same entity; empty if they do not.
    """

    def __init__(self, columns: list[ColumnFacts], n_rows: int, repeats: str = ""):
        self.columns = columns
        self.n_rows = n_rows
        self.repeats = repeats

    @property
    def left_out(self) -> dict[Any, str]:
        """The columns that are left out, with the reason."""
        return {each.name: each.why for each in self.columns if each.action == "left out"}

    @property
    def warned(self) -> dict[Any, str]:
        """The columns that are used and should be looked at, with the reason."""
        return {each.name: each.why for each in self.columns if each.action == "warned"}

    def with_groups_known(self) -> "ColumnReport":
        """Return the report without what groups are the answer to, as they are passed."""
        columns = [
            replace(each, finding="", action="used", why=_BECOMES.get(each.kind, ""))
            if each.finding == "entity"
            else each
            for each in self.columns
        ]
        return ColumnReport(columns, self.n_rows)

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
            "duration": ("duration", "durations"),
            "text": ("free text", "free texts"),
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
        # rich draws the table, and is imported only here.
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        width = _width_of_screen()
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
        is_wide = width >= _WIDTH
        table.add_column("column", overflow="fold", max_width=None if is_wide else 20)
        for name in ("holds", "finding", "action") if is_wide else ("finding",):
            table.add_column(name, overflow="fold")
        table.add_column("why", overflow="fold")
        for name, holds, finding, action, why in self._lines(found):
            # On a narrow screen the reason needs the room.
            short = ": ".join(filter(None, [action, finding or holds]))
            facts = (holds, finding, action) if is_wide else (short,)
            table.add_row(*map(Text, (name, *facts, why)))
        stream = StringIO()
        console = Console(file=stream, width=width, color_system=None)
        odd = "" if found or self.repeats else " Nothing odd was found."
        console.print(f"{line}{odd}", soft_wrap=True, markup=False, highlight=False)
        console.print(table)
        if self.repeats:
            console.print(self.repeats, markup=False, highlight=False)
        return stream.getvalue()

    def _lines(self, found: list[ColumnFacts]) -> list[tuple[str, ...]]:
        """Return the lines of the table: columns with a finding first, many others together."""
        lines = [_line([each], each.why) for each in found[:_MOST_LINES]]
        if len(found) > _MOST_LINES:
            rest = found[_MOST_LINES:]
            lines.append((f"{len(rest):,} more", "", "", "", "See the report's `columns`."))
        others = [each for each in self.columns if not each.finding]
        if len(found) + len(others) <= _MOST_LINES:
            return lines + [_line([each], each.why) for each in others]
        of_kind: dict[str, list[ColumnFacts]] = {}
        for each in others:
            of_kind.setdefault(each.kind, []).append(each)
        return lines + [_line(each, _BECOMES[kind]) for kind, each in of_kind.items()]

    __repr__ = __str__


def _width_of_screen() -> int:
    """Return the letters of a line: those of the terminal, if the output is one."""
    if sys.stdout is None or not sys.stdout.isatty():
        return _WIDTH
    return min(_WIDTH, max(_LEAST_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns))


#: What columns without a finding become.
_BECOMES = {
    "number": "Numbers as they are.",
    "category": "A code for each text.",
    "duration": "Days.",
}


def _line(columns: list[ColumnFacts], why: str) -> tuple[str, ...]:
    first = columns[0]
    names = ", ".join(str(each.name) for each in columns[:4])
    if len(columns) > 4:
        names += f", ... ({len(columns):,} columns)"
    return names, first.kind, first.finding, first.action, why


def inspect_columns(frame, target=None, *, keep=(), dates="auto") -> ColumnReport:
    """Say what becomes of each column of a table, and find those not to learn from.

    Parameters
    ----------
    frame : data frame (pandas or polars), lazy frame or table of Arrow
        The table.
    target : column name or array-like, default=None
        The column to predict, or its values if it is not in the frame. Without it no column that
        gives the target away can be found. Rows without a class are left out of that search.
    keep : sequence of column names, default=()
        Columns to use in any case.
    dates : {"auto", "day-first", "month-first"}, default="auto"
        How to read dates that are written as texts, such as 03/04/2026, if both orders fit all
        dates of a column. ``"auto"`` reads the day first, and says so.

    Returns
    -------
    report : ColumnReport
        Prints as a table of all columns, with what was found:

        - *identifiers*, with another value in nearly every row: texts, and whole numbers that count
          up, are spread evenly or have the name of an identifier; left out;
        - *constants* and *empty* columns: left out;
        - columns that *repeat the target*, also with other names for the classes: left out;
        - *possible leaks*, single columns that nearly give the rarest class away: used, with a
          warning. Ask whether you know their values when you have to decide;
        - *entities*, such as a customer or a machine that several rows are of, if the column tells
          much of the class, but nothing for new entities: used, with a warning;
        - *rows that repeat* (`repeats`): the nearest rows share the class far more often than rows
          a little farther away, as copies and rows of one patient do;
        - *dates*, also those written as texts: encoded as days since 1970, hour, weekday, month and
          day of month, as far as these vary. If *the classes change* with one, the report says so;
        - *times of day* that are written as texts: encoded as days;
        - *numbers* that are written as texts, as prices are: read as numbers. *Amounts* in several
          currencies become a number and a category;
        - *free text*, columns of sentences: encoded as topics;
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
    frame = as_table(frame, "frame")
    if not is_frame(frame):
        raise TypeError(f"frame must be a data frame; got {type(frame).__name__}.")
    columns = columns_of(frame)
    labels = None
    if target is not None:
        if isinstance(target, str) or (not hasattr(target, "__len__") and target in columns):
            if target not in columns:
                raise ValueError(f"target={target!r} is not a column of the frame.")
            target = columns.pop(target)
        labels = _Labels(target)
        if labels.n_rows != frame.shape[0]:
            raise ValueError(
                f"target has {labels.n_rows} values, and the frame {frame.shape[0]} rows."
            )
    if dates not in DATE_ORDERS:
        raise ValueError(f"dates={dates!r} must be one of {', '.join(map(repr, DATE_ORDERS))}.")
    if isinstance(keep, str):
        raise ValueError(f"keep must be a list of columns, got {keep!r}.")
    unknown = [name for name in keep if name not in columns]
    if unknown:
        raise ValueError(f"keep names columns that there are not: {unknown[:10]}.")
    read: dict[Any, np.ndarray] = {}
    found = [
        _facts_of(name, column, labels, name in keep, dates, read)
        for name, column in columns.items()
    ]
    if labels is None:
        return ColumnReport(found, frame.shape[0])
    found, repeats = _with_dependence(found, read, labels, keep)
    return ColumnReport(found, frame.shape[0], repeats)


def _with_dependence(
    columns: list[ColumnFacts], read: dict[Any, np.ndarray], labels: "_Labels", keep
) -> tuple[list[ColumnFacts], str]:
    """Return the facts, with what says that rows are not independent, and whether rows repeat."""
    used = [each for each in columns if each.action != "left out" and each.name in read]
    places = {
        kind: [place for place, each in enumerate(used) if each.kind == kind]
        for kind in ("category", "date")
    }
    values = [read[each.name] for each in used]
    found = find_dependence(values, labels.codes, places["category"], places["date"])
    repeats, changed = "", {}
    for each in found:
        if each.column is None:
            repeats = each.why
            continue
        facts = used[each.column]
        if each.kind == "time":
            why = f"{each.why} {facts.why}"
            changed[facts.name] = replace(facts, finding="date, classes change", why=why)
        elif facts.name not in keep:
            changed[facts.name] = replace(facts, finding="entity", action="warned", why=each.why)
    return [changed.get(each.name, each) for each in columns], repeats


class _Labels:
    """The classes of the rows.

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
        # The rarest class first: in nearly every column a look at it is enough.
        self._order = np.argsort(np.bincount(self.codes), kind="stable").tolist()
        self._questions: dict[int, _Question] = {}

    def questions(self) -> Iterator["_Question"]:
        """Yield each class to find, the rarest first; of two classes the rarest only."""
        for k in self._order[: 1 if self.n_classes <= 2 else None]:
            if k not in self._questions:
                self._questions[k] = _Question(self.codes == k)
            yield self._questions[k]


class _Question:
    """One class to find, and the rows by which it is looked for."""

    def __init__(self, positive: np.ndarray):
        self.positive = positive
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


def _facts_of(
    name, column, labels: _Labels | None, keep: bool, dates: str, read: dict[Any, np.ndarray]
) -> ColumnFacts:
    """Look at one column, and heed that it is to be kept."""
    facts = _look(name, column, labels, dates, read)
    if not keep or facts.action not in ("left out", "warned"):
        return facts
    if facts.kind == "other":
        raise ValueError(f"keep names {name!r}, which cannot be used. {facts.why}")
    return replace(facts, action="used", why=f"{facts.why} Kept, as asked.")


def _look(
    name, column, labels: _Labels | None, dates: str, read: dict[Any, np.ndarray]
) -> ColumnFacts:
    """Say what a column is, and add its numbers in rows with a class to those that are read."""
    kind = "empty" if is_empty(column) else column_kind(column)
    if kind == "empty":
        return ColumnFacts(name, kind, 0, 1.0, "empty", "left out", "It has no values.")
    if kind == "other":
        why = f"It holds neither numbers, dates nor texts: {str(first_value(column))[:40]!r}."
        return ColumnFacts(name, kind, 0, 0.0, "no table value", "left out", why)
    date = number = None
    date_format: str | None = None
    values, unread = np.empty(0), ""
    if kind == "category":
        levels, codes = _used(*texts_of(column))
        slips = Slips(levels, codes)
        date = find_date_format(levels, dates, slips=slips)
        number = None if date else find_number_format(levels, slips=slips)
        texts = levels, codes
        date_format = date.name if date else _counted_format(name, levels, codes, number)
        if date_format:
            kind, number = "date", None
            values = days_of_texts(levels, codes, date_format)
        elif number:
            kind, values = "number", numbers_of_texts(levels, codes, number.name)
        elif are_clocks(levels, slips, is_named=bool(_TIME_NAME.search(str(name)))):
            date_format = CLOCK
            kind, values = "duration", days_of_clocks(levels, codes)
        elif is_free_text(levels, int((codes >= 0).sum())):
            kind = "text"
        if date_format or number:
            example = str(levels[codes[np.flatnonzero(~np.isnan(values))[0]]])
            unread = _unread_cells(values, levels, codes, kind)
    else:
        values = numbers_of(column, kind)
        if kind == "number":
            date_format = _format_of_counts(name, values)
            if date_format:
                days = days_of_counts(values, date_format)
                unread = _unread_numbers(values, days)
                kind, values = "date", days
    if kind not in ("category", "text"):
        values = np.where(np.isfinite(values), values, np.nan)
        known = ~np.isnan(values)
        levels = np.unique(values[known])
        # Which one a row has matters only where values could be classes; sorting is costly.
        places = np.searchsorted(levels, values) if len(levels) <= _MOST_CLASSES else 0
        codes = np.where(known, places, -1)
    if labels is not None and kind != "text":
        as_codes = kind == "category"
        read[name] = (np.where(codes < 0, np.nan, codes) if as_codes else values)[labels.known]
    missing = float(np.mean(codes < 0))
    facts = ColumnFacts(
        name,
        kind,
        len(levels),
        missing,
        why=_BECOMES.get(kind, ""),
        date_format=date_format,
        number_format=number.name if number else None,
        currencies=number.currencies if number else (),
    )

    def found(finding: str, action: str, why: str) -> ColumnFacts:
        return replace(facts, finding=finding, action=action, why=why)

    if len(levels) == 0:
        return found("empty", "left out", "It has no finite values.")
    if len(levels) == 1 and missing == 0:
        shown = levels[0] if kind in ("category", "text") else f"{levels[0]:g}"
        return found("constant", "left out", f"It is {str(shown)[:40]!r} in every row.")
    if labels is not None and _repeats(codes[labels.known], len(levels), labels):
        return found(
            "repeats the target", "left out", "Each of its values belongs to one class alone."
        )
    nearly = _nearly(levels, codes, slips) if kind == "category" else None
    if kind not in ("date", "duration"):
        reason = _identifier(name, kind, codes, levels)
        if reason and nearly and not _ID_NAME.search(str(name)):
            return found(nearly[0], "left out", f"{reason} {nearly[1]}")
        if reason:
            return found("identifier", "left out", reason)
    if labels is not None:
        numbers = None if kind in ("category", "text") else values[labels.known]
        score = _leak_of_all(codes[labels.known], numbers, labels)
        if score >= _LEAK:
            of = "for the rarest class" if labels.n_classes <= 2 else "on average over the classes"
            return found(
                "possible leak",
                "warned",
                f"Alone it has an average precision of {score:.3f} {of}. Is it known before the "
                "class is?",
            )
    if kind == "date":
        of_all = parts_of(values)
        varying = [part for part in PARTS if np.nanmin(of_all[part]) < np.nanmax(of_all[part])]
        source = f" (from {date_format})" if date_format else ""
        why = f"Becomes {', '.join(varying) or PARTS[0]}{source}."
        if date and not date.is_clear:
            wrong = "Both orders of day and month fit all its dates; they are read as "
            wrong += f"{date.name}. If that is wrong: dates='month-first' (--dates month-first)."
            if date.may_begin_with_year:
                wrong = (
                    "Its years of two digits may stand first or last; they are read as "
                    f"{date.name}. If that is wrong, write years of four digits."
                )
            why = f"{wrong} {why}"
            return found("date, order unclear", "encoded", f"{why}{unread}")
        return found("date", "encoded", f"{why}{unread}")
    if kind == "duration" and date_format:
        why = f"Read as times of day, for instance {example[:40]!r}. Becomes days."
        return found("time as text", "encoded", f"{why}{unread}")
    if number and len(number.currencies) > 1:
        why = _currencies(name, *texts, number.currencies)
        return found("amounts", "encoded", f"{why}{unread}")
    if number:
        why = f"Read as numbers like {number.name}, for instance {example[:40]!r}."
        if not (number.currencies or Separators().add(*texts).is_clear):
            why += (
                " Each has one comma before three digits, which is taken as standing between "
                "thousands. If it is a decimal comma, write points."
            )
        return found("number as text", "encoded", f"{why}{unread}")
    if kind == "text":
        why = (
            f"{len(levels):,} different texts of {words_a_text(levels):.0f} words on average. "
            "Becomes topics and, in a classifier of this package, a score by its words. "
            "text='ignore' in TableCleaner (--text ignore) leaves it out."
        )
        return found("free text", "encoded", why)
    if nearly:
        return found(nearly[0], "used", f"{facts.why} {nearly[1]}")
    return facts


def _format_of_counts(name, numbers: np.ndarray) -> str | None:
    """Return how dates are written as the numbers of a column, or None."""
    is_named = bool(_TIME_NAME.search(str(name)))
    counted = find_count_format(numbers) if is_named else None
    return counted or find_packed_format(numbers, is_named)


def _counted_format(name, levels, codes, number: NumberFormat | None) -> str | None:
    """Return how dates are written as numbers in the texts of a column, or None."""
    if number is None:
        # Texts that are all plain numbers have no format.
        if not all(str(level).strip().isdigit() for level in levels):
            return None
        return _format_of_counts(name, numbers_of_texts(levels, codes, None))
    if number.currencies:
        return None
    return _format_of_counts(name, numbers_of_texts(levels, codes, number.name))


def _nearly(levels: np.ndarray, codes: np.ndarray, slips: Slips) -> tuple[str, str] | None:
    """Return what nearly all texts of a category are, with what to do; None if they are names."""
    for what, judge in (("dates", are_nearly_dates), ("numbers", are_nearly_numbers)):
        unread = judge(levels, slips)
        if unread is None:
            continue
        cells = unread[codes] & (codes >= 0)
        first, count = int(np.argmax(cells)), int(cells.sum())
        example = str(levels[codes[first]])[:40]
        return f"nearly {what}", (
            f"{count:,} of {np.count_nonzero(codes >= 0):,} cells are not {what}, for instance "
            f"{example!r} in row {first + 1:,}: make them missing values to use the others."
        )
    shown = str(levels[codes[codes >= 0][0]])[:40]
    if begin_with_dates(levels):
        return "nearly dates", (
            f"Its texts begin with dates, for instance {shown!r}, and cannot be read: write them "
            "as 2026-03-31 08:30."
        )
    unit = unit_of_texts(levels)
    if unit is None:
        return None
    beside = f" with {unit!r} beside them" if unit else ""
    return "nearly numbers", (
        f"Its texts are numbers{beside}, for instance {shown!r}. "
        "If they measure something, write numbers alone."
    )


def _unread_cells(values: np.ndarray, levels, codes, kind: str) -> str:
    """Return a sentence about cells that are not what the others are, after a space."""
    unread = np.isnan(values) & (codes >= 0)
    if not unread.any():
        return ""
    first = int(np.argmax(unread))
    count = int(unread.sum())
    many = f"cells are not {kind}s, and count" if count > 1 else f"cell is not a {kind}, and counts"
    example = str(levels[codes[first]])[:40]
    return f" {count:,} {many} as missing, for instance {example!r} in row {first + 1:,}."


def _unread_numbers(numbers: np.ndarray, days: np.ndarray) -> str:
    """Return a sentence about numbers that are not dates, after a space."""
    # 0 and 99991231 stand for no date.
    unread = np.isnan(days) & np.isfinite(numbers) & ~np.isin(numbers, PACKED_NOTHING)
    if not unread.any():
        return ""
    first, count = int(np.argmax(unread)), int(unread.sum())
    many = "numbers are not dates, and count" if count > 1 else "number is not a date, and counts"
    return f" {count:,} {many} as missing, for instance {numbers[first]:.15g} in row {first + 1:,}."


def _currencies(name, levels, codes, currencies: tuple[str, ...]) -> str:
    """Return what becomes of amounts in several currencies."""
    units = currencies_of_texts(levels, codes)
    units = units[codes >= 0]
    shares = [f"{each} {np.mean(units == each):.0%}" for each in currencies]
    without = np.mean([unit is None for unit in units.tolist()])
    shares += [f"none {without:.0%}"] if without else []
    return (
        f"Amounts in several currencies ({', '.join(shares)}). Becomes the number as it is written "
        f"and a category, {currency_name(name)!r}."
    )


def currency_name(name) -> str:
    """Return the name of the column with the currencies of a column of amounts."""
    return f"{name} (currency)"


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
    if kind in ("category", "text"):
        named = bool(_ID_NAME.search(str(name)))
        if share < (_HALF if named else _MOST_TEXTS) or (kind == "text" and not named):
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
    if span <= 2 * n_known and levels[0] in (0, 1):
        return f"{said}, counted from {levels[0]:.0f} to {levels[-1]:.0f}."
    if span < _LIE_APART * n_known:
        return ""
    # Numbers that are given out lie evenly; those that are measured heap up somewhere.
    even = (np.arange(1, len(levels) + 1) - 0.5) / len(levels)
    distance = np.abs((levels - levels[0]) / span - even).max()
    if distance < 1.36 / np.sqrt(len(levels)):
        return f"{said}, spread evenly."
    return ""


def _leak_of_all(codes: np.ndarray, values: np.ndarray | None, labels: _Labels) -> float:
    """Return the mean average precision of a column alone; 0 as soon as it cannot be a leak.

    A column that tells one of many classes well need not be a leak: it may define this class.
    """
    scores = []
    for question in labels.questions():
        scores.append(_leak(codes, values, question))
        if (sum(scores) + labels.n_classes - len(scores)) / labels.n_classes < _LEAK:
            return 0.0
    return float(np.mean(scores))


def _leak(codes: np.ndarray, values: np.ndarray | None, labels: _Question) -> float:
    """Return the average precision of a column alone, for one class."""
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
    # Quantiles of halves: the difference of the largest numbers is too large for a float.
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
