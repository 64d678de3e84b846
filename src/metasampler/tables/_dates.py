"""Dates: those that a file holds as texts or as counted seconds, and what a moment is made of."""

import re
from datetime import date
from typing import NamedTuple

import numpy as np

from metasampler.tables._unread import MOST_WITH_DIGITS, Slips

__all__ = [
    "CLOCK",
    "DATE_FORMATS",
    "DATE_ORDERS",
    "PACKED_NOTHING",
    "PARTS",
    "DateFormat",
    "are_clocks",
    "are_nearly_dates",
    "begin_with_dates",
    "days_of_clocks",
    "days_of_counts",
    "days_of_texts",
    "find_count_format",
    "find_date_format",
    "find_packed_format",
    "is_count_format",
    "parts_of",
]

#: How dates with the year last are read if both orders fit.
DATE_ORDERS = ("auto", "day-first", "month-first")

#: What a moment is made of. The first part grows for ever; the others come again.
PARTS = ("days since 1970", "hour", "weekday", "month", "day of month")

_EPOCH = date(1970, 1, 1).toordinal()
_MICROSECONDS_A_DAY = 86_400_000_000

# This many texts are looked at before all are: most columns are not dates.
_LOOKED_AT = 500

# ---------------------------------------------------------------------- how dates are written

_CLOCK = (
    r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d(?:[.,]\d+)?))?"
    r"(?:\s?(?P<half>[AaPp])\.?\s?[Mm]\.?)?"
)
# Hours from UTC: the zones of RFC 822, and those of Europe.
_ZONES = {
    **{"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7},
    **{"WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3},
}
_ZONE = (
    rf"(?:\s?(?:Z|UTC|GMT|(?P<zone>{'|'.join(_ZONES)})|(?P<ahead>[+-]\d\d(?::?\d\d)?)(?:\sUTC)?)"
    r"(?:\[[\w/+-]+\])?)?"
)
_TIME = rf"(?:(?:,?[T\s]\s*|:){_CLOCK}{_ZONE})?"
_PACKED_TIME = rf"[T\s](?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d(?:[.,]\d+)?))?{_ZONE}"
_WEEKDAY = r"(?:[^\W\d_]{2,10}\.?,?\s+)?"
_DAY = r"(?P<day>\d\d?)(?:st|nd|rd|th|\.)?"
_NAME = r"(?P<name>[^\W\d_]{3,10})\.?"

# Dates that can be read in one way only.
_CLEAR = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?P<year>\d{{4}})(?P<gap>[-/.])(?P<month>\d\d?)(?P=gap)(?P<day>\d\d?){_TIME}",
        # 20260124T101424: without a time it may be any number.
        rf"(?P<year>\d{{4}})(?P<month>\d\d)(?P<day>\d\d){_PACKED_TIME}",
        # 24-Jan-2026, also 24JAN26; Jan 24, 2026; 2026-Jan-24
        rf"{_WEEKDAY}{_DAY}[-/\s]?\s*{_NAME}[-/,\s]?\s*(?P<year>\d{{4}}|\d\d){_TIME}",
        rf"{_WEEKDAY}{_NAME}[-/\s]\s*{_DAY},?[-/\s]\s*(?P<year>\d{{4}}){_TIME}",
        rf"(?P<year>\d{{4}})[-/\s]{_NAME}[-/\s](?P<day>\d\d?){_TIME}",
    )
)
# Dates that begin with the day or the month. Beside a year of two digits these have two, too.
_YEAR_LAST = tuple(
    re.compile(f"{_WEEKDAY}{pattern}{_TIME}")
    for pattern in (
        r"(?P<first>\d\d?)(?P<gap>[-/.])\s?(?P<then>\d\d?)(?P=gap)\s?(?P<year>\d{4})",
        r"(?P<first>\d\d?)/(?P<then>\d\d?)/(?P<year>\d\d)",
        r"(?P<first>\d\d)(?P<gap>[-.])(?P<then>\d\d)(?P=gap)(?P<year>\d\d)",
    )
)
_BEGIN = re.compile(r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3\d{4})(?![\d.])\D")
_NEARLY_ALL = 0.95
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("jan", "feb", "mar mär mrz", "apr", "may mai", "jun"),
            *("jul", "aug", "sep", "oct okt", "nov", "dec dez"),
        ),
        start=1,
    )
    for name in names.split()
}

_BY_NAME, _YEAR_DASH, _YEAR_SLASH = "month by name", "year-month-day", "year/month/day"
_DAY_FIRST, _MONTH_FIRST = "day/month/year", "month/day/year"
#: The year has two digits: 26-03-31.
_SHORT_YEAR_FIRST = "short year-month-day"
_SHORT_DASHED = re.compile(r"\d\d-\s?\d\d-\s?\d\d(?!\d)")
# From this many different last numbers, up to the end of a month, these can be days. Years that end
# in 01 to 28 may be the years of a long series.
_FEWEST_DAYS, _LONG_MONTH = 20, 28
# Seconds, and fractions of them, that are counted; 2001 to 2100 in each unit.
_COUNTS = {
    f"{unit} since 1970": factor
    for unit, factor in (
        ("seconds", 1.0),
        ("milliseconds", 1e3),
        ("microseconds", 1e6),
        ("nanoseconds", 1e9),
    )
}
_COUNTED = (978_307_200, 4_102_444_800)
#: 31 March 2026 as 20260331. Some programs write 0 and 99991231 for no date.
_PACKED = "yyyymmdd"
_PACKED_RANGE, PACKED_NOTHING = (19_000_101, 21_001_231), (0, 99_991_231)
# With fewer different numbers all may be dates by chance.
_FEWEST_PACKED = 20

#: How dates may be written.
DATE_FORMATS = (
    *(_YEAR_DASH, _YEAR_SLASH, _BY_NAME, _DAY_FIRST, _MONTH_FIRST),
    *(*_COUNTS, _SHORT_YEAR_FIRST, _PACKED),
)
#: How times of day are written.
CLOCK = "hour:minute"


class DateFormat(NamedTuple):
    """How the texts of a column are written as dates.

    Attributes
    ----------
    name : str
        ``"year-month-day"``, ``"year/month/day"``, ``"month by name"``, ``"day/month/year"``,
        ``"month/day/year"`` or ``"short year-month-day"``; any time of day may follow.
    is_clear : bool
        Whether no other order of day, month and year fits as well.
    may_begin_with_year : bool
        Whether years of two digits may also stand first.
    """

    name: str
    is_clear: bool = True
    may_begin_with_year: bool = False


class _Read(NamedTuple):
    """Texts that look like dates: numbers by text, and 0 in ``month`` where no date is seen.

    Where the year is last, ``month`` and ``day`` are the first and second number.
    """

    texts: list[str]
    year: np.ndarray
    month: np.ndarray
    day: np.ndarray
    #: Microseconds since the day began; a zone may make them negative.
    time: np.ndarray
    is_year_last: np.ndarray
    is_named: np.ndarray
    #: Whether the year has two digits.
    is_short: np.ndarray

    def days(self, name: str) -> np.ndarray:
        """Return days since 1970; NaN where a text is not a date of this format or a clear one."""
        days = np.full(len(self.texts), np.nan)
        can_be_last = name in (_DAY_FIRST, _MONTH_FIRST, _SHORT_YEAR_FIRST)
        for place in np.flatnonzero((self.month > 0) & (~self.is_year_last | can_be_last)).tolist():
            year, month, day = int(self.year[place]), int(self.month[place]), int(self.day[place])
            if name == _DAY_FIRST and self.is_year_last[place]:
                month, day = day, month
            elif name == _SHORT_YEAR_FIRST and self.is_year_last[place]:
                if not self.is_short[place]:
                    continue
                year, month, day = _whole_year(f"{month:02d}"), day, year % 100
            try:
                whole = date(year, month, day).toordinal() - _EPOCH
            except ValueError:
                continue
            ticks = whole * _MICROSECONDS_A_DAY + int(self.time[place])
            days[place] = ticks / _MICROSECONDS_A_DAY
        return days


def _read(texts) -> _Read:
    """Return what texts hold that look like dates."""
    stripped = [str(text).strip() for text in texts]
    numbers = np.zeros((len(stripped), 4), dtype=np.int64)
    is_year_last, is_named, is_short = np.zeros((3, len(stripped)), dtype=bool)
    for place, text in enumerate(stripped):
        found = _first_match(_CLEAR, text)
        if found is None:
            found = _first_match(_YEAR_LAST, text)
            if found is None:
                continue
            is_year_last[place] = True
        parts = found.groupdict()
        name, time = parts.get("name"), _time_of(parts)
        if time is None:
            continue
        if name is not None:
            is_named[place] = True
            month, day = _MONTHS.get(name[:3].casefold(), 0), int(parts["day"])
        elif is_year_last[place]:
            month, day = int(parts["first"]), int(parts["then"])
        else:
            month, day = int(parts["month"]), int(parts["day"])
        is_short[place] = len(parts["year"]) == 2
        numbers[place] = _whole_year(parts["year"]), month, day, time
    years, months, days, times = (np.ascontiguousarray(column) for column in numbers.T)
    return _Read(stripped, years, months, days, times, is_year_last, is_named, is_short)


def _first_match(patterns: tuple[re.Pattern, ...], text: str) -> re.Match | None:
    # Texts of more letters are not dates, so they are not read.
    if len(text) > 60 or not any(map(str.isdigit, text[:16])):
        return None
    return next((found for pattern in patterns if (found := pattern.fullmatch(text))), None)


def _whole_year(digits: str) -> int:
    """Return a year; one of two digits lies between 1969 and 2068, as in POSIX."""
    year = int(digits)
    return year if len(digits) == 4 else year + (2000 if year < 69 else 1900)


def _time_of(parts: dict[str, str | None]) -> int | None:
    """Return the time of day of a match in microseconds, in UTC; None if there is no such time."""
    if parts.get("hour") is None:
        return 0
    hour, minute = int(parts["hour"] or 0), int(parts["minute"] or 0)
    second, _, fraction = (parts["second"] or "0").replace(",", ".").partition(".")
    half = parts.get("half")
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "Pp" else 0)
    # ISO 8601 ends a day at 24:00; second 60 is a leap second.
    if hour > 24 or minute > 59 or int(second) > 60 or (hour == 24 and (minute or int(second))):
        return None
    seconds = 3600 * (hour - _ZONES.get(parts.get("zone") or "", 0)) + 60 * minute + int(second)
    ahead = (parts.get("ahead") or "").replace(":", "")
    if ahead:
        minutes = 60 * int(ahead[1:3]) + int(ahead[3:] or 0)
        seconds -= 60 * minutes * (-1 if ahead[0] == "-" else 1)
    return 1_000_000 * seconds + int(f"{fraction[:6]:0<6}")


def find_date_format(
    texts: np.ndarray,
    order: str = "auto",
    *,
    slips: Slips | None = None,
    only_clear: bool = False,
) -> DateFormat | None:
    """Return how texts are written as dates; None if they are not dates.

    All texts decide about the order of day and month. If both orders fit, `order` decides. Without
    one, dates without a time of day whose first or second number is always 1 are dates of months:
    this number is the day. Years of two digits stand last wherever this fits, unless there is no
    `order` and the last numbers of dates with dashes are surely days.

    Parameters
    ----------
    texts : ndarray of str
        The distinct values of a column.
    order : {"auto", "day-first", "month-first"}, default="auto"
        The order if both fit. ``"auto"`` reads the day first, and the format is then not clear.
    slips : Slips, default=None
        Says which texts may be something else. By default all must be dates.
    only_clear : bool, default=False
        Whether only dates are looked for that can be read in one way.

    Returns
    -------
    format : DateFormat or None
    """
    if not len(texts):
        return None
    some = _read(texts[:: max(1, len(texts) // _LOOKED_AT)])
    names = [_YEAR_DASH]
    if not only_clear:
        names += [_DAY_FIRST, _MONTH_FIRST, *[_SHORT_YEAR_FIRST] * bool(some.is_short.any())]
    if min(np.isnan(some.days(name)).mean() for name in names) > 0.5:
        return None
    read = _read(texts)
    fitting = []
    for name in names:
        unread = np.isnan(read.days(name))
        if not unread.any() or (slips is not None and slips.are_rare(unread)):
            fitting.append((int(unread.sum()), name))
    if not fitting:
        return None
    may_begin = False
    of_order = {"day-first": _DAY_FIRST, "month-first": _MONTH_FIRST}.get(order)
    year_last = [each for each in fitting if each[1] in (_DAY_FIRST, _MONTH_FIRST)]
    if year_last and fitting[-1][1] == _SHORT_YEAR_FIRST:
        begins = False
        if of_order not in [name for _, name in year_last]:
            begins, may_begin = _begin_with_years(read)
        fitting = [each for each in fitting if (each[1] == _SHORT_YEAR_FIRST) == begins]
    fewest = min(n_unread for n_unread, _ in fitting)
    names = [name for n_unread, name in fitting if n_unread == fewest]
    if names[0] == _YEAR_DASH:
        return DateFormat(_name_of_clear(read))
    if len(names) == 1:
        return DateFormat(names[0], not may_begin, may_begin)
    if of_order is not None:
        return DateFormat(of_order)
    both = read.is_year_last & ~np.isnan(read.days(_DAY_FIRST))
    firsts, seconds = set(read.month[both].tolist()), set(read.day[both].tolist())
    if not read.time[both].any() and ({1} in (firsts, seconds)) and firsts != seconds:
        return DateFormat(_DAY_FIRST if firsts == {1} else _MONTH_FIRST)
    are_same = bool(np.all(read.month[both] == read.day[both]))
    return DateFormat(_DAY_FIRST, are_same and not may_begin, may_begin)


def _begin_with_years(read: _Read) -> tuple[bool, bool]:
    """Return whether years of two digits stand first, and whether they may where they do not.

    Few different first numbers prove nothing: the ends of quarters have two days and many years.
    """
    short = read.is_short & read.is_year_last & (read.month > 0)
    firsts, lasts = np.unique(read.month[short]), np.unique(read.year[short] % 100)
    are_days = (
        len(lasts) >= _FEWEST_DAYS
        and lasts[-1] > _LONG_MONTH
        and 2 * len(firsts) <= len(lasts)
        # The first or the last days of months.
        and firsts[0] < _LONG_MONTH
        and firsts[-1] > 1
    )
    dashed = all(_SHORT_DASHED.search(read.texts[place]) for place in np.flatnonzero(short))
    return bool(dashed and are_days), bool(are_days != dashed and len(firsts) < len(lasts))


def _name_of_clear(read: _Read) -> str:
    """Return what dates are called that can be read in one way: as the first of them is written."""
    first = int(np.argmax((read.month > 0) & ~read.is_year_last))
    if read.is_named[first]:
        return _BY_NAME
    return _YEAR_SLASH if read.texts[first][4] in "/." else _YEAR_DASH


def begin_with_dates(texts: np.ndarray) -> bool:
    """Return whether nearly all texts begin with a date, but go on with something unknown."""

    def count(of) -> int:
        return sum(_BEGIN.match(str(text).strip()) is not None for text in of)

    some = texts[:: max(1, len(texts) // _LOOKED_AT)]
    if 2 * count(some) < len(some):
        return False
    return count(texts) >= max(_FEWEST_PACKED, _NEARLY_ALL * len(texts))


def are_nearly_dates(texts: np.ndarray, slips: Slips) -> np.ndarray | None:
    """Return which texts cannot be read as dates if most others are dates; None for names.

    The texts are those of a column for which `find_date_format` finds none.
    """
    some = _read(texts[:: max(1, len(texts) // _LOOKED_AT)])
    names = (_DAY_FIRST, _MONTH_FIRST)
    if min(np.isnan(some.days(name)).mean() for name in names) > 0.5:
        return None
    read = _read(texts)
    unread = min((np.isnan(read.days(name)) for name in names), key=np.count_nonzero)
    return slips.unread_if_few(unread)


def days_of_texts(levels: np.ndarray, codes: np.ndarray, name: str) -> np.ndarray:
    """Return texts as days since 1970; what is neither of this format nor a clear date is missing.

    Parameters
    ----------
    levels : ndarray of str
        The distinct texts.
    codes : ndarray of int
        For each row a position in ``levels``; -1 where the value is missing.
    name : str
        One of `DATE_FORMATS`.

    Returns
    -------
    days : ndarray of float
    """
    days = _read(levels).days(name)
    if is_count_format(name):
        counted = np.array([_float(text) for text in levels], dtype=float)
        days = np.where(np.isnan(days), days_of_counts(counted, name), days)
    # The last entry is for missing values, whose code is -1.
    return np.append(days, np.nan)[codes]


# ---------------------------------------------------------------------- counted seconds


def find_count_format(numbers: np.ndarray) -> str | None:
    """Return of which unit numbers can count the time since 1970, or None; NaN counts nothing."""
    known = numbers[np.isfinite(numbers)]
    for name, factor in _COUNTS.items():
        low, high = _COUNTED[0] * factor, _COUNTED[1] * factor
        if len(known) and known.min() >= low and known.max() < high:
            return name
    return None


def find_packed_format(numbers: np.ndarray, is_named: bool) -> str | None:
    """Return "yyyymmdd" if numbers are dates written without a sign, such as 20260331, or None.

    ``is_named`` says whether the column has the name of a time. Few numbers may be dates by chance.
    Up to a hundredth of the numbers may be slips of the pen.
    """
    known = numbers[np.isfinite(numbers)]
    known = known[~np.isin(known, PACKED_NOTHING)]
    is_date = ~np.isnan(_days_of_packed(known))
    if not len(known) or np.count_nonzero(~is_date) > MOST_WITH_DIGITS * len(known):
        return None
    if not is_named and len(np.unique(known[is_date])) < _FEWEST_PACKED:
        return None
    return _PACKED


def _days_of_packed(numbers: np.ndarray) -> np.ndarray:
    """Return dates such as 20260331 as days since 1970; NaN for numbers that are not dates."""
    low, high = _PACKED_RANGE
    with np.errstate(invalid="ignore"):
        known = (numbers >= low) & (numbers <= high) & (numbers == np.floor(numbers))
    whole = np.where(known, numbers, low).astype(np.int64)
    years, months, days = whole // 10_000, whole // 100 % 100, whole % 100
    known &= (months >= 1) & (months <= 12) & (days >= 1)
    first = ((years - 1970) * 12 + np.where(known, months, 1) - 1).astype("datetime64[M]")
    dates = first.astype("datetime64[D]") + (days - 1)
    known &= dates.astype("datetime64[M]") == first
    return np.where(known, dates.astype(np.int64).astype(float), np.nan)


def is_count_format(name: str | None) -> bool:
    """Return whether dates of this format are numbers."""
    return name in _COUNTS or name == _PACKED


def days_of_counts(numbers: np.ndarray, name: str | None) -> np.ndarray:
    """Return dates that are numbers as days since 1970; those far from today are missing."""
    assert name is not None
    if name == _PACKED:
        return _days_of_packed(numbers)
    seconds = numbers / _COUNTS[name]
    with np.errstate(invalid="ignore"):
        plausible = (seconds >= 0) & (seconds < _COUNTED[1])
    return np.where(plausible, seconds, np.nan) / 86_400


def _float(text) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


# ---------------------------------------------------------------------- times of day

# Durations may have more hours than a day.
_TIME_OF_DAY = re.compile(
    r"(?:(?P<days>-?\d+) days?,? \+?)?" + _CLOCK.replace(r"\d\d?", r"\d{1,3}", 1)
)


# Two numbers alone, of which the first is this large: chapter and verse, or a long duration.
_LARGE = re.compile(r"\d{3}:\d\d")


def are_clocks(levels: np.ndarray, slips: Slips, *, is_named: bool = False) -> bool:
    """Return whether texts are times of day, as 10:14:24, but for some slips.

    ``is_named`` says whether the column has the name of a time. Without it nearly all durations
    without seconds must have less than 100 hours.
    """
    if (
        not len(levels)
        or np.isnan(_clocks(levels[:: max(1, len(levels) // _LOOKED_AT)])).mean() > 0.5
    ):
        return False
    unread = np.isnan(_clocks(levels))
    n_large = sum(_LARGE.fullmatch(str(text).strip()) is not None for text in levels)
    if not is_named and n_large > (1 - _NEARLY_ALL) * len(levels):
        return False
    return not unread.any() or slips.are_rare(unread)


def days_of_clocks(levels: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return times of day, and durations as pandas writes them, as days; others are missing."""
    return np.append(_clocks(levels), np.nan)[codes]


def _clocks(levels: np.ndarray) -> np.ndarray:
    days = np.full(len(levels), np.nan)
    for place, text in enumerate(levels):
        found = _TIME_OF_DAY.fullmatch(str(text).strip())
        if found is None:
            continue
        hours = int(found["hour"])
        more = hours // 24 if not found["half"] and hours > 23 else 0
        time = _time_of(found.groupdict() | {"hour": str(hours - 24 * more)})
        if time is not None:
            days[place] = int(found["days"] or 0) + more + time / _MICROSECONDS_A_DAY
    return days


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
