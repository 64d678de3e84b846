"""Dates that a file holds as texts."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np

__all__ = ["days_of_texts", "find_date_format"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)

# As many texts as are looked at to find the format.
_LOOKED_AT = 500

_ISO = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ](\d\d:\d\d.*))?")
_TIME = r"(?:,?[T ]+(\d\d?:\d\d(?::\d\d(?:\.\d+)?)?))?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})[/.](\d\d?)[/.](\d\d?){_TIME}")
_YEAR_LAST = re.compile(rf"(\d\d?)[/.-](\d\d?)[/.-](\d{{4}}){_TIME}")


def _iso(text: str) -> datetime:
    found = _ISO.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, month, day, time = found.groups()
    written = f"{year}-{month:0>2}-{day:0>2}"
    return datetime.fromisoformat(f"{written}T{time}" if time else written)


def _parts(pattern: re.Pattern, order: tuple[int, int, int]) -> Callable[[str], datetime]:
    def parse(text: str) -> datetime:
        found = pattern.fullmatch(text)
        if found is None:
            raise ValueError(text)
        year, month, day = (int(found[place]) for place in order)
        moment = datetime(year, month, day)
        if found[4]:
            hour, minute, *second = found[4].split(":")
            seconds = float(second[0]) if second else 0.0
            moment += timedelta(hours=int(hour), minutes=int(minute), seconds=seconds)
        return moment

    return parse


#: How dates are written, the surest first. Where day and month could be either, the day is first.
_FORMATS: dict[str, Callable[[str], datetime]] = {
    "year-month-day": _iso,
    "year/month/day": _parts(_YEAR_FIRST, (1, 2, 3)),
    "day/month/year": _parts(_YEAR_LAST, (3, 2, 1)),
    "month/day/year": _parts(_YEAR_LAST, (3, 1, 2)),
}


def find_date_format(texts: np.ndarray) -> str | None:
    """Return how texts are written as dates; None if one of them is none.

    Parameters
    ----------
    texts : ndarray of str
        The distinct values of a column.

    Returns
    -------
    name : str or None
        One of ``"year-month-day"``, ``"year/month/day"``, ``"day/month/year"`` and
        ``"month/day/year"``; any time of day may follow.
    """
    if not len(texts):
        return None
    steps = max(1, len(texts) // _LOOKED_AT)
    some = [str(text).strip() for text in texts[::steps]]
    for name, parse in _FORMATS.items():
        try:
            for text in some:
                parse(text)
        except (ValueError, OverflowError):
            continue
        return name
    return None


def days_of_texts(levels: np.ndarray, codes: np.ndarray, name: str) -> np.ndarray:
    """Return texts as days since 1970; what is no date of this format is missing.

    Parameters
    ----------
    levels : ndarray of str
        The distinct texts.
    codes : ndarray of int
        For each row a position in ``levels``; -1 where the value is missing.
    name : str
        A format of `find_date_format`.

    Returns
    -------
    days : ndarray of float
    """
    parse = _FORMATS[name]
    # The last entry is for missing values, whose code is -1.
    days = np.full(len(levels) + 1, np.nan)
    for position, text in enumerate(levels):
        try:
            moment = parse(str(text).strip())
        except (ValueError, OverflowError):
            continue
        # A time without a zone is taken as it is.
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        days[position] = (moment - _EPOCH) / _DAY
    return days[codes]
