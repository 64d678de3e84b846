"""Dates: those that a file holds as texts, and what a moment is made of."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

__all__ = ["DATE_ORDERS", "PARTS", "DateFormat", "days_of_texts", "find_date_format", "parts_of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)

#: How dates with the year last are read if both orders fit.
DATE_ORDERS = ("auto", "day-first", "month-first")

#: What a moment is made of. The first part grows for ever; the others come again.
PARTS = ("days since 1970", "hour", "weekday", "month", "day of month")

# This many texts are looked at before all are: most columns are not dates.
_LOOKED_AT = 500

_ISO = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ](\d\d:\d\d.*))?")
_TIME = r"(?:,?[T ]+(\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?([AaPp])\.?[Mm]\.?)?)?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})[/.](\d\d?)[/.](\d\d?){_TIME}")
_YEAR_LAST = re.compile(rf"(\d\d?)[/.-](\d\d?)[/.-](\d{{4}}){_TIME}")


def _iso(text: str) -> datetime:
    found = _ISO.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, month, day, time = found.groups()
    written = f"{year}-{month:0>2}-{day:0>2}"
    return datetime.fromisoformat(f"{written}T{time}" if time else written)


def _parser(pattern: re.Pattern, order: tuple[int, int, int]) -> Callable[[str], datetime]:
    def parse(text: str) -> datetime:
        found = pattern.fullmatch(text)
        if found is None:
            raise ValueError(text)
        year, month, day = (int(found[place]) for place in order)
        moment = datetime(year, month, day)
        if not found[4]:
            return moment
        hour, minute, *second = found[4].split(":")
        hours = int(hour)
        if found[5]:
            if not 1 <= hours <= 12:
                raise ValueError(text)
            hours = hours % 12 + (12 if found[5] in "Pp" else 0)
        seconds = float(second[0]) if second else 0.0
        return moment + timedelta(hours=hours, minutes=int(minute), seconds=seconds)

    return parse


#: How dates are written, the surest first.
_FORMATS: dict[str, Callable[[str], datetime]] = {
    "year-month-day": _iso,
    "year/month/day": _parser(_YEAR_FIRST, (1, 2, 3)),
    "day/month/year": _parser(_YEAR_LAST, (3, 2, 1)),
    "month/day/year": _parser(_YEAR_LAST, (3, 1, 2)),
}
_CLEAR = ("year-month-day", "year/month/day")
_DAY_FIRST, _MONTH_FIRST = "day/month/year", "month/day/year"


class DateFormat(NamedTuple):
    """How the texts of a column are written as dates.

    Attributes
    ----------
    name : str
        One of ``"year-month-day"``, ``"year/month/day"``, ``"day/month/year"`` and
        ``"month/day/year"``; any time of day may follow.
    is_clear : bool
        Whether no other order of day and month fits as well.
    """

    name: str
    is_clear: bool = True


def find_date_format(
    texts: np.ndarray,
    order: str = "auto",
    *,
    may_miss: Callable[[np.ndarray], bool] | None = None,
    only_clear: bool = False,
) -> DateFormat | None:
    """Return how texts are written as dates; None if they are not dates.

    All texts decide about the order of day and month. If both orders fit, the part that has one
    value is the day, as in dates of months; otherwise `order` decides.

    Parameters
    ----------
    texts : ndarray of str
        The distinct values of a column.
    order : {"auto", "day-first", "month-first"}, default="auto"
        The order if both fit. ``"auto"`` reads the day first, and the format is then not clear.
    may_miss : callable, default=None
        Gets which texts cannot be read, and returns whether that may be. By default all must be.
    only_clear : bool, default=False
        Whether only formats with the year first are looked for.

    Returns
    -------
    format : DateFormat or None
    """
    if not len(texts):
        return None
    stripped = [str(text).strip() for text in texts]
    some = stripped[:: max(1, len(texts) // _LOOKED_AT)]
    fitting = []
    for name in _CLEAR if only_clear else _FORMATS:
        if np.isnan(_days(some, name)).mean() > 0.5:
            continue
        unread = np.isnan(_days(stripped, name))
        if not unread.any() or (may_miss is not None and may_miss(unread)):
            fitting.append((int(unread.sum()), name))
    if not fitting:
        return None
    fewest = min(n_unread for n_unread, _ in fitting)
    names = [name for n_unread, name in fitting if n_unread == fewest]
    if names[0] in _CLEAR or len(names) == 1:
        return DateFormat(names[0])
    found = [match for match in map(_YEAR_LAST.fullmatch, stripped) if match]
    pairs = {(int(match[1]), int(match[2])) for match in found}
    firsts, seconds = ({pair[place] for pair in pairs} for place in (0, 1))
    if len(firsts) != len(seconds) and 1 in (len(firsts), len(seconds)):
        return DateFormat(_DAY_FIRST if len(firsts) == 1 else _MONTH_FIRST)
    if order != "auto":
        return DateFormat(_MONTH_FIRST if order == "month-first" else _DAY_FIRST)
    return DateFormat(_DAY_FIRST, is_clear=all(first == second for first, second in pairs))


def _days(texts: list[str], name: str) -> np.ndarray:
    """Return texts as days since 1970; NaN where a text is not a date of this format."""
    parse = _FORMATS[name]
    days = np.full(len(texts), np.nan)
    for position, text in enumerate(texts):
        try:
            moment = parse(text)
            # A time without a zone is taken as it is.
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            days[position] = (moment - _EPOCH) / _DAY
        except (ValueError, OverflowError):
            continue
    return days


def days_of_texts(levels: np.ndarray, codes: np.ndarray, name: str) -> np.ndarray:
    """Return texts as days since 1970; what is neither of this format nor a clear date is missing.

    Parameters
    ----------
    levels : ndarray of str
        The distinct texts.
    codes : ndarray of int
        For each row a position in ``levels``; -1 where the value is missing.
    name : str
        The name of a format of `find_date_format`.

    Returns
    -------
    days : ndarray of float
    """
    texts = [str(text).strip() for text in levels]
    days = _days(texts, name)
    for other in _CLEAR:
        if np.isnan(days).any():
            days = np.where(np.isnan(days), _days(texts, other), days)
    # The last entry is for missing values, whose code is -1.
    return np.append(days, np.nan)[codes]


def parts_of(days: np.ndarray) -> dict[str, np.ndarray]:
    """Return what moments are made of, by the names of `PARTS`.

    Parameters
    ----------
    days : ndarray of float
        Days since 1970; NaN where there is none.

    Returns
    -------
    parts : dict of ndarray
        The hour has fractions, Monday is weekday 0.
    """
    known = np.isfinite(days)
    whole = np.floor(np.where(known, days, 0.0))
    # Whole seconds: a day as a float is a little more or less than what was written.
    seconds = np.round((np.where(known, days, 0.0) - whole) * 86_400)
    dates = whole.astype("int64").astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    parts = (
        days,
        seconds / 3600,
        (whole + 3) % 7,
        months.astype("int64") % 12 + 1.0,
        (dates - months).astype("int64") + 1.0,
    )
    return {name: np.where(known, part, np.nan) for name, part in zip(PARTS, parts, strict=True)}
